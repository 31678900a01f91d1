//! The copies of data on the host and on devices, and which of them are up to date.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::slice;
use std::sync::{Arc, Weak};

use parloop_device::forked::{Guard, LeftLocked, Lock, Turn, Turns};
use parloop_device::{DType, Device, DeviceError, Element, Memory, as_bytes, as_bytes_mut, refuse_recording};
use parloop_kernel::{BeforeReplay, Context, KernelError};
use smallvec::SmallVec;

use crate::Result;
use crate::error::MeshError;

mod peek;

/// The memory order of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Row by row: those of an element side by side.
    #[default]
    Rows,
    /// Column by column: each component of all elements side by side.
    Columns,
}

/// What owns host memory that a table shares.
type Owner = Box<dyn Any + Send + Sync>;

/// A table of numbers: rows of `count` numbers each. The host has a copy of it row by row; each context that used it may have another.
/// Every write makes the other copies stale; they are updated lazily. Clones are the same table.
#[derive(Clone)]
pub struct Storage {
    inner: Arc<Inner>,
}

struct Inner {
    dtype: DType,
    rows: usize,
    count: usize,
    host: Memory,
    /// What owns the host's memory, when it is not ours.
    owner: Option<Owner>,
    state: Lock<State>,
    /// Readers and writers take turns.
    turns: Arc<Turns>,
    /// Shared with all external writers.
    lent: Arc<()>,
}

/// Permission for external code to write to a table at any time, as long as it lives.
#[derive(Debug)]
pub struct Lent {
    _to: Arc<()>,
}

#[derive(Default)]
struct State {
    /// Counts the writes.
    version: u64,
    /// The version that the host has.
    host: u64,
    /// Whether the values are still the initial zeros.
    are_zeros: bool,
    /// The version at which ghosts had the numbers of their owners.
    ghosts: u64,
    /// Whether an array of the program may have been left with the right to write.
    was_lent: bool,
    /// Whether the data was replaced by its local part when the set was distributed.
    is_replaced: bool,
    copies: SmallVec<[Copy; 1]>,
}

impl State {
    /// The version of a write.
    fn next_version(&mut self) -> u64 {
        self.are_zeros = false;
        self.version += 1;
        self.version
    }
}

/// What a context has, or will have. It is never removed: replays use the memory, and code is made for the layout.
struct Copy {
    context: Context,
    layout: Layout,
    /// Allocated when it is first used.
    memory: Option<Memory>,
    version: u64,
}

