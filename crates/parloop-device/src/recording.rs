//! Recordings, which write down the work of a stream instead of doing it, and replays, which do that work as often as they are asked.
//!
//! What is recorded is a list of our own on every device. Where the driver has graphs, the list becomes one when the recording is
//! finished, by capturing a stream that nobody else sees: no stream of the user's is ever in the state of being captured.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::backend::{RawGraph, RawStream};
use crate::error::{DeviceError, Result};
use crate::forked::{Guard, Lock};
use crate::launch::Launch;
use crate::memory::Memory;
use crate::module::Function;
use crate::stream::Stream;

/// Something that a replay keeps alive: memory, holds on its address, owners of host data.
pub type KeepAlive = Arc<dyn Any + Send + Sync>;

/// The hint for operations that cannot be recorded.
const HINT: &str = "do it before the recording begins or after it is finished";

/// Recordings in progress in this process. As long as there is none, asking whether a stream is recorded is one load.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The recordings that this thread began.
    static OWN: RefCell<Vec<Weak<Recorder>>> = const { RefCell::new(Vec::new()) };
}

/// A recording in progress: while it lives, launches, fills and copies that its thread gives to its stream are written down and not done.
/// Dropping it forgets them. Work of other threads on the stream is not affected.
///
/// ```
/// use parloop_device::Device;
/// let device = Device::open("cpu:1")?;
/// let stream = device.default_stream()?;
/// let (a, b) = (device.allocate_zeroed(4)?, device.allocate_zeroed(4)?);
/// let recording = stream.begin_recording()?;
/// stream.copy(&b, 0, &a, 0, 4)?;
/// let replay = recording.finish()?;
///
/// stream.write(&a, 0, &[1, 2, 3, 4])?;
/// replay.run()?;
/// let mut back = [0; 4];
/// stream.read(&b, 0, &mut back)?;
/// assert_eq!(back, [1, 2, 3, 4]);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[must_use = "dropping a recording discards it"]
pub struct Recording {
    recorder: Arc<Recorder>,
}

pub(crate) struct Recorder {
    stream: Stream,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    steps: Vec<RecordedOperation>,
    kept: Vec<KeepAlive>,
    /// The first thing that was requested and cannot be recorded.
    refused: Option<String>,
}

impl Recorder {
    fn state(&self) -> Guard<'_, State> {
        // What another thread was adding when the process forked is not whole.
        self.state.lock_or(|| State { refused: Some("a fork while another thread used the recording".to_owned()), ..State::default() })
    }

    fn add(&self, step: RecordedOperation, kept: impl IntoIterator<Item = KeepAlive>) {
        let mut state = self.state();
        state.steps.push(step);
        state.kept.extend(kept);
    }

    pub(crate) fn fill(&self, dst: &Memory, offset: usize, len: usize, value: u8) -> Result<()> {
        let kept = keep(dst)?;
        self.add(RecordedOperation::Fill { dst: dst.handle(), offset: dst.offset() + offset, len, value }, [kept]);
        Ok(())
    }

    pub(crate) fn copy(&self, dst: &Memory, dst_offset: usize, src: &Memory, src_offset: usize, len: usize) -> Result<()> {
        let kept = [keep(dst)?, keep(src)?];
        let (dst_offset, src_offset) = (dst.offset() + dst_offset, src.offset() + src_offset);
        self.add(RecordedOperation::Copy { dst: dst.handle(), dst_offset, src: src.handle(), src_offset, len }, kept);
        Ok(())
    }

    /// The error for what cannot be recorded. The recording is of no use from here on.
    #[cold]
    pub(crate) fn refuse(&self, what: String, hint: &'static str) -> DeviceError {
        self.state().refused.get_or_insert_with(|| what.clone());
        DeviceError::NotRecordable { device: self.stream.device().id().to_string(), what, hint }
    }
}

