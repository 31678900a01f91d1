//! What a process has of a distributed set, and with whom it exchanges the numbers of ghosts.

use std::collections::HashMap;
use std::sync::Arc;

use parloop_mpi::Comm;

use super::identity::{Id, Identity};
use super::layers::Layers;
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
    /// The run of each element, where columns lead through them.
    runs: Option<Vec<i32>>,
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
    /// The lists of both sides: processes with ghosts ask the owners. `owners` has that of each ghost, and `whole` says how many elements all processes
    /// have. All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn new(comm: &Comm, share: Share, owners: Vec<u32>, whole: usize) -> Result<Halo> {
        let mut imports: Vec<Vec<i32>> = vec![Vec::new(); comm.size()];
        for (place, &owner) in (share.owned..).zip(&owners) {
            imports[owner as usize].push(place as i32);
        }
        let asked = |places: &Vec<i32>| places.iter().flat_map(|&place| share.numbers[place as usize].to_le_bytes()).collect();
        let exports = comm.exchange_all(imports.iter().map(asked).collect())?;
        let places: HashMap<i32, i32> = share.numbers[..share.owned].iter().copied().zip(0..).collect();
        let number = |bytes: &[u8]| places[&i32::from_le_bytes(bytes.try_into().expect("invariant: four bytes"))];
        let neighbours = imports.into_iter().zip(exports).enumerate().map(|(rank, (imports, asked))| {
            let exports = asked.chunks_exact(4).map(number).collect();
            Neighbour { rank, exports, imports }
        });
        let neighbours = neighbours.filter(|neighbour| !neighbour.exports.is_empty() || !neighbour.imports.is_empty()).collect();
        Ok(Halo { id: Identity::fresh(), comm: comm.clone(), whole, share, neighbours, runs: None })
    }

    /// With the run of each element: columns lead only to elements of one run, which follow one another.
    pub(crate) fn with_runs(self, runs: Vec<i32>) -> Halo {
        Halo { runs: Some(runs), ..self }
    }

    /// The same for the cells of columns over the elements: `first` says for the number of an element in the whole set how many cells are in the columns before
    /// it, `whole` how many cells all columns have.
    pub(crate) fn of_cells(&self, layers: &Layers, first: impl Fn(i32) -> i32, whole: usize) -> Halo {
        let Share { numbers, core, owned, exec } = &self.share;
        let cells_before = |column: usize| column.checked_sub(1).map_or(0, |last| layers.column(last).end() as usize);
        let cells_of = |columns: &[i32]| columns.iter().flat_map(|&column| layers.column(column as usize).rows()).collect();
        let in_whole = |(column, &number): (usize, &i32)| {
            let first = first(number);
            first..first + layers.column(column).cells
        };
        let share = Share {
            numbers: numbers.iter().enumerate().flat_map(in_whole).collect(),
            core: cells_before(*core),
            owned: cells_before(*owned),
            exec: cells_before(*exec),
        };
        let of_neighbour = |Neighbour { rank, exports, imports }: &Neighbour| Neighbour {
            rank: *rank,
            exports: cells_of(exports),
            imports: cells_of(imports),
        };
        let neighbours = self.neighbours.iter().map(of_neighbour).collect();
        Halo { id: Identity::fresh(), comm: self.comm.clone(), whole, share, neighbours, runs: None }
    }

    /// Whether columns may lead from one element to another.
    pub(crate) fn is_one_run(&self, one: i32, other: i32) -> bool {
        one == other || self.runs.as_ref().is_some_and(|runs| runs[one as usize] == runs[other as usize])
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
