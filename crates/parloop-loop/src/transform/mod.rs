//! Transformations: kernels in, kernels out, the same numbers. One file each; all check first and leave their input as it is.

mod add_prefetch;
mod assume;
mod expand_subst;
mod extract_subst;
mod fix_parameters;
mod precompute;
mod prioritize_loops;
mod replace;
mod rewrite;
mod set_temporary_address_space;
mod split_iname;
pub mod step;
mod tag_inames;

pub use add_prefetch::{AddPrefetchError, Prefetch, add_prefetch};
pub use assume::{AssumeError, assume, assume_set};
pub use expand_subst::{ExpandSubstError, called_rules, expand_calls, expand_subst, rule_call, used_rules};
pub use extract_subst::{ExtractSubst, ExtractSubstError, extract_subst};
pub use fix_parameters::{FixParametersError, Fixed, fix_parameters};
pub use precompute::{FetchTag, Precompute, PrecomputeError, precompute};
pub use prioritize_loops::{PrioritizeLoopsError, prioritize_loops};
pub use replace::InameError;
pub use set_temporary_address_space::{SetTemporaryAddressSpaceError, set_temporary_address_space};
pub use split_iname::{Split, SplitError, split_iname};
pub use step::{Arguments, Step, StepError, StepValue};
pub use tag_inames::{TagChoice, TagInamesError, Tags, tag_inames, untag_inames};
