//! What the driver says about its platforms and devices.

use opencl3::device as cl;
use opencl3::platform::platform as clp;
use opencl3::types::{cl_device_id, cl_platform_id};

use super::driver::{Driver, Failure, info, number, numbers, status, text};
use super::handle::Object;
use crate::identity::{DeviceId, PciAddress, Properties};

/// The platforms, in the driver's order.
pub(super) fn platforms(driver: &Driver) -> Result<Vec<Object>, Failure> {
    listing("clGetPlatformIDs", |size, places, count| {
        // SAFETY: `listing` gives as many places as it says.
        unsafe { (driver.clGetPlatformIDs)(size, places, count) }
    })
}

/// The devices of a platform, of all types, in the driver's order. A platform that has none or fails is one without devices.
pub(super) fn devices(driver: &Driver, platform: Object) -> Vec<Object> {
    listing("clGetDeviceIDs", |size, places, count| {
        // SAFETY: as above; the driver listed the platform.
        unsafe { (driver.clGetDeviceIDs)(platform.0, cl::CL_DEVICE_TYPE_ALL, size, places, count) }
    })
    .unwrap_or_default()
}

fn listing(call: &'static str, ask: impl Fn(u32, *mut *mut std::ffi::c_void, *mut u32) -> i32) -> Result<Vec<Object>, Failure> {
    let mut count = 0;
    status(call, ask(0, std::ptr::null_mut(), &mut count))?;
    let mut found = vec![std::ptr::null_mut(); count as usize];
    if count > 0 {
        status(call, ask(count, found.as_mut_ptr(), std::ptr::null_mut()))?;
    }
    Ok(found.into_iter().map(Object).collect())
}

/// Asks one device; what it does not know is zero or empty.
struct DeviceQuery<'a> {
    driver: &'a Driver,
    device: cl_device_id,
    extensions: String,
}

impl DeviceQuery<'_> {
    fn bytes(&self, what: u32) -> Vec<u8> {
        // SAFETY: the driver listed the device; `bytes` gives a buffer of the requested size.
        unsafe { info!(self.driver, clGetDeviceInfo(self.device, what)) }.unwrap_or_default()
    }

    fn number(&self, what: u32) -> u64 {
        number(&self.bytes(what))
    }

    fn small(&self, what: u32) -> u32 {
        u32::try_from(self.number(what)).unwrap_or(u32::MAX)
    }

    fn text(&self, what: u32) -> String {
        text(&self.bytes(what))
    }

    /// A property that an extension adds.
    fn extra(&self, extension: &str, what: u32) -> Option<Vec<u8>> {
        let known = self.extensions.split_whitespace().any(|name| name == extension);
        known.then(|| self.bytes(what)).filter(|bytes| !bytes.is_empty())
    }

    fn is_cpu(&self) -> bool {
        self.number(cl::CL_DEVICE_TYPE) & cl::CL_DEVICE_TYPE_CPU != 0
    }

    fn arch(&self) -> String {
        let capability = |what| self.extra("cl_nv_device_attribute_query", what).map(|bytes| number(&bytes));
        if let (Some(major), Some(minor)) =
            (capability(cl::CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV), capability(cl::CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV))
        {
            return format!("sm_{major}{minor}");
        }
        if self.is_cpu() {
            return std::env::consts::ARCH.into();
        }
        let name = self.text(cl::CL_DEVICE_NAME);
        name.split(':').next().unwrap_or_default().replace(' ', "-").to_lowercase()
    }

    fn simd_width(&self) -> u32 {
        let warp = self.extra("cl_nv_device_attribute_query", cl::CL_DEVICE_WARP_SIZE_NV);
        let wavefront = || self.extra("cl_amd_device_attribute_query", cl::CL_DEVICE_WAVEFRONT_WIDTH_AMD);
        let width = match warp.or_else(wavefront) {
            Some(bytes) => u32::try_from(number(&bytes)).unwrap_or(1),
            None => self.small(cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE),
        };
        width.max(1)
    }

    fn max_block_dims(&self) -> [u32; 3] {
        let sizes = numbers(&self.bytes(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES));
        std::array::from_fn(|axis| sizes.get(axis).map_or(1, |&size| u32::try_from(size).unwrap_or(u32::MAX)))
    }

    fn pci(&self) -> Option<PciAddress> {
        let bytes = self.extra("cl_khr_pci_bus_info", cl::CL_DEVICE_PCI_BUS_INFO_KHR)?;
        let mut words = bytes.chunks_exact(4).map(|word| number(word) as u32);
        Some(PciAddress { domain: words.next()?, bus: words.next()?, device: words.next()? })
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        self.extra("cl_khr_device_uuid", cl::CL_DEVICE_UUID_KHR)?.try_into().ok()
    }
}

/// All properties of a device.
pub(super) fn properties(driver: &Driver, id: DeviceId, platform: Object, device: Object) -> Properties {
    let mut asked = DeviceQuery { driver, device: device.0, extensions: String::new() };
    asked.extensions = asked.text(cl::CL_DEVICE_EXTENSIONS);
    let alignment = asked.number(cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    Properties {
        id,
        name: asked.text(cl::CL_DEVICE_NAME),
        arch: asked.arch(),
        driver: format!("{}, driver {}", platform_words(driver, platform.0), asked.text(cl::CL_DRIVER_VERSION)),
        compute_units: asked.small(cl::CL_DEVICE_MAX_COMPUTE_UNITS),
        simd_width: asked.simd_width(),
        memory_total: asked.number(cl::CL_DEVICE_GLOBAL_MEM_SIZE),
        max_allocation: asked.number(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        max_block: asked.small(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE),
        max_block_dims: asked.max_block_dims(),
        max_grid: [u32::MAX; 3],
        shared_memory: asked.number(cl::CL_DEVICE_LOCAL_MEM_SIZE),
        memory_alignment: usize::try_from(alignment).unwrap_or(1).max(1),
        uuid: asked.uuid(),
        pci: asked.pci(),
    }
}

fn platform_words(driver: &Driver, platform: cl_platform_id) -> String {
    let ask = |what| {
        // SAFETY: the driver listed the platform; `bytes` gives a buffer of the requested size.
        unsafe { info!(driver, clGetPlatformInfo(platform, what)) }.map(|bytes| text(&bytes)).unwrap_or_default()
    };
    format!("{} ({})", ask(clp::CL_PLATFORM_NAME), ask(clp::CL_PLATFORM_VERSION))
}
