//! Checks that the order of two instructions that use a variable, one of which writes it, is specified.

use std::collections::{BTreeMap, BTreeSet};

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_ir::syntax::{AddressSpace, SyncScope};
use parloop_isl::Name;

use super::CheckError;

pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    let (name, options) = ("enforce_variable_access_ordered", &facts.kernel.options);
    if options.is_false(name) || options.other.get(name).is_some_and(|value| value == "no_check") {
        return Ok(());
    }
    let shared = shared_storages(facts);
    if shared.is_empty() {
        return Ok(());
    }
    let before = Before::of(facts)?;
    let mut dependences: Option<Dependences<'_, '_>> = None;
    for (storage, users) in &shared {
        for (nth, &(writer, is_writer)) in users.iter().enumerate() {
            if !is_writer {
                continue;
            }
            for (other_nth, &(other, other_writes)) in users.iter().enumerate() {
                // Two writers are looked at once.
                let is_seen = other_writes && other_nth < nth;
                if writer == other || is_seen || before.are_ordered(writer, other) || is_excused(facts, storage, writer, other) {
                    continue;
                }
                let dependences = dependences.get_or_insert_with(|| Dependences::of(facts));
                if let Some(variable) = dependences.overlapping(writer, other, storage)? {
                    let id = |at: usize| facts.kernel.instructions[at].id.clone();
                    return Err(CheckError::VariableAccessNotOrdered { writer: id(writer), other: id(other), variable });
                }
            }
        }
    }
    Ok(())
}

/// The storages that several instructions use and some write: for each its users, with whether they write.
fn shared_storages(facts: &Facts<'_>) -> BTreeMap<Name, Vec<(usize, bool)>> {
    let storage = |name: &Name| {
        let temporary = facts.kernel.temporaries.get(name);
        temporary.and_then(|temporary| temporary.base_storage.clone()).unwrap_or_else(|| name.clone())
    };
    let written: BTreeSet<Name> = facts.writers.keys().map(&storage).collect();
    let mut users: BTreeMap<Name, Vec<(usize, bool)>> = BTreeMap::new();
    for at in 0..facts.kernel.instructions.len() {
        let writes: BTreeSet<Name> = facts.writes[at].iter().map(&storage).collect();
        let reads: BTreeSet<Name> = facts.reads[at].iter().map(&storage).filter(|name| written.contains(name)).collect();
        for name in writes.union(&reads) {
            users.entry(name.clone()).or_default().push((at, writes.contains(name)));
        }
    }
    users.retain(|_, users| users.len() > 1);
    users
}

/// Both say that they need no order, or they share nothing but memory that groups keep apart.
fn is_excused(facts: &Facts<'_>, storage: &Name, one: usize, other: usize) -> bool {
    let instructions = &facts.kernel.instructions;
    let space = match facts.kernel.temporaries.get(storage) {
        Some(temporary) => temporary.space.unwrap_or(AddressSpace::Private),
        None => AddressSpace::Global,
    };
    let says = |from: usize, to: usize| {
        instructions[from].nosync.iter().any(|(id, scope)| {
            let fits = match scope {
                SyncScope::Any => true,
                SyncScope::Global => space == AddressSpace::Global,
                SyncScope::Local => space == AddressSpace::Local,
            };
            fits && *id == instructions[to].id
        })
    };
    let groups_apart = !instructions[one].groups.is_disjoint(&instructions[other].conflicts)
        || !instructions[other].groups.is_disjoint(&instructions[one].conflicts);
    // In loopy's kernels one of them says it for both.
    let is_said =
        if facts.kernel.options.is_lenient() { says(one, other) || says(other, one) } else { says(one, other) && says(other, one) };
    is_said || groups_apart
}

/// For each instruction, those that come before it, as bits.
struct Before {
    words: usize,
    bits: Vec<u64>,
}

impl Before {
    fn of(facts: &Facts<'_>) -> Result<Before, CheckError> {
        let count = facts.kernel.instructions.len();
        let words = count.div_ceil(64);
        let mut before = Before { words, bits: vec![0; words * count] };
        for at in topological(facts)? {
            for dependency in &facts.kernel.instructions[at].depends_on {
                let Some(&from) = facts.position.get(dependency) else { continue };
                for word in 0..words {
                    before.bits[at * words + word] |= before.bits[from * words + word];
                }
                before.bits[at * words + from / 64] |= 1 << (from % 64);
            }
        }
        Ok(before)
    }

    fn are_ordered(&self, one: usize, other: usize) -> bool {
        let has = |at: usize, from: usize| self.bits[at * self.words + from / 64] >> (from % 64) & 1 == 1;
        has(one, other) || has(other, one)
    }
}

/// Each instruction after those that it depends on.
fn topological(facts: &Facts<'_>) -> Result<Vec<usize>, CheckError> {
    let instructions = &facts.kernel.instructions;
    let mut waits: Vec<usize> = instructions.iter().map(|each| each.depends_on.len()).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); instructions.len()];
    for (at, instruction) in instructions.iter().enumerate() {
        for dependency in &instruction.depends_on {
            match facts.position.get(dependency) {
                Some(&from) => after[from].push(at),
                None => waits[at] -= 1,
            }
        }
    }
    let mut sorted: Vec<usize> = (0..instructions.len()).filter(|&at| waits[at] == 0).collect();
    let mut next = 0;
    while next < sorted.len() {
        for &at in &after[sorted[next]] {
            waits[at] -= 1;
            if waits[at] == 0 {
                sorted.push(at);
            }
        }
        next += 1;
    }
    if sorted.len() < instructions.len() {
        let left = instructions.iter().zip(&waits).filter(|(_, waits)| **waits > 0).map(|(each, _)| each.id.clone());
        return Err(CheckError::DependencyCycle { instructions: left.collect() });
    }
    Ok(sorted)
}
