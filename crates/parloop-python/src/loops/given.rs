//! What a call of a loop kernel is given and gives back: numbers, host arrays and arrays of a device; outputs that it makes.

use parloop_device::{DType, DeviceKind};
use parloop_kernel as ker;
use parloop_kernel::Scalar;
use parloop_loop::Name;
use parloop_loop::error::LoopError;
use parloop_loop::run::{GivenArgument, GivenArray, GivenObject, PlannedArg, PlannedField, PlannedKind, RunError};
use parloop_loop::syntax::{Argument, ArgumentKind, LoopKernel, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use smallvec::SmallVec;

use super::components::as_numbers;
use crate::array::Array;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::layout::{Layout, is_dense};
use crate::ndarray::{NdArray, as_contiguous};
use crate::number::{describe, plain_number};
use crate::numpy_api;
use crate::objects::argument::object_of;
use crate::objects::object::Object;

/// What was given for an argument.
pub enum Value<'py> {
    Missing,
    Number(Scalar),
    /// Host memory that the kernel uses in place.
    Host(Bound<'py, PyAny>),
    /// Memory of the device; the host array it is copied back to after the call. Boxed: calls on host memory move small values.
    Device(Box<(Array, Option<Bound<'py, PyAny>>)>),
    /// A typed object, and what was given: itself, or what it is inside of.
    Object(Bound<'py, Object>, Bound<'py, PyAny>),
}

/// What was given for each argument of a kernel.
pub type ArgumentValues<'py> = SmallVec<[Value<'py>; 8]>;

/// Sorts what was given into numbers and arrays that the device can use.
pub fn take<'py>(context: &ker::Context, kernel: &LoopKernel, index: usize, value: Bound<'py, PyAny>) -> Result<Value<'py>> {
    if value.is_none() {
        return Ok(Value::Missing);
    }
    let argument = &kernel.arguments[index];
    if matches!(argument.kind, ArgumentKind::Value) {
        return Ok(Value::Number(number(&value)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "argument `{}` of kernel `{}` must be a number, not {}",
                argument.name,
                kernel.name,
                describe(&value)
            ))
        })?));
    }
    if matches!(argument.kind, ArgumentKind::Object) {
        return take_object(context, kernel, index, value);
    }
    let value = match argument.ty.as_ref().filter(|ty| ty.has_components()) {
        Some(ty) => as_numbers(value, &argument.name, ty)?,
        None if argument.ty.is_none() && is_structured(&value)? => {
            let (name, dtype) = (&argument.name, value.getattr("dtype")?);
            return Err(PyTypeError::new_err(format!(
                "argument `{name}` of kernel `{}` was declared without a dtype and got an array of dtype {dtype}; declare vectors and records: \
                 GlobalArg(\"{name}\", dtype)",
                kernel.name
            ))
            .into());
        }
        None => value,
    };
    let on_cpu = context.device().kind() == DeviceKind::Cpu;
    if NdArray::of(&value)?.is_some() {
        if on_cpu {
            return Ok(Value::Host(value));
        }
        let what = || format!("host data for argument `{}` of kernel `{}`", argument.name, kernel.name);
        context.stream().refuse_recording(what, Some("pass an array of the context"))?;
        if let Some(array) = strided_copy(context, argument, &value)? {
            return Ok(Value::Device(Box::new((array, Some(value)))));
        }
        // Fortran's order is kept: the transpose is copied, and its axes turned round again.
        let is_fortran = value.getattr("flags")?.getattr("fnc")?.is_truthy()?;
        let mut array = match is_fortran {
            true => Array::from_object(context, &value.getattr("T")?, None)?,
            false => Array::from_object(context, &as_contiguous(&value)?, None)?,
        };
        if is_fortran {
            array.layout.shape.reverse();
            array.layout.strides.reverse();
        }
        // Without axes it stays; numpy's contiguous arrays have one at least.
        if value.getattr("ndim")?.extract::<usize>()? == 0 {
            array.layout.shape.clear();
            array.layout.strides.clear();
        }
        return Ok(Value::Device(Box::new((array, Some(value)))));
    }
    Ok(Value::Device(Box::new((Array::from_object(context, &value, None)?, None))))
}

