//! An open device. What it allocates, makes and loads is beside the types of these; `open.rs` opens one.

use std::fmt;
use std::sync::Arc;

use crate::backend::{Compiler, RawDevice};
use crate::error::{CompileError, DeviceError, Result};
use crate::identity::{DeviceId, MemoryInfo, Properties};
use crate::interrupt;
use crate::kind::{DeviceKind, Language};

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

    /// The name that opens this device.
    pub fn id(&self) -> DeviceId {
        self.properties().id
    }

    /// The kind of device.
    pub fn kind(&self) -> DeviceKind {
        self.id().kind()
    }

    /// Its properties and limits.
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
        self.raw.binary_target()
    }

    /// Free and total memory at this moment.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.raw.memory_info()
    }

    /// The compiler for this device's kernels in C.
    ///
    /// # Errors
    /// [`CompileError::NoCompiler`].
    pub fn compiler(&self) -> Result<Arc<dyn Compiler>, CompileError> {
        self.compiler_of(Language::C)
    }

    /// The compiler for this device's kernels in that language.
    ///
    /// # Errors
    /// [`CompileError::NoCompiler`], [`CompileError::Language`].
    pub fn compiler_of(&self, language: Language) -> Result<Arc<dyn Compiler>, CompileError> {
        self.raw.compiler(language)
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
        if self.kind() == DeviceKind::Cpu {
            return Ok(());
        }
        let raw = self.raw.clone();
        self.wait(None, move || raw.synchronize())
    }

    /// Waits for something of this device, in a way that Ctrl-C can end: `is_done` asks for it, `block` waits in the driver.
    ///
    /// # Errors
    /// Those of `block`; [`DeviceError::Interrupted`], after which the device cannot be used.
    pub(crate) fn wait(
        &self,
        is_done: Option<&dyn Fn() -> Result<bool>>,
        block: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let outcome = interrupt::wait(self.id(), is_done, block);
        if matches!(outcome, Err(DeviceError::Interrupted { .. })) {
            self.raw.abandon();
        }
        outcome
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
