//! Ghost values, sent by their owners: several tables in one message to each neighbour.

use std::time::{Duration, Instant};

use parloop_device::{DeviceKind, refuse_recording};
use parloop_kernel::{Context, KernelError};
use parloop_mpi::{Comm, Messages};
use smallvec::{SmallVec, smallvec};

use super::combine::combine;
use super::direct::{Direct, Taken};
use super::letters;
use super::routes::{Alike, Route};
use super::staged::{Selected, Side, Staged, Table};
use crate::Result;
use crate::access::Access;
use crate::declare::dat::Dat;
use crate::declare::halo::Neighbour;
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::storage::Storage;

/// Tables that are exchanged together.
pub type Tables<'a> = SmallVec<[Table<'a>; 4]>;

/// Messages in flight. Their holder has write locks on the tables.
pub struct Exchange<'a> {
    tables: Tables<'a>,
    direction: Direction,
    flight: Flight<'a>,
    /// With what it is compared, where there is more than one way, and the time that the host has spent with it.
    alike: Option<Alike>,
    spent: Duration,
}

/// Messages, by where MPI finds them.
enum Flight<'a> {
    /// In memory of the host; rows are taken from tables and put back where these are.
    Host(Messages, Location<'a>),
    /// In memory of a GPU.
    Gpu(Direct, &'a Context),
}

/// Where rows are taken from tables and put back.
#[derive(Clone, Copy)]
pub enum Location<'a> {
    /// On the host.
    Host,
    /// On a device that has memory of its own.
    Device(&'a Context),
}

impl Location<'_> {
    /// Where kernels of a context use the numbers.
    pub fn of(context: &Context) -> Location<'_> {
        match context.device().kind() {
            DeviceKind::Cpu => Location::Host,
            DeviceKind::OpenCl | DeviceKind::Cuda | DeviceKind::Hip => Location::Device(context),
        }
    }
}

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Owners, to all who have ghosts.
    ToGhosts,
    /// One process, what it left in its ghosts, to their owners.
    ToOwners { from: usize },
    /// All, what they added to their ghosts, to the owners, who add it to their own.
    SumsToOwners,
}

impl Direction {
    /// The rows that this process sends; `None` where it sends none.
    fn sent(self, rank: usize) -> Option<Selected> {
        match self {
            Direction::ToGhosts => Some(Selected { side: Side::Exports, only: None }),
            Direction::ToOwners { from } => (from == rank).then_some(Selected { side: Side::Imports, only: None }),
            Direction::SumsToOwners => Some(Selected { side: Side::Imports, only: None }),
        }
    }

    /// The rows that it receives.
    fn received(self) -> Selected {
        match self {
            Direction::ToGhosts => Selected { side: Side::Imports, only: None },
            Direction::ToOwners { from } => Selected { side: Side::Exports, only: Some(from) },
            Direction::SumsToOwners => Selected { side: Side::Exports, only: None },
        }
    }
}

