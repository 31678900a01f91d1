//! Patterns for names and queries for instructions: `id:init*`, `writes:a and not tag:input`.

use std::collections::BTreeSet;
use std::fmt;

use parloop_isl::Name;

use crate::syntax::{Instruction, LoopKernel};

/// A pattern for names: `*` stands for any text, `?` for one character.
///
/// ```
/// use parloop_loop::matching::Glob;
/// assert!(Glob::new("insn_*").matches("insn_12"));
/// assert!(!Glob::new("insn_?").matches("insn_12"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Glob(Name);

impl Glob {
    /// That pattern.
    pub fn new(pattern: impl Into<Name>) -> Glob {
        Glob(pattern.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that it is, if it has neither `*` nor `?`.
    pub fn as_name(&self) -> Option<&Name> {
        (!self.0.contains(['*', '?'])).then_some(&self.0)
    }

    /// Whether the whole name fits. Takes time in proportion to the product of both lengths at most.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        // Where to go on when a later part does not fit: the last `*`, and how much of the name it has taken.
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    retry = Some((p, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
                _ => match retry {
                    Some((star, taken)) => {
                        retry = Some((star, taken + 1));
                        (p, n) = (star + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which instructions are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Query {
    /// Every one.
    All,
    /// `a and b`.
    And(Box<Query>, Box<Query>),
    /// `a or b`.
    Or(Box<Query>, Box<Query>),
    /// `not a`.
    Not(Box<Query>),
    /// `id:a*`.
    Id(Glob),
    /// `tag:a*`: one of its tags fits.
    Tag(Glob),
    /// `writes:a*`: it writes a variable that fits.
    Writes(Glob),
    /// `reads:a*`: it reads a variable that fits.
    Reads(Glob),
    /// `iname:a*`: one of the inames it is within fits.
    Iname(Glob),
    /// `in_kernel:a*`: the kernel's name fits.
    InKernel(Glob),
}

impl Query {
    /// Whether the instruction, which is one of the kernel's, is meant.
    pub fn matches(&self, kernel: &LoopKernel, instruction: &Instruction) -> bool {
        let any = |glob: &Glob, names: &BTreeSet<Name>| names.iter().any(|name| glob.matches(name));
        match self {
            Query::All => true,
            Query::And(left, right) => left.matches(kernel, instruction) && right.matches(kernel, instruction),
            Query::Or(left, right) => left.matches(kernel, instruction) || right.matches(kernel, instruction),
            Query::Not(inner) => !inner.matches(kernel, instruction),
            Query::Id(glob) => glob.matches(&instruction.id),
            Query::Tag(glob) => any(glob, &instruction.tags),
            Query::Writes(glob) => any(glob, &instruction.writes()),
            Query::Reads(glob) => any(glob, &instruction.reads()),
            Query::Iname(glob) => any(glob, &instruction.within_inames),
            Query::InKernel(glob) => glob.matches(&kernel.name),
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Levels: 0 for `or`, 1 for `and`, 2 for the rest.
        fn at_least(query: &Query, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let level = match query {
                Query::Or(..) => 0,
                Query::And(..) => 1,
                _ => 2,
            };
            if level >= least { query.fmt(f) } else { write!(f, "({query})") }
        }
        match self {
            Query::All => f.write_str("all"),
            Query::And(a, b) => {
                at_least(a, 1, f)?;
                f.write_str(" and ")?;
                at_least(b, 2, f)
            }
            Query::Or(a, b) => {
                at_least(a, 0, f)?;
                f.write_str(" or ")?;
                at_least(b, 1, f)
            }
            Query::Not(a) => {
                f.write_str("not ")?;
                at_least(a, 2, f)
            }
            Query::Id(glob) => write!(f, "id:{glob}"),
            Query::Tag(glob) => write!(f, "tag:{glob}"),
            Query::Writes(glob) => write!(f, "writes:{glob}"),
            Query::Reads(glob) => write!(f, "reads:{glob}"),
            Query::Iname(glob) => write!(f, "iname:{glob}"),
            Query::InKernel(glob) => write!(f, "in_kernel:{glob}"),
        }
    }
}
