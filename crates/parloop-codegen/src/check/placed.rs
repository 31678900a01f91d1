//! Checks that every instruction appears once in the schedule and uses the hardware axes of its launch.

use std::collections::{BTreeSet, HashMap};

use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, InstructionKind};
use parloop_isl::Name;

use super::CheckError;
use super::inames::axis_name;
use crate::schedule::{Schedule, callee_axes};

pub(super) fn check(schedule: &Schedule) -> Result<(), CheckError> {
    let mut counts: HashMap<&Name, usize> = HashMap::new();
    for id in schedule.launches.iter().flat_map(|launch| launch.instructions()) {
        *counts.entry(id).or_default() += 1;
    }
    for instruction in &schedule.kernel.instructions {
        if matches!(instruction.kind, InstructionKind::Barrier { .. }) {
            continue;
        }
        let count = counts.get(&instruction.id).copied().unwrap_or(0);
        if count != 1 {
            let (kernel, instruction) = (schedule.kernel.name.clone(), instruction.id.clone());
            return Err(CheckError::Misplaced { kernel, instruction, count });
        }
    }
    Ok(())
}

/// An instruction that does not use an axis runs on all work items along it: they would all write to the same element.
pub(super) fn check_axes(program: &Program, schedule: &Schedule, facts: &Facts<'_>) -> Result<(), CheckError> {
    for launch in &schedule.launches {
        let groups = (0u8..).zip(&launch.groups).map(|(axis, _)| Placement::Group(axis));
        let axes: BTreeSet<Placement> = groups.chain((0u8..).zip(&launch.group_size).map(|(axis, _)| Placement::Local(axis))).collect();
        for id in launch.instructions() {
            let Some(&at) = facts.position.get(id) else { continue };
            let instruction = &facts.kernel.instructions[at];
            let mut used = callee_axes(program, instruction);
            used.extend(instruction.within_inames.iter().map(|iname| facts.placement(iname)));
            for axis in axes.difference(&used) {
                if facts.writes[at].iter().any(|variable| is_shared(facts, variable, *axis)) {
                    let (instruction, launch) = (id.clone(), launch.name.clone());
                    return Err(CheckError::UnusedAxis { instruction, axis: axis_name(*axis), launch });
                }
            }
        }
    }
    Ok(())
}

/// Whether work items that differ along the axis see the same variable.
fn is_shared(facts: &Facts<'_>, variable: &Name, axis: Placement) -> bool {
    match facts.kernel.temporaries.get(variable) {
        None => true,
        Some(temporary) => match temporary.space {
            None | Some(AddressSpace::Private) => false,
            Some(AddressSpace::Local) => matches!(axis, Placement::Local(_)),
            Some(AddressSpace::Global | AddressSpace::Constant) => true,
        },
    }
}
