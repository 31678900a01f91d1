//! Arrays of other libraries: where their elements are. `protocol.rs` finds them.

use std::sync::OnceLock;

use parloop_device::{DType, Device, DeviceKind};
use parloop_kernel::Order;
use pyo3::prelude::*;

use crate::layout::is_dense;

/// Elements that somebody else owns.
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

    /// Whether the elements follow each other without gaps, in C or Fortran order.
    pub fn is_contiguous(&self) -> bool {
        [Order::C, Order::Fortran].into_iter().any(|order| is_dense(&self.shape, &self.strides, self.dtype.size(), order))
    }
}

/// The GPU with that index for addresses of CUDA's (or HIP's) interfaces.
pub fn gpu_device(index: usize) -> PyResult<Device> {
    static KIND: OnceLock<DeviceKind> = OnceLock::new();
    let is_cuda = || if Device::open("cuda:0").is_ok() { DeviceKind::Cuda } else { DeviceKind::Hip };
    let kind = KIND.get_or_init(is_cuda);
    Device::open(&format!("{kind}:{index}")).map_err(|error| crate::error::Error::from(error).into())
}
