//! The launches of a call, with what each parameter is passed.

use std::sync::Arc;

use parloop_device::{DType, DeviceKind, Memory};
use parloop_kernel::{Items, Kept, Scalar, Slot, Slots, encode};
use parloop_loop::error::LoopError;
use parloop_loop::run::{Executable, Feed, Given, PlannedKind, ReadyLaunch, RunError, Values};
use parloop_object::Hold;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::given::Value;
use crate::error::Result;
use crate::ndarray::NdArray;
use crate::recording::Watched;

/// Launches all; the values live until it returns.
pub fn run(py: Python<'_>, executable: &Executable, values: &[Value<'_>], given: &[Given], sizes: &Values) -> Result<()> {
    let temporaries = executable.temporaries(sizes)?;
    let is_recorded = executable.context().is_recording();
    if is_recorded {
        // Before their addresses are taken.
        values.iter().try_for_each(|value| if let Value::Device(device) = value { device.0.hold() } else { Ok(()) })?;
    }
    let mut arguments: SmallVec<[Slot; 16]> = SmallVec::new();
    for (index, value) in values.iter().enumerate() {
        arguments.push(argument_slot(executable, index, value)?);
    }
    let kept = if is_recorded { Some(keep(executable, values, &temporaries)?) } else { None };
    let holds = hold_objects(executable, values, &mut arguments)?;
    let passed = Passed { executable, arguments: &arguments, given, sizes, temporaries: &temporaries, kept };
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
fn hold_objects(executable: &Executable, values: &[Value<'_>], slots: &mut [Slot]) -> Result<SmallVec<[Hold; 2]>> {
    let mut holds = SmallVec::new();
    for (value, slot) in values.iter().zip(slots) {
        let Value::Object(object, _) = value else { continue };
        let view = &object.get().body()?.view;
        if executable.context().stream().is_foreign() {
            view.buffer().note_foreign_use();
        }
        let hold = view.buffer().clone().into_hold();
        let (handle, offset) = (hold.buffer().handle(), view.offset() as u64);
        *slot = if executable.context().device().kind() == DeviceKind::OpenCl { [handle, offset] } else { [handle + offset, 0] };
        holds.push(hold);
    }
    Ok(holds)
}

/// What the launches of a call are passed.
struct Passed<'a> {
    executable: &'a Executable,
    arguments: &'a [Slot],
    given: &'a [Given],
    sizes: &'a Values,
    temporaries: &'a [Memory],
    /// What a replay keeps, where the call is recorded.
    kept: Option<Vec<Kept>>,
}

/// What a recorded call keeps: arrays with what owns them, and temporaries.
fn keep(executable: &Executable, values: &[Value<'_>], temporaries: &[Memory]) -> Result<Vec<Kept>> {
    let mut watched = Watched::default();
    let mut kept: Vec<Kept> = vec![Arc::new(temporaries.to_vec())];
    for (value, arg) in values.iter().zip(executable.plan().args()) {
        match value {
            Value::Host(array) => watched.add_array(arg.name.as_str(), array)?,
            Value::Device(device) => kept.push(Arc::new(device.0.clone())),
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
        let PlannedKind::Array { separate, .. } = &self.executable.plan().args()[index].kind else { return [address, offset] };
        let Given::Array(array) = &self.given[index] else { return [address, offset] };
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

fn argument_slot(executable: &Executable, index: usize, value: &Value<'_>) -> Result<Slot> {
    let arg = &executable.plan().args()[index];
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
        (Value::Device(device), _) => {
            let array = &device.0;
            if arg.is_output && !array.writeable {
                return Err(PyValueError::new_err(format!("argument `{}` is written, but the array is read-only", arg.name)).into());
            }
            Ok(executable.pointer_slot(&array.memory, array.layout.offset)?)
        }
        _ => Ok([0, 0]),
    }
}
