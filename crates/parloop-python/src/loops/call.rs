//! Calls of loop kernels: types and sizes from the arrays that are given, outputs made, launches.

use std::sync::Arc;

use parloop_device::{DType, DeviceKind, Memory};
use parloop_kernel as ker;
use parloop_kernel::{Items, Kept, Scalar, Slot, Slots, encode};
use parloop_loop::Name;
use parloop_loop::error::LoopError;
use parloop_loop::run::{Executable, Feed, Given, GivenArray, PlannedArg, PlannedField, PlannedKind, ReadyLaunch, RunError, Values};
use parloop_loop::syntax::{ArgumentKind, LoopKernel, Program, Type};
use parloop_object::Hold;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyTuple};
use smallvec::SmallVec;

use super::program::LoopProgram;
use crate::argument::{describe, plain_number};
use crate::array::Array;
use crate::context::Context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::index::Layout;
use crate::ndarray::{NdArray, as_contiguous};
use crate::numpy_api;
use crate::objects::argument::object_of;
use crate::objects::object::Object;
use crate::recording::Watched;
use crate::stream::Event;

/// A kernel compiled for a context and for types.
pub struct Compiled {
    context: ker::Context,
    entry: Name,
    /// The types of arguments that have none in the program.
    types: Vec<(usize, Type)>,
    executable: Executable,
    returns_dict: bool,
}

/// What is kept of the last call, for a report.
pub struct LastCall {
    pub compiled: Arc<Compiled>,
    pub sizes: Values,
    /// On a CPU, which is done when the call is.
    pub took: std::time::Duration,
    /// On other devices: before and behind the launches.
    pub events: Option<(parloop_device::Event, parloop_device::Event)>,
}

impl Compiled {
    pub fn entry(&self) -> &Name {
        &self.entry
    }

    pub fn context(&self) -> &ker::Context {
        &self.context
    }

    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    pub fn types(&self) -> &[(usize, Type)] {
        &self.types
    }
}

