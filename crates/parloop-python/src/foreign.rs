//! Arrays of other libraries: where their elements are. `protocol.rs` finds them.

use std::sync::OnceLock;

use parloop_device::{DType, Device, DeviceKind};
use pyo3::prelude::*;

use crate::layout::Layout;

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
        let same = |dense: &[isize], strides: &[isize], shape: &[usize]| {
            shape.iter().zip(strides.iter().zip(dense)).all(|(&len, (a, b))| len <= 1 || a == b)
        };
        let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
        let strides_reversed: Vec<isize> = self.strides.iter().rev().copied().collect();
        self.size() == 0
            || same(&Layout::dense(&self.shape, self.dtype.size()).strides, &self.strides, &self.shape)
            || same(&Layout::dense(&reversed, self.dtype.size()).strides, &strides_reversed, &reversed)
    }
}

/// The GPU with that index for addresses of CUDA's (or HIP's) interfaces.
pub fn gpu_device(index: usize) -> PyResult<Device> {
    static KIND: OnceLock<DeviceKind> = OnceLock::new();
    let is_cuda = || if Device::open("cuda:0").is_ok() { DeviceKind::Cuda } else { DeviceKind::Hip };
    let kind = KIND.get_or_init(is_cuda);
    Device::open(&format!("{kind}:{index}")).map_err(|error| crate::error::Error::from(error).into())
}
