//! Vectors and records: structured dtypes of NumPy as types of elements, and arrays of them as arrays of numbers.

use parloop_loop::parse::{type_name, type_text};
use parloop_loop::syntax::Type;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};

use crate::error::Result;

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("parloop.loops._types")
}

/// The vector or record that a dtype describes; `None` for others.
pub fn component_type(given: &Bound<'_, PyAny>) -> Result<Option<Type>> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(type_name(text.to_str()?).filter(Type::has_components));
    }
    let text: Option<String> = module(given.py())?.getattr("component_text")?.call1((given,))?.extract()?;
    Ok(text.map(|text| type_text(&text)).transpose()?)
}

/// The structured dtype of a vector or record.
pub fn component_dtype<'py>(py: Python<'py>, ty: &Type) -> PyResult<Bound<'py, PyAny>> {
    module(py)?.getattr("component_dtype")?.call1((ty.to_string(),))
}

/// An array, or a scalar, of a structured dtype as an array of numbers with a further axis, in the same memory; others as they are. A dtype
/// that is not that of the argument is an error.
pub fn as_numbers<'py>(value: Bound<'py, PyAny>, argument: &str, ty: &Type) -> PyResult<Bound<'py, PyAny>> {
    module(value.py())?.getattr("as_numbers")?.call1((value, argument, ty.to_string()))
}

/// The array of which `as_numbers` made one of numbers, or a view of an array of numbers with the dtype of the type.
pub fn as_elements<'py>(value: Bound<'py, PyAny>, ty: &Type) -> PyResult<Bound<'py, PyAny>> {
    let dtype = component_dtype(value.py(), ty)?;
    module(value.py())?.getattr("as_elements")?.call1((value, dtype))
}
