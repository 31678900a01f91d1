//! Assumptions are about integers that every call passes, so that every call can check them.

use parloop_analysis::facts::Facts;
use parloop_ir::syntax::ArgumentKind;
use parloop_isl::Name;

use super::CheckError;

pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    let kernel = facts.kernel;
    let mut passed: Vec<Name> = Vec::new();
    for argument in &kernel.arguments {
        match &argument.kind {
            ArgumentKind::Value => passed.push(argument.name.clone()),
            ArgumentKind::Array { layout, .. } => {
                passed.extend(layout.hidden_parameters(&argument.name).into_iter().map(|(name, _)| name));
                passed.extend(layout.unknown_lengths(&argument.name));
            }
            ArgumentKind::Object | ArgumentKind::Image(_) => {}
        }
    }
    match kernel.assumptions.used_params().into_iter().find(|name| !passed.contains(name)) {
        Some(name) => Err(CheckError::UncheckedAssumption { name: name.clone(), kernel: kernel.name.clone() }),
        None => Ok(()),
    }
}
