//! No two work items, or lanes, write to the same place in one instruction.

use parloop_analysis::facts::{Facts, Placement};
use parloop_analysis::race::{Pair, Races};
use parloop_ir::syntax::{AddressSpace, Instruction, InstructionKind, SyncScope};
use parloop_isl::Name;

use super::CheckError;

pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    if facts.placement.values().all(|placement| *placement == Placement::Loop) {
        return Ok(());
    }
    let mut races: Option<Races<'_, '_>> = None;
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        if is_atomic(instruction) || is_silenced(facts, instruction) {
            continue;
        }
        check_unused(facts, at, instruction)?;
        if instruction.within_inames.iter().any(|iname| facts.placement(iname).is_parallel()) {
            let races = races.get_or_insert_with(|| Races::of(facts));
            check_injective(facts, races, at, instruction)?;
        }
    }
    Ok(())
}

fn is_atomic(instruction: &Instruction) -> bool {
    matches!(&instruction.kind, InstructionKind::Assign(assignment) if assignment.atomic.is_some())
}

/// `write_race(id)`, `write_race(*)`.
fn is_silenced(facts: &Facts<'_>, instruction: &Instruction) -> bool {
    let full = format!("write_race({})", instruction.id);
    facts.kernel.options.silenced.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => full.len() >= start.len() + end.len() && full.starts_with(start) && full.ends_with(end),
        None => *pattern == full.as_str(),
    })
}

/// Inames that run at once, and that the place that is written does not depend on.
fn check_unused(facts: &Facts<'_>, at: usize, instruction: &Instruction) -> Result<(), CheckError> {
    for lhs in instruction.lhs() {
        let Some(variable) = lhs.written_name() else { continue };
        let used = lhs.variables();
        let is_racing =
            |iname: &&Name| races_along(facts, variable, facts.placement(iname)) && !used.contains(*iname) && !is_single(facts, iname);
        let inames: Vec<Name> = instruction.within_inames.iter().filter(is_racing).cloned().collect();
        let is_by_data = used.iter().any(|name| facts.kernel.temporaries.contains_key(name) && name != variable) || has_indirect(lhs);
        if !inames.is_empty() && !is_by_data {
            return Err(CheckError::WriteRace {
                instruction: facts.kernel.instructions[at].id.clone(),
                variable: variable.clone(),
                inames,
            });
        }
    }
    Ok(())
}

/// Whether an index is itself read from memory: only the data knows where it points.
fn has_indirect(lhs: &parloop_ir::syntax::Expr) -> bool {
    lhs.children().into_iter().skip(1).any(|index| index.any(&mut |part| matches!(part, parloop_ir::syntax::Expr::Subscript(..))))
}

/// Whether those that run at once along the axis see the same variable.
fn races_along(facts: &Facts<'_>, variable: &Name, placement: Placement) -> bool {
    let space = match facts.kernel.temporaries.get(variable) {
        Some(temporary) => temporary.space.unwrap_or(AddressSpace::Private),
        None => AddressSpace::Global,
    };
    match placement {
        Placement::Loop => false,
        Placement::Innermost => true,
        Placement::Local(_) | Placement::LocalAuto => space != AddressSpace::Private,
        Placement::Group(_) => matches!(space, AddressSpace::Global | AddressSpace::Constant),
    }
}

fn is_single(facts: &Facts<'_>, iname: &Name) -> bool {
    facts.constant_length(iname) == Some(1)
}

/// Different work items write to different places, as far as the indices can be understood.
fn check_injective(facts: &Facts<'_>, races: &Races<'_, '_>, at: usize, instruction: &Instruction) -> Result<(), CheckError> {
    let same: Vec<Name> = instruction.within_inames.iter().filter(|iname| facts.placement(iname) == Placement::Loop).cloned().collect();
    let pair = Pair { first: at, second: at, same: &same, later: None };
    for scope in [SyncScope::Local, SyncScope::Global] {
        if let Some(variable) = races.colliding(pair, scope)? {
            let is_axis = |iname: &&Name| races_along(facts, &variable, facts.placement(iname));
            let inames = instruction.within_inames.iter().filter(is_axis).cloned().collect();
            return Err(CheckError::WriteRace { instruction: instruction.id.clone(), variable, inames });
        }
    }
    Ok(())
}
