//! The cuda backend.

use std::sync::Arc;

use crate::backend::RawDevice;
use crate::device::{DeviceId, DeviceKind};
use crate::error::{DeviceError, Result};

pub(crate) fn list() -> Result<Vec<DeviceId>> {
    Err(DeviceError::DriverMissing { kind: DeviceKind::Cuda, tried: vec![], hint: String::new() })
}
pub(crate) fn open(_index: usize) -> Result<Arc<dyn RawDevice>> {
    Err(list().unwrap_err())
}
