//! Small kernels from a stream of choices. What they compute depends on no order that a transformation may change, and every number is
//! a small integer, so that all of them are exact in every type.

use parloop_device::DType;
use parloop_loop::create::{CreateError, Data, KernelBuilder};
use parloop_loop::syntax::Program;

/// A stream of choices; when it is used up, always the first one.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    pub fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % count
    }

    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// An array of a sample: each axis has `2*n + 6` elements.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub dtype: DType,
    pub axes: usize,
    pub written: bool,
}

#[derive(Clone, Debug)]
pub struct Sample {
    pub domains: Vec<String>,
    pub instructions: String,
    pub arrays: Vec<Array>,
}

/// What an instruction may read of another: `text` at the inames `within`, or, in another nest, any element of an array.
#[derive(Clone, Debug)]
struct ReadableValue {
    id: String,
    nest: usize,
    within: Vec<&'static str>,
    text: String,
    array: Option<(String, usize)>,
}

const TYPES: &[DType] = &[DType::F64, DType::I32, DType::F32, DType::I64, DType::U8, DType::I8];

struct Draw<'c, 'b> {
    choices: &'c mut Choices<'b>,
    sample: Sample,
    known: Vec<ReadableValue>,
    /// The nest and the inames of the instruction at hand, and the ids that it depends on.
    nest: usize,
    inames: Vec<String>,
    needed: Vec<String>,
    sums: usize,
}

impl Sample {
    pub fn draw(choices: &mut Choices<'_>) -> Sample {
        let inputs = [("a", 1), ("b", 2)].map(|(name, axes)| Array { name: name.into(), dtype: choices.of(TYPES), axes, written: false });
        let sample = Sample { domains: Vec::new(), instructions: String::new(), arrays: inputs.to_vec() };
        let mut draw = Draw { choices, sample, known: Vec::new(), nest: 0, inames: Vec::new(), needed: Vec::new(), sums: 0 };
        for names in [&["i", "j", "k"][..], &["p", "q"][..]] {
            draw.nest(names);
            draw.nest += 1;
            if draw.choices.below(3) != 1 {
                break;
            }
        }
        draw.sample
    }

    pub fn build(&self) -> Result<Program, CreateError> {
        let mut builder =
            KernelBuilder::new().domains(self.domains.iter().cloned()).instructions(self.instructions.clone()).assumptions("n >= 1");
        for array in &self.arrays {
            let shape = vec!["2*n + 6"; array.axes].join(", ");
            builder = builder.data(Data::global(array.name.clone()).dtype(array.dtype.name()).shape(shape));
        }
        builder.rest().build()
    }
}

