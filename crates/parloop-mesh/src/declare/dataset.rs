//! How much data each element of a set has.

use std::fmt;

use smallvec::SmallVec;

use super::set::{Set, SetKind};
use crate::Result;
use crate::error::MeshError;

/// The lengths of the axes of one element's data.
pub type Axes = SmallVec<[usize; 2]>;

/// How many numbers an element has: `4`, or along several axes `[2, 2]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dim(pub Axes);

impl From<usize> for Dim {
    fn from(dim: usize) -> Dim {
        Dim(SmallVec::from_slice(&[dim]))
    }
}

impl<const N: usize> From<[usize; N]> for Dim {
    fn from(dim: [usize; N]) -> Dim {
        Dim(SmallVec::from_slice(&dim))
    }
}

impl From<&[usize]> for Dim {
    fn from(dim: &[usize]) -> Dim {
        Dim(SmallVec::from_slice(dim))
    }
}

/// A set with the shape of the data on each of its elements: PyOP2's `set ** dim`.
#[derive(Clone, PartialEq, Eq)]
pub struct DataSet {
    set: Set,
    axes: Axes,
}

impl DataSet {
    /// Data of that shape on each element; where an axis has the length zero, of no numbers.
    ///
    /// # Errors
    /// [`MeshError::Dim`] for no axes, [`MeshError::DimTooLarge`], [`MeshError::DataOnSubset`].
    pub fn new(set: &Set, dim: impl Into<Dim>) -> Result<DataSet> {
        let Dim(axes) = dim.into();
        let lengths: Axes = axes.iter().map(|&length| length.max(1)).collect();
        check_count(set.name(), &lengths)?;
        if matches!(set.kind(), SetKind::Subset { .. }) {
            return Err(MeshError::DataOnSubset { set: set.base().name().to_owned() });
        }
        Ok(DataSet { set: set.clone(), axes })
    }

    /// The set.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// The same on the part of the set that this process has, once it is distributed.
    pub fn current(&self) -> DataSet {
        DataSet { set: self.set.current().clone(), axes: self.axes.clone() }
    }

    /// The lengths of the axes of one element's data.
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// How many numbers each element has.
    pub fn count(&self) -> usize {
        self.axes.iter().product()
    }
}

impl Set {
    /// Data on this set: this many numbers for each element.
    ///
    /// # Errors
    /// [`MeshError::Dim`], [`MeshError::DataOnSubset`].
    pub fn data(&self, dim: impl Into<Dim>) -> Result<DataSet> {
        DataSet::new(self, dim)
    }
}

/// How many numbers axes of these lengths hold, at least one.
///
/// # Errors
/// [`MeshError::Dim`], [`MeshError::DimTooLarge`].
pub(crate) fn check_count(of: &str, axes: &[usize]) -> Result<usize> {
    if axes.is_empty() || axes.contains(&0) {
        return Err(MeshError::Dim { of: of.to_owned(), dim: axes.to_vec() });
    }
    let count = axes.iter().try_fold(1usize, |count, &length| count.checked_mul(length));
    count.filter(|&count| count <= i32::MAX as usize).ok_or_else(|| MeshError::DimTooLarge { of: of.to_owned(), dim: axes.to_vec() })
}

impl fmt::Debug for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<DataSet {} ** {:?}>", self.set.name(), self.axes())
    }
}
