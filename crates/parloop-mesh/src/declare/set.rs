//! Sets: elements that are only counted, and parts of them.

use std::fmt;
use std::sync::Arc;

use super::halo::{Halo, SharedHalo};
use super::identity::{Id, Identity};
use super::layers::Layers;
use super::ties::{Tied, Ties};
use crate::Result;
use crate::error::MeshError;
use crate::sizes::Sizes;
use parloop_device::once::Once;

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
    /// With whom a plain set is shared; of an extruded one, its cells.
    halo: Option<SharedHalo>,
    /// What is tied to a plain set.
    ties: Ties,
    /// The part of it that this process has, once it is distributed.
    part: Once<Set>,
    /// Of a subset of a distributed set: the ghosts in it that loops run, as their owners say.
    ghosts: Once<Arc<[i32]>>,
}

/// Of which kind a set is.
#[derive(Clone, Debug)]
pub enum SetKind {
    /// All elements.
    Plain,
    /// Some elements of another set.
    Subset {
        /// The set they are of, which is not a subset itself.
        of: Set,
        /// Which, ascending.
        indices: Arc<[i32]>,
    },
    /// Columns of cells, one over each element of another set.
    Extruded {
        /// The set they stand on, which is plain.
        of: Set,
        /// How many cells are in each.
        layers: Layers,
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
        Set::shared(name, sizes, kind, None)
    }

    fn shared(name: String, sizes: Sizes, kind: SetKind, halo: Option<Halo>) -> Set {
        let set = Set {
            inner: Arc::new(Inner {
                id: Identity::fresh(),
                name,
                sizes,
                kind,
                halo: halo.map(Arc::new),
                ties: Ties::default(),
                part: Once::new(),
                ghosts: Once::new(),
            }),
        };
        if !matches!(set.kind(), SetKind::Plain) {
            set.plain().tie(&set.inner);
        }
        set
    }

    /// The part of a set that a process has.
    pub(crate) fn part_of_mesh(name: String, sizes: Sizes, halo: Halo) -> Set {
        Set::shared(name, sizes, SetKind::Plain, Some(halo))
    }

    /// The part of this extruded set that a process has, over its part of the set below.
    ///
    /// # Errors
    /// [`MeshError::Layers`]: there are more cells than can be counted.
    pub(crate) fn over(&self, of: &Set) -> Result<Set> {
        let (halo, layers) = (of.halo().expect("invariant: it is distributed"), self.layers().expect("invariant: it is extruded"));
        let here = layers.of_columns(halo.numbers()).ok_or_else(|| self.too_many_cells())?;
        let cells = halo.of_cells(&here, |number| layers.column(number as usize).before, self.rows());
        Ok(Set::shared(self.name().to_owned(), of.sizes(), SetKind::Extruded { of: of.clone(), layers: here }, Some(cells)))
    }

