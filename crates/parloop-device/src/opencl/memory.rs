//! Buffers, and host memory that the device copies from and to at full speed.

use std::sync::Arc;

use opencl3::error_codes::{CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
use opencl3::memory::{
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_CONTEXT, CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE, CL_MEM_SIZE, CL_MEM_TYPE,
};
use opencl3::types::{CL_TRUE, cl_mem, cl_ulong};

use super::context::Context;
use super::driver::{Failure, call, create, info, number};
use super::handle::{Handle, Kind, Object};
use super::stream::create_queue;
use crate::backend::{RawMemory, RawPinned};
use crate::error::{DeviceError, Result};

/// A buffer.
pub(super) struct OpenClMemory {
    context: Arc<Context>,
    handle: Handle,
    /// What was counted as allocated.
    reserved: usize,
}

impl OpenClMemory {
    pub(super) fn allocate(context: &Arc<Context>, bytes: usize) -> Result<OpenClMemory> {
        context.reserve(bytes)?;
        match create_buffer(context, CL_MEM_READ_WRITE, bytes) {
            Ok(handle) => Ok(OpenClMemory { context: context.clone(), handle, reserved: bytes }),
            Err(error) => {
                context.give_back(bytes);
                Err(error)
            }
        }
    }

    /// Shares a buffer of another owner, or a part of one.
    ///
    /// # Safety
    /// `object` is a live memory object.
    pub(super) unsafe fn adopt(context: &Arc<Context>, object: cl_mem, bytes: usize) -> Result<OpenClMemory> {
        // SAFETY: the caller upholds the same contract.
        let handle = unsafe { Handle::retain(context.driver, Kind::Memory, object) }.map_err(|failure| context.error(failure))?;
        let ask = |what| query(context, &handle, what);
        if ask(CL_MEM_TYPE)? != u64::from(CL_MEM_OBJECT_BUFFER) {
            return Err(context.unsupported("use an image or pipe as memory; only buffers can be adopted"));
        }
        if ask(CL_MEM_CONTEXT)? != context.handle.bits() {
            return Err(context.unsupported("use a buffer of another context; adopt that context and its queue first"));
        }
        let size = ask(CL_MEM_SIZE)? as usize;
        if size < bytes {
            return Err(DeviceError::OutOfBounds { operation: "adopt memory", offset: 0, len: bytes, size });
        }
        Ok(OpenClMemory { context: context.clone(), handle, reserved: 0 })
    }
}

impl RawMemory for OpenClMemory {
    fn handle(&self) -> u64 {
        self.handle.bits()
    }
}

impl Drop for OpenClMemory {
    fn drop(&mut self) {
        self.context.give_back(self.reserved);
    }
}

/// A mapped host buffer. Drivers of graphics processors page-lock it, which is what makes copies fast and asynchronous; on a CPU it
/// is plain memory. It has a queue of its own, so that mapping it waits for nobody's work.
pub(super) struct OpenClPinned {
    context: Arc<Context>,
    queue: Handle,
    handle: Handle,
    pointer: Object,
}

impl OpenClPinned {
    pub(super) fn allocate(context: &Arc<Context>, bytes: usize) -> Result<OpenClPinned> {
        let queue = create_queue(context, 0)?;
        let handle = create_buffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes)?;
        let (flags, none) = (CL_MAP_READ | CL_MAP_WRITE, std::ptr::null_mut());
        let (queue_object, buffer) = (queue.get(), handle.get());
        // SAFETY: queue and buffer are live and of one context; the range is the whole buffer.
        let mapped = unsafe {
            create!(context.driver, clEnqueueMapBuffer(queue_object, buffer, CL_TRUE, flags, 0, bytes, 0, std::ptr::null(), none))
        };
        let pointer = mapped.map_err(|failure| allocation_error(context, failure, bytes))?;
        Ok(OpenClPinned { context: context.clone(), queue, handle, pointer: Object(pointer) })
    }
}

impl RawPinned for OpenClPinned {
    fn pointer(&self) -> *mut u8 {
        self.pointer.0.cast()
    }
}

impl Drop for OpenClPinned {
    fn drop(&mut self) {
        let (driver, queue, none) = (self.context.driver, self.queue.get(), std::ptr::null_mut());
        // SAFETY: the pointer is what mapping this buffer gave, and is not used again.
        let unmapped = unsafe {
            call!(driver, clEnqueueUnmapMemObject(queue, self.handle.get(), self.pointer.0, 0, std::ptr::null(), none))
                .and_then(|()| call!(driver, clFinish(queue)))
        };
        debug_assert!(unmapped.is_ok() || unmapped.is_err_and(Failure::is_refused), "{unmapped:?}");
    }
}

fn create_buffer(context: &Context, flags: cl_ulong, bytes: usize) -> Result<Handle> {
    // SAFETY: the context is live; no host pointer is given.
    let made = unsafe { create!(context.driver, clCreateBuffer(context.handle.get(), flags, bytes, std::ptr::null_mut())) };
    let buffer = made.map_err(|failure| allocation_error(context, failure, bytes))?;
    // SAFETY: the call above made the buffer for us.
    Ok(unsafe { Handle::own(context.driver, Kind::Memory, buffer) })
}

fn query(context: &Context, memory: &Handle, what: u32) -> Result<u64> {
    // SAFETY: the memory object is live; `bytes` gives a buffer of the requested size.
    let answer = unsafe { info!(context.driver, clGetMemObjectInfo(memory.get(), what)) };
    answer.map(|bytes| number(&bytes)).map_err(|failure| context.error(failure))
}

fn allocation_error(context: &Context, failure: Failure, bytes: usize) -> DeviceError {
    match failure.code {
        CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_RESOURCES | CL_OUT_OF_HOST_MEMORY | CL_INVALID_BUFFER_SIZE => {
            context.out_of_memory(bytes)
        }
        _ => context.error(failure),
    }
}
