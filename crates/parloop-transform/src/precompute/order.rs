//! Where the instruction that computes ahead stands: the inames around it, and what it waits for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parloop_ir::syntax::{Instruction, InstructionKind, LoopKernel, SyncScope};
use parloop_isl::Name;

/// The inames that users of a value share with those who write what it is made of: computed outside them, it would be out of date.
pub(super) fn inames_of_writers(kernel: &LoopKernel, reads: &BTreeSet<Name>, users: &[&Arc<Instruction>]) -> BTreeSet<Name> {
    let written: BTreeSet<&Name> = (kernel.instructions.iter())
        .filter(|instruction| !instruction.writes().is_disjoint(reads))
        .flat_map(|instruction| &instruction.within_inames)
        .collect();
    users.iter().flat_map(|user| around(user)).filter(|iname| written.contains(iname)).collect()
}

/// The inames that an instruction runs over, in its reductions too.
pub(super) fn around(instruction: &Instruction) -> impl Iterator<Item = Name> {
    instruction.within_inames.iter().cloned().chain(instruction.reduction_inames())
}

/// What must be done before a value is computed that `users` use: whatever they wait for, at any distance, that writes what the value is
/// made of or is a global barrier. Never one that itself waits for a user.
pub(super) fn dependencies(kernel: &LoopKernel, users: &BTreeSet<Name>, reads: &BTreeSet<Name>) -> BTreeSet<Name> {
    let by_id: HashMap<&Name, &Arc<Instruction>> = kernel.instructions.iter().map(|instruction| (&instruction.id, instruction)).collect();
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    let mut open: Vec<&Name> = users.iter().filter_map(|user| by_id.get(user)).flat_map(|user| &user.depends_on).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(instruction) = by_id.get(id) else { continue };
        let is_barrier = matches!(instruction.kind, InstructionKind::Barrier { scope: SyncScope::Global, .. });
        if !users.contains(id) && (is_barrier || !instruction.writes().is_disjoint(reads)) {
            found.insert(id.clone());
        }
        open.extend(&instruction.depends_on);
    }
    let after = waiting_for(kernel, users);
    found.retain(|id| !after.contains(id));
    found
}

/// All instructions that wait for one of those, at any distance.
fn waiting_for(kernel: &LoopKernel, ids: &BTreeSet<Name>) -> BTreeSet<Name> {
    let mut waiters: HashMap<&Name, Vec<&Name>> = HashMap::new();
    for instruction in &kernel.instructions {
        for before in &instruction.depends_on {
            waiters.entry(before).or_default().push(&instruction.id);
        }
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<&Name> = ids.iter().collect();
    while let Some(id) = open.pop() {
        for &waiter in waiters.get(id).into_iter().flatten() {
            if found.insert(waiter.clone()) {
                open.push(waiter);
            }
        }
    }
    found
}
