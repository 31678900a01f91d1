//! Programs: kernels and the functions that they call.

mod reach;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::Name;

pub use reach::{called_by, kernel_exprs, reachable};

use crate::callable::{Callable, FunctionLookup};
use crate::matching::Query;
use crate::substitution::{ExpandSubstError, expand_subst};
use crate::syntax::{LoopKernel, Target};

/// Kernels, the functions that they call, and the entry points.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All callables, by the name in calls: kernels (including entry points), functions of the target and of the user, and their
    /// specialisations.
    pub callables: BTreeMap<Name, Arc<dyn Callable>>,
    /// The kernels that are called from outside.
    pub entrypoints: BTreeSet<Name>,
    /// The target, if one was chosen.
    pub target: Option<Target>,
    /// Look-ups for names that are not in `callables`, used before those of the target and the library; the last one first.
    pub lookups: Vec<Arc<dyn FunctionLookup>>,
}

impl Program {
    /// A program without kernels.
    pub fn empty() -> Program {
        Program { callables: BTreeMap::new(), entrypoints: BTreeSet::new(), target: None, lookups: Vec::new() }
    }

    /// A program with one kernel, which is its entry point.
    pub fn of(kernel: LoopKernel) -> Program {
        let name = kernel.name.clone();
        let entry: Arc<dyn Callable> = Arc::new(crate::callable::CallableKernel::of(kernel));
        Program {
            callables: BTreeMap::from([(name.clone(), entry)]),
            entrypoints: BTreeSet::from([name]),
            target: None,
            lookups: Vec::new(),
        }
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&LoopKernel> {
        self.callables.get(name)?.kernel()
    }

    /// The entry point, if there is exactly one.
    pub fn entry(&self) -> Option<&LoopKernel> {
        match self.entrypoints.iter().next() {
            Some(name) if self.entrypoints.len() == 1 => self.kernel(name),
            _ => None,
        }
    }

    /// Replaces the kernel of the same name.
    pub fn with_kernel(&self, kernel: LoopKernel) -> Program {
        let mut program = self.clone();
        let name = kernel.name.clone();
        let callable = match self.callables.get(&name) {
            Some(old) => old.with_kernel(kernel),
            None => Arc::new(crate::callable::CallableKernel::of(kernel)),
        };
        program.callables.insert(name, callable);
        program
    }

    /// The name of the kernel that is called by default.
    ///
    /// # Errors
    /// [`NoEntry`] if there is none, or more than one.
    pub fn only_entry(&self) -> Result<&Name, NoEntry> {
        let mut entries = self.entrypoints.iter();
        match (entries.next(), entries.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(NoEntry { names: self.entrypoints.iter().cloned().collect() }),
        }
    }

    /// Expands all calls to substitution rules, in every kernel.
    ///
    /// # Errors
    /// If a call does not match its rule, or a rule calls itself.
    pub fn expand_rules(&self) -> Result<Program, ExpandSubstError> {
        let mut expanded = self.clone();
        for (name, callable) in &self.callables {
            if let Some(kernel) = callable.kernel().filter(|kernel| !kernel.substitutions.is_empty()) {
                expanded.callables.insert(name.clone(), callable.with_kernel(expand_subst(kernel, &Query::All)?));
            }
        }
        Ok(expanded)
    }
}

/// No kernel can be called from outside, or several can and none was named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", entry_message(.names))]
pub struct NoEntry {
    /// The kernels that can be called.
    pub names: Vec<Name>,
}

fn entry_message(names: &[Name]) -> String {
    match names {
        [] => "the program has no kernel that can be called from outside; make one with make_kernel".into(),
        names => format!(
            "the program has several kernels, {}; specify one",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}
