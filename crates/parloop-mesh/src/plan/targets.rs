//! Where the targets of an element come from: a flat table, or one that moves from layer to layer of an extruded mesh.
//!
//! Each source is checked whole when it is made, so that those who visit it check nothing. A further one is one more type here.

use std::ops::Range;

use super::incidence::fits;
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
}

/// The cells of an extruded mesh, or the facets between them: for each element of the base set one for each layer, the layers of an
/// element one after another. Column `i` of a row moves by `offsets[i]` from a layer to the next; a negative value leads nowhere in all.
///
/// ```
/// use parloop_mesh::plan::{Elements, Layers, Table, Targets};
///
/// // One edge, extruded to three quadrilaterals. The vertices over each base vertex are numbered upwards.
/// let edge = Table { values: &[0, 1, 4, 5], arity: 4, set: 0, targets: 8, drops: false };
/// let cells = Layers::cells(Elements::Range(0..1), edge, &[1, 1, 1, 1], 0..3)?;
/// let mut top = Vec::new();
/// cells.each(2, |target| top.push(target));
/// assert_eq!(top, [2, 3, 6, 7]);
///
/// // Between three cells are two facets, each of which sees the cell below and the cell above.
/// let facets = Layers::facets(Elements::Range(0..1), edge, &[1, 1, 1, 1], 0..2)?;
/// let mut upper = Vec::new();
/// facets.each(1, |target| upper.push(target));
/// assert_eq!((facets.count(), upper), (2, vec![1, 2, 5, 6, 2, 3, 6, 7]));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layers<'a> {
    base: Flat<'a>,
    offsets: &'a [i32],
    layers: Range<usize>,
    /// How many layers an element sees.
    height: usize,
}

impl<'a> Layers<'a> {
    /// The cells of some layers. The table has their targets in layer 0.
    ///
    /// # Errors
    /// What is wrong with the table or with the elements, with its place; another number of offsets than columns; a value that leaves the
    /// target set on its way up; too many elements.
    pub fn cells(elements: Elements<'a>, table: Table<'a>, offsets: &'a [i32], layers: Range<usize>) -> Result<Self, PlanError> {
        Self::new(Flat::new(elements, table)?, offsets, layers, 1)
    }

    /// The facets between each of some layers and the next above it: first the targets of the cell below, then those of the cell above.
    ///
    /// # Errors
    /// Those of [`Layers::cells`].
    pub fn facets(elements: Elements<'a>, table: Table<'a>, offsets: &'a [i32], layers: Range<usize>) -> Result<Self, PlanError> {
        Self::new(Flat::new(elements, table)?, offsets, layers, 2)
    }

    fn new(base: Flat<'a>, offsets: &'a [i32], layers: Range<usize>, height: usize) -> Result<Self, PlanError> {
        let Table { values, arity, targets, .. } = base.table;
        if offsets.len() != arity {
            return Err(PlanError::Offsets { found: offsets.len(), arity });
        }
        let whole = Self { base, offsets, layers, height };
        fits("the number of elements", whole.base.count().saturating_mul(whole.layers.len()))?;
        if whole.layers.is_empty() {
            return Ok(whole);
        }
        // Values move in a straight line from layer 0, where they are targets, so that the last layer speaks for those between.
        let layer = fits("the number of layers", whole.layers.end.saturating_add(height - 1))? - 1;
        for position in 0..whole.base.count() {
            let row = whole.base.elements.at(position);
            for (column, (&value, &offset)) in values[row * arity..][..arity].iter().zip(offsets).enumerate() {
                let moved = i64::from(value) + i64::from(layer) * i64::from(offset);
                if value >= 0 && !(0..targets as i64).contains(&moved) {
                    return Err(PlanError::LayerOutOfRange { row, column, value: moved, layer, targets });
                }
            }
        }
        Ok(whole)
    }
}

impl checked::Checked for Layers<'_> {}

impl Targets for Layers<'_> {
    fn count(&self) -> usize {
        self.base.count() * self.layers.len()
    }

    fn arity(&self) -> usize {
        self.height * self.base.arity()
    }

    fn targets(&self) -> usize {
        self.base.targets()
    }

    #[inline]
    fn each(&self, place: usize, mut with: impl FnMut(i32)) {
        let (place, count) = (place as u32, self.layers.len() as u32);
        let (position, layer) = (place / count, self.layers.start as i32 + (place % count) as i32);
        for layer in layer..layer + self.height as i32 {
            let mut offsets = self.offsets.iter();
            self.base.each(position as usize, |value| {
                let offset = offsets.next().copied().unwrap_or(0);
                // The checked sum is a target, so that the product fits as well.
                with(if value < 0 { value } else { value.wrapping_add(layer.wrapping_mul(offset)) });
            });
        }
    }
}
