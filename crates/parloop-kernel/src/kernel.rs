//! Kernels: one function of a compiled program, its argument check and its launch.

use std::any::Any;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::Arc;

use parloop_device::{DType, DeviceKind, Function, KeepAlive, Launch, Memory, Stream};
use smallvec::SmallVec;

use crate::arg::{Arg, Checker, PlacedObject, Scalar, Slot};
use crate::check::{Check, Checked};
use crate::count::Count;
use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::signature::{ParamType, Pointee, Signature};
use crate::staging::{HostBytes, Staging};

/// A kernel of a compiled program, ready to launch. Clones are the same kernel.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<Inner>,
}

/// What a program knows of a kernel.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) signature: Signature,
    pub(crate) function: Function,
    /// Set in checked mode.
    pub(crate) check: Option<Arc<Check>>,
}

struct Inner {
    compiled: Compiled,
    stream: Stream,
    grid: Grid,
    block: Option<u32>,
    /// Bytes of each argument of a launch: those of the slots, with range and returned value on a CPU, and on OpenCL with two for a
    /// pointer and with the record of checks.
    sizes: SmallVec<[usize; 20]>,
    /// The argument whose value is the range, when it is that simple.
    range_argument: Option<usize>,
    /// Whether the grid is derived from the loops.
    grid_is_loops: bool,
    is_cpu: bool,
    /// Whether a pointer is a buffer and an offset, which are two arguments.
    has_pairs: bool,
}

/// A CPU entry also takes the whole range and a place for the returned value.
const CPU_SLOTS: usize = 2;
/// Larger grids are rejected.
const MOST_ITEMS: u64 = 1 << 48;

/// Where the arguments of a launch are.
type Pointers = SmallVec<[*mut c_void; 20]>;

/// Arguments with room for what the launch adds.
pub type Slots = SmallVec<[Slot; 20]>;

impl Kernel {
    pub(crate) fn new(mut compiled: Compiled, stream: Stream, grid: Grid, block: Option<u32>) -> Result<Kernel> {
        let kind = compiled.function.device().kind();
        let (is_cpu, has_pairs) = (kind == DeviceKind::Cpu, kind == DeviceKind::OpenCl);
        let size = |ty: &ParamType| match ty {
            ParamType::Scalar(dtype) => (dtype.size(), 1),
            ParamType::Pointer { .. } => (size_of::<u64>(), if has_pairs { 2 } else { 1 }),
        };
        if has_pairs && !compiled.signature.is_recorded {
            // It has no check that could fail, and no parameter for the record.
            compiled.check = None;
        }
        let signature = &compiled.signature;
        let sizes = signature.params.iter().map(|param| size(&param.ty)).flat_map(|(size, count)| std::iter::repeat_n(size, count));
        let added = if is_cpu { CPU_SLOTS } else { 0 };
        let sizes = sizes.chain(std::iter::repeat_n(size_of::<Slot>(), added));
        let record = compiled.check.iter().filter(|_| has_pairs).map(|_| size_of::<u64>());
        let sizes = sizes.chain(record).collect();
        let range_argument = match (&grid, &*signature.loops) {
            (Grid::Argument(name), _) => Some(integer_argument(signature, name)?),
            (Grid::Auto, [Count::Param(index)]) => Some(*index),
            _ => None,
        };
        let grid_is_loops = grid == Grid::Auto;
        let inner = Inner { compiled, stream, grid, block, sizes, range_argument, grid_is_loops, is_cpu, has_pairs };
        Ok(Kernel { inner: Arc::new(inner) })
    }

    /// What it takes and returns.
    pub fn signature(&self) -> &Signature {
        &self.inner.compiled.signature
    }

