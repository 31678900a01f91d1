//! The one error of the whole way from text to launch: each stage has its own, and this is any of them.

use parloop_device::DeviceError;
use parloop_isl::{IslError, Name};
use parloop_kernel::KernelError;

use crate::callable::{CallableError, RecursiveCall};
use crate::check::CheckError;
use crate::create::CreateError;
use crate::infer::{InferError, SpaceError};
use crate::layout::LayoutError;
use crate::lower::LowerError;
use crate::reduce::ReduceError;
use crate::run::RunError;
use crate::schedule::{LocalAxesError, ScheduleError};
use crate::transform::{ExpandSubstError, InlineError, PrivatizeError, TransformError};

/// Why a kernel cannot be made, transformed, written or run.
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
    Isl(#[from] IslError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// No kernel can be called from outside, or several can and none was named.
    #[error("{}", entry_message(.names))]
    NoEntry {
        /// The kernels that can.
        names: Vec<Name>,
    },
}

impl From<DeviceError> for LoopError {
    fn from(error: DeviceError) -> LoopError {
        LoopError::Kernel(error.into())
    }
}

fn entry_message(names: &[Name]) -> String {
    match names {
        [] => "the program has no kernel that can be called from outside; make one with make_kernel".into(),
        names => format!(
            "the program has several kernels, {}; say which one",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}
