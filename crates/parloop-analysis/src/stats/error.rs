//! Why the work of a kernel cannot be counted.

use parloop_ir::callable::InferError;
use parloop_isl::{IslError, Name};

/// Why the work of a kernel cannot be counted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StatsError {
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error("counting for subgroups needs their size; give it: subgroup_size=32")]
    SubgroupSize,
    #[error("the work-group size is not constant, since the length of `{iname}` is not a constant; split it, or fix its parameters")]
    GroupSize { iname: Name },
    #[error(transparent)]
    Isl(#[from] IslError),
}
