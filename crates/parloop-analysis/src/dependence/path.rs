//! The positions of instructions in a schedule: the loops around them and their positions in each body.

use std::collections::HashMap;

use parloop_isl::Name;

/// A loop of a schedule, or a position in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// From the outside in: the position in the body, and the loop there; the last has none.
    pub stops: Vec<(usize, Option<(usize, Name)>)>,
}

/// The paths of all instructions of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    of: HashMap<Name, Path>,
    order: Vec<Name>,
    open: Vec<(usize, Option<(usize, Name)>)>,
    loops: usize,
}

impl Paths {
    /// Enters the loop at that position of the body.
    pub fn enter(&mut self, place: usize, iname: &Name) {
        self.open.push((place, Some((self.loops, iname.clone()))));
        self.loops += 1;
    }

    /// Leaves the innermost loop.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// Records the instruction at that position of the body.
    pub fn run(&mut self, place: usize, instruction: &Name) {
        let mut stops = self.open.clone();
        stops.push((place, None));
        self.of.entry(instruction.clone()).or_insert(Path { stops });
        self.order.push(instruction.clone());
    }

    /// The path of an instruction.
    pub fn get(&self, instruction: &Name) -> Option<&Path> {
        self.of.get(instruction)
    }

    /// The instructions in schedule order.
    pub fn order(&self) -> &[Name] {
        &self.order
    }
}

impl Path {
    /// The inames of its loops.
    pub fn inames(&self) -> impl Iterator<Item = &Name> {
        self.stops.iter().filter_map(|(_, inner)| inner.as_ref().map(|(_, iname)| iname))
    }

    /// The inames of the loops around both, outermost first.
    pub fn shared<'p>(&'p self, other: &'p Path) -> impl Iterator<Item = &'p Name> {
        let both = self
            .stops
            .iter()
            .zip(&other.stops)
            .take_while(|((_, one), (_, other))| one.is_some() && one.as_ref().map(|each| each.0) == other.as_ref().map(|each| each.0));
        both.filter_map(|((_, inner), _)| inner.as_ref().map(|(_, iname)| iname))
    }

    /// Whether it comes first in the body in which the two paths diverge.
    pub fn is_before(&self, other: &Path) -> bool {
        let depth = self.shared(other).count();
        match (self.stops.get(depth), other.stops.get(depth)) {
            (Some((one, _)), Some((other, _))) => one < other,
            _ => false,
        }
    }
}
