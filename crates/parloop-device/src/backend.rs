//! What a backend provides. The public types check bounds and devices, then call these; a backend may trust what it is given.
//!
//! Memory, streams and kernel arguments cross this border as plain 64-bit handles: an address on cpu, cuda and hip, a `cl_mem`
//! or `cl_command_queue` on OpenCL. The public types guarantee that a handle belongs to the backend device it is given to and is
//! alive during the call.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::binary::ModuleBinary;
use crate::error::{CompileError, Result};
use crate::identity::{MemoryInfo, Properties};
use crate::kind::Language;
use crate::launch::Launch;
use crate::transform::{FftDirection, FftShape};

/// One device of a backend. Opening one is cheap; drivers are set up at first use.
pub(crate) trait RawDevice: Send + Sync {
    fn properties(&self) -> &Properties;
    /// What a compiled binary depends on besides the kind of device.
    fn binary_target(&self) -> String;
    fn memory_info(&self) -> Result<MemoryInfo>;
    /// `bytes` is not zero. The content is undefined.
    fn allocate(&self, bytes: usize) -> Result<Arc<dyn RawMemory>>;
    /// The same, where drivers let other processes use it, if they do.
    fn allocate_for_processes(&self, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        self.allocate(bytes)
    }
    /// Memory of zeros, ready for use on every stream; `bytes` is not zero. `None` where the device has no cheaper way than to fill it.
    fn allocate_zeroed(&self, _bytes: usize) -> Result<Option<Arc<dyn RawMemory>>> {
        Ok(None)
    }
    /// Memory that can become longer; `bytes` may be zero. The content is undefined.
    fn allocate_growable(&self, bytes: usize) -> Result<Arc<Growable>>;
    /// Wraps memory that someone else owns. It is never freed by us; backends with reference counts hold one.
    ///
    /// # Safety
    /// `handle` is live memory of this device, at least as long as the result lives.
    unsafe fn adopt_memory(&self, handle: u64, bytes: usize) -> Result<Arc<dyn RawMemory>>;
    /// Page-locked host memory (plain host memory where the device has no such thing). `bytes` is not zero.
    fn allocate_pinned(&self, bytes: usize) -> Result<Box<dyn RawPinned>>;
    /// The stream that is always there, and with which the other streams of this device are ordered at allocation and free.
    fn default_stream(&self) -> Result<Arc<dyn RawStream>>;
    fn create_stream(&self) -> Result<Arc<dyn RawStream>>;
    /// # Safety
    /// `handle` is a live stream (queue) of this device, at least as long as the result lives.
    unsafe fn adopt_stream(&self, handle: u64) -> Result<Arc<dyn RawStream>>;
    fn create_event(&self) -> Result<Arc<dyn RawEvent>>;
    fn compiler(&self, language: Language) -> Result<Arc<dyn Compiler>, CompileError>;
    fn load(&self, binary: &ModuleBinary) -> Result<Arc<dyn RawModule>>;
    /// Waits for all work on all streams of the device.
    fn synchronize(&self) -> Result<()>;
    /// A wait for it was abandoned: from here on calls for it fail with `DeviceError::Abandoned`, and what is dropped is left to the driver, since
    /// drivers wait for work that may never end.
    fn abandon(&self) {}
    /// Later work on the other streams starts after what the default stream was given so far, where the driver does not see to it.
    fn order_after_default(&self) -> Result<()> {
        Ok(())
    }
    /// A graph of what `queue` gives to the stream that it is lent, none of which is done yet; `None` where the device has no graphs.
    fn capture(&self, _queue: &mut dyn FnMut(&dyn RawStream) -> Result<()>) -> Result<Option<Box<dyn RawGraph>>> {
        Ok(None)
    }
    /// A transform of a library of the device's own, on that stream; `None` where it has none. `shape` is one that can be transformed.
    fn plan_fft(&self, _stream: u64, _shape: &FftShape) -> Result<Option<Box<dyn RawFft>>> {
        Ok(None)
    }
    /// Calls `work` for parts of `0..items` on the device's own threads, or for all of it on the calling one.
    fn share(&self, items: u64, _expected_ns: f64, work: &(dyn Fn(u64, u64) + Sync)) {
        work(0, items);
    }
}