/// The memory with a hold on its address, which would otherwise follow when it grows.
fn keep(memory: &Memory) -> Result<KeepAlive> {
    let export = memory.export()?;
    Ok(Arc::new((memory.clone(), export)))
}

/// Fails while this thread records any stream, and abandons those recordings: for changes by the host of data that replays would not
/// repeat. `what` completes "… cannot be recorded".
///
/// # Errors
/// [`DeviceError::NotRecordable`].
#[inline]
pub fn refuse_recording(what: impl Fn() -> String) -> Result<()> {
    if UNDER_WAY.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    let own = OWN.try_with(|own| own.borrow().iter().filter_map(Weak::upgrade).collect::<Vec<_>>()).unwrap_or_default();
    // Each of them is abandoned.
    let refusals: Vec<DeviceError> = own.iter().map(|recorder| recorder.refuse(what(), HINT)).collect();
    refusals.into_iter().next().map_or(Ok(()), Err)
}

impl Stream {
    /// Begins a recording: see [`Recording`].
    ///
    /// # Errors
    /// [`DeviceError::AlreadyRecording`] when this thread records this stream already.
    pub fn begin_recording(&self) -> Result<Recording> {
        if self.recorder().is_some() {
            return Err(DeviceError::AlreadyRecording { device: self.device().id().to_string() });
        }
        let recorder = Arc::new(Recorder { stream: self.clone(), state: Lock::default() });
        OWN.with_borrow_mut(|own| {
            own.retain(|recorder| recorder.strong_count() > 0);
            own.push(Arc::downgrade(&recorder));
        });
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Ok(Recording { recorder })
    }

    /// Whether this thread is recording this stream, so that its work is written down instead of done. All streams of a CPU device
    /// are one.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        // The thread that began a recording sees its own count.
        UNDER_WAY.load(Ordering::Relaxed) != 0 && self.find_recorder().is_some()
    }

    #[inline]
    pub(crate) fn recorder(&self) -> Option<Arc<Recorder>> {
        if UNDER_WAY.load(Ordering::Relaxed) == 0 { None } else { self.find_recorder() }
    }

    #[cold]
    fn find_recorder(&self) -> Option<Arc<Recorder>> {
        let is_it = |recorder: &Arc<Recorder>| recorder.stream.device().same(self.device()) && recorder.stream.handle() == self.handle();
        // A thread that ends has no recordings left.
        OWN.try_with(|own| own.borrow().iter().filter_map(Weak::upgrade).find(is_it)).ok().flatten()
    }

    /// Fails while this thread records this stream, and abandons the recording: for work that cannot be recorded. `what` completes
    /// "… cannot be recorded".
    ///
    /// # Errors
    /// [`DeviceError::NotRecordable`].
    #[inline]
    pub fn refuse_recording(&self, what: impl FnOnce() -> String, hint: Option<&'static str>) -> Result<()> {
        match self.recorder() {
            None => Ok(()),
            Some(recorder) => Err(recorder.refuse(what(), hint.unwrap_or(HINT))),
        }
    }

    /// Has the replay keep something alive, where this thread records this stream: the owner of memory that was adopted.
    #[inline]
    pub fn keep_recorded(&self, kept: impl FnOnce() -> KeepAlive) {
        if let Some(recorder) = self.recorder() {
            recorder.state().kept.push(kept());
        }
    }

    /// Adds a launch to the recording that is in progress; the values of its arguments are copied, and `kept` lives as long as the replay.
    ///
    /// # Errors
    /// [`DeviceError::NotRecording`] when this thread does not record this stream; as [`launch`](Self::launch).
    ///
    /// # Safety
    /// As [`launch`](Self::launch), for each run of the replay: `kept` keeps all memory among the arguments alive and where it is. The
    /// function only reads its arguments.
    pub unsafe fn record_launch(
        &self,
        function: &Function,
        launch: &Launch,
        args: &[*mut c_void],
        sizes: &[usize],
        kept: Vec<KeepAlive>,
    ) -> Result<()> {
        self.device().check_same(function.device(), "launch")?;
        let recorder = self.recorder().ok_or_else(|| DeviceError::NotRecording { device: self.device().id().to_string() })?;
        if launch.range == 0 || launch.grid.contains(&0) {
            return Ok(());
        }
        // SAFETY: each argument points at a value of its size, as the caller guarantees.
        let launch = unsafe { RecordedLaunch::new(function, launch, args, sizes) };
        recorder.add(RecordedOperation::Launch(launch), kept);
        Ok(())
    }
}

