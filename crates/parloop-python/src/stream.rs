//! `parloop.Stream` and `parloop.Event`.

use parloop_device as dev;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::device::Device;
use crate::error::Result;
use crate::memory::{Memory, PinnedMemory};
use crate::ndarray::NdArray;
use crate::released::released;

/// An ordered queue of work on a device.
#[pyclass(frozen, module = "parloop")]
#[derive(Clone)]
pub struct Stream {
    pub inner: dev::Stream,
}

/// The bytes of a contiguous NumPy array.
fn bytes_of<'a>(array: &'a Bound<'_, PyAny>, writeable: bool) -> PyResult<(NdArray<'a, 'a>, *mut u8, usize)> {
    let Some(array) = NdArray::of(array)? else {
        return Err(PyTypeError::new_err(format!("expected a NumPy array, not {}", array.get_type().name()?)));
    };
    let itemsize = array.dtype().map(|dtype| dtype.size());
    let Some(itemsize) = itemsize else {
        return Err(PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name())));
    };
    if !array.is_contiguous() {
        return Err(PyValueError::new_err("the array is not contiguous; pass a contiguous copy"));
    }
    if writeable && !array.is_writeable() {
        return Err(PyValueError::new_err("the array is read-only; pass a writable one"));
    }
    Ok((array, array.pointer(), array.size() * itemsize))
}

/// Bytes that a Python object keeps alive while Python is detached.
struct Lent(*mut u8, usize);
// SAFETY: the object that lends the bytes is borrowed for the whole call.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Lent {
    /// # Safety
    /// The lender is alive, and nobody writes.
    unsafe fn read(&self) -> &[u8] {
        if self.1 == 0 {
            return &[];
        }
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }

    /// # Safety
    /// The lender is alive, and nobody else reads or writes.
    #[allow(clippy::mut_from_ref)]
    unsafe fn write(&self) -> &mut [u8] {
        if self.1 == 0 {
            return &mut [];
        }
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts_mut(self.0, self.1) }
    }
}

#[pymethods]
impl Stream {
    /// The device it works on.
    #[getter]
    fn device(&self) -> Device {
        Device { inner: self.inner.device().clone() }
    }

    /// The driver's handle; 0 is the default stream.
    #[getter]
    fn handle(&self) -> u64 {
        self.inner.handle()
    }

    /// Whether all work queued so far is done.
    #[getter]
    fn idle(&self) -> Result<bool> {
        Ok(self.inner.is_idle()?)
    }

    /// Waits until all work queued so far is done.
    fn synchronize(&self, py: Python<'_>) -> Result<()> {
        Ok(released(py, || self.inner.synchronize())?)
    }

    /// Records an event, new or given, after all work queued so far.
    #[pyo3(signature = (event=None))]
    pub fn record(&self, event: Option<&Event>) -> Result<Event> {
        match event {
            Some(event) => {
                self.inner.record_into(&event.inner)?;
                Ok(event.clone())
            }
            None => Ok(Event { inner: self.inner.record()? }),
        }
    }

    /// Later work on this stream starts after the event.
    fn wait(&self, event: &Event) -> Result<()> {
        Ok(self.inner.wait_for(&event.inner)?)
    }

    /// Copies a contiguous array to memory from `offset` bytes on.
    #[pyo3(signature = (memory, array, offset=0))]
    fn write(&self, py: Python<'_>, memory: &Memory, array: &Bound<'_, PyAny>, offset: usize) -> Result<()> {
        memory.check_writeable("a copy into the memory")?;
        let (_array, pointer, len) = bytes_of(array, false)?;
        let lent = Lent(pointer, len);
        memory.check_shared(py)?;
        Ok(py.detach(|| {
            let _still = memory.still();
            // SAFETY: `array` is borrowed for the whole call.
            self.inner.write(&memory.inner, offset, unsafe { lent.read() })
        })?)
    }

