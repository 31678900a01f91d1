//! Tables in a better order: where the numbers of a mesh have none, the rows that a loop leads to are copied into tables in which
//! neighbours are near, the loop runs there, and what it wrote is brought back. Threads then write to memory of their own.

use std::sync::Arc;

use parloop_kernel::KernelError;

use super::{Maker, Source};
use crate::Result;
use crate::access::Access;
use crate::declare::identity::Id;
use crate::lower::{Array, Number, Permute};
use crate::run::written::What;

/// A table in a better order.
pub(super) struct Packed {
    /// Its number in the shape.
    table: usize,
    /// Its memory.
    own: Source,
    /// For each row of the user's table its place here.
    places: Source,
    rows: usize,
    /// How it is brought back, if it is.
    back: Option<Permute>,
}

/// A set whose elements get better numbers: for each its place, and for each place the element.
struct Ranked {
    set: Id,
    places: Arc<[i32]>,
    uploaded: Option<(Source, Source)>,
}

impl Maker<'_> {
    /// Gives better numbers to what the maps of the loop lead to, and copies the tables there. From here on the maps and tables of the loop
    /// are these. Where there is little room nothing is done.
    pub(super) fn pack(&mut self) -> Result<()> {
        let making = self.making;
        let bytes: usize = making.parts.iter().map(|part| part.storage().len() * part.dtype().size()).sum();
        if bytes as u64 > making.context.device().memory_info().map_err(KernelError::from)?.free / 4 {
            return Ok(());
        }
        let mut ranked: Vec<Ranked> = Vec::new();
        for map in making.maps() {
            if !map.is_local()? && !ranked.iter().any(|known| known.set == map.to().id()) {
                ranked.push(Ranked { set: map.to().id(), places: map.reverse_cuthill_mckee()?, uploaded: None });
            }
        }
        for (number, map) in making.maps().into_iter().enumerate() {
            if let Some(ranked) = ranked.iter().find(|known| known.set == map.to().id()) {
                let values = map.values()?.iter().map(|&value| ranked.places[value as usize]).collect();
                self.renumbered.insert(number, values);
            }
        }
        for index in 0..making.parts.len() {
            let (part, shape) = (&making.parts[index], &making.shape.parts[index]);
            let Some(map) = &part.map else { continue };
            let Some(ranked) = ranked.iter_mut().find(|known| known.set == map.to().id()) else { continue };
            if !self.packed.iter().any(|packed| packed.table == shape.table) {
                self.pack_table(index, ranked)?;
            }
        }
        Ok(())
    }

    fn pack_table(&mut self, index: usize, ranked: &mut Ranked) -> Result<()> {
        let making = self.making;
        let (storage, shape) = (making.parts[index].storage(), &making.shape.parts[index]);
        let (rows, bytes) = (storage.rows(), storage.len() * storage.dtype().size());
        let (places, elements) = match ranked.uploaded {
            Some(uploaded) => uploaded,
            None => {
                let mut elements = vec![0; rows];
                for (element, &place) in ranked.places.iter().enumerate() {
                    elements[place as usize] = element as i32;
                }
                *ranked.uploaded.insert((self.upload(&ranked.places)?, self.upload(&elements)?))
            }
        };
        let own = Source::Own(self.allocate_scratch(bytes)?);
        let uses = || making.shape.parts.iter().filter(|part| part.table == shape.table);
        let only_added = uses().all(|part| part.access == Access::Inc);
        let (there, back) = match (only_added, uses().any(|part| part.access.writes())) {
            (true, _) => (Permute::Clear, Some(Permute::Add)),
            (false, true) => (Permute::Copy, Some(Permute::Copy)),
            (false, false) => (Permute::Copy, None),
        };
        let table = shape.table;
        self.permute(there, index, [own, Source::Table(table), elements], rows)?;
        self.packed.push(Packed { table, own, places, rows, back });
        Ok(())
    }

    /// Brings back what the loop wrote.
    pub(super) fn unpack(&mut self) -> Result<()> {
        for packed in std::mem::take(&mut self.packed) {
            let index = self.making.shape.parts.iter().position(|part| part.table == packed.table);
            let index = index.expect("invariant: every table has an argument");
            if let Some(back) = packed.back {
                self.permute(back, index, [Source::Table(packed.table), packed.own, packed.places], packed.rows)?;
            }
        }
        Ok(())
    }

    /// One pass over the rows of the table of an argument.
    fn permute(&mut self, what: Permute, index: usize, [to, from, list]: [Source; 3], rows: usize) -> Result<()> {
        let part = &self.making.shape.parts[index];
        let executable = self.compiled(None, What::Permute { what, dtype: part.dtype, row: part.row, index: self.making.shape.index })?;
        let arrays = [(Array::Table(0), to), (Array::Table(1), from), (Array::List, list)];
        self.step(&executable, &[(Number::Count, rows as i64)], &arrays)
    }

    /// Where a table of the loop is.
    pub(super) fn table(&self, table: usize) -> Source {
        self.packed.iter().find(|packed| packed.table == table).map_or(Source::Table(table), |packed| packed.own)
    }

    /// The values of a map of the loop.
    pub(super) fn map_values(&self, number: usize) -> Result<Vec<i32>> {
        match self.renumbered.get(&number) {
            Some(values) => Ok(values.clone()),
            None => Ok(self.making.iteration.targets(&self.making.maps()[number])?.into_vec()),
        }
    }
}
