//! `allocate_temporaries_for_base_storage`: gives temporaries with a common base storage shared or separate memory.
//!
//! Lowering generates the code for shared memory. This module decides whether it is shared, and checks that it can be.

use parloop_ir::syntax::{AddressSpace, LoopKernel};
use parloop_isl::Name;

/// Why memory cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocateTemporariesError {
    /// It has initial values.
    #[error("`{name}` has initial values, so it cannot be part of `{storage}`")]
    Initialized {
        /// The temporary.
        name: Name,
        /// The memory.
        storage: Name,
    },
    /// Parts of one storage are in different address spaces.
    #[error("`{first}` and `{second}` are parts of `{storage}`, but are in different address spaces")]
    SpacesDiffer {
        /// A temporary.
        first: Name,
        /// Another one.
        second: Name,
        /// The memory.
        storage: Name,
    },
}

/// Which temporaries get memory, and whether they share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseStorage {
    /// Only those in that memory.
    pub only_space: Option<AddressSpace>,
    /// Whether temporaries of one storage overlap; if not, each has its own memory.
    pub aliased: bool,
}

impl Default for BaseStorage {
    fn default() -> BaseStorage {
        BaseStorage { only_space: None, aliased: true }
    }
}

/// Gives temporaries with a base storage their memory.
///
/// # Errors
/// [`AllocateTemporariesError`].
pub fn allocate_temporaries_for_base_storage(kernel: &LoopKernel, how: BaseStorage) -> Result<LoopKernel, AllocateTemporariesError> {
    let mut result = kernel.clone();
    let asked = |space: Option<AddressSpace>| how.only_space.is_none_or(|only| space == Some(only));
    for temporary in kernel.temporaries.values() {
        let Some(storage) = temporary.base_storage.as_ref().filter(|_| asked(temporary.space)) else { continue };
        if temporary.initializer.is_some() {
            return Err(AllocateTemporariesError::Initialized { name: temporary.name.clone(), storage: storage.clone() });
        }
        if !how.aliased {
            if let Some(changed) = result.temporaries.get_mut(&temporary.name) {
                changed.base_storage = None;
            }
            continue;
        }
        let other =
            kernel.temporaries.values().find(|other| other.base_storage.as_ref() == Some(storage) && other.space != temporary.space);
        if let Some(other) = other.filter(|other| other.space.is_some() && temporary.space.is_some()) {
            let (first, second) = (temporary.name.clone(), other.name.clone());
            return Err(AllocateTemporariesError::SpacesDiffer { first, second, storage: storage.clone() });
        }
    }
    Ok(result)
}
