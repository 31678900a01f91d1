//! `parloop.objects` from the side of Rust: types, buffers, objects and their fields. The classes that users write and see are made of
//! these in `python/parloop/objects`.

pub mod argument;
mod array;
pub mod buffer;
mod capi;
mod convert;
mod edit;
pub mod field;
mod make;
mod number;
pub mod object;
mod slots;
pub mod types;
mod wrap;

use pyo3::prelude::*;

/// Puts the classes into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<types::ObjectType>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<buffer::Chunk>()?;
    module.add_class::<capi::ClassApi>()?;
    module.add_class::<capi::ApiFunction>()?;
    module.add_function(wrap_pyfunction!(capi::class_api, module)?)?;
    module.add_function(wrap_pyfunction!(capi::c_signature, module)?)?;
    slots::register(module)?;
    field::register(module)
}
