//! Device memory and page-locked host memory: who owns it, and which part of it a value refers to.

use std::fmt;
use std::sync::Arc;

use crate::backend::{Growable, RawMemory, RawPinned};
use crate::device::Device;
use crate::error::{DeviceError, Result};
use crate::event::Event;
use crate::forked::Lock;
use crate::kind::DeviceKind;

/// Memory of a device, or a part of it. Clones share the memory; it is freed when the last of them goes.
#[derive(Clone)]
pub struct Memory {
    device: Device,
    /// `None` is memory of length zero, for which no driver is asked.
    raw: Option<Arc<dyn RawMemory>>,
    /// Growable memory that this is a part of, instead of `raw`.
    pub(crate) growable: Option<Arc<Growable>>,
    /// What every launch asks for: where the part begins, or on OpenCL the object that it is a part of. Of growable memory, the same
    /// from its present beginning.
    handle: u64,
    /// Bytes from what the handle names to the part; 0 where the handle is an address.
    offset: usize,
    len: usize,
}

impl Memory {
    fn around(device: &Device, raw: Option<Arc<dyn RawMemory>>, len: usize) -> Memory {
        let handle = raw.as_ref().map_or(0, |raw| raw.handle());
        Memory { device: device.clone(), raw, growable: None, handle, offset: 0, len }
    }

    pub(crate) fn allocate(device: &Device, len: usize) -> Result<Memory> {
        check_limit(device, len)?;
        let raw = if len == 0 { None } else { Some(device.raw.allocate(len)?) };
        Ok(Memory::around(device, raw, len))
    }

    /// Memory of zeros, where the device has it without filling it.
    pub(crate) fn allocate_zeroed(device: &Device, len: usize) -> Result<Option<Memory>> {
        check_limit(device, len)?;
        let raw = if len == 0 { None } else { device.raw.allocate_zeroed(len)? };
        Ok(raw.map(|raw| Memory::around(device, Some(raw), len)))
    }

    /// All of `growable`, at its present length.
    pub(crate) fn of_growable(device: &Device, growable: &Arc<Growable>) -> Memory {
        let len = growable.place.len();
        let growable = (len > 0).then(|| growable.clone());
        Memory { device: device.clone(), raw: None, growable, handle: 0, offset: 0, len }
    }

    /// # Safety
    /// As [`Device::adopt_memory`].
    pub(crate) unsafe fn adopt(device: &Device, handle: u64, len: usize) -> Result<Memory> {
        // SAFETY: the caller upholds the same contract.
        let raw = if len == 0 { None } else { Some(unsafe { device.raw.adopt_memory(handle, len)? }) };
        Ok(Memory::around(device, raw, len))
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What it takes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What a kernel receives: an address on cpu, cuda and hip, a `cl_mem` on OpenCL; 0 when it is empty.
    pub fn handle(&self) -> u64 {
        match &self.growable {
            None => self.handle,
            Some(growable) => growable.place.handle() + self.handle,
        }
    }

    /// Bytes from what the [`handle`](Self::handle) names to the first byte: a part of a `cl_mem` begins there. An address is that of
    /// the first byte itself, so that it is 0 on cpu, cuda and hip.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The address, where the host can use the memory directly (cpu devices).
    pub fn host_pointer(&self) -> Option<*mut u8> {
        let is_host = match (&self.growable, &self.raw) {
            (Some(growable), _) => growable.place.is_host(),
            (None, raw) => raw.as_ref().is_some_and(|raw| raw.is_host()),
        };
        is_host.then(|| self.handle() as *mut u8)
    }

    /// The part that begins at `offset` and is `len` bytes long. It shares the memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`].
    pub fn slice(&self, offset: usize, len: usize) -> Result<Memory> {
        self.check_range("sub-range", offset, len)?;
        if len == 0 {
            return Ok(Memory::around(&self.device, None, 0));
        }
        let (handle, offset) = match self.device.kind() {
            DeviceKind::OpenCl => (self.handle, self.offset + offset),
            _ => (self.handle + offset as u64, 0),
        };
        Ok(Memory { handle, offset, len, ..self.clone() })
    }

    pub(crate) fn check_range(&self, operation: &'static str, offset: usize, len: usize) -> Result<()> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(DeviceError::OutOfBounds { operation, offset, len, size: self.len }),
        }
    }

    /// Tells the memory that a stream which nothing orders with its freeing will use it.
    pub fn note_foreign_use(&self) {
        if let Some(raw) = &self.raw {
            raw.note_foreign_use();
        }
        if let Some(growable) = &self.growable {
            growable.raw.note_foreign_use();
        }
    }
}

