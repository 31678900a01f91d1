//! The functions of a GPU driver as a table, and the trait that a backend fills it through.
//!
//! Handles (contexts, streams, events, modules, functions, pools, graphs, device addresses) are pointers in both drivers' headers and 64-bit
//! numbers here: the drivers exist on 64-bit machines only, where the two are passed alike. Results are plain numbers, since a
//! driver may answer with codes that are younger than this code.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use crate::backend::Compiler;
use crate::error::{CompileError, DeviceError};
use crate::gpu::calls::{Failure, function_table};
use crate::gpu::fft_library::FftLibrary;
use crate::identity::{DeviceId, Properties};
use crate::kind::DeviceKind;

/// The stream that is always there and that orders all blocking streams with itself.
pub(crate) const LEGACY_STREAM: u64 = 0;

impl Failure {
    /// The error for the user; `device` is its name, or that of the backend.
    pub(crate) fn into_error<D: Driver>(self, driver: &D, device: &str) -> DeviceError {
        let message = driver.error_text(self.code);
        DeviceError::Driver { device: device.to_owned(), call: self.call, code: i64::from(self.code), message }
    }
}

function_table! {
    /// The functions that every driver has.
    Calls, CallNames {
        init: fn(c_uint) -> c_int,
        driver_version: fn(*mut c_int) -> c_int,
        device_count: fn(*mut c_int) -> c_int,
        device_get: fn(*mut c_int, c_int) -> c_int,
        device_name: fn(*mut c_char, c_int, c_int) -> c_int,
        device_total_memory: fn(*mut usize, c_int) -> c_int,
        device_attribute: fn(*mut c_int, c_int, c_int) -> c_int,
        synchronize: fn() -> c_int,
        memory_info: fn(*mut usize, *mut usize) -> c_int,
        allocate: fn(*mut u64, usize) -> c_int,
        free: fn(u64) -> c_int,
        allocate_host: fn(*mut *mut c_void, usize, c_uint) -> c_int,
        free_host: fn(*mut c_void) -> c_int,
        copy_to_device: fn(u64, *const c_void, usize, u64) -> c_int,
        copy_to_host: fn(*mut c_void, u64, usize, u64) -> c_int,
        copy_on_device: fn(u64, u64, usize, u64) -> c_int,
        fill: fn(u64, u8, usize, u64) -> c_int,
        stream_create: fn(*mut u64, c_uint) -> c_int,
        stream_destroy: fn(u64) -> c_int,
        stream_synchronize: fn(u64) -> c_int,
        stream_query: fn(u64) -> c_int,
        stream_wait_event: fn(u64, u64, c_uint) -> c_int,
        event_create: fn(*mut u64, c_uint) -> c_int,
        event_destroy: fn(u64) -> c_int,
        event_record: fn(u64, u64) -> c_int,
        event_query: fn(u64) -> c_int,
        event_synchronize: fn(u64) -> c_int,
        event_elapsed: fn(*mut f32, u64, u64) -> c_int,
        module_load: fn(*mut u64, *const c_void) -> c_int,
        module_unload: fn(u64) -> c_int,
        module_function: fn(*mut u64, u64, *const c_char) -> c_int,
        function_attribute: fn(*mut c_int, c_int, u64) -> c_int,
        pointer_attribute: fn(*mut c_void, c_int, u64) -> c_int,
        launch: fn(u64, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, u64, *mut *mut c_void, *mut *mut c_void) -> c_int,
    }
}

function_table! {
    /// The functions of stream-ordered allocation, which old drivers do not have.
    PoolCalls, PoolCallNames {
        create: fn(*mut u64, *const PoolProperties) -> c_int,
        set_attribute: fn(u64, c_int, *mut c_void) -> c_int,
        trim: fn(u64, usize) -> c_int,
        allocate: fn(*mut u64, usize, u64, u64) -> c_int,
        free: fn(u64, u64) -> c_int,
    }
}

function_table! {
    /// The functions of graphs, which old drivers do not have.
    GraphCalls, GraphCallNames {
        begin_capture: fn(u64, c_int) -> c_int,
        end_capture: fn(u64, *mut u64) -> c_int,
        instantiate: fn(*mut u64, u64, u64) -> c_int,
        launch: fn(u64, u64) -> c_int,
        destroy: fn(u64) -> c_int,
        destroy_instance: fn(u64) -> c_int,
    }
}

/// `CUmemPoolProps`, which `hipMemPoolProps` repeats byte for byte.
#[repr(C)]
pub(crate) struct PoolProperties {
    pub(crate) allocation_type: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location_type: c_int,
    pub(crate) location: c_int,
    pub(crate) security_attributes: *mut c_void,
    /// Younger drivers keep further settings here, for all of which zero is the default.
    pub(crate) reserved: [u8; 64],
}

/// The numbers by which a driver knows the attributes of a device; those along axes are three in a row.
pub(crate) struct Attributes {
    pub(crate) compute_units: c_int,
    pub(crate) simd_width: c_int,
    pub(crate) max_block: c_int,
    pub(crate) max_block_dims: c_int,
    pub(crate) max_grid: c_int,
    pub(crate) shared_memory: c_int,
    pub(crate) pci_domain: c_int,
    pub(crate) pci_bus: c_int,
    pub(crate) pci_device: c_int,
    pub(crate) pools_supported: c_int,
}

/// A driver that is loaded and initialised. There is one of each kind in a process, forever.
pub(crate) trait Driver: Send + Sync + Sized + 'static {
    const KIND: DeviceKind;
    const ATTRIBUTES: Attributes;

    /// The name that opens the device of that number.
    fn id(index: usize) -> DeviceId;
    fn calls(&self) -> &Calls;
    fn pools(&self) -> Option<&PoolCalls>;
    fn graphs(&self) -> Option<&GraphCalls>;
    /// The driver's name and words for a code.
    fn error_text(&self, code: i32) -> String;
    /// Completes what differs between drivers: architecture, driver version, identity and tighter limits.
    fn describe(&self, device: c_int, properties: &mut Properties) -> Result<(), Failure>;
    /// What makes a device current: the primary context, which is set up here, or the device itself.
    fn context(&self, device: c_int) -> Result<u64, Failure>;
    /// Makes a context current in this thread. Called before all work, so it has to be cheap when there is nothing to do.
    fn make_current(&self, context: u64) -> Result<(), Failure>;
    fn compiler(&self, arch: &str) -> Result<Arc<dyn Compiler>, CompileError>;
    /// The library of Fourier transforms.
    fn fft(&self) -> Result<&'static FftLibrary, DeviceError>;
}
