//! Host memory: our own, and memory of other owners.

use std::alloc::{Layout, alloc, dealloc};

use super::pages;
use crate::backend::{RawMemory, RawPinned};
use crate::error::{DeviceError, Result};
use crate::identity::Properties;

/// Every allocation starts on two cache lines, which is also the widest vector.
const ALIGNMENT: usize = 128;

pub(super) struct HostMemory {
    pointer: *mut u8,
    origin: Origin,
}

/// Where memory comes from, and goes back to.
enum Origin {
    Allocator(Layout),
    /// A mapping of its own, of this many bytes.
    Mapping(usize),
}

// SAFETY: the address is owned by this value alone and freed once, from whichever thread drops it; access through it is unsafe.
unsafe impl Send for HostMemory {}
// SAFETY: as above; shared references give out nothing but the address.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(super) fn new(properties: &Properties, bytes: usize) -> Result<HostMemory> {
        let out_of_memory = || DeviceError::OutOfMemory { device: properties.id.to_string(), asked: bytes as u64, free: None };
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| out_of_memory())?;
        // SAFETY: the backend contract guarantees that `bytes` is not zero.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            return Err(out_of_memory());
        }
        pages::advise_huge(pointer as usize, bytes);
        Ok(HostMemory { pointer, origin: Origin::Allocator(layout) })
    }

    /// Zeros. Fresh pages are zero, so that nothing is written for long memory; each page is made when it is first used.
    pub(super) fn zeroed(properties: &Properties, bytes: usize) -> Result<HostMemory> {
        if bytes >= pages::HUGE_PAGE
            && let Ok(len) = pages::whole(bytes)
            && let Ok(address) = pages::map_large(len)
        {
            return Ok(HostMemory { pointer: address as *mut u8, origin: Origin::Mapping(len) });
        }
        let memory = HostMemory::new(properties, bytes)?;
        // SAFETY: it was allocated with this many bytes, and nobody else has it.
        unsafe { memory.pointer.write_bytes(0, bytes) };
        Ok(memory)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match self.origin {
            // SAFETY: allocated in `new` with this layout and freed here only.
            Origin::Allocator(layout) => unsafe { dealloc(self.pointer, layout) },
            // SAFETY: mapped in `zeroed` with this length and given back here only.
            Origin::Mapping(len) => unsafe { pages::unmap(self.pointer as usize, len) },
        }
    }
}

impl RawMemory for HostMemory {
    fn handle(&self) -> u64 {
        self.pointer as u64
    }

    fn is_host(&self) -> bool {
        true
    }
}

/// Memory of another owner.
pub(super) struct AdoptedMemory(pub(super) u64);

impl RawMemory for AdoptedMemory {
    fn handle(&self) -> u64 {
        self.0
    }

    fn is_host(&self) -> bool {
        true
    }
}

/// A CPU does not need page-locked memory: all of its memory is equally fast.
pub(super) struct Pinned(pub(super) HostMemory);

impl RawPinned for Pinned {
    fn pointer(&self) -> *mut u8 {
        self.0.pointer
    }
}

#[cfg(test)]
mod tests {
    use crate::Device;

    #[test]
    fn zeroed_memory_is_zero_however_long_and_however_often() {
        let cpu = Device::open("cpu").expect("a CPU");
        let stream = cpu.default_stream().expect("its stream");
        for len in [1, 4096, (2 << 20) - 1, 2 << 20, (5 << 20) + 3] {
            for _ in 0..4 {
                let memory = cpu.allocate_zeroed(len).expect("memory");
                let mut bytes = vec![1; len];
                stream.read(&memory, 0, &mut bytes).expect("all bytes");
                assert!(bytes.iter().all(|&byte| byte == 0), "{len} bytes");
                stream.fill_at_once(&memory, 0, len, 7).expect("all bytes");
                stream.read(&memory, 0, &mut bytes).expect("all bytes");
                assert!(bytes.iter().all(|&byte| byte == 7), "{len} bytes");
            }
        }
    }
}
