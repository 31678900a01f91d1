//! Maps: for each element of one set, elements of another.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parloop_device::{DType, Memory};

use super::identity::{self, Id};
use super::set::Set;
use crate::Result;
use crate::error::MeshError;
use crate::plan::{self, Elements, Incidence, Pattern, Table};
use crate::storage::Storage;

/// For each element of `from`, `arity` elements of `to`. Clones are the same map.
///
/// ```
/// use parloop_mesh::{Map, Set};
/// let (edges, nodes) = (Set::new(2, "edges")?, Set::new(3, "nodes")?);
/// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2], "ends")?;
/// assert_eq!(ends.values()?, [0, 1, 1, 2]);
/// let error = Map::new(&edges, &nodes, 2, &[0, 1, 1, 3], "ends").unwrap_err();
/// assert_eq!(error.to_string(), "map `ends`: entry [1, 1] is 3, but set `nodes` has 3 elements");
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Map {
    inner: Arc<Inner>,
}

struct Inner {
    id: Id,
    name: String,
    from: Set,
    to: Set,
    arity: usize,
    values: Storage,
    /// Of a map to the stored blocks of a matrix.
    blocks: Option<Blocks>,
    /// Whether its numbers have an order, when someone wanted to know.
    is_local: OnceLock<bool>,
    /// Better numbers for what it leads to, when someone wanted them.
    rank: OnceLock<Arc<[i32]>>,
}

/// Of a map to the stored blocks of a matrix: their order is that of their rows. Negative values lead nowhere.
struct Blocks {
    /// The map to the rows.
    rows: Map,
    pattern: Arc<Pattern>,
}

impl Blocks {
    /// Numbers for the blocks, row by row in the order of better numbers for the rows.
    fn rank(&self) -> Result<Vec<i32>> {
        let mut rows = vec![0; self.pattern.rows()];
        for (row, &place) in self.rows.reverse_cuthill_mckee()?.iter().enumerate() {
            rows[place as usize] = row;
        }
        let (mut rank, mut next) = (vec![0; self.pattern.stored()], 0..);
        for row in rows {
            let blocks = self.pattern.starts()[row] as usize..self.pattern.starts()[row + 1] as usize;
            rank[blocks].iter_mut().zip(&mut next).for_each(|(place, number)| *place = number);
        }
        Ok(rank)
    }
}

impl Map {
    /// A map with these values, row by row. Every one is checked.
    ///
    /// # Errors
    /// [`MeshError::MapLength`], [`MeshError::MapRange`], [`MeshError::MapOnSubset`], [`MeshError::Arity`].
    pub fn new(from: &Set, to: &Set, arity: usize, values: &[i32], name: impl Into<String>) -> Result<Map> {
        let name = name.into();
        if arity == 0 {
            return Err(MeshError::Arity { map: name });
        }
        for set in [from, to] {
            if set.indices().is_some() {
                return Err(MeshError::MapOnSubset { map: name, set: set.base().name().to_owned() });
            }
        }
        let rows = from.sizes().total;
        if values.len() != rows.saturating_mul(arity) {
            return Err(MeshError::MapLength { map: name, found: values.len(), rows, arity });
        }
        let limit = to.sizes().total;
        if let Some(place) = values.iter().position(|&value| value < 0 || value as usize >= limit) {
            let (row, column, value) = (place / arity, place % arity, values[place].into());
            return Err(MeshError::MapRange { map: name, row, column, value, set: to.name().to_owned(), size: limit });
        }
        let values = Storage::with_values(values, rows, arity)?;
        let inner = Inner {
            id: identity::fresh(),
            name,
            from: from.clone(),
            to: to.clone(),
            arity,
            values,
            blocks: None,
            is_local: OnceLock::new(),
            rank: OnceLock::new(),
        };
        Ok(Map { inner: Arc::new(inner) })
    }

