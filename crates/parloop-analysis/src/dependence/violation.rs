//! A violated dependence as shown to users: two instances, the element they share, and why their order is lost.

use std::collections::BTreeMap;
use std::fmt;

use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::pair::{Pair, Side};

/// An instance of an instruction and what it does to an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The instruction.
    pub instruction: Name,
    /// The values of its inames.
    pub inames: Vec<(Name, i64)>,
    /// Whether it writes.
    pub writes: bool,
}

/// Why an order is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Values of the iname run concurrently.
    Unordered(Name),
    /// The loop reaches the second instance first.
    Backwards(Name),
    /// The second instruction comes before the first.
    Placed,
    /// Values of the iname have copies of the variable.
    Copies(Name),
    /// The other variable has the same memory.
    Shared(Name),
}

/// Two instances that depend on each other and would lose their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The variable.
    pub variable: Name,
    /// The indices of the element, if known.
    pub element: Option<Vec<i64>>,
    /// The instance that comes first in the kernel as created.
    pub first: Instance,
    /// The other one.
    pub second: Instance,
    /// Why the order is lost.
    pub cause: Cause,
}

/// Two accesses that may depend on each other, depending on the data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The variable.
    pub variable: Name,
    /// The instruction that comes first in the kernel as created.
    pub first: Name,
    /// The other one.
    pub second: Name,
    /// The iname whose values run concurrently or in another order, if that is the cause.
    pub iname: Option<Name>,
    /// How many leading steps of their times must be equal for them to depend on each other.
    pub turn: usize,
}

impl Violation {
    /// From a pair of accesses and a nonempty set of instances.
    pub(super) fn of(pair: &Pair<'_, '_, '_>, set: &Set, cause: Cause) -> Result<Violation, IslError> {
        let point = small(set)?.sample()?.unwrap_or_default();
        let instance = |side: Side| {
            let touch = if side == Side::First { pair.first } else { pair.second };
            let instruction = &pair.deps.facts.kernel.instructions[touch.at];
            let value = |iname: &Name| Some((iname.clone(), *point.get(&pair.marked(side, iname))?));
            let inames = instruction.within_inames.iter().filter_map(value).collect();
            Instance { instruction: instruction.id.clone(), inames, writes: touch.access.write }
        };
        Ok(Violation {
            variable: pair.first.access.name.clone(),
            element: element(pair, &point),
            first: instance(Side::First),
            second: instance(Side::Second),
            cause,
        })
    }
}

/// A point of a set with small values, if it has one.
pub(super) fn small(set: &Set) -> Result<Set, IslError> {
    let mut set = set.clone();
    for name in set.dims().to_vec().iter().chain(&set.params().to_vec()) {
        for value in 0..8 {
            let fixed = set.constrain(&[Constraint::zero(Affine::name(name.clone()).sub(&Affine::constant(value))?)])?;
            if !fixed.is_empty()? {
                set = fixed;
                break;
            }
        }
    }
    Ok(set)
}

fn element(pair: &Pair<'_, '_, '_>, point: &BTreeMap<Name, i64>) -> Option<Vec<i64>> {
    let indices = pair.first.known_indices().filter(|_| !pair.first.by_place)?;
    indices.into_iter().map(|index| index.evaluate(&|name| point.get(&pair.marked(Side::First, name)).copied())).collect()
}

impl Instance {
    fn describe(&self, is_only: bool) -> String {
        let values: Vec<String> = self.inames.iter().map(|(iname, value)| format!("{iname} = {value}")).collect();
        match (values.is_empty(), is_only) {
            (true, _) => format!("`{}`", self.instruction),
            (false, true) => format!("`{}`", values.join(", ")),
            (false, false) => format!("`{}` at `{}`", self.instruction, values.join(", ")),
        }
    }
}

impl Violation {
    /// What the two instances do.
    pub fn instances(&self) -> String {
        let is_only = self.first.instruction == self.second.instruction;
        let element = match &self.element {
            Some(indices) if !indices.is_empty() => {
                format!("`{}[{}]`", self.variable, indices.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
            }
            _ => format!("`{}`", self.variable),
        };
        let (first, second) = (self.first.describe(is_only), self.second.describe(is_only));
        let (does, then) = match (self.first.writes, self.second.writes) {
            (true, false) => ("writes", "reads"),
            (false, _) => ("reads", "overwrites"),
            (true, true) => ("writes", "overwrites"),
        };
        if let Cause::Shared(other) = &self.cause {
            return format!("{first} reads {element}, whose memory {second} overwrites with `{other}`");
        }
        let whose = if is_only { format!("instruction `{}`: ", self.first.instruction) } else { String::new() };
        format!("{whose}{first} {does} {element}, which {second} {then}")
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instances())?;
        match &self.cause {
            Cause::Unordered(iname) => write!(f, "; running `{iname}` in parallel does not keep that order"),
            Cause::Backwards(iname) => write!(f, "; the loop over `{iname}` runs the second instance first"),
            Cause::Placed => write!(f, "; `{}` is placed before `{}`", self.second.instruction, self.first.instruction),
            Cause::Copies(iname) => write!(f, "; each value of `{iname}` has its own copy of `{}`", self.variable),
            Cause::Shared(_) => Ok(()),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubt { variable, first, second, iname, .. } = self;
        match first == second {
            true => write!(f, "instances of `{first}` may access the same elements of `{variable}`")?,
            false => write!(f, "`{first}` and `{second}` may access the same elements of `{variable}`")?,
        }
        match iname {
            Some(iname) => write!(f, " in a different order along `{iname}`"),
            None => write!(f, " in a different order"),
        }
    }
}
