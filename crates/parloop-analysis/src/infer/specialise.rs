//! The table of callables while it grows: equal specialisations share an entry, others get the next free name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parloop_ir::callable::Callable;
use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::Name;

/// Entries of a program, and those that are added to it.
#[derive(Debug)]
pub(super) struct Entries {
    table: BTreeMap<Name, Arc<dyn Callable>>,
    names: UniqueNames,
    /// The name that the user gave, by entry.
    roots: HashMap<Name, Name>,
    /// Entries by the name that the user gave.
    families: HashMap<Name, Vec<Name>>,
}

impl Entries {
    pub(super) fn of(program: &Program) -> Entries {
        let rules = program.callables.values().filter_map(|callable| callable.kernel()).flat_map(|kernel| kernel.substitutions.keys());
        let names = UniqueNames::of(program.callables.keys().chain(rules).cloned());
        let mut entries = Entries { table: program.callables.clone(), names, roots: HashMap::new(), families: HashMap::new() };
        for (entry, callable) in &program.callables {
            let is_specialised = callable.types().is_some() && program.callables.contains_key(callable.name());
            let root = if is_specialised { callable.name() } else { entry };
            entries.note(entry.clone(), root.clone());
        }
        entries
    }

    fn note(&mut self, entry: Name, root: Name) {
        self.families.entry(root.clone()).or_default().push(entry.clone());
        self.roots.insert(entry, root);
    }

    pub(super) fn get(&self, entry: &Name) -> Option<&Arc<dyn Callable>> {
        self.table.get(entry)
    }

    /// Replaces an entry.
    pub(super) fn replace(&mut self, entry: &Name, callable: Arc<dyn Callable>) {
        self.table.insert(entry.clone(), callable);
    }

    /// The entry for a specialisation of the entry `of`: an equal one, else another one. Kernels have the names of their entries.
    pub(super) fn add(&mut self, of: &Name, callable: Arc<dyn Callable>) -> Name {
        let root = self.roots.get(of).unwrap_or(of).clone();
        if let Some(family) = self.families.get(&root)
            && let Some(same) = family.iter().find(|entry| self.table.get(*entry).is_some_and(|other| callable.is_same(&**other)))
        {
            return same.clone();
        }
        let entry = self.names.make(&root);
        let callable = match callable.kernel() {
            Some(kernel) => callable.with_kernel(LoopKernel { name: entry.clone(), ..kernel.clone() }),
            None => callable,
        };
        self.table.insert(entry.clone(), callable);
        self.note(entry.clone(), root);
        entry
    }

    pub(super) fn finish(self) -> BTreeMap<Name, Arc<dyn Callable>> {
        self.table
    }
}