impl Draw<'_, '_> {
    fn nest(&mut self, names: &[&'static str]) {
        let depth = 1 + self.choices.below(names.len());
        let names = &names[..depth];
        let mut limits = vec![format!("0<={}<n", names[0])];
        for pair in names.windows(2) {
            let [outer, inner] = pair else { continue };
            let form = ["0<=IN<n", "0<=IN<3", "0<=IN<=OUT", "OUT<=IN<n"][self.choices.below(4)];
            limits.push(form.replace("IN", inner).replace("OUT", outer));
        }
        if self.choices.below(2) == 0 {
            self.sample.domains.push(format!("{{[{}]: {}}}", names.join(","), limits.join(" and ")));
        } else {
            self.sample.domains.extend(names.iter().zip(&limits).map(|(name, limits)| format!("{{[{name}]: {limits}}}")));
        }
        for _ in 0..1 + self.choices.below(3) {
            let within = names[..depth - self.choices.below(depth)].to_vec();
            self.statement(within);
        }
    }

    fn statement(&mut self, within: Vec<&'static str>) {
        let number = self.known.len();
        let id = format!("s{number}");
        self.inames = within.iter().map(|name| (*name).to_owned()).collect();
        self.needed.clear();
        let value = self.value(2);
        let kind = self.choices.below(4);
        let (line, text, array) = if kind == 1 {
            (format!("<> t{number} = {value}"), format!("t{number}"), None)
        } else {
            let keys = if kind == 2 { within.len().div_ceil(2) } else { within.len() };
            let name = format!("out{number}");
            let indices: Vec<String> = within[..keys].iter().map(|iname| self.own_index(iname)).collect();
            let place = format!("{name}[{}]", indices.join(", "));
            let dtype = self.choices.of(TYPES);
            self.sample.arrays.push(Array { name: name.clone(), dtype, axes: keys, written: true });
            let line = if keys < within.len() { format!("{place} = {place} + ({value})") } else { format!("{place} = {value}") };
            (line, place, Some((name, keys)))
        };
        let options = format!("{{id={id}, inames={}, dep={}}}", within.join(":"), self.needed.join(":"));
        let options = options.replace(", dep=}", "}");
        let line = if kind == 3 { format!("if {}\n{line} {options}\nend\n", self.condition()) } else { format!("{line} {options}\n") };
        self.sample.instructions += &line;
        // A partial sum is not to be read by those that run beside it.
        let visible = kind != 2 || array.as_ref().is_some_and(|(_, keys)| *keys == within.len());
        let within = if visible { within } else { vec!["nowhere"] };
        self.known.push(ReadableValue { id, nest: self.nest, within, text, array });
    }

    /// An index that is different for each value of the iname.
    fn own_index(&mut self, iname: &str) -> String {
        match self.choices.below(4) {
            0 => iname.to_owned(),
            1 => format!("{iname} + {}", 1 + self.choices.below(3)),
            2 => format!("n + 2 - {iname}"),
            _ => format!("2*{iname} + {}", self.choices.below(4)),
        }
    }

    fn index(&mut self) -> String {
        let (one, two) = (self.iname(), self.iname());
        match self.choices.below(4) {
            0 => format!("{one} + {two}"),
            1 => format!("n + {}", self.choices.below(6)),
            _ => self.own_index(&one),
        }
    }

    fn iname(&mut self) -> String {
        let place = self.choices.below(self.inames.len());
        self.inames[place].clone()
    }

    fn element(&mut self, array: &str, axes: usize) -> String {
        let indices: Vec<String> = (0..axes).map(|_| self.index()).collect();
        format!("{array}[{}]", indices.join(", "))
    }

    fn leaf(&mut self) -> String {
        match self.choices.below(6) {
            0 => self.element("a", 1),
            1 => self.element("b", 2),
            2 => self.iname(),
            3 => format!("{}", 1 + self.choices.below(3)),
            _ => self.earlier().unwrap_or_else(|| self.element("a", 1)),
        }
    }

    /// What an earlier instruction made: at the same point, or anywhere if it is of another nest.
    fn earlier(&mut self) -> Option<String> {
        let is_here = |known: &ReadableValue| known.within.iter().all(|iname| self.inames.iter().any(|own| own == iname));
        let all: Vec<ReadableValue> = self
            .known
            .iter()
            .filter(|known| if known.nest == self.nest { is_here(known) } else { known.array.is_some() })
            .cloned()
            .collect();
        let known = if all.is_empty() { return None } else { all[self.choices.below(all.len())].clone() };
        self.needed.push(known.id);
        Some(match known.array {
            Some((name, axes)) if known.nest != self.nest => self.element(&name, axes),
            _ => known.text,
        })
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.iname(), self.leaf());
        match self.choices.below(3) {
            0 => format!("{left} < {right}"),
            1 => format!("{left} % 2 == 0"),
            _ => format!("{right} >= {left} or {left} == 1"),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.choices.below(9) {
            0 => self.leaf(),
            1 => format!("{} + {}", self.value(depth - 1), self.value(depth - 1)),
            2 => format!("{} - ({})", self.value(depth - 1), self.value(depth - 1)),
            3 => format!("{}*{}", self.leaf(), self.leaf()),
            // An iname in front would make it a reduction.
            4 => format!("min({}, {})", self.choices.below(4), self.value(depth - 1)),
            5 => format!("({} if {} else {})", self.value(depth - 1), self.condition(), self.leaf()),
            6 => format!("({})//{}", self.value(depth - 1), 2 + self.choices.below(3)),
            7 => format!("({}) % {}", self.value(depth - 1), 2 + self.choices.below(3)),
            _ => self.sum(depth),
        }
    }

    fn sum(&mut self, depth: usize) -> String {
        let iname = format!("r{}", self.sums);
        self.sums += 1;
        let outer = self.iname();
        let limits = ["0<=IN<n", "0<=IN<3", "0<=IN<=OUT", "0<=IN<OUT"][self.choices.below(4)];
        self.sample.domains.push(format!("{{[{iname}]: {}}}", limits.replace("IN", &iname).replace("OUT", &outer)));
        self.inames.push(iname.clone());
        let value = self.value(depth - 1);
        self.inames.retain(|own| *own != iname);
        let op = self.choices.of(&["sum", "sum", "max"]);
        format!("{op}({iname}, {value})")
    }
}
