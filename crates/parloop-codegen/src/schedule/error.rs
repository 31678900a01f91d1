//! Why a kernel cannot be scheduled.

use parloop_analysis::sequence::SequenceError;
use parloop_isl::{IslError, Name};

/// Why a kernel cannot be scheduled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A dependency crosses work-groups, and no global barrier is between.
    #[error(
        "`{second}` depends on how other work-groups change `{variable}` in `{first}`; put a global barrier between them (`... gbarrier`), or `nosync={first}@global` if none is needed"
    )]
    MissingBarrier {
        /// What comes first.
        first: Name,
        /// What comes after it.
        second: Name,
        /// The variable.
        variable: Name,
    },
    /// Not all work items would reach a barrier.
    #[error(
        "a barrier is needed inside the loop over `{iname}`, but work items of one group can run different numbers of iterations, since its bounds need `{bound}`"
    )]
    DivergentBarrier {
        /// The loop.
        iname: Name,
        /// What its bounds depend on.
        bound: Name,
    },
    /// A loop around a global barrier cannot run on the host.
    #[error(
        "the loop over `{iname}` has a global barrier inside, so it must run on the host, but its bounds need `{bound}`, which is not available on the host"
    )]
    HostLoop {
        /// The iname.
        iname: Name,
        /// What its bounds need.
        bound: Name,
    },
    /// A kernel that others call has a global barrier.
    #[error(
        "kernel `{kernel}` is called by other kernels but needs a global barrier, which would end the launch; inline it: inline_callable_kernel"
    )]
    BarrierInCallee {
        /// The kernel.
        kernel: Name,
    },
    /// Values are live across a global barrier between launches of different sizes.
    #[error(
        "temporary `{temporary}` is live across a global barrier, but `{first}` and `{second}` are launched with different numbers of work items; put it in global memory: set_temporary_address_space"
    )]
    KeptAcrossSizes {
        /// The temporary.
        temporary: Name,
        /// A launch.
        first: Name,
        /// Another.
        second: Name,
    },
    /// A temporary cannot be saved across a global barrier.
    #[error("temporary `{temporary}` is live across a global barrier and cannot be saved: {reason}")]
    NotKept {
        /// The temporary.
        temporary: Name,
        /// Why.
        reason: &'static str,
    },
    /// A local axis without an end.
    #[error("`{iname}` is tagged l.{axis}, but has no largest value; split it: split_iname(\"{iname}\", 16, inner_tag=\"l.{axis}\")")]
    LocalSize {
        /// The iname.
        iname: Name,
        /// The axis.
        axis: u8,
    },
    /// Parallel inames whose bounds are computed inside the kernel.
    #[error("`{iname}` runs on different work items, but its bounds need `{bound}`, which is unknown when the kernel is launched")]
    ParallelBound {
        /// The iname.
        iname: Name,
        /// What its bounds need.
        bound: Name,
    },
    /// A missing axis.
    #[error("axis {which}.{axis} is used, but axis {which}.{missing} is not; number the axes from 0 without gaps")]
    AxisGap {
        /// `g` or `l`.
        which: char,
        /// The axis in use.
        axis: u8,
        /// The one that is not.
        missing: u8,
    },
    /// More axes than devices have.
    #[error("`{iname}` is tagged {which}.{axis}, but there are three axes: {which}.0, {which}.1 and {which}.2")]
    AxisUnknown {
        /// The iname.
        iname: Name,
        /// `g` or `l`.
        which: char,
        /// The axis.
        axis: u8,
    },
    /// A called kernel needs a number of work-groups that its caller does not know.
    #[error(
        "kernel `{kernel}` needs `{size}` work-groups, but its caller does not pass `{name}`; pass it, or tag inames of the caller instead"
    )]
    CalleeSize {
        /// The kernel.
        kernel: Name,
        /// How many groups.
        size: String,
        /// What is not known.
        name: Name,
    },
    /// No local axis was chosen.
    #[error("`{iname}` is tagged l.auto, but no axis was chosen for it")]
    AutoAxis {
        /// The iname.
        iname: Name,
    },
    /// The loops and instructions cannot be ordered.
    #[error(transparent)]
    Sequence(#[from] SequenceError),
    /// The solver failed.
    #[error("cannot schedule this kernel: {0}")]
    Isl(#[from] IslError),
}
