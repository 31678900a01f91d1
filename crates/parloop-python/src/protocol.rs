//! Arrays of other libraries, by protocol: where their elements are, without a copy.

use parloop_device::Device;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::dlpack;
use crate::foreign::{Foreign, gpu_device};
use crate::layout::Layout;
use crate::ndarray::{NdArray, as_array, from_typestr};

impl<'py> Foreign<'py> {
    /// The elements behind any object that offers them; `None` when it offers none.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Foreign<'py>>> {
        if let Some(array) = NdArray::of(object)? {
            return Foreign::from_numpy(array, object).map(Some);
        }
        if let Ok(interface) = object.getattr("__cuda_array_interface__") {
            return Foreign::from_cuda_interface(&interface, object).map(Some);
        }
        if object.hasattr("__dlpack__")? {
            return dlpack::import(object).map(Some);
        }
        if object.hasattr("__array_interface__")? || is_buffer(object)? {
            let array = as_array(object, None)?;
            return match NdArray::of(&array)? {
                Some(found) => Foreign::from_numpy(found, &array).map(Some),
                None => Ok(None),
            };
        }
        Ok(None)
    }

    fn from_numpy(array: NdArray<'_, 'py>, object: &Bound<'py, PyAny>) -> PyResult<Foreign<'py>> {
        let unsupported = || PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name()));
        Ok(Foreign {
            device: None,
            pointer: array.pointer() as u64,
            dtype: array.dtype().ok_or_else(unsupported)?,
            shape: array.shape().iter().map(|&len| len as usize).collect(),
            strides: array.strides().to_vec(),
            writeable: array.is_writeable(),
            owner: object.clone(),
        })
    }

    fn from_cuda_interface(interface: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> PyResult<Foreign<'py>> {
        let interface = interface.cast::<PyDict>().map_err(|_| PyTypeError::new_err("__cuda_array_interface__ is not a dict"))?;
        let item =
            |key: &str| interface.get_item(key)?.ok_or_else(|| PyValueError::new_err(format!("__cuda_array_interface__ lacks {key:?}")));
        let (pointer, read_only): (u64, bool) = item("data")?.extract()?;
        let typestr: String = item("typestr")?.extract()?;
        let dtype = from_typestr(&typestr).ok_or_else(|| PyTypeError::new_err(format!("dtype {typestr} is not supported")))?;
        let shape: Vec<usize> = item("shape")?.extract()?;
        let strides = match interface.get_item("strides")? {
            Some(strides) if !strides.is_none() => strides.cast::<PyTuple>()?.extract()?,
            _ => Layout::dense(&shape, dtype.size()).strides,
        };
        let device = if pointer == 0 { None } else { Some(pointer_device(object)?) };
        Ok(Foreign { device, pointer, dtype, shape, strides, writeable: !read_only, owner: object.clone() })
    }
}

/// The CUDA (or HIP) device of an array: the one it names, else the first.
fn pointer_device(object: &Bound<'_, PyAny>) -> PyResult<Device> {
    let index = object
        .getattr("device")
        .ok()
        .and_then(|device| device.getattr("id").or_else(|_| device.getattr("index")).ok())
        .and_then(|index| index.extract::<usize>().ok())
        .unwrap_or(0);
    gpu_device(index)
}

fn is_buffer(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        return Ok(true);
    }
    // The plain test (`PyObject_CheckBuffer`) is not in the stable interface of Python 3.10, so a view is tried.
    let py = object.py();
    match py.get_type::<PyMemoryView>().call1((object,)) {
        Ok(_) => Ok(true),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(false),
        Err(error) => Err(error),
    }
}