impl Device {
    /// Memory of `bytes` bytes; its content is undefined.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate(&self, bytes: usize) -> Result<Memory> {
        Memory::allocate(self, bytes)
    }

    /// Memory as of [`allocate`](Self::allocate) that drivers let other processes use, if they do: that of a pool they do not. It takes longer to
    /// allocate.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_for_processes(&self, bytes: usize) -> Result<Memory> {
        check_limit(self, bytes)?;
        let raw = if bytes == 0 { None } else { Some(self.raw.allocate_for_processes(bytes)?) };
        Ok(Memory::around(self, raw, bytes))
    }

    /// Uses memory that another library owns, without a copy: an address on cpu, cuda and hip, a `cl_mem` on OpenCL.
    ///
    /// # Errors
    /// When the driver does not know the handle.
    ///
    /// # Safety
    /// `handle` is live memory of this device of at least `bytes` bytes until the result and all its slices are dropped and the
    /// work given to them is done.
    pub unsafe fn adopt_memory(&self, handle: u64, bytes: usize) -> Result<Memory> {
        // SAFETY: the caller upholds the same contract.
        unsafe { Memory::adopt(self, handle, bytes) }
    }
}

/// Whether the device gives as much at once.
pub(crate) fn check_limit(device: &Device, len: usize) -> Result<()> {
    if len as u64 <= device.properties().max_allocation {
        return Ok(());
    }
    let free = device.memory_info().ok().map(|info| info.free);
    Err(DeviceError::OutOfMemory { device: device.id().to_string(), asked: len as u64, free })
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Memory {} bytes on {}>", self.len, self.device.id())
    }
}

/// Page-locked host memory. Asynchronous copies from and to it are waited for before the host can touch it or it is freed.
pub struct PinnedMemory {
    device: Device,
    raw: Option<Box<dyn RawPinned>>,
    len: usize,
    pending: Lock<Vec<Event>>,
}

impl PinnedMemory {
    pub(crate) fn allocate(device: &Device, len: usize) -> Result<PinnedMemory> {
        let raw = if len == 0 { None } else { Some(device.raw.allocate_pinned(len)?) };
        if let Some(raw) = &raw {
            // SAFETY: the backend just gave us `len` bytes at this address.
            unsafe { raw.pointer().write_bytes(0, len) };
        }
        Ok(PinnedMemory { device: device.clone(), raw, len, pending: Lock::default() })
    }

    /// The device it is pinned for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What it takes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address; dangling when it is empty. Reading or writing through it is ordered with copies by [`wait`](Self::wait) alone.
    pub fn pointer(&self) -> *mut u8 {
        self.raw.as_ref().map_or(std::ptr::dangling_mut(), |raw| raw.pointer())
    }

    /// Its bytes, after the copies in flight.
    ///
    /// # Errors
    /// When a copy failed.
    pub fn as_slice(&self) -> Result<&[u8]> {
        self.wait()?;
        // SAFETY: `len` initialised bytes owned by `self`; copies that write to them need `&mut self`, and earlier ones are done.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer(), self.len) })
    }

    /// Its bytes, writable, after the copies in flight.
    ///
    /// # Errors
    /// When a copy failed.
    pub fn as_mut_slice(&mut self) -> Result<&mut [u8]> {
        self.wait()?;
        // SAFETY: `len` initialised bytes owned by `self`, which is borrowed exclusively; no copy is in flight.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) })
    }

    /// Waits for the copies in flight.
    ///
    /// # Errors
    /// When a copy failed.
    pub fn wait(&self) -> Result<()> {
        let mut pending = self.pending.lock_or(Vec::new);
        while let Some(event) = pending.pop() {
            let outcome = event.wait();
            if let Err(DeviceError::Interrupted { .. } | DeviceError::Abandoned { .. }) = outcome {
                // The copy may still be under way.
                pending.push(event);
            }
            outcome?;
        }
        Ok(())
    }

    pub(crate) fn add_pending(&self, event: Event) {
        self.pending.lock_or(Vec::new).push(event);
    }
}

impl Device {
    /// Host memory that the device copies from and to at full speed.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_pinned(&self, bytes: usize) -> Result<PinnedMemory> {
        PinnedMemory::allocate(self, bytes)
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // A failed copy has nothing left to write; its error is reported where its stream is synchronised.
        let _ = self.wait();
    }
}

impl fmt::Debug for PinnedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<PinnedMemory {} bytes for {}>", self.len, self.device.id())
    }
}
