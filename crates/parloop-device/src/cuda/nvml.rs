//! NVML: how busy NVIDIA devices are and how their memory is used, by all processes. Independent of the CUDA driver's numbering.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::path::PathBuf;

use libloading::Library;

use crate::error::{DeviceError, Result};
use crate::gpu::calls::{Failure, c_text, find, function_table};
use crate::identity::PciAddress;
use crate::kind::DeviceKind;
use crate::library::open_first;

function_table! {
    /// The functions of NVML used here.
    NvmlCalls, NvmlCallNames {
        init: fn() -> c_int,
        shutdown: fn() -> c_int,
        error_string: fn(c_int) -> *const c_char,
        count: fn(*mut c_uint) -> c_int,
        by_index: fn(c_uint, *mut u64) -> c_int,
        by_pci: fn(*const c_char, *mut u64) -> c_int,
        utilization: fn(u64, *mut Utilization) -> c_int,
        memory: fn(u64, *mut NvmlMemory) -> c_int,
    }
}

const CALLS: NvmlCallNames = NvmlCallNames {
    init: "nvmlInit_v2",
    shutdown: "nvmlShutdown",
    error_string: "nvmlErrorString",
    count: "nvmlDeviceGetCount_v2",
    by_index: "nvmlDeviceGetHandleByIndex_v2",
    by_pci: "nvmlDeviceGetHandleByPciBusId_v2",
    utilization: "nvmlDeviceGetUtilizationRates",
    memory: "nvmlDeviceGetMemoryInfo",
};

/// NVML, ready for use until it is dropped.
///
/// ```no_run
/// use parloop_device::cuda::Nvml;
/// let nvml = Nvml::init()?;
/// let device = nvml.device(0)?;
/// println!("{} % busy, {} bytes free", device.utilization_rates()?.gpu, device.memory_info()?.free);
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
pub struct Nvml {
    calls: NvmlCalls,
    _library: Library,
}

/// How busy a device was in the last moments, in percent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utilization {
    /// The part of the time in which a kernel ran.
    pub gpu: u32,
    /// The part of the time in which memory was read or written.
    pub memory: u32,
}

/// Memory of a device as all processes use it, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct NvmlMemory {
    pub total: u64,
    pub free: u64,
    pub used: u64,
}

impl Nvml {
    /// Opens the library and initialises it.
    ///
    /// # Errors
    /// [`DeviceError::DriverMissing`] when libnvidia-ml is not found, [`DeviceError::Driver`] when it does not work.
    pub fn init() -> Result<Nvml> {
        Nvml::open(&["libnvidia-ml.so.1".into(), "libnvidia-ml.so".into()])
    }

    fn open(candidates: &[PathBuf]) -> Result<Nvml> {
        let absent = |tried, hint: String| DeviceError::DriverMissing { kind: DeviceKind::Cuda, tried, hint };
        let (library, path) =
            open_first(candidates).map_err(|tried| absent(tried, "NVML comes with the NVIDIA driver; install that".into()))?;
        // SAFETY: NVML's functions of these names have these signatures.
        let calls = unsafe { NvmlCalls::load(&CALLS, |name| find(&library, name)) }
            .map_err(|missing| absent(vec![path.display().to_string()], format!("it has no `{missing}`: update the NVIDIA driver")))?;
        // SAFETY: it takes nothing and may be called several times in a process; each is matched by a shutdown.
        let started = calls.init.check(unsafe { (calls.init.function)() });
        match started {
            Ok(()) => Ok(Nvml { calls, _library: library }),
            Err(failure) => Err(error(&calls, failure)),
        }
    }

    /// Gives NVML back; the same as dropping it.
    pub fn shutdown(self) {}

    /// How many devices NVML sees.
    ///
    /// # Errors
    /// [`DeviceError::Driver`].
    pub fn device_count(&self) -> Result<u32> {
        let mut count = 0;
        let call = &self.calls.count;
        // SAFETY: `count` is valid for writing one number.
        self.check(call.check(unsafe { (call.function)(&mut count) }))?;
        Ok(count)
    }

    /// The device of that number. NVML's numbers follow the PCI bus and know nothing of `CUDA_VISIBLE_DEVICES`.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] when there is none.
    pub fn device(&self, index: u32) -> Result<NvmlDevice<'_>> {
        let mut handle = 0;
        let call = &self.calls.by_index;
        // SAFETY: `handle` is valid for writing one handle.
        self.check(call.check(unsafe { (call.function)(index, &mut handle) }))?;
        Ok(NvmlDevice { nvml: self, handle })
    }

    /// The device at a place on the PCI bus, as [`Properties::pci`](crate::Properties::pci) has it.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] when there is none.
    pub fn device_at(&self, address: PciAddress) -> Result<NvmlDevice<'_>> {
        let mut handle = 0;
        let text = CString::new(address.to_string()).unwrap_or_default();
        let call = &self.calls.by_pci;
        // SAFETY: `handle` is valid for writing one handle and the text ends in a zero.
        self.check(call.check(unsafe { (call.function)(text.as_ptr(), &mut handle) }))?;
        Ok(NvmlDevice { nvml: self, handle })
    }

    fn check(&self, result: Result<(), Failure>) -> Result<()> {
        result.map_err(|failure| error(&self.calls, failure))
    }
}

fn error(calls: &NvmlCalls, failure: Failure) -> DeviceError {
    // SAFETY: it takes any number and answers with a text that is never freed.
    let message = unsafe { c_text((calls.error_string.function)(failure.code)) };
    DeviceError::Driver { device: "nvml".into(), call: failure.call, code: i64::from(failure.code), message }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: matches the one initialisation; devices borrow `self`, so none is left.
        unsafe { (self.calls.shutdown.function)() };
    }
}

/// One device of NVML.
#[derive(Clone, Copy)]
pub struct NvmlDevice<'a> {
    nvml: &'a Nvml,
    handle: u64,
}

impl NvmlDevice<'_> {
    /// How busy it is.
    ///
    /// # Errors
    /// [`DeviceError::Driver`].
    pub fn utilization_rates(&self) -> Result<Utilization> {
        let mut rates = Utilization::default();
        let call = &self.nvml.calls.utilization;
        // SAFETY: the handle is of this NVML and `rates` has the layout that it fills.
        self.nvml.check(call.check(unsafe { (call.function)(self.handle, &mut rates) }))?;
        Ok(rates)
    }

    /// How its memory is used.
    ///
    /// # Errors
    /// [`DeviceError::Driver`].
    pub fn memory_info(&self) -> Result<NvmlMemory> {
        let mut memory = NvmlMemory::default();
        let call = &self.nvml.calls.memory;
        // SAFETY: the handle is of this NVML and `memory` has the layout that it fills.
        self.nvml.check(call.check(unsafe { (call.function)(self.handle, &mut memory) }))?;
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_nvml_is_a_missing_driver() {
        let error = Nvml::open(&["libnvidia-ml-of-nobody.so".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "cuda driver not found: none of libnvidia-ml-of-nobody.so could be opened; NVML comes with the NVIDIA driver; install that"
        );
    }
}
