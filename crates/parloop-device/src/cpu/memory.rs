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
    layout: Layout,
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
        Ok(HostMemory { pointer, layout })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout and freed here only.
        unsafe { dealloc(self.pointer, self.layout) };
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
