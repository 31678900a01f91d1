//! Devices: their names, their properties, and the way from a name to an open device.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock};

use crate::backend::{Compiler, RawDevice};
use crate::error::{CompileError, DeviceError, Result};
use crate::event::Event;
use crate::growable::GrowableMemory;
use crate::memory::{Memory, PinnedMemory};
use crate::module::{Module, ModuleBinary};
use crate::stream::Stream;
use crate::{cpu, cuda, hip, opencl};

/// The four kinds of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DeviceKind {
    Cpu,
    OpenCl,
    Cuda,
    Hip,
}

impl DeviceKind {
    /// Every kind, in the order in which devices are listed.
    pub const ALL: [DeviceKind; 4] = [DeviceKind::Cpu, DeviceKind::OpenCl, DeviceKind::Cuda, DeviceKind::Hip];

    /// The name, as it begins a device's name.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::OpenCl => "opencl",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Hip => "hip",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a device, parsed.
///
/// ```
/// use parloop_device::DeviceId;
/// let id: DeviceId = "opencl:0.1".parse()?;
/// assert_eq!(id, DeviceId::OpenCl { platform: 0, device: 1 });
/// assert_eq!("cuda".parse::<DeviceId>()?.to_string(), "cuda:0");
/// assert!("gpu".parse::<DeviceId>().is_err());
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DeviceId {
    /// CPU threads; `None` is as many as the machine runs at once.
    Cpu {
        threads: Option<usize>,
    },
    OpenCl {
        platform: usize,
        device: usize,
    },
    Cuda {
        index: usize,
    },
    Hip {
        index: usize,
    },
}

impl DeviceId {
    /// The kind of device that the name asks for.
    pub const fn kind(self) -> DeviceKind {
        match self {
            DeviceId::Cpu { .. } => DeviceKind::Cpu,
            DeviceId::OpenCl { .. } => DeviceKind::OpenCl,
            DeviceId::Cuda { .. } => DeviceKind::Cuda,
            DeviceId::Hip { .. } => DeviceKind::Hip,
        }
    }
}

impl FromStr for DeviceId {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<DeviceId> {
        let unknown = || DeviceError::UnknownName { asked: name.to_owned() };
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse::<usize>().ok()).flatten().ok_or_else(unknown)
        };
        let (kind, rest) = match name.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (name, None),
        };
        match (kind, rest) {
            ("cpu", None) => Ok(DeviceId::Cpu { threads: None }),
            ("cpu", Some(rest)) => match number(rest)? {
                threads @ 1..=cpu::MAX_THREADS => Ok(DeviceId::Cpu { threads: Some(threads) }),
                _ => Err(unknown()),
            },
            ("opencl", None) => Ok(DeviceId::OpenCl { platform: 0, device: 0 }),
            ("opencl", Some(rest)) => {
                let (platform, device) = rest.split_once('.').unwrap_or((rest, "0"));
                Ok(DeviceId::OpenCl { platform: number(platform)?, device: number(device)? })
            }
            ("cuda", rest) => Ok(DeviceId::Cuda { index: rest.map_or(Ok(0), number)? }),
            ("hip", rest) => Ok(DeviceId::Hip { index: rest.map_or(Ok(0), number)? }),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceId::Cpu { threads: None } => f.write_str("cpu"),
            DeviceId::Cpu { threads: Some(threads) } => write!(f, "cpu:{threads}"),
            DeviceId::OpenCl { platform, device } => write!(f, "opencl:{platform}.{device}"),
            DeviceId::Cuda { index } => write!(f, "cuda:{index}"),
            DeviceId::Hip { index } => write!(f, "hip:{index}"),
        }
    }
}

/// Where a device sits on the PCI bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PciAddress {
    pub domain: u32,
    pub bus: u32,
    pub device: u32,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.0", self.domain, self.bus, self.device)
    }
}

/// What a device is and how far it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    /// The name that opens it.
    pub id: DeviceId,
    /// The maker's name for it.
    pub name: String,
    /// What code is compiled for: `sm_90`, `gfx90a`, `x86_64`, …
    pub arch: String,
    /// The driver and its version.
    pub driver: String,
    /// Cores, compute units or multiprocessors.
    pub compute_units: u32,
    /// Work items that run in step: warp or wavefront, or doubles in a CPU vector.
    pub simd_width: u32,
    /// All of its memory, in bytes.
    pub memory_total: u64,
    /// The largest single allocation, in bytes.
    pub max_allocation: u64,
    /// The most work items in a block.
    pub max_block: u32,
    /// The most work items in a block along each axis.
    pub max_block_dims: [u32; 3],
    /// The most blocks along each axis.
    pub max_grid: [u32; 3],
    /// Memory shared by a block, in bytes.
    pub shared_memory: u64,
    /// Addresses of allocations are multiples of this many bytes on OpenCL, where a sub-buffer must begin at one; 1 elsewhere.
    pub memory_alignment: usize,
    /// The 16 bytes that identify the device for ever.
    pub uuid: Option<[u8; 16]>,
    /// Its place on the PCI bus.
    pub pci: Option<PciAddress>,
}

