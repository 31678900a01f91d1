//! Memory of a GPU, whether ours or another library's, and page-locked host memory.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::{RawMemory, RawPinned};
use crate::error::Result;
use crate::gpu::calls::code;
use crate::gpu::context::{Context, Source};
use crate::gpu::driver::Driver;

/// An allocation.
pub(crate) struct GpuMemory<D: Driver> {
    context: Arc<Context<D>>,
    address: u64,
    /// Where it came from, and goes back to; `None` if it is another library's.
    source: Option<Source>,
    /// Set once work outside the order of the legacy stream has been given this memory.
    foreign_use: AtomicBool,
}

impl<D: Driver> GpuMemory<D> {
    pub(crate) fn allocate(context: Arc<Context<D>>, bytes: usize, from: Source) -> Result<GpuMemory<D>> {
        let address = context.allocate(bytes, from)?;
        Ok(GpuMemory::whole(context, address, Some(from)))
    }

    pub(crate) fn adopt(context: Arc<Context<D>>, address: u64) -> GpuMemory<D> {
        GpuMemory::whole(context, address, None)
    }

    fn whole(context: Arc<Context<D>>, address: u64, source: Option<Source>) -> GpuMemory<D> {
        GpuMemory { context, address, source, foreign_use: AtomicBool::new(false) }
    }
}

impl<D: Driver> RawMemory for GpuMemory<D> {
    fn handle(&self) -> u64 {
        self.address
    }

    fn note_foreign_use(&self) {
        if self.source.is_none() {
            return;
        }
        // The allocation is a step of the legacy stream, for which a foreign stream does not wait. A failure here is sticky, and
        // the work that follows reports it.
        if !self.foreign_use.load(Ordering::Acquire) {
            drop(self.context.synchronize_legacy_stream());
            self.foreign_use.store(true, Ordering::Release);
        }
    }
}

impl<D: Driver> Drop for GpuMemory<D> {
    fn drop(&mut self) {
        let Some(source) = self.source else { return };
        if *self.foreign_use.get_mut() {
            let _ = self.context.synchronize();
        }
        // SAFETY: allocated by this context from that source, dropped once, and nothing that could queue more work has the address.
        // A failure means that the driver is gone or broken, and with it the memory.
        let _ = unsafe { self.context.free(self.address, source) };
    }
}

/// Page-locked host memory.
pub(crate) struct GpuPinned<D: Driver> {
    context: Arc<Context<D>>,
    pointer: *mut c_void,
}

// SAFETY: the pointer is to memory that this value owns and every thread may use.
unsafe impl<D: Driver> Send for GpuPinned<D> {}
// SAFETY: as for `Send`; the methods only hand the pointer out.
unsafe impl<D: Driver> Sync for GpuPinned<D> {}

/// The memory is page-locked for every context of the process.
const PORTABLE: u32 = 1;

impl<D: Driver> GpuPinned<D> {
    pub(crate) fn allocate(context: Arc<Context<D>>, bytes: usize) -> Result<GpuPinned<D>> {
        context.enter()?;
        let mut pointer = ptr::null_mut();
        let call = &context.driver.calls().allocate_host;
        // SAFETY: `pointer` is valid for writing one pointer.
        match unsafe { (call.function)(&mut pointer, bytes, PORTABLE) } {
            code::OUT_OF_MEMORY => Err(context.host_out_of_memory(bytes)),
            result => context.check(call, result).map(|()| GpuPinned { context, pointer }),
        }
    }
}

impl<D: Driver> RawPinned for GpuPinned<D> {
    fn pointer(&self) -> *mut u8 {
        self.pointer.cast()
    }
}

impl<D: Driver> Drop for GpuPinned<D> {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: allocated by this driver, dropped once; copies from and to it are done, as the public type waits for them.
            let _ = unsafe { (self.context.driver.calls().free_host.function)(self.pointer) };
        }
    }
}
