//! Checks that temporaries have a value before they are read.

use std::collections::BTreeSet;

use parloop_analysis::access::{accesses, component_names};
use parloop_analysis::facts::Facts;
use parloop_ir::syntax::{AddressSpace, Instruction, InstructionKind, LoopKernel};
use parloop_isl::Name;

use super::CheckError;
use crate::schedule::{Node, Schedule};

/// Some instruction writes each temporary that is read, and not only from its own value.
pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        for variable in facts.reads[at].iter().filter(|name| needs_definition(facts, name)) {
            let writers = writers_of_storage(facts, variable);
            if writers.is_empty() {
                return Err(CheckError::MissingDefinition { instruction: instruction.id.clone(), variable: variable.clone() });
            }
            if let Some(component) = unset_component(facts, instruction, variable, &writers) {
                let variable = format!("{variable}.{component}").into();
                return Err(CheckError::MissingDefinition { instruction: instruction.id.clone(), variable });
            }
            // Arrays are written one element after the other: some elements can come from others.
            let is_number = facts.kernel.temporaries[variable].layout.shape == parloop_ir::syntax::Shape::Known(Vec::new());
            if is_number && writers.iter().all(|&writer| facts.reads[writer].contains(variable)) && writers.contains(&at) {
                return Err(CheckError::UninitialisedSelfReference { instruction: instruction.id.clone(), variable: variable.clone() });
            }
        }
    }
    Ok(())
}

/// A component of a temporary that an instruction reads and no instruction sets.
fn unset_component(facts: &Facts<'_>, reader: &Instruction, variable: &Name, writers: &[usize]) -> Option<Name> {
    let temporary = facts.kernel.temporaries.get(variable).filter(|temporary| temporary.base_storage.is_none())?;
    let mut unset = temporary.ty.as_ref().map(component_names)?;
    for &writer in writers {
        let instruction = &facts.kernel.instructions[writer];
        for access in accesses(facts.kernel, instruction).into_iter().filter(|access| access.write && access.name == *variable) {
            match access.component {
                Some(component) => unset.retain(|name| *name != component),
                None => return None,
            }
        }
        // C code sets what it likes.
        if matches!(instruction.kind, InstructionKind::C(_)) {
            return None;
        }
    }
    let reads = accesses(facts.kernel, reader).into_iter().filter(|access| !access.write && access.name == *variable);
    reads.into_iter().find_map(|access| unset.iter().find(|name| access.component.as_ref().is_none_or(|read| read == *name)).cloned())
}

fn needs_definition(facts: &Facts<'_>, name: &Name) -> bool {
    facts.kernel.temporaries.get(name).is_some_and(|temporary| temporary.initializer.is_none())
}

/// The instructions that write a temporary, or another that shares its memory.
fn writers_of_storage(facts: &Facts<'_>, variable: &Name) -> Vec<usize> {
    let storage = facts.kernel.temporaries[variable].base_storage.as_ref();
    let shares = |name: &Name| {
        let other = facts.kernel.temporaries.get(name).and_then(|temporary| temporary.base_storage.as_ref());
        name == variable || storage == Some(name) || (storage.is_some() && other == storage)
    };
    match storage {
        None => facts.writers.get(variable).cloned().unwrap_or_default(),
        Some(_) => facts.writers.iter().filter(|(name, _)| shares(name)).flat_map(|(_, writers)| writers.iter().copied()).collect(),
    }
}

/// In the order of the schedule something is written to each temporary before it is read. Reads under a condition are left to the user.
pub(super) fn check_order(schedule: &Schedule, facts: &Facts<'_>) -> Result<(), CheckError> {
    let mut written = BTreeSet::new();
    for launch in &schedule.launches {
        written.retain(|name: &Name| {
            let space = facts.kernel.temporaries.get(name).and_then(|temporary| temporary.space);
            matches!(space, Some(AddressSpace::Global | AddressSpace::Constant)) || launch.host_inames.is_empty()
        });
        // Slots are read in the first iteration of a host loop before they are written; the values are unused then.
        written.extend(schedule.slots.iter().cloned());
        check_nodes(facts, &launch.body, &mut written)?;
    }
    Ok(())
}

fn check_nodes(facts: &Facts<'_>, nodes: &[Node], written: &mut BTreeSet<Name>) -> Result<(), CheckError> {
    for node in nodes {
        match node {
            Node::Loop { body, .. } => check_nodes(facts, body, written)?,
            Node::Barrier { .. } => {}
            Node::Run(id) => {
                let Some(&at) = facts.position.get(id) else { continue };
                let instruction = &facts.kernel.instructions[at];
                let is_conditional = !instruction.predicates.is_empty() || matches!(instruction.kind, InstructionKind::C(_));
                for variable in facts.reads[at].iter().filter(|name| !is_conditional && needs_definition(facts, name)) {
                    let storage = facts.kernel.temporaries[variable].base_storage.as_ref().unwrap_or(variable);
                    if !written.contains(variable) && !written.contains(storage) && !has_condition(facts.kernel, instruction, variable) {
                        return Err(CheckError::MissingDefinition { instruction: id.clone(), variable: variable.clone() });
                    }
                }
                for name in &facts.writes[at] {
                    written.insert(name.clone());
                    written.extend(facts.kernel.temporaries.get(name).and_then(|temporary| temporary.base_storage.clone()));
                }
            }
        }
    }
    Ok(())
}

/// Whether all reads of the variable are under conditions.
fn has_condition(kernel: &LoopKernel, instruction: &parloop_ir::syntax::Instruction, variable: &Name) -> bool {
    let accesses = accesses(kernel, instruction);
    accesses.iter().filter(|access| !access.write && access.name == *variable).all(|access| !access.conditions.is_empty())
}
