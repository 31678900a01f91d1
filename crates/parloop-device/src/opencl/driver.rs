//! The OpenCL library: its functions, resolved when first needed, and the words for its status codes.
//!
//! Functions are called through pointers of the C calling convention, resolved here, and may be given no event: the wrappers of
//! `opencl3` ask the driver for an event at every call. Types, constants and names of status codes are those of `opencl3`.

use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use opencl3::error_codes::error_text;
use opencl3::types::{
    cl_bool, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem, cl_platform_id, cl_program, cl_uint, cl_ulong,
};

use crate::error::{DeviceError, Result};
use crate::forked::OneProcess;
use crate::identity::DeviceId;
use crate::kind::DeviceKind;
use crate::library;
use crate::once::Once;

/// The names under which the library is found; the first is there without development packages.
const NAMES: [&str; 2] = ["libOpenCL.so.1", "libOpenCL.so"];
const HINT: &str = "install an OpenCL driver; PoCL runs on any CPU: `apt-get install pocl-opencl-icd`";

/// Called with the program and the user's pointer when a build ends; never used here.
type Notify = Option<unsafe extern "system" fn(cl_program, *mut c_void)>;
/// Called by a context with words about an error; never used here.
type Complain = Option<unsafe extern "system" fn(*const c_char, *const c_void, usize, *mut c_void)>;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the OpenCL library, all of version 1.2. A status is returned where nothing else is.
        #[allow(non_snake_case)]
        pub(super) struct Driver {
            $(pub(super) $name: unsafe extern "system" fn($($argument),*) -> functions!(@result $($result)?),)*
            _library: libloading::Library,
        }

        impl Driver {
            fn resolve(library: libloading::Library) -> Result<Driver, libloading::Error> {
                Ok(Driver {
                    // SAFETY: the OpenCL 1.2 specification gives the function of this name this type.
                    $($name: unsafe { *library.get(stringify!($name))? },)*
                    _library: library,
                })
            }
        }
    };
    (@result) => { cl_int };
    (@result $result:ty) => { $result };
}

functions! {
    clGetPlatformIDs(cl_uint, *mut cl_platform_id, *mut cl_uint);
    clGetPlatformInfo(cl_platform_id, cl_uint, usize, *mut c_void, *mut usize);
    clGetDeviceIDs(cl_platform_id, cl_ulong, cl_uint, *mut cl_device_id, *mut cl_uint);
    clGetDeviceInfo(cl_device_id, cl_uint, usize, *mut c_void, *mut usize);
    clCreateContext(*const isize, cl_uint, *const cl_device_id, Complain, *mut c_void, *mut cl_int) -> cl_context;
    clRetainContext(cl_context);
    clReleaseContext(cl_context);
    clCreateCommandQueue(cl_context, cl_device_id, cl_ulong, *mut cl_int) -> cl_command_queue;
    clRetainCommandQueue(cl_command_queue);
    clReleaseCommandQueue(cl_command_queue);
    clGetCommandQueueInfo(cl_command_queue, cl_uint, usize, *mut c_void, *mut usize);
    clFlush(cl_command_queue);
    clFinish(cl_command_queue);
    clCreateBuffer(cl_context, cl_ulong, usize, *mut c_void, *mut cl_int) -> cl_mem;
    clRetainMemObject(cl_mem);
    clReleaseMemObject(cl_mem);
    clGetMemObjectInfo(cl_mem, cl_uint, usize, *mut c_void, *mut usize);
    clEnqueueFillBuffer(
        cl_command_queue, cl_mem, *const c_void, usize, usize, usize, cl_uint, *const cl_event, *mut cl_event
    );
    clEnqueueWriteBuffer(
        cl_command_queue, cl_mem, cl_bool, usize, usize, *const c_void, cl_uint, *const cl_event, *mut cl_event
    );
    clEnqueueReadBuffer(
        cl_command_queue, cl_mem, cl_bool, usize, usize, *mut c_void, cl_uint, *const cl_event, *mut cl_event
    );
    clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, usize, usize, usize, cl_uint, *const cl_event, *mut cl_event);
    clEnqueueMapBuffer(
        cl_command_queue, cl_mem, cl_bool, cl_ulong, usize, usize, cl_uint, *const cl_event, *mut cl_event, *mut cl_int
    ) -> *mut c_void;
    clEnqueueUnmapMemObject(cl_command_queue, cl_mem, *mut c_void, cl_uint, *const cl_event, *mut cl_event);
    clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, *const cl_event, *mut cl_event);
    clEnqueueBarrierWithWaitList(cl_command_queue, cl_uint, *const cl_event, *mut cl_event);
    clEnqueueNDRangeKernel(
        cl_command_queue, cl_kernel, cl_uint, *const usize, *const usize, *const usize, cl_uint, *const cl_event, *mut cl_event
    );
    clRetainEvent(cl_event);
    clReleaseEvent(cl_event);
    clWaitForEvents(cl_uint, *const cl_event);
    clGetEventInfo(cl_event, cl_uint, usize, *mut c_void, *mut usize);
    clGetEventProfilingInfo(cl_event, cl_uint, usize, *mut c_void, *mut usize);
    clCreateProgramWithSource(cl_context, cl_uint, *const *const c_char, *const usize, *mut cl_int) -> cl_program;
    clCreateProgramWithBinary(
        cl_context, cl_uint, *const cl_device_id, *const usize, *const *const u8, *mut cl_int, *mut cl_int
    ) -> cl_program;
    clBuildProgram(cl_program, cl_uint, *const cl_device_id, *const c_char, Notify, *mut c_void);
    clGetProgramInfo(cl_program, cl_uint, usize, *mut c_void, *mut usize);
    clGetProgramBuildInfo(cl_program, cl_device_id, cl_uint, usize, *mut c_void, *mut usize);
    clRetainProgram(cl_program);
    clReleaseProgram(cl_program);
    clCreateKernel(cl_program, *const c_char, *mut cl_int) -> cl_kernel;
    clRetainKernel(cl_kernel);
    clReleaseKernel(cl_kernel);
    clSetKernelArg(cl_kernel, cl_uint, usize, *const c_void);
    clGetKernelInfo(cl_kernel, cl_uint, usize, *mut c_void, *mut usize);
    clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_uint, usize, *mut c_void, *mut usize);
}

