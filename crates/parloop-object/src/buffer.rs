//! Buffers: memory of a device in which objects are placed. `buffer/allocation.rs` is what keeps objects alive, `buffer/transfer.rs`
//! the copies between a buffer and the host or another buffer, `buffer/gate.rs` keeps single numbers and moves of the memory apart.

mod allocation;
mod gate;
mod transfer;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parloop_device::forked::{self, Guard, Lock, Signal};
use parloop_device::{Export, GrowableMemory, Memory, Stream};
use parloop_kernel::Context;

use crate::alloc::Allocator;
use crate::error::BufferError;
use crate::types::SLOT;

pub use allocation::Allocation;
use allocation::Owner;
use gate::Gate;

/// The default capacity of a buffer.
pub const DEFAULT_CAPACITY: usize = 1 << 20;

type Result<T, E = BufferError> = std::result::Result<T, E>;

/// Memory of a context's device in which objects are placed. It grows when it must; what is placed in it keeps its offset, and every
/// view of it stays valid. Clones are the same buffer.
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_object::Buffer;
/// let buffer = Buffer::new(&Context::open("cpu")?, 64)?;
/// let offset = buffer.allocate(100)?;
/// buffer.write(offset, b"hello")?;
/// let mut back = [0; 5];
/// buffer.read(offset, &mut back)?;
/// assert_eq!(&back, b"hello");
/// buffer.free(offset, 100)?;
/// assert!(buffer.free(offset, 100).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Buffer {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    memory: GrowableMemory,
    alignment: usize,
    grow_step: Option<usize>,
    state: Lock<State>,
    /// Sent when nobody holds the memory any more.
    let_go: Signal,
    /// Shut while the memory moves.
    gate: Gate,
    /// Whether objects stay until they are freed explicitly.
    keeps_objects: AtomicBool,
}

struct State {
    /// Parts that belong to objects have their allocations as owners.
    allocator: Allocator<Owner>,
    /// How many hold the memory where it is, and how many wait for them to let go, all in the process of this generation: a forked child
    /// has none of the threads of its parent.
    holds: usize,
    waiting: usize,
    generation: u32,
    /// The number of the next object: another may have had the same offset.
    next_number: u64,
}

impl Inner {
    fn new(context: &Context, memory: GrowableMemory, alignment: usize, grow_step: Option<usize>, allocator: Allocator<Owner>) -> Inner {
        let state = Lock::new(State { allocator, holds: 0, waiting: 0, generation: forked::generation(), next_number: 1 });
        let (let_go, gate, keeps_objects) = (Signal::default(), Gate::default(), AtomicBool::new(false));
        Inner { context: context.clone(), memory, alignment, grow_step, state, let_go, gate, keeps_objects }
    }

    fn state(&self) -> Result<Guard<'_, State>> {
        let mut state = self.state.lock().map_err(|_| BufferError::LeftLocked)?;
        if state.generation != forked::generation() {
            (state.holds, state.waiting, state.generation) = (0, 0, forked::generation());
        }
        Ok(state)
    }
}

/// Where in a buffer an object is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Where there is room, at the buffer's alignment.
    Aligned,
    /// Where there is room.
    Packed,
    /// At this offset, which the caller has reserved.
    At(usize),
}

