//! The CUDA driver: libcuda's functions, and the primary context that other libraries in the process use too.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys;

use crate::backend::Compiler;
use crate::cuda::{compiler, fft};
use crate::error::{CompileError, DeviceError, Result};
use crate::forked::OneProcess;
use crate::gpu::calls::{Failure, c_text, find, function_table};
use crate::gpu::driver::{Attributes, CallNames, Calls, Driver, GraphCallNames, GraphCalls, PoolCallNames, PoolCalls};
use crate::gpu::fft_library::FftLibrary;
use crate::identity::{DeviceId, Properties};
use crate::kind::DeviceKind;
use crate::loader;
use crate::once::Once;

const CALLS: CallNames = CallNames {
    init: "cuInit",
    driver_version: "cuDriverGetVersion",
    device_count: "cuDeviceGetCount",
    device_get: "cuDeviceGet",
    device_name: "cuDeviceGetName",
    device_total_memory: "cuDeviceTotalMem_v2",
    device_attribute: "cuDeviceGetAttribute",
    synchronize: "cuCtxSynchronize",
    memory_info: "cuMemGetInfo_v2",
    allocate: "cuMemAlloc_v2",
    free: "cuMemFree_v2",
    allocate_host: "cuMemHostAlloc",
    free_host: "cuMemFreeHost",
    copy_to_device: "cuMemcpyHtoDAsync_v2",
    copy_to_host: "cuMemcpyDtoHAsync_v2",
    copy_on_device: "cuMemcpyDtoDAsync_v2",
    fill: "cuMemsetD8Async",
    stream_create: "cuStreamCreate",
    stream_destroy: "cuStreamDestroy_v2",
    stream_synchronize: "cuStreamSynchronize",
    stream_query: "cuStreamQuery",
    stream_wait_event: "cuStreamWaitEvent",
    event_create: "cuEventCreate",
    event_destroy: "cuEventDestroy_v2",
    event_record: "cuEventRecord",
    event_query: "cuEventQuery",
    event_synchronize: "cuEventSynchronize",
    event_elapsed: "cuEventElapsedTime",
    module_load: "cuModuleLoadData",
    module_unload: "cuModuleUnload",
    module_function: "cuModuleGetFunction",
    function_attribute: "cuFuncGetAttribute",
    pointer_attribute: "cuPointerGetAttribute",
    launch: "cuLaunchKernel",
};

const POOL_CALLS: PoolCallNames = PoolCallNames {
    create: "cuMemPoolCreate",
    set_attribute: "cuMemPoolSetAttribute",
    trim: "cuMemPoolTrimTo",
    allocate: "cuMemAllocFromPoolAsync",
    free: "cuMemFreeAsync",
};

const GRAPH_CALLS: GraphCallNames = GraphCallNames {
    begin_capture: "cuStreamBeginCapture_v2",
    end_capture: "cuStreamEndCapture",
    instantiate: "cuGraphInstantiateWithFlags",
    launch: "cuGraphLaunch",
    destroy: "cuGraphDestroy",
    destroy_instance: "cuGraphExecDestroy",
};

function_table! {
    /// The functions that HIP has in another form.
    OwnCalls, OwnCallNames {
        context_retain: fn(*mut u64, c_int) -> c_int,
        context_get: fn(*mut u64) -> c_int,
        context_set: fn(u64) -> c_int,
        device_uuid: fn(*mut [u8; 16], c_int) -> c_int,
        error_name: fn(c_int, *mut *const c_char) -> c_int,
        error_string: fn(c_int, *mut *const c_char) -> c_int,
    }
}

const OWN_CALLS: OwnCallNames = OwnCallNames {
    context_retain: "cuDevicePrimaryCtxRetain",
    context_get: "cuCtxGetCurrent",
    context_set: "cuCtxSetCurrent",
    device_uuid: "cuDeviceGetUuid_v2",
    error_name: "cuGetErrorName",
    error_string: "cuGetErrorString",
};

/// The loaded driver.
pub(crate) struct Cuda {
    calls: Calls,
    pools: Option<PoolCalls>,
    graphs: Option<GraphCalls>,
    own: OwnCalls,
}

impl Cuda {
    /// The driver of this process, loaded at the first call.
    pub(crate) fn get() -> Result<&'static Cuda> {
        static CUDA: Once<Result<Cuda>> = Once::new();
        static PROCESS: OneProcess = OneProcess::new();
        let forked = DeviceError::Forked { kind: DeviceKind::Cuda };
        let loaded = match CUDA.get() {
            Some(loaded) => loaded,
            None if PROCESS.is_here() => CUDA.get_or_init(load),
            None => return Err(forked),
        };
        let driver = loaded.as_ref().map_err(Clone::clone)?;
        if PROCESS.is_here() { Ok(driver) } else { Err(forked) }
    }
}

