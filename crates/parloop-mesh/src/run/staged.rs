//! Rows of tables on a GPU, for messages: they are gathered side by side there, and only these are copied to the host, unless MPI takes them from
//! there. What arrives is copied back and put into its rows. The tables stay where they are.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_device::{DType, DeviceId, Memory, PinnedMemory, as_bytes};
use parloop_kernel::{Context, KernelError};
use parloop_loop::run::{Executable, Repeat};

use super::written::{What, written};
use crate::Result;
use crate::declare::halo::{Halo, Neighbour};
use crate::declare::identity::{self, Id};
use crate::lower::{Array, Number, RowMove, RowWords};
use crate::storage::{Layout, Storage};

/// A table with a row for each element of a distributed set.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    pub halo: &'a Halo,
    pub storage: &'a Storage,
}

/// Which rows messages have: those that neighbours have as ghosts, or ours of theirs; of all neighbours, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    pub side: Side,
    /// The rank of the only neighbour.
    pub only: Option<usize>,
}

/// The two lists of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Exports,
    Imports,
}

impl Side {
    fn rows(self, of: &Neighbour) -> &[i32] {
        match self {
            Side::Exports => &of.exports,
            Side::Imports => &of.imports,
        }
    }
}

impl Selected {
    /// The rows that a neighbour has or gets.
    pub fn rows(self, of: &Neighbour) -> &[i32] {
        if self.only.is_none_or(|only| only == of.rank) { self.side.rows(of) } else { &[] }
    }

    /// Where these rows are in the list of all neighbours.
    fn range(self, halo: &Halo) -> Range<usize> {
        let neighbours = halo.neighbours();
        let length = |of: &[Neighbour]| of.iter().map(|neighbour| self.side.rows(neighbour).len()).sum();
        let Some(only) = self.only else { return 0..length(neighbours) };
        let place = neighbours.partition_point(|neighbour| neighbour.rank < only);
        let start = length(&neighbours[..place]);
        let found = neighbours.get(place).filter(|neighbour| neighbour.rank == only);
        start..start + found.map_or(0, |neighbour| self.side.rows(neighbour).len())
    }
}

/// Rows of several tables, table by table and in each neighbour by neighbour, in memory of the device.
pub struct Rows {
    pub device: Memory,
    /// The bytes of each table.
    pub places: Vec<Range<usize>>,
}

/// The same with memory of the host.
pub struct Staged {
    rows: Rows,
    host: PinnedMemory,
}

/// What the rows of a table begin at a multiple of: no word is larger.
const ALIGNED: usize = 16;

/// More of them than this are not kept between exchanges.
const MOST_IDLE: usize = 8;

impl Rows {
    /// These rows, in memory of as many bytes as `allocate` is asked for, or more.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn new(tables: &[Table<'_>], which: Selected, allocate: impl FnOnce(usize) -> Result<Memory>) -> Result<Rows> {
        let mut total = 0usize;
        let mut places = Vec::with_capacity(tables.len());
        for Table { halo, storage } in tables {
            let bytes = which.range(halo).len() * storage.row_bytes();
            places.push(total..total + bytes);
            total = (total + bytes).next_multiple_of(ALIGNED);
        }
        Ok(Rows { device: allocate(total)?, places })
    }

    /// Gathers rows of the tables, or puts them back. The caller holds the locks of the tables.
    ///
    /// # Errors
    /// When memory cannot be allocated, or the device fails.
    pub fn move_all(&self, what: RowMove, tables: &[Table<'_>], which: Selected, context: &Context) -> Result<()> {
        tables.iter().zip(&self.places).try_for_each(|(table, place)| self.move_rows(what, table, which, place, context))
    }

    fn move_rows(&self, what: RowMove, table: &Table<'_>, which: Selected, place: &Range<usize>, context: &Context) -> Result<()> {
        let Table { halo, storage } = table;
        let listed = which.range(halo);
        if place.is_empty() {
            return Ok(());
        }
        let lists = Lists::of(halo, context)?;
        let words = RowWords::new(storage.dtype(), storage.count(), storage.settle_layout(context, Layout::Rows));
        let mover = lists.mover(Key { what, words, rows: storage.rows(), count: listed.len() }, context)?;
        let list = lists.list(which.side).slice(4 * listed.start, 4 * listed.len()).map_err(KernelError::from)?;
        let beside = self.device.slice(place.start, place.len()).map_err(KernelError::from)?;
        let memory = storage.place(context, true, what == RowMove::Scatter)?;
        let given = mover.arrays.each_ref().map(|array| match array {
            Array::Table(0) => &memory,
            Array::Table(_) => &beside,
            _ => &list,
        });
        Ok(mover.repeat.run(&given)?)
    }
}