/// A copy on the device of all memory from the first to the last element, where the kernel says how the axes lie and they lie in neither C's
/// nor Fortran's order.
fn strided_copy(context: &ker::Context, argument: &Argument, value: &Bound<'_, PyAny>) -> Result<Option<Array>> {
    let ArgumentKind::Array { layout, .. } = &argument.kind else { return Ok(None) };
    let Some(host) = NdArray::of(value)? else { return Ok(None) };
    let Some(itemsize) = host.dtype().map(|dtype| dtype.size()) else { return Ok(None) };
    let shape: Vec<usize> = host.shape().iter().map(|&length| length as usize).collect();
    let strides: Vec<isize> = host.strides().to_vec();
    let fits = |(&length, &stride): (&usize, &isize)| length > 0 && (length == 1 || stride > 0 && stride % itemsize as isize == 0);
    let is_usual = is_dense(&shape, &strides, itemsize, ker::Order::C) || is_dense(&shape, &strides, itemsize, ker::Order::Fortran);
    if layout.dim_tags.is_empty() || is_usual || !shape.iter().zip(&strides).all(fits) {
        return Ok(None);
    }
    let last: isize = shape.iter().zip(&strides).map(|(&length, &stride)| (length as isize - 1) * stride).sum();
    let elements = last as usize / itemsize + 1;
    let tricks = value.py().import("numpy.lib.stride_tricks")?;
    let flat = tricks.call_method1("as_strided", (value, (elements,), (itemsize,)))?;
    let mut array = Array::from_object(context, &flat, None)?;
    (array.layout.shape, array.layout.strides) = (shape, strides);
    Ok(Some(array))
}

/// An object of the class that is asked for, in memory that the device reaches.
fn take_object<'py>(context: &ker::Context, kernel: &LoopKernel, index: usize, value: Bound<'py, PyAny>) -> Result<Value<'py>> {
    let argument = &kernel.arguments[index];
    let object = object_of(&value)?.ok_or_else(|| {
        let class = argument.ty.as_ref().map_or_else(|| "a class of parloop.objects".to_owned(), |ty| format!("class {}", class_name(ty)));
        let (name, given) = (&argument.name, describe(&value));
        PyTypeError::new_err(format!("argument `{name}` of kernel `{}` must be an object of {class}, not {given}", kernel.name))
    })?;
    let body = object.get().body()?;
    body.view.check_alive()?;
    let found = body.ty.get().in_loops()?;
    if let Some(expected) = argument.ty.as_ref().filter(|expected| *expected != found) {
        let (expected, found) = (class_name(expected), class_name(found));
        let hint = if expected == found { "; it is another class of that name: create the kernel with the current one" } else { "" };
        let (kernel, argument) = (kernel.name.clone(), argument.name.clone());
        return Err(LoopError::from(RunError::WrongClass { kernel, argument, expected: expected.into(), found: found.into(), hint }).into());
    }
    let (own, theirs) = (context.device(), body.view.buffer().context().device());
    let is_reached = own.same(theirs) || own.kind() == DeviceKind::Cpu && theirs.kind() == DeviceKind::Cpu;
    if !is_reached {
        let reason = format!(
            "argument `{}` of kernel `{}` is an object on {}, but the kernel runs on {}; call it with the object's context, or pass a copy \
             made there (`_context=`)",
            argument.name,
            kernel.name,
            theirs.id(),
            own.id()
        );
        return Err(Exception::ArgumentValueError.error(reason).into());
    }
    Ok(Value::Object(object, value))
}

fn class_name(ty: &Type) -> String {
    match ty {
        Type::Class(class) => class.name().to_string(),
        other => other.to_string(),
    }
}

/// The number that an object is.
pub fn number(value: &Bound<'_, PyAny>) -> Result<Option<Scalar>> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(Scalar::Bool(value.is_truthy()?)));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Some(Scalar::Int(value.extract()?)));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.extract()?)));
    }
    if let Ok(value) = value.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Some(Scalar::Complex(parloop_device::Complex64::new(value.real(), value.imag()))));
    }
    plain_number(value).map_or(Ok(None), |number_of| number(&number_of))
}

/// Whether a value is an array of vectors or records.
fn is_structured(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.getattr_opt("dtype")? {
        Some(dtype) => Ok(dtype.getattr_opt("names")?.is_some_and(|names| !names.is_none())),
        None => Ok(false),
    }
}

/// The type that a value gives to an argument which has none.
pub fn type_given(value: &Value<'_>) -> Result<Option<Type>> {
    Ok(match value {
        Value::Missing | Value::Number(Scalar::Int(_) | Scalar::Bool(_) | Scalar::Address(_)) => None,
        Value::Number(Scalar::Float(_)) => Some(DType::F64.into()),
        Value::Number(Scalar::Complex(_)) => Some(DType::C128.into()),
        Value::Device(device) => Some(device.0.dtype.into()),
        Value::Host(object) => NdArray::of(object)?.and_then(|array| array.dtype()).map(Type::from),
        Value::Object(object, _) => Some(object.get().body()?.ty.get().in_loops()?.clone()),
    })
}

