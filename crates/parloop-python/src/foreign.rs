//! Arrays of other libraries: where their elements are. `protocol.rs` finds them.

use std::sync::OnceLock;

use parloop_device::{DType, Device, DeviceKind, Stream};
use parloop_kernel::Order;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use crate::error::Result;
use crate::layout::is_dense;

/// Elements that someone else owns.
pub struct Foreign<'py> {
    /// Where the address is valid; `None` is the host.
    pub device: Option<Device>,
    pub pointer: u64,
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Bytes from one element to the next along each axis.
    pub strides: Vec<isize>,
    pub writeable: bool,
    /// Keeps the elements alive.
    pub owner: Bound<'py, PyAny>,
}

impl<'py> Foreign<'py> {
    /// The number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Fails where shape and strides lead outside of the address space: what was offered is not an array.
    pub fn checked(self) -> PyResult<Foreign<'py>> {
        let limit = isize::MAX as usize;
        let bytes = self.shape.iter().try_fold(self.dtype.size(), |bytes, &len| bytes.checked_mul(len)).filter(|&bytes| bytes <= limit);
        let reach = |(&len, &stride): (&usize, &isize)| len.saturating_sub(1).checked_mul(stride.unsigned_abs());
        let reaches = self.shape.iter().zip(&self.strides).map(reach);
        let span = reaches.into_iter().try_fold(self.dtype.size(), |span, reach| span.checked_add(reach?)).filter(|&span| span <= limit);
        let is_empty = bytes == Some(0);
        let is_inside = is_empty || span.is_some_and(|span| self.pointer >= span as u64 || self.strides.iter().all(|&stride| stride >= 0));
        if self.shape.len() == self.strides.len() && bytes.is_some() && is_inside && (is_empty || self.pointer != 0) {
            return Ok(self);
        }
        let (shape, strides, pointer) = (&self.shape, &self.strides, self.pointer);
        let reason = format!("an array of shape {shape:?} with strides {strides:?} at address {pointer:#x} was offered, which is invalid");
        Err(PyBufferError::new_err(reason))
    }

    /// Whether the elements follow each other without gaps, in C or Fortran order.
    pub fn is_contiguous(&self) -> bool {
        [Order::C, Order::Fortran].into_iter().any(|order| is_dense(&self.shape, &self.strides, self.dtype.size(), order))
    }
}

/// Which driver knows the addresses of CUDA's interfaces: those of PyTorch and CuPy for AMD devices use them too.
pub fn gpu_kind() -> DeviceKind {
    static KIND: OnceLock<DeviceKind> = OnceLock::new();
    *KIND.get_or_init(|| if Device::open("cuda:0").is_ok() { DeviceKind::Cuda } else { DeviceKind::Hip })
}

/// The stream that a protocol names by a number. On CUDA 1 is the legacy default stream, 2 the one of the thread, and 0 could be either;
/// on HIP 0 is the default stream. Others are handles.
pub fn stream_by_number(device: &Device, number: i64) -> Result<Stream> {
    let handle = match (device.kind(), number) {
        (DeviceKind::Cuda, 0) => return Err(ambiguous_stream().into()),
        (DeviceKind::Cuda, 1) | (DeviceKind::Hip, 0 | 1) => return Ok(device.default_stream()?),
        (DeviceKind::Cuda | DeviceKind::Hip, number) => u64::try_from(number).ok(),
        (DeviceKind::Cpu | DeviceKind::OpenCl, _) => None,
    };
    let Some(handle) = handle else {
        let reason = format!("stream {number} was given, but {} has no such stream; pass None", device.id());
        return Err(PyValueError::new_err(reason).into());
    };
    // SAFETY: the protocol says that the number is a live stream of the device; it is used until the hand-over is queued.
    Ok(unsafe { device.adopt_stream(handle)? })
}

pub fn ambiguous_stream() -> PyErr {
    PyValueError::new_err("stream 0 is ambiguous; use 1 for the legacy default stream or 2 for the per-thread default stream")
}

/// The number of a stream in the protocols.
pub fn stream_number(stream: &Stream) -> u64 {
    match (stream.device().kind(), stream.handle()) {
        (DeviceKind::Cuda, 0) => 1,
        (_, handle) => handle,
    }
}
