//! Recordings of a context: kernels that are called while one lives are written down, and a replay launches them all again.

use std::fmt;
use std::sync::Arc;

use parloop_device as dev;
use parloop_device::{DeviceError, KeepAlive, Stream, forked};
use smallvec::SmallVec;

use crate::check::{Check, Checked};
use crate::context::Context;
use crate::error::Result;

/// A recording in progress, made by [`Context::record`]. Dropping it forgets what was recorded.
#[must_use = "dropping a recording discards it"]
pub struct Recording {
    inner: dev::Recording,
}

impl Context {
    /// Begins a recording. While it lives, kernels that this thread calls on this context, and copies and fills on its stream, are
    /// written down in order and **not done**. [`Recording::finish`] makes a [`Replay`] of them, which does them as often as it is run:
    /// as one graph of the driver's on CUDA and HIP, as a prepared list elsewhere.
    ///
    /// Scalars are recorded by value, arrays by reference: a replay sees what is in them when it runs, and keeps them alive. An array
    /// that is made while recording is made at once and kept too; zeros for it are part of what is recorded.
    ///
    /// What needs the host in the middle cannot be recorded and is an error
    /// ([`DeviceError::NotRecordable`](parloop_device::DeviceError::NotRecordable)): copies from and to the host, host data as an
    /// argument, events and waiting, kernels that return a value, Fourier transforms, other replays. The recording is then abandoned:
    /// `finish` fails, whatever is called meanwhile.
    ///
    /// A recording belongs to the thread that began it. Other threads' work on the same context is done as ever, and they may record
    /// it too; one thread records a context once at a time. On a CPU all streams of a device are one.
    ///
    /// ```
    /// use parloop_kernel::{Context, args};
    /// let ctx = Context::open("cpu")?;
    /// let source = "GPUKERN void add(double *x, double a, int n) { VECTORIZE_OVER(i, n) x[i] += a; END_VECTORIZE }";
    /// // SAFETY: all calls pass at least `n` elements.
    /// let prog = unsafe { ctx.compile(source)? };
    /// let add = prog.kernel("add")?;
    /// let mut x = ctx.array(&[0.0, 10.0])?;
    ///
    /// let recording = ctx.recording()?;
    /// add.call(args![&mut x, 1.0, 2])?;
    /// add.call(args![&mut x, 0.5, 1])?;
    /// let steps = recording.finish()?;
    /// assert_eq!(x.to_vec()?, [0.0, 10.0]);
    ///
    /// steps.run()?;
    /// steps.run()?;
    /// assert_eq!(x.to_vec()?, [3.0, 12.0]);
    /// # Ok::<(), parloop_kernel::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::AlreadyRecording`](parloop_device::DeviceError::AlreadyRecording).
    pub fn recording(&self) -> Result<Recording> {
        Ok(Recording { inner: self.stream().begin_recording()? })
    }

    /// [`recording`](Self::recording) by its older name: of a stream, `record` is an event.
    ///
    /// # Errors
    /// As [`recording`](Self::recording).
    #[deprecated(note = "call `recording`")]
    pub fn record(&self) -> Result<Recording> {
        self.recording()
    }

    /// Whether this thread is recording this context.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.stream().is_recorded()
    }
}

