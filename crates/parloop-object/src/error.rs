//! Errors of types, buffers and objects, as data.

use parloop_device::{DType, DeviceError};
use parloop_kernel::KernelError;

/// A type cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum TypeError {
    #[error("`{name}` is not a valid name for a {kind}: C names consist of letters, digits and underscores and do not start with a digit")]
    Name { kind: &'static str, name: String },
    #[error("struct `{name}` has two fields `{field}`")]
    FieldTwice { name: String, field: String },
    #[error("array `{name}` has {axes} axes; an array must have 1 to 16")]
    Axes { name: String, axes: usize },
    #[error("array `{name}`: the order {order:?} is not a permutation of its {axes} axes")]
    Order { name: String, order: Vec<usize>, axes: usize },
    #[error("{kind} `{name}` is too large to address")]
    TooLarge { kind: &'static str, name: String },
    #[error("type `{name}` is nested {depth} types deep; the limit is {most}")]
    TooDeep { name: String, depth: usize, most: usize },
    #[error("a string of {size} bytes was requested; a string must have 1 to 2^60")]
    StringSize { size: usize },
    #[error("union reference `{name}` has two members `{member}`")]
    MemberTwice { name: String, member: String },
    #[error("union reference `{name}` cannot have the reference `{member}` as a member")]
    Member { name: String, member: String },
    #[error("two types are named `{name}`: {first}, and {second}; give one of them another name")]
    SameName { name: String, first: String, second: String },
}

/// A buffer cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum BufferError {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("bytes {offset}..{} of the buffer are already free; they were freed twice or never allocated", offset + size)]
    DoubleFree { offset: usize, size: usize },
    #[error(
        "bytes {offset}..{} of the buffer are not an allocation: they are part of the allocation of {taken} bytes at {start}",
        offset + size
    )]
    ForeignFree { offset: usize, size: usize, start: usize, taken: usize },
    #[error("Cannot free outside of buffer: bytes {offset}..{} of a buffer of {capacity} bytes", offset.saturating_add(*size))]
    FreeOutside { offset: usize, size: usize, capacity: usize },
    #[error("{what} of {len} bytes at {offset} does not fit into a buffer of {capacity} bytes")]
    OutOfBounds { what: &'static str, offset: usize, len: usize, capacity: usize },
    #[error("the alignment {alignment} is not a power of two")]
    Alignment { alignment: usize },
    #[error("another thread was changing this buffer when the process forked; make another buffer in the child")]
    LeftLocked,
    #[error("a buffer of more than {} bytes was requested", isize::MAX)]
    TooLarge,
}

/// A value does not fit where it is put, or an object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ObjectError {
    #[error(transparent)]
    Buffer(#[from] BufferError),
    #[error(transparent)]
    Type(#[from] TypeError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error("{path} has type {ty}, but {given} was given")]
    WrongType { path: String, ty: String, given: String },
    #[error("{path}: {value} does not fit into {dtype}")]
    OutOfRange { path: String, value: String, dtype: DType },
    #[error("{path}: text of {given} bytes does not fit into a string with room for {room}; its size is fixed at creation")]
    TextTooLong { path: String, given: usize, room: usize },
    #[error("{path} holds text that is not UTF-8")]
    NotText { path: String },
    #[error("{path} has no field `{field}`; its fields are {}", fields.join(", "))]
    NoSuchField { path: String, field: String, fields: Vec<String> },
    #[error("{path} needs a value, because its size depends on it")]
    Missing { path: String },
    #[error("{path} has shape {}, but the value has shape {}", dims(expected), shape(given))]
    Shape { path: String, expected: Vec<Option<usize>>, given: Vec<usize> },
    #[error("{path}: index {index:?} is out of bounds for shape {}", shape(bounds))]
    Index { path: String, index: Vec<i64>, bounds: Vec<usize> },
    #[error("{path} takes objects of {}, but {given} was given", members.join(", "))]
    NotAMember { path: String, members: Vec<String>, given: String },
    #[error("{path}: the size of an object is fixed at creation: it has {has} bytes, but the value needs {needs}")]
    Size { path: String, has: usize, needs: usize },
    #[error("a reference of type {ty} is null, but the Rust type that it is read as has no null; wrap it in an Option")]
    Null { ty: String },
    #[error("a reference of type {ty} on the path to `{path}` is null; assign an object to it first")]
    NullOnPath { ty: String, path: String },
    #[error("the memory of this {ty} object was freed")]
    Freed { ty: String },
    #[error("{path}: its bytes are invalid ({what}); they were overwritten or never held such an object")]
    Corrupt { path: String, what: &'static str },
}

impl From<DeviceError> for ObjectError {
    fn from(error: DeviceError) -> ObjectError {
        ObjectError::Buffer(error.into())
    }
}

fn shape(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("({})", dims.join(", "))
}

fn dims(dims: &[Option<usize>]) -> String {
    let dims: Vec<String> = dims.iter().map(|dim| dim.map_or_else(|| ":".into(), |dim| dim.to_string())).collect();
    format!("({})", dims.join(", "))
}