    /// Remembers what is tied to this set.
    pub(super) fn tie<T: Send + Sync + 'static>(&self, what: &Arc<T>) {
        let what: Arc<Tied> = what.clone();
        self.inner.ties.add(Arc::downgrade(&what));
    }

    /// What is tied to this set.
    pub(crate) fn ties(&self) -> Vec<Arc<Tied>> {
        self.inner.ties.all()
    }

    /// The set behind something that is tied, if it is one.
    pub(crate) fn tied(what: &Arc<Tied>) -> Option<Set> {
        Some(Set { inner: what.clone().downcast().ok()? })
    }

    /// Says which part of it this process has.
    pub(crate) fn set_part(&self, part: Set) {
        // Of two that distribute it at once, the first decides.
        _ = self.inner.part.set(part);
    }

    /// The part of this set that this process has, once it is distributed; before that, and where there is only one process, itself.
    pub fn current(&self) -> &Set {
        self.inner.part.get().map_or(self, Set::current)
    }

    /// Whether another set has taken the place of this one, since it was distributed.
    pub fn is_replaced(&self) -> bool {
        self.inner.part.get().is_some()
    }

    /// Of a subset of a distributed set, the ghosts in it that loops run, if their owners were asked.
    pub(crate) fn ghosts(&self) -> Option<&[i32]> {
        self.inner.ghosts.get().map(|ghosts| &ghosts[..])
    }

    /// Keeps what their owners said.
    pub(crate) fn set_ghosts(&self, ghosts: Vec<i32>) {
        _ = self.inner.ghosts.set(ghosts.into());
    }

    /// With whom the set is shared, if it is distributed.
    pub fn halo(&self) -> Option<&Halo> {
        self.plain().inner.halo.as_deref()
    }

    /// With whom the rows of data on it are shared, if it is distributed: its elements, or the cells of an extruded set.
    pub fn row_halo(&self) -> Option<&Halo> {
        self.inner.halo.as_deref()
    }

    /// The number by which this set is known.
    pub fn id(&self) -> Id {
        self.inner.id.number()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Columns of cells over the elements of this set: over each a number of layers of vertices, and one layer of cells fewer. Where the set is
    /// periodic, the cell above the highest of a column is its lowest.
    ///
    /// Sizes of such a set are numbers of columns. Its cells are reached through maps with offsets, and data on it has a row for each cell.
    ///
    /// ```
    /// use parloop_mesh::Set;
    /// let cells = Set::new(4, "cells")?.extruded(11, false)?;
    /// assert_eq!((cells.size(), cells.rows()), (4, 40));
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::Layers`]: fewer than two layers, a set that is not plain, or more cells than can be counted.
    pub fn extruded(&self, layers: usize, periodic: bool) -> Result<Set> {
        if self.is_replaced() {
            return self.current().extruded(layers, periodic);
        }
        let wrong = |reason: String| Err(MeshError::Layers { set: self.name().to_owned(), reason });
        let cells = layers.saturating_sub(1);
        if cells == 0 {
            return wrong(format!("{layers} layers have no cells between them; give at least 2"));
        }
        let columns = self.halo().map_or(self.sizes().total, Halo::whole);
        match i32::try_from(cells.saturating_mul(columns.max(1))) {
            Ok(_) => self.with_layers(Layers::constant(cells as i32, periodic)),
            Err(_) => wrong(format!("{cells} cells over each element are more than {} in total", i32::MAX)),
        }
    }

    /// As [`extruded`](Self::extruded), where columns differ: for each element its lowest layer and one more than its highest. Of a distributed set
    /// they are given for the elements of this process and its ghosts, and all processes must call it.
    ///
    /// # Errors
    /// [`MeshError::Layers`]: as there, or other than one pair for each element, or a pair that does not grow, or a ghost with other layers
    /// than those of its owner.
    pub fn extruded_between(&self, bounds: &[[i32; 2]], periodic: bool) -> Result<Set> {
        if self.is_replaced() {
            return self.current().extruded_between(bounds, periodic);
        }
        let wrong = |reason: String| Err(MeshError::Layers { set: self.name().to_owned(), reason });
        if bounds.len() != self.sizes().total {
            return wrong(format!("{} pairs of layers were given for {} elements", bounds.len(), self.sizes().total));
        }
        if let Some((column, [bottom, top])) = bounds.iter().enumerate().find(|(_, [bottom, top])| *bottom < 0 || top <= bottom) {
            return wrong(format!(
                "layers {bottom} to {top} of element {column} are invalid; the first must be at least 0 and the second at least one more"
            ));
        }
        let layers = Layers::varied(bounds.to_vec(), periodic).ok_or_else(|| self.too_many_cells())?;
        self.with_layers(layers)
    }

    fn with_layers(&self, layers: Layers) -> Result<Set> {
        if !matches!(self.kind(), SetKind::Plain) {
            let reason = "only a plain set can be extruded; extrude the whole set and take the subset afterwards".to_owned();
            return Err(MeshError::Layers { set: self.name().to_owned(), reason });
        }
        let cells = self.halo().map(|halo| self.shared_cells(halo, &layers)).transpose()?;
        Ok(Set::shared(format!("{}_extruded", self.name()), self.sizes(), SetKind::Extruded { of: self.clone(), layers }, cells))
    }

    /// With whom the cells of columns over this distributed set are shared.
    fn shared_cells(&self, halo: &Halo, layers: &Layers) -> Result<Halo> {
        if let Some(cells) = layers.cells() {
            return Ok(halo.of_cells(layers, |number| number * cells as i32, cells * halo.whole()));
        }
        // The columns of all processes, by their numbers in the whole set.
        let bounds = layers.bounds().unwrap_or_default();
        let own: Vec<i32> = halo.numbers().iter().zip(bounds).flat_map(|(&number, &[bottom, top])| [number, bottom, top]).collect();
        let mut whole: Vec<Option<[i32; 2]>> = vec![None; halo.whole()];
        for of_rank in halo.comm().gather_all(parloop_device::as_bytes(&own))? {
            let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("invariant: four bytes"));
            let numbers: Vec<i32> = of_rank.chunks_exact(4).map(number).collect();
            for column in numbers.chunks_exact(3) {
                let (known, given) = (&mut whole[column[0] as usize], [column[1], column[2]]);
                if *known.get_or_insert(given) != given {
                    let reason = format!("processes gave different layers for element {} of the whole set", column[0]);
                    return Err(MeshError::Layers { set: self.name().to_owned(), reason });
                }
            }
        }
        let whole = whole.into_iter().map(|bounds| bounds.expect("invariant: every element has an owner")).collect::<Vec<_>>();
        let columns = whole.len();
        let whole = Layers::varied(whole, layers.is_periodic()).ok_or_else(|| self.too_many_cells())?;
        let cells = columns.checked_sub(1).map_or(0, |last| whole.column(last).end() as usize);
        Ok(halo.of_cells(layers, |number| whole.column(number as usize).before, cells))
    }

    fn too_many_cells(&self) -> MeshError {
        let reason = format!("there are more than {} cells in total", i32::MAX);
        MeshError::Layers { set: self.name().to_owned(), reason }
    }

    /// The layers, of an extruded set or of a subset of one.
    pub fn layers(&self) -> Option<&Layers> {
        match &self.inner.kind {
            SetKind::Plain => None,
            SetKind::Subset { of, .. } => of.layers(),
            SetKind::Extruded { layers, .. } => Some(layers),
        }
    }

    /// The plain set: of an extruded one that which its columns stand on.
    pub fn plain(&self) -> &Set {
        match &self.inner.kind {
            SetKind::Plain => self,
            SetKind::Subset { of, .. } | SetKind::Extruded { of, .. } => of.plain(),
        }
    }

    /// How many rows data on it has, ghosts and all: one for each element, or for each cell of an extruded set.
    pub fn rows(&self) -> usize {
        self.rows_of(self.sizes().total)
    }

    /// How many of these rows are of this process.
    pub fn owned_rows(&self) -> usize {
        self.rows_of(self.sizes().owned)
    }

    fn rows_of(&self, columns: usize) -> usize {
        match &self.inner.kind {
            SetKind::Extruded { layers, .. } => columns.checked_sub(1).map_or(0, |last| layers.column(last).end() as usize),
            SetKind::Plain | SetKind::Subset { .. } => columns,
        }
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
            SetKind::Plain | SetKind::Extruded { .. } => self,
            SetKind::Subset { of, .. } => of,
        }
    }

    /// Which elements of its [`base`](Self::base), when not all.
    pub fn indices(&self) -> Option<&[i32]> {
        match &self.inner.kind {
            SetKind::Plain | SetKind::Extruded { .. } => None,
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
            SetKind::Extruded { .. } => write!(f, "<Set {}: {} columns>", self.name(), self.size()),
        }
    }
}
