//! `add_dependency`: instructions that come before others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::Name;

use super::rewrite::Scope;
use crate::matching::Query;
use crate::syntax::{Instruction, LoopKernel};

/// Why a dependency cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddDependencyError {
    /// No instruction is to depend on anything.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, so none gets the dependency")]
    NoDependent {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
    },
    /// There is nothing to depend on.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, so there is none to depend on")]
    NoDependency {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
    },
    /// An instruction would come before itself.
    #[error("instruction `{dependent}` cannot depend on `{dependency}`, which comes after it by its own dependencies")]
    Cycle {
        /// The instruction that was to get the dependency.
        dependent: Name,
        /// What it was to depend on.
        dependency: Name,
    },
}

/// Lets the instructions that one query finds depend on all that another one finds, themselves left out.
///
/// # Errors
/// When a query finds none, or an instruction would come before itself.
pub fn add_dependency(kernel: &LoopKernel, dependents: &Query, depends_on: &Query) -> Result<LoopKernel, AddDependencyError> {
    let found = |query: &Query| -> BTreeSet<Name> {
        kernel.instructions.iter().filter(|instruction| query.matches(kernel, instruction)).map(|instruction| instruction.id.clone()).collect()
    };
    let dependencies = found(depends_on);
    if dependencies.is_empty() {
        return Err(AddDependencyError::NoDependency { kernel: kernel.name.clone(), query: depends_on.clone() });
    }
    let scope = Scope::of(kernel, dependents);
    if scope.instructions(kernel, true).next().is_none() {
        return Err(AddDependencyError::NoDependent { kernel: kernel.name.clone(), query: dependents.clone() });
    }
    let instructions = scope.map(kernel, &mut |instruction| {
        let mut depends_on = instruction.depends_on.clone();
        depends_on.extend(dependencies.iter().filter(|id| **id != instruction.id).cloned());
        Ok::<_, AddDependencyError>(Arc::new(Instruction { depends_on, ..(**instruction).clone() }))
    })?;
    let result = LoopKernel { instructions, ..kernel.clone() };
    for instruction in scope.instructions(&result, true) {
        let before = before(&result, &instruction.id);
        if before.contains(&instruction.id) {
            let graph = dependencies.iter().find(|id| **id == instruction.id || self::before(&result, id).contains(&instruction.id));
            let dependency = graph.unwrap_or(&instruction.id).clone();
            return Err(AddDependencyError::Cycle { dependent: instruction.id.clone(), dependency });
        }
    }
    Ok(result)
}

/// The instructions that come before one by its dependencies, and theirs.
pub(super) fn before(kernel: &LoopKernel, id: &Name) -> BTreeSet<Name> {
    let by_id: BTreeMap<&Name, &Arc<Instruction>> = kernel.instructions.iter().map(|instruction| (&instruction.id, instruction)).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        for dependency in by_id.get(id).into_iter().flat_map(|instruction| &instruction.depends_on) {
            if found.insert(dependency.clone()) {
                open.push(dependency);
            }
        }
    }
    found
}
