//! The error type of the whole path from text to launch: each stage has its own, and this is any of them.

mod run;

use parloop_analysis::infer::SpaceError;
use parloop_analysis::stats::StatsError;
use parloop_codegen::check::CheckError;
use parloop_codegen::lower::LowerError;
use parloop_codegen::schedule::{LocalAxesError, ScheduleError};
use parloop_create::CreateError;
use parloop_device::DeviceError;
use parloop_ir::callable::{CallableError, InferError, RecursiveCall};
use parloop_ir::layout::LayoutError;
use parloop_ir::program::NoEntry;
use parloop_ir::substitution::ExpandSubstError;
use parloop_isl::{IslError, Name};
use parloop_kernel::KernelError;
use parloop_transform::reduce::ReduceError;
use parloop_transform::{InlineError, PrivatizeError, RealizeReductionError, TransformError};

pub use run::RunError;

/// Why a kernel cannot be created, transformed, compiled or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LoopError {
    #[error(transparent)]
    Create(#[from] CreateError),
    #[error(transparent)]
    Transform(#[from] TransformError),
    #[error(transparent)]
    Callable(#[from] CallableError),
    #[error(transparent)]
    Recursive(#[from] RecursiveCall),
    #[error(transparent)]
    Inline(#[from] InlineError),
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    Axes(#[from] LocalAxesError),
    #[error(transparent)]
    Privatize(#[from] PrivatizeError),
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Stats(StatsError),
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// No kernel can be called from outside, or several can and none was named.
    #[error("{}", NoEntry { names: names.clone() })]
    NoEntry {
        /// The kernels that can be called.
        names: Vec<Name>,
    },
}

impl From<NoEntry> for LoopError {
    fn from(NoEntry { names }: NoEntry) -> LoopError {
        LoopError::NoEntry { names }
    }
}

impl From<DeviceError> for LoopError {
    fn from(error: DeviceError) -> LoopError {
        LoopError::Kernel(error.into())
    }
}

impl From<StatsError> for LoopError {
    fn from(error: StatsError) -> LoopError {
        match error {
            StatsError::Infer(error) => LoopError::Infer(error),
            StatsError::Isl(error) => LoopError::Isl(error),
            error => LoopError::Stats(error),
        }
    }
}

impl From<RealizeReductionError> for LoopError {
    fn from(error: RealizeReductionError) -> LoopError {
        match error {
            RealizeReductionError::Infer(error) => LoopError::Infer(error),
            RealizeReductionError::Reduce(error) => LoopError::Reduce(error),
            RealizeReductionError::NoEntry(error) => error.into(),
        }
    }
}
