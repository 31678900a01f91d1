//! Which blocks of a matrix are stored: those where a row target and a column target of some element meet.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parloop_device::forked::Lock;

use super::dataset::DataSet;
use super::identity::{self, Id};
use super::iteration::Iteration;
use super::layers::Region;
use super::map::Map;
use super::meeting::{Dropped, Meeting};
use super::set::Set;
use crate::Result;
use crate::error::MeshError;
use crate::plan::threads::available;
use crate::plan::{Elements, Flat, Pair, Pattern, PatternSize, Table};
use crate::storage::{Numbers, Storage};

/// The stored blocks of matrices from data on one set to data on another. Clones are the same sparsity.
///
/// ```
/// use parloop_mesh::{Map, Set, Sparsity};
/// let (cells, nodes) = (Set::new(2, "cells")?, Set::new(4, "nodes")?);
/// let corners = Map::new(&cells, &nodes, 3, &[0, 1, 2, 1, 3, 2], "corners")?;
/// let sparsity = Sparsity::new(&nodes.data(1)?, &nodes.data(1)?, &[(&corners, &corners)], "laplace")?;
/// assert_eq!(sparsity.pattern().row(0), [0, 1, 2]);
/// assert_eq!(sparsity.pattern().stored(), 14);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Clone)]
pub struct Sparsity {
    inner: Arc<Inner>,
}

struct Inner {
    id: Id,
    name: String,
    rows: DataSet,
    columns: DataSet,
    pairs: Vec<(Map, Map)>,
    pattern: Arc<Pattern>,
    nonzeros: Set,
    /// Where the blocks of elements are, for each pair of maps that was requested.
    positions: Lock<HashMap<PositionsKey, Map>>,
}

/// What positions are known for: the maps, what is dropped, and of extruded sets which, and which cells of it.
type PositionsKey = (Id, Id, Dropped, Id, Region);

/// A map to rows, a map to columns, and where they begin at an extruded set, the regions whose targets meet.
pub type MapPair<'a> = (&'a Map, &'a Map, &'a [Region]);

/// More positions than this are not kept.
const MOST_POSITIONS: usize = 16;

impl Sparsity {
    /// The blocks where, for some element of some pair of maps, a target of the first and a target of the second meet. Where rows and columns
    /// are data on one set, the diagonal is stored too. Of extruded sets these are the targets of all cells.
    ///
    /// # Errors
    /// [`MeshError::SparsityMaps`] for maps that lead elsewhere, or from two sets; [`MeshError::SparsityOfNothing`]; [`MeshError::SetTooLarge`] for too many blocks.
    pub fn new(rows: &DataSet, columns: &DataSet, pairs: &[(&Map, &Map)], name: impl Into<String>) -> Result<Sparsity> {
        let pairs: Vec<MapPair<'_>> = pairs.iter().map(|&(row_map, column_map)| (row_map, column_map, &[Region::All][..])).collect();
        Sparsity::in_regions(rows, columns, &pairs, name)
    }

