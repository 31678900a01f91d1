//! Sets: elements that are only counted, and parts of them.

use std::fmt;
use std::sync::Arc;

use super::identity::{Id, Identity};
use crate::Result;
use crate::error::MeshError;
use crate::sizes::Sizes;

/// Elements of one kind: nodes, edges, cells. Clones are the same set.
///
/// ```
/// use parloop_mesh::Set;
/// let cells = Set::new(100, "cells")?;
/// assert_eq!((cells.size(), cells.name()), (100, "cells"));
/// let some = cells.subset(&[7, 3, 3])?;
/// assert_eq!(some.indices(), Some(&[3, 7][..]));
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Set {
    inner: Arc<Inner>,
}

struct Inner {
    id: Identity,
    name: String,
    sizes: Sizes,
    kind: SetKind,
}

/// Of which kind a set is.
#[derive(Clone, Debug)]
pub enum SetKind {
    /// All elements.
    Plain,
    /// Some elements of another set.
    Subset {
        /// The set they are of, which is no subset itself.
        of: Set,
        /// Which, ascending.
        indices: Arc<[i32]>,
    },
}

impl Set {
    /// A set of that many elements, all of this process.
    ///
    /// # Errors
    /// [`MeshError::SetTooLarge`].
    pub fn new(size: usize, name: impl Into<String>) -> Result<Set> {
        Set::with_sizes(Sizes { core: size, owned: size, total: size }, name)
    }

    /// A set of which only some elements are of this process.
    ///
    /// # Errors
    /// [`MeshError::SetTooLarge`]; [`MeshError::SetSizes`] when they do not grow.
    pub fn with_sizes(sizes: Sizes, name: impl Into<String>) -> Result<Set> {
        let name = name.into();
        if sizes.core > sizes.owned || sizes.owned > sizes.total {
            return Err(MeshError::SetSizes { set: name, sizes });
        }
        if sizes.total > i32::MAX as usize {
            return Err(MeshError::SetTooLarge { set: name, size: sizes.total });
        }
        Ok(Set::of(name, sizes, SetKind::Plain))
    }

    pub(crate) fn of(name: String, sizes: Sizes, kind: SetKind) -> Set {
        Set { inner: Arc::new(Inner { id: Identity::fresh(), name, sizes, kind }) }
    }

    /// The number by which this set is known.
    pub fn id(&self) -> Id {
        self.inner.id.number()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// How many elements are of this process.
    pub fn size(&self) -> usize {
        self.inner.sizes.owned
    }

    /// How many elements it has, by whose they are.
    pub fn sizes(&self) -> Sizes {
        self.inner.sizes
    }

    /// All elements, or which of another set.
    pub fn kind(&self) -> &SetKind {
        &self.inner.kind
    }

    /// The set whose elements these are: itself, unless it is a subset.
    pub fn base(&self) -> &Set {
        match &self.inner.kind {
            SetKind::Plain => self,
            SetKind::Subset { of, .. } => of,
        }
    }

    /// Which elements of its [`base`](Self::base), when not all.
    pub fn indices(&self) -> Option<&[i32]> {
        match &self.inner.kind {
            SetKind::Plain => None,
            SetKind::Subset { indices, .. } => Some(indices),
        }
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Set {}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inner.kind {
            SetKind::Plain => write!(f, "<Set {}: {}>", self.name(), self.size()),
            SetKind::Subset { ref of, .. } => write!(f, "<Set {}: {} of {}>", self.name(), self.size(), of.name()),
        }
    }
}