    /// Positions of stored blocks, row by row, which were checked when they were found; -1 is none.
    pub(super) fn to_blocks(rows: &Map, stored: (&Set, &Arc<Pattern>), arity: usize, values: &[i32], name: String) -> Result<Map> {
        let (blocks, pattern) = stored;
        let inner = Inner {
            id: identity::fresh(),
            name,
            from: rows.from().clone(),
            to: blocks.clone(),
            arity,
            values: Storage::with_values(values, rows.from().sizes().total, arity)?,
            blocks: Some(Blocks { rows: rows.clone(), pattern: pattern.clone() }),
            is_local: OnceLock::new(),
            rank: OnceLock::new(),
        };
        Ok(Map { inner: Arc::new(inner) })
    }

    /// Whether values may be negative, which lead nowhere.
    pub(crate) fn drops(&self) -> bool {
        self.inner.blocks.is_some()
    }

    /// The number by which this map is known.
    pub fn id(&self) -> Id {
        self.inner.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The set it leads from.
    pub fn from(&self) -> &Set {
        &self.inner.from
    }

    /// The set it leads to.
    pub fn to(&self) -> &Set {
        &self.inner.to
    }

    /// How many elements it gives for each.
    pub fn arity(&self) -> usize {
        self.inner.arity
    }

    /// Its values, row by row.
    ///
    /// # Errors
    /// When the host cannot read them.
    pub fn values(&self) -> Result<Vec<i32>> {
        self.inner.values.to_vec()
    }

    /// Numbers for the elements it leads to, such that those of neighbours are close (the reverse Cuthill-McKee order): element `i` gets
    /// the number at place `i`. Neighbours are elements to which the same row leads. A mesh whose numbers have no order runs faster when
    /// it is numbered so.
    ///
    /// ```
    /// use parloop_mesh::{Map, Set};
    /// // A line of five nodes whose numbers were shuffled.
    /// let (edges, nodes) = (Set::new(4, "edges")?, Set::new(5, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[3, 0, 0, 4, 4, 1, 1, 2], "ends")?;
    /// let numbers = ends.reverse_cuthill_mckee()?;
    /// let better: Vec<i32> = ends.values()?.iter().map(|&node| numbers[node as usize]).collect();
    /// assert!(better.chunks(2).all(|edge| (edge[0] - edge[1]).abs() == 1));
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// When the host cannot read the values.
    pub fn reverse_cuthill_mckee(&self) -> Result<Arc<[i32]>> {
        if let Some(rank) = self.inner.rank.get() {
            return Ok(rank.clone());
        }
        if let Some(blocks) = &self.inner.blocks {
            let rank = blocks.rank()?;
            return Ok(self.inner.rank.get_or_init(|| rank.into()).clone());
        }
        let values = self.values()?;
        let rank = plan::cuthill_mckee(&Incidence::new(Elements::Range(0..self.from().sizes().total), &[self.table(&values)])?)?;
        Ok(self.inner.rank.get_or_init(|| rank.into()).clone())
    }

    /// Whether elements lead to others that are numbered close to each other, as well as neighbouring elements do.
    ///
    /// # Errors
    /// When the host cannot read the values.
    pub(crate) fn is_local(&self) -> Result<bool> {
        if let Some(&known) = self.inner.is_local.get() {
            return Ok(known);
        }
        let is_local = match &self.inner.blocks {
            Some(blocks) => blocks.rows.is_local()?,
            None => plan::locality(&self.table(&self.values()?)).is_local(),
        };
        Ok(*self.inner.is_local.get_or_init(|| is_local))
    }

    fn table<'a>(&self, values: &'a [i32]) -> Table<'a> {
        Table { values, arity: self.arity(), set: 0, targets: self.to().sizes().total, drops: self.drops() }
    }

    /// The host's memory of its values, numbers of type [`DType::I32`] row by row, to look at: they were checked when it was made.
    ///
    /// # Errors
    /// When the host cannot read them.
    pub fn host(&self) -> Result<&Memory> {
        // No loop writes a map.
        Ok(self.inner.values.host()?.unprotected())
    }

    /// Where its values are: numbers of type [`DType::I32`].
    pub(crate) fn storage(&self) -> &Storage {
        debug_assert_eq!(self.inner.values.dtype(), DType::I32);
        &self.inner.values
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Map {}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Map {}: {} -> {} × {}>", self.name(), self.from().name(), self.arity(), self.to().name())
    }
}