/// What was given for an argument.
enum Value<'py> {
    Missing,
    Number(Scalar),
    /// Host memory that the kernel uses in place.
    Host(Bound<'py, PyAny>),
    /// Memory of the device; the host array it is copied back to after the call.
    Device(Array, Option<Bound<'py, PyAny>>),
    /// A typed object, and what was given: itself, or what it is inside of.
    Object(Bound<'py, Object>, Bound<'py, PyAny>),
}

pub fn call<'py>(
    slf: &Bound<'py, LoopProgram>,
    args: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
) -> Result<Bound<'py, PyAny>> {
    let py = slf.py();
    // A queue of pyopencl's: its arrays go in and come out, which Python does.
    if let Ok(first) = args.get_item(0)
        && !first.is_instance_of::<Context>()
        && first.hasattr("int_ptr")?
    {
        return Ok(py.import("parloop.loops._opencl")?.getattr("call")?.call1((slf, first, named))?);
    }
    let program = &slf.get().inner;
    let (mut entry, mut out_host, mut by_name) = (None, None, false);
    let mut given: SmallVec<[(Bound<'py, PyString>, Bound<'py, PyAny>); 8]> = SmallVec::new();
    for (name, value) in named.into_iter().flatten() {
        let name = name.cast_into::<PyString>().map_err(PyErr::from)?;
        match name.to_str()? {
            "entrypoint" => entry = Some(value.extract::<String>()?),
            "_by_name" => by_name = value.is_truthy()?,
            "out_host" => out_host = value.extract::<Option<bool>>()?,
            "allocator" | "wait_for" | "no_run" | "warn_numpy" => {}
            _ => given.push((name, value)),
        }
    }
    let entry: Name = match entry {
        Some(entry) => entry.into(),
        None => program.only_entry()?.clone(),
    };
    let kernel = program.kernel(&entry).ok_or_else(|| LoopError::NoEntry { names: program.entrypoints.iter().cloned().collect() })?;
    if args.len() > 1 {
        let reason =
            format!("kernel `{entry}` takes a context by position and its arguments by name, but {} positions were given", args.len());
        return Err(PyTypeError::new_err(reason).into());
    }
    let context = match args.get_item(0) {
        Ok(first) => Context::of(Some(&first), py)?.inner,
        Err(_) => Context::of(None, py)?.inner,
    };

    let mut values: SmallVec<[Value<'py>; 8]> = kernel.arguments.iter().map(|_| Value::Missing).collect();
    let mut any_host = false;
    for (name, value) in given {
        let name = name.to_str()?;
        let index = kernel.arguments.iter().position(|argument| argument.name == name).ok_or_else(|| unknown(kernel, name))?;
        values[index] = take(&context, kernel, index, value)?;
        any_host |= matches!(values[index], Value::Host(_) | Value::Device(_, Some(_)));
    }
    let compiled = compiled_for(py, slf.get(), kernel, &entry, &context, &values)?;
    let plan = compiled.executable.plan();
    let mut given = values.iter().zip(plan.args()).map(|(value, arg)| shape_of(value, arg)).collect::<Result<SmallVec<[Given; 8]>>>()?;
    let mut sizes = plan.resolve(&given).map_err(LoopError::from)?;
    let mut is_any_made = false;
    for (index, arg) in plan.args().iter().enumerate() {
        if let (Value::Missing, PlannedKind::Array { dtype, .. }) = (&values[index], &arg.kind) {
            let shape = plan.output_shape(arg, &sizes).map_err(LoopError::from)?;
            let shape: SmallVec<[usize; 4]> = shape.iter().map(|&length| length as usize).collect();
            let strides = plan.output_strides(arg, &sizes).map_err(LoopError::from)?;
            values[index] = make_output(py, &context, &shape, &strides, *dtype)?;
            given[index] = shape_of(&values[index], arg)?;
            is_any_made = true;
        }
    }
    // Strides and offsets that each call finds are those of the outputs that were made.
    if is_any_made && sizes.iter().any(Option::is_none) {
        sizes = plan.resolve(&given).map_err(LoopError::from)?;
    }
    let is_recorded = context.is_recording();
    let began = std::time::Instant::now();
    let start = match context.device().kind() {
        DeviceKind::Cpu => None,
        _ if is_recorded => None,
        _ => Some(context.stream().record().map_err(ker::KernelError::from)?),
    };
    run(py, &compiled, &values, &given, &sizes)?;
    let took = began.elapsed();
    let as_host = out_host.unwrap_or(any_host) || context.device().kind() == DeviceKind::Cpu;
    let mut results: SmallVec<[(&Name, Bound<'py, PyAny>); 4]> = SmallVec::new();
    for (arg, value) in plan.args().iter().zip(values) {
        if arg.is_output
            && let Some(result) = result_of(py, value, as_host)?
        {
            results.push((&arg.name, result));
        }
    }
    // A recorded call is at no point of the stream yet.
    let end = if is_recorded { context.device().create_event() } else { context.stream().record() };
    let end = end.map_err(ker::KernelError::from)?;
    if !is_recorded {
        *lock(&slf.get().last) =
            Some(LastCall { compiled: compiled.clone(), sizes: sizes.clone(), took, events: start.map(|start| (start, end.clone())) });
    }
    let event = Bound::new(py, Event { inner: end })?.into_any();
    let results = match compiled.returns_dict || by_name {
        true => {
            let dict = PyDict::new(py);
            for (name, result) in results {
                dict.set_item(name.as_str(), result)?;
            }
            dict.into_any()
        }
        false => PyTuple::new(py, results.into_iter().map(|(_, result)| result))?.into_any(),
    };
    Ok(PyTuple::new(py, [event, results])?.into_any())
}

fn unknown(kernel: &LoopKernel, name: &str) -> LoopError {
    let names = kernel.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", ");
    RunError::UnknownArgument { kernel: kernel.name.clone(), argument: name.into(), names }.into()
}

/// Sorts what was given into numbers and arrays that the device can use.
fn take<'py>(context: &ker::Context, kernel: &LoopKernel, index: usize, value: Bound<'py, PyAny>) -> Result<Value<'py>> {
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
    let on_cpu = context.device().kind() == DeviceKind::Cpu;
    if NdArray::of(&value)?.is_some() {
        if on_cpu {
            return Ok(Value::Host(value));
        }
        let what = || format!("host data for argument `{}` of kernel `{}`", argument.name, kernel.name);
        context.stream().refuse_recording(what, Some("pass an array of the context"))?;
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
        return Ok(Value::Device(array, Some(value)));
    }
    Ok(Value::Device(Array::from_object(context, &value, None)?, None))
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
        let hint = if expected == found { "; it is another class of that name: make the kernel with the present one" } else { "" };
        let (kernel, argument) = (kernel.name.clone(), argument.name.clone());
        return Err(LoopError::from(RunError::WrongClass { kernel, argument, expected: expected.into(), found: found.into(), hint }).into());
    }
    let (own, theirs) = (context.device(), body.view.buffer().context().device());
    if !own.same(theirs) && !(own.kind() == DeviceKind::Cpu && theirs.kind() == DeviceKind::Cpu) {
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
        Type::Class(class) => class.name.to_string(),
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

/// The type that a value gives to an argument which has none.
fn type_given(value: &Value<'_>) -> Result<Option<Type>> {
    Ok(match value {
        Value::Missing | Value::Number(Scalar::Int(_) | Scalar::Bool(_) | Scalar::Address(_)) => None,
        Value::Number(Scalar::Float(_)) => Some(DType::F64.into()),
        Value::Number(Scalar::Complex(_)) => Some(DType::C128.into()),
        Value::Device(array, _) => Some(array.dtype.into()),
        Value::Host(object) => NdArray::of(object)?.and_then(|array| array.dtype()).map(Type::from),
        Value::Object(object, _) => Some(object.get().body()?.ty.get().in_loops()?.clone()),
    })
}

fn compiled_for(
    py: Python<'_>,
    program: &LoopProgram,
    kernel: &LoopKernel,
    entry: &Name,
    context: &ker::Context,
    values: &[Value<'_>],
) -> Result<Arc<Compiled>> {
    let mut types = Vec::new();
    for (index, argument) in kernel.arguments.iter().enumerate() {
        if argument.ty.is_none()
            && let Some(ty) = type_given(&values[index])?
        {
            types.push((index, ty));
        }
    }
    let is_it = |known: &Arc<Compiled>| known.types == types && known.entry == *entry && known.context.is_same(context);
    if let Some(known) = lock(&program.compiled).iter().find(|known| is_it(known)) {
        return Ok(known.clone());
    }
    let typed = with_types(&program.inner, kernel, &types);
    let made = py.detach(|| {
        let generated = typed.generate_for(entry, context)?;
        Executable::compile(&generated, context)
    })?;
    let returns_dict = kernel.options.return_dict;
    let compiled = Arc::new(Compiled { context: context.clone(), entry: entry.clone(), types, executable: made, returns_dict });
    let mut all = lock(&program.compiled);
    all.insert(0, compiled.clone());
    // A program that is called on ever new queues does not keep them all.
    all.truncate(16);
    Ok(compiled)
}

pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub fn with_types(program: &Program, kernel: &LoopKernel, types: &[(usize, Type)]) -> Program {
    let mut kernel = kernel.clone();
    for (index, ty) in types {
        kernel.arguments[*index].ty = Some(ty.clone());
    }
    program.with_kernel(kernel)
}

fn shape_of(value: &Value<'_>, arg: &PlannedArg) -> Result<Given> {
    Ok(match value {
        Value::Object(object, _) => {
            let PlannedKind::Object { fields, .. } = &arg.kind else { return Ok(Given::Number) };
            let body = object.get().body()?;
            let lengths = |field: &PlannedField| Ok(body.lengths(&field.path)?.iter().map(|&length| length as i64).collect());
            Given::Object(fields.iter().map(lengths).collect::<Result<_>>()?)
        }
        Value::Missing => Given::Missing,
        Value::Number(Scalar::Int(value)) => i64::try_from(*value).map_or(Given::Number, Given::Int),
        Value::Number(_) => Given::Number,
        Value::Device(array, _) => Given::Array(GivenArray {
            dtype: array.dtype,
            shape: array.layout.shape.iter().map(|&length| length as i64).collect(),
            strides: array.layout.strides.iter().map(|&stride| stride as i64).collect(),
        }),
        Value::Host(object) => {
            let array = NdArray::of(object)?.ok_or_else(|| PyTypeError::new_err("it is no array"))?;
            let dtype = array.dtype().ok_or_else(|| PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name())))?;
            Given::Array(GivenArray {
                dtype,
                shape: array.shape().iter().map(|&length| length as i64).collect(),
                strides: array.strides().iter().map(|&stride| stride as i64).collect(),
            })
        }
    })
}