impl<'a> Exchange<'a> {
    /// Sends the numbers of owners to ghosts.
    ///
    /// # Errors
    /// When a device that has the numbers fails; what MPI says.
    pub fn start(tables: Tables<'a>, comm: &Comm, location: Location<'a>) -> Result<Exchange<'a>> {
        Exchange::begin(tables, comm, Direction::ToGhosts, location)
    }

    /// Sends what one process left in its ghosts to their owners.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_back(tables: Tables<'a>, comm: &Comm, from: usize, location: Location<'a>) -> Result<Exchange<'a>> {
        Exchange::begin(tables, comm, Direction::ToOwners { from }, location)
    }

    /// Sends what was added to ghosts to their owners, who add it to their numbers, in the order of the ranks. Rows go through the host.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_sums(tables: Tables<'a>, comm: &Comm) -> Result<Exchange<'a>> {
        Exchange::begin(tables, comm, Direction::SumsToOwners, Location::Host)
    }

    fn begin(tables: Tables<'a>, comm: &Comm, direction: Direction, location: Location<'a>) -> Result<Exchange<'a>> {
        let (sent, received, begun) = (direction.sent(comm.rank()), direction.received(), Instant::now());
        let taken = match location {
            Location::Device(context) if !tables.is_empty() => Taken::of(comm, context)?.map(|taken| (taken, context)),
            _ => None,
        };
        let alike = taken.as_ref().map(|(_, context)| Alike::new(context.device().id(), bytes(&tables, sent, received)));
        let mut direct = None;
        if let (Some((taken, context)), Some(alike)) = (taken, alike.filter(|alike| alike.route() == Route::Direct)) {
            direct = Direct::start(&tables, sent, received, &taken)?.map(|direct| Flight::Gpu(direct, context));
            if direct.is_none() {
                alike.reject();
            }
        }
        let flight = match direct {
            Some(flight) => flight,
            None => Flight::Host(through_host(&tables, sent, received, comm, location)?, location),
        };
        Ok(Exchange { tables, direction, flight, alike, spent: begun.elapsed() })
    }

    /// Waits for the messages, and puts what they bring where it belongs.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn finish(self) -> Result<()> {
        let (received, begun) = (self.direction.received(), Instant::now());
        let route = match self.flight {
            Flight::Host(messages, location) => {
                let written: Written = if self.direction == Direction::SumsToOwners { add } else { Storage::unpack };
                put(&self.tables, received, messages, location, written)?;
                Route::Host
            }
            Flight::Gpu(direct, context) => {
                direct.finish(&self.tables, received, context)?;
                Route::Direct
            }
        };
        if let Some(alike) = self.alike {
            alike.took(route, self.spent + begun.elapsed());
        }
        for Table { storage, .. } in &self.tables {
            storage.set_ghosts_fresh(self.direction == Direction::ToGhosts);
        }
        Ok(())
    }
}

