//! Random kernels whose numbers depend on the order in which instructions run and on temporaries that instructions share: recurrences,
//! stencils in place, scatters, accumulations, values carried from one iteration to another.
//!
//! Every iname is between 0 and the larger of `n - 1` and 5, and every axis of an argument has `2*n + 16` elements, so that each index
//! is valid by construction. Numbers are small integers, exact in every type.

mod expression;
mod nest;

use std::collections::{BTreeMap, BTreeSet};

use super::case::{FAR, SAME};
use super::draw::Draw;

/// The length of every axis of an argument.
pub const LENGTH: &str = "2*n + 16";
/// The length of the axis of a temporary.
const SHORT: usize = 6;

/// Types of arrays and temporaries, and how often each is drawn.
const DTYPES: [(&str, usize); 5] = [("int32", 5), ("int64", 5), ("float64", 5), ("int8", 1), ("int16", 1)];

/// A kernel as the text of a `.loop` file. Lines that begin with `;=` say what the line after them means, in instructions that the
/// interpreter knows.
#[derive(Clone, Debug)]
pub struct Sample {
    pub text: String,
    pub sizes: Vec<i64>,
}

impl Sample {
    pub fn draw(draw: &mut Draw) -> Sample {
        if draw.one_in(60) {
            return Sample::huge(draw);
        }
        let mut maker = Maker::new(draw);
        maker.kernel();
        let sizes = maker.sizes();
        Sample { text: maker.text(), sizes }
    }
}

impl Sample {
    /// An array with more than 2^31 elements, of which a few are touched.
    fn huge(draw: &mut Draw) -> Sample {
        let index_type = draw.of(&["", "index_type int64\n"]);
        let (write, read, own) = (draw.below(3), draw.below(5), draw.below(4));
        let kernel = format!(
            "kernel f\ndomain {{[i0, j0]: 0 <= i0 < n and 0 <= j0 < 4}}\n{index_type}data\n  h: global uint8[{FAR}*n + 16]\n  \
             x: global int64[{LENGTH}]\n  n: value int32\ninstructions\n  \
             h[{FAR}*i0 + j0 + {write}] = (h[{FAR}*i0 + j0 + {read}] + i0) % 101 {{id=s0, dep=*, inames=i0:j0}}\n  \
             x[i0 + 2] = x[i0 + {own}] + h[{FAR}*i0 + {read}] {{id=s1, dep=*s0, inames=i0}}\n\n"
        );
        Sample { text: kernel, sizes: vec![draw.of(&[0, 1]), 3] }
    }
}

/// What an instruction that is made already uses.
#[derive(Clone, Debug)]
struct Made {
    id: String,
    reads: BTreeSet<String>,
    writes: String,
}

/// A temporary, and where it may be read.
#[derive(Clone, Debug)]
struct Temporary {
    name: String,
    axes: usize,
    /// It may be read inside these inames.
    within: Vec<String>,
    /// It has been written.
    readable: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    name: String,
    reads: BTreeSet<String>,
}

struct Maker<'d> {
    draw: &'d mut Draw,
    domains: Vec<String>,
    data: BTreeMap<String, String>,
    rules: Vec<Rule>,
    lines: Vec<String>,
    functions: String,
    made: Vec<Made>,
    temporaries: Vec<Temporary>,
    /// Reduction inames, each with the inames that its limits depend on.
    reductions: Vec<(String, Vec<String>)>,
    /// The inames around the instruction at hand, and what it reads.
    inames: Vec<String>,
    reads: BTreeSet<String>,
    depth: usize,
    fresh: usize,
}

