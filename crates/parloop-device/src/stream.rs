//! Streams: ordered work on a device. Copies, fills, events and launches all go through one.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::backend::RawStream;
use crate::device::Device;
use crate::error::{DeviceError, Result};
use crate::event::Event;
use crate::interrupt;
use crate::kind::DeviceKind;
use crate::launch::Launch;
use crate::memory::{Memory, PinnedMemory};
use crate::module::Function;
use crate::profile::{self, Took};

/// An ordered queue of work on a device. Clones are the same stream. CPU streams run their work in line.
///
/// ```
/// use parloop_device::Device;
/// let device = Device::open("cpu:1")?;
/// let stream = device.default_stream()?;
/// let memory = device.allocate(4)?;
/// stream.write(&memory, 0, &[1, 2, 3, 4])?;
/// let mut back = [0; 2];
/// stream.read(&memory, 1, &mut back)?;
/// assert_eq!(back, [2, 3]);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    raw: Arc<dyn RawStream>,
    is_foreign: bool,
}

impl Stream {
    pub(crate) fn from_raw(device: Device, raw: Arc<dyn RawStream>) -> Stream {
        Stream { is_foreign: raw.is_foreign(), device, raw }
    }

    /// The device it works on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn raw(&self) -> &dyn RawStream {
        &*self.raw
    }

    /// The driver's handle: a `CUstream`, `hipStream_t` or `cl_command_queue`; 0 is the default stream.
    pub fn handle(&self) -> u64 {
        self.raw.handle()
    }

    /// Sets `len` bytes from `offset` on to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`].
    pub fn fill(&self, dst: &Memory, offset: usize, len: usize, value: u8) -> Result<()> {
        self.check("fill", dst, offset, len)?;
        if len == 0 {
            return Ok(());
        }
        if let Some(recorder) = self.recorder() {
            return recorder.fill(dst, offset, len, value);
        }
        self.fill_at_once(dst, offset, len, value)
    }

    /// [`fill`](Self::fill), which is done at once while the stream is recorded too: for memory that nothing recorded uses yet.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub fn fill_at_once(&self, dst: &Memory, offset: usize, len: usize, value: u8) -> Result<()> {
        self.check("fill", dst, offset, len)?;
        if len == 0 {
            return Ok(());
        }
        // SAFETY: `dst` is live memory of this device and the range was checked.
        unsafe { self.raw.fill(dst.handle(), dst.offset() + offset, len, value) }
    }

    /// Copies host bytes to `dst` from `offset` on; returns when `src` may be changed.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`].
    pub fn write(&self, dst: &Memory, offset: usize, src: &[u8]) -> Result<()> {
        self.refuse_recording(|| "a copy from the host".to_owned(), None)?;
        self.write_at_once(dst, offset, src)
    }

    /// [`write`](Self::write), which is done at once while the stream is recorded too: for memory that nothing recorded uses yet.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_at_once(&self, dst: &Memory, offset: usize, src: &[u8]) -> Result<()> {
        self.check("write", dst, offset, src.len())?;
        if src.is_empty() {
            return Ok(());
        }
        self.drain()?;
        // SAFETY: as in `fill`; `src` is borrowed until the call returns, which waits for it.
        unsafe { self.raw.write(dst.handle(), dst.offset() + offset, src.as_ptr(), src.len(), true) }
    }

    /// Copies device bytes from `offset` on to `dst`; returns when they are there.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`], and the failure of earlier work.
    pub fn read(&self, src: &Memory, offset: usize, dst: &mut [u8]) -> Result<()> {
        self.refuse_recording(|| "a copy to the host".to_owned(), None)?;
        self.check("read", src, offset, dst.len())?;
        if dst.is_empty() {
            return Ok(());
        }
        self.drain()?;
        // SAFETY: as in `fill`; `dst` is borrowed until the call returns, which waits for it.
        unsafe { self.raw.read(src.handle(), src.offset() + offset, dst.as_mut_ptr(), dst.len(), true) }
    }

    /// Queues a copy of all of `src` to `dst` from `offset` on and returns at once.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`].
    pub fn write_pinned(&self, dst: &Memory, offset: usize, src: &PinnedMemory) -> Result<()> {
        self.refuse_recording(|| "a copy from the host".to_owned(), None)?;
        self.check("write", dst, offset, src.len())?;
        self.device.check_same(src.device(), "write")?;
        if src.is_empty() {
            return Ok(());
        }
        // SAFETY: as in `fill`; `src` waits for the event below before its bytes can be changed or freed.
        unsafe { self.raw.write(dst.handle(), dst.offset() + offset, src.pointer(), src.len(), false)? };
        self.keep_until_done(src)
    }

    /// Queues a copy from `src`, from `offset` on, that fills `dst`, and returns at once.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`].
    pub fn read_pinned(&self, src: &Memory, offset: usize, dst: &mut PinnedMemory) -> Result<()> {
        self.refuse_recording(|| "a copy to the host".to_owned(), None)?;
        self.check("read", src, offset, dst.len())?;
        self.device.check_same(dst.device(), "read")?;
        if dst.is_empty() {
            return Ok(());
        }
        // SAFETY: as in `fill`; `dst` waits for the event below before its bytes can be seen or freed.
        unsafe { self.raw.read(src.handle(), src.offset() + offset, dst.pointer(), dst.len(), false)? };
        self.keep_until_done(dst)
    }

    fn keep_until_done(&self, pinned: &PinnedMemory) -> Result<()> {
        match self.record() {
            Ok(event) => pinned.add_pending(event),
            Err(error) => {
                self.synchronize()?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Copies `len` bytes between memory of this device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], [`DeviceError::OtherDevice`], and overlapping ranges of one memory.
    pub fn copy(&self, dst: &Memory, dst_offset: usize, src: &Memory, src_offset: usize, len: usize) -> Result<()> {
        self.check("copy", dst, dst_offset, len)?;
        self.check("copy", src, src_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        let at = (dst_offset, src_offset);
        let (dst_offset, src_offset) = (dst.offset() + dst_offset, src.offset() + src_offset);
        let (to, from) = if self.device.kind() == DeviceKind::OpenCl {
            (dst_offset as u64, src_offset as u64)
        } else {
            (dst.handle() + dst_offset as u64, src.handle() + src_offset as u64)
        };
        let same_memory = self.device.kind() != DeviceKind::OpenCl || dst.handle() == src.handle();
        if same_memory && to < from + len as u64 && from < to + len as u64 {
            let what = format!("copy {len} bytes onto themselves, {} bytes further; copy through other memory", to.abs_diff(from));
            return Err(DeviceError::Unsupported { device: self.device.id().to_string(), what });
        }
        if let Some(recorder) = self.recorder() {
            return recorder.copy(dst, at.0, src, at.1, len);
        }
        // SAFETY: both are live memory of this device, the ranges were checked and do not overlap.
        unsafe { self.raw.copy(dst.handle(), dst_offset, src.handle(), src_offset, len) }
    }

    /// Records a new event after all work queued so far.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn record(&self) -> Result<Event> {
        self.refuse_recording(|| "an event".to_owned(), None)?;
        let event = self.device.create_event()?;
        self.raw.record(&*event.raw)?;
        Ok(event)
    }

    /// Records an existing event after all work queued so far.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`].
    pub fn record_into(&self, event: &Event) -> Result<()> {
        self.refuse_recording(|| "an event".to_owned(), None)?;
        self.device.check_same(&event.device, "record an event")?;
        self.raw.record(&*event.raw)
    }

    /// Later work on this stream starts after the event.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], [`DeviceError::EventNotRecorded`].
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.refuse_recording(|| "a wait for an event".to_owned(), None)?;
        self.device.check_same(&event.device, "wait for an event")?;
        event.query()?;
        self.raw.wait_event(&*event.raw)
    }

    /// Later work on this stream starts after what `other`, a stream of the same device, was given so far. While this stream is
    /// recorded, the host waits for that work instead.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`], or the failure of that work; [`DeviceError::NotRecordable`] when `other` is recorded.
    pub fn wait_for_stream(&self, other: &Stream) -> Result<()> {
        self.device.check_same(&other.device, "wait for a stream")?;
        if self.handle() == other.handle() {
            return Ok(());
        }
        if self.is_recorded() {
            return other.synchronize();
        }
        self.wait_for(&other.record()?)
    }

    /// Waits until all work queued so far is done.
    ///
    /// # Errors
    /// The failure of that work.
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_recording(|| "a wait of the host".to_owned(), None)?;
        self.wait()
    }

    /// [`synchronize`](Self::synchronize), of a stream that is not recorded.
    pub(crate) fn wait(&self) -> Result<()> {
        let raw = self.raw.clone();
        self.device.wait(Some(&|| self.raw.is_idle()), move || raw.synchronize())
    }

    /// Waits for earlier work before the driver is given memory of the host, where Ctrl-C may end that: the driver must not have the memory then.
    fn drain(&self) -> Result<()> {
        if interrupt::is_heard() && self.device.kind() != DeviceKind::Cpu { self.wait() } else { Ok(()) }
    }

    /// Whether all work queued so far is done.
    ///
    /// # Errors
    /// The failure of that work.
    pub fn is_idle(&self) -> Result<bool> {
        self.raw.is_idle()
    }

    /// Whether another library owns this stream, so that freeing memory is not ordered with it by itself.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Queues `function`. `args[i]` points at a value of `sizes[i]` bytes, read before the call returns; for memory it is the
    /// [`handle`](Memory::handle), which on OpenCL leads to the [`offset`](Memory::offset) before a part.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`], [`DeviceError::OtherDevice`], or the driver's failure.
    ///
    /// # Safety
    /// `args` and `sizes` have the number, sizes and types of the function's parameters; memory among them is live until the work
    /// is done and large enough for what the function does with it. On a [foreign](Self::is_foreign) stream,
    /// [`Memory::note_foreign_use`] was called for each memory.
    pub unsafe fn launch(&self, function: &Function, launch: &Launch, args: &[*mut c_void], sizes: &[usize]) -> Result<()> {
        debug_assert_eq!(args.len(), sizes.len());
        self.device.check_same(&function.device, "launch")?;
        if launch.range == 0 || launch.grid.contains(&0) {
            return Ok(());
        }
        self.refuse_recording(
            || "a launch with borrowed memory".to_owned(),
            Some("pass the owners of the memory to `Stream::record_launch`"),
        )?;
        // SAFETY: the stream is alive and of the function's device; the caller guarantees the rest.
        self.timed(function.name(), || unsafe { function.start(self.raw.handle(), launch, args, sizes) })
    }

    /// Does work, and has profiles count what it queues on this stream under that name.
    ///
    /// # Errors
    /// Those of the work.
    #[inline]
    pub fn timed<T, E>(&self, name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if profile::is_on() { self.profiled(name, work) } else { work() }
    }

    /// By the clock of the host on a CPU, where work is done when its call returns, and by events elsewhere. What cannot be timed is not.
    #[cold]
    fn profiled<T, E>(&self, name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if self.device.kind() == DeviceKind::Cpu {
            let start = Instant::now();
            let done = work()?;
            profile::took(self.device.id(), name, &Took::Host(start.elapsed()));
            return Ok(done);
        }
        let record = || self.device.create_event().and_then(|event| self.raw.record(&*event.raw).map(|()| event)).ok();
        let start = record();
        let done = work()?;
        if let (Some(start), Some(end)) = (start, record()) {
            profile::took(self.device.id(), name, &Took::Device(start, end));
        }
        Ok(done)
    }

    pub(crate) fn check(&self, operation: &'static str, memory: &Memory, offset: usize, len: usize) -> Result<()> {
        // CPU devices differ in their threads only: their memory is the host's.
        let is_host = self.device.kind() == DeviceKind::Cpu && memory.device().kind() == DeviceKind::Cpu;
        if !is_host {
            self.device.check_same(memory.device(), operation)?;
        }
        memory.check_range(operation, offset, len)?;
        if self.is_foreign {
            memory.note_foreign_use();
        }
        Ok(())
    }
}