impl Storage {
    /// Zeros.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn zeros(dtype: DType, rows: usize, count: usize) -> Result<Storage> {
        let storage = Storage::allocated(dtype, rows, count)?;
        storage.state()?.are_zeros = true;
        Ok(storage)
    }

    fn allocated(dtype: DType, rows: usize, count: usize) -> Result<Storage> {
        let bytes = rows.checked_mul(count).and_then(|numbers| numbers.checked_mul(dtype.size()));
        let bytes = bytes.ok_or(MeshError::TooLarge { rows, count })?;
        let cpu = Device::open("cpu").map_err(KernelError::from)?;
        let host = cpu.allocate_zeroed(bytes).map_err(KernelError::from)?;
        Ok(Storage::around(dtype, rows, count, host, None))
    }

    /// These numbers, row by row.
    ///
    /// # Errors
    /// When memory cannot be allocated, or the length does not match.
    pub fn with_values<T: Element>(values: &[T], rows: usize, count: usize) -> Result<Storage> {
        let storage = Storage::allocated(T::DTYPE, rows, count)?;
        storage.check_length(values.len())?;
        storage.write_host(as_bytes(values))?;
        Ok(storage)
    }

    /// The numbers that `fill` leaves, row by row; it gets zeros. What it returns is returned beside them.
    ///
    /// # Errors
    /// When memory cannot be allocated, and those of `fill`.
    pub(crate) fn filled<T: Element, R>(rows: usize, count: usize, fill: impl FnOnce(&mut [T]) -> Result<R>) -> Result<(Storage, R)> {
        let storage = Storage::allocated(T::DTYPE, rows, count)?;
        let numbers = match storage.inner.host.host_pointer() {
            // SAFETY: this memory has `len` numbers, which are zeros, is aligned for every type of number, and belongs to this function alone.
            Some(pointer) => unsafe { slice::from_raw_parts_mut(pointer.cast(), storage.len()) },
            // There are none.
            None => &mut [],
        };
        let left = fill(numbers)?;
        Ok((storage, left))
    }

    /// The numbers whose bytes these are, row by row.
    pub(crate) fn with_bytes(dtype: DType, rows: usize, count: usize, bytes: &[u8]) -> Result<Storage> {
        let storage = Storage::allocated(dtype, rows, count)?;
        storage.write_host(bytes)?;
        Ok(storage)
    }

    /// Numbers in the host memory of someone else, which `owner` keeps alive. They are shared, not copied. Tables of the same numbers in the
    /// same memory are one table, so that a device which has memory of its own has one copy of them.
    ///
    /// # Errors
    /// [`MeshError::Length`] when it is too small.
    pub fn shared(dtype: DType, rows: usize, count: usize, host: Memory, owner: Box<dyn Any + Send + Sync>) -> Result<Storage> {
        Storage::shared_where(dtype, rows, count, host, owner, &|_| true)
    }

    /// As [`shared`](Self::shared), but a table whose owner has moved to other memory, according to `is_there`, does not count as the same
    /// data.
    ///
    /// # Errors
    /// As [`shared`](Self::shared).
    pub fn shared_where(
        dtype: DType,
        rows: usize,
        count: usize,
        host: Memory,
        owner: Box<dyn Any + Send + Sync>,
        is_there: &dyn Fn(&(dyn Any + Send + Sync)) -> bool,
    ) -> Result<Storage> {
        let asked = rows.saturating_mul(count);
        if host.len() != asked.saturating_mul(dtype.size()) {
            return Err(MeshError::Length { asked, found: host.len() / dtype.size() });
        }
        let bytes = bytes_of(&host);
        // Dropped last: a table that goes takes the lock.
        let neighbours;
        let mut known = SHARED.lock_or(SharedTables::default);
        neighbours = known.overlapping(&bytes);
        let is_it = |inner: &&Arc<Inner>| {
            let is_alike = (inner.dtype, inner.rows, inner.count) == (dtype, rows, count) && bytes_of(&inner.host) == bytes;
            is_alike && inner.owner.as_ref().is_some_and(|owner| is_there(&**owner))
        };
        if let Some(inner) = neighbours.iter().find(is_it) {
            return Ok(Storage { inner: inner.clone() });
        }
        let storage = Storage::around(dtype, rows, count, host, Some(owner));
        known.add(bytes, &storage.inner);
        Ok(storage)
    }

    fn around(dtype: DType, rows: usize, count: usize, host: Memory, owner: Option<Owner>) -> Storage {
        Storage {
            inner: Arc::new(Inner { dtype, rows, count, host, owner, state: Lock::default(), turns: Arc::default(), lent: Arc::default() }),
        }
    }

    /// What owns the host's memory, when it is shared.
    pub fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.inner.owner.as_deref()
    }

    /// Fails where other tables have a part of this one's memory: on a device with memory of its own each would have a copy, and changes of
    /// one would not reach the other.
    fn check_apart(&self, context: &Context) -> Result<(), KernelError> {
        if self.inner.owner.is_none() {
            return Ok(());
        }
        let neighbours = SHARED.lock_or(SharedTables::default).overlapping(&bytes_of(&self.inner.host));
        if neighbours.iter().all(|inner| Arc::ptr_eq(inner, &self.inner)) {
            return Ok(());
        }
        let what =
            "this data shares memory with data of a different shape or type, and their copies on a device would diverge; copy one of them";
        Err(DeviceError::Unsupported { device: context.device().id().to_string(), what: what.into() }.into())
    }

    /// The type of the numbers.
    pub fn dtype(&self) -> DType {
        self.inner.dtype
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.inner.rows
    }

    /// How many numbers a row has.
    pub fn count(&self) -> usize {
        self.inner.count
    }

    /// How many numbers in all.
    pub fn len(&self) -> usize {
        self.inner.rows * self.inner.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both are the same table.
    pub fn is_same(&self, other: &Storage) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether a change of one may be a change of the other: both are the same table, or have bytes of the host's memory in common.
    pub fn overlaps(&self, other: &Storage) -> bool {
        if self.is_same(other) {
            return true;
        }
        let (here, there) = (bytes_of(&self.inner.host), bytes_of(&other.inner.host));
        here.start.max(there.start) < here.end.min(there.end)
    }

    /// How often it was written; 0 in a forked child that cannot know.
    pub fn version(&self) -> u64 {
        self.state().map_or(0, |state| state.version)
    }

    fn state(&self) -> Result<Guard<'_, State>, KernelError> {
        // A panic while it was held cannot have left it half changed: versions are set last.
        let state = self.inner.state.lock().map_err(left_locked)?;
        if state.is_replaced {
            return Err(distributed());
        }
        Ok(state)
    }

    /// The host's memory, up to date. As long as the result lives, no loop writes the numbers: loops wait, so the thread that holds it must
    /// not run one.
    ///
    /// # Errors
    /// When a device that has the numbers fails.
    pub fn host(&self) -> Result<HostNumbers<'_>> {
        // A loop that holds the lock has announced that it writes, but may not have begun.
        let turn = self.turn(false)?;
        self.renew_host(&mut *self.state()?)?;
        Ok(HostNumbers { memory: &self.inner.host, _turn: turn })
    }

    /// The host's memory, up to date, about to be written by someone: all other copies are stale. As long as the result lives, no loop uses
    /// the numbers.
    ///
    /// # Errors
    /// When a device that has the numbers fails.
    pub fn host_mut(&self) -> Result<HostNumbers<'_>> {
        refuse_recording(|| "a change of data by the host".to_owned()).map_err(KernelError::from)?;
        let turn = self.turn(true)?;
        let mut state = self.state()?;
        self.renew_host(&mut state)?;
        state.host = state.next_version();
        Ok(HostNumbers { memory: &self.inner.host, _turn: turn })
    }

    /// The host's memory as it is, possibly stale, about to be written as a whole by someone: nothing is moved, and all other copies are
    /// stale. Entries that are not written keep stale values. As long as the result lives, no loop uses the numbers.
    ///
    /// # Errors
    /// While a recording lives.
    pub fn host_to_replace(&self) -> Result<HostNumbers<'_>> {
        refuse_recording(|| "a change of data by the host".to_owned()).map_err(KernelError::from)?;
        let turn = self.turn(true)?;
        let mut state = self.state()?;
        state.host = state.next_version();
        Ok(HostNumbers { memory: &self.inner.host, _turn: turn })
    }

    fn renew_host(&self, state: &mut State) -> Result<(), KernelError> {
        if state.host == state.version {
            return Ok(());
        }
        let newest = state.copies.iter().find(|copy| copy.version == state.version);
        let newest = newest.expect("invariant: someone has the numbers that were written last");
        let memory = newest.memory.as_ref().expect("invariant: what was written has memory");
        let mut bytes = vec![0; self.inner.host.len()];
        newest.context.stream().read(memory, 0, &mut bytes).map_err(KernelError::from)?;
        if newest.layout == Layout::Columns {
            bytes = transposed(&bytes, self.inner.count, self.inner.rows, self.inner.dtype.size());
        }
        self.write_host(&bytes)?;
        state.host = state.version;
        Ok(())
    }

    fn write_host(&self, bytes: &[u8]) -> Result<(), KernelError> {
        let stream = self.inner.host.device().default_stream()?;
        Ok(stream.write_at_once(&self.inner.host, 0, bytes)?)
    }

    fn read_host(&self, bytes: &mut [u8]) -> Result<(), KernelError> {
        let stream = self.inner.host.device().default_stream()?;
        Ok(stream.read(&self.inner.host, 0, bytes)?)
    }

    /// The numbers, row by row.
    ///
    /// # Errors
    /// [`MeshError::ElementType`], or when a device fails.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_type(T::DTYPE)?;
        let _turn = self.turn(false)?;
        self.renew_host(&mut *self.state()?)?;
        let mut values = vec![T::ZERO; self.len()];
        self.read_host(as_bytes_mut(&mut values))?;
        Ok(values)
    }

    /// The numbers, row by row, to look at: where they are, if nobody outside can write there, otherwise a copy. As long as the result
    /// lives, no loop writes them.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    pub(crate) fn numbers<T: Element>(&self) -> Result<Numbers<'_, T>> {
        self.check_type(T::DTYPE)?;
        if self.inner.owner.is_some() || self.was_lent() {
            return Ok(Numbers::Copied(self.to_vec()?));
        }
        let turn = self.turn(false)?;
        self.renew_host(&mut *self.state()?)?;
        Ok(match self.inner.host.host_pointer() {
            // SAFETY: the host's memory has `len` numbers of this type, aligned for it. It is our own, nobody else was given the right to write it,
            // and the turn, which lives as long, keeps loops from it.
            Some(pointer) => Numbers::InPlace { numbers: unsafe { slice::from_raw_parts(pointer.cast(), self.len()) }, _turn: turn },
            None => Numbers::Copied(Vec::new()),
        })
    }

    /// Replaces all numbers.
    ///
    /// # Errors
    /// [`MeshError::ElementType`], [`MeshError::Length`].
    pub fn write<T: Element>(&self, values: &[T]) -> Result<()> {
        self.check_type(T::DTYPE)?;
        self.check_length(values.len())?;
        refuse_recording(|| "a change of data by the host".to_owned()).map_err(KernelError::from)?;
        let _turn = self.turn(true)?;
        let mut state = self.state()?;
        self.write_host(as_bytes(values))?;
        state.host = state.next_version();
        Ok(())
    }

    fn check_length(&self, found: usize) -> Result<()> {
        if found == self.len() { Ok(()) } else { Err(MeshError::Length { asked: self.len(), found }) }
    }

    fn check_type(&self, asked: DType) -> Result<()> {
        if asked == self.inner.dtype { Ok(()) } else { Err(MeshError::ElementType { asked, found: self.inner.dtype }) }
    }

    /// The context that has the newest numbers, besides the host or alone; `None` when only the host has them, and in a forked child that
    /// cannot know.
    pub fn newest(&self) -> Option<Context> {
        let state = self.state().ok()?;
        state.copies.iter().find(|copy| copy.version == state.version).map(|copy| copy.context.clone())
    }

    /// Whether the host has the newest numbers, alone or besides a device; not in a forked child that cannot know.
    pub fn is_on_host(&self) -> bool {
        self.state().is_ok_and(|state| state.host == state.version)
    }

    /// How the numbers lie on a context, for as long as the storage lives: as the first request prefers, or by rows if they are used before
    /// any request. The answer never changes, so code generated for it stays valid.
    pub(crate) fn settle_layout(&self, context: &Context, preferred: Layout) -> Layout {
        if is_host(context) {
            return Layout::Rows;
        }
        // A forked child that cannot tell gets an error when it uses the data.
        let Ok(mut state) = self.state() else { return preferred };
        let copy = copy_on(&mut state, context, preferred);
        state.copies[copy].layout
    }

    /// Memory that the context can use, in its layout. `reads`: the numbers are there, up to date. `writes`: every other copy is stale from
    /// here on.
    ///
    /// The caller holds the lock. While the context is recorded nothing is moved; every replay does then what would be done here.
    ///
    /// # Errors
    /// When memory cannot be allocated, or a device fails.
    pub(crate) fn place(&self, context: &Context, reads: bool, writes: bool) -> Result<Memory, KernelError> {
        if !is_host(context) {
            self.check_apart(context)?;
        }
        let mut state = self.state()?;
        if context.is_recording() {
            let (storage, on) = (self.clone(), context.clone());
            let prepare = move || storage.place(&on, reads, writes).map(drop);
            context.stream().keep_recorded(|| Arc::new(BeforeReplay::new(&self.inner.turns, writes, prepare)));
            return match is_host(context) {
                true => Ok(self.inner.host.clone()),
                false => self.memory_on(&mut state, context).map(|(_, memory)| memory),
            };
        }
        if is_host(context) {
            if reads {
                self.renew_host(&mut state)?;
            }
            if writes {
                state.host = state.next_version();
            }
            return Ok(self.inner.host.clone());
        }
        let (copy, memory) = self.memory_on(&mut state, context)?;
        if reads && state.copies[copy].version != state.version {
            self.renew_copy(&mut state, copy, &memory)?;
        }
        if writes {
            state.copies[copy].version = state.next_version();
        }
        Ok(memory)
    }

    /// The context's copy, perhaps old, and its memory.
    fn memory_on(&self, state: &mut State, context: &Context) -> Result<(usize, Memory), KernelError> {
        let place = copy_on(state, context, Layout::Rows);
        let copy = &mut state.copies[place];
        if let Some(memory) = &copy.memory {
            return Ok((place, memory.clone()));
        }
        // Drivers give no memory of no bytes, and kernels still want an address.
        let memory = context.device().allocate(self.inner.host.len().max(self.inner.dtype.size())).map_err(KernelError::from)?;
        copy.memory = Some(memory.clone());
        Ok((place, memory))
    }

    fn renew_copy(&self, state: &mut State, copy: usize, memory: &Memory) -> Result<(), KernelError> {
        if state.are_zeros {
            let length = self.inner.host.len();
            state.copies[copy].context.stream().fill(memory, 0, length, 0).map_err(KernelError::from)?;
            state.copies[copy].version = state.version;
            return Ok(());
        }
        self.renew_host(state)?;
        let mut bytes = vec![0; self.inner.host.len()];
        self.read_host(&mut bytes)?;
        let Copy { context, layout, .. } = &state.copies[copy];
        if *layout == Layout::Columns {
            bytes = transposed(&bytes, self.inner.rows, self.inner.count, self.inner.dtype.size());
        }
        context.stream().write(memory, 0, &bytes).map_err(KernelError::from)?;
        state.copies[copy].version = state.version;
        Ok(())
    }

    /// The memory of a context with the newest numbers, row by row, about to be used and perhaps written by someone else: all other copies
    /// are stale. `None` if they are stored column by column there.
    ///
    /// # Errors
    /// While a recording lives, when memory cannot be allocated, or a device fails.
    pub fn lent_on(&self, context: &Context) -> Result<Option<Memory>> {
        refuse_recording(|| "an exported view of data".to_owned()).map_err(KernelError::from)?;
        let _turn = self.turn(true)?;
        if self.settle_layout(context, Layout::Rows) != Layout::Rows {
            return Ok(None);
        }
        Ok(Some(self.place(context, true, true)?))
    }

    /// Takes all numbers of another table of the same shape, where they are. The caller holds the locks of both.
    ///
    /// # Errors
    /// When memory cannot be allocated, or a device fails.
    pub(crate) fn copy_from(&self, other: &Storage) -> Result<(), KernelError> {
        let host = || self.inner.host.device().default_stream().map(Context::on);
        let newest = other.newest().map_or_else(host, Ok)?;
        let layout = other.settle_layout(&newest, Layout::Rows);
        let context = if self.settle_layout(&newest, layout) == layout { newest } else { host()? };
        let (source, target) = (other.place(&context, true, false)?, self.place(&context, false, true)?);
        Ok(context.stream().copy(&target, 0, &source, 0, source.len())?)
    }

    /// Sets all numbers to zero, where the context has them.
    ///
    /// # Errors
    /// When memory cannot be allocated, or a device fails.
    pub fn zero(&self, context: &Context) -> Result<()> {
        let _turn = self.turn(true)?;
        let memory = self.place(context, false, true)?;
        let length = memory.len().min(self.inner.host.len());
        context.stream().fill(&memory, 0, length, 0).map_err(KernelError::from)?;
        if !context.is_recording() {
            self.set_ghosts_fresh(true);
        }
        Ok(())
    }

    /// Whether the values are still the initial zeros.
    pub(crate) fn are_zeros(&self) -> bool {
        self.state().is_ok_and(|state| state.are_zeros)
    }

    /// Whether ghosts have the numbers of their owners.
    pub fn are_ghosts_fresh(&self) -> bool {
        self.state().is_ok_and(|state| state.ghosts == state.version)
    }

    /// Whether copies of these numbers have ghosts with the numbers of their owners too: not while an array may have been written since.
    pub fn are_ghosts_settled(&self) -> bool {
        self.state().is_ok_and(|state| state.ghosts == state.version && !state.was_lent)
    }

    /// Lets external code write at any time. Ghosts count as stale as long as any process has such a right.
    ///
    /// # Errors
    /// Where a thread that is gone left the numbers locked.
    pub fn lend(&self) -> Result<Lent> {
        self.state()?.was_lent = true;
        Ok(Lent { _to: self.inner.lent.clone() })
    }

    /// Whether somebody had the right to write since all processes last agreed that nobody has.
    pub(crate) fn was_lent(&self) -> bool {
        self.state().is_ok_and(|state| state.was_lent)
    }

    /// Whether somebody on this process has the right to write.
    pub(crate) fn is_lent(&self) -> bool {
        Arc::strong_count(&self.inner.lent) > 1
    }

    /// Says that nobody has the right to write, on any process.
    pub(crate) fn set_returned(&self) {
        if let Ok(mut state) = self.state()
            && !self.is_lent()
        {
            state.was_lent = false;
        }
    }

    /// Says whether ghosts have the numbers of their owners.
    pub fn set_ghosts_fresh(&self, fresh: bool) {
        if let Ok(mut state) = self.state() {
            state.ghosts = if fresh { state.version } else { u64::MAX };
        }
    }

    /// Appends the bytes of these rows. The caller holds the lock.
    ///
    /// # Errors
    /// When a device that has the numbers fails; rows that are not there.
    pub(crate) fn pack(&self, rows: &[i32], into: &mut Vec<u8>) -> Result<(), KernelError> {
        self.renew_host(&mut *self.state()?)?;
        Ok(self.inner.host.read_rows(self.row_bytes(), rows, into)?)
    }

    /// Replaces these rows. The caller holds the write lock.
    ///
    /// # Errors
    /// When a device that has the numbers fails; rows that are not there, or other bytes than theirs.
    pub(crate) fn unpack(&self, rows: &[i32], bytes: &[u8]) -> Result<(), KernelError> {
        let mut state = self.state()?;
        self.renew_host(&mut state)?;
        self.inner.host.write_rows(self.row_bytes(), rows, bytes)?;
        state.host = state.next_version();
        Ok(())
    }

    /// The bytes of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.inner.count * self.inner.dtype.size()
    }

    /// Refuses all use from here on, unless the memory is someone else's: other data may have the same numbers. The caller holds the write
    /// lock.
    pub(crate) fn replace(&self) {
        if let (None, Ok(mut state)) = (self.owner(), self.state()) {
            state.is_replaced = true;
        }
    }

    /// Asks before each replay of what is being recorded.
    pub(crate) fn ask_before_replay(&self, context: &Context, ask: impl Fn() -> Result<(), KernelError> + Send + Sync + 'static) {
        context.stream().keep_recorded(|| Arc::new(BeforeReplay::new(&self.inner.turns, false, ask)));
    }

    /// Waits until no one else uses the numbers in a way that forbids this one: any number may read, or one write.
    ///
    /// # Errors
    /// In a forked child, where another thread was writing them.
    pub(crate) fn turn(&self, writes: bool) -> Result<Turn<'_>, KernelError> {
        self.inner.turns.take(writes).map_err(left_locked)
    }

    /// What storages are sorted by where several turns are taken.
    pub(crate) fn rank(&self) -> usize {
        self.inner.turns.rank()
    }
}