/// What the plan of a call must know of it.
pub fn shape_of(value: &Value<'_>, kernel: &Name, arg: &PlannedArg) -> Result<GivenArgument> {
    let in_elements = |array: GivenArray| Ok::<_, LoopError>(GivenArgument::Array(array.in_elements(kernel, arg)?));
    Ok(match value {
        Value::Object(object, _) => {
            let PlannedKind::Object { fields, is_located, .. } = &arg.kind else { return Ok(GivenArgument::Number) };
            let body = object.get().body()?;
            let lengths = |field: &PlannedField| Ok(body.lengths(&field.path)?.iter().map(|&length| length as i64).collect());
            GivenArgument::Object(GivenObject::of(fields, *is_located, lengths, |field| body.extents(&field.path))?)
        }
        Value::Missing => GivenArgument::Missing,
        Value::Number(Scalar::Int(value)) => i64::try_from(*value).map_or(GivenArgument::Number, GivenArgument::Int),
        Value::Number(_) => GivenArgument::Number,
        Value::Device(device) => {
            let array = &device.0;
            in_elements(GivenArray {
                dtype: array.dtype,
                numbers: 1,
                shape: array.layout.shape.iter().map(|&length| length as i64).collect(),
                strides: array.layout.strides.iter().map(|&stride| stride as i64).collect(),
                room: Some((array.memory.len().saturating_sub(array.layout.offset) / array.dtype.size()) as i64),
            })?
        }
        Value::Host(object) => {
            let array = NdArray::of(object)?.ok_or_else(|| PyTypeError::new_err("it is not an array"))?;
            let dtype = array.dtype().ok_or_else(|| PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name())))?;
            in_elements(GivenArray {
                dtype,
                numbers: 1,
                shape: array.shape().iter().map(|&length| length as i64).collect(),
                strides: array.strides().iter().map(|&stride| stride as i64).collect(),
                room: None,
            })?
        }
    })
}

/// Memory of the host for an output that is not given, of zeros if the kernel sees what was there.
pub fn host_output<'py>(py: Python<'py>, shape: &[usize], dtype: DType, zeros: bool) -> PyResult<Bound<'py, PyAny>> {
    let array = numpy_api::empty(py, shape, dtype)?;
    if zeros {
        array.call_method1("fill", (0,))?;
    }
    Ok(array)
}

/// Memory for an output that is not given, of zeros if the kernel sees what was there.
pub fn make_output<'py>(
    py: Python<'py>,
    context: &ker::Context,
    shape: &[usize],
    strides: &[Option<i64>],
    dtype: DType,
    zeros: bool,
) -> Result<Value<'py>> {
    let on_device = |elements: &[usize]| -> Result<Array> {
        let array = Array::empty(context, elements, dtype)?;
        if zeros {
            array.zero(py, context)?;
        }
        Ok(array)
    };
    let dense = Layout::dense(shape, dtype.size());
    let size = dtype.size() as i64;
    let wanted: Vec<isize> =
        strides.iter().zip(&dense.strides).map(|(stride, &own)| stride.map_or(own, |stride| (stride * size) as isize)).collect();
    let is_dense = is_dense(shape, &wanted, dtype.size(), ker::Order::C);
    if context.device().kind() == DeviceKind::Cpu && is_dense {
        return Ok(Value::Host(host_output(py, shape, dtype, zeros)?));
    }
    if is_dense {
        return Ok(Value::Device(Box::new((on_device(shape)?, None))));
    }
    // As many elements as the farthest one needs.
    let mut last: usize = 0;
    for (&length, &stride) in shape.iter().zip(&wanted) {
        let stride = usize::try_from(stride).map_err(|_| PyValueError::new_err("an output cannot be created with negative strides"))?;
        last += length.saturating_sub(1) * stride;
    }
    let elements = if shape.contains(&0) { 0 } else { last / dtype.size() + 1 };
    let array = on_device(&[elements])?;
    let layout = Layout { shape: shape.to_vec(), strides: wanted, offset: 0, itemsize: dtype.size() };
    Ok(Value::Device(Box::new((Array { layout, ..array }, None))))
}

/// The object that a call returns for an output.
pub fn result_of<'py>(py: Python<'py>, value: Value<'py>, as_host: bool) -> Result<Option<Bound<'py, PyAny>>> {
    Ok(match value {
        Value::Host(object) | Value::Object(_, object) => Some(object),
        Value::Device(device) => {
            let (array, host) = *device;
            let object = Bound::new(py, array)?.into_any();
            let read = || object.cast::<Array>().map_err(PyErr::from)?.get().to_numpy(&object);
            Some(match host {
                Some(host) => {
                    host.set_item(py.Ellipsis(), read()?)?;
                    host
                }
                None if as_host => read()?,
                None => object,
            })
        }
        Value::Missing | Value::Number(_) => None,
    })
}