fn make_output<'py>(py: Python<'py>, context: &ker::Context, shape: &[usize], strides: &[Option<i64>], dtype: DType) -> Result<Value<'py>> {
    let dense = Layout::dense(shape, dtype.size());
    let size = dtype.size() as i64;
    let wanted: Vec<isize> =
        strides.iter().zip(&dense.strides).map(|(stride, &own)| stride.map_or(own, |stride| (stride * size) as isize)).collect();
    let is_dense = (0..shape.len()).all(|axis| shape[axis] < 2 || wanted[axis] == dense.strides[axis]);
    if context.device().kind() == DeviceKind::Cpu && is_dense {
        return Ok(Value::Host(numpy_api::empty(py, shape, dtype)?));
    }
    if is_dense {
        return Ok(Value::Device(Array::empty(context, shape, dtype)?, None));
    }
    // As many elements as the farthest one needs.
    let mut last: usize = 0;
    for (&length, &stride) in shape.iter().zip(&wanted) {
        let stride = usize::try_from(stride).map_err(|_| PyValueError::new_err("an output cannot be made with negative strides"))?;
        last += length.saturating_sub(1) * stride;
    }
    let elements = if shape.contains(&0) { 0 } else { last / dtype.size() + 1 };
    let array = Array::empty(context, &[elements], dtype)?;
    let layout = Layout { shape: shape.to_vec(), strides: wanted, offset: 0, itemsize: dtype.size() };
    Ok(Value::Device(Array { layout, ..array }, None))
}

