//! What is done for each element: rows are fetched into private arrays, the user's kernel is called on them, and what it left is kept.

use parloop_device::DType;
use parloop_loop::create::Data;

use super::frame::Frame;
use super::{Apart, Form, Machine, Visits, names};
use crate::access::Access;
use crate::kernel::CALLABLE;
use crate::shape::{ArgShape, Reach, Shape};

/// Arrays of up to so many numbers are fetched and kept without loops, so that compilers can hold them in registers.
const UNROLLED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Body {
    pub domains: Vec<String>,
    pub instructions: Vec<String>,
    pub data: Vec<Data>,
    pub tags: Vec<String>,
    /// The instructions that write where others might.
    pub writes: Vec<String>,
}

/// The body. `axes`: along which the kernel takes each argument. `checked`: what it must write is looked at.
pub(super) fn body(shape: &Shape, form: &Form, machine: Machine, frame: &Frame, axes: &[Vec<usize>], checked: bool) -> Body {
    let mut maker = Maker { shape, form, machine, frame, axes, checked, body: Body::default() };
    if maker.is_tried() {
        maker.try_first();
    }
    maker.fetch_all(REAL);
    maker.call(REAL);
    if matches!(form, Form::Elements { lanes: true, .. }) {
        maker.in_lanes();
    }
    if matches!(form, Form::Elements { apart: Apart::Last, .. }) {
        let last = shape.last_deciding_maps().into_iter().map(names::last);
        maker.body.data.extend(last.map(|last| Data::global(last).dtype("int32").unknown_shape().strides("1")));
    }
    for (index, arg) in shape.args.iter().enumerate() {
        if arg.access == Access::Write && maker.is_tried() {
            maker.look(index, arg);
        }
        if arg.access.writes() {
            maker.keep(index, arg);
        }
    }
    maker.body
}

pub(super) struct Maker<'a> {
    pub shape: &'a Shape,
    pub form: &'a Form,
    machine: Machine,
    frame: &'a Frame,
    axes: &'a [Vec<usize>],
    checked: bool,
    pub body: Body,
}

/// One of the calls of the user's kernel: what its private arrays, the instructions that fill them, inames and the call itself are named.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// The element; the instructions after which it is known and the inames around it are those of the frame where they are not said.
    pub element: &'static str,
    /// Its place among those that are visited.
    pub place: &'static str,
    pub inames: Option<&'static str>,
    pub private: &'static str,
    pub fetch: &'static str,
    pub purpose: &'static str,
    pub id: &'static str,
    /// What the numbers that it must write are before the call, in checked mode.
    pub unwritten: &'static str,
}

/// The call whose results are kept.
const REAL: Call =
    Call { element: "pl_e", place: "pl_k", inames: None, private: "pl_t", fetch: "pl_f", purpose: "", id: "pl_call", unwritten: "1" };

/// A call in front of it, whose results are only compared.
const TRIAL: Call =
    Call { element: "pl_e", place: "pl_k", inames: None, private: "pl_u", fetch: "pl_v", purpose: "v", id: "pl_trial", unwritten: "0" };

/// The two inames of a walk through a private array.
pub(super) struct Walk {
    pub inames: String,
    pub row: String,
    pub number: String,
}

