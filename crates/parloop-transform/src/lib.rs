//! `transform` rewrites kernels without changing their results.
//!
//! Transformations: kernels in, kernels out, the same numbers. One file each; all check first and leave their input unchanged.

mod add_barrier;
mod add_dependency;
mod add_inames_for_unused_hw_axes;
mod add_nosync;
mod add_padding;
mod add_prefetch;
mod affine_map_inames;
mod alias_temporaries;
mod allocate_temporaries_for_base_storage;
mod apply;
mod arrays;
mod assignment_to_subst;
mod assume;
mod buffer_array;
mod chunk_iname;
mod collect_common_factors_on_increment;
mod concatenate_arrays;
mod cut_quotients;
mod duplicate_inames;
mod edit_instructions;
mod error;
mod extract_subst;
mod fix_parameters;
mod fuse_kernels;
mod inline_callable_kernel;
mod join_inames;
mod layouts;
mod loop_fusion;
mod make_reduction_inames_unique;
mod map_domain;
mod merge;
mod pack_and_unpack_args_for_call;
mod precompute;
mod prioritize_loops;
mod privatize_temporaries_with_inames;
mod realize_reduction;
pub mod reduce;
mod reduction_arg_to_subst_rule;
mod register;
mod remove_instructions;
mod remove_predicates_from_insn;
mod remove_unused_arguments;
mod remove_unused_inames;
mod rename_argument;
mod rename_iname;
mod replace;
mod rewrite;
mod rule_inames;
mod set_argument_order;
mod set_array_axis_names;
mod set_temporary_address_space;
mod simplify_indices;
mod split_array_axis;
mod split_iname;
mod split_reduction;
mod tag_array_axes;
mod tag_inames;
mod to_batched;
mod unprivatize_temporaries_with_inames;

pub use add_barrier::{AddBarrierError, Barrier, add_barrier};
pub use add_dependency::{AddDependencyError, add_dependency};
pub use add_nosync::{AddNoSyncError, NoSync, add_nosync};
pub use add_prefetch::{AddPrefetchError, Prefetch, add_prefetch};
pub use affine_map_inames::affine_map_inames;
pub use alias_temporaries::{AliasTemporariesError, Aliases, alias_temporaries};
pub use allocate_temporaries_for_base_storage::{AllocateTemporariesError, BaseStorage, allocate_temporaries_for_base_storage};
pub use apply::{ApplyError, apply, apply_to_kernel, known_steps};
pub use arrays::UnknownArray;
pub use assignment_to_subst::{AssignmentToSubst, AssignmentToSubstError, assignment_to_subst};
pub use assume::{AssumeError, assume, assume_set};
pub use buffer_array::{Buffer, BufferArrayError, buffer_array};
pub use chunk_iname::{ChunkError, chunk_iname};
pub use collect_common_factors_on_increment::{CollectFactorsError, collect_common_factors_on_increment};
pub use cut_quotients::cut_quotients;
pub use duplicate_inames::{Duplicate, DuplicateInamesError, duplicate_inames};
pub use edit_instructions::{
    AddInamesError, RemoveInamesError, add_inames_to_insn, find_instructions, map_instructions, remove_inames_from_insn,
    set_instruction_priority, tag_instructions,
};
pub use error::TransformError;
pub use extract_subst::{ExtractSubst, ExtractSubstError, extract_subst};
pub use fix_parameters::{FixParametersError, Fixed, fix_parameters};
pub use inline_callable_kernel::{InlineError, inline_callable_kernel, inline_parallel_callees};
pub use join_inames::{Join, JoinError, join_inames};
pub use loop_fusion::{LoopFusionError, get_kennedy_unweighted_fusion_candidates};
pub use make_reduction_inames_unique::make_reduction_inames_unique;
pub use map_domain::{MapDomainError, map_domain};
pub use merge::{merge, with_entrypoints};
pub use pack_and_unpack_args_for_call::{PackError, pack_and_unpack_args_for_call};
pub use precompute::{FetchTag, Precompute, PrecomputeError, domain_of, precompute};
pub use prioritize_loops::{PrioritizeLoopsError, prioritize_loops};
pub use privatize_temporaries_with_inames::{PrivatizeError, privatize_for_concurrent_inames, privatize_temporaries_with_inames};
pub use realize_reduction::{RealizeReductionError, realize_reduction};
pub use reduction_arg_to_subst_rule::{ReductionArgToSubstRule, ReductionArgToSubstRuleError, reduction_arg_to_subst_rule};
pub use register::{
    RegisterError, register_callable, register_callable_kernel, register_function_lookup, register_function_mangler,
    register_function_scoper,
};
pub use remove_instructions::remove_instructions;
pub use remove_unused_arguments::remove_unused_arguments;
pub use remove_unused_inames::remove_unused_inames;
pub use rename_argument::{RenameArgumentError, rename_argument};
pub use rename_iname::{Rename, RenameInamesError, rename_iname, rename_inames, rename_inames_in_batch};
pub use replace::InameError;
pub use rule_inames::separate_rule_inames;
pub use set_argument_order::{ArgumentOrderError, set_argument_order};
pub use set_array_axis_names::{SetArrayAxisNamesError, set_array_axis_names};
pub use set_temporary_address_space::{SetTemporaryAddressSpaceError, set_temporary_address_space};
pub use simplify_indices::simplify_indices;
pub use split_array_axis::{AxisSplit, SplitArrayAxisError, split_array_axis};
pub use split_iname::{Split, SplitError, split_iname};
pub use split_reduction::{SplitReductionError, split_reduction_inward, split_reduction_outward};
pub use tag_array_axes::{AxisTags, TagArrayAxesError, tag_array_axes};
pub use tag_inames::{TagChoice, TagInamesError, Tags, tag_inames, untag_inames};

pub use add_inames_for_unused_hw_axes::{UnusedAxesError, add_inames_for_unused_hw_axes};
pub use add_padding::{AddPaddingError, add_padding};
pub use concatenate_arrays::{ConcatenateArraysError, concatenate_arrays};
pub use fuse_kernels::{Flow, FuseKernelsError, fuse_kernels};
pub use parloop_ir::step::{self, Arguments, StepError, StepValue, TransformStep};
pub use parloop_ir::substitution::{ExpandSubstError, called_rules, expand_calls, expand_subst, rule_call, used_rules};
pub use remove_predicates_from_insn::remove_predicates_from_insn;
pub use to_batched::{Batches, ToBatchedError, to_batched};
pub use unprivatize_temporaries_with_inames::{UnprivatizeError, unprivatize_temporaries_with_inames};