    /// The stream it is launched on.
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }

    /// The compiled function.
    pub fn function(&self) -> &Function {
        &self.inner.compiled.function
    }

    /// The grid it is launched with, and the work items of a block.
    pub(crate) fn grid(&self) -> (&Grid, Option<u32>) {
        (&self.inner.grid, self.inner.block)
    }

    /// The same kernel with another grid or block.
    ///
    /// # Errors
    /// [`KernelError::Grid`] when the grid names no integer argument.
    pub fn with_grid(&self, grid: Grid, block: Option<u32>) -> Result<Kernel> {
        Kernel::new(self.inner.compiled.clone(), self.inner.stream.clone(), grid, block)
    }

    /// The same kernel, launched on another stream of its device.
    ///
    /// # Errors
    /// [`parloop_device::DeviceError::OtherDevice`].
    pub fn on(&self, stream: &Stream) -> Result<Kernel> {
        let Inner { compiled, grid, block, .. } = &*self.inner;
        if !stream.device().same(self.function().device()) {
            return Err(other_device(self.function(), stream.device().id().to_string()));
        }
        Kernel::new(compiled.clone(), stream.clone(), grid.clone(), *block)
    }

    /// Checks the arguments, launches, and for host data on a device waits and copies back. Nothing runs when an argument is wrong.
    ///
    /// # Errors
    /// Which argument does not fit, or why the device failed.
    pub fn call(&self, args: &mut [Arg<'_>]) -> Result<Option<Scalar>> {
        self.call_as(args, |kernel, slots| kernel.items(slots))
    }

    /// [`call`](Self::call) over this many items, whatever grid the kernel has.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_over(&self, args: &mut [Arg<'_>], items: Items) -> Result<Option<Scalar>> {
        self.call_as(args, |_, _| Ok(items))
    }

    fn call_as(&self, args: &mut [Arg<'_>], items: impl FnOnce(&Kernel, &Slots) -> Result<Items>) -> Result<Option<Scalar>> {
        if self.inner.stream.is_recorded() {
            return self.record_call(args, items);
        }
        let mut prepared = self.prepare(args)?;
        let items = items(self, &prepared.slots)?;
        // SAFETY: `prepare` checked the arguments against the signature; memory and host data are borrowed until this returns, objects
        // are held where they are until then, and staged host data is waited for in `copy_back`.
        let returned = unsafe { self.launch_over(&mut prepared.slots, items)? };
        prepared.staging.copy_back(&self.inner.stream, args)?;
        Ok(returned)
    }

    /// Adds the call to the recording that is in progress.
    #[cold]
    fn record_call(&self, args: &mut [Arg<'_>], items: impl FnOnce(&Kernel, &Slots) -> Result<Items>) -> Result<Option<Scalar>> {
        if let Some(index) = self.host_argument(args) {
            self.refuse_host_data(index)?;
        }
        let (mut slots, kept) = self.keep(args)?;
        let items = items(self, &slots)?;
        // SAFETY: `keep` checked the arguments against the signature, and keeps the memory behind them where it is.
        unsafe { self.record_over(&mut slots, items, vec![Arc::new(kept)])? };
        Ok(None)
    }

    /// Fails while the stream is recorded: that argument is host data, which the replay could not keep.
    ///
    /// # Errors
    /// [`parloop_device::DeviceError::NotRecordable`].
    pub fn refuse_host_data(&self, index: usize) -> Result<()> {
        let Signature { name, params, .. } = self.signature();
        let what = || format!("host data for argument `{}` of kernel `{name}`", params[index].name);
        Ok(self.inner.stream.refuse_recording(what, Some("pass an array of the context"))?)
    }

    /// The first argument that is borrowed from the host.
    fn host_argument(&self, args: &[Arg<'_>]) -> Option<usize> {
        let is_host = |arg: &Arg<'_>| matches!(arg, Arg::Host { .. } | Arg::HostMut { .. } | Arg::Text(_));
        args.iter().take(self.signature().params.len()).position(is_host)
    }

    /// Checks the arguments once for many calls. Host data cannot be bound on a device that would have to copy it each time.
    ///
    /// # Errors
    /// As [`call`](Self::call), and for host data on a GPU.
    pub fn bind(&self, args: &mut [Arg<'_>]) -> Result<BoundKernel> {
        if let Some(index) = self.host_argument(args) {
            let checker = Checker { signature: self.signature(), index };
            return Err(checker.wrong_type("borrowed host data", "a bound call keeps device arrays and scalars only"));
        }
        let (slots, kept) = self.keep(args)?;
        Ok(BoundKernel { kernel: self.clone(), slots, kept: Arc::new(kept) })
    }

    /// The slots of arguments none of which is host data, and what keeps the memory in them alive and where it is.
    fn keep(&self, args: &mut [Arg<'_>]) -> Result<(Slots, Owners)> {
        // The slots have the addresses of this moment, so that growable memory has to stay where it is.
        let mut kept = Owners::new();
        for arg in args.iter() {
            match arg {
                Arg::Memory { memory, .. } | Arg::Object { memory, .. } => kept.push(Box::new(((*memory).clone(), memory.export()?))),
                Arg::Placed { object, .. } => kept.push(object.keep()?),
                _ => {}
            }
        }
        Ok((self.prepare(args)?.slots, kept))
    }

    fn prepare<'a>(&self, args: &mut [Arg<'a>]) -> Result<Prepared<'a>> {
        let signature = &self.inner.compiled.signature;
        if args.len() != signature.params.len() {
            return Err(wrong_count(signature, args.len()));
        }
        let mut prepared = Prepared { slots: Slots::new(), staging: Staging::default(), holds: Holds::default() };
        for (index, arg) in args.iter_mut().enumerate() {
            let checker = Checker { signature, index };
            let slot = match arg {
                Arg::Scalar(value) => checker.scalar(*value)?,
                Arg::Memory { memory, dtype, writable } => {
                    checker.elements(*dtype, *writable)?;
                    self.argument_slot(index, memory, 0)?
                }
                Arg::Object { memory, offset, class, writable } => {
                    checker.object(class, *writable)?;
                    self.argument_slot(index, memory, *offset)?
                }
                Arg::Placed { object, writable } => {
                    checker.object(object.class(), *writable)?;
                    prepared.holds.hold(*object);
                    if !object.is_alive() {
                        return Err(checker.freed(object.class()));
                    }
                    self.argument_slot(index, object.memory(), object.offset())?
                }
                Arg::Host { bytes, dtype } => {
                    checker.elements(Some(*dtype), false)?;
                    // SAFETY: borrowed by the argument, which lives until the call is over.
                    let host = unsafe { HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len(), false) };
                    self.host_slot(index, host, &mut prepared.staging)?
                }
                Arg::HostMut { bytes, dtype } => {
                    checker.elements(Some(*dtype), true)?;
                    let written = signature.params[index].ty.is_written();
                    // SAFETY: as above, exclusively.
                    let host = unsafe { HostBytes::new(bytes.as_mut_ptr(), bytes.len(), written) };
                    self.host_slot(index, host, &mut prepared.staging)?
                }
                Arg::Text(text) => self.text_slot(&checker, text, &mut prepared.staging)?,
                Arg::Null => match signature.params[index].ty {
                    ParamType::Pointer { .. } => [0, 0],
                    ParamType::Scalar(_) => return Err(checker.wrong_type("the null pointer", "pass a value")),
                },
            };
            prepared.slots.push(slot);
        }
        Ok(prepared)
    }

    /// The slot of host data: its own address on a CPU, a staged copy elsewhere. The same data given twice is staged once.
    ///
    /// # Errors
    /// [`KernelError::Overlap`] for data that partially overlaps other data, or when the device is out of memory; while the stream is
    /// recorded [`parloop_device::DeviceError::NotRecordable`] for data that would be staged.
    pub fn host_slot(&self, index: usize, host: HostBytes, staging: &mut Staging) -> Result<Slot> {
        if self.is_cpu() || host.is_empty() {
            return Ok([host.address(), 0]);
        }
        self.refuse_host_data(index)?;
        self.pointer_slot(staging.stage(self.signature(), self.stream(), index, host)?, 0)
    }

    /// [`pointer_slot`](Self::pointer_slot) for the argument of that index, which errors name.
    ///
    /// # Errors
    /// [`KernelError::OtherDevice`], or [`parloop_device::DeviceError::OutOfBounds`].
    #[inline]
    pub fn argument_slot(&self, index: usize, memory: &Memory, offset: usize) -> Result<Slot> {
        let named = |error: KernelError| error.of_argument(&self.signature().name, &self.signature().params[index].name);
        self.pointer_slot(memory, offset).map_err(named)
    }

    /// The slot of a pointer to the byte `offset` of device memory: its address, or on OpenCL the buffer and the offset in it.
    ///
    /// # Errors
    /// When the memory is of another device, or has no such byte ([`parloop_device::DeviceError::OutOfBounds`]); its end is one.
    #[inline]
    pub fn pointer_slot(&self, memory: &Memory, offset: usize) -> Result<Slot> {
        if !self.can_use(memory) || offset > memory.len() {
            return Err(self.no_pointer(memory, offset));
        }
        if self.inner.stream.is_foreign() {
            memory.note_foreign_use();
        }
        Ok(if self.inner.has_pairs { [memory.handle(), (memory.offset() + offset) as u64] } else { [memory.handle() + offset as u64, 0] })
    }

    #[inline]
    fn can_use(&self, memory: &Memory) -> bool {
        // CPU devices differ in their threads only: their memory is the host's.
        let is_host = || self.is_cpu() && memory.device().kind() == DeviceKind::Cpu;
        memory.device().same(self.function().device()) || is_host()
    }

    /// Why there is no pointer to that byte.
    #[cold]
    fn no_pointer(&self, memory: &Memory, offset: usize) -> KernelError {
        match self.can_use(memory) {
            true => parloop_device::DeviceError::OutOfBounds { operation: "argument", offset, len: 0, size: memory.len() }.into(),
            false => other_device(self.function(), memory.device().id().to_string()),
        }
    }

    fn text_slot(&self, checker: &Checker<'_>, text: &CStr, staging: &mut Staging) -> Result<Slot> {
        match &self.signature().params[checker.index].ty {
            ParamType::Pointer { to: Pointee::Char | Pointee::Void, constant: true } => {}
            ParamType::Pointer { to: Pointee::Scalar(DType::I8 | DType::U8), constant: true } => {}
            _ => return Err(checker.wrong_type("text", "declare it `const char *`")),
        }
        let bytes = text.to_bytes_with_nul();
        // SAFETY: borrowed by the argument, which lives until the call is over.
        let host = unsafe { HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len(), false) };
        self.host_slot(checker.index, host, staging)
    }

    /// Whether it runs on a CPU, where host data is used in place.
    pub fn is_cpu(&self) -> bool {
        self.inner.is_cpu
    }

    /// Whether it was compiled in checked mode.
    pub fn is_checked(&self) -> bool {
        self.inner.compiled.check.is_some()
    }

    /// Launches with slots that were checked, over the kernel's own grid.
    ///
    /// # Errors
    /// When the grid cannot be known or is not allowed, or the device fails.
    ///
    /// # Safety
    /// One slot for each parameter, as its type demands; addresses and memory in them are live until the work is done.
    pub unsafe fn launch(&self, slots: &mut Slots) -> Result<Option<Scalar>> {
        let items = self.items(slots)?;
        // SAFETY: the caller upholds the same contract.
        unsafe { self.launch_over(slots, items) }
    }

    /// Launches with slots that were checked, over this many items.
    ///
    /// # Errors
    /// When the device fails; [`KernelError::Check`] in checked mode.
    ///
    /// # Safety
    /// As [`launch`](Self::launch).
    #[inline]
    pub unsafe fn launch_over(&self, slots: &mut Slots, items: Items) -> Result<Option<Scalar>> {
        match &self.inner.compiled.check {
            // SAFETY: the caller upholds the same contract.
            None => unsafe { self.launch_unchecked(slots, items) },
            Some(check) => {
                let _turn = check.turn();
                // SAFETY: as above.
                let returned = unsafe { self.launch_unchecked(slots, items)? };
                check.take(&self.inner.stream, &self.signature().name).map(|()| returned)
            }
        }
    }

    /// Adds a launch with slots that were checked to the recording that is in progress, over the kernel's own grid.
    ///
    /// # Errors
    /// As [`record_over`](Self::record_over), and when the grid cannot be known or is not allowed.
    ///
    /// # Safety
    /// As [`record_over`](Self::record_over).
    pub unsafe fn record(&self, slots: &mut Slots, kept: Vec<KeepAlive>) -> Result<()> {
        let items = self.items(slots)?;
        // SAFETY: the caller upholds the same contract.
        unsafe { self.record_over(slots, items, kept) }
    }

    /// Adds a launch with slots that were checked to the recording that is in progress on this kernel's stream, over this many items.
    /// `kept` lives as long as the replay. Without a recording it fails, as launches of slots do while there is one: see
    /// [`Context::is_recording`](crate::Context::is_recording).
    ///
    /// # Errors
    /// [`parloop_device::DeviceError::NotRecordable`] for a kernel that returns a value, and
    /// [`parloop_device::DeviceError::NotRecording`].
    ///
    /// # Safety
    /// One slot for each parameter, as its type demands; `kept` keeps addresses and memory in them alive and where they are.
    pub unsafe fn record_over(&self, slots: &mut Slots, items: Items, mut kept: Vec<KeepAlive>) -> Result<()> {
        let Compiled { signature, check, function } = &self.inner.compiled;
        let stream = &self.inner.stream;
        if signature.returns.is_some() {
            let what = || format!("kernel `{}`, which returns a value,", signature.name);
            stream.refuse_recording(what, Some("let it write to an array"))?;
        }
        kept.extend(check.iter().map(|check| -> KeepAlive { Arc::new(Checked { check: check.clone(), kernel: signature.name.clone() }) }));
        let record = |launch: &Launch, pointers: &Pointers, sizes: &[usize]| {
            // SAFETY: one pointer for each parameter, each at a slot of the right type, which nothing writes to since no value is
            // returned; the caller guarantees the rest.
            unsafe { stream.record_launch(function, launch, pointers, sizes, kept) }
        };
        self.launch_through(slots, items, record).map(drop)
    }

    /// # Safety
    /// As [`launch`](Self::launch).
    unsafe fn launch_unchecked(&self, slots: &mut Slots, items: Items) -> Result<Option<Scalar>> {
        let inner = &*self.inner;
        self.launch_through(slots, items, |launch, pointers, sizes| {
            // SAFETY: one pointer for each parameter (and on a CPU for range and result, as the generated entry expects), each at a
            // slot of the right type; the caller guarantees the rest.
            unsafe { inner.stream.launch(&inner.compiled.function, launch, pointers, sizes) }
        })
    }

    /// Finds shape and arguments of a launch, gives them to `queue`, and takes what is returned.
    #[inline]
    fn launch_through(
        &self,
        slots: &mut Slots,
        items: Items,
        queue: impl FnOnce(&Launch, &Pointers, &[usize]) -> parloop_device::Result<()>,
    ) -> Result<Option<Scalar>> {
        let inner = &*self.inner;
        let count = inner.compiled.signature.params.len();
        debug_assert_eq!(slots.len(), count);
        let items = if inner.grid_is_loops { items } else { self.covering(slots, items)? };
        // What has no loops, what returns a value of all of them, and loops that cannot be cut alike, are done in one call.
        let undivided = inner.compiled.signature.loops.is_empty()
            || inner.compiled.signature.returns.is_some()
            || !inner.compiled.signature.loops_align;
        let nothing = inner.compiled.signature.loops.is_empty() && items == Items::Line(0);
        let range = match items {
            _ if undivided && self.is_cpu() && !nothing => 1,
            Items::Line(items) => items,
            Items::Axes([x, y, z]) | Items::Blocks { grid: [x, y, z], .. } => x.saturating_mul(y).saturating_mul(z),
        };
        if range == 0 {
            return Ok(None);
        }
        if range > MOST_ITEMS {
            return Err(self.grid_error(format!("{range} work items are too many; at most 2**48 can be launched at once")));
        }
        // Loops are cut along one axis: items along others would do them again.
        let items = if inner.compiled.signature.loops.is_empty() { items } else { Items::Line(range) };
        if self.is_cpu() {
            slots.extend([[range, 0]; CPU_SLOTS]);
        }
        let mut pointers = Pointers::new();
        if inner.has_pairs {
            self.pair(slots, &mut pointers);
        } else {
            pointers.extend(slots.iter_mut().map(|slot| slot.as_mut_ptr().cast()));
        }
        let queue = |launch| queue(&launch, &pointers, &inner.sizes).map_err(KernelError::from);
        let result = self.shape(items, range).and_then(queue);
        let returned = if self.is_cpu() { slots.pop() } else { None };
        slots.truncate(count);
        result?;
        Ok(inner.compiled.signature.returns.as_ref().zip(returned).map(|(ty, slot)| match ty {
            ParamType::Scalar(dtype) => decode(slot, *dtype),
            ParamType::Pointer { .. } => Scalar::Address(slot[0]),
        }))
    }

    /// Where each argument is, with both words of a pointer.
    #[inline(never)]
    fn pair(&self, slots: &mut Slots, pointers: &mut Pointers) {
        for (slot, param) in slots.iter_mut().zip(&self.inner.compiled.signature.params) {
            let words = slot.as_mut_ptr();
            pointers.push(words.cast());
            if let ParamType::Pointer { .. } = param.ty {
                pointers.push(words.wrapping_add(1).cast());
            }
        }
        pointers.extend(self.inner.compiled.check.as_ref().map(|check| check.argument()));
    }

    fn shape(&self, items: Items, range: u64) -> Result<Launch> {
        let inner = &*self.inner;
        if self.is_cpu() {
            return Ok(Launch { range, grid: [1, 1, 1], block: [1, 1, 1], shared: 0 });
        }
        match items {
            Items::Line(items) => {
                let mut launch = Launch::over(items, inner.block, &inner.compiled.function)?;
                if inner.block.is_none() && items < u64::from(launch.block[0]) {
                    // A block chosen by us holds no more items than were requested: a kernel without loops runs once.
                    launch.block[0] = items as u32;
                }
                Ok(launch)
            }
            Items::Axes(axes) => {
                let block = axes_block(axes, inner.block.unwrap_or(256).min(inner.compiled.function.max_block()));
                let mut grid = [1; 3];
                for axis in 0..3 {
                    let blocks = axes[axis].div_ceil(u64::from(block[axis]));
                    grid[axis] = u32::try_from(blocks).map_err(|_| self.grid_error(format!("{axes:?} work items are too many")))?;
                }
                Ok(Launch::grid(grid, block, &inner.compiled.function)?)
            }
            Items::Blocks { grid: blocks, block } => {
                let mut grid = [1; 3];
                for axis in 0..3 {
                    grid[axis] = u32::try_from(blocks[axis]).map_err(|_| self.grid_error(format!("{blocks:?} blocks are too many")))?;
                }
                Ok(Launch::grid(grid, block, &inner.compiled.function)?)
            }
        }
    }

    /// How many items these arguments mean.
    fn items(&self, slots: &Slots) -> Result<Items> {
        let inner = &*self.inner;
        if let Some(index) = inner.range_argument {
            let value = self.integer(slots, index).map_or(0, |(value, _)| value);
            // The loop uses its count as a signed 64-bit integer.
            let value = if inner.grid_is_loops { i128::from(value as i64) } else { value };
            return Ok(Items::Line(value.max(0) as u64));
        }
        match &inner.grid {
            Grid::Items(items) => Ok(Items::Line(*items)),
            Grid::Axes(axes) => Ok(Items::Axes(*axes)),
            Grid::Argument(name) => Err(self.grid_error(format!("`{name}` is not an integer argument"))),
            Grid::Auto => Ok(Items::Line(self.loop_items(slots)?.unwrap_or_else(|| self.filling_range()))),
        }
    }

    /// The largest count of the kernel's loops, one without loops; `None` when only the device code knows it.
    fn loop_items(&self, slots: &Slots) -> Result<Option<u64>> {
        let argument = |index: usize| self.integer(slots, index);
        let mut most = None;
        for count in &self.inner.compiled.signature.loops {
            let items = match (count, count.evaluate(&argument)) {
                (Count::Unknown, _) => return Ok(None),
                (_, Some(items)) => items.max(0) as u64,
                (_, None) => return Err(self.grid_error("the count of a loop cannot be computed from these arguments".into())),
            };
            most = most.max(Some(items));
        }
        Ok(Some(most.unwrap_or(1)))
    }

    /// Iterations are done only as far as the grid goes, so that a grid given by hand is made large enough for the loops.
    fn covering(&self, slots: &Slots, items: Items) -> Result<Items> {
        let nothing = matches!(items, Items::Line(0)) || matches!(items, Items::Axes(axes) if axes.contains(&0));
        if nothing || self.inner.compiled.signature.loops.is_empty() {
            return Ok(items);
        }
        let counted = self.loop_items(slots)?.unwrap_or(0);
        Ok(match items {
            Items::Line(items) => Items::Line(items.max(counted)),
            Items::Axes([x, y, z]) => Items::Axes([x.max(counted), y, z]),
            Items::Blocks { .. } => return Err(self.grid_error("a grid of blocks was given for a kernel with VECTORIZE_OVER loops".into())),
        })
    }

    /// For loops whose count only the device code knows: enough items to keep the device busy. Loops cover any count.
    fn filling_range(&self) -> u64 {
        let units = u64::from(self.inner.compiled.function.device().properties().compute_units);
        if self.is_cpu() { units * 64 } else { units * 2048 }
    }

    fn integer(&self, slots: &Slots, index: usize) -> Option<(i128, DType)> {
        let ParamType::Scalar(dtype) = self.inner.compiled.signature.params[index].ty else { return None };
        match decode(slots[index], dtype) {
            Scalar::Int(value) => Some((value, dtype)),
            _ => None,
        }
    }

    fn grid_error(&self, reason: String) -> KernelError {
        KernelError::Grid { kernel: self.inner.compiled.signature.name.clone(), reason }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Kernel {} on {}>", self.signature(), self.inner.compiled.function.device().id())
    }
}

