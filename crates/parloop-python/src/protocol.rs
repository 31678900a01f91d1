//! Arrays of other libraries, by protocol: where their elements are, without a copy.

use parloop_device::{Device, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::dlpack;
use crate::error::Error;
use crate::foreign::{Foreign, ambiguous_stream, gpu_kind, stream_by_number};
use crate::layout::Layout;
use crate::ndarray::{NdArray, as_array, from_typestr};

impl<'py> Foreign<'py> {
    /// The elements behind any object that offers them, ready for work on `stream`; `None` when it offers none.
    pub fn of(object: &Bound<'py, PyAny>, stream: &Stream) -> PyResult<Option<Foreign<'py>>> {
        if let Some(array) = NdArray::of(object)? {
            return Foreign::from_numpy(array, object).map(Some);
        }
        if let Some(interface) = object.getattr_opt("__cuda_array_interface__")? {
            return Foreign::from_cuda_interface(&interface, object, stream).map(Some);
        }
        if object.hasattr("__dlpack__")? {
            return dlpack::import(object, stream).map(Some);
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

    fn from_cuda_interface(interface: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>, stream: &Stream) -> PyResult<Foreign<'py>> {
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
        if interface.get_item("mask")?.is_some_and(|mask| !mask.is_none()) {
            return Err(PyTypeError::new_err("an array with a mask was given, but kernels ignore masks; pass its data without the mask"));
        }
        let number = stream_of(interface)?;
        let mut found = Foreign { device: None, pointer, dtype, shape, strides, writeable: !read_only, owner: object.clone() }.checked()?;
        if found.size() > 0 {
            let device = Device::of_pointer(gpu_kind(), pointer).map_err(Error::from)?;
            if let Some(number) = number {
                let theirs = stream_by_number(&device, number)?;
                // Copies from another device use that device's default stream.
                let ours = if device.same(stream.device()) { stream.clone() } else { device.default_stream().map_err(Error::from)? };
                object.py().detach(|| ours.wait_for_stream(&theirs)).map_err(Error::from)?;
            }
            found.device = Some(device);
        }
        Ok(found)
    }
}

/// The stream on which the elements are ready, in version 3 of the interface; none where there is nothing to wait for.
fn stream_of(interface: &Bound<'_, PyDict>) -> PyResult<Option<i64>> {
    match interface.get_item("stream")? {
        Some(stream) if !stream.is_none() => match stream.extract::<i64>()? {
            0 => Err(ambiguous_stream()),
            number => Ok(Some(number)),
        },
        _ => Ok(None),
    }
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
