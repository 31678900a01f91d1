//! Calls of loop kernels: types and sizes from the arrays that are given, outputs made, launches. A call that is like the last one
//! (`repeat.rs`) goes straight to the launches.

use std::sync::{Arc, OnceLock};

use parloop_device::{DeviceKind, profile};
use parloop_kernel as ker;
use parloop_loop::Name;
use parloop_loop::error::LoopError;
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, GivenArgument, PlannedKind, RunError, with_checks};
use parloop_loop::syntax::LoopKernel;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{Borrowed, ffi};
use smallvec::SmallVec;

use super::compiled::{Compiled, lock, with_types};
use super::components::as_elements;
use super::given::{ArgumentValues, Value, make_output, result_of, shape_of, take, type_given};
use super::program::LoopProgram;
use super::repeat::{LastCall, PreparedCall, Repeat};
use super::{doubts, launch};
use crate::context::Context;
use crate::error::Result;
use crate::ndarray::NdArray;
use crate::runtime_class::{Arguments, RuntimeClass, Slot, run};
use crate::stream::Event;

/// The class through which Python calls programs: `event, (out,) = knl(context, a=…)`.
fn class(py: Python<'_>) -> PyResult<&'static RuntimeClass> {
    static CLASS: PyOnceLock<RuntimeClass> = PyOnceLock::new();
    let slot = Slot::CallOfMade(call_program, new_program);
    CLASS.get_or_try_init(py, || RuntimeClass::new(py.get_type::<LoopProgram>(), c"parloop._parloop._LoopProgram", slot))
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("_LoopProgram", class(module.py())?.class(module.py()))
}

unsafe extern "C" fn call_program(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python calls us by its protocol; the arguments live until we return.
    unsafe { run::<LoopProgram>(callable, |program| Ok(call(program, Arguments::new(args, count, names))?.unbind())) }
}

unsafe extern "C" fn new_program(of: *mut ffi::PyTypeObject, args: *mut ffi::PyObject, named: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: Python calls us, attached, to make an object of the class or of a subclass.
    unsafe {
        let py = Python::assume_attached();
        match class(py) {
            Ok(class) => class.new_object(&py.get_type::<LoopProgram>(), of, args, named),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    }
}

/// How results are wanted.
#[derive(Clone, Copy)]
struct ResultForm {
    as_host: bool,
    by_name: bool,
}

/// What a call says by name.
struct NamedArguments<'a, 'py> {
    entry: Option<Name>,
    out_host: Option<bool>,
    by_name: bool,
    values: SmallVec<[(Borrowed<'a, 'py, PyString>, Borrowed<'a, 'py, PyAny>); 8]>,
}

fn call<'py>(slf: &Bound<'py, LoopProgram>, arguments: Arguments<'_>) -> Result<Bound<'py, PyAny>> {
    let last = lock(&slf.get().last).as_ref().map(|last| last.known.clone());
    if let Some(known) = last
        && let Some(values) = known.again(slf.py(), arguments)?
    {
        return finish(slf, known, values, ResultForm { as_host: true, by_name: false });
    }
    call_anew(slf, arguments)
}

fn call_anew<'py>(slf: &Bound<'py, LoopProgram>, arguments: Arguments<'_>) -> Result<Bound<'py, PyAny>> {
    let py = slf.py();
    // SAFETY: the arguments of a call live until it is over.
    let first = arguments.positional().first().map(|&first| unsafe { Borrowed::from_ptr(py, first) });
    // A queue of pyopencl's: its arrays go in and come out, which Python does.
    if let Some(first) = first
        && !first.is_instance_of::<Context>()
        && first.hasattr("int_ptr")?
    {
        return Ok(py.import("parloop.loops._opencl")?.getattr("call")?.call1((slf, first, arguments.named_dict(py)?))?);
    }
    let program = &slf.get().inner;
    let said = NamedArguments::of(py, arguments)?;
    let entry = match said.entry {
        Some(entry) => entry,
        None => program.only_entry()?.clone(),
    };
    let kernel = program.kernel(&entry).ok_or_else(|| LoopError::NoEntry { names: program.entrypoints.iter().cloned().collect() })?;
    let count = arguments.positional().len();
    if count > 1 {
        let reason =
            format!("kernel `{entry}` takes a context by position and its arguments by name, but {count} positional arguments were given");
        return Err(PyTypeError::new_err(reason).into());
    }
    let context = Context::of(first.as_deref(), py)?.inner;

    let mut values: ArgumentValues<'py> = kernel.arguments.iter().map(|_| Value::Missing).collect();
    let mut places: SmallVec<[usize; 8]> = SmallVec::new();
    let mut checked = None;
    for (name, value) in &said.values {
        let name = name.to_str()?;
        if name == "checked" && kernel.arguments.iter().all(|argument| argument.name != name) {
            checked = if value.is_none() { None } else { Some(value.is_truthy()?) };
            continue;
        }
        let index = kernel.arguments.iter().position(|argument| argument.name == name).ok_or_else(|| unknown(kernel, name))?;
        values[index] = take(&context, kernel, index, Bound::clone(value))?;
        places.push(index);
    }
    let any_host = values.iter().any(|value| match value {
        Value::Host(_) => true,
        Value::Device(device) => device.1.is_some(),
        Value::Missing | Value::Number(_) | Value::Object(..) => false,
    });
    let compiled = compiled_for(py, slf.get(), kernel, &Wish { entry: &entry, context: &context, checked }, &values)?;
    let repeat = match places.len() == arguments.named_values().len() {
        true => Repeat::of(py, arguments, places, &values),
        false => None,
    };
    let known = complete(py, compiled, repeat, &mut values)?;
    let as_host = said.out_host.unwrap_or(any_host) || context.device().kind() == DeviceKind::Cpu;
    finish(slf, Arc::new(known), values, ResultForm { as_host, by_name: said.by_name })
}

/// What is called, and how.
struct Wish<'a> {
    entry: &'a Name,
    context: &'a ker::Context,
    /// Whether this call is in checked mode, where it says so.
    checked: Option<bool>,
}

/// What the program was compiled to for these values; it is compiled where it was not.
fn compiled_for(
    py: Python<'_>,
    program: &LoopProgram,
    kernel: &LoopKernel,
    wish: &Wish<'_>,
    values: &[Value<'_>],
) -> Result<Arc<Compiled>> {
    let &Wish { entry, context, checked } = wish;
    let mut types = Vec::new();
    for (index, argument) in kernel.arguments.iter().enumerate() {
        if argument.ty.is_none()
            && let Some(ty) = type_given(&values[index])?
        {
            types.push((index, ty));
        }
    }
    let is_it = |known: &Arc<Compiled>| known.types() == types && known.is_for(entry, context, checked);
    if let Some(known) = lock(&program.compiled).iter().find(|known| is_it(known)) {
        return Ok(known.clone());
    }
    let mut typed = with_types(&program.inner, kernel, &types);
    if let Some(checked) = checked {
        typed = with_checks(&typed, checked);
    }
    let (generated, made) = py.detach(|| {
        let generated = typed.generate_for(entry, context)?;
        let made = Executable::compile(&generated, context)?;
        Ok::<_, LoopError>((generated, made))
    })?;
    doubts::warn(py, &program.warned, &generated, 0)?;
    let returns_dict = kernel.options.return_dict;
    let compiled = Arc::new(Compiled { context: context.clone(), entry: entry.clone(), checked, types, executable: made, returns_dict });
    let mut all = lock(&program.compiled);
    all.insert(0, compiled.clone());
    // A program that is called on ever new queues does not keep them all.
    all.truncate(16);
    Ok(compiled)
}

impl<'a, 'py> NamedArguments<'a, 'py> {
    fn of(py: Python<'py>, arguments: Arguments<'a>) -> Result<NamedArguments<'a, 'py>> {
        let mut said = NamedArguments { entry: None, out_host: None, by_name: false, values: SmallVec::new() };
        for (name, value) in arguments.named() {
            // SAFETY: the arguments of a call and their names live until it is over.
            let (name, value) = unsafe { (Borrowed::from_ptr(py, name), Borrowed::from_ptr(py, value)) };
            let name: Borrowed<'a, 'py, PyString> = name.cast::<PyString>().map_err(PyErr::from)?;
            match name.to_str()? {
                "entrypoint" => said.entry = Some(value.extract::<String>()?.into()),
                "_by_name" => said.by_name = value.is_truthy()?,
                "out_host" => said.out_host = value.extract::<Option<bool>>()?,
                "allocator" | "wait_for" | "no_run" | "warn_numpy" => {}
                _ => said.values.push((name, value)),
            }
        }
        Ok(said)
    }
}

fn unknown(kernel: &LoopKernel, name: &str) -> LoopError {
    let names = kernel.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", ");
    RunError::UnknownArgument { kernel: kernel.name.clone(), argument: name.into(), names }.into()
}

/// Finds the sizes, and makes the outputs that are not given.
fn complete<'py>(
    py: Python<'py>,
    compiled: Arc<Compiled>,
    mut repeat: Option<Repeat>,
    values: &mut ArgumentValues<'py>,
) -> Result<PreparedCall> {
    let plan = compiled.executable().plan();
    let mut given = values
        .iter()
        .zip(plan.args())
        .map(|(value, arg)| shape_of(value, plan.kernel(), arg))
        .collect::<Result<SmallVec<[GivenArgument; 8]>>>()?;
    let mut sizes = plan.resolve(&given).map_err(LoopError::from)?;
    let mut is_any_made = false;
    for (index, arg) in plan.args().iter().enumerate() {
        if let (Value::Missing, PlannedKind::Array { dtype, numbers, .. }) = (&values[index], &arg.kind) {
            let shape = plan.output_shape(arg, &sizes).map_err(LoopError::from)?;
            let mut shape: SmallVec<[usize; 4]> = shape.iter().map(|&length| length as usize).collect();
            let mut strides = plan.output_strides(arg, &sizes).map_err(LoopError::from)?;
            if arg.components.is_some() {
                // The numbers of an element are an axis of their own.
                strides.iter_mut().flatten().for_each(|stride| *stride *= *numbers as i64);
                strides.push(Some(1));
                shape.push(*numbers);
            }
            let zeros = arg.is_read || !arg.is_written;
            values[index] = make_output(py, compiled.context(), &shape, &strides, *dtype, zeros)?;
            given[index] = shape_of(&values[index], plan.kernel(), arg)?;
            repeat = repeat.and_then(|repeat| repeat.with_output(index, zeros, &values[index]));
            is_any_made = true;
        }
    }
    // Arrays of numbers and of structured dtypes can be the same to a kernel of vectors: each is looked at.
    if plan.args().iter().any(|arg| arg.components.is_some()) {
        repeat = None;
    }
    // Strides and offsets that each call finds are those of the outputs that were made.
    if is_any_made && sizes.iter().any(Option::is_none) {
        sizes = plan.resolve(&given).map_err(LoopError::from)?;
    }
    let executable = py.detach(|| compiled.executable().for_call(&sizes, &given))?;
    Ok(PreparedCall { compiled, executable, given, sizes, repeat, work: OnceLock::new() })
}

