//! AMD devices through libamdhip64, their compiler hiprtc, and their transforms hipFFT. The libraries are opened when first needed.

mod compiler;
mod driver;
mod fft;

use std::path::PathBuf;
use std::sync::Arc;

pub use self::compiler::compiler;
use crate::backend::RawDevice;
use crate::error::Result;
use crate::gpu;
use crate::identity::DeviceId;
use crate::library::path_from_env;

pub(crate) fn list() -> Result<Vec<DeviceId>> {
    gpu::list(driver::Hip::get()?)
}

/// The device whose memory is at an address.
pub(crate) fn device_of(address: u64) -> Result<DeviceId> {
    gpu::device_of(driver::Hip::get()?, address)
}

pub(crate) fn open(index: usize) -> Result<Arc<dyn RawDevice>> {
    gpu::open(driver::Hip::get()?, index)
}

/// Where the driver's library may be. A path that the user gives is the only one.
fn driver_candidates() -> Vec<PathBuf> {
    match path_from_env("PARLOOP_HIP") {
        Some(path) => vec![path],
        None => ["libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"]
            .map(PathBuf::from)
            .into(),
    }
}