impl Staged {
    /// Memory for these rows.
    fn new(tables: &[Table<'_>], which: Selected, context: &Context) -> Result<Staged> {
        let lists = tables.first().map(|first| Lists::of(first.halo, context)).transpose()?;
        let lists = lists.as_deref();
        let rows = Rows::new(tables, which, |bytes| {
            let idle = lists.and_then(|lists| take(&lists.devices, |device| device.len() == bytes));
            Ok(idle.map_or_else(|| context.device().allocate(bytes), Ok).map_err(KernelError::from)?)
        })?;
        let total = rows.device.len();
        let idle = lists.and_then(|lists| take(&lists.hosts, |host| host.len() == total));
        let host = idle.map_or_else(|| context.device().allocate_pinned(total), Ok).map_err(KernelError::from)?;
        Ok(Staged { rows, host })
    }

    /// Gathers rows, and begins to copy them to the host. The caller holds the locks of the tables.
    ///
    /// # Errors
    /// When memory cannot be allocated, or the device fails.
    pub fn gather(tables: &[Table<'_>], which: Selected, context: &Context) -> Result<Staged> {
        let mut staged = Staged::new(tables, which, context)?;
        staged.rows.move_all(RowMove::Gather, tables, which, context)?;
        context.stream().read_pinned(&staged.rows.device, 0, &mut staged.host).map_err(KernelError::from)?;
        Ok(staged)
    }

    /// The bytes of each table, when they are on the host.
    ///
    /// # Errors
    /// When the device fails.
    pub fn bytes(&self) -> Result<Vec<&[u8]>> {
        let bytes = self.host.as_slice().map_err(KernelError::from)?;
        Ok(self.rows.places.iter().map(|place| &bytes[place.clone()]).collect())
    }

    /// Puts what `fill` writes, table by table, into the rows. The caller holds the write locks of the tables.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn scatter(tables: &[Table<'_>], which: Selected, context: &Context, mut fill: impl FnMut(usize, &mut [u8])) -> Result<()> {
        let mut staged = Staged::new(tables, which, context)?;
        let bytes = staged.host.as_mut_slice().map_err(KernelError::from)?;
        for (number, place) in staged.rows.places.iter().enumerate() {
            fill(number, &mut bytes[place.clone()]);
        }
        context.stream().write_pinned(&staged.rows.device, 0, &staged.host).map_err(KernelError::from)?;
        staged.rows.move_all(RowMove::Scatter, tables, which, context)?;
        staged.keep(tables, context)
    }

    /// Keeps the memory for the next exchange. Copies that are under way are waited for when it is used.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn keep(self, tables: &[Table<'_>], context: &Context) -> Result<()> {
        if let Some(first) = tables.first() {
            let lists = Lists::of(first.halo, context)?;
            keep(&lists.hosts, self.host);
            keep(&lists.devices, self.rows.device);
        }
        Ok(())
    }
}

/// The lists of a halo in the memory of a device, and what moves rows by them.
struct Lists {
    exports: Memory,
    imports: Memory,
    movers: Lock<HashMap<Key, Arc<Mover>>>,
    /// Memory that no exchange uses.
    devices: Lock<Vec<Memory>>,
    hosts: Lock<Vec<PinnedMemory>>,
}

/// What tells movers of one halo on one device apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    what: RowMove,
    words: RowWords,
    rows: usize,
    count: usize,
}

/// A kernel that moves this many rows, and the order of its arrays.
struct Mover {
    repeat: Repeat,
    arrays: [Array; 3],
}

