//! Domains and assumptions: parses text to sets and registers inames.

use std::collections::HashMap;

use parloop_ir::syntax::Iname;
use parloop_isl::{IslError, Name, Set};
use parloop_transform as transform;
use parloop_transform::reduce::SeparateError;

use super::data::check_name;
use super::error::CreateError;
use super::making::{DomainText, Making};

/// Parses the domains. Each iname is in exactly one of them.
pub(super) fn read_domains(making: &mut Making) -> Result<(), CreateError> {
    let mut home: HashMap<Name, usize> = HashMap::new();
    for (index, domain) in std::mem::take(&mut making.domains).into_iter().enumerate() {
        let number = index + 1;
        let set = match domain {
            DomainText::Set(set) => set,
            DomainText::Text(text) => Set::parse(&text).map_err(|error| CreateError::Domain { number, error })?,
        };
        set.params().iter().try_for_each(|param| check_name(param))?;
        for iname in set.dims() {
            check_name(iname)?;
            if let Some(first) = home.insert(iname.clone(), number) {
                return Err(CreateError::InameTwice { iname: iname.clone(), first, number });
            }
            making.kernel.inames.insert(iname.clone(), Iname::default());
        }
        // `{:}` is ignored.
        if !(set.dims().is_empty() && set.pieces().iter().any(Vec::is_empty)) {
            making.kernel.domains.push(set);
        }
    }
    Ok(())
}

/// Parses the assumptions: conditions on parameters.
pub(super) fn read_assumptions(making: &mut Making) -> Result<(), CreateError> {
    let Some(assumptions) = making.assumptions.take() else { return Ok(()) };
    let set = match assumptions {
        DomainText::Set(set) => set,
        DomainText::Text(text) => read_conditions(&text).map_err(|error| CreateError::Assumptions { text, error })?,
    };
    if let Some(iname) = set.params().iter().chain(set.dims()).find(|name| making.kernel.inames.contains_key(*name) || set.has_dim(name)) {
        return Err(CreateError::AssumptionOnIname { iname: iname.clone() });
    }
    making.kernel.assumptions = set;
    Ok(())
}

/// `n >= 1 and n % 16 = 0`, or a whole set without dimensions.
fn read_conditions(text: &str) -> Result<Set, IslError> {
    let conditions = text.trim();
    if conditions.is_empty() {
        Ok(Set::universe(&[], &[]))
    } else if conditions.contains('{') {
        Set::parse(conditions)
    } else {
        Set::parse(&format!("{{ : {conditions} }}"))
    }
}

/// Replaces fixed parameters by numbers.
pub(super) fn fix_parameters(making: &mut Making) -> Result<(), CreateError> {
    if !making.fixed.is_empty() {
        making.kernel = transform::fix_parameters(&making.kernel, &making.fixed).map_err(Box::new)?;
    }
    Ok(())
}

/// Gives inames of possibly empty reductions their own domains, so that instructions around them still run.
pub(super) fn separate_reductions(making: &mut Making) -> Result<(), CreateError> {
    let separated = transform::reduce::separate_reductions(&making.kernel);
    making.kernel = separated.map_err(|error| match error {
        SeparateError::Rule(error) => CreateError::Rule(error),
        SeparateError::Isl(error) => CreateError::Solver { what: "whether reductions are empty".into(), error },
    })?;
    Ok(())
}