/// The tables in memory of others.
static SHARED: Lock<SharedTables> = Lock::new(SharedTables { tables: BTreeMap::new(), longest: 0 });

/// Tables in memory of others, by where it begins.
#[derive(Default)]
struct SharedTables {
    tables: BTreeMap<usize, Vec<(usize, Weak<Inner>)>>,
    /// The bytes of the longest that there was.
    longest: usize,
}

impl SharedTables {
    fn add(&mut self, bytes: Range<usize>, table: &Arc<Inner>) {
        self.longest = self.longest.max(bytes.len());
        self.tables.entry(bytes.start).or_default().push((bytes.end, Arc::downgrade(table)));
    }

    /// Those that have some of these bytes. They are dropped after the lock is: one that goes takes it.
    fn overlapping(&self, bytes: &Range<usize>) -> Vec<Arc<Inner>> {
        let starts = bytes.start.saturating_sub(self.longest)..bytes.end;
        let tables = self.tables.range(starts).flat_map(|(_, tables)| tables);
        tables.filter(|(end, _)| *end > bytes.start).filter_map(|(_, table)| table.upgrade()).collect()
    }

    fn remove(&mut self, start: usize, table: *const Inner) {
        if let Some(tables) = self.tables.get_mut(&start) {
            tables.retain(|(_, known)| !std::ptr::eq(known.as_ptr(), table));
            if tables.is_empty() {
                self.tables.remove(&start);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.owner.is_some() {
            SHARED.lock_or(SharedTables::default).remove(bytes_of(&self.host).start, self);
        }
    }
}

/// The addresses of host memory.
fn bytes_of(memory: &Memory) -> Range<usize> {
    memory.host_pointer().map_or(0..0, |first| first.addr()..first.addr() + memory.len())
}

/// The host's memory of a [`Storage`], which loops do not change as long as this lives.
pub struct HostNumbers<'a> {
    memory: &'a Memory,
    _turn: Turn<'a>,
}

impl<'a> HostNumbers<'a> {
    /// The memory without its protection, for views that outlive it, such as those of NumPy: whoever uses one while a loop runs in another
    /// thread may see numbers of before and after.
    pub fn unprotected(self) -> &'a Memory {
        self.memory
    }
}

