//! Maps: for each element of one set, elements of another.

use std::fmt;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_device::{DType, Memory};
use smallvec::SmallVec;

use super::identity::{Id, Identity};
use super::moves::Moves;
use super::set::Set;
use super::ties::Tied;
use crate::Result;
use crate::error::MeshError;
use crate::plan::{self, Elements, Incidence, Pattern, Table};
use crate::storage::{Numbers, Storage};

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
    id: MapIdentity,
    name: String,
    from: Set,
    to: Set,
    arity: usize,
    kind: Kind,
    /// How targets move from layer to layer of an extruded set, if they do.
    moves: Option<Moves>,
    /// The extruded sets on which all targets are known to be there.
    checked_on: Lock<Vec<Id>>,
    /// Whether its numbering has locality, once computed.
    is_local: Once<bool>,
    /// A better numbering of its targets, once computed.
    rank: Once<Arc<[i32]>>,
    /// The map between the parts of the sets that this process has, once they are distributed.
    part: Once<Map>,
}

/// The number by which a map is known.
enum MapIdentity {
    /// Its own; what others keep about it is forgotten with it.
    Own(Identity),
    /// That of the set which it leads from and to.
    OfSet(Id),
}

/// Where the values are.
enum Kind {
    /// In a table, row by row.
    Table(Storage),
    /// In a table with a row for each visit of a loop: positions of stored blocks.
    Blocks(Storage, Blocks),
    /// Every element leads to itself.
    Identity,
    /// All elements lead to the first.
    First,
    /// Those of another map, with its slots in another order: slot `i` is slot `order[i]` there.
    Permuted { of: Map, order: Arc<[i32]> },
    /// Those of another map, for the element to which one of arity 1 leads.
    Composed { of: Map, through: Map },
}

/// How a loop gets from an element to its targets.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// Maps of arity 1 that lead to the row, one after another. Each has a table.
    pub through: SmallVec<[Map; 1]>,
    /// The map whose table has the targets; none where the row itself is the target.
    pub table: Option<Map>,
    /// Which column of the table each slot is, where not its own.
    pub order: Option<Arc<[i32]>>,
}

/// Of a map to the stored blocks of a matrix: their order is that of their rows.
struct Blocks {
    /// Whether there are negative values, which lead nowhere.
    drops: bool,
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

/// Refuses maps that a mesh was not distributed with: which elements a process runs and sees was decided without them.
fn refuse_distributed(sets: [&Set; 2], map: &str) -> Result<()> {
    match sets.into_iter().find(|set| set.halo().is_some()) {
        Some(set) => Err(MeshError::LateMap { map: map.to_owned(), set: set.name().to_owned() }),
        None => Ok(()),
    }
}

/// By how many cells a target may be above its own.
const MOST_ABOVE: i32 = 1 << 16;

impl Map {
    /// A map with these values, row by row. Every one is checked. A map to an extruded set leads to its columns: others can lead on from there.
    ///
    /// # Errors
    /// [`MeshError::MapLength`], [`MeshError::MapRange`], [`MeshError::MapOnSubset`], [`MeshError::Arity`], [`MeshError::LateMap`].
    pub fn new(from: &Set, to: &Set, arity: usize, values: &[i32], name: impl Into<String>) -> Result<Map> {
        let name = name.into();
        refuse_distributed([from, to], &name)?;
        Map::made(from, to, arity, values, None, name)
    }

