//! Host data of a call: used in place on a CPU, copied to device memory for the call elsewhere.

use parloop_device::{Memory, Stream};
use smallvec::SmallVec;

use crate::arg::Arg;
use crate::error::{KernelError, Result};
use crate::signature::Signature;

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

    /// Its address; 0 when it is empty.
    pub(crate) fn address(&self) -> u64 {
        if self.len == 0 { 0 } else { self.pointer as u64 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
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
    /// The first argument that had to be staged, by its index.
    pub fn first(&self) -> Option<usize> {
        self.staged.iter().map(|staged| staged.index).min()
    }

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
            // SAFETY: the caller guarantees it; `len` bytes were readable there when the call began.
            let bytes = unsafe { std::slice::from_raw_parts_mut(staged.host.pointer, staged.host.len) };
            stream.read(&staged.memory, 0, bytes)?;
        }
        Ok(())
    }

    /// A copy of host data in device memory. The same data given twice is staged once.
    ///
    /// # Errors
    /// [`KernelError::Overlap`] for data that partially overlaps other data, or when the device is out of memory.
    pub(crate) fn stage(&mut self, signature: &Signature, stream: &Stream, index: usize, host: HostBytes) -> Result<&Memory> {
        let mut known = None;
        for (at, staged) in self.staged.iter_mut().enumerate() {
            if (staged.host.pointer, staged.host.len) == (host.pointer, host.len) {
                staged.host.written |= host.written;
                known = Some(at);
                break;
            }
            if staged.host.overlaps(&host) && (staged.host.written || host.written) {
                let name = |index: usize| signature.params[index].name.clone();
                let (first, second) = (name(staged.index), name(index));
                return Err(KernelError::Overlap { kernel: signature.name.clone(), first, second });
            }
        }
        let at = match known {
            Some(at) => at,
            None => {
                let memory = stream.device().allocate(host.len)?;
                // SAFETY: whoever made `host` promised that its bytes stay readable until the call is over.
                stream.write(&memory, 0, unsafe { std::slice::from_raw_parts(host.pointer, host.len) })?;
                self.staged.push(Staged { index, memory, host });
                self.staged.len() - 1
            }
        };
        Ok(&self.staged[at].memory)
    }
}
