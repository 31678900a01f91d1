//! Errors of the interpreter.

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
    #[error("argument `{argument}` has no value; pass one")]
    Missing { argument: Name },
    #[error("argument `{argument}` has {found} numbers, but its shape needs {expected}")]
    WrongLength { argument: Name, expected: usize, found: usize },
    #[error("the shape of `{array}` cannot be computed, or is too large: {axis} on axis {place}")]
    NoShape { array: Name, place: usize, axis: String },
    #[error("instruction `{instruction}`: index {index} on axis {axis} of `{array}` is out of bounds for length {limit}")]
    OutOfBounds { instruction: Name, array: Name, axis: usize, index: i128, limit: usize },
    #[error("instruction `{instruction}` reads element {index:?} of `{array}` before it is written")]
    NotWritten { instruction: Name, array: Name, index: Vec<usize> },
    #[error("`{name}` has no value where it is needed")]
    NoValue { name: Name },
    #[error("instruction `{instruction}` computes a number that does not fit its type")]
    TooLarge { instruction: Name },
    #[error("instruction `{instruction}`: the interpreter does not support {what}")]
    Unsupported { instruction: Name, what: String },
    #[error("the dependencies of {instructions:?} form a cycle")]
    Circle { instructions: Vec<Name> },
    #[error("instructions {instructions:?} share loops, but no loop encloses all of them")]
    NoNest { instructions: Vec<Name> },
    #[error("loop `{iname}` has no upper bound")]
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