/// How many items a launch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// This many, along one axis.
    Line(u64),
    /// This many along each axis.
    Axes([u64; 3]),
    /// On a GPU: this many blocks along each axis, each of this many items. For kernels without `VECTORIZE_OVER` loops, which compute their own
    /// indices in the grid.
    Blocks {
        /// Blocks along each axis.
        grid: [u64; 3],
        /// Work items of a block along each axis.
        block: [u32; 3],
    },
}

struct Prepared<'a> {
    slots: Slots,
    staging: Staging,
    holds: Holds<'a>,
}

/// Objects that stay where they are as long as this lives.
#[derive(Default)]
struct Holds<'a>(SmallVec<[&'a dyn PlacedObject; 2]>);

impl<'a> Holds<'a> {
    fn hold(&mut self, object: &'a dyn PlacedObject) {
        object.hold();
        self.0.push(object);
    }
}

impl Drop for Holds<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|object| object.release());
    }
}

/// Memory that must live and stay where it is.
type Owners = Vec<Box<dyn Any + Send + Sync>>;

/// A kernel bound to its arguments, ready for repeated launches.
pub struct BoundKernel {
    kernel: Kernel,
    slots: Slots,
    kept: Arc<Owners>,
}

impl BoundKernel {
    /// Launches it, or adds it to the recording that is in progress.
    ///
    /// # Errors
    /// When the device fails.
    pub fn call(&mut self) -> Result<Option<Scalar>> {
        // SAFETY: the slots were checked when they were bound, and the memory in them is kept alive where it is by `kept`.
        unsafe {
            if self.kernel.inner.stream.is_recorded() {
                return self.kernel.record(&mut self.slots, vec![self.kept.clone()]).map(|()| None);
            }
            self.kernel.launch(&mut self.slots)
        }
    }
}