/// A piece of device memory; freed when dropped.
pub(crate) trait RawMemory: Send + Sync {
    /// What a kernel receives for this memory.
    fn handle(&self) -> u64;
    /// Whether the handle is an address that the host can read and write.
    fn is_host(&self) -> bool {
        false
    }
    /// Work outside the order of the device's own streams (on an adopted stream) has been given this memory.
    fn note_foreign_use(&self) {}
}

/// Memory that can become longer: where it is, which is asked for often, and what the backend knows of it.
pub(crate) struct Growable<R: RawGrowable + ?Sized = dyn RawGrowable> {
    pub(crate) place: Location,
    pub(crate) raw: R,
}

/// Where growable memory is currently.
pub(crate) struct Location {
    handle: AtomicU64,
    len: AtomicUsize,
    is_host: bool,
    /// How many have said that they use it where it is.
    in_use: AtomicUsize,
}

impl Location {
    pub(crate) fn new(handle: u64, len: usize, is_host: bool) -> Location {
        Location { handle: AtomicU64::new(handle), len: AtomicUsize::new(len), is_host, in_use: AtomicUsize::new(0) }
    }

    /// What a kernel receives for the whole.
    #[inline]
    pub(crate) fn handle(&self) -> u64 {
        self.handle.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Whether the handle is an address that the host can read and write.
    #[inline]
    pub(crate) fn is_host(&self) -> bool {
        self.is_host
    }

    /// Whether somebody uses it, so that an export must not move it.
    pub(crate) fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire) > 0
    }

    /// One more uses it, or one less.
    #[inline]
    pub(crate) fn use_more(&self) {
        self.in_use.fetch_add(1, Ordering::AcqRel);
    }

    #[inline]
    pub(crate) fn use_less(&self) {
        self.in_use.fetch_sub(1, Ordering::AcqRel);
    }

    /// A thread that sees the length also sees the handle.
    pub(crate) fn set(&self, handle: u64, len: usize) {
        self.handle.store(handle, Ordering::Release);
        self.len.store(len, Ordering::Release);
    }
}

/// A backend's part of growable memory; freed when dropped. Nobody uses the memory while it moves: when it grows and not in place, and
/// when it is held for the first time.
pub(crate) trait RawGrowable: Send + Sync {
    /// Makes it at least `len` bytes long and says where it is then. The content is kept; after a failure nothing has changed.
    fn grow(&self, place: &Location, device: &dyn RawDevice, stream: &dyn RawStream, len: usize) -> Result<()>;
    /// Whether it can become so long without moving.
    fn grows_in_place(&self, _len: usize) -> bool {
        false
    }
    /// Keeps the address until [`release`](Self::release), and says which it is.
    fn hold(&self, place: &Location, device: &dyn RawDevice) -> Result<u64>;
    /// Whether the next [`hold`](Self::hold) may move it.
    fn hold_moves(&self) -> bool {
        false
    }
    fn release(&self);
    /// As [`RawMemory::note_foreign_use`].
    fn note_foreign_use(&self) {}
}

/// Page-locked host memory; freed when dropped.
pub(crate) trait RawPinned: Send + Sync {
    fn pointer(&self) -> *mut u8;
}

