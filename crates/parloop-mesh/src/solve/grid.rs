//! Matrices and data of several parts, as solvers see them; those of one part are the common case.

use parloop_device::DType;
use parloop_kernel::Context;

use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::mat::Mat;
use crate::error::MeshError;

/// A matrix of rows of blocks, and the parts of what is solved for and of the right-hand side.
#[derive(Clone, Copy, Debug)]
pub struct MixedSystem<'a> {
    /// What errors call the matrix.
    pub name: &'a str,
    /// The matrices between the parts, row by row.
    pub blocks: &'a [Vec<Mat>],
    /// Where the solver begins, and what becomes the solution.
    pub x: &'a [Dat],
    /// The right-hand side.
    pub b: &'a [Dat],
}

impl MixedSystem<'_> {
    pub(super) fn wrong(&self, reason: &'static str) -> MeshError {
        MeshError::Solve { mat: self.name.to_owned(), reason }
    }

    /// Refuses what has no solution in the sense of these solvers, or whose parts do not fit together.
    pub(super) fn check(&self) -> Result<()> {
        let count = self.blocks.len();
        if count == 0 || self.blocks.iter().any(|row| row.len() != count) {
            return Err(self.wrong("it is not square"));
        }
        if [self.x.len(), self.b.len()] != [count, count] {
            return Err(self.wrong("x and b need one part for each of its rows of blocks"));
        }
        for (row, blocks) in self.blocks.iter().enumerate() {
            for (column, block) in blocks.iter().enumerate() {
                let (rows, columns) = (self.blocks[row][row].sparsity().rows(), self.blocks[column][column].sparsity().rows());
                if block.sparsity().rows() != rows || block.sparsity().columns() != columns {
                    return Err(self.wrong("it is not square"));
                }
                if block.dtype() != self.dtype() {
                    return Err(self.wrong("its blocks have different types"));
                }
            }
        }
        if !matches!(self.dtype(), DType::F32 | DType::F64) {
            return Err(self.wrong("only systems with real matrices can be solved"));
        }
        for (part, row) in self.blocks.iter().enumerate() {
            let block = &row[part];
            block.check(&self.x[part], block.sparsity().columns())?;
            block.check(&self.b[part], block.sparsity().rows())?;
        }
        self.check_memory()
    }

    fn check_memory(&self) -> Result<()> {
        for (part, x) in self.x.iter().enumerate() {
            if self.b.iter().any(|b| x.storage().overlaps(b.storage())) {
                return Err(self.wrong("x and b share memory; copy one of them"));
            }
            if self.x[..part].iter().any(|other| x.storage().overlaps(other.storage())) {
                return Err(self.wrong("two parts of x share memory; give each its own memory"));
            }
            if self.blocks.iter().flatten().any(|block| x.storage().overlaps(block.storage())) {
                return Err(self.wrong("x shares memory with the matrix; copy it"));
            }
        }
        Ok(())
    }

    /// The type of all numbers.
    pub(super) fn dtype(&self) -> DType {
        self.blocks[0][0].dtype()
    }

    /// Zeros on the rows of the matrix.
    pub(super) fn vector(&self) -> Result<Vec<Dat>> {
        self.blocks.iter().map(|row| Dat::zeros(row[0].sparsity().rows(), self.dtype(), "vector")).collect()
    }

    /// `to = A from`; `scratch` is for products that are added.
    pub(super) fn multiply(&self, from: &[Dat], to: &[Dat], scratch: &[Dat], context: &Context) -> Result<()> {
        for (row, blocks) in self.blocks.iter().enumerate() {
            for (column, block) in blocks.iter().enumerate() {
                if column == 0 {
                    block.multiply(&from[column], &to[row], context)?;
                } else if block.sparsity().pattern().stored() > 0 {
                    block.multiply(&from[column], &scratch[row], context)?;
                    to[row].axpy(super::one(), &scratch[row], context)?;
                }
            }
        }
        Ok(())
    }
}
