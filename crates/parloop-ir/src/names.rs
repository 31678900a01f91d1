//! Unique names, and suggestions for misspelt names.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use parloop_isl::Name;

use crate::syntax::LoopKernel;

/// Generates unique names.
///
/// ```
/// use parloop_loop::names::UniqueNames;
/// let mut names = UniqueNames::of(["a".into(), "a_0".into()]);
/// assert_eq!(names.make("a"), "a_1");
/// assert_eq!(names.make("b"), "b");
/// ```
#[derive(Clone, Debug, Default)]
pub struct UniqueNames {
    taken: BTreeSet<Name>,
    next: HashMap<String, usize>,
}

impl UniqueNames {
    /// Names that differ from those.
    pub fn of(taken: impl IntoIterator<Item = Name>) -> UniqueNames {
        UniqueNames { taken: taken.into_iter().collect(), next: HashMap::new() }
    }

    /// Names that differ from all inames, data, parameters and substitution rules of a kernel, and from all names in its expressions.
    pub fn of_variables(kernel: &LoopKernel) -> UniqueNames {
        let mut taken: BTreeSet<Name> = kernel.inames.keys().cloned().collect();
        taken.extend(kernel.temporaries.keys().cloned());
        taken.extend(kernel.arguments.iter().map(|argument| argument.name.clone()));
        for rule in kernel.substitutions.values() {
            taken.insert(rule.name.clone());
            taken.extend(rule.parameters.iter().cloned());
        }
        taken.extend(kernel.domains.iter().flat_map(|domain| domain.params().iter().cloned()));
        taken.insert(kernel.name.clone());
        UniqueNames { taken, next: HashMap::new() }
    }

    /// Names that differ from the ids of a kernel's instructions.
    pub fn of_instructions(kernel: &LoopKernel) -> UniqueNames {
        UniqueNames::of(kernel.instructions.iter().map(|instruction| instruction.id.clone()))
    }

    /// `base`, or `base_0`, `base_1` … if that is taken; the result is then taken.
    pub fn make(&mut self, base: &str) -> Name {
        if !self.taken.contains(base) {
            self.taken.insert(base.into());
            return base.into();
        }
        let next = self.next.entry(base.to_owned()).or_insert(0);
        loop {
            let name = format!("{base}_{next}");
            *next += 1;
            if !self.taken.contains(name.as_str()) {
                self.taken.insert(name.as_str().into());
                return name.into();
            }
        }
    }

    /// Reserves a name; false if it was already taken.
    pub fn take(&mut self, name: &Name) -> bool {
        self.taken.insert(name.clone())
    }
}

/// Names that may have been meant by a name that is not known: the end of a message.
///
/// ```
/// use parloop_loop::names::Near;
/// let known = ["i_inner".into(), "j".into()];
/// assert_eq!(Near::of("i_iner", &known).to_string(), "; did you mean `i_inner`?");
/// assert_eq!(Near::of("k", &known).to_string(), "; available: `i_inner`, `j`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    close: Option<Name>,
    known: Vec<Name>,
}

impl Near {
    /// The maximum number of names that a message lists.
    const LISTED: usize = 8;

    /// Finds the nearest known name.
    pub fn of<'a>(name: &str, known: impl IntoIterator<Item = &'a Name>) -> Near {
        let known: BTreeSet<&Name> = known.into_iter().collect();
        let close = known
            .iter()
            .map(|candidate| (distance(name, candidate), *candidate))
            .filter(|(distance, candidate)| 3 * distance <= name.chars().count().max(candidate.chars().count()))
            .min()
            .map(|(_, candidate)| candidate.clone());
        Near { close, known: known.into_iter().take(Near::LISTED + 1).cloned().collect() }
    }
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.close, self.known.as_slice()) {
            (Some(close), _) => write!(f, "; did you mean `{close}`?"),
            (None, []) => f.write_str("; there are none"),
            (None, [only]) => write!(f, "; available: `{only}`"),
            (None, known) if known.len() <= Near::LISTED => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "; available: {}", known.join(", "))
            }
            (None, _) => Ok(()),
        }
    }
}

/// The edit distance between two words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
