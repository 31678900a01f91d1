//! `dup=i->j`: an instruction gets a copy of an iname to itself.

use super::Making;
use super::error::CreateError;

/// Copies inames for the instructions that ask for it.
pub(super) fn duplicate_inames(making: &mut Making) -> Result<(), CreateError> {
    for (instruction, pending) in making.kernel.instructions.iter().zip(&making.pending) {
        if let Some((iname, _)) = pending.duplicate.first() {
            return Err(CreateError::Duplicate {
                instruction: instruction.id.clone(),
                iname: iname.clone(),
                reason: "not supported".to_owned(),
            });
        }
    }
    Ok(())
}
