//! Where the blocks of each element are stored.

use std::ops::Range;

use super::{Pair, Pattern, search};
use crate::plan::incidence::fits;
use crate::plan::{PlanError, threads};

/// How many elements are read at a time.
const RUN: usize = 256;

/// Positions of blocks; -1 is not a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Positions {
    /// All blocks of the pattern can be numbered by 32 bits.
    Narrow(Vec<i32>),
    /// There are more.
    Wide(Vec<i64>),
}

impl Positions {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Positions::Narrow(positions) => positions.len(),
            Positions::Wide(positions) => positions.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position with this number; none where nothing is stored, or where there is no such number.
    pub fn get(&self, number: usize) -> Option<usize> {
        match self {
            Positions::Narrow(positions) => usize::try_from(*positions.get(number)?).ok(),
            Positions::Wide(positions) => usize::try_from(*positions.get(number)?).ok(),
        }
    }
}

/// Whether positions in this many blocks fit in an `i32`.
pub(super) fn are_narrow(stored: usize) -> bool {
    i32::try_from(stored).is_ok()
}

impl Pattern {
    /// For each element of a pair the positions of its blocks in [`Pattern::columns`], on up to `threads` threads; 0 counts as 1.
    ///
    /// Element by element, and in an element row by row: `[element][row target][column target]`. It is -1 where one of the two leads nowhere.
    ///
    /// # Errors
    /// Two targets of an element meet in a block that is not stored, a source of targets leads to a set of another size than the matrix
    /// has rows or columns, there is no room, or a thread cannot be started.
    pub fn positions(&self, pair: Pair, threads: usize) -> Result<Positions, PlanError> {
        let count = pair.count().saturating_mul(pair.blocks_each());
        Ok(match are_narrow(self.stored()) {
            true => {
                let mut positions = zeros(count)?;
                self.find(pair, threads, &mut positions, |position| position as i32)?;
                Positions::Narrow(positions)
            }
            false => {
                let mut positions = zeros(count)?;
                self.find(pair, threads, &mut positions, |position| position)?;
                Positions::Wide(positions)
            }
        })
    }

    /// As [`positions`](Self::positions), in memory of the caller's, which has a place for each; whether any is -1.
    ///
    /// # Errors
    /// As [`positions`](Self::positions); there are too many blocks for 32 bits.
    pub(crate) fn find_positions(&self, pair: Pair, threads: usize, out: &mut [i32]) -> Result<bool, PlanError> {
        fits("the number of blocks", self.stored())?;
        self.find(pair, threads, out, |position| position as i32)
    }

    /// Finds all positions; whether any is -1.
    fn find<P: Copy + Send>(&self, pair: Pair, threads: usize, out: &mut [P], make: impl Fn(i64) -> P + Sync) -> Result<bool, PlanError> {
        pair.check(0, self.rows(), self.width())?;
        let each = pair.blocks_each();
        debug_assert_eq!(out.len(), pair.count() * each);
        if out.is_empty() {
            return Ok(false);
        }
        let size = pair.count().div_ceil(threads.max(1));
        let parts = out.chunks_mut(size * each).enumerate();
        let parts: Vec<_> = parts.map(|(number, out)| (number * size..number * size + out.len() / each, out)).collect();
        let mut drops = false;
        for found in threads::each(parts, |(places, out)| self.find_some(pair, places, out, &make))? {
            drops |= found?;
        }
        Ok(drops)
    }

    fn find_some<P: Copy>(&self, pair: Pair, places: Range<usize>, out: &mut [P], make: impl Fn(i64) -> P) -> Result<bool, PlanError> {
        let (rows_each, columns_each) = (pair.rows.size().arity, pair.columns.size().arity);
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let mut drops = false;
        let runs = places.clone().step_by(RUN).map(|first| first..places.end.min(first + RUN));
        for (run, out) in runs.zip(out.chunks_mut((rows_each * columns_each).saturating_mul(RUN))) {
            rows.clear();
            pair.rows.read(run.clone(), &mut rows);
            let columns = if pair.is_square() {
                &rows
            } else {
                columns.clear();
                pair.columns.read(run, &mut columns);
                &columns
            };
            let elements = rows.chunks_exact(rows_each).zip(columns.chunks_exact(columns_each));
            for ((rows, columns), out) in elements.zip(out.chunks_exact_mut(rows_each * columns_each)) {
                for (&row, out) in rows.iter().zip(out.chunks_exact_mut(columns_each)) {
                    drops |= self.find_row(row, columns, out, &make)?;
                }
            }
        }
        Ok(drops)
    }

    /// Finds the blocks of one row target of an element; whether any leads nowhere.
    #[inline]
    fn find_row<P: Copy>(&self, row: i32, columns: &[i32], out: &mut [P], make: impl Fn(i64) -> P) -> Result<bool, PlanError> {
        if row < 0 {
            out.fill(make(-1));
            return Ok(true);
        }
        let (start, end) = (self.starts[row as usize], self.starts[row as usize + 1]);
        let stored = &self.columns[start as usize..];
        let mut drops = false;
        for (&column, out) in columns.iter().zip(out) {
            *out = make(match search::find(stored, (end - start) as usize, column) {
                Some(place) => start + place as i64,
                None if column < 0 => {
                    drops = true;
                    -1
                }
                None => return Err(PlanError::NotStored { row, column }),
            });
        }
        Ok(drops)
    }
}

/// Room for positions.
fn zeros<P: Copy + Default>(count: usize) -> Result<Vec<P>, PlanError> {
    let mut positions = Vec::new();
    positions.try_reserve_exact(count).map_err(|_| PlanError::NoRoom { what: "positions of blocks", count })?;
    positions.resize(count, P::default());
    Ok(positions)
}
