//! `parloop.Recording`, and what must not have changed when a recorded or bound call is repeated.

use std::sync::{Arc, Mutex, MutexGuard};

use parloop_kernel as ker;
use parloop_mesh as mesh;
use parloop_object as obj;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Array;
use crate::context::Context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::memory::Memory;
use crate::owner::{ArrayExtents, Owner};
use crate::released::released;

/// What the kept arguments of a call must still be when it is repeated.
#[derive(Default)]
pub struct Watched {
    arrays: Vec<WatchedArray>,
    /// Objects that can be freed by hand.
    pub views: Vec<obj::View>,
}

/// A NumPy array as it was when the call was made.
struct WatchedArray {
    name: String,
    seen: ArrayExtents,
}

/// How a call was kept.
#[derive(Clone, Copy)]
pub enum Kind {
    Bound,
    Recorded,
}

impl Watched {
    /// Adds the argument of that name if it is a NumPy array, or shares the memory of one.
    pub fn add_array(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(array) = value.cast::<Array>() {
            return self.add_owner(name, value.py(), array.get().owner.as_deref());
        }
        if let Ok(memory) = value.cast::<Memory>() {
            return self.add_owner(name, value.py(), memory.get().owner.as_deref());
        }
        self.add_seen(name, ArrayExtents::of(value)?);
        Ok(())
    }

    fn add_owner(&mut self, name: &str, py: Python<'_>, owner: Option<&Owner>) -> PyResult<()> {
        if let Some(owner) = owner {
            self.add_seen(name, ArrayExtents::of(owner.bind(py))?);
        }
        Ok(())
    }

    /// Adds memory as it was seen.
    pub fn add_seen(&mut self, name: &str, seen: ArrayExtents) {
        if !seen.is_empty() {
            self.arrays.push(WatchedArray { name: name.to_owned(), seen });
        }
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty() && self.views.is_empty()
    }

    /// Fails when an array was resized or an object freed.
    pub fn check(&self, py: Python<'_>, kind: Kind) -> Result<()> {
        for watched in &self.arrays {
            if !watched.seen.is_there(py)? {
                let (done, advice) = match kind {
                    Kind::Bound => ("bound", "bind it again"),
                    Kind::Recorded => ("recorded", "record it again"),
                };
                return Err(PyValueError::new_err(format!("array `{}` was resized after it was {done}; {advice}", watched.name)).into());
            }
        }
        for view in &self.views {
            view.check_alive()?;
        }
        Ok(())
    }
}

/// Whether what a replay keeps may have other memory when it is repeated.
fn is_looked_at(kept: &ker::KeepAlive) -> bool {
    kept.downcast_ref::<Watched>().is_some_and(|watched| !watched.is_empty())
        || owner_in(kept).is_some_and(|owner| !owner.seen().is_empty())
        || kept.downcast_ref::<mesh::Storage>().is_some()
}

/// The owner of memory that a copy, a fill or a launch uses.
fn owner_in(kept: &ker::KeepAlive) -> Option<&Owner> {
    let of_array = || kept.downcast_ref::<Array>().and_then(|array| array.owner.as_deref());
    kept.downcast_ref::<Owner>().or_else(of_array)
}

fn check_kept(py: Python<'_>, kept: &ker::KeepAlive) -> Result<()> {
    if let Some(watched) = kept.downcast_ref::<Watched>() {
        return watched.check(py, Kind::Recorded);
    }
    if let Some(storage) = kept.downcast_ref::<mesh::Storage>() {
        return check_storage(py, storage);
    }
    match owner_in(kept) {
        Some(owner) => Ok(owner.seen().check(py, || "an array was resized after it was recorded; record it again".to_owned())?),
        None => Ok(()),
    }
}

/// Fails when the NumPy array whose memory a `Dat` or `Global` shares has other memory.
pub fn check_storage(py: Python<'_>, storage: &mesh::Storage) -> Result<()> {
    let reason = || "the NumPy array whose memory this data shares was resized; create the Dat or Global again".to_owned();
    match storage.owner().and_then(|owner| owner.downcast_ref::<Owner>()) {
        Some(owner) => Ok(owner.seen().check(py, reason)?),
        None => Ok(()),
    }
}

/// What was called inside `with ctx.recording() as steps:`; `steps()` does it again, as often as it is called.
///
/// `len(steps)` is the number of launches, copies and fills. See `Context.recording`.
#[pyclass(frozen, module = "parloop")]
pub struct Recording {
    context: ker::Context,
    state: Mutex<State>,
}

enum State {
    Ready,
    UnderWay(ker::Recording),
    Finished(Arc<Finished>),
    Failed,
}

struct Finished {
    replay: ker::Replay,
    watched: Vec<ker::KeepAlive>,
}