/// Launches, and puts together what the call returns.
fn finish<'py>(
    slf: &Bound<'py, LoopProgram>,
    known: Arc<PreparedCall>,
    values: ArgumentValues<'py>,
    wanted: ResultForm,
) -> Result<Bound<'py, PyAny>> {
    let py = slf.py();
    let compiled = &known.compiled;
    let context = compiled.context();
    let is_recorded = context.is_recording();
    let record = || context.stream().record().map_err(ker::KernelError::from);
    let start = if is_recorded || context.device().kind() == DeviceKind::Cpu { None } else { Some(record()?) };
    let mut span = profile::span(context.device().id(), || compiled.entry().to_string()).filter(|_| !is_recorded);
    let began = std::time::Instant::now();
    launch::run(py, &known.executable, &values, &known.given, &known.sizes)?;
    let took = began.elapsed();
    if let Some(span) = &mut span {
        span.work = slf.get().work(py, &known)?;
    }
    drop(span);
    let mut results: SmallVec<[(&Name, Bound<'py, PyAny>); 4]> = SmallVec::new();
    for (arg, value) in compiled.executable().plan().args().iter().zip(values) {
        if arg.is_output
            && let Some(result) = result_of(py, value, wanted.as_host)?
        {
            let result = match &arg.components {
                Some(ty) if NdArray::of(&result)?.is_some() => as_elements(result, ty)?,
                _ => result,
            };
            results.push((&arg.name, result));
        }
    }
    // A recorded call is at no point of the stream yet.
    let end = if is_recorded { context.device().create_event().map_err(ker::KernelError::from)? } else { record()? };
    let events = start.map(|start| (start, end.clone()));
    let event = Bound::new(py, Event { inner: end })?.into_any();
    let results = match compiled.returns_dict || wanted.by_name {
        true => {
            let dict = PyDict::new(py);
            for (name, result) in results {
                dict.set_item(name.as_str(), result)?;
            }
            dict.into_any()
        }
        false => PyTuple::new(py, results.into_iter().map(|(_, result)| result))?.into_any(),
    };
    if !is_recorded {
        let before = lock(&slf.get().last).replace(LastCall { known, took, events });
        // What it held may run code of Python's when it goes, which must not find the lock taken.
        drop(before);
    }
    Ok(PyTuple::new(py, [event, results])?.into_any())
}