impl<'d> Maker<'d> {
    fn new(draw: &'d mut Draw) -> Maker<'d> {
        Maker {
            draw,
            domains: Vec::new(),
            data: BTreeMap::new(),
            rules: Vec::new(),
            lines: Vec::new(),
            functions: String::new(),
            made: Vec::new(),
            temporaries: Vec::new(),
            reductions: Vec::new(),
            inames: Vec::new(),
            reads: BTreeSet::new(),
            depth: 0,
            fresh: 0,
        }
    }

    fn number(&mut self) -> usize {
        self.fresh += 1;
        self.fresh - 1
    }

    fn kernel(&mut self) {
        for _ in 0..self.draw.of(&[0, 0, 1, 1, 2]) {
            self.rule();
        }
        let mut before: Vec<String> = Vec::new();
        for number in 0..self.draw.of(&[1, 1, 2, 2, 3]) {
            before = self.nest(number, &before);
        }
    }

    /// An odd size and a small one, among them 0 and 1.
    fn sizes(&mut self) -> Vec<i64> {
        let large = if self.depth > 2 { self.draw.of(&[4, 5]) } else { self.draw.of(&[4, 5, 6, 7]) };
        vec![self.draw.of(&[0, 1, 1, 2, 3]), large]
    }

    /// At times two arrays of a kind are passed as one.
    fn same(&mut self) -> Option<(&'static str, &'static str)> {
        let (one, other) = self.draw.of(&[("a", "x"), ("x", "y"), ("y", "a"), ("b", "z")]);
        let kind = |name: &str| self.data.get(name).map(|line| line.split_once(": ").map(|(_, kind)| kind.to_owned()));
        (self.draw.one_in(12) && kind(one).is_some() && kind(one) == kind(other)).then_some((one, other))
    }

    fn text(&mut self) -> String {
        let mut text = self.same().map_or(String::new(), |(one, other)| format!("{SAME}{one} {other}\n")) + "kernel f\n";
        self.domains.iter().for_each(|domain| text += &format!("domain {domain}\n"));
        text += "data\n";
        for (name, line) in &self.data {
            // All of its rows are one.
            if name == "w" {
                text += &format!(";= {}\n", line.replacen(&format!("[{LENGTH}, "), "[", 1).split(" {").next().unwrap_or(line));
            }
            text += &format!("  {line}\n");
        }
        text += "  n: value int32\ninstructions\n";
        let indent = |line: &str| if line.starts_with(';') { "" } else { "  " };
        self.lines.iter().for_each(|line| text += &format!("{}{line}\n", indent(line)));
        format!("{text}\n{}", self.functions)
    }

    /// The type of an argument or temporary, declared when it is first used.
    fn declare(&mut self, name: &str, line: impl FnOnce(&str) -> String) -> &str {
        if !self.data.contains_key(name) {
            let dtype = if "pq".contains(name) { "int32" } else { DTYPES[self.draw.weighted(&DTYPES)].0 };
            self.data.insert(name.to_owned(), line(dtype));
        }
        &self.data[name]
    }

    fn argument(&mut self, name: &str, axes: usize) {
        let shape = vec![LENGTH; axes].join(", ");
        let tags = if name == "w" { " {dim_tags=[stride(0), stride(1)]}" } else { "" };
        self.declare(name, |dtype| format!("{name}: global {dtype}[{shape}]{tags}"));
    }

    /// A rule that reads arrays, which instructions may write.
    fn rule(&mut self) {
        let name = format!("f{}", self.rules.len());
        let (one, other) = (self.draw.of(&["a", "x", "y"]), self.draw.of(&["x", "y", "a"]));
        self.argument(one, 1);
        self.argument(other, 1);
        let (left, right) = (self.draw.below(3), self.draw.below(3));
        let factor = self.draw.of(&["", "2*", "3*"]);
        self.lines.push(format!("{name}(u) := {one}[u + {left}] - {factor}{other}[u + {right}]"));
        self.rules.push(Rule { name, reads: [one.to_owned(), other.to_owned()].into() });
    }

    /// Adds an instruction after all that it shares data with.
    fn instruction(&mut self, id: String, lhs: &str, rhs: &str, condition: Option<String>) {
        let options = self.options(&id, lhs, condition);
        self.line(format!("{lhs} = {rhs} {{{options}}}"));
        self.finish(id, lhs);
    }

    /// An instruction, with what it means where it uses the array whose rows are one.
    fn line(&mut self, line: String) {
        let mut parts = line.split("w[");
        let first = parts.next().unwrap_or_default().to_owned();
        let in_row = |part: &str| format!("w[{}", part.split_once(", ").map_or(part, |(_, rest)| rest));
        let meaning = parts.fold(first, |meaning, part| meaning + &in_row(part));
        if meaning != line {
            self.lines.push(format!(";= {meaning}"));
        }
        self.lines.push(line);
    }

    fn options(&mut self, id: &str, lhs: &str, condition: Option<String>) -> String {
        let name = written(lhs);
        let meets = |made: &&Made| made.writes == name || made.reads.contains(name) || self.reads.contains(&made.writes);
        let before: Vec<&str> = self.made.iter().filter(meets).map(|made| made.id.as_str()).collect();
        let mut options = format!("id={id}, dep=*{}", before.join(":"));
        if !self.inames.is_empty() {
            options += &format!(", inames={}", self.inames.join(":"));
        }
        condition.into_iter().for_each(|condition| options += &format!(", if={condition}"));
        options
    }

    fn finish(&mut self, id: String, lhs: &str) {
        let reads = std::mem::take(&mut self.reads);
        self.made.push(Made { id, reads, writes: written(lhs).to_owned() });
    }
}

/// The name of the array that is assigned to.
fn written(lhs: &str) -> &str {
    lhs.split('[').next().unwrap_or(lhs)
}
