//! `set_temporary_address_space`: sets the address space of a temporary.

use parloop_ir::names::Near;
use parloop_ir::syntax::{AddressSpace, LoopKernel};
use parloop_isl::Name;

/// Why a temporary cannot be in that address space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetTemporaryAddressSpaceError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no temporary `{name}`{near}")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// Constant memory is read-only, but the temporary is written.
    #[error("`{name}` is written by `{instruction}`, so it cannot be in constant memory; choose global")]
    Written {
        /// The temporary.
        name: Name,
        /// The instruction that writes it.
        instruction: Name,
    },
}

/// Puts those temporaries in that address space.
///
/// ```
/// use parloop_loop::syntax::AddressSpace;
/// use parloop_loop::transform::set_temporary_address_space;
/// # use parloop_loop::create::make_kernel;
/// let program = make_kernel("{[i]: 0<=i<16}", "<>t[i] = 2*a[i] {id=fill}\nb[i] = t[15-i] {dep=fill}")?;
/// let kernel = set_temporary_address_space(program.entry().unwrap(), &["t".into()], AddressSpace::Local)?;
/// assert_eq!(kernel.temporaries["t"].space, Some(AddressSpace::Local));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such temporary, or if it is written and the memory is constant.
pub fn set_temporary_address_space(
    kernel: &LoopKernel,
    temporaries: &[Name],
    space: AddressSpace,
) -> Result<LoopKernel, SetTemporaryAddressSpaceError> {
    let mut result = kernel.clone();
    for name in temporaries {
        let Some(temporary) = result.temporaries.get_mut(name) else {
            let near = Near::of(name, kernel.temporaries.keys());
            return Err(SetTemporaryAddressSpaceError::UnknownTemporary { kernel: kernel.name.clone(), name: name.clone(), near });
        };
        if space == AddressSpace::Constant
            && let Some(writer) = kernel.instructions.iter().find(|instruction| instruction.writes().contains(name))
        {
            return Err(SetTemporaryAddressSpaceError::Written { name: name.clone(), instruction: writer.id.clone() });
        }
        temporary.space = Some(space);
    }
    Ok(result)
}
