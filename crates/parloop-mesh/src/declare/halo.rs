//! What a process has of a distributed set, and with whom it exchanges the numbers of ghosts.

use std::sync::Arc;

use parloop_mpi::Comm;

use super::identity::{Id, Identity};
use crate::Result;
use crate::plan::Share;

/// What this process has of a distributed set.
#[derive(Debug)]
pub struct Halo {
    id: Identity,
    comm: Comm,
    whole: usize,
    share: Share,
    neighbours: Vec<Neighbour>,
}

/// A process that has ghosts of ours, or whose elements we have as ghosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// Its rank.
    pub rank: usize,
    /// Elements of ours that it has as ghosts.
    pub exports: Vec<i32>,
    /// Our ghosts of its elements.
    pub imports: Vec<i32>,
}

impl Halo {
    /// The lists of both sides: processes with ghosts ask the owners. All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn new(comm: &Comm, share: Share, owners: &[u32]) -> Result<Halo> {
        let mut imports: Vec<Vec<i32>> = vec![Vec::new(); comm.size()];
        for (place, &number) in share.numbers.iter().enumerate().skip(share.owned) {
            imports[owners[number as usize] as usize].push(place as i32);
        }
        let asked = |places: &Vec<i32>| places.iter().flat_map(|&place| share.numbers[place as usize].to_le_bytes()).collect();
        let exports = comm.exchange_all(imports.iter().map(asked).collect())?;
        let places = share.places(owners.len());
        let number = |bytes: &[u8]| places[i32::from_le_bytes(bytes.try_into().expect("invariant: four bytes")) as usize];
        let neighbours = imports.into_iter().zip(exports).enumerate().map(|(rank, (imports, asked))| {
            let exports = asked.chunks_exact(4).map(number).collect();
            Neighbour { rank, exports, imports }
        });
        let neighbours = neighbours.filter(|neighbour| !neighbour.exports.is_empty() || !neighbour.imports.is_empty()).collect();
        Ok(Halo { id: Identity::fresh(), comm: comm.clone(), whole: owners.len(), share, neighbours })
    }

    /// Its number, by which others keep what they know about it.
    pub(crate) fn id(&self) -> Id {
        self.id.number()
    }

    /// The processes that share the set.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// How many elements all processes have together.
    pub fn whole(&self) -> usize {
        self.whole
    }

    /// For each element its number in the whole set.
    pub fn numbers(&self) -> &[i32] {
        &self.share.numbers
    }

    /// How many elements loops run that add to others through maps: the owned ones and, behind them, those of other processes that lead to
    /// elements of this one.
    pub fn exec(&self) -> usize {
        self.share.exec
    }

    /// With whom ghosts are exchanged, by rank.
    pub fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }
}

/// Halos are shared by a set and all that is made of it.
pub type SharedHalo = Arc<Halo>;