impl Deref for HostNumbers<'_> {
    type Target = Memory;
    fn deref(&self) -> &Memory {
        self.memory
    }
}

impl fmt::Debug for HostNumbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<HostNumbers {:?}>", self.memory)
    }
}

/// The numbers of a [`Storage`], which nobody changes as long as this lives.
pub(crate) enum Numbers<'a, T> {
    InPlace {
        numbers: &'a [T],
        /// Keeps writers away.
        _turn: Turn<'a>,
    },
    Copied(Vec<T>),
}

impl<T: Clone> Numbers<'_, T> {
    /// The numbers as one's own.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Numbers::InPlace { numbers, .. } => numbers.to_vec(),
            Numbers::Copied(numbers) => numbers,
        }
    }
}

impl<T> Deref for Numbers<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Numbers::InPlace { numbers, .. } => numbers,
            Numbers::Copied(numbers) => numbers,
        }
    }
}

/// Why numbers of a whole mesh cannot be used.
pub(crate) fn distributed() -> KernelError {
    let what = "the set of this data was distributed over processes; create loops and matrices and request arrays after that".into();
    DeviceError::Unsupported { device: "the mesh".into(), what }.into()
}

fn left_locked(_: LeftLocked) -> KernelError {
    DeviceError::LeftLocked { what: "this data" }.into()
}