impl Driver {
    /// The library, opened by the first call.
    pub(super) fn get() -> Result<&'static Driver> {
        static DRIVER: Once<Result<Driver, Vec<String>>> = Once::new();
        let forked = DeviceError::Forked { kind: DeviceKind::OpenCl };
        let opened = match DRIVER.get() {
            Some(opened) => opened,
            None if PROCESS.is_here() => DRIVER.get_or_init(Driver::open),
            None => return Err(forked),
        };
        match opened {
            Ok(driver) if PROCESS.is_here() => Ok(driver),
            Ok(_) => Err(forked),
            Err(tried) => Err(missing(tried.clone())),
        }
    }

    fn open() -> Result<Driver, Vec<String>> {
        if library::is_loaded_from_system("libamd_comgr.so") && !library::is_loaded_from_system("libOpenCL.so") {
            return Err(vec![format!(
                "{} (AMD's compiler has been used in this process, and Debian's PoCL cannot share a process with it)",
                NAMES[0]
            )]);
        }
        let (library, path) = library::open_first(&NAMES.map(PathBuf::from))?;
        Driver::resolve(library).map_err(|error| vec![format!("{} ({error})", path.display())])
    }
}

/// Drivers have threads and locks of their own, of which a forked child has none.
static PROCESS: OneProcess = OneProcess::new();

/// In the place of a status: the call was not made, since this is a forked child.
const FORKED: cl_int = cl_int::MIN;

/// In the place of a status: the call was not made, since a wait for a device was abandoned.
const ABANDONED: cl_int = cl_int::MIN + 1;

/// Whether a wait was abandoned. Drivers share threads and locks among their devices, so that this is so for all of them.
static IS_ABANDONED: AtomicBool = AtomicBool::new(false);

/// Makes all further calls fail.
pub(super) fn abandon() {
    IS_ABANDONED.store(true, Ordering::Relaxed);
}

/// Whether calls can be made, or the failure of this one.
pub(super) fn check_process(call: &'static str) -> Result<(), Failure> {
    let code = match (PROCESS.is_here(), IS_ABANDONED.load(Ordering::Relaxed)) {
        (true, false) => return Ok(()),
        (true, true) => ABANDONED,
        (false, _) => FORKED,
    };
    Err(Failure { call, code })
}

/// The error when there is no usable driver.
pub(super) fn missing(tried: Vec<String>) -> DeviceError {
    DeviceError::DriverMissing { kind: DeviceKind::OpenCl, tried, hint: HINT.into() }
}

