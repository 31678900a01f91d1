//! Devices of a GPU driver: counting them, reading their properties, and everything that begins at one.

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use crate::backend::{Compiler, Growable, RawDevice, RawEvent, RawFft, RawGraph, RawMemory, RawModule, RawPinned, RawStream};
use crate::binary::ModuleBinary;
use crate::error::{CompileError, DeviceError, Result};
use crate::forked::Lock;
use crate::gpu::calls::{Failure, code};
use crate::gpu::context::{Context, Source};
use crate::gpu::driver::Driver;
use crate::gpu::event::GpuEvent;
use crate::gpu::fft::GpuFft;
use crate::gpu::graph::GpuGraph;
use crate::gpu::memory::{GpuMemory, GpuPinned};
use crate::gpu::module::GpuModule;
use crate::gpu::stream::GpuStream;
use crate::identity::{DeviceId, MemoryInfo, PciAddress, Properties};
use crate::kind::Language;
use crate::moving::Moving;
use crate::transform::FftShape;

/// The devices of a driver.
pub(crate) fn list<D: Driver>(driver: &'static D) -> Result<Vec<DeviceId>> {
    match count(driver) {
        Ok(count) => Ok((0..count).map(D::id).collect()),
        Err(failure) => Err(failure.into_error(driver, D::KIND.name())),
    }
}

/// The device of that number.
pub(crate) fn open<D: Driver>(driver: &'static D, index: usize) -> Result<Arc<dyn RawDevice>> {
    let ids = list(driver)?;
    let Some(&id) = ids.get(index) else {
        return Err(DeviceError::NotFound { asked: D::id(index).to_string(), found: ids.iter().map(ToString::to_string).collect() });
    };
    match open_checked(driver, index, id) {
        Ok(device) => Ok(Arc::new(device)),
        Err(failure) => Err(failure.into_error(driver, &id.to_string())),
    }
}

/// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`, which HIP repeats.
const DEVICE_ORDINAL: c_int = 9;

/// The device whose memory is at an address.
pub(crate) fn device_of<D: Driver>(driver: &'static D, address: u64) -> Result<DeviceId> {
    let fail = |failure: Failure| failure.into_error(driver, D::KIND.name());
    count(driver).map_err(fail)?;
    let mut ordinal: c_int = -1;
    let call = &driver.calls().pointer_attribute;
    // SAFETY: `ordinal` is a place for the number that this attribute is; the driver looks the address up and does not follow it.
    let result = unsafe { (call.function)((&raw mut ordinal).cast(), DEVICE_ORDINAL, address) };
    match (call.check(result), usize::try_from(ordinal)) {
        (Ok(()), Ok(index)) => Ok(D::id(index)),
        (Err(Failure { code: code::INVALID_VALUE, .. }), _) | (Ok(()), Err(_)) => {
            Err(DeviceError::UnknownPointer { kind: D::KIND, address })
        }
        (Err(failure), _) => Err(fail(failure)),
    }
}

fn count<D: Driver>(driver: &'static D) -> Result<usize, Failure> {
    let calls = driver.calls();
    // SAFETY: the flags are zero, as they must be.
    let initialised = calls.init.check(unsafe { (calls.init.function)(0) });
    let mut count = 0;
    let counted = match initialised {
        // SAFETY: `count` is valid for writing one number.
        Ok(()) => calls.device_count.check(unsafe { (calls.device_count.function)(&mut count) }),
        failed => failed,
    };
    match counted {
        Err(Failure { code: code::NO_DEVICE | code::INVALID_DEVICE, .. }) => Ok(0),
        counted => counted.map(|()| usize::try_from(count).unwrap_or(0)),
    }
}

fn open_checked<D: Driver>(driver: &'static D, index: usize, id: DeviceId) -> Result<GpuDevice<D>, Failure> {
    let mut device = 0;
    let call = &driver.calls().device_get;
    // SAFETY: `device` is valid for writing one number.
    call.check(unsafe { (call.function)(&mut device, index as c_int) })?;
    let properties = read_properties(driver, device, id)?;
    Ok(GpuDevice { driver, device, properties, context: Lock::default() })
}

fn read_properties<D: Driver>(driver: &'static D, device: c_int, id: DeviceId) -> Result<Properties, Failure> {
    let numbers = D::ATTRIBUTES;
    let get = |attribute| read_attribute(driver, device, attribute);
    let axes = |first| Ok([get(first)?, get(first + 1)?, get(first + 2)?]);
    let memory_total = read_total_memory(driver, device)?;
    let pci =
        get(numbers.pci_domain).and_then(|domain| Ok(PciAddress { domain, bus: get(numbers.pci_bus)?, device: get(numbers.pci_device)? }));
    let mut properties = Properties {
        id,
        name: read_name(driver, device)?,
        arch: String::new(),
        driver: String::new(),
        compute_units: get(numbers.compute_units)?,
        simd_width: get(numbers.simd_width)?,
        memory_total,
        max_allocation: memory_total,
        max_block: get(numbers.max_block)?,
        max_block_dims: axes(numbers.max_block_dims)?,
        max_grid: axes(numbers.max_grid)?,
        shared_memory: u64::from(get(numbers.shared_memory)?),
        memory_alignment: 1,
        uuid: None,
        pci: pci.ok(),
    };
    driver.describe(device, &mut properties)?;
    Ok(properties)
}