/// The place of what a context has, with the layout that was settled, or this one.
fn copy_on(state: &mut State, context: &Context, layout: Layout) -> usize {
    let known = state.copies.iter().position(|copy| copy.context.is_same(context));
    known.unwrap_or_else(|| {
        state.copies.push(Copy { context: context.clone(), layout, memory: None, version: u64::MAX });
        state.copies.len() - 1
    })
}

/// Turns at several storages, taken in the same order by all, so that no two wait for each other; whether each is written.
pub(crate) fn take_turns<const N: usize>(mut storages: [(&Storage, bool); N]) -> Result<Vec<Turn<'_>>, KernelError> {
    storages.sort_by_key(|(storage, _)| storage.rank());
    storages.into_iter().map(|(storage, writes)| storage.turn(writes)).collect()
}

/// Whether kernels of the context use the host's memory.
fn is_host(context: &Context) -> bool {
    context.device().kind() == parloop_device::DeviceKind::Cpu
}

/// A table of `rows` by `columns` elements of `size` bytes, column by column.
fn transposed(bytes: &[u8], rows: usize, columns: usize, size: usize) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    for row in 0..rows {
        for column in 0..columns {
            let (from, to) = ((row * columns + column) * size, (column * rows + row) * size);
            out[to..to + size].copy_from_slice(&bytes[from..from + size]);
        }
    }
    out
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Storage {} × {} {}>", self.inner.rows, self.inner.count, self.inner.dtype)
    }
}

#[cfg(test)]
mod tests;
