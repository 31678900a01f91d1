//! Modules of a GPU and the launch of their functions.

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use crate::backend::{RawFunction, RawModule};
use crate::binary::ModuleBinary;
use crate::error::{DeviceError, Result};
use crate::gpu::binary;
use crate::gpu::calls::code;
use crate::gpu::context::Context;
use crate::gpu::driver::Driver;
use crate::launch::Launch;

/// A loaded module.
pub(crate) struct GpuModule<D: Driver> {
    context: Arc<Context<D>>,
    handle: u64,
    /// HIP reads the code of a function from here when it is first used.
    _image: Vec<u8>,
}

const MAX_THREADS_PER_BLOCK: c_int = 0;

impl<D: Driver> GpuModule<D> {
    pub(crate) fn load(context: Arc<Context<D>>, binary: &ModuleBinary) -> Result<GpuModule<D>> {
        let refused = |reason: String| DeviceError::Load { device: context.name.clone(), reason };
        binary::check(&binary.bytes).map_err(|problem| refused(problem.to_string()))?;
        context.enter()?;
        let image = binary.bytes.clone();
        let mut handle = 0;
        let call = &context.driver.calls().module_load;
        // SAFETY: `handle` is valid for writing one handle; `image` is a whole object file as far as its own headers tell, and it lives as
        // long as the module.
        match unsafe { (call.function)(&mut handle, image.as_ptr().cast()) } {
            code::SUCCESS => Ok(GpuModule { context, handle, _image: image }),
            fault if fault >= code::FIRST_FAULT => Err(context.check(call, fault).err().unwrap_or_else(|| refused(String::new()))),
            refusal => Err(refused(context.driver.error_text(refusal))),
        }
    }
}

impl<D: Driver> RawModule for GpuModule<D> {
    fn function(self: Arc<Self>, name: &str) -> Result<Arc<dyn RawFunction>> {
        let context = &self.context;
        let unknown = || DeviceError::UnknownFunction { device: context.name.clone(), name: name.to_owned() };
        // Drivers call an empty name an invalid value.
        let c_name = CString::new(name).ok().filter(|name| !name.is_empty()).ok_or_else(unknown)?;
        context.enter()?;
        let mut handle = 0;
        let call = &context.driver.calls().module_function;
        // SAFETY: `handle` is valid for writing one handle, the module is alive and the name ends in a zero.
        match unsafe { (call.function)(&mut handle, self.handle, c_name.as_ptr()) } {
            code::NOT_FOUND => return Err(unknown()),
            result => context.check(call, result)?,
        }
        let mut max_block = 0;
        let call = &context.driver.calls().function_attribute;
        // SAFETY: `max_block` is valid for writing one number and the function was just found.
        context.check(call, unsafe { (call.function)(&mut max_block, MAX_THREADS_PER_BLOCK, handle) })?;
        let max_block = u32::try_from(max_block).unwrap_or(0).max(1);
        Ok(Arc::new(GpuFunction { module: self.clone(), handle, max_block }))
    }
}

impl<D: Driver> Drop for GpuModule<D> {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: loaded by this context and dropped once, with the last of its functions.
            let _ = unsafe { (self.context.driver.calls().module_unload.function)(self.handle) };
        }
    }
}

/// A function of a module, which it keeps loaded.
struct GpuFunction<D: Driver> {
    module: Arc<GpuModule<D>>,
    handle: u64,
    max_block: u32,
}

impl<D: Driver> RawFunction for GpuFunction<D> {
    fn max_block(&self) -> u32 {
        self.max_block
    }

    #[inline]
    unsafe fn launch(&self, stream: u64, launch: &Launch, args: &[*mut c_void], _sizes: &[usize]) -> Result<()> {
        let context = &*self.module.context;
        context.enter()?;
        let call = &context.driver.calls().launch;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let params = args.as_ptr().cast_mut();
        // SAFETY: function and stream are alive and of one device; the arguments fit, as the caller guarantees, and are only read.
        let result = unsafe { (call.function)(self.handle, gx, gy, gz, bx, by, bz, launch.shared, stream, params, ptr::null_mut()) };
        context.check(call, result)
    }
}