/// Memory of a device at one moment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct MemoryInfo {
    pub free: u64,
    pub total: u64,
}

/// An open device. Clones are the same device.
///
/// ```
/// use parloop_device::Device;
/// let device = Device::open("cpu:1")?;
/// let memory = device.allocate(1024)?;
/// assert_eq!(memory.len(), 1024);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) raw: Arc<dyn RawDevice>,
}

impl Device {
    pub(crate) fn from_raw(raw: Arc<dyn RawDevice>) -> Device {
        Device { raw }
    }

    /// Every device that can be reached, the CPU first.
    pub fn list() -> Vec<Device> {
        Device::probe().into_iter().filter_map(|(_, found)| found.ok()).flatten().collect()
    }

    /// For each kind, its devices or the reason why there are none.
    pub fn probe() -> Vec<(DeviceKind, Result<Vec<Device>>)> {
        DeviceKind::ALL.into_iter().map(|kind| (kind, Device::list_kind(kind))).collect()
    }

    /// The devices of one kind; no other driver is asked.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`].
    pub fn list_kind(kind: DeviceKind) -> Result<Vec<Device>> {
        let ids = match kind {
            DeviceKind::Cpu => vec![DeviceId::Cpu { threads: None }],
            DeviceKind::OpenCl => opencl::list()?,
            DeviceKind::Cuda => cuda::list()?,
            DeviceKind::Hip => hip::list()?,
        };
        ids.into_iter().map(Device::open_id).collect()
    }

    /// Opens the device of that name, for example `cpu`, `cpu:4`, `opencl:0.1`, `cuda:0`.
    ///
    /// # Errors
    /// [`DeviceError::UnknownName`], [`DeviceError::NotFound`], [`DeviceError::DriverMissing`].
    pub fn open(name: &str) -> Result<Device> {
        Device::open_id(name.parse()?)
    }

