//! The CPU backend: kernels compiled by the system compiler, run by our own threads.

use std::sync::Arc;

use crate::backend::RawDevice;
use crate::error::{DeviceError, Result};

/// The most threads a CPU device may have.
pub const MAX_THREADS: usize = 1024;

pub(crate) fn open(_threads: Option<usize>) -> Result<Arc<dyn RawDevice>> {
    Err(DeviceError::UnknownName { asked: "cpu".into() })
}
