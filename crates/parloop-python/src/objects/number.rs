//! Numbers of objects as Python's own, and back.

use parloop_device::{Complex64, DType};
use parloop_kernel::Scalar;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::Result;
use crate::exceptions::Exception;
use crate::number::plain_number;
use crate::numpy_api;

/// A number as Python's own.
pub fn number(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Scalar::Int(value) => match i64::try_from(value) {
            Ok(value) => value.into_pyobject(py)?.into_any(),
            Err(_) => value.into_pyobject(py)?.into_any(),
        },
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
        Scalar::Address(value) => value.into_pyobject(py)?.into_any(),
    })
}

/// The number whose bytes these are, as Python's own or as NumPy's.
#[inline]
pub fn decoded(py: Python<'_>, bytes: [u64; 2], dtype: DType, is_numpy: bool) -> PyResult<Bound<'_, PyAny>> {
    if is_numpy {
        return numpy_api::scalar(py, bytes, dtype);
    }
    Ok(match dtype {
        DType::F64 => PyFloat::new(py, f64::from_bits(bytes[0])).into_any(),
        DType::I64 => (bytes[0] as i64).into_pyobject(py)?.into_any(),
        DType::I32 => (bytes[0] as i32).into_pyobject(py)?.into_any(),
        DType::F32 => PyFloat::new(py, f32::from_bits(bytes[0] as u32).into()).into_any(),
        _ => number(py, parloop_kernel::decode(bytes, dtype))?,
    })
}

/// The bytes of a number of eight bytes if it is plainly of the right kind.
#[inline]
pub fn encoded(dtype: DType, value: &Bound<'_, PyAny>) -> Option<u64> {
    if dtype == DType::F64 && value.is_exact_instance_of::<PyFloat>() {
        // SAFETY: it is a float.
        return Some(unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) }.to_bits());
    }
    if dtype == DType::I64 && value.is_exact_instance_of::<PyInt>() {
        let mut overflow = 0;
        // SAFETY: it is an int.
        let found = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
        return (overflow == 0).then_some(found as u64);
    }
    None
}

/// The number that an object is for one of NumPy's types; None if it is not one. These take an array or a list of one element, and leave
/// out what is behind the point where they are integers.
pub fn numpy_number(dtype: DType, object: &Bound<'_, PyAny>) -> Result<Option<Scalar>> {
    Ok(match scalar_of(object)? {
        Some(Scalar::Float(value)) if dtype.is_integer() && value.is_finite() => Some(Scalar::Int(value as i128)),
        None => match only_element(object)? {
            Some(element) => numpy_number(dtype, &element)?,
            None => None,
        },
        found => found,
    })
}

/// The element of an array, a list or a tuple that has one.
fn only_element<'py>(object: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(if object.len()? == 1 { Some(object.get_item(0)?) } else { None });
    }
    let size = object.getattr("size").and_then(|size| size.extract::<usize>());
    Ok(if size.is_ok_and(|size| size == 1) { Some(object.call_method0("item")?) } else { None })
}

/// The number that an object is; None if it is not one.
pub fn scalar_of(object: &Bound<'_, PyAny>) -> Result<Option<Scalar>> {
    if object.is_exact_instance_of::<PyFloat>() {
        // SAFETY: it is a float.
        return Ok(Some(Scalar::Float(unsafe { ffi::PyFloat_AsDouble(object.as_ptr()) })));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Scalar::Bool(object.is_truthy()?)));
    }
    if object.is_instance_of::<PyInt>() {
        let mut overflow = 0;
        // SAFETY: it is an int.
        let found = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
        if overflow == 0 {
            return Ok(Some(Scalar::Int(found.into())));
        }
        let wide = object.extract::<i128>();
        let too_large = |_| Exception::ObjectRangeError.error(format!("{object} does not fit into any numeric type")).into();
        return wide.map(|value| Some(Scalar::Int(value))).map_err(too_large);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::Float(object.extract()?)));
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Some(Scalar::Complex(Complex64::new(value.real(), value.imag()))));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(None);
    }
    match plain_number(object) {
        Some(number) => scalar_of(&number),
        None => Ok(None),
    }
}
