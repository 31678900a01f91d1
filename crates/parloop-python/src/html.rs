//! The HTML of notebooks, which `parloop._html` writes.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// The HTML of an object, by a function of `parloop._html`.
pub fn html<'py>(py: Python<'py>, function: &str, args: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("parloop._html")?.call_method1(function, args)
}
