//! Programs: kernels and the functions that they call.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use parloop_isl::Name;

use crate::callable::{Callable, FunctionLookup};

use super::LoopKernel;

/// What code is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Target {
    C,
    OpenCl,
    Cuda,
    Hip,
    Ispc,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::C => "c",
            Target::OpenCl => "opencl",
            Target::Cuda => "cuda",
            Target::Hip => "hip",
            Target::Ispc => "ispc",
        })
    }
}

/// Kernels, the functions that they call, and which of the kernels are called from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All that can be called, by the name in calls: kernels (entry points among them), functions of the target and of the user, and their specialisations.
    pub callables: BTreeMap<Name, Arc<dyn Callable>>,
    /// The kernels that are called from outside.
    pub entrypoints: BTreeSet<Name>,
    /// What code is written for, if it was said.
    pub target: Option<Target>,
    /// Whom to ask for names that are not in `callables`, before the target and the library are asked; the last one first.
    pub lookups: Vec<Arc<dyn FunctionLookup>>,
}

impl Program {
    /// A program without kernels.
    pub fn empty() -> Program {
        Program { callables: BTreeMap::new(), entrypoints: BTreeSet::new(), target: None, lookups: Vec::new() }
    }

    /// A program of one kernel, which is its entry point.
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

    /// The only entry point, if there is one alone.
    pub fn entry(&self) -> Option<&LoopKernel> {
        match self.entrypoints.iter().next() {
            Some(name) if self.entrypoints.len() == 1 => self.kernel(name),
            _ => None,
        }
    }

    /// With that kernel in the place of the one of its name.
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
}
