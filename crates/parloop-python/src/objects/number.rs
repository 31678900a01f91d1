//! Numbers of objects as Python's own, and back.

use parloop_device::{Complex64, DType};
use parloop_kernel::Scalar;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString};

use crate::error::Result;
use crate::exceptions::Exception;
use crate::number::plain_number;

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

/// The number at an address.
///
/// # Safety
/// `dtype.size()` readable bytes at `at`.
#[inline]
pub unsafe fn load(py: Python<'_>, at: *const u8, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the caller's promise is the one asked for.
    unsafe {
        Ok(match dtype {
            DType::F64 => PyFloat::new(py, at.cast::<f64>().read_unaligned()).into_any(),
            DType::I64 => at.cast::<i64>().read_unaligned().into_pyobject(py)?.into_any(),
            DType::I32 => at.cast::<i32>().read_unaligned().into_pyobject(py)?.into_any(),
            DType::F32 => PyFloat::new(py, at.cast::<f32>().read_unaligned().into()).into_any(),
            _ => {
                let mut bytes = [0u64; 2];
                std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr().cast::<u8>(), dtype.size());
                number(py, parloop_kernel::decode(bytes, dtype))?
            }
        })
    }
}

/// Writes a number at an address if it is plainly of the right kind; whether it was.
///
/// # Safety
/// `dtype.size()` writable bytes at `at`.
#[inline]
pub unsafe fn store(at: *mut u8, dtype: DType, value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the caller's promise is the one asked for; the exact types were looked at.
    unsafe {
        if dtype == DType::F64 && value.is_exact_instance_of::<PyFloat>() {
            at.cast::<f64>().write_unaligned(ffi::PyFloat_AsDouble(value.as_ptr()));
            return true;
        }
        if dtype == DType::I64 && value.is_exact_instance_of::<PyInt>() {
            let mut overflow = 0;
            let found = ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow);
            if overflow == 0 {
                at.cast::<i64>().write_unaligned(found);
                return true;
            }
        }
        false
    }
}

/// The number that an object is; None if it is none.
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
        let too_large = |_| Exception::ObjectRangeError.error(format!("{object} does not fit into any type of number")).into();
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
