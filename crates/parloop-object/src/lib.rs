//! Typed objects in the memory of any device: their types and bytes, the buffers that hold them, views of them on the host, and the
//! C functions by which kernels read and write them.

mod capi;
mod error;
mod types;

pub use capi::{ApiFunction, ApiOptions, ApiParam, ApiType, ClassApi, UnionMethod, class_api, in_dependency_order};
pub use error::TypeError;
pub use types::{
    ArrayType, Field, MAX_AXES, NULL_OFFSET, NULL_TYPEID, Place, RefType, SLOT, StructType, Type, UnionType, scalar_name, slots, strides_of,
};