impl Recording {
    /// How many launches, fills and copies it has so far.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether nothing was recorded so far.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Ends the recording and prepares what was recorded.
    ///
    /// # Errors
    /// [`DeviceError::RecordingAbandoned`](parloop_device::DeviceError::RecordingAbandoned) when something was requested that cannot be
    /// recorded; the driver's failure.
    pub fn finish(self) -> Result<Replay> {
        let inner = self.inner.finish()?;
        let mut checks: Vec<Checks> = Vec::new();
        for checked in inner.kept().iter().filter_map(|kept| kept.downcast_ref::<Checked>()) {
            match checks.iter_mut().find(|known| Arc::ptr_eq(&known.check, &checked.check)) {
                Some(known) if known.kernels.contains(&checked.kernel) => {}
                Some(known) => known.kernels.push(checked.kernel.clone()),
                None => checks.push(Checks { check: checked.check.clone(), kernels: vec![checked.kernel.clone()] }),
            }
        }
        let before: Vec<_> = inner.kept().iter().filter_map(|kept| kept.clone().downcast::<BeforeReplay>().ok()).collect();
        let mut turns: Vec<Turns> = Vec::new();
        for work in &before {
            match turns.iter_mut().find(|known| Arc::ptr_eq(&known.at, &work.turns)) {
                Some(known) => known.alone |= work.writes,
                None => turns.push(Turns { at: work.turns.clone(), alone: work.writes }),
            }
        }
        turns.sort_by_key(|turns| turns.at.rank());
        checks.sort_by_key(|checks| Arc::as_ptr(&checks.check).addr());
        Ok(Replay { inner, checks: checks.into(), turns: turns.into(), before: before.into() })
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The record of a program's checks and the kernels of it that run.
struct Checks {
    check: Arc<Check>,
    kernels: Vec<String>,
}

/// Recorded work, ready to be done again and again. Clones are the same replay.
///
/// It keeps the arrays and the compiled code that it uses, whatever becomes of the handles with which it was recorded.
#[derive(Clone)]
pub struct Replay {
    inner: dev::Replay,
    checks: Arc<[Checks]>,
    turns: Arc<[Turns]>,
    before: Arc<[Arc<BeforeReplay>]>,
}

/// Work of the host that every replay does before anything is launched. Given to
/// [`Stream::keep_recorded`](parloop_device::Stream::keep_recorded) while recording, by layers that keep books about where data is.
pub struct BeforeReplay {
    turns: Arc<forked::Turns>,
    writes: bool,
    work: Box<dyn Fn() -> Result<()> + Send + Sync>,
}

impl BeforeReplay {
    /// That work. The replay locks some data before it starts and until everything is launched, exclusively if it writes; locks at several
    /// are taken in the order of their [`rank`](forked::Turns::rank).
    pub fn new(turns: &Arc<forked::Turns>, writes: bool, work: impl Fn() -> Result<()> + Send + Sync + 'static) -> BeforeReplay {
        BeforeReplay { turns: turns.clone(), writes, work: Box::new(work) }
    }
}

/// Where a replay takes its turn, and whether alone.
struct Turns {
    at: Arc<forked::Turns>,
    alone: bool,
}

impl Turns {
    fn take(&self) -> Result<forked::Turn<'_>> {
        Ok(self.at.take(self.alone).map_err(|_| DeviceError::LeftLocked { what: "data of a replay" })?)
    }
}

impl Replay {
    /// Does all of it, in the order of the recording, on the stream of the context; on a GPU it is queued, like a call of a kernel.
    ///
    /// # Errors
    /// When the device fails. In checked mode [`KernelError::Check`](crate::KernelError::Check) for the first check that failed: the
    /// records are taken once, after everything was done.
    #[inline]
    pub fn run(&self) -> Result<()> {
        let _turns: SmallVec<[_; 8]> = self.turns.iter().map(Turns::take).collect::<Result<_>>()?;
        for before in &*self.before {
            (before.work)()?;
        }
        if self.checks.is_empty() {
            return Ok(self.inner.run()?);
        }
        let _turns: Vec<_> = self.checks.iter().map(|checks| checks.check.turn()).collect();
        self.inner.run()?;
        let mut outcome = Ok(());
        for Checks { check, kernels } in &*self.checks {
            // Each is taken, so that no failure is left for someone else.
            outcome = outcome.and(check.take(self.inner.stream(), &kernels.join("` or `")));
        }
        outcome
    }

    /// How many launches, fills and copies it does.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Whether the driver has it as one graph.
    pub fn is_graph(&self) -> bool {
        self.inner.is_graph()
    }

    /// The stream it runs on.
    pub fn stream(&self) -> &Stream {
        self.inner.stream()
    }

    /// What it keeps alive, in the order in which it was recorded.
    pub fn kept(&self) -> &[KeepAlive] {
        self.inner.kept()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
