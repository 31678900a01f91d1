//! Checks that kernels make, on the host: after each launch the record of the first that failed is taken and becomes an error.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parloop_device::forked::{Guard, Lock};
use parloop_device::{DeviceKind, Function, Launch, Memory, Module, PinnedMemory, Stream};

use crate::error::{KernelError, Result};
use crate::prepare::symbol;

/// The record of a program: whether a check failed, which, and its index and limit.
pub(crate) struct Check {
    /// What each site checks, in words.
    sites: Vec<String>,
    place: RecordPlace,
    /// The address or handle of that place, as kernels receive it.
    handle: u64,
    /// The record belongs to the program, so one launch at a time uses it.
    turn: Lock<()>,
}

/// Where the record is.
enum RecordPlace {
    /// A variable of the program: a function copies it to memory of the host, and clears it. This needs no second wait.
    Variable {
        taker: Function,
        host: ManuallyDrop<PinnedMemory>,
        /// Whether the function may still run, after a wait that failed: the memory is then never freed.
        is_lost: AtomicBool,
    },
    /// A buffer, on OpenCL.
    Buffer(Memory),
}

const WORDS: usize = 4;

/// The bytes of text in the record of a CPU, where a site of -1 says that it is what failed.
const TEXT: usize = 512;

impl Check {
    pub(crate) fn new(module: &Module, sites: &[String]) -> Result<Check> {
        let device = module.device();
        let bytes = WORDS * size_of::<i64>();
        let (place, handle) = match device.kind() {
            DeviceKind::OpenCl => {
                let memory = device.allocate_zeroed(bytes)?;
                let handle = memory.handle();
                (RecordPlace::Buffer(memory), handle)
            }
            kind => {
                let taker = module.function(&symbol("parloop_take_check", kind))?;
                let host = device.allocate_pinned(bytes + if kind == DeviceKind::Cpu { TEXT } else { 0 })?;
                let handle = host.pointer() as u64;
                (RecordPlace::Variable { taker, host: ManuallyDrop::new(host), is_lost: AtomicBool::new(false) }, handle)
            }
        };
        Ok(Check { sites: sites.to_vec(), place, handle, turn: Lock::new(()) })
    }

    /// What each site checks, in words.
    pub(crate) fn sites(&self) -> &[String] {
        &self.sites
    }

    /// Holds the record for a launch.
    pub(crate) fn turn(&self) -> Guard<'_, ()> {
        self.turn.lock_or(|| ())
    }

    /// Where the last argument of a kernel on OpenCL is.
    pub(crate) fn argument(&self) -> *mut c_void {
        (&raw const self.handle).cast_mut().cast()
    }

    /// Waits for the launch and takes the record: an error if a check of `kernel` failed. The caller holds the lock.
    pub(crate) fn take(&self, stream: &Stream, kernel: &str) -> Result<()> {
        let mut bytes = [0; WORDS * size_of::<i64>() + TEXT];
        match &self.place {
            RecordPlace::Variable { taker, host, is_lost } => {
                let once = Launch { range: 1, grid: [1; 3], block: [1; 3], shared: 0 };
                // SAFETY: the prelude defines this function with one parameter, a pointer to a record, which the memory holds. Devices
                // reach pinned memory by its address.
                unsafe { stream.launch(taker, &once, &[self.argument()], &[size_of::<u64>()])? };
                is_lost.store(true, Ordering::Relaxed);
                stream.synchronize()?;
                is_lost.store(false, Ordering::Relaxed);
                bytes[..host.len()].copy_from_slice(host.as_slice()?);
            }
            RecordPlace::Buffer(memory) => stream.read(memory, 0, &mut bytes[..memory.len()])?,
        }
        let (words, text) = bytes.split_at(WORDS * size_of::<i64>());
        let (words, _) = words.as_chunks::<8>();
        let [claimed, site, index, limit] = [0, 1, 2, 3].map(|word| i64::from_ne_bytes(words[word]));
        if claimed == 0 {
            return Ok(());
        }
        if let RecordPlace::Buffer(memory) = &self.place {
            stream.fill(memory, 0, memory.len(), 0)?;
        }
        if site == -1 {
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            return Err(KernelError::Conflict { kernel: kernel.to_owned(), what: String::from_utf8_lossy(text).into_owned() });
        }
        let what = usize::try_from(site).ok().and_then(|site| self.sites.get(site)).cloned();
        let what = what.unwrap_or_else(|| format!("check {site}"));
        Err(KernelError::Check { kernel: kernel.to_owned(), what, index, limit })
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        if let RecordPlace::Variable { host, is_lost, .. } = &mut self.place
            && !is_lost.load(Ordering::Relaxed)
        {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(host) };
        }
    }
}

/// What a recorded launch in checked mode keeps alive in addition.
pub(crate) struct Checked {
    pub(crate) check: Arc<Check>,
    pub(crate) kernel: String,
}
