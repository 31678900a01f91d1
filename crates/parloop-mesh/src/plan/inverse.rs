//! Gather by target: for each target, the elements and slots that touch it.

use super::offset::Offset;
use super::{Incidence, PlanError};

/// The inverse of the tables to one set.
///
/// Row `r` is of target `r`, or of `targets[r]` where there is a list, and has the entries from `starts[r]` to `starts[r + 1]`. An entry is
/// `element * slots + slot`; in a row they ascend.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Inverse, Table};
///
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 4, drops: false };
/// let inverse = Inverse::new(&Incidence::new(Elements::Range(0..2), &[triangles])?)?;
/// assert_eq!(inverse.starts, [0, 1, 3, 5, 6]);
/// assert_eq!(inverse.row(2), [2, 5]); // slot 2 of element 0, slot 2 of element 1
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverse<T = i32> {
    /// The targets that have entries, ascending, where fewer than half of all have; then only these have rows.
    pub targets: Option<Vec<i32>>,
    /// Where the entries of each row start; one more than there are rows.
    pub starts: Vec<T>,
    /// `element * slots + slot`.
    pub entries: Vec<T>,
}

impl Inverse {
    /// Inverts the tables of a loop, with offsets of 32 bits.
    ///
    /// # Errors
    /// The tables go to several sets, or `element * slots + slot` does not fit in an `i32`.
    pub fn new(incidence: &Incidence) -> Result<Self, PlanError> {
        Inverse::of(incidence)
    }
}

impl<T: Offset> Inverse<T> {
    /// Inverts the tables of a loop, with offsets of that width.
    ///
    /// # Errors
    /// The tables go to several sets, or `element * slots + slot` does not fit.
    pub fn of(incidence: &Incidence) -> Result<Self, PlanError> {
        incidence.one_set("an inverse")?;
        let (elements, slots) = (incidence.elements(), incidence.slots());
        T::check("the largest entry of an inverse", elements.end().saturating_mul(slots))?;
        let (mut starts, entries) = incidence.rows(|position, slot| T::from_place(elements.at(position) * slots + slot))?;
        let has_entries = |row: &[T]| row[0] != row[1];
        let touched = starts.windows(2).filter(|row| has_entries(row)).count();
        let targets = (2 * touched < incidence.targets()).then(|| {
            let list =
                (0..incidence.targets()).filter(|&target| has_entries(&starts[target..target + 2])).map(|target| target as i32).collect();
            // Only empty rows repeat a start, so that what is left is one start for each row that has entries, and the end.
            starts.dedup();
            list
        });
        Ok(Self { targets, starts, entries })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The target of a row.
    ///
    /// # Panics
    /// There is no such row.
    pub fn target(&self, row: usize) -> usize {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        self.targets.as_ref().map_or(row, |targets| targets[row] as usize)
    }

    /// The entries of a row.
    ///
    /// # Panics
    /// There is no such row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.entries[self.starts[row].place()..self.starts[row + 1].place()]
    }
}
