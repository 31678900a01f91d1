//! Growable memory: memory that can become longer and is followed where it moves, and holds on its addresses.

use std::fmt;
use std::sync::Arc;

use crate::backend::Growable;
use crate::device::Device;
use crate::error::Result;
use crate::interrupt;
use crate::memory::{self, Memory};
use crate::stream::Stream;

/// Memory of a device that can become longer. Clones are the same memory; it is freed with the last of them, the last [`Memory`] of
/// it and the last [`Export`].
///
/// ```
/// use parloop_device::Device;
/// let device = Device::open("cpu:1")?;
/// let stream = device.default_stream()?;
/// // SAFETY: one thread uses the memory.
/// let growable = unsafe { device.allocate_growable(4)? };
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

    /// What a kernel receives for it currently: an address on cpu, cuda and hip, a `cl_mem` on OpenCL. It may be another one after
    /// [`grow`](Self::grow) and after [`export`](Self::export), unless an [`Export`] holds it.
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
    /// On a CPU, memory that an [`Export`] holds and memory of more than 512 KiB grows in place, in addresses that were reserved for it:
    /// everybody may use it meanwhile. Other memory moves: work that uses it on the device is waited for, and nobody may use it on the host
    /// meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`](crate::DeviceError::OutOfMemory); [`DeviceError::AddressHeld`](crate::DeviceError::AddressHeld)
    /// where an [`Export`] holds the address and the memory cannot grow in place, as on a GPU, or with a limit on the addresses of a
    /// process (`RLIMIT_AS`); [`DeviceError::OtherDevice`](crate::DeviceError::OtherDevice). The memory is then as it was.
    pub fn grow(&self, stream: &Stream, len: usize) -> Result<()> {
        self.device.check_same(stream.device(), "grow")?;
        if len <= self.len() {
            return Ok(());
        }
        memory::check_limit(&self.device, len)?;
        if interrupt::is_heard() && !self.is_empty() && !self.grows_in_place(len) {
            // Work that uses it is waited for here, where Ctrl-C can end that.
            self.device.synchronize()?;
        }
        self.inner.raw.grow(&self.inner.place, &*self.device.raw, stream.raw(), len)
    }

    /// Whether it can become `len` bytes long without moving, so that everybody may use it meanwhile.
    pub fn grows_in_place(&self, len: usize) -> bool {
        len <= self.len() || self.inner.raw.grows_in_place(len)
    }

    /// Holds the address: as long as the result lives, the memory stays there. For addresses that are given to others, as NumPy views
    /// and DLPack do.
    ///
    /// The first export moves memory of up to 512 KiB on a CPU, to where it can grow in place: nobody may use the memory meanwhile.
    /// Memory that is [in use](Self::begin_use) stays where it is.
    ///
    /// # Errors
    /// A forked child in which the memory was left locked.
    pub fn export(&self) -> Result<Export> {
        let handle = self.inner.raw.hold(&self.inner.place, &*self.device.raw)?;
        Ok(Export { memory: self.clone(), handle, len: self.len() })
    }

    /// Whether the next [`export`](Self::export) moves the memory.
    pub fn export_moves(&self) -> bool {
        self.inner.raw.hold_moves()
    }

    /// Says that the memory is used where it is, until [`end_use`](Self::end_use): exports do not move it.
    #[inline]
    pub fn begin_use(&self) {
        self.inner.place.use_more();
    }

    /// Ends what [`begin_use`](Self::begin_use) began.
    #[inline]
    pub fn end_use(&self) {
        self.inner.place.use_less();
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
    ///
    /// # Safety
    /// As long as the memory lives, whoever makes it move has it alone: while [`GrowableMemory::grow`] does not
    /// [grow it in place](GrowableMemory::grows_in_place), and while an export [moves](GrowableMemory::export_moves) it, no other thread
    /// uses it, through this, a [`Memory`] of it, or its address. Addresses that were taken before are not used afterwards. Each
    /// [`GrowableMemory::end_use`] ends a [`GrowableMemory::begin_use`].
    pub unsafe fn allocate_growable(&self, len: usize) -> Result<GrowableMemory> {
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

/// A hold on the address of a [`GrowableMemory`].
pub struct Export {
    memory: GrowableMemory,
    handle: u64,
    len: usize,
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

    /// How many bytes the memory had when this was made.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the memory had no bytes.
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
        self.memory.inner.raw.release();
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Export {} bytes on {}>", self.len, self.memory.device.id())
    }
}