    /// As [`new`](Self::new), of extruded sets the targets that meet in some regions.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_regions(rows: &DataSet, columns: &DataSet, pairs: &[MapPair<'_>], name: impl Into<String>) -> Result<Sparsity> {
        let name = name.into();
        let (rows, columns) = (&rows.current(), &columns.current());
        let pairs: Vec<MapPair<'_>> = pairs.iter().map(|&(rows, columns, regions)| (rows.current(), columns.current(), regions)).collect();
        check_data(&name, rows, columns)?;
        for (row_map, column_map, _) in &pairs {
            check_maps(&name, rows, columns, row_map, column_map)?;
            for map in [row_map, column_map] {
                if map.moves().is_some() && map.from().layers().is_none() {
                    let reason = "it has offsets, and a sparsity needs the number of layers; use a map from the extruded set".to_owned();
                    return Err(MeshError::MapOffsets { map: map.name().to_owned(), reason });
                }
            }
        }
        let (row_count, column_count) = (rows.set().sizes().total, columns.set().sizes().total);
        let size = PatternSize { rows: row_count, columns: column_count, diagonal: rows.set() == columns.set() };
        let mut values = Vec::new();
        for &(row_map, column_map, regions) in &pairs {
            let from = row_map.from();
            let regions = if from.layers().is_some() { regions } else { &[Region::All] };
            for &region in regions {
                let iteration = Iteration::new(from, region)?;
                let column_targets = if row_map == column_map { None } else { Some(iteration.targets(column_map)?) };
                values.push((iteration.targets(row_map)?, column_targets, iteration, row_map, column_map));
            }
        }
        // One table where rows and columns have the same map.
        let tables = values.iter().map(|(row_targets, column_targets, iteration, row_map, column_map)| {
            let columns = column_targets.as_ref().map(|targets| flat(column_map, targets, iteration)).transpose()?;
            Ok((flat(row_map, row_targets, iteration)?, columns))
        });
        let tables = tables.collect::<Result<Vec<_>>>()?;
        let met = tables.iter().map(|(row_table, column_table)| Pair::new(row_table, column_table.as_ref().unwrap_or(row_table)));
        let met = met.collect::<Result<Vec<_>, _>>()?;
        let pattern = Arc::new(Pattern::new(size, &met, available())?);
        let pairs = pairs.iter().map(|&(row_map, column_map, _)| (row_map.clone(), column_map.clone())).collect();
        Sparsity::around((rows, columns), pattern, pairs, name)
    }

    /// The blocks of compressed rows that someone else made: row `r` has blocks in `columns[starts[r]..starts[r + 1]]`, ascending. Loops
    /// may use every pair of maps whose targets meet there.
    ///
    /// ```
    /// use parloop_device::DType;
    /// use parloop_kernel::Context;
    /// use parloop_mesh::{Access, Kernel, Map, Mat, Set, Sparsity, par_loop};
    /// let (edges, nodes) = (Set::new(2, "edges")?, Set::new(3, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2], "ends")?;
    /// let data = nodes.data(1)?;
    /// let full = Sparsity::from_rows((&data, &data), vec![0, 3, 6, 9], vec![0, 1, 2, 0, 1, 2, 0, 1, 2], "full")?;
    /// let mat = Mat::zeros(&full, DType::F64, "mat")?;
    /// // SAFETY: two ends make a block of two by two numbers.
    /// let edge = unsafe { Kernel::new("void edge(double *k) { for (int i = 0; i < 4; i++) k[i] += 1; }", "edge")? };
    /// par_loop(&edge, &edges, vec![mat.arg(Access::Inc, &ends, &ends)?], &Context::open("cpu")?)?;
    /// assert_eq!(mat.to_dense::<f64>()?, [1.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::Making`] and [`MeshError::SparsityRows`] for rows that are not those of a matrix between these sets; as [`new`](Self::new).
    pub fn from_rows(
        (rows, columns): (&DataSet, &DataSet),
        starts: Vec<i64>,
        stored: Vec<i32>,
        name: impl Into<String>,
    ) -> Result<Sparsity> {
        let name = name.into();
        let (rows, columns) = (&rows.current(), &columns.current());
        check_data(&name, rows, columns)?;
        let pattern = Pattern::from_rows(columns.set().sizes().total, starts, stored)?;
        let (found, wanted) = (pattern.rows(), rows.set().sizes().total);
        if found != wanted {
            return Err(MeshError::SparsityRows { sparsity: name, found, set: rows.set().name().to_owned(), wanted });
        }
        Sparsity::around((rows, columns), Arc::new(pattern), Vec::new(), name)
    }

    fn around((rows, columns): (&DataSet, &DataSet), pattern: Arc<Pattern>, pairs: Vec<(Map, Map)>, name: String) -> Result<Sparsity> {
        let nonzeros = Set::new(pattern.stored(), format!("{name}_blocks"))?;
        let (id, rows, columns) = (identity::fresh(), rows.clone(), columns.clone());
        let inner = Inner { id, name, rows, columns, pairs, pattern, nonzeros, positions: Lock::default() };
        Ok(Sparsity { inner: Arc::new(inner) })
    }

    /// The number by which this sparsity is known.
    pub fn id(&self) -> Id {
        self.inner.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The set of the rows of blocks, and how many rows a block has.
    pub fn rows(&self) -> &DataSet {
        &self.inner.rows
    }

    /// The set of the columns of blocks, and how many columns a block has.
    pub fn columns(&self) -> &DataSet {
        &self.inner.columns
    }

    /// The maps it was made of.
    pub fn pairs(&self) -> &[(Map, Map)] {
        &self.inner.pairs
    }

    /// The stored blocks, row by row.
    pub fn pattern(&self) -> &Pattern {
        &self.inner.pattern
    }

    /// The stored blocks as a set.
    pub(crate) fn blocks(&self) -> &Set {
        &self.inner.nonzeros
    }

    /// How many numbers a block has.
    pub fn block(&self) -> usize {
        self.inner.rows.count() * self.inner.columns.count()
    }

    /// Refuses maps that do not lead to rows and columns.
    ///
    /// # Errors
    /// [`MeshError::SparsityMaps`], [`MeshError::SparsityFrom`].
    pub(super) fn check(&self, meeting: &Meeting) -> Result<()> {
        check_maps(self.name(), self.rows(), self.columns(), &meeting.rows, &meeting.columns)
    }

    /// For each visit of a loop the blocks that its row targets and its column targets have in common, row by row.
    ///
    /// # Errors
    /// Targets that meet in a block that is not stored.
    pub(super) fn positions(&self, meeting: &Meeting, iteration: &Iteration) -> Result<Map> {
        let Meeting { rows, columns, dropped } = meeting;
        let key = (rows.id(), columns.id(), dropped.clone(), iteration.set().base().id(), iteration.region());
        if let Some(known) = self.inner.positions.lock_or(HashMap::new).get(&key) {
            return Ok(known.clone());
        }
        let made = self.find_positions(meeting, iteration)?;
        let mut known = self.inner.positions.lock_or(HashMap::new);
        // Conditions that change with time drop other rows each time.
        let forgotten = if known.len() >= MOST_POSITIONS { std::mem::take(&mut *known) } else { HashMap::new() };
        let found = known.entry(key).or_insert(made).clone();
        // Outside of the lock: others forget what they keep about these maps.
        drop(known);
        drop(forgotten);
        Ok(found)
    }

    fn find_positions(&self, Meeting { rows, columns, dropped }: &Meeting, iteration: &Iteration) -> Result<Map> {
        let row_values = without(iteration.targets(rows)?, rows, &dropped.rows);
        let row_table = flat(rows, &row_values, iteration)?;
        // One table where rows and columns are the same.
        let column_values = match rows == columns && dropped.rows == dropped.columns {
            true => None,
            false => Some(without(iteration.targets(columns)?, columns, &dropped.columns)),
        };
        let column_table = column_values.as_ref().map(|values| flat(columns, values, iteration)).transpose()?;
        let pair = Pair::new(&row_table, column_table.as_ref().unwrap_or(&row_table))?;
        let arity = rows.slots(iteration.height()) * columns.slots(iteration.height());
        let (positions, drops) =
            Storage::filled(pair.count(), arity, |positions| Ok(self.pattern().find_positions(pair, available(), positions)?))?;
        let name = format!("{} × {} in {}", rows.name(), columns.name(), self.name());
        Map::to_blocks(rows, (&self.inner.nonzeros, &self.inner.pattern), arity, positions, drops, name)
    }
}

