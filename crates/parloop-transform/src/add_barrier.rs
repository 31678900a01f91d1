//! `add_barrier`: a barrier between instructions.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::matching::{Glob, Query};
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{Instruction, InstructionKind, LoopKernel, MemoryKind, SyncScope};
use parloop_isl::Name;

use super::add_dependency::{AddDependencyError, add_dependency};
use super::replace::{self, InameError};

/// A barrier, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The instructions before it.
    pub before: Query,
    /// The instructions after it.
    pub after: Query,
    /// Among which work items: all of a launch, or those of a group.
    pub scope: SyncScope,
    /// The memory that it makes visible; `None`: that of its scope.
    pub memory: Option<MemoryKind>,
    /// The prefix of its id; `None`: `g_barrier` or `l_barrier`.
    pub id: Option<Name>,
    /// The inames in which it runs.
    pub within_inames: BTreeSet<Name>,
    /// User-defined tags.
    pub tags: BTreeSet<Name>,
}

impl Barrier {
    /// A barrier for all work items of a launch between those instructions, outside all loops.
    pub fn global(before: Query, after: Query) -> Barrier {
        Barrier { before, after, scope: SyncScope::Global, memory: None, id: None, within_inames: BTreeSet::new(), tags: BTreeSet::new() }
    }

    /// A barrier for the work items of a group.
    pub fn local(before: Query, after: Query) -> Barrier {
        Barrier { scope: SyncScope::Local, ..Barrier::global(before, after) }
    }
}

/// Why a barrier cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddBarrierError {
    /// A barrier is local or global.
    #[error("a barrier is `local` (the work items of a group) or `global` (all work items), not `any`")]
    Scope,
    /// There is nothing before it.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, so there is nothing before the barrier")]
    NothingBefore {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
    },
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// The instructions after it cannot come after it.
    #[error(transparent)]
    Dependency(#[from] AddDependencyError),
}

/// Adds a barrier after the instructions that one query selects and before those that another selects.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, transform::{Barrier, add_barrier}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1 {id=one}\nb[i] = a[i] {id=two, dep=one}\nc[i] = 1 {id=three}").build_kernel()?;
/// let kernel = add_barrier(&kernel, &Barrier::global(parse::query("id:one")?, parse::query("id:two")?))?;
/// assert!(kernel.instructions[1].depends_on.contains("g_barrier"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a query finds none, an instruction after the barrier must run before one that is before it, or there is no such iname.
pub fn add_barrier(kernel: &LoopKernel, barrier: &Barrier) -> Result<LoopKernel, AddBarrierError> {
    let (base, memory) = match barrier.scope {
        SyncScope::Global => ("g_barrier", MemoryKind::Global),
        SyncScope::Local => ("l_barrier", MemoryKind::Local),
        SyncScope::Any => return Err(AddBarrierError::Scope),
    };
    barrier.within_inames.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let before = kernel.instructions.iter().filter(|instruction| barrier.before.matches(kernel, instruction));
    let depends_on: BTreeSet<Name> = before.map(|instruction| instruction.id.clone()).collect();
    if depends_on.is_empty() {
        return Err(AddBarrierError::NothingBefore { kernel: kernel.name.clone(), query: barrier.before.clone() });
    }
    let id = UniqueNames::of_instructions(kernel).make(barrier.id.as_deref().unwrap_or(base));
    let kind = InstructionKind::Barrier { scope: barrier.scope, memory: barrier.memory.unwrap_or(memory) };
    let instruction = Instruction {
        depends_on,
        depends_on_is_final: true,
        within_inames: barrier.within_inames.clone(),
        within_inames_is_final: true,
        tags: barrier.tags.clone(),
        ..Instruction::bare(id.clone(), kind)
    };
    let mut result = kernel.clone();
    result.instructions.push(Arc::new(instruction));
    // The barrier itself does not count.
    let after = Query::And(Box::new(barrier.after.clone()), Box::new(Query::Not(Box::new(Query::Id(Glob::new(&id))))));
    if !kernel.instructions.iter().any(|instruction| barrier.after.matches(kernel, instruction)) {
        return Err(AddDependencyError::NoDependent { kernel: kernel.name.clone(), query: barrier.after.clone() }.into());
    }
    Ok(add_dependency(&result, &after, &Query::Id(Glob::new(&id)))?)
}
