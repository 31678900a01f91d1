//! Checks that inames and ids are known, active where they are used, and on one axis each.

use std::collections::{BTreeMap, BTreeSet};

use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::program::Program;
use parloop_ir::syntax::{InameTag, Instruction, InstructionKind};
use parloop_isl::Name;

use super::CheckError;
use crate::schedule::callee_axes;

pub(super) fn check(program: &Program, facts: &Facts<'_>) -> Result<(), CheckError> {
    check_ids(facts)?;
    check_tags(facts)?;
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        check_axes(program, facts, instruction)?;
        for name in &facts.reads[at] {
            if facts.placement.contains_key(name) && !instruction.within_inames.contains(name) {
                return Err(CheckError::InactiveIname { instruction: instruction.id.clone(), iname: name.clone() });
            }
        }
    }
    check_swept(facts)?;
    check_parallel_bounds(facts)
}

fn check_ids(facts: &Facts<'_>) -> Result<(), CheckError> {
    let mut ids = BTreeSet::new();
    for instruction in &facts.kernel.instructions {
        if !ids.insert(&instruction.id) {
            return Err(CheckError::DuplicateId { id: instruction.id.clone() });
        }
        if let Some(iname) = instruction.within_inames.iter().find(|iname| !facts.placement.contains_key(iname)) {
            let (instruction, kernel) = (instruction.id.clone(), facts.kernel.name.clone());
            return Err(CheckError::UnknownName { instruction, name: iname.clone(), kernel });
        }
        let unknown = |id: &Name, relation| {
            let is_known = facts.position.contains_key(id);
            (!is_known).then(|| CheckError::UnknownInstruction { instruction: instruction.id.clone(), relation, other: id.clone() })
        };
        let depends = instruction.depends_on.iter().find_map(|id| unknown(id, "depends on"));
        let nosync = instruction.nosync.iter().find_map(|(id, _)| unknown(id, "needs no barrier with"));
        if let Some(error) = depends.or(nosync) {
            return Err(error);
        }
    }
    Ok(())
}

/// At most one tag says where an iname runs; `unr` may accompany `ilp`.
fn check_tags(facts: &Facts<'_>) -> Result<(), CheckError> {
    for (name, iname) in &facts.kernel.inames {
        let placing = |tag: &&InameTag| !matches!(tag, InameTag::Name(_) | InameTag::UnrollHint | InameTag::Ordered | InameTag::Loop);
        let placing: Vec<&InameTag> = iname.tags.iter().filter(placing).collect();
        let ordered = iname.tags.iter().find(|tag| matches!(tag, InameTag::Ordered | InameTag::Loop));
        let clash = match (placing.as_slice(), ordered) {
            ([first, second, ..], _) => Some((*first, *second)),
            ([first], Some(second)) if first.is_concurrent() || **first == InameTag::Unroll => Some((*first, second)),
            _ => None,
        };
        if let Some((first, second)) = clash {
            return Err(CheckError::TagConflict { iname: name.clone(), first: first.to_string(), second: second.to_string() });
        }
    }
    Ok(())
}

fn check_axes(program: &Program, facts: &Facts<'_>, instruction: &Instruction) -> Result<(), CheckError> {
    let mut axes: BTreeMap<Placement, &Name> = BTreeMap::new();
    for iname in &instruction.within_inames {
        let placement = facts.placement(iname);
        if !matches!(placement, Placement::Group(_) | Placement::Local(_)) {
            continue;
        }
        if let Some(first) = axes.insert(placement, iname) {
            return Err(CheckError::DoubleAxis {
                instruction: instruction.id.clone(),
                first: first.clone(),
                second: iname.clone(),
                axis: axis_name(placement),
            });
        }
    }
    if let InstructionKind::Call(_) = instruction.kind
        && let Some((axis, iname)) = callee_axes(program, instruction).into_iter().find_map(|axis| Some((axis, *axes.get(&axis)?)))
    {
        return Err(CheckError::CalleeAxis { instruction: instruction.id.clone(), iname: iname.clone(), axis: axis_name(axis) });
    }
    Ok(())
}

/// `g.0`, `l.1` …
pub(super) fn axis_name(placement: Placement) -> String {
    match placement {
        Placement::Group(axis) => format!("g.{axis}"),
        Placement::Local(axis) => format!("l.{axis}"),
        Placement::LocalAuto => "l.auto".to_owned(),
        Placement::Loop | Placement::Innermost => "for".to_owned(),
    }
}

fn check_swept(facts: &Facts<'_>) -> Result<(), CheckError> {
    for instruction in &facts.kernel.instructions {
        for iname in instruction.sub_array_inames() {
            if let Some(other) = facts.kernel.instructions.iter().find(|each| each.within_inames.contains(&iname)) {
                return Err(CheckError::SweptIname { iname, instruction: instruction.id.clone(), other: other.id.clone() });
            }
        }
    }
    Ok(())
}

fn check_parallel_bounds(facts: &Facts<'_>) -> Result<(), CheckError> {
    for (iname, placement) in &facts.placement {
        if *placement == Placement::Loop {
            continue;
        }
        if let Some(bound) = facts.bound_names(iname).iter().find(|bound| facts.kernel.temporaries.contains_key(*bound)) {
            return Err(CheckError::ParallelBound { iname: (*iname).clone(), bound: bound.clone() });
        }
    }
    Ok(())
}
