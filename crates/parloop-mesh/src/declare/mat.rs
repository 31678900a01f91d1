//! Sparse matrices: data on the stored blocks of a sparsity.

use std::fmt;
use std::sync::Arc;

use parloop_device::{DType, Element};

use super::identity::{self, Id};
use super::sparsity::Sparsity;
use crate::Result;
use crate::error::MeshError;
use crate::storage::Storage;

/// A sparse matrix: the stored blocks of a [`Sparsity`], row by row, each block row by row. Clones are the same matrix.
///
/// ```
/// use parloop_device::DType;
/// use parloop_kernel::Context;
/// use parloop_mesh::{Access, Kernel, Map, Mat, Set, Sparsity, par_loop};
/// let (edges, nodes) = (Set::new(2, "edges")?, Set::new(3, "nodes")?);
/// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2], "ends")?;
/// let sparsity = Sparsity::new(&nodes.data(1)?, &nodes.data(1)?, &[(&ends, &ends)], "line")?;
/// let stiffness = Mat::zeros(&sparsity, DType::F64, "stiffness")?;
/// let source = "void edge(double *k) { k[0] += 1; k[1] -= 1; k[2] -= 1; k[3] += 1; }";
/// // SAFETY: two ends make a block of two by two numbers.
/// let edge = unsafe { Kernel::new(source, "edge")? };
/// par_loop(&edge, &edges, vec![stiffness.arg(Access::Inc, &ends, &ends)?], &Context::open("cpu")?)?;
/// assert_eq!(stiffness.to_dense::<f64>()?, [1.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 1.0]);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Mat {
    inner: Arc<Inner>,
}

struct Inner {
    id: Id,
    name: String,
    sparsity: Sparsity,
    storage: Storage,
}

impl Mat {
    /// Zeros.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn zeros(sparsity: &Sparsity, dtype: DType, name: impl Into<String>) -> Result<Mat> {
        let storage = Storage::zeros(dtype, sparsity.pattern().stored(), sparsity.block())?;
        Mat::around(sparsity, storage, name)
    }

    /// A matrix whose numbers are in that storage, which has a row for each stored block.
    ///
    /// # Errors
    /// [`MeshError::Length`] when it has other rows.
    pub fn around(sparsity: &Sparsity, storage: Storage, name: impl Into<String>) -> Result<Mat> {
        let (rows, count) = (sparsity.pattern().stored(), sparsity.block());
        if (storage.rows(), storage.count()) != (rows, count) {
            return Err(MeshError::Length { asked: rows.saturating_mul(count), found: storage.len() });
        }
        Ok(Mat { inner: Arc::new(Inner { id: identity::fresh(), name: name.into(), sparsity: sparsity.clone(), storage }) })
    }

    /// The number by which this matrix is known.
    pub fn id(&self) -> Id {
        self.inner.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which blocks are stored.
    pub fn sparsity(&self) -> &Sparsity {
        &self.inner.sparsity
    }

    /// # Errors
    /// [`MeshError::MadeBefore`]: its sets were distributed after it was made.
    pub(crate) fn check_current(&self) -> Result<()> {
        let sides = [self.sparsity().rows().set(), self.sparsity().columns().set()];
        match sides.into_iter().find(|set| set.is_replaced()) {
            Some(set) => Err(MeshError::MadeBefore { name: self.name().to_owned(), set: set.name().to_owned() }),
            None => Ok(()),
        }
    }

    /// The type of its numbers.
    pub fn dtype(&self) -> DType {
        self.inner.storage.dtype()
    }

    /// Where its numbers are.
    pub fn storage(&self) -> &Storage {
        &self.inner.storage
    }

    /// How many rows and columns it has.
    pub fn shape(&self) -> (usize, usize) {
        let (rows, columns) = (self.sparsity().rows(), self.sparsity().columns());
        (rows.set().sizes().total * rows.count(), columns.set().sizes().total * columns.count())
    }

    /// All values, including zeros, row by row.
    ///
    /// # Errors
    /// [`MeshError::ElementType`]; [`MeshError::TooLarge`] where this many do not fit; when a device fails.
    pub fn to_dense<T: Element>(&self) -> Result<Vec<T>> {
        let values = self.storage().to_vec::<T>()?;
        let (rows, columns) = self.shape();
        let count = rows.checked_mul(columns).filter(|count| *count <= isize::MAX as usize / size_of::<T>().max(1));
        let mut dense = vec![T::ZERO; count.ok_or(MeshError::TooLarge { rows, count: columns })?];
        let (height, width) = (self.sparsity().rows().count(), self.sparsity().columns().count());
        let pattern = self.sparsity().pattern();
        for row in 0..pattern.rows() {
            let first = pattern.starts()[row] as usize;
            for (place, &column) in pattern.row(row).iter().enumerate() {
                let block = &values[(first + place) * height * width..][..height * width];
                for (line, numbers) in block.chunks(width).enumerate() {
                    dense[(row * height + line) * columns + column as usize * width..][..width].copy_from_slice(numbers);
                }
            }
        }
        Ok(dense)
    }
}

impl PartialEq for Mat {
    fn eq(&self, other: &Mat) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Mat {}

impl fmt::Debug for Mat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Mat {}: {} on {:?}>", self.name(), self.dtype(), self.sparsity())
    }
}