impl Buffer {
    /// A buffer of that many bytes, all zero and all free.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn new(context: &Context, capacity: usize) -> Result<Buffer> {
        Buffer::with_options(context, capacity, SLOT, None)
    }

    /// A buffer whose allocations start at multiples of `alignment`, and which grows by `grow_step` bytes where that is enough.
    ///
    /// # Errors
    /// An alignment that is not a power of two, or when the device is out of memory.
    pub fn with_options(context: &Context, capacity: usize, alignment: usize, grow_step: Option<usize>) -> Result<Buffer> {
        if !alignment.is_power_of_two() {
            return Err(BufferError::Alignment { alignment });
        }
        let buffer = Buffer::uninitialised(context, capacity, alignment, grow_step)?;
        buffer.stream().fill_at_once(&buffer.own_memory(), 0, capacity, 0)?;
        Ok(buffer)
    }

    /// A buffer of just the size of one object, which will be written whole.
    pub(crate) fn for_one(context: &Context, size: usize) -> Result<Buffer> {
        Buffer::uninitialised(context, size, SLOT, None)
    }

    /// A buffer that one object fills, and the allocation of that object.
    pub(crate) fn filled_by_one(context: &Context, size: usize) -> Result<(Buffer, Arc<Allocation>)> {
        let memory = Buffer::memory_of(context, size)?;
        let mut allocation = None;
        let inner = Arc::new_cyclic(|inner| {
            let owner = if size == 0 { Weak::new() } else { inner.clone() };
            let made = Arc::new(Allocation::new(owner, 0, 0, size));
            let allocator = Allocator::taken_whole(size, Owner { number: 0, allocation: Arc::downgrade(&made) });
            allocation = Some(made);
            Inner::new(context, memory, SLOT, None, allocator)
        });
        Ok((Buffer { inner }, allocation.expect("invariant: it was made with the buffer")))
    }

    fn uninitialised(context: &Context, capacity: usize, alignment: usize, grow_step: Option<usize>) -> Result<Buffer> {
        let memory = Buffer::memory_of(context, capacity)?;
        Ok(Buffer { inner: Arc::new(Inner::new(context, memory, alignment, grow_step, Allocator::new(capacity))) })
    }

    fn memory_of(context: &Context, capacity: usize) -> Result<GrowableMemory> {
        if capacity > isize::MAX as usize {
            return Err(BufferError::TooLarge);
        }
        // SAFETY: a buffer makes its memory move under its lock and waits for those who hold the memory where it is.
        Ok(unsafe { context.device().allocate_growable(capacity)? })
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Context {
        &self.inner.context
    }

    fn stream(&self) -> &Stream {
        self.inner.context.stream()
    }

    /// From here on objects in it stay until [`free`](Self::free) is called for them, even if no view of them is left.
    ///
    /// ```
    /// use parloop_kernel::Context;
    /// use parloop_object::{Buffer, Placement};
    /// let buffer = Buffer::new(&Context::open("cpu")?, 64)?;
    /// buffer.keep_objects();
    /// let offset = buffer.place(16, Placement::Aligned)?.offset();
    /// assert_eq!(buffer.free_bytes(), 48);
    /// buffer.free(offset, 16)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_objects(&self) {
        self.inner.keeps_objects.store(true, Ordering::Relaxed);
    }

    /// Whether objects in it stay until they are freed explicitly.
    pub fn keeps_objects(&self) -> bool {
        self.inner.keeps_objects.load(Ordering::Relaxed)
    }

    /// Whether both are the same buffer.
    pub fn same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// A number that no other living buffer has.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.inner) as usize
    }

    /// Its size in bytes, free and taken.
    pub fn capacity(&self) -> usize {
        self.inner.memory.len()
    }

    /// What allocations are aligned to.
    pub fn alignment(&self) -> usize {
        self.inner.alignment
    }

    /// By how much it grows, where that is enough; otherwise it doubles.
    pub fn grow_step(&self) -> Option<usize> {
        self.inner.grow_step
    }

    /// The memory, which follows when it moves.
    ///
    /// # Safety
    /// Every user of the memory [holds](Self::hold) the buffer while using it, and only the buffer moves the memory.
    pub unsafe fn memory(&self) -> Memory {
        self.own_memory()
    }

    /// As [`memory`](Self::memory), for those who hold the buffer, have its lock, or ask only for what the memory is.
    pub(crate) fn own_memory(&self) -> Memory {
        self.inner.memory.memory()
    }

    /// What a kernel receives for the memory currently: see [`GrowableMemory::handle`].
    #[inline]
    pub fn handle(&self) -> u64 {
        self.inner.memory.handle()
    }

    /// Tells the memory that a stream which nothing orders with its freeing will use it.
    pub fn note_foreign_use(&self) {
        self.own_memory().note_foreign_use();
    }

    /// Where it is now, if the host can use it directly.
    #[inline]
    pub fn host_pointer(&self) -> Option<*mut u8> {
        self.inner.memory.host_pointer()
    }

    /// Uses the memory by its address for a moment, without a lock: `work` runs if the host can use the memory directly, the memory is not
    /// moving and no other thread is inside. On `None`, use the slow path, through [`read`](Self::read) and [`write`](Self::write).
    ///
    /// `work` is short and comes back: who moves the memory waits for it.
    #[inline]
    pub fn touch<T>(&self, work: impl FnOnce(*mut u8) -> T) -> Option<T> {
        let _open = self.inner.gate.pass()?;
        self.host_pointer().map(work)
    }

    fn state(&self) -> Result<Guard<'_, State>> {
        self.inner.state()
    }

    /// The free parts, as (start, end), in order; none in a forked child that cannot tell.
    pub fn chunks(&self) -> Vec<(usize, usize)> {
        self.state().map_or_else(|_| Vec::new(), |state| state.allocator.chunks().collect())
    }

    /// The bytes that are free; none in a forked child that cannot tell.
    pub fn free_bytes(&self) -> usize {
        self.state().map_or(0, |state| state.allocator.free_bytes())
    }

    /// Takes `size` bytes at the buffer's alignment.
    ///
    /// # Errors
    /// When it must grow and cannot.
    pub fn allocate(&self, size: usize) -> Result<usize> {
        self.allocate_aligned(size, self.inner.alignment)
    }

    /// Takes `size` bytes at a multiple of `alignment`.
    ///
    /// # Errors
    /// An alignment that is not a power of two; when the buffer must grow and cannot.
    pub fn allocate_aligned(&self, size: usize, alignment: usize) -> Result<usize> {
        if !alignment.is_power_of_two() {
            return Err(BufferError::Alignment { alignment });
        }
        self.allocate_locked(self.state()?, size, alignment).map(|(_, offset)| offset)
    }

    fn allocate_locked<'a>(&'a self, mut state: Guard<'a, State>, size: usize, alignment: usize) -> Result<(Guard<'a, State>, usize)> {
        loop {
            if let Some(offset) = state.allocator.allocate(size, alignment) {
                return Ok((state, offset));
            }
            let needed = size.checked_add(alignment - 1).ok_or(BufferError::TooLarge)?;
            let capacity = state.allocator.capacity();
            let more = if needed > capacity {
                needed
            } else {
                // As many steps at once as are missing after what is free at the end: each one moves the memory.
                let step = self.inner.grow_step.unwrap_or(capacity).max(1);
                let missing = size.saturating_sub(state.allocator.free_at_end());
                step.saturating_mul(missing.div_ceil(step).max(1))
            };
            state = self.grow_locked(state, more)?;
        }
    }

    /// Adds that many bytes.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        self.grow_locked(self.state()?, bytes).map(drop)
    }

    fn grow_locked<'a>(&'a self, mut state: Guard<'a, State>, bytes: usize) -> Result<Guard<'a, State>> {
        let longer = |old: usize| old.checked_add(bytes).filter(|&capacity| capacity <= isize::MAX as usize).ok_or(BufferError::TooLarge);
        if !self.inner.memory.grows_in_place(longer(state.allocator.capacity())?) {
            state = self.wait_for_holds(state)?;
        }
        let old = state.allocator.capacity();
        let capacity = longer(old)?;
        let shut = (!self.inner.memory.grows_in_place(capacity)).then(|| self.inner.gate.shut());
        self.inner.memory.grow(self.stream(), capacity)?;
        drop(shut);
        self.stream().fill_at_once(&self.own_memory(), old, bytes, 0)?;
        state.allocator.grow(capacity);
        Ok(state)
    }

    fn wait_for_holds<'a>(&'a self, mut state: Guard<'a, State>) -> Result<Guard<'a, State>> {
        while state.holds > 0 {
            state.waiting += 1;
            state = self.inner.let_go.wait(state).map_err(|_| BufferError::LeftLocked)?;
            state.waiting -= 1;
        }
        Ok(state)
    }

    /// Keeps the present address good, also when the buffer grows; for views that others hold. Waits for launches that use it, if the
    /// memory must move to where it can grow in place.
    ///
    /// # Errors
    /// [`BufferError::LeftLocked`] in a forked child.
    pub fn export(&self) -> Result<Export> {
        let mut state = self.state()?;
        let mut shut = None;
        if self.inner.memory.export_moves() {
            state = self.wait_for_holds(state)?;
            shut = Some(self.inner.gate.shut());
        }
        let export = self.inner.memory.export()?;
        drop(shut);
        drop(state);
        Ok(export)
    }

    /// Keeps the memory in place as long as the result lives: growth waits. For the duration of a launch.
    pub fn hold(&self) -> Hold {
        self.clone().into_hold()
    }

    /// As [`hold`](Self::hold).
    pub fn into_hold(self) -> Hold {
        self.hold_here();
        Hold { buffer: self }
    }

    pub(crate) fn hold_here(&self) {
        // In a forked child that cannot know its parts, the memory does not grow, and need not be held.
        if let Ok(mut state) = self.state() {
            state.holds += 1;
        }
        self.inner.memory.begin_use();
    }

    pub(crate) fn release(&self) {
        self.inner.memory.end_use();
        let Ok(mut state) = self.state() else { return };
        // What was held before a fork is not counted in the child.
        state.holds = state.holds.saturating_sub(1);
        // Telling nobody would still ask the system.
        if state.holds == 0 && state.waiting > 0 {
            self.inner.let_go.wake_all();
        }
    }

    /// Frees what was allocated. An object there is marked as freed.
    ///
    /// # Errors
    /// Memory that was already freed, or was never allocated in this form.
    pub fn free(&self, offset: usize, size: usize) -> Result<()> {
        let mut state = self.state()?;
        let owner = state.allocator.free(offset, size)?;
        drop(state); // the owner may be dropped here, and would look at the state
        if let Some(owner) = owner.and_then(|owner| owner.allocation.upgrade()) {
            owner.mark_freed();
        }
        Ok(())
    }

    /// Takes all but these parts, given as (start, end) in order; for a buffer restored from its bytes.
    ///
    /// # Errors
    /// Parts that overlap or lie outside; parts taken already.
    #[allow(clippy::result_unit_err)] // there is one thing that can be wrong
    pub fn take_all_but(&self, chunks: &[(usize, usize)]) -> std::result::Result<(), ()> {
        self.state().map_err(|_| ())?.allocator.take_all_but(chunks)
    }

    /// Takes memory for an object, which is freed with the last clone of what is returned.
    ///
    /// # Errors
    /// When the buffer must grow and cannot; a given offset outside of it.
    pub fn place(&self, size: usize, placement: Placement) -> Result<Arc<Allocation>> {
        let alignment = match placement {
            // Words and numbers of objects are at whole slots whatever the buffer's alignment.
            Placement::Aligned => self.inner.alignment.max(SLOT),
            Placement::Packed => 1,
            Placement::At(offset) => {
                self.check("an object", offset, size)?;
                return Ok(Arc::new(Allocation::new(Weak::new(), 0, offset, size)));
            }
        };
        let (mut state, offset) = self.allocate_locked(self.state()?, size, alignment)?;
        let buffer = if size == 0 { Weak::new() } else { Arc::downgrade(&self.inner) };
        let number = state.next_number;
        let allocation = Arc::new(Allocation::new(buffer, number, offset, size));
        if size > 0 {
            state.next_number += 1;
            state.allocator.set_owner(offset, Owner { number, allocation: Arc::downgrade(&allocation) });
        }
        Ok(allocation)
    }

    /// The allocation of the object in which this offset lies.
    pub fn owner(&self, offset: usize) -> Option<Arc<Allocation>> {
        let state = self.state().ok()?;
        let (_, _, owner) = state.allocator.holder(offset)?;
        owner.and_then(|owner| owner.allocation.upgrade())
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Buffer {} of {} bytes free on {}>", self.free_bytes(), self.capacity(), self.context().device().id())
    }
}

/// A hold on a buffer's memory; see [`Buffer::hold`].
pub struct Hold {
    buffer: Buffer,
}

impl Hold {
    /// The buffer that is held.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.buffer.release();
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("buffer")
    }
}
