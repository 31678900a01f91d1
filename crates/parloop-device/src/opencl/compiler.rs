//! The compiler inside the driver: OpenCL C to a program binary of one device.

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use opencl3::device::{CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT};
use opencl3::error_codes::{
    CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, CL_LINK_PROGRAM_FAILURE,
};
use opencl3::program::{CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_DEVICES};

use super::binary;
use super::context::Context;
use super::driver::{Failure, call, create, info, number, numbers, status, text};
use super::handle::{Handle, Kind};
use super::pocl;
use crate::backend::Compiler;
use crate::error::{CompileError, Result};
use crate::identity::Properties;
use crate::kind::DeviceKind;

/// Every device has this version; kernels ask for more (doubles, 64-bit atomics) by extension pragmas.
const LANGUAGE: &str = "-cl-std=CL1.2";
/// Division and square root of floats as precise as on the other kinds of device.
const PRECISE: &str = "-cl-fp32-correctly-rounded-divide-sqrt";

/// The compiler of one device.
pub(super) struct OpenClCompiler {
    context: Arc<Context>,
    /// Driver and version, for messages.
    label: String,
    identity: String,
    precise: bool,
    is_pocl: bool,
}

impl OpenClCompiler {
    pub(super) fn new(context: &Arc<Context>, properties: &Properties) -> Result<OpenClCompiler, CompileError> {
        let label = properties.driver.clone();
        // SAFETY: the device is live; `bytes` gives a buffer of the requested size.
        let ask = |what| unsafe { info!(context.driver, clGetDeviceInfo(context.device(), what)) }.map(|bytes| number(&bytes));
        if ask(CL_DEVICE_COMPILER_AVAILABLE).unwrap_or(0) == 0 {
            let hint = "install a driver that compiles OpenCL C, or use another device".into();
            return Err(CompileError::NoCompiler { target: DeviceKind::OpenCl, tried: vec![label], hint });
        }
        let precise = ask(CL_DEVICE_SINGLE_FP_CONFIG).unwrap_or(0) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let flags = if precise { format!("{LANGUAGE} {PRECISE}") } else { LANGUAGE.into() };
        let identity = format!("{label}; {}; {}; {flags}", properties.name, properties.arch);
        Ok(OpenClCompiler { context: context.clone(), label, identity, precise, is_pocl: pocl::is_pocl(context) })
    }

    fn options(&self, options: &[String]) -> Result<CString, CompileError> {
        let language = (!options.iter().any(|option| option.starts_with("-cl-std="))).then_some(LANGUAGE);
        let precise = self.precise.then_some(PRECISE);
        let all: Vec<&str> = language.into_iter().chain(precise).chain(options.iter().map(String::as_str)).collect();
        CString::new(all.join(" ")).map_err(|_| self.failed("an option contains a zero byte".into()))
    }

    fn failed(&self, reason: String) -> CompileError {
        CompileError::Failed { compiler: self.label.clone(), reason }
    }

    fn refused(&self, failure: Failure, log: String) -> CompileError {
        match failure.code {
            CL_BUILD_PROGRAM_FAILURE
            | CL_COMPILE_PROGRAM_FAILURE
            | CL_LINK_PROGRAM_FAILURE
            | CL_INVALID_BUILD_OPTIONS
            | CL_INVALID_COMPILER_OPTIONS => {
                let log = if log.is_empty() { format!("{} (the driver returned no log)", failure.words()) } else { log };
                CompileError::Refused { compiler: self.label.clone(), log }
            }
            _ => self.failed(failure.words()),
        }
    }

    fn program(&self, source: &str) -> Result<Handle, Failure> {
        let (start, length) = (source.as_ptr().cast(), source.len());
        let (driver, context) = (self.context.driver, self.context.handle.get());
        // SAFETY: the context is live; one text of the length given, which is copied before the call returns.
        let program = unsafe { create!(driver, clCreateProgramWithSource(context, 1, &start, &length)) }?;
        // SAFETY: the call above made the program for us.
        Ok(unsafe { Handle::own(driver, Kind::Program, program) })
    }
}

impl Compiler for OpenClCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    /// PoCL's clang reads a header of all built-in functions, unless the name that it defines is there already.
    fn without_headers(&self) -> &'static [&'static str] {
        if self.is_pocl { &["-D_OPENCL_H_"] } else { &[] }
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, CompileError> {
        let options = self.options(options)?;
        let program = self.program(source).map_err(|failure| self.failed(failure.words()))?;
        build(&self.context, &program, &options).map_err(|(failure, log)| self.refused(failure, log))?;
        let binary = binary_of(&self.context, &program).map_err(|failure| self.failed(failure.words()))?;
        if binary.is_empty() {
            return Err(self.failed("the driver built the program but returned no binary".into()));
        }
        Ok(binary::seal(&binary))
    }
}

/// Builds a program for the context's device; a failure comes with the build's log.
pub(super) fn build(context: &Context, program: &Handle, options: &CStr) -> Result<(), (Failure, String)> {
    let (device, driver) = (context.device(), context.driver);
    // SAFETY: the program is live and of the device's context; options end with a zero byte; the call returns when the build ended.
    let build = || unsafe { call!(driver, clBuildProgram(program.get(), 1, &device, options.as_ptr(), None, null_mut())) };
    let built = if pocl::is_pocl(context) { pocl::without_summary(build) } else { build() };
    built.map_err(|failure| {
        // SAFETY: program and device are live; `bytes` gives a buffer of the requested size.
        let log = unsafe { info!(driver, clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG)) };
        (failure, log.map(|bytes| text(&bytes)).unwrap_or_default())
    })
}

/// The binary of the context's device; a program of a shared context has a place for each device in it.
fn binary_of(context: &Context, program: &Handle) -> Result<Vec<u8>, Failure> {
    // SAFETY: the program is live; `bytes` gives a buffer of the requested size.
    let ask = |what| unsafe { info!(context.driver, clGetProgramInfo(program.get(), what)) }.map(|bytes| numbers(&bytes));
    let devices = ask(CL_PROGRAM_DEVICES)?;
    let sizes = ask(CL_PROGRAM_BINARY_SIZES)?;
    let Some(ours) = devices.iter().position(|&device| device == context.device() as u64).filter(|&ours| ours < sizes.len()) else {
        return Ok(Vec::new());
    };
    let mut binary = vec![0u8; sizes[ours] as usize];
    let mut places = vec![null_mut::<u8>(); sizes.len()];
    places[ours] = binary.as_mut_ptr();
    let size = size_of_val(&places[..]);
    // SAFETY: one place for each device, null where no binary is wanted, as large as the driver said.
    let code = unsafe {
        (context.driver.clGetProgramInfo)(program.get(), CL_PROGRAM_BINARIES, size, places.as_mut_ptr().cast(), null::<usize>().cast_mut())
    };
    status("clGetProgramInfo", code)?;
    Ok(binary)
}