impl Recording {
    pub fn new(context: ker::Context) -> Recording {
        Recording { context, state: Mutex::new(State::Ready) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn finished(&self) -> Result<Arc<Finished>> {
        let reason = match &*self.state() {
            State::Finished(finished) => return Ok(finished.clone()),
            State::Ready => "nothing has been recorded; enter the recording with `with`",
            State::UnderWay(_) => "the recording is not finished; call it after its `with` block",
            State::Failed => "the recording was abandoned after an error; record again",
        };
        Err(Exception::RecordingError.error(format!("{}: {reason}", self.context.device().id())).into())
    }
}

#[pymethods]
impl Recording {
    fn __enter__(slf: Bound<'_, Self>) -> Result<Bound<'_, Self>> {
        let this = slf.get();
        let mut state = this.state();
        if !matches!(*state, State::Ready) {
            let reason = format!("{}: a recording can be entered once; create another with `ctx.recording()`", this.context.device().id());
            return Err(Exception::RecordingError.error(reason).into());
        }
        *state = State::UnderWay(this.context.recording()?);
        drop(state);
        Ok(slf)
    }

    fn __exit__(&self, kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) -> Result<()> {
        // What is dropped here may run Python's code, which may come back for the state.
        let taken = std::mem::replace(&mut *self.state(), State::Failed);
        match taken {
            State::UnderWay(recording) if kind.is_none() => {
                let replay = recording.finish()?;
                let watched = replay.kept().iter().filter(|kept| is_looked_at(kept)).cloned().collect();
                *self.state() = State::Finished(Arc::new(Finished { replay, watched }));
            }
            State::UnderWay(_) => {}
            other => *self.state() = other,
        }
        Ok(())
    }

    /// Does all that was recorded, in its order; on a GPU it is queued, as a call of a kernel is.
    fn __call__(&self, py: Python<'_>) -> Result<()> {
        let finished = self.finished()?;
        finished.watched.iter().try_for_each(|kept| check_kept(py, kept))?;
        Ok(released(py, || finished.replay.run())?)
    }

    fn __len__(&self) -> usize {
        match &*self.state() {
            State::Ready | State::Failed => 0,
            State::UnderWay(recording) => recording.len(),
            State::Finished(finished) => finished.replay.len(),
        }
    }

    /// Whether it is true: always, with steps or without.
    fn __bool__(&self) -> bool {
        true
    }

    /// Whether the driver has it as one graph.
    #[getter]
    fn is_graph(&self) -> Result<bool> {
        Ok(self.finished()?.replay.is_graph())
    }

    fn __repr__(&self) -> String {
        let device = self.context.device().id();
        match &*self.state() {
            State::Ready => format!("<Recording on {device}, not begun>"),
            State::UnderWay(recording) => format!("<Recording on {device}, in progress: {}>", steps(recording.len())),
            State::Failed => format!("<Recording on {device}, abandoned>"),
            State::Finished(finished) => {
                let form = if finished.replay.is_graph() { ", one graph" } else { "" };
                format!("<Recording on {device}: {}{form}>", steps(finished.replay.len()))
            }
        }
    }
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".into() } else { format!("{count} steps") }
}

#[pymethods]
impl Context {
    /// Records what is called inside `with ctx.recording() as steps:`, to do it again and again by `steps()`.
    ///
    /// Kernels that are called on this context, copies and fills are written down in order and **not done**. `steps()` then does them
    /// all: as one graph of the driver's on CUDA and HIP, as a prepared list elsewhere. Numbers are recorded by value, arrays by
    /// reference: each call of `steps` sees what is in them then, and `steps` keeps them alive.
    ///
    /// What needs the host in the middle cannot be recorded and is an error: copies from and to the host, a host array given to a
    /// kernel on a GPU, events, waiting, kernels that return a value, Fourier transforms, arithmetic of arrays that NumPy does.
    ///
    /// The recording is of this thread's work; other threads work on as ever. A thread records a context once at a time.
    ///
    /// Returns
    /// -------
    /// Recording
    ///     To enter with `with`, and to call afterwards.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, parloop as pl
    /// >>> ctx = pl.Context("cpu:1")
    /// >>> prog = ctx.compile("GPUKERN void add(double *x, double a, int n) { VECTORIZE_OVER(i, n) x[i] += a; END_VECTORIZE }")
    /// >>> x = ctx.zeros(2)
    /// >>> with ctx.recording() as steps:
    /// ...     prog.add(x=x, a=1.0, n=2)
    /// ...     prog.add(x=x, a=0.5, n=1)
    /// >>> len(steps), x.numpy()
    /// (2, array([0., 0.]))
    /// >>> steps(); steps()
    /// >>> x.numpy()
    /// array([3., 2.])
    fn recording(&self) -> Recording {
        Recording::new(self.inner.clone())
    }
}
