//! Calls that are like the one before: the same names, and for each an array of the same type, shape and strides or the same number.
//! Types and sizes follow from these, so nothing is worked out again. Where memory is, whether it may be written and how it is aligned is
//! looked at in each call.

use std::sync::{Arc, OnceLock};

use parloop_device::profile::Work;
use parloop_kernel::Scalar;
use parloop_loop::run::{Executable, GivenArgument, GivenArray, Values};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use pyo3::{Borrowed, ffi};
use smallvec::SmallVec;

use super::compiled::Compiled;
use super::given::{ArgumentValues, Value, host_output};
use crate::context::{Context, current_context};
use crate::error::Result;
use crate::ndarray::NdArray;
use crate::runtime_class::Arguments;

/// A call of which everything is known but the memory.
pub struct PreparedCall {
    pub compiled: Arc<Compiled>,
    /// What is launched: wider indices than usual where sizes need them.
    pub executable: Executable,
    /// What there is for each argument, outputs that were made too.
    pub given: SmallVec<[GivenArgument; 8]>,
    pub sizes: Values,
    /// How to see that another call is like it, where that can be seen.
    pub repeat: Option<Repeat>,
    /// What the call does, where a profile asked.
    pub work: OnceLock<Work>,
}

/// What is kept of the last call, for the next one and for a report.
pub struct LastCall {
    pub known: Arc<PreparedCall>,
    /// On a CPU, which is done when the call is.
    pub took: std::time::Duration,
    /// On other devices: before and behind the launches.
    pub events: Option<(parloop_device::Event, parloop_device::Event)>,
}

/// How a call is recognised.
pub struct Repeat {
    names: Option<Py<PyTuple>>,
    /// Which argument each name is, and what was given for it.
    places: SmallVec<[(usize, Like); 8]>,
    /// The outputs that each call makes, and whether of zeros.
    made: SmallVec<[(usize, bool); 2]>,
}

/// What a value must be to mean the same.
#[derive(Clone, Copy)]
enum Like {
    /// An array as in [`PreparedCall::given`].
    Array,
    /// That very integer: sizes can depend on it.
    Integer(i64),
    /// Any float: none depends on it.
    Float,
}

impl Repeat {
    /// How to recognise a call with these values for the arguments in `places`; `None` where one of them is not a plain number or array of the
    /// host.
    pub fn of(py: Python<'_>, arguments: Arguments<'_>, places: SmallVec<[usize; 8]>, values: &ArgumentValues<'_>) -> Option<Repeat> {
        let like = |place: usize| match &values[place] {
            Value::Host(object) => NdArray::exactly(object).ok()?.map(|_| Like::Array),
            Value::Number(Scalar::Int(value)) => i64::try_from(*value).ok().map(Like::Integer),
            Value::Number(Scalar::Float(_)) => Some(Like::Float),
            Value::Number(_) | Value::Missing | Value::Device(_) | Value::Object(..) => None,
        };
        let places = places.into_iter().map(|place| Some((place, like(place)?))).collect::<Option<_>>()?;
        Some(Repeat { names: arguments.names(py).map(Bound::unbind), places, made: SmallVec::new() })
    }

    /// With an output that each call makes; `None` where it is not an array of the host in C order.
    pub fn with_output(mut self, place: usize, zeros: bool, value: &Value<'_>) -> Option<Repeat> {
        self.made.push((place, zeros));
        matches!(value, Value::Host(_)).then_some(self)
    }

    /// Whether a call has the same names in the same order.
    fn has_names(&self, py: Python<'_>, arguments: Arguments<'_>) -> bool {
        match (&self.names, arguments.names(py)) {
            (None, None) => true,
            // Those of one place in a program are one tuple; others have the same strings, which are interned.
            (Some(known), Some(names)) => {
                let known = known.bind(py);
                known.is(&names)
                    || known.len() == names.len()
                        && known.iter_borrowed().zip(names.iter_borrowed()).all(|(known, name)| known.as_ptr() == name.as_ptr())
            }
            _ => false,
        }
    }
}

impl PreparedCall {
    /// The values of a call that is like this one; `None` where it is another.
    pub fn again<'py>(&self, py: Python<'py>, arguments: Arguments<'_>) -> Result<Option<ArgumentValues<'py>>> {
        let Some(repeat) = &self.repeat else { return Ok(None) };
        if !repeat.has_names(py, arguments) || !self.is_for(py, arguments)? {
            return Ok(None);
        }
        let mut values: ArgumentValues<'py> = self.given.iter().map(|_| Value::Missing).collect();
        for (&(place, like), &value) in repeat.places.iter().zip(arguments.named_values()) {
            // SAFETY: the arguments of a call live until it is over.
            let value: Borrowed<'_, 'py, PyAny> = unsafe { Borrowed::from_ptr(py, value) };
            values[place] = match like {
                Like::Array => match &self.given[place] {
                    GivenArgument::Array(known) if is_such(&value, known)? => Value::Host(Bound::clone(&value)),
                    _ => return Ok(None),
                },
                Like::Integer(known) if is_integer(&value, known) => Value::Number(Scalar::Int(known.into())),
                Like::Float if value.is_exact_instance_of::<PyFloat>() => Value::Number(Scalar::Float(value.extract()?)),
                Like::Integer(_) | Like::Float => return Ok(None),
            };
        }
        for &(place, zeros) in &repeat.made {
            let GivenArgument::Array(made) = &self.given[place] else { return Ok(None) };
            let shape: SmallVec<[usize; 4]> = made.shape.iter().map(|&length| length as usize).collect();
            values[place] = Value::Host(host_output(py, &shape, made.dtype, zeros)?);
        }
        Ok(Some(values))
    }

    /// Whether it is a call on the same context.
    fn is_for(&self, py: Python<'_>, arguments: Arguments<'_>) -> Result<bool> {
        let is_same = |context: &Context| context.inner.is_same(self.compiled.context());
        Ok(match arguments.positional() {
            [] => is_same(current_context(py)?.get()),
            // SAFETY: as above.
            [first] => unsafe { Borrowed::from_ptr(py, *first) }.cast::<Context>().is_ok_and(|context| is_same(context.get())),
            _ => false,
        })
    }
}

/// Whether it is an array of that type, shape and strides.
fn is_such(value: &Bound<'_, PyAny>, known: &GivenArray) -> Result<bool> {
    let Some(array) = NdArray::exactly(value)? else { return Ok(false) };
    let same = |found: &[isize], known: &[i64]| found.len() == known.len() && found.iter().zip(known).all(|(&a, &b)| a as i64 == b);
    Ok(array.dtype() == Some(known.dtype) && same(array.shape(), &known.shape) && same(array.strides(), &known.strides))
}

fn is_integer(value: &Bound<'_, PyAny>, known: i64) -> bool {
    let mut overflow = 0;
    // SAFETY: asked of an integer alone.
    value.is_exact_instance_of::<PyInt>()
        && unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) } == known
        && overflow == 0
}
