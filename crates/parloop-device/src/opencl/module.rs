//! Loaded programs and the kernels in them.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use opencl3::error_codes::CL_INVALID_KERNEL_NAME;
use opencl3::kernel::{CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE};
use opencl3::types::{cl_command_queue, cl_uint};

use super::binary;
use super::compiler::build;
use super::context::Context;
use super::driver::{call, create, info, number};
use super::handle::{Handle, Kind};
use crate::backend::{RawFunction, RawModule};
use crate::binary::ModuleBinary;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;
use crate::kind::DeviceKind;
use crate::launch::Launch;

/// A program, built for the device.
pub(super) struct OpenClModule {
    context: Arc<Context>,
    program: Handle,
}

impl OpenClModule {
    pub(super) fn load(context: &Arc<Context>, module: &ModuleBinary) -> Result<OpenClModule> {
        let refused = |reason: String| DeviceError::Load { device: context.id.to_string(), reason };
        let bytes = binary::unseal(&module.bytes).map_err(|reason| refused(reason.into()))?;
        let program = from_binary(context, bytes).map_err(refused)?;
        build(context, &program, c"").map_err(|(failure, log)| refused(format!("{}\n{log}", failure.words()).trim().into()))?;
        Ok(OpenClModule { context: context.clone(), program })
    }
}

fn from_binary(context: &Context, bytes: &[u8]) -> Result<Handle, String> {
    let (device, length, start, mut accepted) = (context.device(), bytes.len(), bytes.as_ptr(), 0);
    // SAFETY: one device of the context, one binary of the length given, one place for its status.
    let made =
        unsafe { create!(context.driver, clCreateProgramWithBinary(context.handle.get(), 1, &device, &length, &start, &mut accepted)) };
    let program = made.map_err(|failure| failure.words())?;
    // SAFETY: the call above made the program for us.
    Ok(unsafe { Handle::own(context.driver, Kind::Program, program) })
}

impl RawModule for OpenClModule {
    fn function(self: Arc<Self>, name: &str) -> Result<Arc<dyn RawFunction>> {
        Ok(Arc::new(OpenClFunction::create(&self, name)?))
    }
}

/// A kernel. Its arguments are part of it, so setting them and queueing it happen under one lock.
struct OpenClFunction {
    module: Arc<OpenClModule>,
    kernel: Lock<Handle>,
    parameters: usize,
    max_block: u32,
}

impl OpenClFunction {
    fn create(module: &Arc<OpenClModule>, name: &str) -> Result<OpenClFunction> {
        let context = &module.context;
        let unknown = || DeviceError::UnknownFunction { device: context.id.to_string(), name: name.into() };
        let c_name = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: the program is live and the name ends with a zero byte.
        let made = unsafe { create!(context.driver, clCreateKernel(module.program.get(), c_name.as_ptr())) };
        let kernel = made.map_err(|failure| match failure.code {
            CL_INVALID_KERNEL_NAME => unknown(),
            _ => context.error(failure),
        })?;
        // SAFETY: the call above made the kernel for us.
        let kernel = unsafe { Handle::own(context.driver, Kind::Kernel, kernel) };
        let (object, device) = (kernel.get(), context.device());
        // SAFETY: the kernel is live; `bytes` gives a buffer of the requested size.
        let parameters = unsafe { info!(context.driver, clGetKernelInfo(object, CL_KERNEL_NUM_ARGS)) };
        // SAFETY: as above, and the kernel's program is built for the device.
        let block = unsafe { info!(context.driver, clGetKernelWorkGroupInfo(object, device, CL_KERNEL_WORK_GROUP_SIZE)) };
        let parameters = number(&parameters.map_err(|failure| context.error(failure))?) as usize;
        let block = number(&block.map_err(|failure| context.error(failure))?);
        let max_block = u32::try_from(block).unwrap_or(u32::MAX);
        Ok(OpenClFunction { module: module.clone(), kernel: Lock::new(kernel), parameters, max_block })
    }

    fn invalid(&self, reason: String) -> DeviceError {
        DeviceError::InvalidLaunch { device: self.module.context.id.to_string(), reason }
    }

    fn check(&self, launch: &Launch, args: &[*mut c_void]) -> Result<()> {
        if args.len() != self.parameters {
            let reason = format!("{} arguments were given, but the kernel has {} parameters", args.len(), self.parameters);
            return Err(self.invalid(reason));
        }
        if launch.block.contains(&0) {
            return Err(self.invalid(format!("a block of {:?} work items was requested", launch.block)));
        }
        if launch.shared > 0 {
            let reason = "shared memory was requested by size, but OpenCL kernels receive it as an argument; pass a null argument \
                          of that size instead";
            return Err(self.invalid(reason.into()));
        }
        Ok(())
    }
}

impl RawFunction for OpenClFunction {
    fn max_block(&self) -> u32 {
        self.max_block
    }

    unsafe fn launch(&self, stream: u64, launch: &Launch, args: &[*mut c_void], sizes: &[usize]) -> Result<()> {
        self.check(launch, args)?;
        let context = &self.module.context;
        let items = |axis: usize| launch.grid[axis] as usize * launch.block[axis] as usize;
        let (global, local) = ([items(0), items(1), items(2)], launch.block.map(|n| n as usize));
        let axes = (1..=3).rev().find(|&axes| global[axes - 1] > 1).unwrap_or(1);
        let (queue, axes) = (stream as cl_command_queue, axes as cl_uint);

        let kernel = self.kernel.lock().map_err(|_| DeviceError::Forked { kind: DeviceKind::OpenCl })?;
        for (index, (&arg, &size)) in args.iter().zip(sizes).enumerate() {
            // SAFETY: `arg` points at `size` bytes (or is null for shared memory), as the caller guarantees.
            unsafe { call!(context.driver, clSetKernelArg(kernel.get(), index as cl_uint, size, arg)) }
                .map_err(|failure| context.error(failure))?;
        }
        // SAFETY: queue and kernel are live; all arguments are set; the lists have three entries.
        unsafe {
            call!(
                context.driver,
                clEnqueueNDRangeKernel(queue, kernel.get(), axes, null(), global.as_ptr(), local.as_ptr(), 0, null(), null_mut())
            )
        }
        .map_err(|failure| context.error(failure))
    }
}
