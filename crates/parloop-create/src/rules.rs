//! Substitution rules: collected under their names.

use parloop_transform::separate_rule_inames;

use super::data::check_name;
use super::error::{CreateError, NameKind};
use super::making::Making;

/// Adds the rules to the kernel; each name must be unique.
pub(super) fn collect_rules(making: &mut Making) -> Result<(), CreateError> {
    for rule in std::mem::take(&mut making.rules) {
        check_name(&rule.name)?;
        if let Some((_, double)) = rule.parameters.iter().enumerate().find(|(index, name)| rule.parameters[..*index].contains(name)) {
            return Err(CreateError::RuleParameterTwice { rule: rule.name.clone(), parameter: double.clone() });
        }
        let name = rule.name.clone();
        if making.kernel.inames.contains_key(&name) {
            return Err(CreateError::NameTwice { name, first: NameKind::Iname, second: NameKind::Substitution });
        }
        if making.kernel.substitutions.insert(name.clone(), rule).is_some() {
            return Err(CreateError::RuleTwice { rule: name });
        }
    }
    for instruction in &making.kernel.instructions {
        if let Some(name) = instruction.writes().into_iter().find(|name| making.kernel.substitutions.contains_key(name)) {
            let (instruction, kind) = (instruction.id.clone(), NameKind::Substitution);
            return Err(CreateError::BadDestination { instruction, name, kind });
        }
    }
    making.kernel =
        separate_rule_inames(&making.kernel).map_err(|error| CreateError::Solver { what: "inames of substitution rules".into(), error })?;
    Ok(())
}
