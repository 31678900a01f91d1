//! Graphs of a GPU: work that is given to a stream of their own while it is captured, instantiated once and launched often.

use std::sync::Arc;

use crate::backend::{RawGraph, RawStream};
use crate::error::Result;
use crate::forked::Lock;
use crate::gpu::context::Context;
use crate::gpu::driver::{Driver, GraphCalls};
use crate::gpu::stream::GpuStream;

/// A graph that can be launched.
pub(crate) struct GpuGraph<D: Driver> {
    context: Arc<Context<D>>,
    calls: &'static GraphCalls,
    handle: u64,
    /// Drivers want one thread at a time at a graph.
    turn: Lock<()>,
}

/// No call of any thread is forbidden while the stream is captured, since nothing but our own work goes there.
const RELAXED: i32 = 2;
const NO_FLAGS: u64 = 0;

impl<D: Driver> GpuGraph<D> {
    /// The graph of what `queue` gives to the stream that it is lent; `None` for a driver without graphs.
    pub(crate) fn capture(context: Arc<Context<D>>, queue: &mut dyn FnMut(&dyn RawStream) -> Result<()>) -> Result<Option<GpuGraph<D>>> {
        let Some(calls) = context.driver.graphs() else { return Ok(None) };
        // The legacy stream cannot be captured, and a stream that is ordered with it must not be while others use the legacy one.
        let stream = GpuStream::create_unordered(context.clone())?;
        // SAFETY: the stream is alive and nobody else has it.
        context.check(&calls.begin_capture, unsafe { (calls.begin_capture.function)(stream.handle(), RELAXED) })?;
        let queued = queue(&stream);
        let mut captured = Captured { calls, handle: 0 };
        // Whatever happened, the capture ends here.
        // SAFETY: the stream is the one whose capture began, and `handle` is valid for writing one handle.
        let ended = unsafe { (calls.end_capture.function)(stream.handle(), &mut captured.handle) };
        queued?;
        context.check(&calls.end_capture, ended)?;
        let mut handle = 0;
        // SAFETY: `handle` is valid for writing one handle, and the graph was just captured.
        let made = unsafe { (calls.instantiate.function)(&mut handle, captured.handle, NO_FLAGS) };
        context.check(&calls.instantiate, made)?;
        Ok(Some(GpuGraph { context, calls, handle, turn: Lock::new(()) }))
    }
}

/// A captured graph, which is needed until it is instantiated; 0 is none.
struct Captured {
    calls: &'static GraphCalls,
    handle: u64,
}

impl Drop for Captured {
    fn drop(&mut self) {
        if self.handle != 0 {
            // SAFETY: captured by us and dropped once, in the context in which it was captured.
            let _ = unsafe { (self.calls.destroy.function)(self.handle) };
        }
    }
}

impl<D: Driver> RawGraph for GpuGraph<D> {
    fn launch(&self, stream: u64) -> Result<()> {
        self.context.enter()?;
        let _turn = self.turn.lock_or(|| ());
        let call = &self.calls.launch;
        // SAFETY: the graph is alive while `self` is, the stream as the backend contract guarantees, and all that the graph uses is kept.
        self.context.check(call, unsafe { (call.function)(self.handle, stream) })
    }
}

impl<D: Driver> Drop for GpuGraph<D> {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: instantiated by this context and dropped once, after its work was waited for.
            let _ = unsafe { (self.calls.destroy_instance.function)(self.handle) };
        }
    }
}

#[cfg(test)]
mod tests;
