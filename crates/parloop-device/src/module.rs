//! Modules: compiled code on a device, its functions, and the launches that a function allows.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use crate::backend::{RawFunction, RawModule};
use crate::binary::ModuleBinary;
use crate::device::Device;
use crate::error::{DeviceError, Result};
use crate::identity::Properties;
use crate::interrupt::{self, Turn};
use crate::kind::DeviceKind;
use crate::launch::Launch;

/// Compiled code on a device. Clones are the same module; it is unloaded when the last of them and of its functions goes.
#[derive(Clone)]
pub struct Module {
    pub(crate) device: Device,
    pub(crate) raw: Arc<dyn RawModule>,
}

impl Module {
    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The function of that name.
    ///
    /// # Errors
    /// [`DeviceError::UnknownFunction`].
    pub fn function(&self, name: &str) -> Result<Function> {
        let (device, running) = (self.device.clone(), running(&self.device, name));
        let is_cpu = device.kind() == DeviceKind::Cpu;
        Ok(Function { device, raw: self.raw.clone().function(name)?, name: name.into(), running, is_cpu })
    }
}

impl Device {
    /// Loads what this device's [`compiler`](Self::compiler) made.
    ///
    /// # Errors
    /// [`DeviceError::Load`] when the driver refuses the bytes.
    ///
    /// # Safety
    /// The binary is code that this process may run: a CPU runs its initialisers when it is loaded.
    pub unsafe fn load(&self, binary: &ModuleBinary) -> Result<Module> {
        Ok(Module { device: self.clone(), raw: self.raw.load(binary)? })
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Module on {}>", self.device.id())
    }
}

/// One function of a module. Clones are the same function.
#[derive(Clone)]
pub struct Function {
    pub(crate) device: Device,
    pub(crate) raw: Arc<dyn RawFunction>,
    name: Arc<str>,
    /// What a Ctrl-C says while it runs.
    running: Arc<str>,
    is_cpu: bool,
}

fn running(device: &Device, name: &str) -> Arc<str> {
    format!(
        "\nparloop: kernel `{name}` is running on {}. Python sees this Ctrl-C when it ends. Press Ctrl-C again to abandon it: arrays that it \
         writes may then be incomplete.\n",
        device.id()
    )
    .into()
}

impl Function {
    /// The device it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its name in the module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// With another name, which profiles show.
    pub fn named(mut self, name: &str) -> Function {
        self.name = name.into();
        self.running = running(&self.device, name);
        self
    }

    /// Queues it, or on a CPU runs it.
    ///
    /// # Safety
    /// As [`RawFunction::launch`].
    #[inline]
    pub(crate) unsafe fn start(&self, stream: u64, launch: &Launch, args: &[*mut c_void], sizes: &[usize]) -> Result<()> {
        if !self.is_cpu {
            interrupt::gave(self.device.id(), &self.name);
            // SAFETY: the caller's promise.
            return unsafe { self.raw.launch(stream, launch, args, sizes) };
        }
        let turn = Turn::begin(&self.running);
        // SAFETY: the caller's promise.
        let done = unsafe { self.raw.launch(stream, launch, args, sizes) };
        match turn {
            Some(turn) if turn.is_abandoned() => Err(self.abandoned()),
            _ => done,
        }
    }

    #[cold]
    fn abandoned(&self) -> DeviceError {
        let what = format!("kernel `{}` on {}", self.name, self.device.id());
        DeviceError::Interrupted { what, effect: "arrays that it writes may be incomplete" }
    }

    /// The most work items a block of it may have.
    pub fn max_block(&self) -> u32 {
        self.raw.max_block()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Function {} on {}>", self.name, self.device.id())
    }
}

impl Launch {
    /// At least `range` work items along one axis, in blocks of `block` (a multiple of the SIMD width is chosen when `None`).
    ///
    /// A device whose grid is too small for that gets its largest grid: functions launched this way must stride.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] when `block` is 0 or more than the device or the function allows.
    pub fn over(range: u64, block: Option<u32>, function: &Function) -> Result<Launch> {
        let properties = function.device.properties();
        let limit = function.max_block().min(properties.max_block).max(1);
        let block = match block {
            Some(0) => return Err(invalid(properties, "a block of 0 work items was requested".into())),
            Some(block) if block > limit => {
                let reason = format!("a block of {block} work items was requested, but this kernel allows at most {limit}");
                return Err(invalid(properties, reason));
            }
            Some(block) => block,
            None => limit.min(DEFAULT_BLOCK),
        };
        let blocks = range.div_ceil(u64::from(block)).min(u64::from(properties.max_grid[0]));
        Ok(Launch { range, grid: [blocks as u32, 1, 1], block: [block, 1, 1], shared: 0 })
    }

    /// A grid given block by block.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] when it is more than the device or the function allows.
    pub fn grid(grid: [u32; 3], block: [u32; 3], function: &Function) -> Result<Launch> {
        let properties = function.device.properties();
        let items: u64 = block.iter().map(|&n| u64::from(n)).product();
        let limit = function.max_block().min(properties.max_block).max(1);
        let axis_too_long = (0..3).any(|axis| block[axis] > properties.max_block_dims[axis]);
        if items == 0 || items > u64::from(limit) || axis_too_long {
            let reason = format!(
                "a block of {block:?} was requested, but this kernel allows at most {limit} work items and {:?} along the axes",
                properties.max_block_dims
            );
            return Err(invalid(properties, reason));
        }
        if (0..3).any(|axis| grid[axis] > properties.max_grid[axis]) {
            let reason = format!("a grid of {grid:?} blocks was requested, but the device allows at most {:?}", properties.max_grid);
            return Err(invalid(properties, reason));
        }
        let blocks = grid.iter().try_fold(1u64, |product, &n| product.checked_mul(u64::from(n)));
        let Some(range) = blocks.and_then(|blocks| blocks.checked_mul(items)) else {
            return Err(invalid(properties, format!("a grid of {grid:?} blocks of {block:?} has too many work items")));
        };
        Ok(Launch { range, grid, block, shared: 0 })
    }
}

const DEFAULT_BLOCK: u32 = 256;

fn invalid(properties: &Properties, reason: String) -> DeviceError {
    DeviceError::InvalidLaunch { device: properties.id.to_string(), reason }
}
