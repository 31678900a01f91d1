//! `remove_instructions`: removes instructions from a kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::syntax::{Instruction, LoopKernel};
use parloop_isl::Name;

/// Removes instructions from a kernel. Their dependents depend on what they depended on.
///
/// The caller guarantees that the instructions are not needed: variables they wrote keep stale values.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, transform::remove_instructions};
/// let text = "a[i] = 1 {id=one}\nb[i] = a[i] {id=two, dep=one}\nc[i] = b[i] {id=three, dep=two}";
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions(text).build_kernel()?;
/// let kernel = remove_instructions(&kernel, &parse::query("id:two")?);
/// assert!(kernel.instructions[1].depends_on.contains("one"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_instructions(kernel: &LoopKernel, query: &Query) -> LoopKernel {
    let (removed, kept): (Vec<&Arc<Instruction>>, Vec<&Arc<Instruction>>) =
        kernel.instructions.iter().partition(|instruction| query.matches(kernel, instruction));
    let removed: BTreeMap<&Name, &Arc<Instruction>> = removed.into_iter().map(|instruction| (&instruction.id, instruction)).collect();
    let without = |instruction: &Arc<Instruction>| {
        let touched = instruction.depends_on.iter().chain(instruction.nosync.iter().map(|(id, _)| id)).any(|id| removed.contains_key(id));
        if !touched {
            return instruction.clone();
        }
        let mut changed = (**instruction).clone();
        changed.depends_on = behind(&instruction.depends_on, &removed);
        changed.nosync.retain(|(id, _)| !removed.contains_key(id));
        Arc::new(changed)
    };
    LoopKernel { instructions: kept.into_iter().map(without).collect(), ..kernel.clone() }
}

/// The dependencies, with those of removed instructions in place of these.
fn behind(depends_on: &BTreeSet<Name>, removed: &BTreeMap<&Name, &Arc<Instruction>>) -> BTreeSet<Name> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<&Name> = depends_on.iter().collect();
    while let Some(id) = open.pop() {
        match removed.get(id) {
            None => drop(found.insert(id.clone())),
            Some(instruction) if seen.insert(id) => open.extend(&instruction.depends_on),
            Some(_) => {}
        }
    }
    found
}
