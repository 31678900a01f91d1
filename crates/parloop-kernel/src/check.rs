//! Checked mode on the host: after each launch the record of the first failed check is taken and becomes an error.

use std::ffi::c_void;
use std::sync::Arc;

use parloop_device::forked::{Guard, Lock};
use parloop_device::{DeviceKind, Function, Launch, Memory, Module, Stream};

use crate::error::{KernelError, Result};
use crate::prepare::symbol;

/// The record of a program: whether a check failed, which, and its index and limit.
pub(crate) struct Check {
    /// What each site checks, in words.
    sites: Vec<String>,
    /// Where the host reads it; on OpenCL it is the record itself.
    memory: Memory,
    /// The handle of that memory, as kernels on OpenCL receive it.
    handle: u64,
    /// Copies the record to the memory and clears it, where it is a variable of the program.
    taker: Option<Function>,
    /// The record belongs to the program, so one launch at a time uses it.
    turn: Lock<()>,
}

const WORDS: usize = 4;

/// The bytes of text in the record of a CPU, where a site of -1 says that it is what failed.
const TEXT: usize = 512;

impl Check {
    pub(crate) fn new(module: &Module, sites: &[String]) -> Result<Check> {
        let device = module.device();
        let taker = match device.kind() {
            DeviceKind::OpenCl => None,
            kind => Some(module.function(&symbol("parloop_take_check", kind))?),
        };
        let text = if device.kind() == DeviceKind::Cpu { TEXT } else { 0 };
        let memory = device.allocate_zeroed(WORDS * size_of::<i64>() + text)?;
        Ok(Check { sites: sites.to_vec(), handle: memory.handle(), memory, taker, turn: Lock::new(()) })
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
        if let Some(taker) = &self.taker {
            if stream.is_foreign() {
                self.memory.note_foreign_use();
            }
            let once = Launch { range: 1, grid: [1; 3], block: [1; 3], shared: 0 };
            // SAFETY: the prelude defines this function with one parameter, a pointer to a record, which the memory holds.
            unsafe { stream.launch(taker, &once, &[self.argument()], &[size_of::<u64>()])? };
        }
        let mut bytes = [0; WORDS * size_of::<i64>() + TEXT];
        let bytes = &mut bytes[..self.memory.len()];
        stream.read(&self.memory, 0, bytes)?;
        let (words, text) = bytes.split_at(WORDS * size_of::<i64>());
        let (words, _) = words.as_chunks::<8>();
        let [claimed, site, index, limit] = [0, 1, 2, 3].map(|word| i64::from_ne_bytes(words[word]));
        if claimed == 0 {
            return Ok(());
        }
        if self.taker.is_none() {
            stream.fill(&self.memory, 0, self.memory.len(), 0)?;
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

/// What a recorded launch in checked mode keeps alive in addition.
pub(crate) struct Checked {
    pub(crate) check: Arc<Check>,
    pub(crate) kernel: String,
}