    /// Opens a device by its parsed name; the same name gives the same device.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open_id(id: DeviceId) -> Result<Device> {
        static OPEN: OnceLock<Mutex<HashMap<DeviceId, Device>>> = OnceLock::new();
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner());
        if let Some(device) = open.get(&id) {
            return Ok(device.clone());
        }
        let raw = match id {
            DeviceId::Cpu { threads } => cpu::open(threads)?,
            DeviceId::OpenCl { platform, device } => opencl::open(platform, device)?,
            DeviceId::Cuda { index } => cuda::open(index)?,
            DeviceId::Hip { index } => hip::open(index)?,
        };
        let device = Device::from_raw(raw);
        open.insert(id, device.clone());
        Ok(device)
    }

    /// The name that opens this device.
    pub fn id(&self) -> DeviceId {
        self.properties().id
    }

    /// The kind of device.
    pub fn kind(&self) -> DeviceKind {
        self.id().kind()
    }

    /// What it is and how far it goes.
    pub fn properties(&self) -> &Properties {
        self.raw.properties()
    }

    /// What a compiled binary depends on besides the kind of device: the instructions of a CPU (its architecture, then the sets it
    /// has), the driver and the device of OpenCL, the architecture of a GPU.
    ///
    /// ```
    /// use parloop_device::Device;
    /// assert!(Device::open("cpu:1")?.binary_target().starts_with(std::env::consts::ARCH));
    /// # Ok::<(), parloop_device::DeviceError>(())
    /// ```
    pub fn binary_target(&self) -> String {
        let properties = self.properties();
        match self.kind() {
            DeviceKind::Cpu => cpu::instructions().to_owned(),
            DeviceKind::OpenCl => format!("{}, {}", properties.name, properties.driver),
            DeviceKind::Cuda | DeviceKind::Hip => properties.arch.clone(),
        }
    }

    /// Free and total memory at this moment.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.raw.memory_info()
    }

    /// Memory of `bytes` bytes; its content is undefined.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate(&self, bytes: usize) -> Result<Memory> {
        Memory::allocate(self, bytes)
    }

    /// Memory of `bytes` zero bytes, ready for use on every stream.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_zeroed(&self, bytes: usize) -> Result<Memory> {
        let memory = self.allocate(bytes)?;
        self.default_stream()?.fill_at_once(&memory, 0, bytes, 0)?;
        self.raw.order_after_default()?;
        Ok(memory)
    }

    /// Memory of `len` bytes that can become longer; its content is undefined.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_growable(&self, len: usize) -> Result<GrowableMemory> {
        GrowableMemory::allocate(self, len)
    }

    /// Host memory that the device copies from and to at full speed.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate_pinned(&self, bytes: usize) -> Result<PinnedMemory> {
        PinnedMemory::allocate(self, bytes)
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
        // SAFETY: the caller's promise is the one asked for.
        unsafe { Memory::adopt(self, handle, bytes) }
    }

    /// The stream that is always there. On CUDA and HIP it is the legacy default stream, which other libraries use too.
    ///
    /// # Errors
    /// When the driver cannot be set up.
    pub fn default_stream(&self) -> Result<Stream> {
        Ok(Stream::from_raw(self.clone(), self.raw.default_stream()?))
    }

    /// A further stream.
    ///
    /// # Errors
    /// When the driver cannot make one.
    pub fn create_stream(&self) -> Result<Stream> {
        Ok(Stream::from_raw(self.clone(), self.raw.create_stream()?))
    }

    /// Uses a stream (OpenCL: a command queue) that another library owns.
    ///
    /// # Errors
    /// When the driver does not know the handle.
    ///
    /// # Safety
    /// `handle` is a live stream of this device until the result is dropped.
    pub unsafe fn adopt_stream(&self, handle: u64) -> Result<Stream> {
        // SAFETY: the caller's promise is the one asked for.
        Ok(Stream::from_raw(self.clone(), unsafe { self.raw.adopt_stream(handle)? }))
    }

    /// An event that is not recorded yet.
    ///
    /// # Errors
    /// When the driver cannot make one.
    pub fn create_event(&self) -> Result<Event> {
        Ok(Event { device: self.clone(), raw: self.raw.create_event()? })
    }

    /// The compiler for this device's kernels.
    ///
    /// # Errors
    /// [`CompileError::NoCompiler`].
    pub fn compiler(&self) -> Result<Arc<dyn Compiler>, CompileError> {
        self.raw.compiler()
    }

    /// Loads what this device's [`compiler`](Self::compiler) made.
    ///
    /// # Errors
    /// [`DeviceError::Load`] when the driver refuses the bytes.
    pub fn load(&self, binary: &ModuleBinary) -> Result<Module> {
        Ok(Module { device: self.clone(), raw: self.raw.load(binary)? })
    }

    /// Calls `work(begin, end)` for parts that make up `0..items`, on the threads of a CPU device if `expected_ns`, what all of it costs
    /// one thread, is worth waking them. Elsewhere the calling thread does it all.
    pub fn share(&self, items: u64, expected_ns: f64, work: impl Fn(u64, u64) + Sync) {
        if items > 0 {
            self.raw.share(items, expected_ns, &work);
        }
    }

    /// Waits for all work on this device.
    ///
    /// # Errors
    /// The first failure of work queued earlier, where the driver reports it so late.
    pub fn synchronize(&self) -> Result<()> {
        self.raw.synchronize()
    }

    /// Whether both are the same open device.
    pub fn same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.raw, &other.raw)
    }

    pub(crate) fn check_same(&self, other: &Device, operation: &'static str) -> Result<()> {
        if self.same(other) {
            return Ok(());
        }
        Err(DeviceError::OtherDevice { operation, expected: self.id().to_string(), found: other.id().to_string() })
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Device {}: {}>", self.id(), self.properties().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_read_back_as_they_print() {
        for name in ["cpu", "cpu:1", "cpu:64", "opencl:0.0", "opencl:3.12", "cuda:0", "cuda:7", "hip:1"] {
            assert_eq!(name.parse::<DeviceId>().unwrap().to_string(), name);
        }
        assert_eq!("opencl".parse::<DeviceId>().unwrap().to_string(), "opencl:0.0");
        assert_eq!("opencl:2".parse::<DeviceId>().unwrap().to_string(), "opencl:2.0");
        assert_eq!("hip".parse::<DeviceId>().unwrap().to_string(), "hip:0");
    }

    #[test]
    fn names_that_are_no_device_are_refused() {
        for name in
            ["", "gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:+2", "cpu:99999", "opencl:a", "opencl:1.", "cuda:x", "cuda:1.2", "CPU", "hip: 1"]
        {
            let error = name.parse::<DeviceId>().unwrap_err();
            assert_eq!(error, DeviceError::UnknownName { asked: name.into() });
        }
    }
}
