//! Where the blocks of each element are stored.

use std::ops::Range;

use super::{Pair, Pattern};
use crate::plan::PlanError;
use crate::plan::threads;

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

/// Whether positions in so many blocks fit in an `i32`.
pub(super) fn are_narrow(stored: usize) -> bool {
    i32::try_from(stored).is_ok()
}

/// Rows of up to so many blocks are looked through from their beginning.
const SHORT: usize = 24;

/// Where a column stands in an ascending row.
#[inline]
fn place(row: &[i32], column: i32) -> Option<usize> {
    if row.len() > SHORT { row.binary_search(&column).ok() } else { row.iter().position(|&stored| stored == column) }
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
        pair.check(0, self.rows(), self.width())?;
        Ok(match are_narrow(self.stored()) {
            true => Positions::Narrow(self.find(pair, threads, |position| position as i32)?),
            false => Positions::Wide(self.find(pair, threads, |position| position)?),
        })
    }

    fn find<P: Copy + Default + Send>(&self, pair: Pair, threads: usize, make: impl Fn(i64) -> P + Sync) -> Result<Vec<P>, PlanError> {
        let each = pair.rows.size().arity.saturating_mul(pair.columns.size().arity);
        let count = pair.count().saturating_mul(each);
        let mut positions = Vec::new();
        positions.try_reserve_exact(count).map_err(|_| PlanError::NoRoom { what: "positions of blocks", count })?;
        positions.resize(count, P::default());
        if positions.is_empty() {
            return Ok(positions);
        }
        let size = pair.count().div_ceil(threads.max(1));
        let parts = positions.chunks_mut(size * each).enumerate();
        let parts: Vec<_> = parts.map(|(number, out)| (number * size..number * size + out.len() / each, out)).collect();
        for found in threads::each(parts, |(places, out)| self.find_some(pair, places, out, &make))? {
            found?;
        }
        Ok(positions)
    }

    fn find_some<P: Copy>(&self, pair: Pair, places: Range<usize>, out: &mut [P], make: impl Fn(i64) -> P) -> Result<(), PlanError> {
        let (rows_each, columns_each) = (pair.rows.size().arity, pair.columns.size().arity);
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let runs = places.clone().step_by(RUN).map(|first| first..places.end.min(first + RUN));
        for (run, out) in runs.zip(out.chunks_mut((rows_each * columns_each).saturating_mul(RUN))) {
            rows.clear();
            columns.clear();
            pair.rows.read(run.clone(), &mut rows);
            pair.columns.read(run, &mut columns);
            let elements = rows.chunks_exact(rows_each).zip(columns.chunks_exact(columns_each));
            for ((rows, columns), out) in elements.zip(out.chunks_exact_mut(rows_each * columns_each)) {
                for (&row, out) in rows.iter().zip(out.chunks_exact_mut(columns_each)) {
                    self.find_row(row, columns, out, &make)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the blocks of one row target of an element.
    #[inline]
    fn find_row<P: Copy>(&self, row: i32, columns: &[i32], out: &mut [P], make: impl Fn(i64) -> P) -> Result<(), PlanError> {
        if row < 0 {
            out.fill(make(-1));
            return Ok(());
        }
        let (start, stored) = (self.starts[row as usize], self.row(row as usize));
        for (&column, out) in columns.iter().zip(out) {
            *out = make(match column {
                0.. => start + place(stored, column).ok_or(PlanError::NotStored { row, column })? as i64,
                _ => -1,
            });
        }
        Ok(())
    }
}