    /// A map for columns of cells: its values are those of the lowest cell of each column, and slot `i` moves by `offsets[i]` from a cell
    /// to the next above it. Of periodic columns `quotients` say by how many cells the target of a slot is above its cell, if any is.
    ///
    /// ```
    /// use parloop_mesh::{Map, Set};
    /// // Two edges of a line, extruded to three cells each; the vertices over each node are numbered upwards.
    /// let cells = Set::new(2, "edges")?.extruded(4, false)?;
    /// let vertices = Set::new(12, "vertices")?;
    /// let corners = Map::with_offsets(&cells, &vertices, 4, &[0, 1, 4, 5, 4, 5, 8, 9], &[1, 1, 1, 1], None, "corners")?;
    /// assert_eq!(corners.moves().unwrap().offsets(), [1, 1, 1, 1]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`MeshError::MapOffsets`], [`MeshError::LayerRange`].
    pub fn with_offsets(
        from: &Set,
        to: &Set,
        arity: usize,
        values: &[i32],
        offsets: &[i32],
        quotients: Option<&[i32]>,
        name: impl Into<String>,
    ) -> Result<Map> {
        let name = name.into();
        refuse_distributed([from, to], &name)?;
        for (list, what) in [(Some(offsets), "offsets"), (quotients, "quotients")] {
            if let Some(list) = list.filter(|list| list.len() != arity) {
                let reason = format!("{} {what} were given for {arity} slots", list.len());
                return Err(MeshError::MapOffsets { map: name, reason });
            }
        }
        if let Some(quotient) = quotients.into_iter().flatten().find(|quotient| !(0..=MOST_ABOVE).contains(*quotient)) {
            let reason = format!("a target must be 0 to {MOST_ABOVE} cells above its own, not {quotient}");
            return Err(MeshError::MapOffsets { map: name, reason });
        }
        Map::made(from, to, arity, values, Some(Moves::new(offsets, quotients)), name)
    }

    fn made(from: &Set, to: &Set, arity: usize, values: &[i32], moves: Option<Moves>, name: String) -> Result<Map> {
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
        let kind = Kind::Table(Storage::with_values(values, rows, arity)?);
        Ok(Map::of(MapIdentity::Own(Identity::fresh()), name, (from, to), arity, kind, moves))
    }

    fn of(id: MapIdentity, name: String, (from, to): (&Set, &Set), arity: usize, kind: Kind, moves: Option<Moves>) -> Map {
        let (from, to) = (from.clone(), to.clone());
        let (checked_on, is_local, rank, part) = (Lock::default(), Once::new(), Once::new(), Once::new());
        // Blocks of matrices and identity maps belong to others.
        let is_tied = !matches!(kind, Kind::Blocks(..) | Kind::Identity);
        let map = Map { inner: Arc::new(Inner { id, name, from, to, arity, kind, moves, checked_on, is_local, rank, part }) };
        if is_tied {
            map.from().plain().tie(&map.inner);
            if map.to().plain() != map.from().plain() {
                map.to().plain().tie(&map.inner);
            }
        }
        map
    }

    /// The map behind something that is tied, if it is one.
    pub(crate) fn tied(what: &Arc<Tied>) -> Option<Map> {
        Some(Map { inner: what.clone().downcast().ok()? })
    }

    /// The map between the parts of the sets that this process has, once they are distributed; before that itself.
    pub fn current(&self) -> &Map {
        self.inner.part.get().map_or(self, Map::current)
    }

    /// Says which map takes its place.
    pub(crate) fn set_part(&self, part: Map) {
        _ = self.inner.part.set(part);
    }

    /// Whether it has a table of its own.
    pub(crate) fn has_table(&self) -> bool {
        matches!(self.inner.kind, Kind::Table(_))
    }

    /// This map between the parts of its sets, with a table of these values, and targets that were `step` apart next to each other.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn between(&self, from: &Set, to: &Set, values: &[i32], step: usize) -> Result<Map> {
        Map::made(from, to, self.arity(), values, self.moves().map(|moves| moves.divided(step)), self.name().to_owned())
    }

