//! Why the work of a kernel cannot be counted.

use parloop_ir::callable::InferError;
use parloop_isl::IslError;

/// Why the work of a kernel cannot be counted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StatsError {
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Isl(#[from] IslError),
}
