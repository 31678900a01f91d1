//! Reductions become instructions: accumulators that are set, updated for each point and then used.
//!
//! `op` says what each reduction does, `sequential` realises those that one work item does alone.

use parloop_device::DType;
use parloop_isl::Name;

use crate::syntax::ReductionOp;

mod op;
mod sequential;

pub use sequential::realize_sequential;

/// Why a reduction cannot become instructions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReduceError {
    /// The result of no points is not known.
    #[error("reduction `{op:?}` over values of type {}: there is no value to start from; use numbers that have an order", dtype.name())]
    NoNeutralElement {
        /// The reduction.
        op: ReductionOp,
        /// The type of what it reduces.
        dtype: DType,
    },
    /// Nobody registered it.
    #[error(
        "`reduce({name}, …)`: no reduction of that name is known; known are sum, product, max, min, any, all, argmax, argmin, segmented_sum and segmented_product"
    )]
    UnknownOperation {
        /// Its name.
        name: Name,
    },
    /// A reduction of pairs got one value, or the other way round.
    #[error("instruction `{instruction}`: reduction `{op:?}` takes {expected} values, but {found} were given")]
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
    /// It has two results but stands where one value is needed.
    #[error("instruction `{instruction}`: reduction `{op:?}` has {results} results; write `value, index = …`")]
    SeveralResults {
        /// The instruction.
        instruction: Name,
        /// The reduction.
        op: ReductionOp,
        /// How many.
        results: usize,
    },
    /// What it reduces has no type that numbers have.
    #[error("instruction `{instruction}`: the type of `{operand}` is not known: {reason}")]
    Untyped {
        /// The instruction.
        instruction: Name,
        /// What it reduces.
        operand: String,
        /// Why.
        reason: String,
    },
}
