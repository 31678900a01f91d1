//! The launches of a call, with what each parameter is passed.

use std::borrow::Cow;
use std::sync::Arc;

use parloop_device::{DType, DeviceKind, Memory};
use parloop_kernel::{Items, KeepAlive, Scalar, Slot, Slots, encode};
use parloop_loop::error::LoopError;
use parloop_loop::run::{Executable, Feed, GivenArgument, PlannedKind, ReadyLaunch, RunError, Values};
use parloop_object::{Buffer, Hold};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::given::Value;
use crate::error::Result;
use crate::ndarray::NdArray;
use crate::recording::Watched;
use crate::released::released;

/// Launches all; the values live until it returns.
pub fn run(py: Python<'_>, executable: &Executable, values: &[Value<'_>], given: &[GivenArgument], sizes: &Values) -> Result<()> {
    let temporaries = executable.temporaries(sizes)?;
    let is_recorded = executable.context().is_recording();
    if is_recorded {
        // Before their addresses are taken.
        values.iter().try_for_each(|value| if let Value::Device(device) = value { device.0.hold(py) } else { Ok(()) })?;
    }
    let mut arguments: SmallVec<[Slot; 16]> = SmallVec::new();
    for (index, value) in values.iter().enumerate() {
        check_shape(executable, index, value, &given[index])?;
        arguments.push(argument_slot(py, executable, index, value)?);
    }
    let kept = if is_recorded { Some(keep(py, executable, values, &temporaries)?) } else { None };
    let (placed, parts) = (placed_objects(values)?, parts_of_buffers(values));
    let staged = staged_arrays(values)?;
    let work = || {
        // Held while Python is not, which may have to wait for a buffer that grows, and let go before Python is held again.
        let mut holds = hold_objects(executable, &placed, &mut arguments);
        for (index, buffer, memory, offset) in &parts {
            holds.push(buffer.hold());
            arguments[*index] = executable.argument_slot(*index, memory, *offset)?;
        }
        if executable.plan().asks_apart() {
            check_apart(executable, given, &arguments, &staged)?;
        }
        let passed = Passed { executable, arguments: &arguments, given, sizes, temporaries: &temporaries, kept };
        executable.each_launch(sizes, &mut |launch, items, hosts| launch_one(launch, items, hosts, &passed))
    };
    // `arguments` holds plain numbers; the objects behind them are borrowed by `values` until this returns.
    Ok(released(py, work)?)
}

/// That no two arguments share memory, one of which is written.
fn check_apart(
    executable: &Executable,
    given: &[GivenArgument],
    arguments: &[Slot],
    staged: &[Staged],
) -> std::result::Result<(), LoopError> {
    let mut given = Cow::Borrowed(given);
    for (index, _, strides) in staged {
        if let GivenArgument::Array(array) = &mut given.to_mut()[*index] {
            array.strides.clone_from(strides);
        }
    }
    let locate = |index: usize| match &given[index] {
        // Host arrays that are copied to the device are apart there, but not when they are copied back.
        GivenArgument::Array(_) => Some(match staged.iter().find(|(at, ..)| *at == index) {
            Some(&(_, address, _)) => (0, address),
            None => executable.location(arguments[index]),
        }),
        GivenArgument::Object(_) => Some(executable.location(arguments[index])),
        _ => None,
    };
    Ok(executable.plan().check_apart(&given, locate)?)
}

/// An argument that is the copy of a host array, with where that begins and its strides.
type Staged = (usize, u64, SmallVec<[i64; 4]>);