impl fmt::Debug for BoundKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<bound {:?}>", self.kernel)
    }
}

/// The value in a slot.
pub fn decode(slot: Slot, dtype: DType) -> Scalar {
    use parloop_device::Complex64;
    let bits = slot[0];
    match dtype {
        DType::Bool => Scalar::Bool(bits & 0xff != 0),
        DType::I8 => Scalar::Int((bits as i8).into()),
        DType::I16 => Scalar::Int((bits as i16).into()),
        DType::I32 => Scalar::Int((bits as i32).into()),
        DType::I64 => Scalar::Int((bits as i64).into()),
        DType::U8 => Scalar::Int((bits as u8).into()),
        DType::U16 => Scalar::Int((bits as u16).into()),
        DType::U32 => Scalar::Int((bits as u32).into()),
        DType::U64 => Scalar::Int(bits.into()),
        DType::F32 => Scalar::Float(f32::from_bits(bits as u32).into()),
        DType::F64 => Scalar::Float(f64::from_bits(bits)),
        DType::C64 => Scalar::Complex(Complex64::new(f32::from_bits(bits as u32).into(), f32::from_bits((bits >> 32) as u32).into())),
        DType::C128 => Scalar::Complex(Complex64::new(f64::from_bits(bits), f64::from_bits(slot[1]))),
    }
}