/// Launches all; the values live until it returns.
fn run(py: Python<'_>, compiled: &Compiled, values: &[Value<'_>], given: &[Given], sizes: &Values) -> Result<()> {
    let executable = &compiled.executable;
    let temporaries = executable.temporaries(sizes)?;
    let is_recorded = compiled.context.is_recording();
    if is_recorded {
        // Before their addresses are taken.
        values.iter().try_for_each(|value| if let Value::Device(array, _) = value { array.hold() } else { Ok(()) })?;
    }
    let mut arguments: SmallVec<[Slot; 16]> = SmallVec::new();
    for (index, value) in values.iter().enumerate() {
        arguments.push(argument_slot(compiled, index, value)?);
    }
    let kept = if is_recorded { Some(keep(compiled, values, &temporaries)?) } else { None };
    let holds = hold_objects(compiled, values, &mut arguments)?;
    let passed = Passed { compiled, arguments: &arguments, given, sizes, temporaries: &temporaries, kept };
    let work = || {
        // Let go before Python is held again: who waits for it to grow a buffer may hold Python.
        let _holds = holds;
        executable.each_launch(sizes, &mut |launch, items, hosts| launch_one(launch, items, hosts, &passed))
    };
    // `arguments` holds plain numbers; the objects behind them are borrowed by `values` until this returns.
    Ok(py.detach(work)?)
}

/// Puts the addresses of objects into their slots and keeps their memory there. No code of Python may run until they are let go: it could
/// grow the buffers, which waits for them.
fn hold_objects(compiled: &Compiled, values: &[Value<'_>], slots: &mut [Slot]) -> Result<SmallVec<[Hold; 2]>> {
    let mut holds = SmallVec::new();
    for (value, slot) in values.iter().zip(slots) {
        let Value::Object(object, _) = value else { continue };
        let view = &object.get().body()?.view;
        if compiled.context.stream().is_foreign() {
            view.buffer().memory().note_foreign_use();
        }
        let hold = view.buffer().clone().into_hold();
        let (handle, offset) = (hold.buffer().growable().handle(), view.offset() as u64);
        *slot = if compiled.context.device().kind() == DeviceKind::OpenCl { [handle, offset] } else { [handle + offset, 0] };
        holds.push(hold);
    }
    Ok(holds)
}

/// What the launches of a call are passed.
struct Passed<'a> {
    compiled: &'a Compiled,
    arguments: &'a [Slot],
    given: &'a [Given],
    sizes: &'a Values,
    temporaries: &'a [Memory],
    /// What a replay keeps, where the call is recorded.
    kept: Option<Vec<Kept>>,
}

/// What a recorded call keeps: arrays with what owns them, and temporaries.
fn keep(compiled: &Compiled, values: &[Value<'_>], temporaries: &[Memory]) -> Result<Vec<Kept>> {
    let mut watched = Watched::default();
    let mut kept: Vec<Kept> = vec![Arc::new(temporaries.to_vec())];
    for (value, arg) in values.iter().zip(compiled.executable.plan().args()) {
        match value {
            Value::Host(array) => watched.add_array(arg.name.as_str(), array)?,
            Value::Device(array, _) => kept.push(Arc::new(array.clone())),
            Value::Object(object, _) => {
                let view = &object.get().body()?.view;
                kept.push(Arc::new(view.buffer().export()?));
                watched.views.push(view.clone());
            }
            Value::Missing | Value::Number(_) => {}
        }
    }
    kept.push(Arc::new(watched));
    Ok(kept)
}

impl Passed<'_> {
    /// Where one of the arrays of an argument with separate axes begins.
    fn separate(&self, index: usize, indices: &[u64]) -> Slot {
        let [address, offset] = self.arguments[index];
        let PlannedKind::Array { separate, .. } = &self.compiled.executable.plan().args()[index].kind else { return [address, offset] };
        let Given::Array(array) = &self.given[index] else { return [address, offset] };
        let distance: i64 = separate.iter().zip(indices).map(|(&axis, &at)| array.strides[axis] * at as i64).sum();
        match self.compiled.context.device().kind() {
            DeviceKind::OpenCl => [address, offset.wrapping_add_signed(distance)],
            _ => [address.wrapping_add_signed(distance), offset],
        }
    }
}

