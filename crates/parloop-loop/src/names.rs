//! Names that are not taken yet.

use std::collections::{BTreeSet, HashMap};

use parloop_isl::Name;

use crate::syntax::LoopKernel;

/// Gives names that are in use nowhere else.
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
    /// Beside those names.
    pub fn of(taken: impl IntoIterator<Item = Name>) -> UniqueNames {
        UniqueNames { taken: taken.into_iter().collect(), next: HashMap::new() }
    }

    /// Beside all names of inames, data, parameters and substitution rules of a kernel, and of what its expressions use.
    pub fn of_variables(kernel: &LoopKernel) -> UniqueNames {
        let mut taken: BTreeSet<Name> = kernel.inames.keys().cloned().collect();
        taken.extend(kernel.temporaries.keys().cloned());
        taken.extend(kernel.arguments.iter().map(|argument| argument.name.clone()));
        taken.extend(kernel.substitutions.keys().cloned());
        taken.extend(kernel.domains.iter().flat_map(|domain| domain.params().iter().cloned()));
        taken.insert(kernel.name.clone());
        UniqueNames { taken, next: HashMap::new() }
    }

    /// Beside the ids of a kernel's instructions.
    pub fn of_instructions(kernel: &LoopKernel) -> UniqueNames {
        UniqueNames::of(kernel.instructions.iter().map(|instruction| instruction.id.clone()))
    }

    /// `base`, or `base_0`, `base_1` … if that is taken; taken from then on.
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

    /// Takes a name; false if it was taken.
    pub fn take(&mut self, name: &Name) -> bool {
        self.taken.insert(name.clone())
    }
}
