//! `parloop.Device`.

use parloop_device as dev;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Result;
use crate::html::html;
use crate::released::released;

/// A device: CPU threads, or a GPU.
///
/// >>> import parloop as pl
/// >>> pl.Device("cpu:1").kind
/// 'cpu'
#[pyclass(frozen, eq, hash, module = "parloop")]
#[derive(Clone)]
pub struct Device {
    pub inner: dev::Device,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.inner.same(&other.inner)
    }
}

impl std::hash::Hash for Device {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.inner.id().hash(state);
    }
}

/// Every device that can be reached, the CPU first.
///
/// >>> import parloop as pl
/// >>> pl.devices()[0].name
/// 'cpu'
#[pyfunction]
pub fn devices(py: Python<'_>) -> Vec<Device> {
    py.detach(dev::Device::list).into_iter().map(|inner| Device { inner }).collect()
}

#[pymethods]
impl Device {
    #[new]
    fn new(py: Python<'_>, name: &str) -> Result<Device> {
        Ok(Device { inner: py.detach(|| dev::Device::open(name))? })
    }

    /// The name that opens it: `cpu`, `opencl:0.0`, `cuda:0`, …
    #[getter]
    fn name(&self) -> String {
        self.inner.id().to_string()
    }

    /// `cpu`, `opencl`, `cuda` or `hip`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.kind().name()
    }

    /// The maker's name for it.
    #[getter]
    fn model(&self) -> &str {
        &self.inner.properties().name
    }

    /// What code is compiled for, such as `sm_90`.
    #[getter]
    fn arch(&self) -> &str {
        &self.inner.properties().arch
    }

    /// The driver and its version.
    #[getter]
    fn driver(&self) -> &str {
        &self.inner.properties().driver
    }

    /// Cores, compute units or multiprocessors.
    #[getter]
    fn compute_units(&self) -> u32 {
        self.inner.properties().compute_units
    }

    /// Work items that run in step.
    #[getter]
    fn simd_width(&self) -> u32 {
        self.inner.properties().simd_width
    }

    /// All of its memory, in bytes.
    #[getter]
    fn memory_total(&self) -> u64 {
        self.inner.properties().memory_total
    }

    /// Memory free at this moment, in bytes.
    #[getter]
    fn memory_free(&self, py: Python<'_>) -> Result<u64> {
        Ok(py.detach(|| self.inner.memory_info())?.free)
    }

    /// The largest single allocation, in bytes.
    #[getter]
    fn max_allocation(&self) -> u64 {
        self.inner.properties().max_allocation
    }

    /// The most work items in a block.
    #[getter]
    fn max_block(&self) -> u32 {
        self.inner.properties().max_block
    }

    /// The most work items in a block along each axis.
    #[getter]
    fn max_block_dims(&self) -> (u32, u32, u32) {
        self.inner.properties().max_block_dims.into()
    }

    /// The most blocks along each axis.
    #[getter]
    fn max_grid(&self) -> (u32, u32, u32) {
        self.inner.properties().max_grid.into()
    }

    /// Memory shared by a block, in bytes.
    #[getter]
    fn shared_memory(&self) -> u64 {
        self.inner.properties().shared_memory
    }

    /// A sub-range of memory starts at multiples of this many bytes.
    #[getter]
    fn memory_alignment(&self) -> usize {
        self.inner.properties().memory_alignment
    }

    /// The 16 bytes that identify the device, or None.
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.properties().uuid.map(|uuid| PyBytes::new(py, &uuid))
    }

    /// (domain, bus, device) on the PCI bus, or None.
    #[getter]
    fn pci(&self) -> Option<(u32, u32, u32)> {
        self.inner.properties().pci.map(|pci| (pci.domain, pci.bus, pci.device))
    }

    /// Waits for all work on the device.
    fn synchronize(&self, py: Python<'_>) -> Result<()> {
        Ok(released(py, || self.inner.synchronize())?)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "device", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}
