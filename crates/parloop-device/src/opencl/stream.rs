//! Streams: in-order command queues. Work is flushed to the device when an event is recorded or the host waits, not at each call.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opencl3::command_queue::{
    CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES,
};
use opencl3::types::{CL_FALSE, CL_TRUE, cl_bool, cl_command_queue, cl_mem, cl_ulong};

use super::context::Context;
use super::driver::{Driver, Failure, call, create, info, number};
use super::event::{Marker, OpenClEvent};
use super::handle::{Handle, Kind};
use crate::backend::{RawEvent, RawStream};
use crate::error::Result;
use crate::forked::Lock;

/// How long an idle queue may take to come to a marker. One that takes longer counts as busy until asked again.
const MARKER_GRACE: Duration = Duration::from_micros(100);

/// A command queue of ours or of another owner; both are counted, so neither needs special care when it is freed.
pub(super) struct OpenClStream {
    context: Arc<Context>,
    queue: Handle,
    /// The marker of the latest [`is_idle`](RawStream::is_idle) that found the queue busy.
    busy: Lock<Option<Marker>>,
}

impl OpenClStream {
    pub(super) fn create(context: &Arc<Context>) -> Result<OpenClStream> {
        Ok(OpenClStream::around(context, create_queue(context, CL_QUEUE_PROFILING_ENABLE)?))
    }

    fn around(context: &Arc<Context>, queue: Handle) -> OpenClStream {
        OpenClStream { context: context.clone(), queue, busy: Lock::default() }
    }

    /// Shares a queue of another owner, which must be of this context and device and in order.
    ///
    /// # Safety
    /// `queue` is null or a live command queue.
    pub(super) unsafe fn adopt(context: &Arc<Context>, queue: cl_command_queue) -> Result<OpenClStream> {
        let failed = |failure: Failure| context.error(failure);
        // SAFETY: the caller upholds the same contract.
        let queue = unsafe { Handle::retain(context.driver, Kind::Queue, queue) }.map_err(failed)?;
        let ask = |what| ask_queue(context.driver, &queue, what).map_err(failed);
        if ask(CL_QUEUE_CONTEXT)? != context.handle.bits() {
            return Err(context.unsupported("use a queue of another context; adopt that context and the queue together"));
        }
        if ask(CL_QUEUE_DEVICE)? != context.device() as u64 {
            return Err(context.unsupported("use a queue of another device of its context; adopt the context with that queue"));
        }
        if ask(CL_QUEUE_PROPERTIES)? & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0 {
            return Err(context.unsupported("use an out-of-order queue as a stream; make the queue without that property"));
        }
        Ok(OpenClStream::around(context, queue))
    }

    fn check(&self, outcome: Result<(), Failure>) -> Result<()> {
        outcome.map_err(|failure| self.context.error(failure))
    }

    /// Marks the end of the work queued so far, and makes sure that it is begun without further calls.
    pub(super) fn mark(&self) -> Result<Marker> {
        let (driver, queue, mut event) = (self.context.driver, self.queue.get(), null_mut());
        // SAFETY: the queue is live; an empty list means all earlier work.
        self.check(unsafe { call!(driver, clEnqueueMarkerWithWaitList(queue, 0, null(), &mut event)) })?;
        // SAFETY: the call above made the event for us.
        let marker = unsafe { Marker::own(&self.context, event) };
        // SAFETY: the queue is live.
        self.check(unsafe { call!(driver, clFlush(queue)) })?;
        Ok(marker)
    }

    /// Later work starts after `marker`, which is flushed.
    pub(super) fn wait_marker(&self, marker: &Marker) -> Result<()> {
        let event = marker.get();
        // SAFETY: queue and event are live and of one context.
        self.check(unsafe { call!(self.context.driver, clEnqueueBarrierWithWaitList(self.queue.get(), 1, &event, null_mut())) })
    }
}

impl RawStream for OpenClStream {
    fn handle(&self) -> u64 {
        self.queue.bits()
    }

