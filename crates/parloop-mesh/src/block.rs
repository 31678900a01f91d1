//! The part of a matrix that a kernel gets.

/// The part of a matrix that belongs to an element: blocks below and beside each other, each with a number of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// How many blocks are below each other.
    pub below: usize,
    /// How many blocks are beside each other.
    pub beside: usize,
    /// How many rows a block has.
    pub rows: usize,
    /// How many columns a block has.
    pub columns: usize,
}

impl Block {
    /// The rows and the columns of all blocks together.
    pub fn shape(self) -> [usize; 2] {
        [self.below * self.rows, self.beside * self.columns]
    }
}