impl Recording {
    /// The stream that is recorded.
    pub fn stream(&self) -> &Stream {
        &self.recorder.stream
    }

    /// How many launches, fills and copies it has so far.
    pub fn len(&self) -> usize {
        self.recorder.state().steps.len()
    }

    /// Whether nothing was recorded so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the recording and prepares what was recorded.
    ///
    /// # Errors
    /// [`DeviceError::RecordingAbandoned`] when something was requested that cannot be recorded; the driver's failure.
    pub fn finish(self) -> Result<Replay> {
        let State { steps, kept, refused } = std::mem::take(&mut *self.recorder.state());
        let stream = self.recorder.stream.clone();
        drop(self);
        if let Some(what) = refused {
            return Err(DeviceError::RecordingAbandoned { device: stream.device().id().to_string(), what });
        }
        // SAFETY: what was recorded is kept by the replay, which outlives the graph.
        let mut queue_all = |raw: &dyn RawStream| steps.iter().try_for_each(|step| unsafe { step.queue(raw) });
        let graph = if steps.is_empty() { None } else { stream.device().raw.capture(&mut queue_all)? };
        let has_run = AtomicBool::new(false);
        Ok(Replay { inner: Arc::new(Prepared { graph, steps, stream, has_run, kept }) })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Recording of {} on {}>", steps_text(self.len()), self.stream().device().id())
    }
}

/// One thing to do. Handles are of memory that the replay keeps alive where it is.
enum RecordedOperation {
    Launch(RecordedLaunch),
    Fill { dst: u64, offset: usize, len: usize, value: u8 },
    Copy { dst: u64, dst_offset: usize, src: u64, src_offset: usize, len: usize },
}

impl RecordedOperation {
    /// What profiles call it.
    fn name(&self) -> &str {
        match self {
            RecordedOperation::Launch(one) => one.function.name(),
            RecordedOperation::Fill { .. } => "fill",
            RecordedOperation::Copy { .. } => "copy",
        }
    }

    /// # Safety
    /// What the step was recorded with is still kept, and `stream` is of its device.
    #[inline]
    unsafe fn queue(&self, stream: &dyn RawStream) -> Result<()> {
        // SAFETY: ranges and arguments were checked when they were recorded; the caller guarantees the rest.
        unsafe {
            match *self {
                RecordedOperation::Launch(ref one) => one.function.start(stream.handle(), &one.launch, &one.args, &one.sizes),
                RecordedOperation::Fill { dst, offset, len, value } => stream.fill(dst, offset, len, value),
                RecordedOperation::Copy { dst, dst_offset, src, src_offset, len } => stream.copy(dst, dst_offset, src, src_offset, len),
            }
        }
    }
}

/// A launch with values of its own.
struct RecordedLaunch {
    function: Function,
    launch: Launch,
    /// Where each value is, in `_values`.
    args: Vec<*mut c_void>,
    sizes: Vec<usize>,
    _values: Vec<[u64; 2]>,
}

// SAFETY: the pointers are to values that this owns and that functions only read.
unsafe impl Send for RecordedLaunch {}
// SAFETY: as above.
unsafe impl Sync for RecordedLaunch {}

