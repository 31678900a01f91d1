//! Where the instruction that computes ahead stands: the inames around it, and what it waits for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, InameTag, Instruction, InstructionKind, LoopKernel, SyncScope};
use parloop_isl::{Affine, Name};

/// The inames that users of a value share with those who write what it is made of: computed outside of them, it would be out of date.
pub(super) fn inames_of_writers(kernel: &LoopKernel, reads: &BTreeSet<Name>, users: &[&Arc<Instruction>]) -> BTreeSet<Name> {
    let written: BTreeSet<&Name> = (kernel.instructions.iter())
        .filter(|instruction| !instruction.writes().is_disjoint(reads))
        .flat_map(|instruction| &instruction.within_inames)
        .collect();
    users.iter().flat_map(|user| around(user)).filter(|iname| written.contains(iname)).collect()
}

/// A writer inside of a swept loop, and what it writes, whose result a user in the same loop would no longer see once its value is
/// computed before that loop. A writer that changes just what the user has read at the same point is none.
pub(super) fn hidden_writer(
    kernel: &LoopKernel,
    users: &[&Arc<Instruction>],
    sweep: &BTreeSet<Name>,
    values: &[Expr],
) -> Option<(Name, Name)> {
    let reads: BTreeSet<Name> = values.iter().flat_map(Expr::variables).collect();
    // Work items do not run one after the other: dependencies and barriers say what they see of each other.
    let is_loop = |iname: &Name| kernel.inames.get(iname).is_some_and(|known| !known.tags.iter().any(InameTag::is_parallel));
    let swept = users.iter().flat_map(|user| around(user)).filter(|iname| sweep.contains(iname) && is_loop(iname));
    let swept: BTreeSet<Name> = swept.collect();
    for writer in kernel.instructions.iter().filter(|writer| !writer.within_inames.is_disjoint(&swept)) {
        for lhs in writer.lhs() {
            let Some(name) = lhs.written_name().filter(|name| reads.contains(*name)) else { continue };
            if !values.iter().all(|value| reads_only(value, name, lhs)) {
                return Some((name.clone(), writer.id.clone()));
            }
        }
    }
    None
}

/// The inames that an instruction runs over, in its reductions too.
pub(super) fn around(instruction: &Instruction) -> impl Iterator<Item = Name> {
    instruction.within_inames.iter().cloned().chain(instruction.reduction_inames())
}

/// Whether all reads of an array in a value are of one element.
fn reads_only(value: &Expr, array: &Name, element: &Expr) -> bool {
    if value == element || place(value).is_some_and(|read| place(element) == Some(read)) {
        return true;
    }
    match value {
        Expr::Subscript(aggregate, _) | Expr::LinearSubscript(aggregate, _) if aggregate.written_name() == Some(array) => false,
        Expr::Variable(name) => name != array,
        Expr::SubArray(part) if part.array == *array => false,
        _ => value.children().into_iter().all(|child| reads_only(child, array, element)),
    }
}

/// An array and its indices, in their normal form, if they have one.
fn place(expr: &Expr) -> Option<(&Name, Vec<Affine>)> {
    match expr {
        Expr::Subscript(array, indices) => Some((array.written_name()?, indices.iter().map(to_affine).collect::<Option<_>>()?)),
        _ => None,
    }
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
