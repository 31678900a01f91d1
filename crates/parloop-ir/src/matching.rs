//! Patterns for names and queries for instructions: `id:init*`, `writes:a and not tag:input`.

use std::collections::BTreeSet;
use std::fmt;

use parloop_isl::Name;

use crate::syntax::{Instruction, LoopKernel};

/// A pattern for names: `*` matches any text, `?` one character, `[ab]` one of those, `[!ab]` any other.
///
/// ```
/// use parloop_loop::matching::Glob;
/// assert!(Glob::new("insn_*").matches("insn_12"));
/// assert!(!Glob::new("insn_?").matches("insn_12"));
/// assert!(Glob::new("insn_[1-3]").matches("insn_2"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Glob(Name);

/// A part of a pattern.
enum Part {
    Many,
    One,
    Exactly(char),
    /// Whether the class is negated.
    Class(bool, Vec<(char, char)>),
}

impl Part {
    /// Whether it matches that character.
    fn fits(&self, c: char) -> bool {
        match self {
            Part::Many => false,
            Part::One => true,
            Part::Exactly(exact) => *exact == c,
            Part::Class(wanted, ranges) => ranges.iter().any(|&(first, last)| (first..=last).contains(&c)) == *wanted,
        }
    }
}

impl Glob {
    /// Creates the pattern.
    pub fn new(pattern: impl Into<Name>) -> Glob {
        Glob(pattern.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The plain name, if it has none of `*`, `?` and `[`.
    pub fn as_name(&self) -> Option<&Name> {
        (!self.0.contains(['*', '?', '['])).then_some(&self.0)
    }

    /// Whether the whole name matches. Takes time at most proportional to the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        if self.as_name().is_some() {
            return *self.0 == *name;
        }
        let (parts, name): (Vec<Part>, Vec<char>) = (self.parts(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        // Where to resume when a later part does not match: the last `*`, and how much of the name it has consumed.
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match parts.get(p) {
                Some(Part::Many) => {
                    retry = Some((p, n));
                    p += 1;
                }
                Some(part) if part.fits(name[n]) => (p, n) = (p + 1, n + 1),
                _ => match retry {
                    Some((star, taken)) => {
                        retry = Some((star, taken + 1));
                        (p, n) = (star + 1, taken + 1);
                    }
                    None => return false,
                },
            }
        }
        parts[p..].iter().all(|part| matches!(part, Part::Many))
    }

    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut rest = self.0.chars();
        while let Some(c) = rest.next() {
            parts.push(match c {
                '*' => Part::Many,
                '?' => Part::One,
                '[' => match class(rest.as_str()) {
                    Some((part, length)) => {
                        rest = rest.as_str()[length..].chars();
                        part
                    }
                    None => Part::Exactly('['),
                },
                _ => Part::Exactly(c),
            });
        }
        parts
    }
}

/// The class after a `[`, and its length in bytes; `None` if it is not closed.
fn class(text: &str) -> Option<(Part, usize)> {
    let inside = text.strip_prefix('!').unwrap_or(text);
    // A leading bracket is one of the characters.
    let first = inside.chars().next()?.len_utf8();
    let end = first + inside[first..].find(']')?;
    let members: Vec<char> = inside[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&low) = members.get(at) {
        match members[at..] {
            [_, '-', high, ..] => {
                ranges.push((low, high));
                at += 3;
            }
            _ => {
                ranges.push((low, low));
                at += 1;
            }
        }
    }
    Some((Part::Class(inside.len() == text.len(), ranges), text.len() - inside.len() + end + 1))
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Selects instructions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Query {
    /// All instructions.
    All,
    /// `a and b`.
    And(Box<Query>, Box<Query>),
    /// `a or b`.
    Or(Box<Query>, Box<Query>),
    /// `not a`.
    Not(Box<Query>),
    /// `id:a*`.
    Id(Glob),
    /// `tag:a*`: one of its tags matches.
    Tag(Glob),
    /// `writes:a*`: it writes a matching variable.
    Writes(Glob),
    /// `reads:a*`: it reads a matching variable.
    Reads(Glob),
    /// `iname:a*`: it runs in a matching iname.
    Iname(Glob),
    /// `in_kernel:a*`: the kernel's name matches.
    InKernel(Glob),
}

impl Query {
    /// Whether the query selects this instruction of the kernel.
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
