//! Names, sizes, dimensions and indices, as Python gives them.

use std::sync::atomic::{AtomicU64, Ordering};

use parloop_device::DType;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyString};

use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::ndarray::{NdArray, as_array};
use crate::number::describe;
use crate::numpy_api;

/// The name that was given, or one that nothing else has.
pub fn name_of(name: Option<&Bound<'_, PyAny>>, kind: &str) -> Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    match name.filter(|name| !name.is_none()) {
        None => Ok(format!("{kind}_{}", COUNT.fetch_add(1, Ordering::Relaxed))),
        Some(name) => match name.cast::<PyString>() {
            Ok(name) => Ok(name.to_str()?.to_owned()),
            Err(_) => Err(Exception::NameTypeError.error(format!("a name must be a string, not {}", describe(name))).into()),
        },
    }
}

/// The integer value of an object; booleans and floats are not integers.
pub fn integer(object: &Bound<'_, PyAny>) -> Option<i64> {
    if object.is_instance_of::<PyBool>() {
        return None;
    }
    if object.is_instance_of::<PyInt>() || object.hasattr("__index__").unwrap_or(false) { object.extract().ok() } else { None }
}

/// The lengths of the axes of data: an integer or several, none less than `least`.
pub fn dim_of(object: &Bound<'_, PyAny>, of: &str, least: usize) -> Result<Vec<usize>> {
    let wrong = || -> Error {
        let found = object.repr().map_or_else(|_| describe(object), |text| text.to_string());
        let kind = if least == 0 { "a non-negative" } else { "a positive" };
        Exception::DimTypeError.error(format!("the dimension of `{of}` must be {kind} integer or a tuple of them, not {found}")).into()
    };
    let length = |item: &Bound<'_, PyAny>| integer(item).and_then(|value| usize::try_from(value).ok()).filter(|&value| value >= least);
    if let Some(length) = length(object) {
        return Ok(vec![length]);
    }
    if object.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let mut axes = Vec::new();
    for item in object.try_iter().map_err(|_| wrong())? {
        axes.push(length(&item?).ok_or_else(wrong)?);
    }
    if axes.is_empty() { Err(wrong()) } else { Ok(axes) }
}

/// The array itself or a copy, in C order and aligned.
fn in_order<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static REQUIRE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    REQUIRE.import(array.py(), "numpy", "require")?.call1((array, array.py().None(), "CA"))
}

/// The letter of the kind of an array's numbers.
fn kind_of(array: &Bound<'_, PyAny>) -> PyResult<String> {
    array.getattr("dtype")?.getattr("kind")?.extract()
}

/// An array of integers of any width, read in order.
pub struct Integers<'py> {
    array: Bound<'py, PyAny>,
    dtype: DType,
}

impl<'py> Integers<'py> {
    /// The integers that were given, or `wrong` of what was found.
    pub fn of(object: &Bound<'py, PyAny>, wrong: impl Fn(String) -> Error) -> Result<Integers<'py>> {
        let array = in_order(&as_array(object, None)?)?;
        let (dtype, size, name) = match NdArray::of(&array)? {
            Some(found) => (found.dtype(), found.size(), found.dtype_name()),
            None => (None, 0, describe(object)),
        };
        match dtype {
            Some(dtype) if dtype.is_integer() && dtype != DType::Bool => Ok(Integers { array, dtype }),
            // Of another byte order.
            None if matches!(kind_of(&array)?.as_str(), "i" | "u") => {
                let wide = if kind_of(&array)? == "u" { DType::U64 } else { DType::I64 };
                Integers::of(&as_array(&array, Some(wide))?, wrong)
            }
            // An empty list has no type that says anything.
            _ if size == 0 => Integers::of(&as_array(object, Some(DType::I64))?, wrong),
            _ => Err(wrong(name)),
        }
    }

    /// How many.
    pub fn len(&self) -> Result<usize> {
        Ok(NdArray::of(&self.array)?.map_or(0, |array| array.size()))
    }

    /// Those of 32 bits with a sign, in place.
    pub fn as_i32(&self) -> Result<Option<&[i32]>> {
        if self.dtype == DType::I32 { self.slice().map(Some) } else { Ok(None) }
    }

    /// Each of them, with its place.
    pub fn each(&self, visit: &mut dyn FnMut(usize, i128) -> Result<()>) -> Result<()> {
        match self.dtype {
            DType::I8 => self.visit::<i8>(visit),
            DType::I16 => self.visit::<i16>(visit),
            DType::I32 => self.visit::<i32>(visit),
            DType::I64 => self.visit::<i64>(visit),
            DType::U8 => self.visit::<u8>(visit),
            DType::U16 => self.visit::<u16>(visit),
            DType::U32 => self.visit::<u32>(visit),
            _ => self.visit::<u64>(visit),
        }
    }

    fn visit<T: Copy + Into<i128>>(&self, visit: &mut dyn FnMut(usize, i128) -> Result<()>) -> Result<()> {
        for (place, &value) in self.slice::<T>()?.iter().enumerate() {
            visit(place, value.into())?;
        }
        Ok(())
    }

    fn slice<T>(&self) -> Result<&[T]> {
        let Some(array) = NdArray::of(&self.array)? else { return Ok(&[]) };
        if array.size() == 0 {
            return Ok(&[]);
        }
        // SAFETY: `T` is the type that `dtype` names; the array is contiguous and aligned, and lives as long as `self`. It is read before
        // Python runs again.
        Ok(unsafe { std::slice::from_raw_parts(array.pointer().cast::<T>(), array.size()) })
    }
}

/// An array of these integers.
pub fn integers_array<'py>(py: Python<'py>, integers: &[i32]) -> Result<Bound<'py, PyAny>> {
    let array = numpy_api::empty(py, &[integers.len()], DType::I32)?;
    if let Some(found) = NdArray::of(&array)?
        && !integers.is_empty()
    {
        // SAFETY: the array was just made with as many elements of this type, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(found.pointer().cast::<i32>(), integers.len()) }.copy_from_slice(integers);
    }
    Ok(array)
}
