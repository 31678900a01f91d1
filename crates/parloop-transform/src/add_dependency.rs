//! `add_dependency`: makes instructions depend on others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::sequence::{created, is_as_created};
use parloop_ir::matching::Query;
use parloop_ir::syntax::{Instruction, LoopKernel};
use parloop_isl::Name;

use super::rewrite::Scope;

/// Why a dependency cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddDependencyError {
    /// No instruction gets the dependency.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, so there is nothing to add the dependency to")]
    NoDependent {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
    },
    /// There is nothing to depend on.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, so there is nothing to depend on")]
    NoDependency {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
    },
    /// An instruction would come before itself.
    #[error("instruction `{dependent}` cannot depend on `{dependency}`, which already depends on it")]
    Cycle {
        /// The instruction that would get the dependency.
        dependent: Name,
        /// The instruction it would depend on.
        dependency: Name,
    },
}

/// Makes the instructions that one query selects depend on all that another selects, except on themselves.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, transform::add_dependency};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1 {id=one}\nb[i] = a[i] {id=two, dep=one}\nc[i] = 1 {id=three}").build_kernel()?;
/// let kernel = add_dependency(&kernel, &parse::query("id:three")?, &parse::query("writes:a")?)?;
/// assert!(kernel.instructions[2].depends_on.contains("one"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a query finds none, or an instruction would come before itself.
pub fn add_dependency(kernel: &LoopKernel, dependents: &Query, depends_on: &Query) -> Result<LoopKernel, AddDependencyError> {
    let found = |query: &Query| -> BTreeSet<Name> {
        kernel
            .instructions
            .iter()
            .filter(|instruction| query.matches(kernel, instruction))
            .map(|instruction| instruction.id.clone())
            .collect()
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
    if !has_cycle(&result) {
        return Ok(in_new_order(kernel, result));
    }
    let pairs =
        scope.instructions(kernel, true).flat_map(|dependent| dependencies.iter().map(move |dependency| (&dependent.id, dependency)));
    let culprit =
        pairs.into_iter().find(|(dependent, dependency)| dependent != dependency && before(&result, dependency).contains(*dependent));
    match culprit {
        Some((dependent, dependency)) => Err(AddDependencyError::Cycle { dependent: dependent.clone(), dependency: dependency.clone() }),
        // The cycle already existed.
        None => Ok(result),
    }
}

/// Makes the order of the kernel its meaning if the kernel was still as created: dependencies define the order of instructions that had
/// none. Others keep theirs.
fn in_new_order(before: &LoopKernel, after: LoopKernel) -> LoopKernel {
    if is_as_created(before) { created(after) } else { after }
}

/// Whether there is a dependency cycle.
fn has_cycle(kernel: &LoopKernel) -> bool {
    let mut waits_for: BTreeMap<&Name, usize> = kernel.instructions.iter().map(|instruction| (&instruction.id, 0)).collect();
    let mut after: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
    for instruction in &kernel.instructions {
        for dependency in instruction.depends_on.iter().filter(|id| waits_for.contains_key(*id)).collect::<Vec<_>>() {
            after.entry(dependency).or_default().push(&instruction.id);
            *waits_for.entry(&instruction.id).or_default() += 1;
        }
    }
    let mut ready: Vec<&Name> = waits_for.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    let mut done = 0;
    while let Some(id) = ready.pop() {
        done += 1;
        for next in after.get(id).into_iter().flatten() {
            let count = waits_for.entry(next).or_default();
            *count -= 1;
            if *count == 0 {
                ready.push(next);
            }
        }
    }
    done < kernel.instructions.len()
}

/// The transitive dependencies of an instruction.
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
