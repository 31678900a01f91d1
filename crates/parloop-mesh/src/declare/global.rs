//! Values that all elements share: parameters, sums, extremes.

use std::fmt;
use std::sync::Arc;

use parloop_device::{DType, Element};

use super::dataset::{Axes, Dim, check_count};
use super::identity::{self, Id};
use crate::Result;
use crate::error::MeshError;
use crate::storage::Storage;

/// Values that all elements of a loop share: read by each element, or reduced (sum, minimum, maximum). Clones are the same.
#[derive(Clone)]
pub struct Global {
    inner: Arc<Inner>,
}

struct Inner {
    id: Id,
    name: String,
    axes: Axes,
    storage: Storage,
    constant: bool,
}

impl Global {
    /// With these values.
    ///
    /// # Errors
    /// [`MeshError::Dim`], [`MeshError::DimTooLarge`], [`MeshError::Length`].
    pub fn new<T: Element>(dim: impl Into<Dim>, values: &[T], name: impl Into<String>) -> Result<Global> {
        Global::with_values(dim.into(), values, name.into(), false)
    }

    /// With these values, which no loop may change.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn constant<T: Element>(dim: impl Into<Dim>, values: &[T], name: impl Into<String>) -> Result<Global> {
        Global::with_values(dim.into(), values, name.into(), true)
    }

    fn with_values<T: Element>(dim: Dim, values: &[T], name: String, constant: bool) -> Result<Global> {
        let storage = Storage::with_values(values, 1, check_count(&name, &dim.0)?)?;
        Global::around(dim, storage, name, constant)
    }

    /// Numbers in that storage, which is one row.
    ///
    /// # Errors
    /// [`MeshError::Dim`], [`MeshError::DimTooLarge`], [`MeshError::Length`].
    pub fn around(dim: impl Into<Dim>, storage: Storage, name: impl Into<String>, constant: bool) -> Result<Global> {
        let (Dim(axes), name) = (dim.into(), name.into());
        let asked = check_count(&name, &axes)?;
        if storage.len() != asked {
            return Err(MeshError::Length { asked, found: storage.len() });
        }
        Ok(Global { inner: Arc::new(Inner { id: identity::fresh(), name, axes, storage, constant }) })
    }

    /// The number by which it is known.
    pub fn id(&self) -> Id {
        self.inner.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The lengths of its axes.
    pub fn axes(&self) -> &[usize] {
        &self.inner.axes
    }

    /// How many numbers.
    pub fn count(&self) -> usize {
        self.inner.storage.len()
    }

    /// The type of its numbers.
    pub fn dtype(&self) -> DType {
        self.inner.storage.dtype()
    }

    /// Whether no loop may change it.
    pub fn is_constant(&self) -> bool {
        self.inner.constant
    }

    /// Where its numbers are.
    pub fn storage(&self) -> &Storage {
        &self.inner.storage
    }

    /// Its numbers.
    ///
    /// # Errors
    /// [`MeshError::ElementType`], or when a device fails.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.inner.storage.to_vec()
    }

    /// Replaces all numbers.
    ///
    /// # Errors
    /// [`MeshError::ElementType`], [`MeshError::Length`].
    pub fn write<T: Element>(&self, values: &[T]) -> Result<()> {
        self.inner.storage.write(values)
    }
}

impl fmt::Debug for Global {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Global {}: {} {:?}>", self.name(), self.dtype(), self.axes())
    }
}
