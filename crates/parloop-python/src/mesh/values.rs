//! Transfers values between NumPy and storage: shared if the layout matches, copied otherwise.

use parloop_device::{DType, Device, Memory};
use parloop_mesh as mesh;
use pyo3::exceptions::{PyDeprecationWarning, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::layout::Layout;
use crate::ndarray::{NdArray, as_array, dtype_of, numpy_dtype};
use crate::numpy_api;
use crate::owner::Owner;
use crate::recording::check_storage;

/// Warns that `copy` with an argument is `copy_to`.
pub fn warn_of_copy(py: Python<'_>) -> PyResult<()> {
    let words = c"copy() takes no arguments and returns a copy; use copy_to(other) to copy into existing data";
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), words, 1)
}

/// The type that was given.
pub fn dtype_given(dtype: Option<&Bound<'_, PyAny>>) -> Result<Option<DType>> {
    let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else { return Ok(None) };
    dtype_of(dtype).map(Some).map_err(|error| Exception::DataTypeError.error(error.value(dtype.py()).to_string()).into())
}

/// Storage with these values, or zeros: it shares an array with a matching layout and copies others.
pub fn storage<'py>(
    py: Python<'py>,
    values: Option<&Bound<'py, PyAny>>,
    dtype: Option<DType>,
    rows: usize,
    count: usize,
) -> Result<mesh::Storage> {
    let Some(values) = values.filter(|values| !values.is_none()) else {
        return Ok(mesh::Storage::zeros(dtype.unwrap_or(DType::F64), rows, count)?);
    };
    let array = required(&converted(values, dtype)?)?;
    let found = NdArray::of(&array)?.ok_or_else(|| PyTypeError::new_err("numpy.require did not return an array"))?;
    let dtype = found.dtype().ok_or_else(|| unsupported(&found))?;
    let asked = rows.saturating_mul(count);
    if found.size() != asked {
        return Err(mesh::MeshError::Length { asked, found: found.size() }.into());
    }
    if asked == 0 {
        let storage = mesh::Storage::zeros(dtype, rows, count)?;
        // As where there are values: processes without elements must not think otherwise about the ghosts.
        storage.set_ghosts_fresh(false);
        return Ok(storage);
    }
    let address = found.pointer() as u64;
    let owner = Box::new(Owner::of(&array)?);
    // SAFETY: the array has that many bytes, and `owner` keeps it as long as the storage lives.
    let memory = unsafe { Device::open("cpu")?.adopt_memory(address, asked * dtype.size())? };
    let is_there = |owner: &(dyn std::any::Any + Send + Sync)| {
        owner.downcast_ref::<Owner>().is_some_and(|owner| owner.seen().is_there(py).unwrap_or(false))
    };
    Ok(mesh::Storage::shared_where(dtype, rows, count, memory, owner, &is_there)?)
}

/// An array of these values in that type. Numbers that the type cannot hold are an error.
pub fn converted<'py>(values: &Bound<'py, PyAny>, dtype: Option<DType>) -> Result<Bound<'py, PyAny>> {
    let array = as_array(values, None).map_err(|error| not_numbers(values.py(), error))?;
    let found = NdArray::of(&array)?.and_then(|array| array.dtype());
    let Some(dtype) = dtype else { return Ok(array) };
    if found == Some(dtype) {
        return Ok(array);
    }
    let py = values.py();
    let converted = match found {
        // Of other types, as text or objects, NumPy says itself what is wrong.
        None => as_array(values, Some(dtype)).map_err(|error| not_numbers(py, error))?,
        // NumPy warns about discarded imaginary parts; here nonzero ones are an error.
        Some(found) if found.is_complex() && !dtype.is_complex() => {
            array.getattr("real")?.call_method1("astype", (numpy_dtype(py, dtype)?,))?
        }
        Some(_) => array.call_method1("astype", (numpy_dtype(py, dtype)?,))?,
    };
    if let Some(found) = found
        && !keeps_values(found, dtype)
        && !array_equal(&array, &converted)?
    {
        let message = format!("numbers of type {found} do not all fit into {dtype}; convert them first");
        return Err(Exception::DataValueError.error(message).into());
    }
    Ok(converted)
}

/// Whether every value of one type can be represented in the other, up to rounding.
fn keeps_values(from: DType, to: DType) -> bool {
    let rank = |dtype: DType| match dtype {
        DType::Bool => 0,
        _ if dtype.is_integer() => 1,
        _ if dtype.is_complex() => 3,
        _ => 2,
    };
    rank(to) > rank(from) || (rank(to) == rank(from) && rank(to) >= 2)
}

fn array_equal(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    static EQUAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EQUAL.import(one.py(), "numpy", "array_equal")?.call1((one, other))?.is_truthy()
}

/// The array itself or a copy, in C order, aligned and writeable.
fn required<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static REQUIRE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    REQUIRE.import(array.py(), "numpy", "require")?.call1((array, array.py().None(), "CAW"))
}

fn unsupported(array: &NdArray<'_, '_>) -> Error {
    Exception::DataTypeError.error(format!("numbers of type {} are not supported", array.dtype_name())).into()
}

fn not_numbers(py: Python<'_>, error: PyErr) -> Error {
    let message = format!("the values cannot be converted: {}", error.value(py));
    if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyOverflowError>(py) {
        Exception::DataValueError.error(message).into()
    } else if error.is_instance_of::<PyTypeError>(py) {
        Exception::DataTypeError.error(message).into()
    } else {
        error.into()
    }
}

/// The first elements of the host's memory as an array of that shape, which keeps `owner`.
///
/// # Safety
/// `owner` keeps the memory, which is the host's and has that many numbers.
pub unsafe fn host_view<'py>(
    owner: Bound<'py, PyAny>,
    memory: &Memory,
    dtype: DType,
    shape: &[usize],
    is_writeable: bool,
) -> Result<Bound<'py, PyAny>> {
    let layout = Layout::dense(shape, dtype.size());
    let base = memory.handle() as *mut u8;
    // SAFETY: the caller guarantees it.
    Ok(unsafe {
        match is_writeable {
            true => numpy_api::view(owner, base, dtype, &layout)?,
            false => numpy_api::read_only_view(owner, base, dtype, &layout)?,
        }
    })
}

/// What numbers are shown for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be looked at.
    Look,
    /// To be changed here and there.
    Change,
    /// To be written, all of them.
    Replace,
}

impl Purpose {
    /// Whether they may be written.
    pub fn writes(self) -> bool {
        self != Purpose::Look
    }
}

/// Brings the numbers to the host unless they are to be replaced, without holding Python.
pub fn to_host<'a>(py: Python<'_>, storage: &'a mesh::Storage, purpose: Purpose) -> Result<&'a Memory> {
    check_storage(py, storage)?;
    Ok(py.detach(|| {
        let numbers = match purpose {
            Purpose::Look => storage.host(),
            Purpose::Change => storage.host_mut(),
            Purpose::Replace => storage.host_to_replace(),
        };
        numbers.map(mesh::HostNumbers::unprotected)
    })?)
}
