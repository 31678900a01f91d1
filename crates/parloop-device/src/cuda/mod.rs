//! NVIDIA devices through libcuda, their compiler NVRTC, and their sensors through NVML. Each library is opened when first needed.

mod compiler;
mod driver;
mod nvml;

use std::sync::Arc;

pub use self::compiler::compiler;
pub use self::nvml::{Nvml, NvmlDevice, NvmlMemory, Utilization};
use crate::backend::RawDevice;
use crate::device::DeviceId;
use crate::error::Result;
use crate::gpu;

pub(crate) fn list() -> Result<Vec<DeviceId>> {
    gpu::list(driver::Cuda::get()?)
}

pub(crate) fn open(index: usize) -> Result<Arc<dyn RawDevice>> {
    gpu::open(driver::Cuda::get()?, index)
}
