//! Checks that destinations can be written.

use parloop_analysis::facts::Facts;
use parloop_ir::syntax::{AddressSpace, ArgumentKind};

use super::CheckError;

pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        for variable in &facts.writes[at] {
            if let Some(what) = obstacle(facts, at, variable) {
                return Err(CheckError::BadDestination { instruction: instruction.id.clone(), variable: variable.clone(), what });
            }
            if instruction.predicates.iter().any(|predicate| predicate.variables().contains(variable)) {
                return Err(CheckError::PredicateWritten { instruction: instruction.id.clone(), variable: variable.clone() });
            }
        }
    }
    Ok(())
}

fn obstacle(facts: &Facts<'_>, at: usize, variable: &parloop_isl::Name) -> Option<&'static str> {
    if facts.placement.contains_key(variable) {
        return Some("an iname; only loops change inames");
    }
    if let Some(temporary) = facts.kernel.temporaries.get(variable) {
        let inside = &facts.kernel.instructions[at].within_inames;
        return if temporary.read_only {
            Some("a read-only temporary")
        } else if temporary.space == Some(AddressSpace::Constant) {
            Some("in constant memory")
        } else if inside.iter().any(|iname| facts.bound_names(iname).contains(variable)) {
            Some("a bound of a loop around the instruction; write it before the loop")
        } else {
            None
        };
    }
    match facts.arguments.get(variable).map(|argument| &argument.kind) {
        Some(ArgumentKind::Array { space: AddressSpace::Constant, .. }) => Some("in constant memory"),
        Some(ArgumentKind::Array { .. } | ArgumentKind::Object | ArgumentKind::Image(_)) => None,
        Some(ArgumentKind::Value) => Some("an argument that is passed by value; declare a temporary, or pass an array"),
        None => Some("neither an argument nor a temporary of the kernel; declare it: <>name = …"),
    }
}
