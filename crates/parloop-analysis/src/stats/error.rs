//! Why the work of a kernel cannot be counted.

use parloop_isl::IslError;

use parloop_ir::callable::InferError;

/// Why the work of a kernel cannot be counted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StatsError {
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Isl(#[from] IslError),
}
