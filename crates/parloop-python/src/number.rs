//! The Python number that an object stands for, and what messages call an object.

use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt};

/// The Python number that an object of another type stands for: a NumPy scalar, an array of one element without axes, or an object
/// that converts itself.
pub fn plain_number<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let is_number = |number: &Bound<'py, PyAny>| {
        number.is_instance_of::<PyInt>() || number.is_instance_of::<PyFloat>() || number.is_instance_of::<PyComplex>()
    };
    let axes = value.getattr("ndim").and_then(|ndim| ndim.extract::<usize>()).ok();
    let methods: &[&str] = match axes {
        // A date's item is an integer, and text becomes a float, but neither is a number.
        Some(0) if value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")).is_ok_and(|kind| is_numeric(&kind)) => {
            &["item", "__index__", "__float__"]
        }
        Some(_) => &[],
        None => &["__index__", "__float__"],
    };
    methods.iter().find_map(|method| value.call_method0(*method).ok().filter(is_number))
}

/// Whether this letter stands for truth values, integers, floats or complex numbers.
fn is_numeric(kind: &Bound<'_, PyAny>) -> bool {
    kind.extract::<String>().is_ok_and(|kind| "biufc".contains(&*kind))
}

pub fn describe(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".into(), |name| format!("an object of type {name}"))
}