/// How many bytes are sent and received.
fn bytes(tables: &[Table<'_>], sent: Option<Selected>, received: Selected) -> usize {
    let rows = |of: &Neighbour| sent.map_or(0, |sent| sent.rows(of).len()) + received.rows(of).len();
    tables.iter().map(|table| table.halo.neighbours().iter().map(rows).sum::<usize>() * table.storage.row_bytes()).sum()
}

/// Starts messages in memory of the host.
fn through_host(tables: &[Table<'_>], sent: Option<Selected>, received: Selected, comm: &Comm, location: Location<'_>) -> Result<Messages> {
    let mut letters: SmallVec<[(usize, usize, usize); 8]> = SmallVec::new();
    for Table { halo, storage } in tables {
        for neighbour in halo.neighbours() {
            let known = letters.binary_search_by_key(&neighbour.rank, |letter| letter.0);
            let known = known.unwrap_or_else(|index| {
                letters.insert(index, (neighbour.rank, 0, 0));
                index
            });
            letters[known].1 += sent.map_or(0, |sent| sent.rows(neighbour).len()) * storage.row_bytes();
            letters[known].2 += received.rows(neighbour).len() * storage.row_bytes();
        }
    }
    let mut messages = tables.first().map(|first| letters::take(first.halo, &letters)).transpose()?.unwrap_or_default();
    if let Some(sent) = sent {
        pack(tables, sent, location, &mut messages)?;
    }
    messages.start(comm)?;
    Ok(messages)
}

/// What is done with rows that arrive on the host.
type Written = fn(&Storage, &[i32], &[u8]) -> Result<(), KernelError>;

/// Waits for messages in memory of the host, and puts what they bring into its rows.
fn put(tables: &[Table<'_>], received: Selected, mut messages: Messages, location: Location<'_>, written: Written) -> Result<()> {
    messages.wait()?;
    let mut arrived = Arrived { messages: &messages, taken: SmallVec::new() };
    match location {
        Location::Host => {
            for Table { halo, storage } in tables {
                let rows = halo.neighbours().iter().map(|neighbour| (neighbour.rank, received.rows(neighbour)));
                for (rank, rows) in rows.filter(|(_, rows)| !rows.is_empty()) {
                    written(storage, rows, arrived.next(rank, rows.len() * storage.row_bytes()))?;
                }
            }
        }
        Location::Device(context) => Staged::scatter(tables, received, context, |number, mut bytes| {
            let Table { halo, storage } = tables[number];
            for neighbour in halo.neighbours() {
                let length = received.rows(neighbour).len() * storage.row_bytes();
                let (here, behind) = bytes.split_at_mut(length);
                here.copy_from_slice(arrived.next(neighbour.rank, length));
                bytes = behind;
            }
        })?,
    }
    if let Some(first) = tables.first() {
        letters::keep(first.halo, messages);
    }
    Ok(())
}

/// Adds numbers to rows. The caller holds the write lock.
fn add(storage: &Storage, rows: &[i32], numbers: &[u8]) -> Result<(), KernelError> {
    let mut sums = Vec::with_capacity(numbers.len());
    storage.pack(rows, &mut sums)?;
    combine(storage.dtype(), Access::Inc, &mut sums, numbers);
    storage.unpack(rows, &sums)
}

/// What messages brought, taken piece by piece.
struct Arrived<'a> {
    messages: &'a Messages,
    /// How many bytes were taken from each process.
    taken: SmallVec<[(usize, usize); 8]>,
}

impl<'a> Arrived<'a> {
    /// The next bytes from a process.
    fn next(&mut self, rank: usize, length: usize) -> &'a [u8] {
        let known = self.taken.iter().position(|(from, _)| *from == rank).unwrap_or_else(|| {
            self.taken.push((rank, 0));
            self.taken.len() - 1
        });
        let start = self.taken[known].1;
        self.taken[known].1 += length;
        &self.messages.incoming(rank)[start..][..length]
    }
}

/// Appends the rows for each neighbour to its message.
fn pack(tables: &[Table<'_>], sent: Selected, location: Location<'_>, messages: &mut Messages) -> Result<()> {
    match location {
        Location::Host => {
            for Table { halo, storage } in tables {
                for neighbour in halo.neighbours() {
                    if let Some(bytes) = messages.outgoing(neighbour.rank) {
                        storage.pack(sent.rows(neighbour), bytes)?;
                    }
                }
            }
        }
        Location::Device(context) => {
            let staged = Staged::gather(tables, sent, context)?;
            for (Table { halo, storage }, mut bytes) in tables.iter().zip(staged.bytes()?) {
                for neighbour in halo.neighbours() {
                    let (own, behind) = bytes.split_at(sent.rows(neighbour).len() * storage.row_bytes());
                    if let Some(letter) = messages.outgoing(neighbour.rank) {
                        letter.extend_from_slice(own);
                    }
                    bytes = behind;
                }
            }
            staged.keep(tables, context)?;
        }
    }
    Ok(())
}

/// Those tables whose ghosts do not have the numbers of their owners, or may be stale because an exported array may be written. All
/// processes must call it with the same tables.
///
/// # Errors
/// What MPI says.
pub fn stale<'a>(tables: impl Iterator<Item = Table<'a>>, comm: &Comm) -> Result<Tables<'a>> {
    let mut tables: Tables<'a> = tables.collect();
    // All processes request arrays, but each keeps its own for as long as it needs.
    let lent: SmallVec<[&Storage; 4]> = tables.iter().map(|table| table.storage).filter(|storage| storage.was_lent()).collect();
    if !lent.is_empty() {
        let own: Vec<u8> = lent.iter().map(|storage| u8::from(storage.is_lent())).collect();
        let all = comm.gather_alike(&own)?;
        for (index, storage) in lent.iter().enumerate() {
            match all.iter().skip(index).step_by(own.len()).any(|&is_lent| is_lent == 1) {
                true => storage.set_ghosts_fresh(false),
                false => storage.set_returned(),
            }
        }
    }
    tables.retain(|table| !table.storage.are_ghosts_fresh());
    Ok(tables)
}

