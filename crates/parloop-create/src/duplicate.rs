//! `dup=i->j`: an instruction gets its own copy of an iname.

use parloop_ir::matching::{Glob, Query};
use parloop_isl::Name;
use parloop_transform::{self as transform, Duplicate};

use super::error::CreateError;
use super::making::Making;

/// Duplicates inames for the instructions that request it.
pub(super) fn duplicate_inames(making: &mut Making) -> Result<(), CreateError> {
    for index in 0..making.pending.len() {
        for (iname, copy) in making.pending[index].duplicate.clone() {
            duplicate(making, index, &iname, copy)?;
        }
    }
    Ok(())
}

fn duplicate(making: &mut Making, index: usize, iname: &Name, copy: Option<Name>) -> Result<(), CreateError> {
    let instruction = &making.kernel.instructions[index];
    let id = instruction.id.clone();
    let uses = instruction.within_inames.contains(iname)
        || instruction.reduction_inames().contains(iname)
        || instruction.sub_array_inames().contains(iname);
    if !uses {
        return Err(CreateError::DuplicateOutside { instruction: id, iname: iname.clone() });
    }
    let duplicate = Duplicate::of([iname]).named(copy).within(Query::Id(Glob::new(&id)));
    making.kernel = transform::duplicate_inames(&making.kernel, &duplicate).map_err(|error| CreateError::Duplicate {
        instruction: id,
        iname: iname.clone(),
        reason: error.to_string(),
    })?;
    Ok(())
}
