//! The domains of a kernel by iname, with cached joins.

use std::collections::{BTreeSet, HashMap, HashSet};

use parloop_analysis::facts::Facts;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::{Name, Set};

use super::LowerError;

/// The domains of a kernel by iname, and cached joins of them.
pub(super) struct Domains<'a> {
    kernel: &'a LoopKernel,
    home: HashMap<&'a Name, usize>,
    joined: HashMap<Vec<usize>, Set>,
}

impl<'a> Domains<'a> {
    pub(super) fn of(kernel: &'a LoopKernel) -> Domains<'a> {
        let homes = kernel.domains.iter().enumerate().flat_map(|(index, domain)| domain.dims().iter().map(move |dim| (dim, index)));
        Domains { kernel, home: homes.collect(), joined: HashMap::new() }
    }

    /// The inames whose limits the data decides: variables of the kernel, or elements of arrays.
    pub(super) fn data_inames(&mut self) -> Result<HashSet<Name>, LowerError> {
        let kernel = self.kernel;
        let facts = Facts::of(kernel);
        let mut found = HashSet::new();
        for domain in &kernel.domains {
            if self.join(domain.dims())?.params().iter().any(|param| facts.is_computed(param)) {
                found.extend(domain.dims().iter().cloned());
            }
        }
        Ok(found)
    }

    /// The domain of those inames, with those that it depends on: its dimensions may be more.
    pub(super) fn join<'n>(&mut self, inames: impl IntoIterator<Item = &'n Name>) -> Result<Set, LowerError> {
        let mut open: Vec<usize> = inames.into_iter().filter_map(|iname| self.home.get(iname).copied()).collect();
        let mut found = BTreeSet::new();
        while let Some(index) = open.pop() {
            if found.insert(index) {
                open.extend(self.kernel.domains[index].params().iter().filter_map(|param| self.home.get(param).copied()));
            }
        }
        let key: Vec<usize> = found.into_iter().collect();
        if let Some(set) = self.joined.get(&key) {
            return Ok(set.clone());
        }
        let mut set = Set::universe(&[], &[]);
        for (number, &index) in key.iter().enumerate() {
            set = if number == 0 { self.kernel.domains[index].clone() } else { set.join(&self.kernel.domains[index])? };
        }
        self.joined.insert(key, set.clone());
        Ok(set)
    }
}