    /// A map between parts of sets.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub(crate) fn between_parts(from: &Set, to: &Set, arity: usize, values: &[i32], name: String) -> Result<Map> {
        Map::made(from, to, arity, values, None, name)
    }

    /// This map, made of maps that take the place of those it was made of; `None` as long as one of these is not known.
    ///
    /// # Errors
    /// As [`permuted`](Self::permuted) and [`after`](Self::after).
    pub(crate) fn made_of(&self, replaced: &dyn Fn(&Map) -> Option<Map>) -> Result<Option<Map>> {
        match &self.inner.kind {
            Kind::Permuted { of, order } => replaced(of).map(|of| of.permuted(order, self.name())).transpose(),
            Kind::Composed { of, through } => match (replaced(of), replaced(through)) {
                (Some(of), Some(through)) => of.composed(&through, self.name().to_owned()).map(Some),
                _ => Ok(None),
            },
            Kind::Table(_) | Kind::Blocks(..) | Kind::Identity | Kind::First => Ok(None),
        }
    }

    /// Positions of stored blocks for each visit of a loop, which were checked when they were found; -1 is none, if it `drops` any.
    pub(super) fn to_blocks(
        rows: &Map,
        stored: (&Set, &Arc<Pattern>),
        arity: usize,
        positions: Storage,
        drops: bool,
        name: String,
    ) -> Result<Map> {
        let (set, pattern) = stored;
        let blocks = Blocks { drops, rows: rows.clone(), pattern: pattern.clone() };
        let kind = Kind::Blocks(positions, blocks);
        Ok(Map::of(MapIdentity::Own(Identity::fresh()), name, (rows.from(), set), arity, kind, None))
    }

    /// The map that leads from every element of a set to itself. It is known by the number of the set.
    pub(crate) fn identity(set: &Set) -> Map {
        Map::of(MapIdentity::OfSet(set.id()), set.name().to_owned(), (set, set), 1, Kind::Identity, None)
    }

    /// The map by which all elements of a set, and all cells of an extruded one, lead to the first element of another: to what they share. It
    /// has no table.
    ///
    /// # Errors
    /// [`MeshError::MapRange`]: the other set has no element; [`MeshError::LateMap`].
    pub fn to_first(from: &Set, to: &Set, name: impl Into<String>) -> Result<Map> {
        let name = name.into();
        refuse_distributed([from, to], &name)?;
        if to.sizes().total == 0 {
            return Err(MeshError::MapRange { map: name, row: 0, column: 0, value: 0, set: to.name().to_owned(), size: 0 });
        }
        Ok(Map::of(MapIdentity::Own(Identity::fresh()), name, (from, to), 1, Kind::First, None))
    }

    /// This map with its slots in another order: slot `i` is slot `order[i]` of this one. No table is copied.
    ///
    /// ```
    /// use parloop_mesh::{Map, Set};
    /// let (edges, nodes) = (Set::new(2, "edges")?, Set::new(3, "nodes")?);
    /// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2], "ends")?;
    /// assert_eq!(ends.permuted(&[1, 0], "turned")?.values()?, [1, 0, 2, 1]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::MapOffsets`]: the order is not a permutation of the slots.
    pub fn permuted(&self, order: &[i32], name: impl Into<String>) -> Result<Map> {
        let name = name.into();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.arity() as i32) {
            let reason = format!("{order:?} is not a permutation of the {} slots of `{}`", self.arity(), self.name());
            return Err(MeshError::MapOffsets { map: name, reason });
        }
        let moves = self.moves().map(|moves| moves.permuted(order));
        let kind = Kind::Permuted { of: self.clone(), order: order.into() };
        Ok(Map::of(MapIdentity::Own(Identity::fresh()), name, (self.from(), self.to()), self.arity(), kind, moves))
    }

    /// The map that leads through another one, of arity 1, and then through this one. No table is copied.
    ///
    /// ```
    /// use parloop_mesh::{Map, Set};
    /// let (facets, cells, nodes) = (Set::new(3, "facets")?, Set::new(2, "cells")?, Set::new(4, "nodes")?);
    /// let corners = Map::new(&cells, &nodes, 2, &[0, 1, 2, 3], "corners")?;
    /// let inside = Map::new(&facets, &cells, 1, &[1, 1, 0], "inside")?;
    /// assert_eq!(corners.after(&inside, "facet2node")?.values()?, [2, 3, 2, 3, 0, 1]);
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::MapOffsets`]: the other map has another arity or leads elsewhere; [`MeshError::LateMap`].
    pub fn after(&self, through: &Map, name: impl Into<String>) -> Result<Map> {
        let name = name.into();
        refuse_distributed([through.from(), self.to()], &name)?;
        self.composed(through, name)
    }

    fn composed(&self, through: &Map, name: String) -> Result<Map> {
        let wrong = |reason: String| Err(MeshError::MapOffsets { map: name.clone(), reason });
        if through.arity() != 1 {
            return wrong(format!(
                "`{}` has arity {}, but only the last of several maps may have an arity other than 1",
                through.name(),
                through.arity()
            ));
        }
        if through.moves().is_some() {
            return wrong(format!("`{}` has offsets; only the last of several maps may have them", through.name()));
        }
        if [self, through].into_iter().any(Map::is_to_first) {
            return wrong("it maps all elements to one".to_owned());
        }
        if through.to().plain() != self.from().plain() {
            let (first, to, from) = (through.name(), through.to().name(), self.from().name());
            return wrong(format!("`{first}` leads to set `{to}`, but `{}` starts at `{from}`", self.name()));
        }
        let kind = Kind::Composed { of: self.clone(), through: through.clone() };
        Ok(Map::of(MapIdentity::Own(Identity::fresh()), name, (through.from(), self.to()), self.arity(), kind, self.moves().cloned()))
    }

    /// Whether some values are negative, which lead nowhere.
    pub(crate) fn drops(&self) -> bool {
        matches!(&self.inner.kind, Kind::Blocks(_, Blocks { drops: true, .. }))
    }

    /// Whether it has a row for each visit of a loop, and not for each column of an extruded set.
    pub(crate) fn is_by_visit(&self) -> bool {
        matches!(self.inner.kind, Kind::Blocks(..))
    }

    /// Whether every element leads to itself.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.inner.kind, Kind::Identity)
    }

    /// Whether all elements lead to the first.
    pub(crate) fn is_to_first(&self) -> bool {
        matches!(self.inner.kind, Kind::First)
    }

    /// How targets move from layer to layer of an extruded set, if they do.
    pub fn moves(&self) -> Option<&Moves> {
        self.inner.moves.as_ref()
    }

    /// How many targets it has for a visit that sees this many cells of a column.
    pub(crate) fn slots(&self, height: usize) -> usize {
        match self.inner.kind {
            Kind::Blocks(..) | Kind::Identity | Kind::First => self.arity(),
            Kind::Table(_) | Kind::Permuted { .. } | Kind::Composed { .. } => self.arity() * height,
        }
    }

    pub(super) fn is_checked_on(&self, set: &Set) -> bool {
        self.inner.checked_on.lock_or(Vec::new).contains(&set.id())
    }

    pub(super) fn remember_checked_on(&self, set: &Set) {
        self.inner.checked_on.lock_or(Vec::new).push(set.id());
    }

    /// How a loop gets from an element to its targets.
    pub(crate) fn route(&self) -> Route {
        match &self.inner.kind {
            Kind::Table(_) | Kind::Blocks(..) => Route { through: SmallVec::new(), table: Some(self.clone()), order: None },
            Kind::Identity | Kind::First => Route { through: SmallVec::new(), table: None, order: None },
            Kind::Permuted { of, order } => {
                let route = of.route();
                let order = match &route.order {
                    Some(inner) => order.iter().map(|&slot| inner[slot as usize]).collect(),
                    None => order.clone(),
                };
                Route { order: Some(order), ..route }
            }
            Kind::Composed { of, through } => {
                let (before, mut route) = (through.route(), of.route());
                let mut all = before.through;
                all.extend(before.table);
                all.append(&mut route.through);
                Route { through: all, ..route }
            }
        }
    }

    /// The number by which this map is known.
    pub fn id(&self) -> Id {
        match &self.inner.id {
            MapIdentity::Own(identity) => identity.number(),
            MapIdentity::OfSet(id) => *id,
        }
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

    /// Its values, row by row; of an extruded set those of the lowest cell of each column.
    ///
    /// # Errors
    /// When the host cannot read them.
    pub fn values(&self) -> Result<Vec<i32>> {
        match &self.inner.kind {
            Kind::Table(values) | Kind::Blocks(values, _) => values.to_vec(),
            Kind::Identity => Ok((0..self.to().sizes().total as i32).collect()),
            Kind::First => Ok(vec![0; self.from().sizes().total]),
            Kind::Permuted { of, order } => {
                let values = of.values()?;
                Ok(values.chunks(self.arity()).flat_map(|row| order.iter().map(|&slot| row[slot as usize])).collect())
            }
            Kind::Composed { of, through } => {
                let (values, rows) = (of.values()?, through.values()?);
                Ok(rows.iter().flat_map(|&row| &values[row as usize * self.arity()..][..self.arity()]).copied().collect())
            }
        }
    }

    /// What a map that is made of more than two others leads through: for each map but the first and the last the set that it leads to, how many targets
    /// an element has there, and these.
    pub(crate) fn leads_through(&self) -> Result<Vec<(Set, usize, Vec<i32>)>> {
        match &self.inner.kind {
            Kind::Permuted { of, .. } => of.leads_through(),
            Kind::Composed { of, through } => {
                let Some(next) = of.first_step() else { return Ok(Vec::new()) };
                let mut found = of.leads_through()?;
                found.push((next.to().clone(), next.arity(), next.values()?));
                let rows = through.values()?;
                let from_here = |(to, arity, values): (Set, usize, Vec<i32>)| {
                    let values = rows.iter().flat_map(|&row| &values[row as usize * arity..][..arity]).copied().collect();
                    (to, arity, values)
                };
                Ok(found.into_iter().map(from_here).collect())
            }
            Kind::Table(_) | Kind::Blocks(..) | Kind::Identity | Kind::First => Ok(Vec::new()),
        }
    }

    /// The first of the maps that it is made of.
    fn first_step(&self) -> Option<&Map> {
        match &self.inner.kind {
            Kind::Permuted { of, .. } => of.first_step(),
            Kind::Composed { through, .. } => Some(through),
            Kind::Table(_) | Kind::Blocks(..) | Kind::Identity | Kind::First => None,
        }
    }

    /// As [`values`](Self::values), without a copy where there is a table.
    pub(crate) fn numbers(&self) -> Result<Numbers<'_, i32>> {
        match &self.inner.kind {
            Kind::Table(values) | Kind::Blocks(values, _) => values.numbers(),
            Kind::Identity | Kind::First | Kind::Permuted { .. } | Kind::Composed { .. } => Ok(Numbers::Copied(self.values()?)),
        }
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
        if let Kind::Blocks(_, blocks) = &self.inner.kind {
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
        let is_local = match &self.inner.kind {
            Kind::Blocks(_, blocks) => blocks.rows.is_local()?,
            Kind::Identity | Kind::First => true,
            Kind::Table(_) | Kind::Permuted { .. } | Kind::Composed { .. } => plan::locality(&self.table(&self.values()?)).is_local(),
        };
        Ok(*self.inner.is_local.get_or_init(|| is_local))
    }

    fn table<'a>(&self, values: &'a [i32]) -> Table<'a> {
        Table { values, arity: self.arity(), set: 0, targets: self.to().sizes().total, drops: self.drops() }
    }

    /// The host's memory of its values, numbers of type [`DType::I32`] row by row, to look at, if it has a table of its own: they
    /// were checked when it was made.
    ///
    /// # Errors
    /// When the host cannot read them.
    pub fn host(&self) -> Result<Option<&Memory>> {
        // No loop writes a map.
        match self.table_storage() {
            Some(values) => Ok(Some(values.host()?.unprotected())),
            None => Ok(None),
        }
    }

    fn table_storage(&self) -> Option<&Storage> {
        match &self.inner.kind {
            Kind::Table(values) | Kind::Blocks(values, _) => Some(values),
            Kind::Identity | Kind::First | Kind::Permuted { .. } | Kind::Composed { .. } => None,
        }
    }

    /// Where the values of a map with a table are: numbers of type [`DType::I32`].
    pub(crate) fn storage(&self) -> &Storage {
        let values = self.table_storage().expect("invariant: routes are made of maps with tables");
        debug_assert_eq!(values.dtype(), DType::I32);
        values
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Map {}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Map {}: {} -> {} × {}>", self.name(), self.from().name(), self.arity(), self.to().name())
    }
}
