//! A context: the OpenCL object in which memory, queues and programs of one device live, and the count of its memory.

use std::sync::atomic::{AtomicU64, Ordering};

use opencl3::types::cl_device_id;

use super::driver::{Driver, Failure, create};
use super::handle::{Handle, Kind, Object};
use crate::error::{DeviceError, Result};
use crate::identity::DeviceId;

/// A context with the one device in it that is meant.
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    pub(super) id: DeviceId,
    pub(super) handle: Handle,
    device: Object,
    memory_total: u64,
    allocated: AtomicU64,
}

impl Context {
    /// A context of our own.
    pub(super) fn create(driver: &'static Driver, id: DeviceId, device: Object, memory_total: u64) -> Result<Context> {
        // SAFETY: `device` was listed by the driver; no callback is given.
        let made = unsafe { create!(driver, clCreateContext(std::ptr::null(), 1, &device.0, None, std::ptr::null_mut())) };
        let context = made.map_err(|failure| failure.on(id))?;
        // SAFETY: the call above made the context for us.
        let handle = unsafe { Handle::own(driver, Kind::Context, context) };
        Ok(Context::around(driver, id, handle, device, memory_total))
    }

    /// The context `handle`, which has `device` in it.
    pub(super) fn around(driver: &'static Driver, id: DeviceId, handle: Handle, device: Object, memory_total: u64) -> Context {
        Context { driver, id, handle, device, memory_total, allocated: AtomicU64::new(0) }
    }

    /// The device as OpenCL knows it.
    pub(super) fn device(&self) -> cl_device_id {
        self.device.0
    }

    /// The failure of a call for this device.
    pub(super) fn error(&self, failure: Failure) -> DeviceError {
        failure.on(self.id)
    }

    /// Something that this device, or OpenCL, cannot do.
    pub(super) fn unsupported(&self, what: &str) -> DeviceError {
        DeviceError::Unsupported { device: self.id.to_string(), what: what.into() }
    }

    /// The error when `asked` bytes are too many.
    pub(super) fn out_of_memory(&self, asked: usize) -> DeviceError {
        DeviceError::OutOfMemory { device: self.id.to_string(), asked: asked as u64, free: Some(self.free()) }
    }

    /// Bytes of the device that were not allocated here. OpenCL cannot say what others use.
    pub(super) fn free(&self) -> u64 {
        self.memory_total.saturating_sub(self.allocated.load(Ordering::Relaxed))
    }

    /// Counts `bytes` as allocated, unless the device has not as many left: drivers may find that out too late to say so.
    pub(super) fn reserve(&self, bytes: usize) -> Result<()> {
        let grow = |allocated: u64| allocated.checked_add(bytes as u64).filter(|&sum| sum <= self.memory_total);
        match self.allocated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.out_of_memory(bytes)),
        }
    }

    /// Takes back what [`reserve`](Self::reserve) counted.
    pub(super) fn give_back(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
