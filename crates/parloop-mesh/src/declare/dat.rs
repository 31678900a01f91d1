//! Data on sets.

use std::fmt;
use std::sync::Arc;

use parloop_device::once::Once;
use parloop_device::{DType, Element};
use parloop_kernel::KernelError;

use super::dataset::DataSet;
use super::identity::{self, Id};
use super::ties::Tied;
use crate::Result;
use crate::error::MeshError;
use crate::storage::{self, Storage};

/// Numbers on each element of a set. Clones are the same data.
///
/// ```
/// use parloop_mesh::{Dat, Set};
/// let nodes = Set::new(2, "nodes")?;
/// let x = Dat::new(&nodes.data(2)?, &[0.0, 1.0, 2.0, 3.0], "x")?;
/// assert_eq!(x.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0]);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Dat {
    inner: Arc<Inner>,
}

struct Inner {
    id: Id,
    name: String,
    dataset: DataSet,
    storage: Storage,
    /// The part of it that this process has, once its set is distributed.
    part: Once<Dat>,
}

impl Dat {
    /// Data with these values, element by element, ghosts and all.
    ///
    /// # Errors
    /// [`MeshError::Length`](crate::MeshError::Length) when there are too few or too many.
    pub fn new<T: Element>(dataset: &DataSet, values: &[T], name: impl Into<String>) -> Result<Dat> {
        let dataset = &dataset.current();
        Dat::around(dataset, Storage::with_values(values, dataset.set().rows(), dataset.count())?, name)
    }

    /// Zeros.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn zeros(dataset: &DataSet, dtype: DType, name: impl Into<String>) -> Result<Dat> {
        let dataset = &dataset.current();
        Dat::around(dataset, Storage::zeros(dtype, dataset.set().rows(), dataset.count())?, name)
    }

    /// Data whose numbers are in that storage, which has a row for each element.
    ///
    /// # Errors
    /// [`MeshError::Length`] when it has other rows.
    pub fn around(dataset: &DataSet, storage: Storage, name: impl Into<String>) -> Result<Dat> {
        let dataset = dataset.current();
        let (rows, count) = (dataset.set().rows(), dataset.count());
        if (storage.rows(), storage.count()) != (rows, count) {
            return Err(MeshError::Length { asked: rows.saturating_mul(count), found: storage.len() });
        }
        // A caller that gives values need not know those of other processes.
        if dataset.set().halo().is_some() && !storage.are_zeros() {
            storage.set_ghosts_fresh(false);
        }
        let inner = Inner { id: identity::fresh(), name: name.into(), dataset, storage, part: Once::new() };
        let dat = Dat { inner: Arc::new(inner) };
        dat.dataset().set().plain().tie(&dat.inner);
        Ok(dat)
    }

    /// The data behind something that is tied, if it is some.
    pub(crate) fn tied(what: &Arc<Tied>) -> Option<Dat> {
        Some(Dat { inner: what.clone().downcast().ok()? })
    }

    /// The part of this data that this process has, once its set is distributed; before that itself.
    pub fn current(&self) -> &Dat {
        self.inner.part.get().map_or(self, Dat::current)
    }

    /// Refuses data that was replaced by its local part.
    pub(crate) fn check_current(&self) -> Result<(), KernelError> {
        if self.inner.part.get().is_some() { Err(storage::distributed()) } else { Ok(()) }
    }

    /// Says which data takes its place.
    pub(crate) fn set_part(&self, part: Dat) {
        _ = self.inner.part.set(part);
    }

    /// The number by which this data is known.
    pub fn id(&self) -> Id {
        self.inner.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The set and the shape of one element's data.
    pub fn dataset(&self) -> &DataSet {
        &self.inner.dataset
    }

    /// The type of its numbers.
    pub fn dtype(&self) -> DType {
        self.inner.storage.dtype()
    }

    /// Where its numbers are.
    pub fn storage(&self) -> &Storage {
        &self.inner.storage
    }

    /// Its numbers, element by element.
    ///
    /// # Errors
    /// [`MeshError::ElementType`](crate::MeshError::ElementType), or when a device fails.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.current().inner.storage.to_vec()
    }

    /// Replaces all numbers.
    ///
    /// # Errors
    /// [`MeshError::ElementType`](crate::MeshError::ElementType), [`MeshError::Length`](crate::MeshError::Length).
    pub fn write<T: Element>(&self, values: &[T]) -> Result<()> {
        self.current().inner.storage.write(values)
    }
}

impl fmt::Debug for Dat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Dat {}: {} on {:?}>", self.name(), self.dtype(), self.dataset())
    }
}