fn launch_one(launch: &ReadyLaunch, items: Items, hosts: &[i64], passed: &Passed<'_>) -> std::result::Result<(), LoopError> {
    let Passed { arguments, sizes, temporaries, .. } = passed;
    let integer = |dtype: DType, value: i64| {
        encode(Scalar::Int(value.into()), dtype).map_err(|_| {
            LoopError::from(RunError::Overflow {
                kernel: launch.kernel.signature().name.as_str().into(),
                argument: format!("{value} as {}", dtype.name()).into(),
            })
        })
    };
    let mut slots = Slots::new();
    for feed in &launch.feeds {
        slots.push(match feed {
            Feed::Argument(index) => arguments[*index],
            Feed::Separate(index, indices) => passed.separate(*index, indices),
            Feed::Integer(dtype, place) => integer(*dtype, passed.compiled.executable.plan().value(sizes, *place)?)?,
            Feed::HostIname(dtype, depth) => integer(*dtype, hosts[*depth])?,
            Feed::Temporary(index) => launch.kernel.pointer_slot(&temporaries[*index], 0)?,
        });
    }
    launch.check_alignment(&slots)?;
    // SAFETY: each parameter got a slot of its type: pointers to arrays whose element type, shape and strides `CallPlan::resolve`
    // checked, objects of the class that `take_object` checked, in memory that `hold_objects` holds, and numbers encoded for the declared
    // type. Arrays, objects and temporaries live until the launch is over or are freed in the order of the stream.
    unsafe {
        match &passed.kept {
            None => launch.kernel.launch_over(&mut slots, items).map(drop)?,
            // They live as long as the replay, and where NumPy's memory is, is looked at before each.
            Some(kept) => launch.kernel.record_over(&mut slots, items, kept.clone())?,
        }
    }
    Ok(())
}

fn argument_slot(compiled: &Compiled, index: usize, value: &Value<'_>) -> Result<Slot> {
    let arg = &compiled.executable.plan().args()[index];
    match (value, &arg.kind) {
        (Value::Number(number), PlannedKind::Value { dtype, .. }) => Ok(encode(*number, *dtype).map_err(|_| {
            let reason = format!("argument `{}`: the number {number:?} is no value of type {}", arg.name, dtype.name());
            PyValueError::new_err(reason)
        })?),
        (Value::Host(object), _) => {
            let array = NdArray::of(object)?.ok_or_else(|| PyTypeError::new_err("it is no array"))?;
            if arg.is_output && !array.is_writeable() {
                return Err(PyValueError::new_err(format!("argument `{}` is written, but the array is read-only", arg.name)).into());
            }
            let address = array.pointer() as u64;
            let alignment = array.dtype().map_or(1, |dtype| dtype.size().min(8)) as u64;
            if !address.is_multiple_of(alignment) {
                return Err(PyValueError::new_err(format!("argument `{}` is not aligned; pass a copy", arg.name)).into());
            }
            Ok([address, 0])
        }
        (Value::Device(array, _), _) => {
            if arg.is_output && !array.writeable {
                return Err(PyValueError::new_err(format!("argument `{}` is written, but the array is read-only", arg.name)).into());
            }
            Ok(compiled.executable.pointer_slot(&array.memory, array.layout.offset)?)
        }
        _ => Ok([0, 0]),
    }
}

/// The object that a call returns for an output.
fn result_of<'py>(py: Python<'py>, value: Value<'py>, as_host: bool) -> Result<Option<Bound<'py, PyAny>>> {
    Ok(match value {
        Value::Host(object) | Value::Object(_, object) => Some(object),
        Value::Device(array, Some(host)) => {
            let object = Bound::new(py, array)?.into_any();
            let read = object.cast::<Array>().map_err(PyErr::from)?.get().to_numpy(&object)?;
            host.set_item(py.Ellipsis(), read)?;
            Some(host)
        }
        Value::Device(array, None) => {
            let object = Bound::new(py, array)?.into_any();
            Some(match as_host {
                true => object.cast::<Array>().map_err(PyErr::from)?.get().to_numpy(&object)?,
                false => object,
            })
        }
        Value::Missing | Value::Number(_) => None,
    })
}
