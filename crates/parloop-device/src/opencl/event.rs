//! Events: markers in a queue. A marker is made when the event is recorded, and replaced when it is recorded again.

use std::any::Any;
use std::sync::Arc;

use opencl3::error_codes::{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_PROFILING_INFO_NOT_AVAILABLE};
use opencl3::event::{CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END};
use opencl3::types::{cl_event, cl_int};

use super::context::Context;
use super::driver::{Failure, call, info, number};
use super::handle::{Handle, Kind};
use crate::backend::RawEvent;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;

/// A marker that was put into a queue.
pub(super) struct Marker {
    context: Arc<Context>,
    handle: Handle,
}

impl Marker {
    /// # Safety
    /// `event` was made by a call for us.
    pub(super) unsafe fn own(context: &Arc<Context>, event: cl_event) -> Marker {
        // SAFETY: the caller upholds the same contract.
        let handle = unsafe { Handle::own(context.driver, Kind::Event, event) };
        Marker { context: context.clone(), handle }
    }

    pub(super) fn get(&self) -> cl_event {
        self.handle.get()
    }

    /// Whether the queue has come to the marker.
    pub(super) fn is_done(&self) -> Result<bool> {
        let asked = CL_EVENT_COMMAND_EXECUTION_STATUS;
        // SAFETY: the event is live; `bytes` gives a buffer of the requested size.
        let answer = unsafe { info!(self.context.driver, clGetEventInfo(self.get(), asked)) };
        let code = answer.map(|bytes| number(&bytes) as cl_int).map_err(|failure| self.context.error(failure))?;
        if code < 0 {
            return Err(self.context.error(Failure { call: "clGetEventInfo", code }));
        }
        Ok(code == CL_COMPLETE)
    }

    fn wait(&self) -> Result<()> {
        // SAFETY: the event is live.
        match unsafe { call!(self.context.driver, clWaitForEvents(1, &self.get())) } {
            Ok(()) => Ok(()),
            // The event itself knows what failed.
            Err(failure) if failure.code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => self.is_done().map(|_| ()),
            Err(failure) => Err(self.context.error(failure)),
        }
    }

    /// When the queue came to the marker, in nanoseconds of the device's clock.
    fn nanoseconds(&self) -> Result<u64> {
        // SAFETY: the event is live; `bytes` gives a buffer of the requested size.
        let answer = unsafe { info!(self.context.driver, clGetEventProfilingInfo(self.get(), CL_PROFILING_COMMAND_END)) };
        answer.map(|bytes| number(&bytes)).map_err(|failure| match failure.code {
            CL_PROFILING_INFO_NOT_AVAILABLE => {
                self.context.unsupported("measure time on a queue made without profiling; make it with CL_QUEUE_PROFILING_ENABLE")
            }
            _ => self.context.error(failure),
        })
    }
}

/// An event: its latest marker, if there is one.
pub(super) struct OpenClEvent {
    context: Arc<Context>,
    marker: Lock<Option<Arc<Marker>>>,
}

impl OpenClEvent {
    pub(super) fn new(context: &Arc<Context>) -> OpenClEvent {
        OpenClEvent { context: context.clone(), marker: Lock::default() }
    }

    /// The event behind the trait object; every event given to this backend is one.
    pub(super) fn of(event: &dyn RawEvent) -> Option<&OpenClEvent> {
        event.as_any().downcast_ref()
    }

    pub(super) fn record(&self, marker: Marker) {
        *self.marker.lock_or(|| None) = Some(Arc::new(marker));
    }

    /// The latest marker, kept alive while it is waited for even when the event is recorded again.
    pub(super) fn marker(&self) -> Result<Arc<Marker>> {
        let marker = self.marker.lock_or(|| None).clone();
        marker.ok_or_else(|| DeviceError::EventNotRecorded { device: self.context.id.to_string() })
    }
}

impl RawEvent for OpenClEvent {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn handle(&self) -> u64 {
        self.marker().map_or(0, |marker| marker.handle.bits())
    }

    fn query(&self) -> Result<bool> {
        self.marker()?.is_done()
    }

    fn wait(&self) -> Result<()> {
        self.marker()?.wait()
    }

    fn seconds_since(&self, earlier: &dyn RawEvent) -> Result<f64> {
        let Some(earlier) = OpenClEvent::of(earlier) else {
            return Err(self.context.unsupported("measure time from an event of another backend"));
        };
        let (start, end) = (earlier.marker()?.nanoseconds()?, self.marker()?.nanoseconds()?);
        Ok(end.wrapping_sub(start).cast_signed() as f64 * 1e-9)
    }
}