impl Device {
    /// Memory of `bytes` zero bytes, ready for use on every stream.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_zeroed(&self, bytes: usize) -> Result<Memory> {
        if let Some(memory) = Memory::allocate_zeroed(self, bytes)? {
            return Ok(memory);
        }
        let memory = self.allocate(bytes)?;
        self.default_stream()?.fill_at_once(&memory, 0, bytes, 0)?;
        self.raw.order_after_default()?;
        Ok(memory)
    }

    /// The stream that is always there. On CUDA and HIP it is the legacy default stream, which other libraries use too.
    ///
    /// # Errors
    /// When the driver cannot be set up.
    pub fn default_stream(&self) -> Result<Stream> {
        Ok(Stream::from_raw(self.clone(), self.raw.default_stream()?))
    }

    /// A further stream.
    ///
    /// # Errors
    /// When the driver cannot make one.
    pub fn create_stream(&self) -> Result<Stream> {
        Ok(Stream::from_raw(self.clone(), self.raw.create_stream()?))
    }

    /// Uses a stream (OpenCL: a command queue) that another library owns.
    ///
    /// # Errors
    /// When the driver does not know the handle.
    ///
    /// # Safety
    /// `handle` is a live stream of this device until the result is dropped.
    pub unsafe fn adopt_stream(&self, handle: u64) -> Result<Stream> {
        // SAFETY: the caller upholds the same contract.
        Ok(Stream::from_raw(self.clone(), unsafe { self.raw.adopt_stream(handle)? }))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Stream {:#x} on {}>", self.handle(), self.device.id())
    }
}