fn read_attribute<D: Driver>(driver: &'static D, device: c_int, attribute: c_int) -> Result<u32, Failure> {
    let mut value = 0;
    let call = &driver.calls().device_attribute;
    // SAFETY: `value` is valid for writing one number.
    call.check(unsafe { (call.function)(&mut value, attribute, device) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn read_total_memory<D: Driver>(driver: &'static D, device: c_int) -> Result<u64, Failure> {
    let mut bytes = 0;
    let call = &driver.calls().device_total_memory;
    // SAFETY: `bytes` is valid for writing one number.
    call.check(unsafe { (call.function)(&mut bytes, device) })?;
    Ok(bytes as u64)
}

fn read_name<D: Driver>(driver: &'static D, device: c_int) -> Result<String, Failure> {
    let mut name = [0u8; 256];
    let call = &driver.calls().device_name;
    // SAFETY: the driver writes at most the 255 bytes it is told of, so the last one stays zero.
    call.check(unsafe { (call.function)(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int - 1, device) })?;
    Ok(CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned())
}

/// An open device. Its context is set up at the first real use.
struct GpuDevice<D: Driver> {
    driver: &'static D,
    device: c_int,
    properties: Properties,
    context: Lock<Option<Arc<Context<D>>>>,
}

impl<D: Driver> GpuDevice<D> {
    fn context(&self) -> Result<Arc<Context<D>>> {
        let mut context = self.context.lock().map_err(|_| DeviceError::Forked { kind: D::KIND })?;
        if let Some(context) = &*context {
            return Ok(context.clone());
        }
        let created = Arc::new(Context::new(self.driver, self.properties.id.to_string(), self.device)?);
        Ok(context.insert(created).clone())
    }

    fn unsupported(&self, what: &str) -> DeviceError {
        DeviceError::Unsupported { device: self.properties.id.to_string(), what: what.to_owned() }
    }
}

impl<D: Driver> RawDevice for GpuDevice<D> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn binary_target(&self) -> String {
        self.properties.arch.clone()
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        self.context()?.memory_info()
    }

    fn allocate(&self, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        Ok(Arc::new(GpuMemory::allocate(self.context()?, bytes, Source::Pool)?))
    }

    fn allocate_for_processes(&self, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        Ok(Arc::new(GpuMemory::allocate(self.context()?, bytes, Source::Driver)?))
    }

    fn allocate_growable(&self, bytes: usize) -> Result<Arc<Growable>> {
        Moving::allocate(self, bytes)
    }

    unsafe fn adopt_memory(&self, handle: u64, _bytes: usize) -> Result<Arc<dyn RawMemory>> {
        if handle == 0 {
            return Err(self.unsupported("adopt memory at address 0"));
        }
        Ok(Arc::new(GpuMemory::adopt(self.context()?, handle)))
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Box<dyn RawPinned>> {
        Ok(Box::new(GpuPinned::allocate(self.context()?, bytes)?))
    }

    fn default_stream(&self) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(GpuStream::legacy(self.context()?)))
    }

    fn create_stream(&self) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(GpuStream::create(self.context()?)?))
    }

    unsafe fn adopt_stream(&self, handle: u64) -> Result<Arc<dyn RawStream>> {
        Ok(Arc::new(GpuStream::adopt(self.context()?, handle)))
    }

    fn create_event(&self) -> Result<Arc<dyn RawEvent>> {
        Ok(Arc::new(GpuEvent::create(self.context()?)?))
    }

    fn compiler(&self, _language: Language) -> Result<Arc<dyn Compiler>, CompileError> {
        // Both libraries compile C++, of which our C is a part.
        self.driver.compiler(&self.properties.arch)
    }

    fn load(&self, binary: &ModuleBinary) -> Result<Arc<dyn RawModule>> {
        Ok(Arc::new(GpuModule::load(self.context()?, binary)?))
    }

    fn synchronize(&self) -> Result<()> {
        self.context()?.synchronize()
    }

    fn abandon(&self) {
        if let Ok(context) = self.context() {
            context.abandon();
        }
    }

    fn capture(&self, queue: &mut dyn FnMut(&dyn RawStream) -> Result<()>) -> Result<Option<Box<dyn RawGraph>>> {
        let graph = GpuGraph::capture(self.context()?, queue)?;
        Ok(graph.map(|graph| -> Box<dyn RawGraph> { Box::new(graph) }))
    }

    fn plan_fft(&self, stream: u64, shape: &FftShape) -> Result<Option<Box<dyn RawFft>>> {
        Ok(Some(Box::new(GpuFft::plan(self.context()?, stream, shape)?)))
    }
}