/// The lists of each halo on each stream of a device.
type ListCache = HashMap<Id, HashMap<(DeviceId, u64), Arc<Lists>>>;

static KNOWN: Lock<Option<ListCache>> = Lock::new(None);

fn known<R>(with: impl FnOnce(&mut ListCache) -> R) -> R {
    with(KNOWN.lock_or(|| None).get_or_insert_default())
}

impl Lists {
    /// Those of a halo; copied there when they are not. They go with the halo.
    fn of(halo: &Halo, context: &Context) -> Result<Arc<Lists>> {
        static WATCH: Once<()> = Once::new();
        WATCH.get_or_init(|| identity::when_dropped(|halo| drop(known(|known| known.remove(&halo)))));
        let key = (context.device().id(), context.stream().handle());
        if let Some(lists) = known(|known| known.get(&halo.id()).and_then(|lists| lists.get(&key)).cloned()) {
            return Ok(lists);
        }
        let upload = |side: Side| -> Result<Memory> {
            let rows: Vec<i32> = halo.neighbours().iter().flat_map(|neighbour| side.rows(neighbour)).copied().collect();
            // Drivers give no memory of no bytes.
            let memory = context.device().allocate((4 * rows.len()).max(4)).map_err(KernelError::from)?;
            context.stream().write_at_once(&memory, 0, as_bytes(&rows)).map_err(KernelError::from)?;
            Ok(memory)
        };
        let (exports, imports) = (upload(Side::Exports)?, upload(Side::Imports)?);
        let made = Arc::new(Lists { exports, imports, movers: Lock::default(), devices: Lock::default(), hosts: Lock::default() });
        // What another thread made meanwhile is taken; ours is dropped outside of the lock.
        Ok(known(|known| known.entry(halo.id()).or_default().entry(key).or_insert_with(|| made.clone()).clone()))
    }

    fn list(&self, side: Side) -> &Memory {
        match side {
            Side::Exports => &self.exports,
            Side::Imports => &self.imports,
        }
    }

    fn mover(&self, key: Key, context: &Context) -> Result<Arc<Mover>> {
        if let Some(mover) = self.movers.lock_or(HashMap::new).get(&key) {
            return Ok(mover.clone());
        }
        // Outside of the lock: compilation takes its time. Of two that are made at once one is kept.
        let written = written(None, What::Rows { what: key.what, words: key.words, index: DType::I32 }, context)?;
        let (lowered, executable) = (&written.lowered, Executable::compile(&written.generated, context)?);
        let value = |number: Number| match number {
            Number::Count => key.count as i64,
            Number::Rows(_) => key.rows as i64,
            _ => unreachable!("invariant: rows are moved by no other numbers"),
        };
        let numbers = lowered.numbers.iter().filter(|(name, _)| executable.plan().position(name).is_some());
        let given: Vec<(&str, i64)> = numbers.map(|(name, number)| (name.as_str(), value(*number))).collect();
        let repeat = executable.repeat(&given)?;
        let array = |name: &str| lowered.arrays.iter().find(|(known, _)| known.as_str() == name).map(|(_, array)| *array);
        let arrays: Vec<Array> = repeat.arrays().iter().filter_map(|name| array(name)).collect();
        let arrays = arrays.try_into().expect("invariant: two tables and a list are taken");
        let made = Arc::new(Mover { repeat, arrays });
        Ok(self.movers.lock_or(HashMap::new).entry(key).or_insert_with(|| made.clone()).clone())
    }
}

/// One of those that are kept.
fn take<T>(kept: &Lock<Vec<T>>, fits: impl Fn(&T) -> bool) -> Option<T> {
    let mut kept = kept.lock_or(Vec::new);
    let place = kept.iter().position(fits)?;
    Some(kept.remove(place))
}

fn keep<T>(kept: &Lock<Vec<T>>, one: T) {
    let mut kept = kept.lock_or(Vec::new);
    // The one that was used longest ago goes, outside of the lock: it may wait for a copy.
    let oldest = (kept.len() >= MOST_IDLE).then(|| kept.remove(0));
    kept.push(one);
    drop(kept);
    drop(oldest);
}
