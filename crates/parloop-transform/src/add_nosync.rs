//! `add_nosync`: pairs of instructions that need no barrier between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::syntax::{Instruction, LoopKernel, SyncScope};
use parloop_isl::Name;

use super::add_dependency::before;

/// Which pairs of instructions need no barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSync {
    /// The work items that wait.
    pub scope: SyncScope,
    /// The instructions that come first.
    pub source: Query,
    /// Those that come later.
    pub sink: Query,
    /// Whether the first ones get the mark too.
    pub both_ways: bool,
    /// Whether pairs that neither depend on each other nor have conflicting groups count.
    pub force: bool,
    /// Whether it is allowed that no pair is found.
    pub empty_ok: bool,
}

impl NoSync {
    /// No barrier of that scope between those pairs that depend on each other.
    pub fn between(scope: SyncScope, source: Query, sink: Query) -> NoSync {
        NoSync { scope, source, sink, both_ways: false, force: false, empty_ok: false }
    }
}

/// Why `nosync` cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddNoSyncError {
    /// A query selects no instruction.
    #[error("no instruction of kernel `{kernel}` matches `{query}`, the {side} of the nosync pair")]
    NoMatch {
        /// The kernel.
        kernel: Name,
        /// The query.
        query: Query,
        /// `source` or `sink`.
        side: &'static str,
    },
    /// No pair depends on each other.
    #[error(
        "no instruction that matches `{sink}` depends on, or has a conflicting group with, one that matches `{source_query}`; use `force` if it is intended"
    )]
    NoPair {
        /// The later ones.
        sink: Query,
        /// The first ones.
        source_query: Query,
    },
}

/// Declares that pairs of instructions need no barrier between them, although they depend on each other.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, syntax::SyncScope, transform::{NoSync, add_nosync}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1 {id=one}\nb[i] = a[i] {id=two, dep=one}\nc[i] = 1 {id=three}").build_kernel()?;
/// let nosync = NoSync::between(SyncScope::Global, parse::query("id:one")?, parse::query("id:two")?);
/// let kernel = add_nosync(&kernel, &nosync)?;
/// assert!(kernel.instructions[1].nosync.contains(&("one".into(), SyncScope::Global)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a query finds no instruction, or no pair depends on each other, unless that is allowed.
pub fn add_nosync(kernel: &LoopKernel, nosync: &NoSync) -> Result<LoopKernel, AddNoSyncError> {
    let found = |query: &Query, side| {
        let found: Vec<&Arc<Instruction>> = kernel.instructions.iter().filter(|instruction| query.matches(kernel, instruction)).collect();
        if found.is_empty() && !nosync.empty_ok {
            return Err(AddNoSyncError::NoMatch { kernel: kernel.name.clone(), query: query.clone(), side });
        }
        Ok(found)
    };
    let (sources, sinks) = (found(&nosync.source, "source")?, found(&nosync.sink, "sink")?);
    let mut added: BTreeMap<&Name, BTreeSet<(Name, SyncScope)>> = BTreeMap::new();
    for sink in &sinks {
        let before = if nosync.force { BTreeSet::new() } else { before(kernel, &sink.id) };
        for source in &sources {
            if nosync.force || before.contains(&source.id) || conflict(source, sink) {
                added.entry(&sink.id).or_default().insert((source.id.clone(), nosync.scope));
                if nosync.both_ways {
                    added.entry(&source.id).or_default().insert((sink.id.clone(), nosync.scope));
                }
            }
        }
    }
    if added.is_empty() && !nosync.empty_ok {
        return Err(AddNoSyncError::NoPair { sink: nosync.sink.clone(), source_query: nosync.source.clone() });
    }
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        if let Some(more) = added.remove(&instruction.id) {
            let nosync = instruction.nosync.union(&more).cloned().collect();
            *instruction = Arc::new(Instruction { nosync, ..(**instruction).clone() });
        }
    }
    Ok(result)
}

fn conflict(first: &Instruction, second: &Instruction) -> bool {
    !first.groups.is_disjoint(&second.conflicts) || !second.groups.is_disjoint(&first.conflicts)
}