    /// Fills a contiguous array from memory, from `offset` bytes on.
    #[pyo3(signature = (memory, array, offset=0))]
    fn read(&self, py: Python<'_>, memory: &Memory, array: &Bound<'_, PyAny>, offset: usize) -> Result<()> {
        let (_array, pointer, len) = bytes_of(array, true)?;
        let lent = Lent(pointer, len);
        memory.check_shared(py)?;
        Ok(py.detach(|| {
            let _still = memory.still();
            // SAFETY: `array` is borrowed for the whole call; Python programs share arrays between threads at their own risk.
            self.inner.read(&memory.inner, offset, unsafe { lent.write() })
        })?)
    }

    /// Queues a copy of all of `pinned` to memory and returns at once.
    #[pyo3(signature = (memory, pinned, offset=0))]
    fn write_pinned(&self, py: Python<'_>, memory: &Memory, pinned: &PinnedMemory, offset: usize) -> Result<()> {
        memory.check_writeable("a copy into the memory")?;
        memory.check_shared(py)?;
        Ok(py.detach(|| {
            let _still = memory.still();
            self.inner.write_pinned(&memory.inner, offset, &pinned.inner)
        })?)
    }

    /// Copies bytes between memory of one device.
    #[pyo3(signature = (dst, src, nbytes, dst_offset=0, src_offset=0))]
    fn copy(&self, py: Python<'_>, dst: &Memory, src: &Memory, nbytes: usize, dst_offset: usize, src_offset: usize) -> Result<()> {
        dst.check_writeable("a copy into the memory")?;
        dst.check_shared(py)?;
        src.check_shared(py)?;
        dst.keep_recorded(&self.inner);
        src.keep_recorded(&self.inner);
        Ok(py.detach(|| {
            let _still = (dst.still(), src.still());
            self.inner.copy(&dst.inner, dst_offset, &src.inner, src_offset, nbytes)
        })?)
    }

    /// Sets bytes to one value.
    #[pyo3(signature = (memory, value=0, offset=0, nbytes=None))]
    fn fill(&self, py: Python<'_>, memory: &Memory, value: u8, offset: usize, nbytes: Option<usize>) -> Result<()> {
        memory.check_writeable("a fill of the memory")?;
        let nbytes = nbytes.unwrap_or_else(|| memory.inner.len().saturating_sub(offset));
        memory.check_shared(py)?;
        memory.keep_recorded(&self.inner);
        Ok(py.detach(|| {
            let _still = memory.still();
            self.inner.fill(&memory.inner, offset, nbytes, value)
        })?)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

/// A point in the order of a stream.
#[pyclass(frozen, module = "parloop")]
#[derive(Clone)]
pub struct Event {
    pub inner: dev::Event,
}

#[pymethods]
impl Event {
    /// The device it belongs to.
    #[getter]
    fn device(&self) -> Device {
        Device { inner: self.inner.device().clone() }
    }

    /// The driver's handle; 0 where there is none.
    #[getter]
    fn handle(&self) -> u64 {
        self.inner.handle()
    }

    /// Whether all work before it is done.
    fn query(&self) -> Result<bool> {
        Ok(self.inner.query()?)
    }

    /// Waits until all work before it is done.
    fn wait(&self, py: Python<'_>) -> Result<()> {
        Ok(released(py, || self.inner.wait())?)
    }

    /// Seconds on the device since the other event.
    fn since(&self, py: Python<'_>, earlier: &Event) -> Result<f64> {
        Ok(py.detach(|| self.inner.since(&earlier.inner))?)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

#[pymethods]
impl Device {
    /// The stream that is always there.
    #[getter]
    fn default_stream(&self) -> Result<Stream> {
        Ok(Stream { inner: self.inner.default_stream()? })
    }

    /// A further stream.
    fn stream(&self) -> Result<Stream> {
        Ok(Stream { inner: self.inner.create_stream()? })
    }

    /// A stream that another library owns, by its handle.
    fn adopt_stream(&self, handle: u64) -> Result<Stream> {
        // SAFETY: the user names a stream of another library, which they keep alive.
        Ok(Stream { inner: unsafe { self.inner.adopt_stream(handle)? } })
    }

    /// An event that is not recorded yet.
    fn event(&self) -> Result<Event> {
        Ok(Event { inner: self.inner.create_event()? })
    }
}
