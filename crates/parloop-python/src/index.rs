//! Indices of arrays. Those that are arrays themselves are left to `parloop._indexing`.

use parloop_device::DType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyList, PyTuple, PyType};

use crate::array::{Array, assign, indexing};
use crate::error::Result;
use crate::ndarray::NdArray;

#[pymethods]
impl Array {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if is_advanced(index)? {
            return Ok(indexing(py)?.call_method1("take", (slf, index))?);
        }
        let layout = this.layout.select(index)?;
        let part = Array { layout, ..this.clone() };
        if part.layout.shape.is_empty() {
            return Ok(part.copy_to_host(py)?.get_item(())?);
        }
        Ok(Bound::new(py, part)?.into_any())
    }

    fn __setitem__(slf: &Bound<'_, Self>, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<()> {
        let (py, this) = (slf.py(), slf.get());
        if !this.writeable {
            return Err(PyValueError::new_err("the array is read-only").into());
        }
        if is_advanced(index)? {
            indexing(py)?.call_method1("put", (slf, index, value))?;
            return Ok(());
        }
        Ok(assign(py, &Array { layout: this.layout.select(index)?, ..this.clone() }, value)?)
    }
}

/// Whether an index has arrays or truth values in it, which select elements one by one.
fn is_advanced(index: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_array = |item: &Bound<'_, PyAny>| {
        if item.is_instance_of::<PyList>() || item.is_instance_of::<PyBool>() {
            return Ok(true);
        }
        if let Ok(array) = item.cast::<Array>() {
            let array = array.get();
            return Ok(!array.layout.shape.is_empty() || array.dtype == DType::Bool);
        }
        if let Some(array) = NdArray::of(item)? {
            return Ok(!array.shape().is_empty() || array.dtype() == Some(DType::Bool));
        }
        is_numpy_bool(item)
    };
    match index.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().try_fold(false, |found, item| Ok(found || is_array(&item)?)),
        Err(_) => is_array(index),
    }
}

fn is_numpy_bool(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    static BOOL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    item.is_instance(BOOL.import(item.py(), "numpy", "bool_")?)
}