/// The wrong number of arguments was given.
pub fn wrong_count(signature: &Signature, given: usize) -> KernelError {
    let (kernel, expected) = (signature.name.clone(), signature.params.len());
    KernelError::WrongCount { kernel, expected, given, signature: signature.params_text() }
}

fn other_device(function: &Function, found: String) -> KernelError {
    let expected = function.device().id().to_string();
    parloop_device::DeviceError::OtherDevice { operation: "launch", expected, found }.into()
}

fn integer_argument(signature: &Signature, name: &str) -> Result<usize> {
    let index = signature.position(name);
    let is_integer = |index: &usize| matches!(signature.params[*index].ty, ParamType::Scalar(dtype) if dtype.is_integer());
    index.filter(is_integer).ok_or_else(|| KernelError::Grid {
        kernel: signature.name.clone(),
        reason: format!("`{name}` is not an integer argument of {}", signature.params_text()),
    })
}

/// A block for several axes: the first axis as long as it is useful, the rest for the others.
fn axes_block(axes: [u64; 3], limit: u32) -> [u32; 3] {
    let mut block = [1; 3];
    let mut left = limit.max(1);
    for axis in 0..3 {
        let wanted = if axis == 0 { 32 } else { 16 };
        let len = left.min(wanted).min(u32::try_from(axes[axis].max(1)).unwrap_or(u32::MAX)).max(1);
        block[axis] = len;
        left /= len;
    }
    block
}