/// Makes the numbers of ghosts zero. The caller holds the write lock of the table.
///
/// # Errors
/// When a device that has the numbers fails.
pub fn zero_ghosts(Table { halo, storage }: &Table<'_>) -> Result<()> {
    for neighbour in halo.neighbours().iter().filter(|neighbour| !neighbour.imports.is_empty()) {
        storage.unpack(&neighbour.imports, &vec![0; neighbour.imports.len() * storage.row_bytes()])?;
    }
    Ok(())
}

/// Asks the owners which ghosts are in a subset of a distributed set, unless they have been asked. All processes must call it.
///
/// # Errors
/// What MPI says.
pub fn find_ghosts(subset: &Set) -> Result<()> {
    let (Some(halo), Some(indices)) = (subset.halo(), subset.indices()) else { return Ok(()) };
    if subset.ghosts().is_some() {
        return Ok(());
    }
    let mut is_in = vec![0u8; halo.numbers().len()];
    indices[..subset.size()].iter().for_each(|&element| is_in[element as usize] = 1);
    let flags = Storage::with_values(&is_in, is_in.len(), 1)?;
    Exchange::start(smallvec![Table { halo, storage: &flags }], halo.comm(), Location::Host)?.finish()?;
    let flags = flags.to_vec::<u8>()?;
    let ghosts = subset.base().size()..halo.exec();
    subset.set_ghosts(ghosts.filter(|&ghost| flags[ghost] == 1).map(|ghost| ghost as i32).collect());
    Ok(())
}

impl Dat {
    /// Updates stale ghosts from their owners. Collective: all processes must call it.
    ///
    /// # Errors
    /// When a device that has the numbers fails; what MPI says.
    pub fn renew_ghosts(&self) -> Result<()> {
        let dat = self.current();
        let (Some(halo), storage) = (dat.dataset().set().row_halo(), dat.storage()) else { return Ok(()) };
        refuse_recording(|| "an exchange of ghosts".to_owned()).map_err(KernelError::from)?;
        let _turn = storage.turn(true)?;
        let stale = stale(std::iter::once(Table { halo, storage }), halo.comm())?;
        let context = if storage.is_on_host() { None } else { storage.newest() };
        Exchange::start(stale, halo.comm(), context.as_ref().map_or(Location::Host, Location::of))?.finish()
    }

    /// The bytes of all numbers, in the order of the whole set, on every process. All processes must call it.
    ///
    /// # Errors
    /// When a device that has the numbers fails; what MPI says.
    pub fn gather_bytes(&self) -> Result<Vec<u8>> {
        let dat = self.current();
        let (set, storage) = (dat.dataset().set(), dat.storage());
        let _turn = storage.turn(false)?;
        let (mut own, owned): (Vec<u8>, Vec<i32>) = (Vec::new(), (0..set.owned_rows() as i32).collect());
        storage.pack(&owned, &mut own)?;
        let Some(halo) = set.row_halo() else { return Ok(own) };
        let numbers = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let places = halo.comm().gather_all(&numbers(&halo.numbers()[..set.owned_rows()]))?;
        let rows = halo.comm().gather_all(&own)?;
        let length = storage.row_bytes();
        let mut all = vec![0; halo.whole() * length];
        for (places, rows) in places.iter().zip(&rows) {
            for (row_index, row) in places.chunks_exact(4).zip(rows.chunks_exact(length.max(1))) {
                let row_index = i32::from_le_bytes(row_index.try_into().expect("invariant: four bytes")) as usize;
                all[row_index * length..][..length].copy_from_slice(row);
            }
        }
        Ok(all)
    }

    /// All numbers, in the order of the whole set, on every process. All processes must call it.
    ///
    /// # Errors
    /// [`MeshError::ElementType`]; as [`gather_bytes`](Self::gather_bytes).
    pub fn gather<T: parloop_device::Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype() {
            return Err(MeshError::ElementType { asked: T::DTYPE, found: self.dtype() });
        }
        let bytes = self.gather_bytes()?;
        let mut all = vec![T::ZERO; bytes.len() / size_of::<T>()];
        parloop_device::as_bytes_mut(&mut all).copy_from_slice(&bytes);
        Ok(all)
    }
}
