//! The forest of domains: which domain has an iname, which domains its bounds depend on, and all of them joined.

use std::collections::{BTreeSet, HashMap};

use parloop_isl::{Constraint, ConstraintKind, IslError, Name, Set};

use crate::syntax::LoopKernel;

/// The domain of each iname, for repeated queries about one kernel.
#[derive(Clone, Debug)]
pub struct Forest<'k> {
    kernel: &'k LoopKernel,
    homes: HashMap<&'k str, usize>,
}

impl<'k> Forest<'k> {
    /// Indexes the kernel.
    pub fn of(kernel: &'k LoopKernel) -> Forest<'k> {
        let dims = kernel.domains.iter().enumerate().flat_map(|(index, domain)| domain.dims().iter().map(move |dim| (dim.as_str(), index)));
        Forest { kernel, homes: dims.collect() }
    }

    /// The index of the domain that has the iname.
    pub fn home(&self, iname: &str) -> Option<usize> {
        self.homes.get(iname).copied()
    }

    /// The domains whose inames are parameters of that one.
    pub fn parents(&self, domain: usize) -> BTreeSet<usize> {
        self.kernel.domains[domain].params().iter().filter_map(|param| self.home(param)).collect()
    }

    /// The domains that have the inames, and all domains that these depend on, in the order of the kernel.
    pub fn needed<'a>(&self, inames: impl IntoIterator<Item = &'a Name>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = inames.into_iter().filter_map(|iname| self.home(iname)).collect();
        while let Some(domain) = open.pop() {
            if found.insert(domain) {
                open.extend(self.parents(domain));
            }
        }
        found
    }

    /// Those domains joined: a set over all of their inames. Assumptions about the parameters are not included.
    ///
    /// # Errors
    /// If a number does not fit.
    pub fn domain_of<'a>(&self, inames: impl IntoIterator<Item = &'a Name>) -> Result<Set, IslError> {
        let mut needed = self.needed(inames).into_iter().map(|index| &self.kernel.domains[index]);
        let Some(first) = needed.next() else { return Ok(Set::universe(&[], &[])) };
        needed.try_fold(first.clone(), |joined, domain| joined.join(domain))
    }

    /// The kernel.
    pub fn kernel(&self) -> &'k LoopKernel {
        self.kernel
    }

    /// The bounds from constraints on the iname alone; tighter ones may exist.
    pub fn constant_bounds(&self, iname: &Name) -> (Option<i64>, Option<i64>) {
        let Some(home) = self.home(iname) else { return (None, None) };
        let [piece] = self.kernel.domains[home].pieces() else { return (None, None) };
        let (mut lower, mut upper): (Option<i64>, Option<i64>) = (None, None);
        for Constraint { kind, affine } in piece {
            let coefficient = affine.coefficient(iname);
            let mut terms = affine.terms();
            if coefficient == 0 || (terms.next().is_some() && terms.next().is_some()) {
                continue;
            }
            // `c*i + k >= 0`
            let constant = affine.constant_term();
            if coefficient > 0 || *kind == ConstraintKind::Zero {
                let limit = constant.checked_div_euclid(coefficient).and_then(i64::checked_neg);
                lower = lower.max(limit);
            }
            if coefficient < 0 || *kind == ConstraintKind::Zero {
                let limit = coefficient.checked_neg().and_then(|divisor| constant.checked_div_euclid(divisor));
                upper = upper.map_or(limit, |known| Some(limit.map_or(known, |limit| limit.min(known))));
            }
        }
        (lower, upper)
    }
}

impl LoopKernel {
    /// The domains that have the inames, and all domains that these depend on, joined: a set over all of their inames.
    ///
    /// # Errors
    /// If a number does not fit.
    pub fn domain_of(&self, inames: &BTreeSet<Name>) -> Result<Set, IslError> {
        Forest::of(self).domain_of(inames)
    }

    /// The names other than inames that bound loops: sizes, and integers that the kernel computes.
    pub fn parameters(&self) -> BTreeSet<Name> {
        let params = self.domains.iter().chain([&self.assumptions]).flat_map(|domain| domain.params());
        params.filter(|param| !self.inames.contains_key(*param)).cloned().collect()
    }

    /// The parameters that the kernel computes: loops that they bound run where their values are known.
    pub fn computed_parameters(&self) -> BTreeSet<Name> {
        let params = self.domains.iter().flat_map(|domain| domain.params());
        params.filter(|param| self.temporaries.contains_key(*param)).cloned().collect()
    }
}