/// A call that did not succeed, before it is known for which device it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) call: &'static str,
    pub(super) code: cl_int,
}

impl Failure {
    /// The failure as an error of device `id`.
    pub(super) fn on(self, id: DeviceId) -> DeviceError {
        if self.is_forked() {
            return DeviceError::Forked { kind: DeviceKind::OpenCl };
        }
        if self.code == ABANDONED {
            return DeviceError::Abandoned { device: id.to_string() };
        }
        DeviceError::Driver { device: id.to_string(), call: self.call, code: i64::from(self.code), message: self.name().into() }
    }

    /// Whether the call was not made at all.
    pub(super) fn is_refused(self) -> bool {
        self.code == FORKED || self.code == ABANDONED
    }

    /// Whether the call was not made, since this is a forked child.
    pub(super) fn is_forked(self) -> bool {
        self.code == FORKED
    }

    /// The status code's name.
    pub(super) fn name(self) -> &'static str {
        error_text(self.code)
    }

    /// The failure in words, where a device is named around it.
    pub(super) fn words(self) -> String {
        format!("{} failed with {} ({})", self.call, self.code, self.name())
    }
}

/// What a status code of `call` means.
pub(super) fn status(call: &'static str, code: cl_int) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure { call, code }) }
}

/// Calls a function that returns a status.
macro_rules! call {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $crate::opencl::driver::check_process(stringify!($name))
            .and_then(|()| $crate::opencl::driver::status(stringify!($name), ($driver.$name)($($argument),*)))
    };
}

/// Calls a function that returns an object, and its status through its last argument.
macro_rules! create {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        $crate::opencl::driver::check_process(stringify!($name)).and_then(|()| {
            let mut code = 0;
            let object = ($driver.$name)($($argument,)* &mut code);
            $crate::opencl::driver::status(stringify!($name), code).map(|()| object)
        })
    }};
}

/// Asks an object for one of its properties, as bytes.
macro_rules! info {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $crate::opencl::driver::bytes(stringify!($name), |size, value, needed| ($driver.$name)($($argument,)* size, value, needed))
    };
}

pub(super) use {call, create, info};

/// Asks for the size of a property, then for the property.
pub(super) fn bytes(call: &'static str, ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<Vec<u8>, Failure> {
    check_process(call)?;
    let mut size = 0;
    status(call, ask(0, std::ptr::null_mut(), &mut size))?;
    let mut value = vec![0u8; size];
    if size > 0 {
        status(call, ask(size, value.as_mut_ptr().cast(), std::ptr::null_mut()))?;
    }
    Ok(value)
}

/// A property that is a 32-bit or 64-bit number or a handle.
pub(super) fn number(bytes: &[u8]) -> u64 {
    if let Ok(wide) = bytes.try_into() {
        return u64::from_ne_bytes(wide);
    }
    bytes.try_into().map_or(0, |narrow| u64::from(u32::from_ne_bytes(narrow)))
}

/// A property that is a list of `size_t` or handles.
pub(super) fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(size_of::<usize>()).map(number).collect()
}

/// A property that is text.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_call_code_and_meaning() {
        let error = Failure { call: "clSetKernelArg", code: -51 }.on(DeviceId::OpenCl { platform: 0, device: 1 });
        assert_eq!(error.to_string(), "opencl:0.1: clSetKernelArg failed with -51 (CL_INVALID_ARG_SIZE)");
    }

    #[test]
    fn a_missing_driver_says_how_to_get_one() {
        assert_eq!(
            missing(vec!["libOpenCL.so.1".into(), "libOpenCL.so".into()]).to_string(),
            "opencl driver not found: none of libOpenCL.so.1, libOpenCL.so could be opened; \
             install an OpenCL driver; PoCL runs on any CPU: `apt-get install pocl-opencl-icd`"
        );
    }

    #[test]
    fn properties_are_read_by_their_size() {
        assert_eq!(number(&7u32.to_ne_bytes()), 7);
        assert_eq!(number(&u64::MAX.to_ne_bytes()), u64::MAX);
        assert_eq!(number(&[1, 2, 3]), 0);
        assert_eq!(numbers(&[5u64.to_ne_bytes(), 6u64.to_ne_bytes()].concat()), [5, 6]);
        assert_eq!(text(b" PoCL 3.1 \0rest"), "PoCL 3.1");
    }
}
