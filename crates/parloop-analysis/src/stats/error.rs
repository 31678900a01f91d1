//! Why the work of a kernel cannot be counted.

use parloop_ir::callable::{InferError, TypeName};
use parloop_ir::syntax::LoopKernel;
use parloop_isl::{IslError, Name};

/// Checks that all data of a kernel are numbers.
pub(super) fn only_numbers(kernel: &LoopKernel) -> Result<(), StatsError> {
    let arguments = kernel.arguments.iter().map(|argument| (&argument.name, &argument.ty));
    let mut all = arguments.chain(kernel.temporaries.values().map(|temporary| (&temporary.name, &temporary.ty)));
    match all.find_map(|(name, ty)| Some((name, ty.as_ref().filter(|ty| ty.has_components())?))) {
        None => Ok(()),
        Some((name, ty)) => Err(StatsError::Components { name: name.clone(), ty: TypeName(ty.clone()).to_string() }),
    }
}

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
    #[error("`{name}` has elements of type {ty}; the work of kernels with vectors or records is not counted")]
    Components { name: Name, ty: String },
    #[error(transparent)]
    Isl(#[from] IslError),
}
