//! The HIP driver: libamdhip64's functions, and the current device of a thread.
//!
//! The numbers of device attributes used here are the same in ROCm 5 to 7: retired ones keep their place. The layout of
//! `hipDeviceProp_t` is not, so only the name of the architecture is taken from it, by its form.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use libloading::Library;

use crate::backend::Compiler;
use crate::error::{CompileError, DeviceError, Result};
use crate::forked::OneProcess;
use crate::gpu::calls::{Failure, c_text, find, function_table};
use crate::gpu::driver::{Attributes, CallNames, Calls, Driver, GraphCallNames, GraphCalls, PoolCallNames, PoolCalls};
use crate::gpu::fft_library::FftLibrary;
use crate::hip::{compiler, driver_candidates, fft};
use crate::identity::{DeviceId, Properties};
use crate::kind::DeviceKind;
use crate::library::open_first;
use crate::once::Once;

const CALLS: CallNames = CallNames {
    init: "hipInit",
    driver_version: "hipDriverGetVersion",
    device_count: "hipGetDeviceCount",
    device_get: "hipDeviceGet",
    device_name: "hipDeviceGetName",
    device_total_memory: "hipDeviceTotalMem",
    device_attribute: "hipDeviceGetAttribute",
    synchronize: "hipDeviceSynchronize",
    memory_info: "hipMemGetInfo",
    allocate: "hipMalloc",
    free: "hipFree",
    allocate_host: "hipHostMalloc",
    free_host: "hipHostFree",
    copy_to_device: "hipMemcpyHtoDAsync",
    copy_to_host: "hipMemcpyDtoHAsync",
    copy_on_device: "hipMemcpyDtoDAsync",
    fill: "hipMemsetD8Async",
    stream_create: "hipStreamCreateWithFlags",
    stream_destroy: "hipStreamDestroy",
    stream_synchronize: "hipStreamSynchronize",
    stream_query: "hipStreamQuery",
    stream_wait_event: "hipStreamWaitEvent",
    event_create: "hipEventCreateWithFlags",
    event_destroy: "hipEventDestroy",
    event_record: "hipEventRecord",
    event_query: "hipEventQuery",
    event_synchronize: "hipEventSynchronize",
    event_elapsed: "hipEventElapsedTime",
    module_load: "hipModuleLoadData",
    module_unload: "hipModuleUnload",
    module_function: "hipModuleGetFunction",
    function_attribute: "hipFuncGetAttribute",
    pointer_attribute: "hipPointerGetAttribute",
    launch: "hipModuleLaunchKernel",
};

const POOL_CALLS: PoolCallNames = PoolCallNames {
    create: "hipMemPoolCreate",
    set_attribute: "hipMemPoolSetAttribute",
    trim: "hipMemPoolTrimTo",
    allocate: "hipMallocFromPoolAsync",
    free: "hipFreeAsync",
};

const GRAPH_CALLS: GraphCallNames = GraphCallNames {
    begin_capture: "hipStreamBeginCapture",
    end_capture: "hipStreamEndCapture",
    instantiate: "hipGraphInstantiateWithFlags",
    launch: "hipGraphLaunch",
    destroy: "hipGraphDestroy",
    destroy_instance: "hipGraphExecDestroy",
};

function_table! {
    /// The functions that CUDA has in another form.
    OwnCalls, OwnCallNames {
        device_current: fn(*mut c_int) -> c_int,
        device_set: fn(c_int) -> c_int,
        device_properties: fn(*mut c_void, c_int) -> c_int,
        error_name: fn(c_int) -> *const c_char,
        error_string: fn(c_int) -> *const c_char,
    }
}

/// As ROCm 6 and later have them. Before, the function of the properties had no version.
const OWN_CALLS: OwnCallNames = OwnCallNames {
    device_current: "hipGetDevice",
    device_set: "hipSetDevice",
    device_properties: "hipGetDevicePropertiesR0600",
    error_name: "hipGetErrorName",
    error_string: "hipGetErrorString",
};

const OLD_OWN_CALLS: OwnCallNames = OwnCallNames { device_properties: "hipGetDeviceProperties", ..OWN_CALLS };

function_table! {
    /// Since ROCm 5.1.
    UuidCalls, UuidCallNames {
        device_uuid: fn(*mut [u8; 16], c_int) -> c_int,
    }
}

const UUID_CALLS: UuidCallNames = UuidCallNames { device_uuid: "hipDeviceGetUuid" };

/// The loaded driver.
pub(crate) struct Hip {
    calls: Calls,
    pools: Option<PoolCalls>,
    graphs: Option<GraphCalls>,
    own: OwnCalls,
    uuid: Option<UuidCalls>,
    _library: Library,
}

impl Hip {
    /// The driver of this process, loaded at the first call.
    pub(crate) fn get() -> Result<&'static Hip> {
        static HIP: Once<Result<Hip>> = Once::new();
        static PROCESS: OneProcess = OneProcess::new();
        let forked = DeviceError::Forked { kind: DeviceKind::Hip };
        let loaded = match HIP.get() {
            Some(loaded) => loaded,
            None if PROCESS.is_here() => HIP.get_or_init(load),
            None => return Err(forked),
        };
        let driver = loaded.as_ref().map_err(Clone::clone)?;
        if PROCESS.is_here() { Ok(driver) } else { Err(forked) }
    }
}

