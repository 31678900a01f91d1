//! Why a kernel has no schedule.

use std::fmt;

use parloop_isl::{IslError, Name};

/// Why a kernel has no schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Two instructions need the same loop at two places of the nest.
    #[error(
        "iname `{iname}` would have to be one loop at two places: `{first}` runs in {}, `{second}` runs in {}; give one of them a loop of its \
         own: duplicate_inames(\"{iname}\", within=\"id:{second}\")",
        Nest(first_nest),
        Nest(second_nest)
    )]
    Nesting {
        /// The iname.
        iname: Name,
        /// An instruction inside of it.
        first: Name,
        /// Its loops, outermost first.
        first_nest: Vec<Name>,
        /// Another instruction inside of it.
        second: Name,
        /// Its loops, outermost first.
        second_nest: Vec<Name>,
    },
    /// The user's order of loops is impossible: the outer loop is needed inside.
    #[error("loops cannot nest as `{outer}`, `{inner}`: `{instruction}` runs in `{inner}` and not in `{outer}`; change prioritize_loops")]
    Priority {
        /// What the user wants outside.
        outer: Name,
        /// What the user wants inside.
        inner: Name,
        /// An instruction in the inner loop alone.
        instruction: Name,
    },
    /// The user's orders of loops, and what bounds need, contradict each other.
    #[error("loops {} have no order: each must be outside of another one; change prioritize_loops", Names(.inames))]
    PriorityCycle {
        /// The inames.
        inames: Vec<Name>,
    },
    /// An iname's bounds need another that is not around it.
    #[error(
        "the bounds of `{iname}` need `{bound}`, but `{instruction}` runs in `{iname}` and not in a loop over `{bound}`; add `{bound}` to its inames"
    )]
    BoundOutside {
        /// The iname.
        iname: Name,
        /// The iname in its bounds.
        bound: Name,
        /// The instruction.
        instruction: Name,
    },
    /// A loop's bound is written inside the loop.
    #[error("the bounds of `{iname}` need `{variable}`, which `{instruction}` writes inside that loop; write it before the loop")]
    BoundWritten {
        /// The iname.
        iname: Name,
        /// The variable in its bounds.
        variable: Name,
        /// The instruction that writes it.
        instruction: Name,
    },
    /// A loop's bound is never written.
    #[error("the bounds of `{iname}` need `{variable}`, which nothing writes; assign it before the loop")]
    BoundUndefined {
        /// The iname.
        iname: Name,
        /// The variable in its bounds.
        variable: Name,
    },
    /// An instruction depends on one that there is not.
    #[error("`{instruction}` depends on `{dependency}`, which is no instruction of the kernel")]
    UnknownDependency {
        /// The instruction.
        instruction: Name,
        /// What it depends on.
        dependency: Name,
    },
    /// An instruction is in an iname that there is not.
    #[error("`{instruction}` runs in `{iname}`, which is no iname of the kernel")]
    UnknownIname {
        /// The instruction.
        instruction: Name,
        /// The name.
        iname: Name,
    },
    /// Instructions depend on each other in a circle.
    #[error("instructions {} depend on each other in a circle; remove one of the dependencies", Names(.instructions))]
    DependencyCycle {
        /// The instructions, each of which depends on the next, the last on the first.
        instructions: Vec<Name>,
    },
    /// A loop would have to be both before and after something else.
    #[error(
        "loops over {} have no order: `{first}` depends on `{first_dependency}`, and `{second}` depends on `{second_dependency}`, so each would \
         have to come before the other; give one instruction a loop of its own: duplicate_inames(\"{}\", within=\"id:{first}\")",
        Names(.loops),
        .loops.first().map_or("", |iname| iname)
    )]
    LoopCycle {
        /// The inames of the loops.
        loops: Vec<Name>,
        /// An instruction.
        first: Name,
        /// What it depends on.
        first_dependency: Name,
        /// Another instruction.
        second: Name,
        /// What that depends on.
        second_dependency: Name,
    },
    /// An instruction may not run while a group is half done, and the group cannot be finished without it.
    #[error(
        "`{instruction}` conflicts with group `{group}`, which is half done and cannot be finished before it; add dependencies that keep them apart"
    )]
    GroupConflict {
        /// The instruction.
        instruction: Name,
        /// The group.
        group: Name,
    },
    /// A dependency crosses work-groups, and no global barrier is between.
    #[error(
        "`{second}` depends on what other work-groups do to `{variable}` in `{first}`; put a global barrier between them (`... gbarrier`), or say \
         that none is needed: nosync={first}@global"
    )]
    MissingBarrier {
        /// What comes first.
        first: Name,
        /// What comes after it.
        second: Name,
        /// The variable.
        variable: Name,
    },
    /// Work items would not all come to a barrier.
    #[error(
        "a barrier is needed inside the loop over `{iname}`, but work items of one group can make different numbers of turns, since its bounds need \
         `{bound}`"
    )]
    DivergentBarrier {
        /// The loop.
        iname: Name,
        /// What its bounds depend on.
        bound: Name,
    },
    /// A barrier that not all work items reach.
    #[error("barrier `{barrier}` has a condition, but all work items of a group must come to it; remove the condition")]
    ConditionalBarrier {
        /// The id of the barrier.
        barrier: Name,
    },
    /// A barrier inside an unrolled innermost, or vector loop.
    #[error("`{barrier}` is inside `{iname}`, which is run at once; a barrier cannot be")]
    BarrierInside {
        /// The id of the barrier.
        barrier: Name,
        /// The iname.
        iname: Name,
    },
    /// A loop around a global barrier is not the host's to run.
    #[error(
        "the loop over `{iname}` has a global barrier inside, so the host must run it, but its bounds need `{bound}`, which the host does not know"
    )]
    HostLoop {
        /// The iname.
        iname: Name,
        /// What its bounds need.
        bound: Name,
    },
    /// A kernel that others call has a global barrier.
    #[error(
        "kernel `{kernel}` is called by others and needs a global barrier, which would end the launch; inline it: inline_callable_kernel"
    )]
    BarrierInCallee {
        /// The kernel.
        kernel: Name,
    },
    /// Values are kept across a global barrier by launches of different sizes.
    #[error(
        "temporary `{temporary}` lives across a global barrier, but `{first}` and `{second}` are launched with different numbers of work items; put it \
         into global memory: set_temporary_address_space"
    )]
    KeptAcrossSizes {
        /// The temporary.
        temporary: Name,
        /// A launch.
        first: Name,
        /// Another.
        second: Name,
    },
    /// A temporary cannot be kept across a global barrier.
    #[error("temporary `{temporary}` lives across a global barrier and cannot be kept: {reason}")]
    NotKept {
        /// The temporary.
        temporary: Name,
        /// Why.
        reason: &'static str,
    },
    /// A local axis whose length is not a constant.
    #[error(
        "`{iname}` is tagged l.{axis}, but its length `{length}` is not a constant; split it: split_iname(\"{iname}\", 16, inner_tag=\"l.{axis}\")"
    )]
    LocalSize {
        /// The iname.
        iname: Name,
        /// The axis.
        axis: u8,
        /// Its length.
        length: String,
    },
    /// Parallel inames whose bounds are computed inside the kernel.
    #[error("`{iname}` is run by different work items, but its bounds need `{bound}`, which is not known when the kernel is launched")]
    ParallelBound {
        /// The iname.
        iname: Name,
        /// What its bounds need.
        bound: Name,
    },
    /// An axis that there is not, or one left out.
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
        "kernel `{kernel}` needs `{size}` work-groups, but `{name}` is not passed to it by its caller; pass it, or tag inames of the caller instead"
    )]
    CalleeSize {
        /// The kernel.
        kernel: Name,
        /// How many groups.
        size: String,
        /// What is not known.
        name: Name,
    },
    /// A local axis that nobody chose.
    #[error("`{iname}` is tagged l.auto, and no axis was chosen for it")]
    AutoAxis {
        /// The iname.
        iname: Name,
    },
    /// The solver has no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Names in backquotes, with commas.
pub(crate) struct Names<'a>(pub &'a [Name]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Names of loops, outermost first.
struct Nest<'a>(&'a [Name]);

impl fmt::Display for Nest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => f.write_str("no loop"),
            1 => write!(f, "loop {}", Names(self.0)),
            _ => write!(f, "loops {}", Names(self.0)),
        }
    }
}