/// An ordered queue of work. Calls return when the work is queued, except where they say otherwise.
///
/// # Safety (all unsafe methods)
/// Handles are live memory of this stream's device and ranges lie inside them; host pointers are valid for `len` bytes until the
/// work is done.
pub(crate) trait RawStream: Send + Sync {
    fn handle(&self) -> u64;
    /// Whether this stream was adopted, so that nothing orders it with the default stream.
    fn is_foreign(&self) -> bool {
        false
    }
    unsafe fn fill(&self, dst: u64, offset: usize, len: usize, value: u8) -> Result<()>;
    /// Host to device; with `wait`, returns when `src` may be changed, otherwise `src` is pinned and stays until the work is done.
    unsafe fn write(&self, dst: u64, offset: usize, src: *const u8, len: usize, wait: bool) -> Result<()>;
    /// Device to host; with `wait`, returns when `dst` is filled, otherwise `dst` is pinned and stays until the work is done.
    unsafe fn read(&self, src: u64, offset: usize, dst: *mut u8, len: usize, wait: bool) -> Result<()>;
    /// Device to device; the ranges do not overlap.
    unsafe fn copy(&self, dst: u64, dst_offset: usize, src: u64, src_offset: usize, len: usize) -> Result<()>;
    /// `event` was made by the same device.
    fn record(&self, event: &dyn RawEvent) -> Result<()>;
    /// Later work on this stream starts after the event.
    fn wait_event(&self, event: &dyn RawEvent) -> Result<()>;
    fn synchronize(&self) -> Result<()>;
    /// Whether all work queued so far is done.
    fn is_idle(&self) -> Result<bool>;
}

/// A point in the order of a stream. The backend's own type is behind `as_any`.
pub(crate) trait RawEvent: Send + Sync {
    fn as_any(&self) -> &dyn std::any::Any;
    /// The driver's handle (0 where there is none).
    fn handle(&self) -> u64;
    /// Whether the work before the event is done; an event never recorded is an error.
    fn query(&self) -> Result<bool>;
    fn wait(&self) -> Result<()>;
    /// Seconds from `earlier` to this event; both must be recorded and done.
    fn seconds_since(&self, earlier: &dyn RawEvent) -> Result<f64>;
}

/// Work that the driver has as one graph; given back when dropped, which is after its work is done. All that it uses outlives it.
pub(crate) trait RawGraph: Send + Sync {
    /// Queues all of it on a live stream of its device.
    fn launch(&self, stream: u64) -> Result<()>;
}

/// A planned transform; given back when dropped.
pub(crate) trait RawFft: Send + Sync {
    /// Queues it on its stream.
    ///
    /// # Safety
    /// As many elements as were planned for are at `address`, an address of this device and a multiple of their size.
    unsafe fn run(&self, address: u64, direction: FftDirection) -> Result<()>;
}

/// Compiled code on a device.
pub(crate) trait RawModule: Send + Sync {
    /// The function of that name; it keeps the module loaded.
    fn function(self: Arc<Self>, name: &str) -> Result<Arc<dyn RawFunction>>;
}

/// One entry point of a module.
pub(crate) trait RawFunction: Send + Sync {
    /// The most work items a block of this function may have.
    fn max_block(&self) -> u32;
    /// Queues the function. `args[i]` points at a value of `sizes[i]` bytes, which is read before the call returns.
    ///
    /// # Safety
    /// `args` fit the compiled function's parameters; memory among them is live until the work is done.
    unsafe fn launch(&self, stream: u64, launch: &Launch, args: &[*mut c_void], sizes: &[usize]) -> Result<()>;
}

/// Turns source text into a binary for one kind of device; needs no device for cpu, cuda and hip.
pub trait Compiler: Send + Sync {
    /// All that decides the binary besides source and options: the compiler itself, its version, the architecture, our own flags.
    /// Finding it starts no process.
    fn identity(&self) -> &str;
    /// Options with which it reads no header of its own, so that a source declares what it uses of the library, in a fraction of the time;
    /// none if it has no such options.
    fn without_headers(&self) -> &'static [&'static str] {
        &[]
    }
    /// Compiles `source` to a binary that a device of this kind loads.
    ///
    /// # Errors
    /// [`CompileError::Refused`] holds the compiler's own words.
    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, CompileError>;
}
