//! Origins: when the instances of an instruction ran in the kernel as it was created. The order of these times is the meaning of a kernel;
//! transformations rewrite the times with everything else, and a schedule must keep the order of all accesses that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Name;

use super::Expr;

/// One step of a time. Times are compared step by step, and the first difference decides; a missing step is `At(0)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TimeStep {
    /// A position among the loops and instructions of one body.
    At(i64),
    /// The value of a loop, in terms of the current inames.
    Loop(Expr),
}

/// When an instance ran. Names with a trailing `'` are inames of the instance that this one stands for, not of the instruction itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time {
    /// The steps, outermost first.
    pub steps: Vec<TimeStep>,
    /// Pairs of values that are equal for the instances that this one stands for.
    pub given: Vec<(Expr, Expr)>,
}

/// Where the instances of an instruction come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// When an instance ran: once, or at several times if it precomputes what several instances did. Empty if no order was ever known.
    pub times: Vec<Time>,
    /// The times for variables that a transformation introduced: their order begins with it.
    pub of: BTreeMap<Name, Vec<TimeStep>>,
    /// By the name of a copy: the variable it was made from, and the times for that variable between the instructions that fill and store
    /// the copy in one iteration of the loops around it. Each of these stands for all uses of the variable in that iteration.
    pub copies: BTreeMap<Name, (Name, Vec<TimeStep>)>,
    /// Variables that the instances of this instruction may update in any order: accumulators of reductions.
    pub commutes: BTreeSet<Name>,
    /// Values that grow with their digits, most significant first: `(value, digits)`. Different combinations of digits have different
    /// values.
    pub lexical: Vec<(Expr, Vec<Expr>)>,
}

/// The primed name of an iname, in a time of other instances.
pub fn primed(name: &Name) -> Name {
    format!("{name}'").into()
}

/// The iname that a primed name stands for, and how many primes it has.
pub fn without_primes(name: &str) -> (&str, usize) {
    let plain = name.trim_end_matches('\'');
    (plain, name.len() - plain.len())
}

impl TimeStep {
    fn map(&self, change: &dyn Fn(&Expr) -> Expr) -> TimeStep {
        match self {
            TimeStep::At(place) => TimeStep::At(*place),
            TimeStep::Loop(value) => TimeStep::Loop(change(value)),
        }
    }
}

impl Time {
    /// A time with those steps.
    pub fn of(steps: Vec<TimeStep>) -> Time {
        Time { steps, given: Vec::new() }
    }

    /// Appends steps.
    pub fn then(&self, steps: impl IntoIterator<Item = TimeStep>) -> Time {
        let mut time = self.clone();
        time.steps.extend(steps);
        time
    }

    /// Changes each of its expressions.
    pub fn map(&self, change: &dyn Fn(&Expr) -> Expr) -> Time {
        Time {
            steps: self.steps.iter().map(|step| step.map(change)).collect(),
            given: self.given.iter().map(|(left, right)| (change(left), change(right))).collect(),
        }
    }

    /// Whether it is the time of the instance itself, not of others that the instance stands for.
    pub fn is_own(&self) -> bool {
        self.given.is_empty() && self.names().iter().all(|name| without_primes(name).1 == 0)
    }

    /// All names in it.
    pub fn names(&self) -> BTreeSet<Name> {
        let values = self.steps.iter().filter_map(|step| match step {
            TimeStep::At(_) => None,
            TimeStep::Loop(value) => Some(value),
        });
        values.chain(self.given.iter().flat_map(|(left, right)| [left, right])).flat_map(Expr::variables).collect()
    }
}

impl Origin {
    /// The origin of instances that ran once.
    pub fn at(steps: Vec<TimeStep>) -> Origin {
        Origin { times: vec![Time::of(steps)], ..Origin::default() }
    }

    /// The times for accesses to a variable.
    pub fn times_for(&self, variable: &Name) -> Vec<Time> {
        match self.of.get(variable) {
            Some(steps) => vec![Time::of(steps.clone())],
            None => self.times.clone(),
        }
    }

    /// The times between two instructions that fill and store a copy of a variable, in one iteration of the loops around the copy.
    pub fn copied_between<'o>(&'o self, other: &'o Origin, variable: &Name) -> Option<(&'o [TimeStep], &'o [TimeStep])> {
        self.copies.iter().filter(|(_, (of, _))| of == variable).find_map(|(copy, (of, steps))| {
            let (_, others) = other.copies.get(copy).filter(|(theirs, _)| theirs == of)?;
            Some((&steps[..], &others[..]))
        })
    }

    /// Replaces inames, including primed ones, by expressions; `new` are the inames in these expressions.
    pub fn substitute(&self, by: &BTreeMap<Name, Expr>, new: &[Name]) -> Origin {
        let mut wanted = by.clone();
        let steps = self.of.values().chain(self.copies.values().map(|(_, steps)| steps));
        let names = self.times.iter().flat_map(Time::names).chain(steps.flat_map(|steps| Time::of(steps.clone()).names()));
        for name in names {
            let (plain, primes) = without_primes(&name);
            if primes > 0
                && let Some(value) = by.get(plain)
            {
                let mark = "'".repeat(primes);
                let own = new.iter().map(|iname| (iname.clone(), Expr::var(format!("{iname}{mark}")))).collect();
                wanted.insert(name.clone(), value.substitute(&own));
            }
        }
        self.map(&|expr| expr.substitute(&wanted))
    }

    /// Renames the copies and changes their times.
    pub fn copies_with(
        &self,
        name: &dyn Fn(&Name) -> Name,
        steps: &dyn Fn(&[TimeStep]) -> Vec<TimeStep>,
    ) -> BTreeMap<Name, (Name, Vec<TimeStep>)> {
        self.copies.iter().map(|(copy, (of, own))| (name(copy), (name(of), steps(own)))).collect()
    }

    /// Changes each expression of its times.
    pub fn map(&self, change: &dyn Fn(&Expr) -> Expr) -> Origin {
        Origin {
            times: self.times.iter().map(|time| time.map(change)).collect(),
            of: self.of.iter().map(|(name, steps)| (name.clone(), steps.iter().map(|step| step.map(change)).collect())).collect(),
            copies: self.copies_with(&Name::clone, &|steps| steps.iter().map(|step| step.map(change)).collect()),
            commutes: self.commutes.clone(),
            lexical: self.lexical.iter().map(|(value, digits)| (change(value), digits.iter().map(change).collect())).collect(),
        }
    }

    /// Renames variables.
    pub fn rename_variables(&self, by: &BTreeMap<Name, Name>) -> Origin {
        let renamed = |name: &Name| by.get(name).unwrap_or(name).clone();
        Origin {
            times: self.times.clone(),
            of: self.of.iter().map(|(name, steps)| (renamed(name), steps.clone())).collect(),
            copies: self.copies_with(&renamed, &<[TimeStep]>::to_vec),
            commutes: self.commutes.iter().map(renamed).collect(),
            lexical: self.lexical.clone(),
        }
    }
}
