//! Why a call fails.

use std::fmt;

use parloop_device::DType;
use parloop_ir::layout::LayoutError;
use parloop_isl::Name;

/// Why a call fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum RunError {
    #[error("kernel `{kernel}`: argument `{argument}` is missing, and cannot be inferred from the arrays that were passed")]
    Missing { kernel: Name, argument: Name },
    #[error(
        "kernel `{kernel}`: argument `{argument}` has no type that can be passed from outside; give it one, or pass an array from which it can be inferred"
    )]
    Untyped { kernel: Name, argument: Name },
    #[error(
        "argument `{argument}`: `{part}` in its shape or strides cannot be computed before the call; use integers and integer arguments"
    )]
    NoFormula { argument: Name, part: String },
    #[error("kernel `{kernel}`: argument `{argument}` is an array of {}, but the kernel was compiled for {}", found.name(), expected.name())]
    WrongType { kernel: Name, argument: Name, expected: DType, found: DType },
    #[error(
        "kernel `{kernel}`: each element of argument `{argument}` consists of {numbers} numbers of {dtype}; pass an array whose last axis has these, side by side, not one of shape {shape:?}"
    )]
    Components { kernel: Name, argument: Name, numbers: usize, dtype: DType, shape: Vec<i64> },
    #[error("kernel `{kernel}`: argument `{argument}` has shape {found:?}, but must have shape {expected:?}")]
    WrongShape { kernel: Name, argument: Name, expected: Vec<i64>, found: Vec<i64> },
    #[error("kernel `{kernel}`: argument `{argument}` has {found} axes, but the kernel was compiled for {expected}")]
    WrongRank { kernel: Name, argument: Name, expected: usize, found: usize },
    #[error(
        "kernel `{kernel}`: argument `{argument}` must be an object of class `{expected}`, but an object of class `{found}` was passed{hint}"
    )]
    WrongClass { kernel: Name, argument: Name, expected: Name, found: Name, hint: &'static str },
    #[error(
        "kernel `{kernel}`: field `{field}` of argument `{argument}` has {found} elements along axis {axis}, but {needed} are needed; pass a longer object, or bound the loops"
    )]
    FieldTooShort { kernel: Name, argument: Name, field: Name, axis: usize, needed: i64, found: i64 },
    #[error(
        "kernel `{kernel}`: a call that uses field `{field}` of argument `{argument}` cannot be recorded: a reference leads to it, which may be changed before a replay; pass the object that it refers to"
    )]
    RecordedReference { kernel: Name, argument: Name, field: Name },
    #[error("kernel `{kernel}`: field `{field}` of argument `{argument}` cannot be used: {reason}")]
    Field { kernel: Name, argument: Name, field: Name, reason: String },
    #[error(
        "kernel `{kernel}`: `{access}` in `{instruction}` is out of bounds: index {} is {index}{} with {numbers}",
        axis + 1,
        Elements(*length)
    )]
    OutOfBounds { kernel: Name, access: String, instruction: Name, axis: usize, index: i64, length: Option<i64>, numbers: String },
    #[error("kernel `{kernel}`: the value of `{name}` is unknown; pass the arrays whose shapes use it")]
    NoValue { kernel: Name, name: Name },
    #[error(
        "kernel `{kernel}`: argument `{argument}` has a stride of {found} bytes along axis {axis}, but the kernel was compiled for {expected}; pass a contiguous copy, or declare it with strides=\"auto\""
    )]
    WrongStride { kernel: Name, argument: Name, axis: usize, expected: i64, found: i64 },
    #[error(
        "kernel `{kernel}`: argument `{argument}` has a stride of {found} bytes along axis {axis}, which is not a multiple of its element size, {size}"
    )]
    BrokenStride { kernel: Name, argument: Name, axis: usize, found: i64, size: i64 },
    #[error(
        "kernel `{kernel}`: argument `{argument}` begins at {address:#x}, but is declared with an alignment of {promised} bytes; pass an aligned copy, or declare a smaller alignment"
    )]
    Unaligned { kernel: Name, argument: Name, address: u64, promised: u32 },
    #[error("kernel `{kernel}`: argument `{argument}` must be {expected}")]
    WrongKind { kernel: Name, argument: Name, expected: String },
    #[error("kernel `{kernel}`: output `{argument}` would have length {length} along axis {axis}")]
    NegativeLength { kernel: Name, argument: Name, axis: usize, length: i64 },
    #[error("kernel `{kernel}`: argument `{argument}` is {value}, which does not fit {}; declare it with a wider type", dtype.name())]
    Range { kernel: Name, argument: Name, value: i64, dtype: DType },
    #[error(
        "kernel `{kernel}`: an index or loop bound would be between {least} and {most}, which does not fit {}; pass smaller sizes, or declare the numbers and temporaries used in indices with a wider type", dtype.name()
    )]
    TooWide { kernel: Name, dtype: DType, least: i128, most: i128 },
    #[error("kernel `{kernel}`: a length or stride of `{argument}` does not fit into 64 bits")]
    Overflow { kernel: Name, argument: Name },
    #[error(
        "kernel `{kernel}` assumes `{assumption}`, but is called with {values}; pass sizes for which it holds, or create the kernel without the assumption"
    )]
    Assumption { kernel: Name, assumption: String, values: String },
    #[error("kernel `{kernel}` has no argument `{argument}`; it has {names}")]
    UnknownArgument { kernel: Name, argument: Name, names: String },
    #[error("argument `{argument}` has a `sep` axis, whose indices are separate arrays; a call from Rust cannot pass these")]
    Separate { argument: Name },
    #[error("kernel `{kernel}`: argument `{argument}` was given twice")]
    GivenTwice { kernel: Name, argument: Name },
    #[error("kernel `{kernel}`: argument `{argument}` of shape {shape:?} takes {needed} bytes, but its memory has {found}")]
    TooSmall { kernel: Name, argument: Name, shape: Vec<i64>, needed: u64, found: usize },
    #[error(
        "kernel `{kernel}`: argument `{argument}` cannot have the shape {shape:?} with strides {strides:?}: lengths must not be negative, each axis has one stride, and no element comes before the first"
    )]
    BadShape { kernel: Name, argument: Name, shape: Vec<i64>, strides: Vec<i64> },
    #[error(
        "kernel `{kernel}`: argument `{argument}` has an offset of {offset} elements, so its memory must have {needed}, but it has {found}; pass longer memory, or declare it without offset"
    )]
    Offset { kernel: Name, argument: Name, offset: i128, needed: i128, found: i128 },
    #[error("kernel `{kernel}`: output `{argument}` has an offset, so the call cannot allocate it; pass it")]
    OutputOffset { kernel: Name, argument: Name },
    #[error("kernel `{kernel}`: arguments `{written}` and `{other}` share memory, and `{written}` is written; pass a copy of one of them")]
    SharedMemory { kernel: Name, written: Name, other: Name },
    #[error(
        "kernel `{kernel}`: the fields `{written}` and `{other}` of argument `{argument}` share memory, and `{written}` is written; let its references lead to different objects"
    )]
    SharedFields { kernel: Name, argument: Name, written: Name, other: Name },
    #[error(
        "kernel `{kernel}`: argument `{argument}` is written, but with shape {shape:?} and strides {strides:?} some of its elements share memory; pass a copy"
    )]
    OverlapsItself { kernel: Name, argument: Name, shape: Vec<i64>, strides: Vec<i64> },
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Isl(#[from] parloop_isl::IslError),
}

/// `, but the axis has 4 elements`.
struct Elements(Option<i64>);

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(1) => f.write_str(", but the axis has 1 element"),
            Some(length) => write!(f, ", but the axis has {length} elements"),
            None => Ok(()),
        }
    }
}
