//! `parloop.Memory` and `parloop.PinnedMemory`: bytes without a type.

use std::sync::Arc;

use parloop_device as dev;
use parloop_object as obj;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device::Device;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::owner::{Owner, check_shared};
use crate::released::released;

/// Bytes of a device.
#[pyclass(frozen, module = "parloop")]
#[derive(Clone)]
pub struct Memory {
    pub inner: dev::Memory,
    /// What must live as long as adopted memory.
    pub owner: Option<Arc<Owner>>,
    /// The buffer whose memory this is a part of, which may move.
    pub buffer: Option<obj::Buffer>,
    pub writeable: bool,
}

impl Memory {
    pub fn owned(inner: dev::Memory) -> Memory {
        Memory { inner, owner: None, buffer: None, writeable: true }
    }

    /// Makes a recording in progress keep the owner of the memory alive.
    pub fn keep_recorded(&self, stream: &dev::Stream) {
        if let Some(owner) = &self.owner {
            stream.keep_recorded(|| owner.clone());
        }
    }

    pub fn adopted(inner: dev::Memory, owner: Option<Py<PyAny>>) -> Memory {
        Memory { inner, owner: owner.map(|owner| Arc::new(Owner::steady(owner))), buffer: None, writeable: true }
    }

    /// Fails when the NumPy array whose memory this is has other memory.
    pub fn check_shared(&self, py: Python<'_>) -> Result<()> {
        check_shared(py, self.owner.as_deref())
    }

    /// Keeps the memory of a buffer where it is as long as the result lives, while Python is not held.
    pub fn still(&self) -> Option<obj::Hold> {
        self.buffer.as_ref().map(obj::Buffer::hold)
    }

    /// Fails when the memory is read-only.
    pub fn check_writeable(&self, operation: &str) -> Result<()> {
        if self.writeable {
            return Ok(());
        }
        let reason = format!("{operation} failed: the memory is read-only; use the memory of a copy");
        Err(Exception::ArgumentValueError.error(reason).into())
    }
}

#[pymethods]
impl Memory {
    /// The device it belongs to.
    #[getter]
    fn device(&self) -> Device {
        Device { inner: self.inner.device().clone() }
    }

    /// What a kernel receives: an address, or a `cl_mem` on OpenCL.
    #[getter]
    fn handle(&self) -> u64 {
        self.inner.handle()
    }

    /// Bytes from what the handle names to its first byte: those before a part of a `cl_mem`, 0 where the handle is an address.
    #[getter]
    fn offset(&self) -> usize {
        self.inner.offset()
    }

    /// What it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.len()
    }

    /// Whether its bytes must not be changed, as those of a read-only array.
    #[getter]
    fn readonly(&self) -> bool {
        !self.writeable
    }

    /// The part of `nbytes` bytes from `offset` on; it shares the memory.
    fn slice(&self, offset: usize, nbytes: usize) -> Result<Memory> {
        Ok(Memory { inner: self.inner.slice(offset, nbytes)?, ..self.clone() })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

/// Page-locked host memory; `numpy.asarray(pinned)` is its bytes.
#[pyclass(frozen, module = "parloop")]
pub struct PinnedMemory {
    pub inner: dev::PinnedMemory,
}

#[pymethods]
impl PinnedMemory {
    /// Its address on the host.
    #[getter]
    fn pointer(&self) -> usize {
        self.inner.pointer() as usize
    }

    /// What it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.len()
    }

    /// Waits for the copies in flight.
    fn wait(&self, py: Python<'_>) -> Result<()> {
        Ok(released(py, || self.inner.wait())?)
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.inner.len(),))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.inner.pointer() as usize, false))?;
        Ok(interface)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

#[pymethods]
impl Device {
    /// Memory of this many bytes; its content is undefined.
    fn allocate(&self, py: Python<'_>, nbytes: usize) -> Result<Memory> {
        Ok(Memory::owned(py.detach(|| self.inner.allocate(nbytes))?))
    }

    /// Memory that another library owns, without a copy: an address, or a `cl_mem`. `owner` is kept alive.
    #[pyo3(signature = (handle, nbytes, owner=None))]
    fn adopt_memory(&self, handle: u64, nbytes: usize, owner: Option<Py<PyAny>>) -> Result<Memory> {
        // SAFETY: the user names the memory of another library, which by `owner` or their care outlives ours.
        let memory = unsafe { self.inner.adopt_memory(handle, nbytes)? };
        Ok(Memory::adopted(memory, owner))
    }

    /// Page-locked host memory of this many zero bytes.
    fn allocate_pinned(&self, py: Python<'_>, nbytes: usize) -> Result<PinnedMemory> {
        Ok(PinnedMemory { inner: py.detach(|| self.inner.allocate_pinned(nbytes))? })
    }
}
