//! Typed objects in the memory of any device: their types and bytes, the buffers that hold them, views of them on the host, and the
//! C functions by which kernels read and write them.
//!
//! Rust types are types of objects by [`Object`], and are placed by [`PlaceObjects`]:
//!
//! ```
//! use parloop_kernel::Context;
//! use parloop_object::{Object, PlaceObjects};
//!
//! #[derive(Object)]
//! struct Particle { x: Vec<f64>, name: String }
//!
//! let probe = Context::open("cpu")?.place(&Particle { x: vec![0.0, 1.0], name: "probe".into() })?;
//! assert_eq!(probe.get()?.x, [0.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Data flow: a [`Value`] → the bytes of its [`Type`], checked → a place in a [`Buffer`] → a [`View`].

mod alloc;
mod buffer;
mod capi;
mod edit;
mod elements;
mod error;
mod graph;
mod image;
mod lengths;
mod object;
mod path;
mod placed;
mod scalar;
mod sources;
pub mod typed;
mod types;
mod value;
mod view;

pub use alloc::Allocator;
pub use buffer::{Allocation, Buffer, DEFAULT_CAPACITY, Hold, Placement};
pub use capi::{
    ApiFunction, ApiOptions, ApiParam, ApiType, ClassApi, NumberAxis, NumberField, UnionMethod, class_api, in_dependency_order,
    number_fields,
};
pub use error::{BufferError, ObjectError, TypeError};
pub use lengths::{Extents, KnownLengths, Lengths};
pub use object::Home;
pub use parloop_derive::Object;
pub use placed::{PlaceObjects, Placed};
pub use scalar::to_bytes as number_bytes;
pub use sources::{ObjectOptions, class_sources};
pub use typed::{Nullable, Object, StructObject};
pub use types::{
    ArrayType, Field, FieldPlace, MAX_AXES, MAX_BYTES, NULL_OFFSET, NULL_TYPEID, RefType, SLOT, StructType, Type, UnionType, scalar_name,
    slots, strides_of,
};
pub use value::{Elements, Value};
pub use view::{ArrayShape, View};
