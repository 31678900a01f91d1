//! Streams of a GPU: the legacy default stream, blocking streams of our own, and streams of other libraries.

use std::sync::Arc;

use crate::backend::{RawEvent, RawStream};
use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::driver::{Driver, LEGACY_STREAM};
use crate::gpu::event::GpuEvent;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The legacy stream, which nobody makes or destroys.
    Driver,
    Us,
    Foreign,
}

/// A stream of a GPU.
pub(crate) struct GpuStream<D: Driver> {
    context: Arc<Context<D>>,
    handle: u64,
    owner: Owner,
}

/// A stream that the legacy stream waits for and that waits for it.
const BLOCKING: u32 = 0;
/// A stream that the legacy stream has nothing to do with.
const NON_BLOCKING: u32 = 1;

impl<D: Driver> GpuStream<D> {
    pub(crate) fn legacy(context: Arc<Context<D>>) -> GpuStream<D> {
        GpuStream { context, handle: LEGACY_STREAM, owner: Owner::Driver }
    }

    pub(crate) fn create(context: Arc<Context<D>>) -> Result<GpuStream<D>> {
        GpuStream::create_with(context, BLOCKING)
    }

    /// A stream that nothing orders with others.
    pub(crate) fn create_unordered(context: Arc<Context<D>>) -> Result<GpuStream<D>> {
        GpuStream::create_with(context, NON_BLOCKING)
    }

    fn create_with(context: Arc<Context<D>>, flags: u32) -> Result<GpuStream<D>> {
        context.enter()?;
        let mut handle = 0;
        let call = &context.driver.calls().stream_create;
        // SAFETY: `handle` is valid for writing one handle.
        context.check(call, unsafe { (call.function)(&mut handle, flags) })?;
        Ok(GpuStream { context, handle, owner: Owner::Us })
    }

    pub(crate) fn adopt(context: Arc<Context<D>>, handle: u64) -> GpuStream<D> {
        let owner = if handle == LEGACY_STREAM { Owner::Driver } else { Owner::Foreign };
        GpuStream { context, handle, owner }
    }
}

impl<D: Driver> RawStream for GpuStream<D> {
    fn handle(&self) -> u64 {
        self.handle
    }

    fn is_foreign(&self) -> bool {
        self.owner == Owner::Foreign
    }

    unsafe fn fill(&self, dst: u64, offset: usize, len: usize, value: u8) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().fill;
        // SAFETY: the range is live memory of this device, as the caller guarantees.
        self.context.check(call, unsafe { (call.function)(dst + offset as u64, value, len, self.handle) })
    }

    unsafe fn write(&self, dst: u64, offset: usize, src: *const u8, len: usize, wait: bool) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().copy_to_device;
        // SAFETY: both ranges are live until the copy is done, as the caller guarantees or because we wait for it.
        let queued = self.context.check(call, unsafe { (call.function)(dst + offset as u64, src.cast(), len, self.handle) });
        // The driver has taken its copy of pageable memory by now, but the memory may be page-locked without our knowledge.
        if wait { queued.and_then(|()| self.synchronize()) } else { queued }
    }

    unsafe fn read(&self, src: u64, offset: usize, dst: *mut u8, len: usize, wait: bool) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().copy_to_host;
        // SAFETY: both ranges are live until the copy is done, as the caller guarantees or because we wait for it.
        let queued = self.context.check(call, unsafe { (call.function)(dst.cast(), src + offset as u64, len, self.handle) });
        if wait { queued.and_then(|()| self.synchronize()) } else { queued }
    }

    unsafe fn copy(&self, dst: u64, dst_offset: usize, src: u64, src_offset: usize, len: usize) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().copy_on_device;
        let (dst, src) = (dst + dst_offset as u64, src + src_offset as u64);
        // SAFETY: both ranges are live memory of this device and do not overlap, as the caller guarantees.
        self.context.check(call, unsafe { (call.function)(dst, src, len, self.handle) })
    }

    fn record(&self, event: &dyn RawEvent) -> Result<()> {
        GpuEvent::<D>::of(event, &self.context.name)?.record_on(self.handle)
    }

    fn wait_event(&self, event: &dyn RawEvent) -> Result<()> {
        let event = GpuEvent::<D>::of(event, &self.context.name)?;
        event.check_recorded()?;
        self.context.enter()?;
        let call = &self.context.driver.calls().stream_wait_event;
        // SAFETY: stream and event are alive; the flags are zero, as they must be.
        self.context.check(call, unsafe { (call.function)(self.handle, event.handle(), 0) })
    }

    fn synchronize(&self) -> Result<()> {
        self.context.enter()?;
        let call = &self.context.driver.calls().stream_synchronize;
        // SAFETY: the stream is alive while `self` is.
        self.context.check(call, unsafe { (call.function)(self.handle) })
    }

    fn is_idle(&self) -> Result<bool> {
        self.context.enter()?;
        let call = &self.context.driver.calls().stream_query;
        // SAFETY: the stream is alive while `self` is.
        self.context.check_done(call, unsafe { (call.function)(self.handle) })
    }
}

impl<D: Driver> Drop for GpuStream<D> {
    fn drop(&mut self) {
        if self.owner == Owner::Us && self.context.enter().is_ok() {
            // SAFETY: made by this context and dropped once. The driver lets queued work finish first.
            let _ = unsafe { (self.context.driver.calls().stream_destroy.function)(self.handle) };
        }
    }
}