    unsafe fn fill(&self, dst: u64, offset: usize, len: usize, value: u8) -> Result<()> {
        let (queue, pattern) = (self.queue.get(), (&raw const value).cast());
        // SAFETY: the caller guarantees it; the pattern is copied before the call returns.
        self.check(unsafe {
            call!(self.context.driver, clEnqueueFillBuffer(queue, dst as cl_mem, pattern, 1, offset, len, 0, null(), null_mut()))
        })
    }

    unsafe fn write(&self, dst: u64, offset: usize, src: *const u8, len: usize, wait: bool) -> Result<()> {
        let (queue, src) = (self.queue.get(), src.cast::<c_void>());
        // SAFETY: the caller guarantees it.
        self.check(unsafe {
            call!(self.context.driver, clEnqueueWriteBuffer(queue, dst as cl_mem, blocking(wait), offset, len, src, 0, null(), null_mut()))
        })
    }

    unsafe fn read(&self, src: u64, offset: usize, dst: *mut u8, len: usize, wait: bool) -> Result<()> {
        let (queue, dst) = (self.queue.get(), dst.cast::<c_void>());
        // SAFETY: the caller guarantees it.
        self.check(unsafe {
            call!(self.context.driver, clEnqueueReadBuffer(queue, src as cl_mem, blocking(wait), offset, len, dst, 0, null(), null_mut()))
        })
    }

    unsafe fn copy(&self, dst: u64, dst_offset: usize, src: u64, src_offset: usize, len: usize) -> Result<()> {
        let (queue, dst, src) = (self.queue.get(), dst as cl_mem, src as cl_mem);
        // SAFETY: the caller guarantees it.
        self.check(unsafe {
            call!(self.context.driver, clEnqueueCopyBuffer(queue, src, dst, src_offset, dst_offset, len, 0, null(), null_mut()))
        })
    }

    fn record(&self, event: &dyn RawEvent) -> Result<()> {
        let Some(event) = OpenClEvent::of(event) else {
            return Err(self.context.unsupported("record an event of another backend"));
        };
        event.record(self.mark()?);
        Ok(())
    }

    fn wait_event(&self, event: &dyn RawEvent) -> Result<()> {
        let Some(event) = OpenClEvent::of(event) else {
            return Err(self.context.unsupported("wait for an event of another backend"));
        };
        self.wait_marker(&*event.marker()?)
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: the queue is live.
        self.check(unsafe { call!(self.context.driver, clFinish(self.queue.get())) })
    }

    fn is_idle(&self) -> Result<bool> {
        let mut busy = self.busy.lock_or(|| None);
        if let Some(marker) = busy.take()
            && !marker.is_done()?
        {
            *busy = Some(marker);
            return Ok(false);
        }
        let marker = self.mark()?;
        let start = Instant::now();
        while !marker.is_done()? {
            if start.elapsed() > MARKER_GRACE {
                *busy = Some(marker);
                return Ok(false);
            }
            std::thread::yield_now();
        }
        Ok(true)
    }
}

/// A new in-order queue with these properties.
pub(super) fn create_queue(context: &Context, properties: cl_ulong) -> Result<Handle> {
    // SAFETY: the context is live and the device is in it.
    let made = unsafe { create!(context.driver, clCreateCommandQueue(context.handle.get(), context.device(), properties)) };
    let queue = made.map_err(|failure| context.error(failure))?;
    // SAFETY: the call above made the queue for us.
    Ok(unsafe { Handle::own(context.driver, Kind::Queue, queue) })
}

/// One property of a queue.
pub(super) fn ask_queue(driver: &Driver, queue: &Handle, what: u32) -> Result<u64, Failure> {
    // SAFETY: the queue is live; `bytes` gives a buffer of the requested size.
    unsafe { info!(driver, clGetCommandQueueInfo(queue.get(), what)) }.map(|bytes| number(&bytes))
}

fn blocking(wait: bool) -> cl_bool {
    if wait { CL_TRUE } else { CL_FALSE }
}
