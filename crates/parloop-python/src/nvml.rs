//! `parloop._parloop._Nvml`: how busy NVIDIA devices are, by their index in NVML.

use parloop_device::cuda;
use pyo3::prelude::*;

use crate::error::Result;

/// NVML, initialised; it is given back when the object goes.
#[pyclass(frozen, module = "parloop._parloop", name = "_Nvml")]
pub struct Nvml {
    inner: cuda::Nvml,
}

#[pymethods]
impl Nvml {
    #[new]
    fn new(py: Python<'_>) -> Result<Nvml> {
        Ok(Nvml { inner: py.detach(cuda::Nvml::init)? })
    }

    /// How many devices NVML sees.
    #[getter]
    fn device_count(&self) -> Result<u32> {
        Ok(self.inner.device_count()?)
    }

    /// (kernels, memory): the percentage of time in which each was in use.
    fn utilization_rates(&self, index: u32) -> Result<(u32, u32)> {
        let rates = self.inner.device(index)?.utilization_rates()?;
        Ok((rates.gpu, rates.memory))
    }

    /// (free, total, used) bytes of all processes together.
    fn memory_info(&self, index: u32) -> Result<(u64, u64, u64)> {
        let memory = self.inner.device(index)?.memory_info()?;
        Ok((memory.free, memory.total, memory.used))
    }
}
