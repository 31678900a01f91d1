//! Where the targets of an element come from: a table, here; a further source is one more type.
//!
//! A source is checked whole when it is made, so that those who visit it check nothing.

use super::{Elements, PlanError, Table};

/// The targets of the elements of a loop, element by element.
///
/// It is implemented in this crate only: values are promised to be negative or below [`Targets::targets`].
pub trait Targets: checked::Checked + Sync {
    /// How many elements there are.
    fn count(&self) -> usize;

    /// How many targets an element has.
    fn arity(&self) -> usize;

    /// How many elements the target set has.
    fn targets(&self) -> usize;

    /// Calls `with` for the targets of the element at a place of the loop, in order; a negative one leads nowhere.
    ///
    /// # Panics
    /// The place is not below [`Targets::count`].
    fn each(&self, place: usize, with: impl FnMut(i32));

    /// The targets of some places, one element after another, where they stand so in memory.
    fn listed(&self, _places: std::ops::Range<usize>) -> Option<&[i32]> {
        None
    }
}

mod checked {
    /// A source of which all values have been checked.
    pub trait Checked {}
}

/// The rows of a table, for all elements of a loop.
///
/// ```
/// use parloop_mesh::plan::{Elements, Flat, Table, Targets};
///
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 4, drops: false };
/// let second = Flat::new(Elements::List(&[1]), triangles)?;
/// let mut found = Vec::new();
/// second.each(0, |target| found.push(target));
/// assert_eq!(found, [1, 3, 2]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flat<'a> {
    elements: Elements<'a>,
    table: Table<'a>,
}

impl<'a> Flat<'a> {
    /// Checks that each element has a row in the table, and that its values are targets, or negative where the table drops these.
    ///
    /// # Errors
    /// What is wrong with the table or with the elements, with its place.
    pub fn new(elements: Elements<'a>, table: Table<'a>) -> Result<Self, PlanError> {
        elements.check()?;
        table.check(0, &elements)?;
        Ok(Self { elements, table })
    }

    /// As [`new`](Self::new), with values that were checked before and cannot have changed since.
    ///
    /// # Errors
    /// An element has no row in the table.
    pub(crate) fn of_checked(elements: Elements<'a>, table: Table<'a>) -> Result<Self, PlanError> {
        elements.check()?;
        table.check_rows(0, &elements)?;
        Ok(Self { elements, table })
    }
}

impl checked::Checked for Flat<'_> {}

impl Targets for Flat<'_> {
    fn count(&self) -> usize {
        self.elements.len()
    }

    fn arity(&self) -> usize {
        self.table.arity
    }

    fn targets(&self) -> usize {
        self.table.targets
    }

    #[inline]
    fn each(&self, place: usize, mut with: impl FnMut(i32)) {
        let arity = self.table.arity;
        let row = &self.table.values[self.elements.at(place) * arity..][..arity];
        // Triangles and tetrahedra are worth loops of a known length.
        match row {
            &[a, b, c] => [a, b, c].into_iter().for_each(with),
            &[a, b, c, d] => [a, b, c, d].into_iter().for_each(with),
            row => row.iter().for_each(|&value| with(value)),
        }
    }

    #[inline]
    fn listed(&self, places: std::ops::Range<usize>) -> Option<&[i32]> {
        match &self.elements {
            Elements::Range(range) => {
                self.table.values.get((range.start + places.start) * self.table.arity..(range.start + places.end) * self.table.arity)
            }
            Elements::List(_) => None,
        }
    }
}
