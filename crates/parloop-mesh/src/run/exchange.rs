//! Ghost values, sent by their owners: several tables in one message to each neighbour.

use std::collections::BTreeMap;

use parloop_mpi::{Comm, Messages};

use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::halo::{Halo, Neighbour};
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::storage::Storage;

/// A table with a row for each element of a distributed set.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    pub halo: &'a Halo,
    pub storage: &'a Storage,
}

/// Messages in flight. Their holder has write locks on the tables.
pub struct Exchange<'a> {
    tables: Vec<Table<'a>>,
    messages: Messages,
    way: Direction,
}

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Owners, to all who have ghosts.
    ToGhosts,
    /// One process, what it left in its ghosts, to their owners.
    ToOwners { from: usize },
}

impl Direction {
    fn sent(self, of: &Neighbour, rank: usize) -> &[i32] {
        match self {
            Direction::ToGhosts => &of.exports,
            Direction::ToOwners { from } if from == rank => &of.imports,
            Direction::ToOwners { .. } => &[],
        }
    }

    fn received(self, of: &Neighbour) -> &[i32] {
        match self {
            Direction::ToGhosts => &of.imports,
            Direction::ToOwners { from } if from == of.rank => &of.exports,
            Direction::ToOwners { .. } => &[],
        }
    }
}

impl<'a> Exchange<'a> {
    /// Sends the numbers of owners to ghosts.
    ///
    /// # Errors
    /// When a device that has the numbers fails; what MPI says.
    pub fn start(tables: Vec<Table<'a>>, comm: &Comm) -> Result<Exchange<'a>> {
        Exchange::on_its_way(tables, comm, Direction::ToGhosts)
    }

    /// Sends what one process left in its ghosts to their owners.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_back(tables: Vec<Table<'a>>, comm: &Comm, from: usize) -> Result<Exchange<'a>> {
        Exchange::on_its_way(tables, comm, Direction::ToOwners { from })
    }

    fn on_its_way(tables: Vec<Table<'a>>, comm: &Comm, way: Direction) -> Result<Exchange<'a>> {
        let mut letters: BTreeMap<usize, (Vec<u8>, usize)> = BTreeMap::new();
        for Table { halo, storage } in &tables {
            for neighbour in halo.neighbours() {
                let (sent, coming) = letters.entry(neighbour.rank).or_default();
                storage.pack(way.sent(neighbour, comm.rank()), sent)?;
                *coming += way.received(neighbour).len() * storage.row_bytes();
            }
        }
        let mut messages = Messages::default();
        for (rank, (sent, coming)) in letters {
            messages.add(rank, sent, coming);
        }
        messages.start(comm)?;
        Ok(Exchange { tables, messages, way })
    }

    /// Waits for the messages, and puts what they bring where it belongs.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn finish(self) -> Result<()> {
        let received: BTreeMap<usize, Vec<u8>> = self.messages.finish()?.into_iter().collect();
        let mut rest: BTreeMap<usize, &[u8]> = received.iter().map(|(rank, bytes)| (*rank, &bytes[..])).collect();
        for Table { halo, storage } in &self.tables {
            for neighbour in halo.neighbours() {
                let rows = self.way.received(neighbour);
                let Some(bytes) = rest.get_mut(&neighbour.rank) else { continue };
                let (own, behind) = bytes.split_at(rows.len() * storage.row_bytes());
                storage.unpack(rows, own)?;
                *bytes = behind;
            }
            storage.set_ghosts_fresh(self.way == Direction::ToGhosts);
        }
        Ok(())
    }
}

/// Those tables whose ghosts do not have the numbers of their owners, or may be stale because an exported array may be written. All
/// processes must call it with the same tables.
///
/// # Errors
/// What MPI says.
pub fn stale<'a>(tables: impl Iterator<Item = Table<'a>>, comm: &Comm) -> Result<Vec<Table<'a>>> {
    let mut tables: Vec<Table<'a>> = tables.collect();
    // All processes request arrays, but each keeps its own for as long as it needs.
    let lent: Vec<&Storage> = tables.iter().map(|table| table.storage).filter(|storage| storage.was_lent()).collect();
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
    Exchange::start(vec![Table { halo, storage: &flags }], halo.comm())?.finish()?;
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
        let (Some(halo), storage) = (dat.dataset().set().halo(), dat.storage()) else { return Ok(()) };
        let _turn = storage.turn(true)?;
        let stale = stale(std::iter::once(Table { halo, storage }), halo.comm())?;
        Exchange::start(stale, halo.comm())?.finish()
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
        let Some(halo) = set.halo() else { return Ok(own) };
        let numbers = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let places = halo.comm().gather_all(&numbers(&halo.numbers()[..set.size()]))?;
        let rows = halo.comm().gather_all(&own)?;
        let length = storage.row_bytes();
        let mut all = vec![0; halo.whole() * length];
        for (places, rows) in places.iter().zip(&rows) {
            for (place, row) in places.chunks_exact(4).zip(rows.chunks_exact(length.max(1))) {
                let place = i32::from_le_bytes(place.try_into().expect("invariant: four bytes")) as usize;
                all[place * length..][..length].copy_from_slice(row);
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
