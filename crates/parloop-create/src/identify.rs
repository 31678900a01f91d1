//! Drafts become instructions: each gets its id, and references to others are kept until all exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::names::UniqueNames;
use parloop_ir::parse::{Draft, Within};
use parloop_ir::syntax::Instruction;
use parloop_isl::Name;

use super::error::CreateError;
use super::making::{Making, Pending};

/// Gives each draft without an id a unique one: `insn`, `insn_0`, `insn_1`, or with `id_prefix=` instead of `insn`.
pub(super) fn name_instructions(making: &mut Making) -> Result<(), CreateError> {
    let drafts = std::mem::take(&mut making.drafts);
    let mut given: BTreeSet<Name> = BTreeSet::new();
    for id in drafts.iter().filter_map(|draft| draft.id.as_ref()) {
        if !given.insert(id.clone()) {
            return Err(CreateError::IdTwice { id: id.clone() });
        }
    }
    let mut names = UniqueNames::of(given);
    for draft in drafts {
        let id = match (&draft.id, &draft.id_prefix) {
            (Some(id), _) => id.clone(),
            (None, Some(prefix)) => names.make(prefix),
            (None, None) => names.make("insn"),
        };
        let (instruction, pending) = instruction_of(draft, id);
        making.kernel.instructions.push(Arc::new(instruction));
        making.pending.push(pending);
    }
    Ok(())
}

fn instruction_of(draft: Draft, id: Name) -> (Instruction, Pending) {
    let (within_inames, within_inames_is_final) = match draft.within {
        Within::Auto => (BTreeSet::new(), false),
        Within::Added(inames) => (inames, false),
        Within::Final(inames) => (inames, true),
    };
    let instruction = Instruction {
        id,
        kind: draft.kind,
        depends_on: BTreeSet::new(),
        depends_on_is_final: draft.depends_on_is_final,
        nosync: BTreeSet::new(),
        groups: draft.groups,
        conflicts: draft.conflicts,
        within_inames,
        within_inames_is_final,
        priority: draft.priority,
        predicates: draft.predicates,
        tags: draft.tags,
        origin: Default::default(),
    };
    (instruction, Pending { depends_on: draft.depends_on, nosync: draft.nosync, duplicate: draft.duplicate })
}
