//! Reductions become instructions: accumulators that are set, updated for each point and then used.
//!
//! `realize` processes a kernel; `sequential` has reductions of one work item, `local` those of the work items of a group, `scan` those
//! whose results grow along a loop. `separate` handles empty reductions.

use parloop_ir::reduction::ReductionError;
use parloop_ir::syntax::ReductionOp;
use parloop_isl::{IslError, Name};

mod local;
mod realize;
mod scan;
mod separate;
mod sequential;

pub use realize::{Realization, Scan, TypeOf, realize};
pub use separate::{SeparateError, separate_reductions};

/// Why a reduction cannot be realised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReduceError {
    /// The operation is unknown, or has no initial value.
    #[error(transparent)]
    Operation(#[from] ReductionError),
    /// A reduction of pairs got one value, or vice versa.
    #[error("instruction `{instruction}`: reduction `{op}` takes {expected} values, but {found} were given")]
    WrongArity {
        /// The instruction.
        instruction: Name,
        /// The reduction.
        op: ReductionOp,
        /// How many values it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Results and left sides differ in number.
    #[error("instruction `{instruction}`: reduction `{op}` has {results} results, but the instruction expects {expected}")]
    WrongResults {
        /// The instruction.
        instruction: Name,
        /// The reduction.
        op: ReductionOp,
        /// How many it has.
        results: usize,
        /// How many the instruction takes.
        expected: usize,
    },
    /// The operand type, which determines the initial value, is unknown.
    #[error("instruction `{instruction}`: the operand type of `{op}` is unknown: {reason}")]
    Untyped {
        /// The instruction.
        instruction: Name,
        /// The reduction.
        op: ReductionOp,
        /// Why.
        reason: String,
    },
    /// It would need all groups.
    #[error(
        "instruction `{instruction}`: the reduction runs over `{iname}`, whose values are different work-groups; reduce inside each group first and over the groups in a second instruction"
    )]
    OverGroups {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// Two local inames at once.
    #[error(
        "instruction `{instruction}`: the reduction runs over two local axes, `{first}` and `{second}`; split it with split_reduction_inward, or tag one of them differently"
    )]
    TwoLocalAxes {
        /// The instruction.
        instruction: Name,
        /// One.
        first: Name,
        /// The other.
        second: Name,
    },
    /// Work items have points before and after those of others.
    #[error(
        "instruction `{instruction}`: `{op}` takes the first of equal values, but work items along `{shared}`, inside `{around}`, hold points that are interleaved with those of other work items; distribute the outer part over the work items instead"
    )]
    Interleaved {
        /// The instruction.
        instruction: Name,
        /// The reduction.
        op: ReductionOp,
        /// The iname of the work items.
        shared: Name,
        /// The one around it.
        around: Name,
    },
    /// Two loops over the iname would come one after the other.
    #[error(
        "instruction `{instruction}` reduces over `{iname}` both in a condition and in its branch; reduce over another iname in one of them"
    )]
    AfterItsCondition {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// Another loop over the iname is around the reduction.
    #[error("instruction `{instruction}` reduces over `{iname}`, but is within that iname too; reduce over another one")]
    OverOwn {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// Local memory needs a number.
    #[error(
        "instruction `{instruction}`: the number of values of `{iname}` must be constant to reserve local memory, but it is `{extent}`; use fix_parameters or split it"
    )]
    NotConstant {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
        /// What is known of it.
        extent: String,
    },
    /// It is not a scan, although one was requested.
    #[error("instruction `{instruction}`: the reduction over `{scan}` is not a scan: {reason}")]
    NotTriangular {
        /// The instruction.
        instruction: Name,
        /// The iname of the reduction.
        scan: Name,
        /// What does not fit.
        reason: String,
    },
    /// A scan over groups, or over lanes.
    #[error("instruction `{instruction}`: a scan along `{sweep}` does not work with the tag `{tag}`; leave it sequential or tag it l.N")]
    ScanTag {
        /// The instruction.
        instruction: Name,
        /// The iname along which results grow.
        sweep: Name,
        /// Its tag.
        tag: String,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}
