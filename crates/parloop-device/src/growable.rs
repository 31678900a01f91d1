//! Growable memory: memory that can become longer and is followed where it moves, and holds on its addresses.

use std::fmt;
use std::sync::Arc;

use crate::backend::Growable;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{self, Memory};
use crate::stream::Stream;

/// Memory of a device that can become longer. Clones are the same memory; it is freed with the last of them, the last [`Memory`] of
/// it and the last [`Export`].
///
/// ```
/// use parloop_device::Device;
/// let device = Device::open("cpu:1")?;
/// let stream = device.default_stream()?;
/// let growable = device.allocate_growable(4)?;
/// let first = growable.memory().slice(0, 2)?;
/// stream.write(&first, 0, &[1, 2])?;
/// growable.grow(&stream, 1 << 20)?;
/// assert_eq!(growable.len(), 1 << 20);
/// stream.write(&first, 1, &[3])?;
/// let mut back = [0; 2];
/// stream.read(&growable.memory(), 0, &mut back)?;
/// assert_eq!(back, [1, 3]);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[derive(Clone)]
pub struct GrowableMemory {
    device: Device,
    inner: Arc<Growable>,
}

impl GrowableMemory {
    pub(crate) fn allocate(device: &Device, len: usize) -> Result<GrowableMemory> {
        memory::check_limit(device, len)?;
        Ok(GrowableMemory { inner: device.raw.allocate_growable(len)?, device: device.clone() })
    }

    pub(crate) fn around(device: &Device, inner: &Arc<Growable>) -> GrowableMemory {
        GrowableMemory { device: device.clone(), inner: inner.clone() }
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its present size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.inner.place.len()
    }

    /// Whether it has no bytes yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a kernel receives for it at present: an address on cpu, cuda and hip, a `cl_mem` on OpenCL. It is another one after
    /// [`grow`](Self::grow), and may be another one after [`export`](Self::export).
    #[inline]
    pub fn handle(&self) -> u64 {
        self.inner.place.handle()
    }

    /// The present address, where the host can use the memory directly (cpu devices). A multiple of 16, from 64 bytes on of 64.
    #[inline]
    pub fn host_pointer(&self) -> Option<*mut u8> {
        self.inner.place.is_host().then(|| self.handle() as *mut u8)
    }

    /// All of it, at its present length. This, its clones and its slices follow when the memory moves.
    pub fn memory(&self) -> Memory {
        Memory::of_growable(&self.device, &self.inner)
    }

    /// Makes it at least `len` bytes long. The content is kept, what is added is undefined; a length that it has already changes nothing.
    ///
    /// Work that uses the memory on the device is waited for. Nobody may use it on the host meanwhile: growing has the memory to itself.
    /// The handle is another one afterwards. On a CPU, addresses that an [`Export`] keeps go on to show the same bytes.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`](crate::DeviceError::OutOfMemory); [`DeviceError::AddressHeld`](crate::DeviceError::AddressHeld)
    /// where the device cannot keep an address that an [`Export`] holds; [`DeviceError::OtherDevice`](crate::DeviceError::OtherDevice).
    /// The memory is then as it was.
    pub fn grow(&self, stream: &Stream, len: usize) -> Result<()> {
        self.device.check_same(stream.device(), "grow")?;
        if len <= self.len() {
            return Ok(());
        }
        memory::check_limit(&self.device, len)?;
        self.inner.raw.grow(&self.inner.place, &*self.device.raw, stream.raw(), len)
    }

    /// Holds the present address: as long as the result lives, it is valid and shows the same bytes as the memory itself, up to the
    /// length of this moment. For addresses that are given to others, as NumPy views and DLPack do.
    ///
    /// The first export of short memory (up to half a page) moves it on a CPU: as for growing, nobody may use the memory meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`](crate::DeviceError::OutOfMemory).
    pub fn export(&self) -> Result<Export> {
        let (handle, generation) = self.inner.raw.hold(&self.inner.place, &*self.device.raw)?;
        Ok(Export { memory: self.clone(), handle, len: self.len(), generation })
    }

    /// Whether both are the same memory.
    pub fn same(&self, other: &GrowableMemory) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Device {
    /// Memory of `len` bytes that can become longer; its content is undefined.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`](crate::DeviceError::OutOfMemory).
    pub fn allocate_growable(&self, len: usize) -> Result<GrowableMemory> {
        GrowableMemory::allocate(self, len)
    }
}

impl Memory {
    /// A hold on the address of the [`GrowableMemory`] that this is a part of; `None` for other memory, which never moves.
    ///
    /// # Errors
    /// As [`GrowableMemory::export`].
    pub fn export(&self) -> Result<Option<Export>> {
        self.growable.as_ref().map(|growable| GrowableMemory::around(self.device(), growable).export()).transpose()
    }
}

impl fmt::Debug for GrowableMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<GrowableMemory {} bytes on {}>", self.len(), self.device.id())
    }
}

/// A hold on the address that a [`GrowableMemory`] had when this was made.
pub struct Export {
    memory: GrowableMemory,
    handle: u64,
    len: usize,
    generation: u32,
}

impl Export {
    /// What is held: an address on cpu, cuda and hip, a `cl_mem` on OpenCL.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// The address that is held, where the host can use the memory directly (cpu devices).
    pub fn host_pointer(&self) -> Option<*mut u8> {
        self.memory.inner.place.is_host().then_some(self.handle as *mut u8)
    }

    /// How many bytes it shows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it shows no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory whose address is held.
    pub fn memory(&self) -> &GrowableMemory {
        &self.memory
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.memory.inner.raw.release(self.generation);
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Export {} bytes on {}>", self.len, self.memory.device.id())
    }
}