impl RecordedLaunch {
    /// # Safety
    /// `args[i]` points at a value of `sizes[i]` bytes.
    unsafe fn new(function: &Function, launch: &Launch, args: &[*mut c_void], sizes: &[usize]) -> RecordedLaunch {
        let places = |size: &usize| size.div_ceil(size_of::<[u64; 2]>());
        let mut values = vec![[0u64; 2]; sizes.iter().map(places).sum()];
        let (mut copied, mut place) = (Vec::with_capacity(args.len()), values.as_mut_ptr());
        for (&arg, size) in args.iter().zip(sizes) {
            // SAFETY: there is room for all values, one behind the other; the caller guarantees the source.
            unsafe { place.cast::<u8>().copy_from_nonoverlapping(arg.cast(), *size) };
            copied.push(place.cast());
            place = place.wrapping_add(places(size));
        }
        RecordedLaunch { function: function.clone(), launch: *launch, args: copied, sizes: sizes.to_vec(), _values: values }
    }
}

/// Recorded work, ready to be done again and again. Clones are the same replay.
///
/// It keeps the memory and the code that it uses. Memory is used by reference: what is in it when the replay runs is what kernels see.
#[derive(Clone)]
pub struct Replay {
    inner: Arc<Prepared>,
}

struct Prepared {
    graph: Option<Box<dyn RawGraph>>,
    steps: Vec<RecordedOperation>,
    stream: Stream,
    has_run: AtomicBool,
    kept: Vec<KeepAlive>,
}

impl Replay {
    /// Queues all of it, in the order of the recording, on the stream that was recorded.
    ///
    /// # Errors
    /// When the device fails; [`DeviceError::NotRecordable`] while the stream is recorded.
    pub fn run(&self) -> Result<()> {
        let Prepared { graph, steps, stream, has_run, .. } = &*self.inner;
        stream.refuse_recording(|| "a replay".to_owned(), Some("call what it does instead"))?;
        match graph {
            Some(graph) => {
                has_run.store(true, Ordering::Relaxed);
                stream.timed("replay", || graph.launch(stream.handle()))
            }
            // SAFETY: `kept` has what the steps use.
            None => steps.iter().try_for_each(|step| stream.timed(step.name(), || unsafe { step.queue(stream.raw()) })),
        }
    }

    /// How many launches, fills and copies it does.
    pub fn len(&self) -> usize {
        self.inner.steps.len()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.inner.steps.is_empty()
    }

    /// Whether the driver has it as one graph.
    pub fn is_graph(&self) -> bool {
        self.inner.graph.is_some()
    }

    /// The stream it runs on.
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }

    /// What it keeps alive, in the order in which it was recorded.
    pub fn kept(&self) -> &[KeepAlive] {
        &self.inner.kept
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.graph.is_some() && self.has_run.load(Ordering::Relaxed) {
            // Drivers differ in whether a graph may go while it runs. A failure is that of its work and is reported where that is waited for.
            let _ = self.stream.wait();
        }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.is_graph() { ", one graph" } else { "" };
        write!(f, "<Replay of {} on {}{form}>", steps_text(self.len()), self.stream().device().id())
    }
}

fn steps_text(count: usize) -> String {
    if count == 1 { "1 step".into() } else { format!("{count} steps") }
}

#[cfg(test)]
mod tests {
    use parloop_forking::ends_well_in_a_child;

    #[test]
    fn a_recording_that_another_thread_used_at_a_fork_is_abandoned_in_the_child() {
        let stream = crate::Device::open("cpu:1").unwrap().default_stream().unwrap();
        let recording = stream.begin_recording().unwrap();
        let recorder = recording.recorder.clone();
        let (held, is_held) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let _state = recorder.state();
            held.send(()).unwrap();
            let _ = ends.recv();
        });
        is_held.recv().unwrap();
        assert!(ends_well_in_a_child(|| recording.is_empty() && recording.recorder.state().refused.is_some()));
        drop(end);
        thread.join().unwrap();
        assert!(recording.finish().is_ok(), "the parent's is as it was");
    }
}
