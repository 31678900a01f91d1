//! The device: its context and default queue, made at first use, and all that is made from them.

use std::sync::{Arc, Weak};

use opencl3::types::{cl_command_queue, cl_mem};

use super::compiler::OpenClCompiler;
use super::context::Context;
use super::driver::{self, Driver};
use super::event::OpenClEvent;
use super::handle::Object;
use super::memory::{OpenClMemory, OpenClPinned};
use super::module::OpenClModule;
use super::stream::OpenClStream;
use crate::backend::{Compiler, Growable, RawDevice, RawEvent, RawMemory, RawModule, RawPinned, RawStream};
use crate::binary::ModuleBinary;
use crate::error::{CompileError, Result};
use crate::forked::Lock;
use crate::identity::{MemoryInfo, Properties};
use crate::kind::{DeviceKind, Language};
use crate::moving::Moving;
use crate::once::Once;

/// A device of an OpenCL platform, in a context of its own or of another owner.
pub(super) struct OpenClDevice {
    driver: &'static Driver,
    device: Object,
    properties: Properties,
    opened: Once<Opened>,
    opening: Lock<()>,
}

/// What exists once the device was used.
struct Opened {
    context: Arc<Context>,
    default: Arc<OpenClStream>,
    /// The streams besides the default one, as long as somebody has them.
    others: Lock<Vec<Weak<OpenClStream>>>,
}

impl Opened {
    fn new(context: Arc<Context>, default: OpenClStream) -> Opened {
        Opened { context, default: Arc::new(default), others: Lock::default() }
    }

    fn others(&self) -> Vec<Arc<OpenClStream>> {
        let mut others = self.others.lock_or(Vec::new);
        others.retain(|stream| stream.strong_count() > 0);
        others.iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds a stream, which starts after what the default stream was given so far.
    fn add(&self, stream: OpenClStream) -> Result<Arc<dyn RawStream>> {
        let stream = Arc::new(stream);
        let mut others = self.others.lock_or(Vec::new);
        stream.wait_marker(&self.default.mark()?)?;
        others.push(Arc::downgrade(&stream));
        Ok(stream)
    }
}

impl OpenClDevice {
    pub(super) fn new(driver: &'static Driver, device: Object, properties: Properties) -> OpenClDevice {
        OpenClDevice { driver, device, properties, opened: Once::new(), opening: Lock::new(()) }
    }

    /// The device of a context that exists, with its default stream.
    pub(super) fn adopted(context: Arc<Context>, default: OpenClStream, properties: Properties) -> OpenClDevice {
        let device = OpenClDevice::new(context.driver, Object(context.device()), properties);
        device.opened.get_or_init(|| Opened::new(context, default));
        device
    }

    fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let _one_at_a_time = self.opening.lock_or(|| ());
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let context = Arc::new(Context::create(self.driver, self.properties.id, self.device, self.properties.memory_total)?);
        let default = OpenClStream::create(&context)?;
        Ok(self.opened.get_or_init(|| Opened::new(context, default)))
    }
}

impl RawDevice for OpenClDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn binary_target(&self) -> String {
        format!("{}, {}", self.properties.name, self.properties.driver)
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let total = self.properties.memory_total;
        Ok(MemoryInfo { free: self.opened.get().map_or(total, |opened| opened.context.free()), total })
    }

    fn allocate(&self, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        Ok(Arc::new(OpenClMemory::allocate(&self.opened()?.context, bytes)?))
    }

    fn allocate_growable(&self, bytes: usize) -> Result<Arc<Growable>> {
        Moving::allocate(self, bytes)
    }

    unsafe fn adopt_memory(&self, handle: u64, bytes: usize) -> Result<Arc<dyn RawMemory>> {
        // SAFETY: the caller upholds the same contract.
        Ok(Arc::new(unsafe { OpenClMemory::adopt(&self.opened()?.context, handle as cl_mem, bytes)? }))
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Box<dyn RawPinned>> {
        Ok(Box::new(OpenClPinned::allocate(&self.opened()?.context, bytes)?))
    }

    fn default_stream(&self) -> Result<Arc<dyn RawStream>> {
        Ok(self.opened()?.default.clone())
    }

    fn create_stream(&self) -> Result<Arc<dyn RawStream>> {
        let opened = self.opened()?;
        opened.add(OpenClStream::create(&opened.context)?)
    }

    unsafe fn adopt_stream(&self, handle: u64) -> Result<Arc<dyn RawStream>> {
        let opened = self.opened()?;
        // SAFETY: the caller upholds the same contract.
        opened.add(unsafe { OpenClStream::adopt(&opened.context, handle as cl_command_queue)? })
    }

    fn create_event(&self) -> Result<Arc<dyn RawEvent>> {
        Ok(Arc::new(OpenClEvent::new(&self.opened()?.context)))
    }

    fn compiler(&self, language: Language) -> Result<Arc<dyn Compiler>, CompileError> {
        if language != Language::C {
            return Err(CompileError::Language { target: DeviceKind::OpenCl, language });
        }
        let opened = self
            .opened()
            .map_err(|error| CompileError::NotStarted { compiler: self.properties.driver.clone(), reason: error.to_string() })?;
        Ok(Arc::new(OpenClCompiler::new(&opened.context, &self.properties)?))
    }

    fn load(&self, binary: &ModuleBinary) -> Result<Arc<dyn RawModule>> {
        Ok(Arc::new(OpenClModule::load(&self.opened()?.context, binary)?))
    }

    fn synchronize(&self) -> Result<()> {
        let Some(opened) = self.opened.get() else { return Ok(()) };
        let others = opened.others();
        let outcomes: Vec<Result<()>> = others.iter().chain([&opened.default]).map(|stream| stream.synchronize()).collect();
        outcomes.into_iter().collect()
    }

    fn abandon(&self) {
        driver::abandon();
    }

    fn order_after_default(&self) -> Result<()> {
        let opened = self.opened()?;
        let others = opened.others();
        if others.is_empty() {
            return Ok(());
        }
        let marker = opened.default.mark()?;
        others.iter().try_for_each(|stream| stream.wait_marker(&marker))
    }
}
