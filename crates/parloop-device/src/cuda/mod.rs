//! NVIDIA devices through libcuda, their compiler NVRTC, their transforms cuFFT, and their sensors through NVML. Each library is opened when first needed.

mod compiler;
mod driver;
mod fft;
mod nvml;

use std::path::PathBuf;
use std::sync::Arc;

pub use self::compiler::compiler;
pub use self::nvml::{Nvml, NvmlDevice, NvmlMemory, Utilization};
use crate::backend::RawDevice;
use crate::error::Result;
use crate::gpu;
use crate::identity::DeviceId;
use crate::library::{package_folders, path_from_env};

pub(crate) fn list() -> Result<Vec<DeviceId>> {
    gpu::list(driver::Cuda::get()?)
}

/// The device whose memory is at an address.
pub(crate) fn device_of(address: u64) -> Result<DeviceId> {
    gpu::device_of(driver::Cuda::get()?, address)
}

pub(crate) fn open(index: usize) -> Result<Arc<dyn RawDevice>> {
    gpu::open(driver::Cuda::get()?, index)
}

/// Where a library of the CUDA toolkit may be: the folders of a toolkit that is named, of Python packages (`nvidia/{wheel}/lib` before
/// CUDA 13), of the system, and of a toolkit in its usual place. A path that the user gives in `variable` is the only one.
fn library_candidates(variable: &str, names: &[&str], wheel: &str) -> Vec<PathBuf> {
    if let Some(path) = path_from_env(variable) {
        return vec![path];
    }
    let mut folders = Vec::new();
    for home in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(path_from_env) {
        folders.extend([home.join("lib64"), home.join("lib")]);
    }
    for packages in package_folders() {
        folders.extend([packages.join("nvidia/cu13/lib"), packages.join("nvidia").join(wheel).join("lib")]);
    }
    let in_folder = |folder: PathBuf| names.iter().map(move |name| folder.join(name));
    let mut candidates: Vec<PathBuf> = folders.into_iter().flat_map(in_folder).collect();
    candidates.extend(names.iter().map(PathBuf::from));
    candidates.extend(in_folder("/usr/local/cuda/lib64".into()));
    candidates
}