fn staged_arrays(values: &[Value<'_>]) -> Result<SmallVec<[Staged; 1]>> {
    let mut staged = SmallVec::new();
    for (index, value) in values.iter().enumerate() {
        if let Value::Device(device) = value
            && let Some(host) = &device.1
            && let Some(array) = NdArray::of(host)?
        {
            staged.push((index, array.pointer() as u64, array.strides().iter().map(|&stride| stride as i64).collect()));
        }
    }
    Ok(staged)
}

/// An argument that is an object: which, its buffer, and where it begins there.
type ObjectArgument = (usize, Buffer, u64);

/// The arguments that are objects.
fn placed_objects(values: &[Value<'_>]) -> Result<SmallVec<[ObjectArgument; 2]>> {
    let mut placed = SmallVec::new();
    for (index, value) in values.iter().enumerate() {
        let Value::Object(object, _) = value else { continue };
        let view = &object.get().body()?.view;
        placed.push((index, view.buffer().clone(), view.offset() as u64));
    }
    Ok(placed)
}

/// The arguments that are parts of buffers, which may move until they are held, with where they begin in their memory.
fn parts_of_buffers(values: &[Value<'_>]) -> SmallVec<[(usize, Buffer, Memory, usize); 1]> {
    let part = |(index, value): (usize, &Value<'_>)| {
        let Value::Device(device) = value else { return None };
        let array = &device.0;
        Some((index, array.buffer.clone()?, array.memory.clone(), array.layout.offset))
    };
    values.iter().enumerate().filter_map(part).collect()
}

/// Puts the addresses of objects into their slots and keeps their memory there. No code of Python may run until they are let go: it could
/// grow the buffers, which waits for them.
fn hold_objects(executable: &Executable, placed: &[ObjectArgument], slots: &mut [Slot]) -> SmallVec<[Hold; 2]> {
    let context = executable.context();
    let hold = |(index, buffer, offset): &ObjectArgument| {
        if context.stream().is_foreign() {
            buffer.note_foreign_use();
        }
        let hold = buffer.hold();
        let handle = buffer.handle();
        slots[*index] = if context.device().kind() == DeviceKind::OpenCl { [handle, *offset] } else { [handle + offset, 0] };
        hold
    };
    placed.iter().map(hold).collect()
}

/// What the launches of a call are passed.
struct Passed<'a> {
    executable: &'a Executable,
    arguments: &'a [Slot],
    given: &'a [GivenArgument],
    sizes: &'a Values,
    temporaries: &'a [Memory],
    /// What a replay keeps, where the call is recorded.
    kept: Option<Vec<KeepAlive>>,
}

/// What a recorded call keeps: arrays with what owns them, and temporaries.
fn keep(py: Python<'_>, executable: &Executable, values: &[Value<'_>], temporaries: &[Memory]) -> Result<Vec<KeepAlive>> {
    let mut watched = Watched::default();
    let mut kept: Vec<KeepAlive> = vec![Arc::new(temporaries.to_vec())];
    for (value, arg) in values.iter().zip(executable.plan().args()) {
        match value {
            Value::Host(array) => watched.add_array(arg.name.as_str(), array)?,
            Value::Device(device) => kept.push(Arc::new(device.0.clone())),
            Value::Object(object, _) => {
                let view = &object.get().body()?.view;
                kept.push(Arc::new(py.detach(|| view.buffer().export())?));
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
        let PlannedKind::Array { separate, .. } = &self.executable.plan().args()[index].kind else { return [address, offset] };
        let GivenArgument::Array(array) = &self.given[index] else { return [address, offset] };
        let distance: i64 = separate.iter().zip(indices).map(|(&axis, &at)| array.strides[axis] * at as i64).sum();
        match self.executable.context().device().kind() {
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
            Feed::Integer(dtype, place) => integer(*dtype, passed.executable.plan().value(sizes, *place)?)?,
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

/// Fails where an array has another shape than the sizes of the call were found from: code of Python's ran since.
fn check_shape(executable: &Executable, index: usize, value: &Value<'_>, given: &GivenArgument) -> Result<()> {
    let (Value::Host(object), GivenArgument::Array(known)) = (value, given) else { return Ok(()) };
    let same = |found: &[isize], known: &[i64]| found.len() == known.len() && found.iter().zip(known).all(|(&a, &b)| a as i64 == b);
    // The numbers of an element are the last axis.
    let has_components = executable.plan().args()[index].components.is_some();
    let components = has_components.then_some((known.numbers as i64, known.dtype.size() as i64));
    let shape: SmallVec<[i64; 4]> = known.shape.iter().copied().chain(components.map(|(count, _)| count)).collect();
    let strides: SmallVec<[i64; 4]> = known.strides.iter().copied().chain(components.map(|(_, size)| size)).collect();
    // NumPy has other strides where there are no elements.
    let is_empty = shape.contains(&0);
    let is_same = |array: &NdArray<'_, '_>| same(array.shape(), &shape) && (is_empty || same(array.strides(), &strides));
    match NdArray::with_any_mask(object)? {
        Some(array) if array.dtype() == Some(known.dtype) && is_same(&array) => Ok(()),
        _ => {
            let name = &executable.plan().args()[index].name;
            Err(PyValueError::new_err(format!("argument `{name}` was resized during the call; call again")).into())
        }
    }
}

fn argument_slot(py: Python<'_>, executable: &Executable, index: usize, value: &Value<'_>) -> Result<Slot> {
    let arg = &executable.plan().args()[index];
    match (value, &arg.kind) {
        (Value::Number(number), PlannedKind::Value { dtype, .. }) => Ok(encode(*number, *dtype).map_err(|_| {
            let reason = format!("argument `{}`: the number {number:?} does not fit type {}", arg.name, dtype.name());
            PyValueError::new_err(reason)
        })?),
        (Value::Host(object), _) => {
            let array = NdArray::of(object)?.ok_or_else(|| PyTypeError::new_err("it is not an array"))?;
            if arg.is_output && !array.is_writeable() {
                return Err(PyValueError::new_err(format!("argument `{}` is written, but the array is read-only", arg.name)).into());
            }
            let address = array.pointer() as u64;
            let alignment = array.dtype().map_or(1, |dtype| dtype.alignment()) as u64;
            if !address.is_multiple_of(alignment) {
                return Err(PyValueError::new_err(format!("argument `{}` is not aligned; pass a copy", arg.name)).into());
            }
            Ok([address, 0])
        }
        (Value::Device(device), _) => {
            let array = &device.0;
            array.check_shared(py)?;
            if arg.is_output && !array.writeable {
                return Err(PyValueError::new_err(format!("argument `{}` is written, but the array is read-only", arg.name)).into());
            }
            Ok(executable.argument_slot(index, &array.memory, array.layout.offset)?)
        }
        _ => Ok([0, 0]),
    }
}
