//! Where an instruction of the body stands: the loops around it, the element at hand, and of an extruded set its column and layer.

use parloop_device::DType;
use parloop_loop::Name;
use parloop_loop::syntax::{Expr, Instruction};

use super::names::{Array, Number, Tall};
use crate::shape::{LayerShape, MASK_BITS};

/// Where an instruction of the body stands: the loops around it, and the element at hand.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The inames around it.
    pub inames: Vec<Name>,
    /// The instructions after which the element is known.
    pub ready: Vec<Name>,
    /// The element.
    pub element: Expr,
    /// Its place among those that are visited.
    pub place: Expr,
    /// Which slots it writes, where not all.
    pub mask: Option<Mask>,
    /// Where in an extruded set it is.
    pub level: Option<Level>,
}

/// Which slots of the element at hand are written.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    /// The bits of slots, from the first, where they fit into one word.
    pub word: Option<Expr>,
    pub place: Expr,
    pub words: usize,
}

impl Mask {
    /// Whether the bit of a slot is set.
    pub fn has(&self, slot: Expr) -> Expr {
        let (word, bit) = match &self.word {
            Some(word) => (word.clone(), slot),
            None => {
                let word = self.place.clone() * self.words + slot.clone().floor_divide(MASK_BITS);
                (Expr::from(&Array::Masks.name()).at([word]), slot % MASK_BITS)
            }
        };
        ((word >> bit) & 1).equals(1)
    }
}

/// The column and the layer at hand.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub column: Expr,
    /// The layer, counted from the lowest of the column.
    pub layer: Expr,
    /// How many cells the column has.
    pub cells: Expr,
    /// The row of data on the cells.
    pub row: Expr,
    /// The number of the layer, as the kernel gets it.
    pub number: Expr,
    /// Whether the rows of maps were fetched when the column was entered.
    pub has_rows: bool,
}

impl Level {
    pub fn new(layers: LayerShape, column: Expr, layer: Expr, has_rows: bool) -> Level {
        let (cells, row, number) = match layers.varied {
            true => {
                let of_column = |what: Tall| entry_of_column(column.clone(), what);
                (of_column(Tall::Cells), of_column(Tall::Before) + layer.clone(), of_column(Tall::Bottom) + layer.clone())
            }
            false => {
                let cells = Expr::from(&Number::Cells.name());
                (cells.clone(), column.clone() * cells + layer.clone(), layer.clone())
            }
        };
        Level { column, layer, cells, row, number, has_rows }
    }
}

pub(super) fn entry_of_column(column: Expr, what: Tall) -> Expr {
    Expr::from(&Array::Heights.name()).at([column, Expr::from(what as usize)])
}

pub(super) fn name(name: &str) -> Name {
    name.into()
}

/// `<type> name = value`, under the same id.
pub(super) fn known(name: &str, dtype: DType, value: Expr) -> Instruction {
    Instruction::assign(name, Expr::var(name), value).declaring(dtype)
}

/// What stands at a place of an array.
pub(super) fn entry(array: Array, place: Expr) -> Expr {
    Expr::from(&array.name()).at([place])
}