/// Targets of a map, -1 where they are among these elements.
fn without<'m>(values: Numbers<'m, i32>, map: &Map, dropped: &[i32]) -> Numbers<'m, i32> {
    if dropped.is_empty() {
        return values;
    }
    let mut is_dropped = vec![false; map.to().sizes().total];
    for &element in dropped {
        if let Some(mark) = usize::try_from(element).ok().and_then(|element| is_dropped.get_mut(element)) {
            *mark = true;
        }
    }
    let mut values = values.into_vec();
    values.iter_mut().filter(|value| **value >= 0 && is_dropped[**value as usize]).for_each(|value| *value = -1);
    Numbers::Copied(values)
}

fn flat<'a>(map: &Map, values: &'a Numbers<'_, i32>, iteration: &Iteration) -> Result<Flat<'a>> {
    let table = Table { values, arity: map.slots(iteration.height()), set: 0, targets: map.to().sizes().total, drops: true };
    let elements = Elements::Range(0..iteration.total());
    Ok(match values {
        // The map's own, which were checked when it was made.
        Numbers::InPlace { .. } => Flat::of_checked(elements, table)?,
        Numbers::Copied(_) => Flat::new(elements, table)?,
    })
}

/// Refuses data that a matrix cannot have rows or columns for.
fn check_data(name: &str, rows: &DataSet, columns: &DataSet) -> Result<()> {
    if let Some(data) = [rows, columns].into_iter().find(|data| data.set().layers().is_some()) {
        return Err(MeshError::SparsityOnCells { sparsity: name.to_owned(), set: data.set().name().to_owned() });
    }
    if let Some(data) = [rows, columns].into_iter().find(|data| data.count() == 0) {
        return Err(MeshError::SparsityOfNothing { sparsity: name.to_owned(), set: data.set().name().to_owned() });
    }
    Ok(())
}

fn check_maps(name: &str, rows: &DataSet, columns: &DataSet, row_map: &Map, column_map: &Map) -> Result<()> {
    let wrong = |map: &Map, wanted: &Set| {
        Err(MeshError::SparsityMaps {
            sparsity: name.to_owned(),
            map: map.name().to_owned(),
            found: map.to().name().to_owned(),
            wanted: wanted.name().to_owned(),
        })
    };
    if let Some(map) = [row_map, column_map].into_iter().find(|map| map.to().layers().is_some()) {
        return Err(MeshError::MapToExtruded { map: map.name().to_owned(), set: map.to().name().to_owned() });
    }
    if row_map.to() != rows.set() {
        return wrong(row_map, rows.set());
    }
    if column_map.to() != columns.set() {
        return wrong(column_map, columns.set());
    }
    if row_map.from() != column_map.from() {
        return Err(MeshError::SparsityFrom {
            sparsity: name.to_owned(),
            rows: row_map.name().to_owned(),
            from: row_map.from().name().to_owned(),
            columns: column_map.name().to_owned(),
            other: column_map.from().name().to_owned(),
        });
    }
    Ok(())
}

impl PartialEq for Sparsity {
    fn eq(&self, other: &Sparsity) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Sparsity {}

impl fmt::Debug for Sparsity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (self.rows().count(), self.columns().count());
        write!(f, "<Sparsity {}: {} blocks of {rows} × {columns}>", self.name(), self.pattern().stored())
    }
}
