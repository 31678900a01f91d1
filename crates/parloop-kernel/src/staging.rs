//! Host data of a call: used in place on a CPU, copied to device memory for the call elsewhere.

use parloop_device::{Memory, Stream};
use smallvec::SmallVec;

use crate::arg::{Arg, Slot};
use crate::error::{KernelError, Result};
use crate::kernel::Kernel;

/// Host data of a call, by address.
#[derive(Clone, Copy, Debug)]
pub struct HostBytes {
    pointer: *mut u8,
    len: usize,
    written: bool,
}

impl HostBytes {
    /// `written`: the kernel may change it.
    ///
    /// # Safety
    /// `len` bytes at `pointer` can be read, and written if `written`, until the call that uses them is over.
    pub unsafe fn new(pointer: *mut u8, len: usize, written: bool) -> HostBytes {
        HostBytes { pointer, len, written }
    }

    fn overlaps(&self, other: &HostBytes) -> bool {
        let (a, b) = (self.pointer as usize, other.pointer as usize);
        a < b + other.len && b < a + self.len
    }
}

/// Host data staged in device memory for one call.
#[derive(Debug, Default)]
pub struct Staging {
    staged: SmallVec<[Staged; 4]>,
}

#[derive(Debug)]
struct Staged {
    index: usize,
    memory: Memory,
    host: HostBytes,
}

impl Staging {
    /// Whether nothing had to be staged.
    pub fn is_empty(&self) -> bool {
        self.staged.is_empty()
    }

    pub(crate) fn copy_back(&self, stream: &Stream, _borrowed: &mut [Arg<'_>]) -> Result<()> {
        // SAFETY: the arguments that lend these bytes are borrowed, those that are written exclusively.
        unsafe { self.read_back(stream) }
    }

    /// Copies what kernels may have changed back to the host, after the work queued before.
    ///
    /// # Errors
    /// When the device, or that work, fails.
    ///
    /// # Safety
    /// The host data is still there, and nobody else looks at what is written.
    pub unsafe fn read_back(&self, stream: &Stream) -> Result<()> {
        for staged in self.staged.iter().filter(|staged| staged.host.written) {
            // SAFETY: the caller's promise; `len` bytes were readable there when the call began.
            let bytes = unsafe { std::slice::from_raw_parts_mut(staged.host.pointer, staged.host.len) };
            stream.read(&staged.memory, 0, bytes)?;
        }
        Ok(())
    }
}

impl Kernel {
    /// The slot of host data: its own address on a CPU, a staged copy elsewhere. The same data given twice is staged once.
    ///
    /// # Errors
    /// [`KernelError::Overlap`] for data that overlaps other data in part, or when the device has no room; while the stream is recorded
    /// [`parloop_device::DeviceError::NotRecordable`] for data that would be staged.
    pub fn host_slot(&self, index: usize, host: HostBytes, staging: &mut Staging) -> Result<Slot> {
        if self.is_cpu() || host.len == 0 {
            return Ok([if host.len == 0 { 0 } else { host.pointer as u64 }, 0]);
        }
        self.refuse_host_data(index)?;
        for staged in &mut staging.staged {
            if (staged.host.pointer, staged.host.len) == (host.pointer, host.len) {
                staged.host.written |= host.written;
                return self.pointer_slot(&staged.memory, 0);
            }
            if staged.host.overlaps(&host) && (staged.host.written || host.written) {
                let name = |index: usize| self.signature().params[index].name.clone();
                let (first, second) = (name(staged.index), name(index));
                return Err(KernelError::Overlap { kernel: self.signature().name.clone(), first, second });
            }
        }
        let stream = self.stream();
        let memory = stream.device().allocate(host.len)?;
        // SAFETY: whoever made `host` promised that its bytes stay readable until the call is over.
        stream.write(&memory, 0, unsafe { std::slice::from_raw_parts(host.pointer, host.len) })?;
        let slot = self.pointer_slot(&memory, 0);
        staging.staged.push(Staged { index, memory, host });
        slot
    }
}
