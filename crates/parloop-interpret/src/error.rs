//! Why a kernel has no meaning that the interpreter knows.

use parloop_analysis::infer::SpaceError;
use parloop_ir::callable::InferError;
use parloop_ir::program::NoEntry;
use parloop_ir::substitution::ExpandSubstError;
use parloop_isl::{IslError, Name};

/// Why a kernel cannot be interpreted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum InterpretError {
    #[error("argument `{argument}` has no value; give one")]
    Missing { argument: Name },
    #[error("argument `{argument}` has {found} numbers, but its shape needs {expected}")]
    WrongLength { argument: Name, expected: usize, found: usize },
    #[error("the shape of `{array}` cannot be computed, or is too large: {axis} on axis {place}")]
    NoShape { array: Name, place: usize, axis: String },
    #[error("instruction `{instruction}`: index {index} on axis {axis} of `{array}` is outside 0 to {limit}, which is not included")]
    OutOfBounds { instruction: Name, array: Name, axis: usize, index: i128, limit: usize },
    #[error("instruction `{instruction}` reads element {index:?} of `{array}`, which nothing has written before")]
    NotWritten { instruction: Name, array: Name, index: Vec<usize> },
    #[error("`{name}` has no value where it is needed")]
    NoValue { name: Name },
    #[error("instruction `{instruction}` makes a number that its type does not hold")]
    TooLarge { instruction: Name },
    #[error("instruction `{instruction}`: {what} is not interpreted")]
    Unsupported { instruction: Name, what: String },
    #[error("the dependencies of {instructions:?} go round in a circle")]
    Circle { instructions: Vec<Name> },
    #[error("instructions {instructions:?} share loops, but no loop is around all of them")]
    NoNest { instructions: Vec<Name> },
    #[error("loop `{iname}` has no end")]
    Unbounded { iname: Name },
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    #[error(transparent)]
    NoEntry(#[from] NoEntry),
}
