//! Checks that a schedule keeps the order of dependent instances; data-dependent cases are doubts.

use std::collections::BTreeSet;

use parloop_analysis::dependence::{Cause, Dependences, Doubt, Paths};
use parloop_analysis::facts::Facts;
use parloop_analysis::sequence::Node;
use parloop_isl::Name;

use super::CheckError;
use crate::schedule::{Schedule, ScheduleItem};

/// Compares the schedule with the kernel as created.
pub(super) fn check(schedule: &Schedule, facts: &Facts<'_>) -> Result<BTreeSet<Doubt>, CheckError> {
    if facts.kernel.options.planned_order() {
        return Ok(BTreeSet::new());
    }
    let mut paths = Paths::default();
    add_steps(schedule, &schedule.steps, &mut paths);
    let outcome = Dependences::of(facts).check_order(&paths, &|instruction| is_silenced(facts, instruction))?;
    match outcome.violation {
        None => Ok(outcome.doubts),
        Some(violation) => Err(match violation.cause {
            Cause::Unordered(_) | Cause::Copies(_) => CheckError::Race { violation: Box::new(violation) },
            Cause::Shared(_) => CheckError::Overwritten { violation: Box::new(violation) },
            Cause::Backwards(_) | Cause::Placed => CheckError::Reordered { violation: Box::new(violation) },
        }),
    }
}

/// `write_race(id)`, `write_race(*)`.
fn is_silenced(facts: &Facts<'_>, instruction: &Name) -> bool {
    let full = format!("write_race({instruction})");
    facts.kernel.options.silenced.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => full.len() >= start.len() + end.len() && full.starts_with(start) && full.ends_with(end),
        None => *pattern == full.as_str(),
    })
}

fn add_steps(schedule: &Schedule, steps: &[ScheduleItem], paths: &mut Paths) {
    let mut place = 0;
    for step in steps {
        match step {
            ScheduleItem::Launch(index) => add_nodes(&schedule.launches[*index].body, &mut place, paths),
            ScheduleItem::Loop { iname, body } => {
                paths.enter(place, iname);
                add_steps(schedule, body, paths);
                paths.leave();
                place += 1;
            }
        }
    }
}

fn add_nodes(nodes: &[Node], place: &mut usize, paths: &mut Paths) {
    for node in nodes {
        match node {
            Node::Loop { iname, body } => {
                paths.enter(*place, iname);
                add_nodes(body, &mut 0, paths);
                paths.leave();
            }
            Node::Run(id) => paths.run(*place, id),
            Node::Barrier { .. } => {}
        }
        *place += 1;
    }
}