fn load() -> Result<Cuda> {
    let absent = |hint: &str| DeviceError::DriverMissing {
        kind: DeviceKind::Cuda,
        tried: vec!["libcuda.so.1".into(), "libcuda.so".into()],
        hint: hint.to_owned(),
    };
    let _turn = loader::turn();
    // SAFETY: opening the driver's library runs its own initialisers only.
    if !unsafe { sys::is_culib_present() } {
        return Err(absent("it comes with the NVIDIA driver; install that, or use `cpu`"));
    }
    // SAFETY: the library is there, so that opening it again does not fail, and it stays open.
    let library = unsafe { sys::culib() };
    let find = |name| find(library, name);
    // SAFETY: libcuda's functions of these names have these signatures; the version is part of the name where it ever changed.
    let tables = unsafe {
        let (pools, graphs) = (PoolCalls::load(&POOL_CALLS, find).ok(), GraphCalls::load(&GRAPH_CALLS, find).ok());
        (Calls::load(&CALLS, find), pools, graphs, OwnCalls::load(&OWN_CALLS, find))
    };
    match tables {
        (Ok(calls), pools, graphs, Ok(own)) => Ok(Cuda { calls, pools, graphs, own }),
        (Err(missing), ..) | (.., Err(missing)) => Err(absent(&format!("libcuda has no `{missing}`: update the NVIDIA driver"))),
    }
}

const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;

impl Cuda {
    fn text(&self, code: c_int, call: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int) -> String {
        let mut text = ptr::null();
        // SAFETY: `text` is valid for writing one pointer; it stays null for unknown codes, else it is to a text that is never freed.
        unsafe {
            call(code, &mut text);
            c_text(text)
        }
    }

    fn attribute(&self, device: c_int, attribute: c_int) -> Result<c_int, Failure> {
        let mut value = 0;
        let call = &self.calls.device_attribute;
        // SAFETY: `value` is valid for writing one number.
        call.check(unsafe { (call.function)(&mut value, attribute, device) })?;
        Ok(value)
    }

    /// 12040 for CUDA 12.4.
    fn version_number(&self) -> c_int {
        let mut version = 0;
        // SAFETY: `version` is valid for writing one number; a failure leaves it zero.
        unsafe { (self.calls.driver_version.function)(&mut version) };
        version
    }

    fn version(&self) -> String {
        let version = self.version_number();
        format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
    }

    fn uuid(&self, device: c_int) -> Option<[u8; 16]> {
        let mut uuid = [0; 16];
        let call = &self.own.device_uuid;
        // SAFETY: `uuid` is a place for the 16 bytes.
        call.check(unsafe { (call.function)(&mut uuid, device) }).ok()?;
        Some(uuid)
    }
}

impl Driver for Cuda {
    const KIND: DeviceKind = DeviceKind::Cuda;
    const ATTRIBUTES: Attributes = Attributes {
        compute_units: 16,
        simd_width: 10,
        max_block: 1,
        max_block_dims: 2,
        max_grid: 5,
        shared_memory: 8,
        pci_domain: 50,
        pci_bus: 33,
        pci_device: 34,
        pools_supported: 115,
    };

    fn id(index: usize) -> DeviceId {
        DeviceId::Cuda { index }
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }

    fn pools(&self) -> Option<&PoolCalls> {
        self.pools.as_ref()
    }

    fn graphs(&self) -> Option<&GraphCalls> {
        self.graphs.as_ref()
    }

    fn error_text(&self, code: i32) -> String {
        let (name, words) = (self.text(code, self.own.error_name.function), self.text(code, self.own.error_string.function));
        format!("{name}: {words}")
    }

    fn describe(&self, device: c_int, properties: &mut Properties) -> Result<(), Failure> {
        let major = self.attribute(device, COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(device, COMPUTE_CAPABILITY_MINOR)?;
        properties.arch = format!("sm_{major}{minor}");
        properties.driver = self.version();
        properties.uuid = self.uuid(device);
        Ok(())
    }

    fn context(&self, device: c_int) -> Result<u64, Failure> {
        let mut context = 0;
        let call = &self.own.context_retain;
        // SAFETY: `context` is valid for writing one handle.
        call.check(unsafe { (call.function)(&mut context, device) })?;
        Ok(context)
    }

    #[inline]
    fn make_current(&self, context: u64) -> Result<(), Failure> {
        let mut current = 0;
        let get = &self.own.context_get;
        // SAFETY: `current` is valid for writing one handle.
        get.check(unsafe { (get.function)(&mut current) })?;
        if current == context {
            return Ok(());
        }
        let set = &self.own.context_set;
        // SAFETY: the context was retained and is never released.
        set.check(unsafe { (set.function)(context) })
    }

    fn compiler(&self, arch: &str) -> Result<Arc<dyn Compiler>, CompileError> {
        compiler::compiler(arch)
    }

    fn fft(&self) -> Result<&'static FftLibrary> {
        fft::library(self.version_number() / 1000)
    }
}
