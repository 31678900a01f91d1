//! The OpenCL backend: any device with an installed OpenCL 1.2 driver, graphics processor or CPU.
//!
//! Memory is a buffer object, a part of it the object with an offset, a stream an in-order queue, an event a marker. The other streams of a
//! device are ordered with its default stream where they are made and by `order_after_default`, not at every call. Freed memory stays
//! until the work that uses it is done: OpenCL counts it.

mod binary;
mod compiler;
mod context;
mod device;
mod driver;
mod event;
mod handle;
mod memory;
mod module;
mod pocl;
mod properties;
mod stream;

use std::ffi::c_void;
use std::sync::{Arc, Weak};

use opencl3::command_queue::{CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE};
use opencl3::error_codes::CL_PLATFORM_NOT_FOUND_KHR;

use self::context::Context;
use self::device::OpenClDevice;
use self::driver::{Driver, Failure, missing};
use self::handle::{Handle, Kind, Object};
use self::stream::{OpenClStream, ask_queue};
use crate::backend::RawDevice;
use crate::device::Device;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;
use crate::identity::DeviceId;
use crate::kind::DeviceKind;
use crate::stream::Stream;

pub use self::pocl::unwritable_cache;

/// The devices of all platforms, each with its platform.
fn found(driver: &Driver) -> Result<Vec<(DeviceId, Object, Object)>> {
    // The library loads the drivers at the first of these calls, and not every one can take a second call meanwhile.
    static ONE_AT_A_TIME: Lock<()> = Lock::new(());
    let _turn = ONE_AT_A_TIME.lock_or(|| ());
    let platforms = match properties::platforms(driver) {
        Err(Failure { code: CL_PLATFORM_NOT_FOUND_KHR, .. }) => Vec::new(),
        other => other.map_err(no_device_failed)?,
    };
    if platforms.is_empty() {
        return Err(missing(vec!["the drivers that the OpenCL library searches for (in /etc/OpenCL/vendors)".into()]));
    }
    let of_platform = |(platform, object): (usize, Object)| {
        let devices = properties::devices(driver, object).into_iter().enumerate();
        devices.map(move |(device, id)| (DeviceId::OpenCl { platform, device }, object, id))
    };
    Ok(platforms.into_iter().enumerate().flat_map(of_platform).collect())
}

/// A failure before any device is known.
fn no_device_failed(failure: Failure) -> DeviceError {
    if failure.is_forked() {
        return DeviceError::Forked { kind: DeviceKind::OpenCl };
    }
    if failure.is_refused() {
        return DeviceError::Abandoned { device: DeviceKind::OpenCl.to_string() };
    }
    let Failure { call, code } = failure;
    DeviceError::Driver { device: DeviceKind::OpenCl.to_string(), call, code: i64::from(code), message: failure.name().into() }
}

pub(crate) fn list() -> Result<Vec<DeviceId>> {
    Ok(found(Driver::get()?)?.into_iter().map(|(id, _, _)| id).collect())
}

pub(crate) fn open(platform: usize, device: usize) -> Result<Arc<dyn RawDevice>> {
    let driver = Driver::get()?;
    let asked = DeviceId::OpenCl { platform, device };
    let all = found(driver)?;
    let Some(&(id, platform, device)) = all.iter().find(|(id, _, _)| *id == asked) else {
        return Err(DeviceError::NotFound { asked: asked.to_string(), found: all.iter().map(|(id, _, _)| id.to_string()).collect() });
    };
    Ok(Arc::new(OpenClDevice::new(driver, device, properties::properties(driver, id, platform, device))))
}

/// Uses a `cl_context` and a `cl_command_queue` of another library, such as the `int_ptr` of PyOpenCL's objects.
///
/// The device lives in that context, so that [`Device::adopt_memory`] takes its buffers without a copy, and the queue is the
/// device's default stream. Both are kept alive as long as needed. The same pair gives the same device while it is open.
///
/// # Errors
/// [`DeviceError::DriverMissing`]; [`DeviceError::Driver`] when the driver does not know the handles;
/// [`DeviceError::Unsupported`] when the queue is out of order or of another context.
///
/// # Safety
/// `context` and `queue` are live objects of these types, or 0, which is an error.
pub unsafe fn adopt(context: u64, queue: u64) -> Result<(Device, Stream)> {
    static ADOPTED: Lock<Vec<Adopted>> = Lock::new(Vec::new());
    let mut adopted = ADOPTED.lock_or(Vec::new);
    adopted.retain(|known| known.device.strong_count() > 0);
    let known = adopted.iter().find(|known| (known.context, known.queue) == (context, queue));
    let raw = match known.and_then(|known| known.device.upgrade()) {
        Some(raw) => raw,
        None => {
            // SAFETY: the caller upholds the same contract.
            let raw = Arc::new(unsafe { adopt_device(context as *mut c_void, queue as *mut c_void)? });
            adopted.push(Adopted { context, queue, device: Arc::downgrade(&raw) });
            raw
        }
    };
    let device = Device::from_raw(raw);
    let stream = device.default_stream()?;
    Ok((device, stream))
}

/// A device made by [`adopt`]. While it lives it keeps both objects alive, so that no others can have these handles.
struct Adopted {
    context: u64,
    queue: u64,
    device: Weak<OpenClDevice>,
}

/// # Safety
/// As [`adopt`].
unsafe fn adopt_device(context: *mut c_void, queue: *mut c_void) -> Result<OpenClDevice> {
    let driver = Driver::get()?;
    // SAFETY: the caller upholds the same contract.
    let context = unsafe { Handle::retain(driver, Kind::Context, context) }.map_err(no_device_failed)?;
    // SAFETY: as above.
    let held = unsafe { Handle::retain(driver, Kind::Queue, queue) }.map_err(no_device_failed)?;
    let device = ask_queue(driver, &held, CL_QUEUE_DEVICE).map_err(no_device_failed)? as *mut c_void;
    let all = found(driver)?;
    let Some(&(id, platform, device)) = all.iter().find(|(_, _, object)| object.0 == device) else {
        let asked = "the device of the adopted queue".into();
        return Err(DeviceError::NotFound { asked, found: all.iter().map(|(id, _, _)| id.to_string()).collect() });
    };
    if ask_queue(driver, &held, CL_QUEUE_CONTEXT).map_err(no_device_failed)? != context.bits() {
        let what = "use a queue with a context other than its own".into();
        return Err(DeviceError::Unsupported { device: id.to_string(), what });
    }
    let properties = properties::properties(driver, id, platform, device);
    let context = Arc::new(Context::around(driver, id, context, device, properties.memory_total));
    // SAFETY: the caller upholds the same contract.
    let stream = unsafe { OpenClStream::adopt(&context, queue)? };
    Ok(OpenClDevice::adopted(context, stream, properties))
}