impl Maker<'_> {
    /// Inames over the private array of an argument, for one purpose.
    pub(super) fn walk(&mut self, index: usize, arg: &ArgShape, purpose: &str) -> Walk {
        let number = format!("pl_d{index}{purpose}");
        let mut walk = Walk { inames: number.clone(), row: String::new(), number };
        let mut domain = format!("{{[{}]: 0<={}<{}}}", walk.number, walk.number, arg.count);
        if let Some(map) = arg.map() {
            walk.row = format!("pl_i{index}{purpose}");
            walk.inames = format!("{}:{}", walk.row, walk.number);
            domain = format!("{{[{0},{1}]: 0<={0}<{2} and 0<={1}<{3}}}", walk.row, walk.number, self.shape.maps[map], arg.count);
        }
        self.body.domains.push(domain);
        let arity = arg.map().map_or(1, |map| self.shape.maps[map]);
        if arity * arg.count <= UNROLLED {
            self.body.tags.extend(walk.inames.split(':').map(|iname| format!("{iname}:unr")));
        }
        walk
    }

    /// One number of the private array.
    pub(super) fn private(call: Call, index: usize, arg: &ArgShape, walk: &Walk) -> String {
        match arg.map() {
            Some(_) => format!("{}{index}[{}, {}]", call.private, walk.row, walk.number),
            None => format!("{}{index}[{}]", call.private, walk.number),
        }
    }

    /// One number of the table, for the element at hand.
    pub(super) fn public(&self, element: &str, place: &str, arg: &ArgShape, walk: &Walk) -> String {
        let in_order = matches!(self.form, Form::Elements { visits: Visits::ListWithMaps, .. });
        let row_of_map = if in_order { place } else { element };
        let table = names::table(arg.table);
        let number = if arg.first == 0 { walk.number.clone() } else { format!("{}+{}", walk.number, arg.first) };
        match arg.reach {
            Reach::Direct => format!("{table}[{element}, {number}]"),
            Reach::Through(map) => format!("{table}[{}[{row_of_map}, {}], {number}]", names::map(map), walk.row),
            Reach::Global => format!("{table}[{number}]"),
        }
    }

    /// Whether it is looked at what the kernel leaves unwritten.
    fn is_tried(&self) -> bool {
        self.checked && self.shape.args.iter().any(|arg| arg.access == Access::Write)
    }

    /// Calls the kernel on arrays of their own. What it must write is 0 before this call and 1 before the other: a number that is 0 here
    /// and 1 there was not written, whatever its type.
    fn try_first(&mut self) {
        self.fetch_all(TRIAL);
        self.call(TRIAL);
    }

    /// Where a number was not written, an index that tells which is outside of an array of one number.
    fn look(&mut self, index: usize, arg: &ArgShape) {
        let walk = self.walk(index, arg, "x");
        let (first, second) = (Self::private(TRIAL, index, arg, &walk), Self::private(REAL, index, arg, &walk));
        let (rows, place) = match arg.map() {
            Some(map) => (self.shape.maps[map], format!("{}*{}+{}", walk.row, arg.count, walk.number)),
            None => (1, walk.number.clone()),
        };
        let (marks, all, inames) = (names::unwritten(index), rows * arg.count, self.frame.inames);
        self.body.data.push(Data::temporary(&marks).dtype("int32").shape("1"));
        self.body.instructions.push(format!(
            "{marks}[if({first} == {} and {second} == {}, 1+{all}*pl_e+{place}, 0)] = 0 {{id=pl_x{index}, dep=*pl_call:pl_trial, inames={inames}:{}}}",
            TRIAL.unwritten, REAL.unwritten, walk.inames
        ));
    }

    /// Fetches what the kernel gets copies of.
    pub(super) fn fetch_all(&mut self, call: Call) {
        for (index, arg) in self.shape.args.iter().enumerate().filter(|(_, arg)| !arg.in_place) {
            self.fetch(index, arg, call);
        }
    }

    /// Declares the private array and fills it: sums start at zero, all else from what is there.
    fn fetch(&mut self, index: usize, arg: &ArgShape, call: Call) {
        let walk = self.walk(index, arg, call.purpose);
        let shape = match arg.map() {
            Some(map) => format!("{}, {}", self.shape.maps[map], arg.count),
            None => arg.count.to_string(),
        };
        self.body.data.push(Data::temporary(format!("{}{index}", call.private)).dtype(arg.dtype).shape(shape));
        let value = match arg.access {
            Access::Inc => neutral(arg.dtype).to_owned(),
            Access::Write if self.is_tried() => call.unwritten.to_owned(),
            _ => self.public(call.element, call.place, arg, &walk),
        };
        self.body.instructions.push(format!(
            "{} = {value} {{id={}{index}, dep=*{}, inames={}:{}, nosync=pl_*@global}}",
            Self::private(call, index, arg, &walk),
            call.fetch,
            self.ready(call),
            call.inames.unwrap_or(self.frame.inames),
            walk.inames
        ));
    }

    /// A call of the user's kernel.
    pub(super) fn call(&mut self, call: Call) {
        let (mut given, mut results) = (Vec::new(), Vec::new());
        for (index, arg) in self.shape.args.iter().enumerate() {
            let whole = self.whole(index, arg, call);
            if arg.access.writes() {
                results.push(whole.clone());
            }
            given.push(whole);
        }
        let results = if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
        let copied = self.shape.args.iter().enumerate().filter(|(_, arg)| !arg.in_place);
        let fetched = copied.map(|(index, _)| format!("{}{index}", call.fetch)).collect::<Vec<_>>();
        let after = fetched.iter().map(String::as_str).chain([self.ready(call)]).collect::<Vec<_>>().join(":");
        self.body.instructions.push(format!(
            "{results}{CALLABLE}({}) {{id={}, dep=*{after}, inames={}}}",
            given.join(", "),
            call.id,
            call.inames.unwrap_or(self.frame.inames)
        ));
    }

    /// The instructions after which the element of a call is known.
    fn ready(&self, call: Call) -> &'static str {
        if call.inames.is_some() { call.element } else { self.frame.ready }
    }

    /// A whole private array, or a table that is read in place, along the axes that the kernel has for it.
    fn whole(&mut self, index: usize, arg: &ArgShape, call: Call) -> String {
        let lengths = &self.axes[index];
        let inames: Vec<String> = (0..lengths.len()).map(|axis| format!("pl_z{index}{}_{axis}", call.purpose)).collect();
        let limits: Vec<String> = inames.iter().zip(lengths).map(|(iname, length)| format!("0<={iname}<{length}")).collect();
        self.body.domains.push(format!("{{[{}]: {}}}", inames.join(","), limits.join(" and ")));
        let place = inames.iter().zip(lengths).fold(String::new(), |place, (iname, length)| match place.is_empty() {
            true => iname.clone(),
            false => format!("({place})*{length}+{iname}"),
        });
        let indices = match (arg.map(), &inames[..]) {
            (None, _) => place,
            (Some(map), [row, number]) if lengths[..] == [self.shape.maps[map], arg.count] => format!("{row}, {number}"),
            (Some(_), _) => format!("({place})//{0}, ({place})%{0}", arg.count),
        };
        let array = if arg.in_place { names::table(arg.table) } else { format!("{}{index}", call.private) };
        format!("[{}]: {array}[{indices}]", inames.join(","))
    }

    /// Keeps what the kernel left in an argument.
    fn keep(&mut self, index: usize, arg: &ArgShape) {
        if arg.is_reduced() {
            return self.reduce(index, arg);
        }
        match self.form {
            Form::Targets { maps, writes_direct, .. } => match arg.map() {
                Some(map) if maps.contains(&map) => self.collect(index, arg, maps),
                None if *writes_direct => self.put(index, arg, Some("pl_s == 0".to_owned()), false),
                _ => {}
            },
            Form::Elements { apart, .. } => {
                let row = format!("pl_i{index}s");
                let condition = match (apart, arg.map()) {
                    (Apart::Mask, _) => Some(self.is_own("pl_m", arg, &row)),
                    (Apart::Last, Some(map)) if arg.last_decides() => Some(self.is_last(map, &row)),
                    _ => None,
                };
                self.put(index, arg, condition, *apart == Apart::Atomic && arg.can_meet());
            }
        }
    }

    /// Whether the part that runs an element owns what it writes there.
    pub(super) fn is_own(&self, mask: &str, arg: &ArgShape, row: &str) -> String {
        match arg.map() {
            Some(map) => {
                let slot = self.shape.first_slot(&self.shape.meeting_maps(), map);
                format!("(({mask} >> ({slot}+{row})) & 1) == 1")
            }
            None => format!("({mask} & 1) == 1"),
        }
    }

    /// Whether no later element, and no later column of this one, leads to the same row.
    fn is_last(&self, map: usize, row: &str) -> String {
        let (last, table) = (names::last(map), names::map(map));
        format!("{last}[{table}[{element}, {row}]] == {}*{element}+{row}", self.shape.maps[map], element = REAL.element)
    }

    /// Writes the private array to the table.
    fn put(&mut self, index: usize, arg: &ArgShape, condition: Option<String>, atomic: bool) {
        let walk = self.walk(index, arg, "s");
        let (private, public) = (Self::private(REAL, index, arg, &walk), self.public(REAL.element, REAL.place, arg, &walk));
        let value = combined(arg.access, &public, &private);
        let condition = condition.map(|condition| format!(", if={condition}")).unwrap_or_default();
        let atomic = if atomic { ", atomic" } else { "" };
        let id = format!("pl_w{index}");
        let after = self.after(index, "pl_w", |other| other.overlaps(arg));
        self.body.instructions.push(format!(
            "{public} = {value} {{id={id}, dep=*pl_call{after}, inames={}:{}, nosync=pl_*@global{condition}{atomic}}}",
            self.frame.inames, walk.inames
        ));
        self.body.writes.push(id);
    }

    /// The instructions of that kind of earlier arguments, each with a colon in front of it: what is written twice is written in order.
    pub(super) fn after(&self, index: usize, kind: &str, which: impl Fn(&ArgShape) -> bool) -> String {
        let before = self.shape.args[..index].iter().enumerate().filter(|(_, other)| other.access.writes() && which(other));
        before.map(|(other, _)| format!(":{kind}{other}")).collect()
    }

    /// The row at hand takes what the element has for it.
    fn collect(&mut self, index: usize, arg: &ArgShape, maps: &[usize]) {
        let Some(map) = arg.map() else { return };
        let first = self.shape.first_slot(maps, map);
        let table = names::table(arg.table);
        let (inames, outer, own) = (self.frame.inames, self.frame.outer, arg.first);
        // Arguments of the same numbers share what is collected.
        let shared = self.shape.args[..index].iter().position(|other| other.is_alike(arg) && other.can_meet());
        let to = shared.unwrap_or(index);
        if shared.is_none() {
            for purpose in ["a", "z"] {
                self.body.domains.push(format!("{{[pl_d{index}{purpose}]: 0<=pl_d{index}{purpose}<{}}}", arg.count));
                if arg.count <= UNROLLED {
                    self.body.tags.push(format!("pl_d{index}{purpose}:unr"));
                }
            }
            self.body.data.push(Data::temporary(format!("pl_a{index}")).dtype(arg.dtype).shape(arg.count.to_string()));
            self.body.instructions.push(format!(
                "pl_a{index}[pl_d{index}a] = {table}[pl_r, pl_d{index}a+{own}] {{id=pl_a{index}, dep=*pl_r, inames={outer}:pl_d{index}a, nosync=pl_*@global}}"
            ));
        }
        let walk = self.walk(index, arg, "s");
        let private = Self::private(REAL, index, arg, &walk);
        let sum = format!("pl_a{to}[{}]", walk.number);
        let value = combined(arg.access, &sum, &private);
        let after = self.after(index, "pl_k", |other| other.is_alike(arg) && other.can_meet());
        self.body.instructions.push(format!(
            "{sum} = if(pl_s == {first}+{}, {value}, {sum}) {{id=pl_k{index}, dep=*pl_call:pl_a{to}{after}, inames={inames}:{}}}",
            walk.row, walk.inames
        ));
        if shared.is_none() {
            let last = (index..self.shape.args.len())
                .filter(|&other| self.shape.args[other].is_alike(arg) && self.shape.args[other].can_meet())
                .map(|other| format!("pl_k{other}"))
                .collect::<Vec<_>>()
                .join(":");
            let id = format!("pl_w{index}");
            self.body.instructions.push(format!(
                "{table}[pl_r, pl_d{index}z+{own}] = pl_a{index}[pl_d{index}z] {{id={id}, dep=*{last}, inames={outer}:pl_d{index}z, nosync=pl_*@global}}"
            ));
            self.body.writes.push(id);
        }
    }

    /// What a group has of a number that is combined over all elements.
    fn reduce(&mut self, index: usize, arg: &ArgShape) {
        let partial = names::partial(index);
        self.body.data.push(Data::global(&partial).dtype(arg.dtype).unknown_shape().strides(format!("{}, 1", arg.count)));
        let (inames, outer, count) = (self.frame.inames, self.frame.outer, arg.count);
        for purpose in ["a", "s", "z"] {
            self.body.domains.push(format!("{{[pl_d{index}{purpose}]: 0<=pl_d{index}{purpose}<{count}}}"));
            // A sum over work items has barriers, which need a loop.
            if count <= UNROLLED && (purpose != "z" || self.machine == Machine::Threads) {
                self.body.tags.push(format!("pl_d{index}{purpose}:unr"));
            }
        }
        self.body.data.push(Data::temporary(format!("pl_a{index}")).dtype(arg.dtype).shape(count.to_string()));
        let start = start_of(arg, &format!("{}[pl_d{index}a]", names::table(arg.table)));
        let (sum, number) = (format!("pl_a{index}[pl_d{index}s]"), format!("pl_t{index}[pl_d{index}s]"));
        let value = combined(arg.access, &sum, &number);
        let masked = matches!(self.form, Form::Elements { apart: Apart::Mask, .. });
        let condition = if masked { ", if=(pl_m & 1) == 1" } else { "" };
        let (all, whose) = match self.machine {
            Machine::Threads => (format!("pl_a{index}[pl_d{index}z]"), outer),
            Machine::Gpu => (format!("{}(pl_l, pl_a{index}[pl_d{index}z])", operation(arg.access)), "pl_g"),
        };
        self.body.instructions.extend([
            format!("pl_a{index}[pl_d{index}a] = {start} {{id=pl_a{index}, dep=*, inames={outer}:pl_d{index}a}}"),
            format!("{sum} = {value} {{id=pl_k{index}, dep=*pl_call:pl_a{index}, inames={inames}:pl_d{index}s{condition}}}"),
            format!(
                "{partial}[{}+pl_g, pl_d{index}z] = {all} {{id=pl_w{index}, dep=*pl_k{index}, inames={whose}:pl_d{index}z}}",
                names::FIRST
            ),
        ]);
        self.body.writes.push(format!("pl_w{index}"));
    }
}

/// What is kept of the value that is there and the value that the kernel left.
pub(super) fn combined(access: Access, there: &str, left: &str) -> String {
    match access {
        Access::Inc => format!("{there} + {left}"),
        Access::Min => format!("min({there}, {left})"),
        Access::Max => format!("max({there}, {left})"),
        Access::Read | Access::Write | Access::Rw => left.to_owned(),
    }
}

/// What a kernel finds where it adds: compilers drop an addition to −0, but not one to +0, which changes −0.
fn neutral(dtype: DType) -> &'static str {
    if matches!(dtype, DType::F32 | DType::F64) { "-0.0" } else { "0" }
}

/// What a combination starts from; `there` is the value before the loop.
pub(super) fn start_of(arg: &ArgShape, there: &str) -> String {
    if arg.access == Access::Inc { "0".to_owned() } else { there.to_owned() }
}

/// The reduction of loop kernels that combines.
pub(super) fn operation(access: Access) -> &'static str {
    match access {
        Access::Min => "min",
        Access::Max => "max",
        _ => "sum",
    }
}