fn load() -> Result<Hip> {
    let absent = |tried, hint: String| DeviceError::DriverMissing { kind: DeviceKind::Hip, tried, hint };
    let candidates = driver_candidates();
    let (library, path) = open_first(&candidates).map_err(|tried| {
        let all = || candidates.iter().map(|path| path.display().to_string()).collect();
        let hint = "it comes with ROCm (Debian: libamdhip64-5); install that, or set PARLOOP_HIP to the path of libamdhip64";
        absent(if tried.is_empty() { all() } else { tried }, hint.into())
    })?;
    let find = |name| find(&library, name);
    // SAFETY: libamdhip64's functions of these names have these signatures.
    let tables = unsafe {
        let own = OwnCalls::load(&OWN_CALLS, find).or_else(|_| OwnCalls::load(&OLD_OWN_CALLS, find));
        let (pools, graphs) = (PoolCalls::load(&POOL_CALLS, find).ok(), GraphCalls::load(&GRAPH_CALLS, find).ok());
        (Calls::load(&CALLS, find), own, pools, graphs, UuidCalls::load(&UUID_CALLS, find).ok())
    };
    match tables {
        (Ok(calls), Ok(own), pools, graphs, uuid) => Ok(Hip { calls, pools, graphs, own, uuid, _library: library }),
        (Err(missing), ..) | (_, Err(missing), ..) => {
            Err(absent(vec![path.display().to_string()], format!("it has no `{missing}`: update ROCm")))
        }
    }
}

/// More than `hipDeviceProp_t` has in any version.
const PROPERTIES_SIZE: usize = 16 * 1024;
/// The device's name comes first and has this size in every version.
const NAME_SIZE: usize = 256;

impl Hip {
    fn arch(&self, device: c_int) -> Result<String, Failure> {
        // Of numbers, so that it is aligned as the structure is.
        let mut properties = vec![0u64; PROPERTIES_SIZE / 8];
        let call = &self.own.device_properties;
        // SAFETY: there is more room than the structure takes.
        call.check(unsafe { (call.function)(properties.as_mut_ptr().cast(), device) })?;
        let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Ok(find_arch(&bytes[NAME_SIZE..]).unwrap_or_else(|| "unknown".into()))
    }

    fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: `version` is valid for writing one number; a failure leaves it zero.
        unsafe { (self.calls.driver_version.function)(&mut version) };
        format!("HIP {}.{}.{}", version / 10_000_000, version / 100_000 % 100, version % 100_000)
    }

    fn uuid(&self, device: c_int) -> Option<[u8; 16]> {
        let call = &self.uuid.as_ref()?.device_uuid;
        let mut uuid = [0; 16];
        // SAFETY: `uuid` is a place for the 16 bytes.
        call.check(unsafe { (call.function)(&mut uuid, device) }).ok()?;
        Some(uuid)
    }
}

/// The architecture without its features: `gfx90a` of `gfx90a:sramecc+:xnack-`. Code for it runs with any of them.
fn find_arch(bytes: &[u8]) -> Option<String> {
    let start = bytes.windows(4).position(|four| four.starts_with(b"gfx") && four[3].is_ascii_hexdigit())?;
    let text = CStr::from_bytes_until_nul(&bytes[start..]).ok()?.to_str().ok()?;
    text.split(':').next().map(str::to_owned)
}

impl Driver for Hip {
    const KIND: DeviceKind = DeviceKind::Hip;
    const ATTRIBUTES: Attributes = Attributes {
        compute_units: 63,
        simd_width: 87,
        max_block: 56,
        max_block_dims: 26,
        max_grid: 29,
        shared_memory: 74,
        pci_domain: 69,
        pci_bus: 67,
        pci_device: 68,
        pools_supported: 88,
    };

    fn id(index: usize) -> DeviceId {
        DeviceId::Hip { index }
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
        // SAFETY: both take any number and answer with texts that live forever.
        let (name, words) = unsafe { (c_text((self.own.error_name.function)(code)), c_text((self.own.error_string.function)(code))) };
        format!("{name}: {words}")
    }

    fn describe(&self, device: c_int, properties: &mut Properties) -> Result<(), Failure> {
        properties.arch = self.arch(device)?;
        properties.driver = self.version();
        properties.uuid = self.uuid(device);
        // Along an axis HIP counts work items in 32 bits, whatever the attribute says of blocks.
        let blocks = u32::MAX / properties.max_block.max(1);
        properties.max_grid = properties.max_grid.map(|limit| limit.min(blocks));
        Ok(())
    }

    fn context(&self, device: c_int) -> Result<u64, Failure> {
        Ok(device as u64)
    }

    #[inline]
    fn make_current(&self, context: u64) -> Result<(), Failure> {
        let device = context as c_int;
        let mut current = -1;
        let get = &self.own.device_current;
        // SAFETY: `current` is valid for writing one number.
        get.check(unsafe { (get.function)(&mut current) })?;
        if current == device {
            return Ok(());
        }
        let set = &self.own.device_set;
        // SAFETY: it takes any number.
        set.check(unsafe { (set.function)(device) })
    }

    fn compiler(&self, arch: &str) -> Result<Arc<dyn Compiler>, CompileError> {
        compiler::compiler(arch)
    }

    fn fft(&self) -> Result<&'static FftLibrary> {
        fft::library()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_found_wherever_the_properties_have_it() {
        assert_eq!(find_arch(b"\0\0\x01gf\0gfxy\0gfx90a:sramecc+:xnack-\0\0").as_deref(), Some("gfx90a"));
        assert_eq!(find_arch(b"gfx1030\0").as_deref(), Some("gfx1030"));
        assert_eq!(find_arch(b"nothing"), None);
        assert_eq!(find_arch(b"gfx90a without an end"), None);
    }
}
