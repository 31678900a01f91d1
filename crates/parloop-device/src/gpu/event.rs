//! Events of a GPU, with time stamps.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::RawEvent;
use crate::error::{DeviceError, Result};
use crate::gpu::context::Context;
use crate::gpu::driver::Driver;

/// An event of a GPU. To the driver an event that was never recorded is done, so whether it was recorded is kept here.
pub(crate) struct GpuEvent<D: Driver> {
    context: Arc<Context<D>>,
    handle: u64,
    recorded: AtomicBool,
}

/// Events take the time.
const WITH_TIMING: u32 = 0;

impl<D: Driver> GpuEvent<D> {
    pub(crate) fn create(context: Arc<Context<D>>) -> Result<GpuEvent<D>> {
        context.enter()?;
        let mut handle = 0;
        let call = &context.driver.calls().event_create;
        // SAFETY: `handle` is valid for writing one handle.
        context.check(call, unsafe { (call.function)(&mut handle, WITH_TIMING) })?;
        Ok(GpuEvent { context, handle, recorded: AtomicBool::new(false) })
    }

    /// The event behind the trait object; `device` asks for it.
    pub(crate) fn of<'a>(event: &'a dyn RawEvent, device: &str) -> Result<&'a GpuEvent<D>> {
        event.as_any().downcast_ref().ok_or_else(|| DeviceError::OtherDevice {
            operation: "use an event",
            expected: device.to_owned(),
            found: "another backend".into(),
        })
    }

    pub(crate) fn record_on(&self, stream: u64) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().event_record;
        // SAFETY: the event is alive while `self` is, and the stream is alive and of the same device, by the caller's check.
        self.context.check(call, unsafe { (call.function)(self.handle, stream) })?;
        self.recorded.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn check_recorded(&self) -> Result<()> {
        if self.recorded.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(DeviceError::EventNotRecorded { device: self.context.name.clone() })
    }
}

impl<D: Driver> RawEvent for GpuEvent<D> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn handle(&self) -> u64 {
        self.handle
    }

    fn query(&self) -> Result<bool> {
        self.check_recorded()?;
        self.context.enter()?;
        let call = &self.context.driver.calls().event_query;
        // SAFETY: the event is alive while `self` is.
        self.context.check_done(call, unsafe { (call.function)(self.handle) })
    }

    fn wait(&self) -> Result<()> {
        self.check_recorded()?;
        self.context.enter()?;
        let call = &self.context.driver.calls().event_synchronize;
        // SAFETY: the event is alive while `self` is.
        self.context.check(call, unsafe { (call.function)(self.handle) })
    }

    fn seconds_since(&self, earlier: &dyn RawEvent) -> Result<f64> {
        let earlier = GpuEvent::<D>::of(earlier, &self.context.name)?;
        self.check_recorded()?;
        earlier.check_recorded()?;
        self.context.enter()?;
        let mut milliseconds = 0.0;
        let call = &self.context.driver.calls().event_elapsed;
        // SAFETY: both events are alive and `milliseconds` is valid for writing one number.
        self.context.check(call, unsafe { (call.function)(&mut milliseconds, earlier.handle, self.handle) })?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl<D: Driver> Drop for GpuEvent<D> {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: made by this context and dropped once; the driver keeps it until queued work is past it.
            let _ = unsafe { (self.context.driver.calls().event_destroy.function)(self.handle) };
        }
    }
}
