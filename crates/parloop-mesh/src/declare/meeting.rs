//! Where the rows and columns of an element are in a matrix, and what of them it does not get.

use std::sync::Arc;

use super::map::Map;

/// Where the rows and columns of an element are in a matrix.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The map to the rows.
    pub rows: Map,
    /// The map to the columns.
    pub columns: Map,
    /// What the matrix does not get.
    pub dropped: Dropped,
}

/// Rows and columns that matrices do not get, by the elements of the row and of the column set, or single ones of their blocks: boundary
/// conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// Elements of the row set, ascending.
    pub rows: Arc<[i32]>,
    /// Elements of the column set, ascending.
    pub columns: Arc<[i32]>,
    /// Single rows of blocks, each `element * rows of a block + row`, ascending.
    pub single_rows: Arc<[i32]>,
    /// Single columns of blocks, each `element * columns of a block + column`, ascending.
    pub single_columns: Arc<[i32]>,
}

impl Dropped {
    /// Whether single rows or columns of blocks are dropped.
    pub(crate) fn has_singles(&self) -> bool {
        !self.single_rows.is_empty() || !self.single_columns.is_empty()
    }
}
