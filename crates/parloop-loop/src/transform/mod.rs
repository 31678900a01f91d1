//! Transformations: kernels in, kernels out, the same numbers. One file each; all check first and leave their input as it is.

mod expand_subst;
mod set_temporary_address_space;

pub use expand_subst::{ExpandSubstError, called_rules, expand_calls, expand_subst, remove_unused_rules, rule_call};
pub use set_temporary_address_space::{SetTemporaryAddressSpaceError, set_temporary_address_space};
