//! Pairs of maps.

use super::batch::Batches;
use crate::plan::incidence::fits;
use crate::plan::{PlanError, Targets};

/// The row targets and the column targets of the same elements: each of an element's row targets meets each of its column targets.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub(super) rows: &'a dyn Batches,
    pub(super) columns: &'a dyn Batches,
}

impl<'a> Pair<'a> {
    /// Puts together what must have the same elements.
    ///
    /// # Errors
    /// The numbers of elements differ, or the number of row targets or of column targets of all elements does not fit in 32 bits.
    pub fn new<R: Targets, C: Targets>(rows: &'a R, columns: &'a C) -> Result<Self, PlanError> {
        let count = rows.count();
        if count != columns.count() {
            return Err(PlanError::PairCounts { rows: count, columns: columns.count() });
        }
        fits("the number of row targets of all elements", count.saturating_mul(rows.arity()))?;
        fits("the number of column targets of all elements", count.saturating_mul(columns.arity()))?;
        Ok(Self { rows, columns })
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.rows.size().count
    }

    /// How many blocks an element has.
    pub(super) fn blocks_each(&self) -> usize {
        self.rows.size().arity.saturating_mul(self.columns.size().arity)
    }

    /// Whether rows and columns come from one source.
    pub(super) fn is_square(&self) -> bool {
        std::ptr::addr_eq(self.rows, self.columns)
    }

    pub(super) fn check(&self, pair: usize, rows: usize, columns: usize) -> Result<(), PlanError> {
        for (side, found, expected) in [("row", self.rows.size().targets, rows), ("column", self.columns.size().targets, columns)] {
            if found != expected {
                return Err(PlanError::PairTargets { pair, side, found, expected });
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Pair<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair").field("rows", &self.rows.size()).field("columns", &self.columns.size()).finish()
    }
}
