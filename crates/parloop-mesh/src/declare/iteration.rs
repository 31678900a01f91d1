//! What a loop visits: the elements of a set or, of an extruded one, the cells of its columns or the facets between them, numbered
//! column by column.

use std::sync::Arc;

use super::halo::Halo;
use super::layers::{Column, Layers, Region};
use super::map::Map;
use super::set::Set;
use crate::Result;
use crate::error::MeshError;
use crate::plan::Elements;
use crate::storage::Numbers;
use parloop_device::once::Once;

/// What a loop visits, numbered from 0; of a subset only some of these numbers are visited.
#[derive(Clone, Debug)]
pub struct Iteration {
    set: Set,
    region: Region,
    tower: Option<Tower>,
    /// The numbers that are visited, where not all are.
    list: Once<Vec<i32>>,
    /// Of a distributed set, what is visited.
    stretch: Stretch,
    chosen: Option<Chosen>,
}

/// Which elements of a distributed set are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stretch {
    /// Those of this process.
    #[default]
    Owned,
    /// Those that touch nothing of other processes.
    Core,
    /// Those of this process that touch something of others.
    Border,
    /// Those of others that lead to elements of this process.
    Ghosts,
    /// Border and ghosts.
    Rest,
    /// Core, border and ghosts.
    Exec,
    /// The same, in the order of the whole set.
    Ordered,
}

impl Stretch {
    /// All of them.
    pub const ALL: [Stretch; 7] =
        [Stretch::Owned, Stretch::Core, Stretch::Border, Stretch::Ghosts, Stretch::Rest, Stretch::Exec, Stretch::Ordered];
}

/// Elements in the place of all that a process owns.
#[derive(Clone, Debug)]
enum Chosen {
    /// Those below a number.
    Below(usize),
    /// A list.
    List(Arc<[i32]>),
}

/// The layers of an extruded set.
#[derive(Clone, Debug)]
struct Tower {
    layers: Layers,
    /// How many are visited in each column, if as many in each.
    count: Option<i32>,
    /// The number of the first that is visited in each column, and behind the last, where columns differ.
    starts: Once<Vec<i32>>,
}

/// A column as a loop visits it.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    pub column: Column,
    /// The first layer that is visited, counted from the lowest.
    pub first: i32,
    pub count: i32,
    /// The number of the first.
    pub start: i32,
}

impl Iteration {
    /// # Errors
    /// [`MeshError::Region`]: only extruded sets have regions.
    pub fn new(set: &Set, region: Region) -> Result<Iteration> {
        let tower = set.layers().map(|layers| Tower {
            layers: layers.clone(),
            count: layers.cells().map(|cells| region.visited(cells as i32, layers.is_periodic()).1),
            starts: Once::new(),
        });
        if tower.is_none() && region != Region::All {
            return Err(MeshError::Region { set: set.name().to_owned() });
        }
        Ok(Iteration { set: set.clone(), region, tower, list: Once::new(), stretch: Stretch::Owned, chosen: None })
    }

    /// The same over some elements of a distributed set.
    ///
    /// # Panics
    /// The set is not distributed.
    pub fn on(&self, stretch: Stretch) -> Iteration {
        let halo = self.set.halo().expect("invariant: the set is distributed");
        let (sizes, indices) = (self.set.sizes(), self.set.indices());
        // Of a subset, the ghosts in it that are run stand behind what is owned.
        let ghosts = match indices {
            None => halo.exec() - sizes.owned,
            Some(_) => self.set.ghosts().map_or(0, <[i32]>::len),
        };
        let exec = sizes.owned + ghosts;
        let range = match stretch {
            Stretch::Owned => 0..sizes.owned,
            Stretch::Core => 0..sizes.core,
            Stretch::Border => sizes.core..sizes.owned,
            Stretch::Ghosts => sizes.owned..exec,
            Stretch::Rest => sizes.core..exec,
            Stretch::Exec | Stretch::Ordered => 0..exec,
        };
        let chosen = match (indices, range.start) {
            (None, 0) if stretch != Stretch::Ordered => Chosen::Below(self.first_of(range.end)),
            _ => {
                let mut list: Vec<i32> = match indices {
                    None => (range.start as i32..range.end as i32).collect(),
                    Some(indices) => [&indices[..sizes.owned], self.set.ghosts().unwrap_or(&[])].concat()[range].to_vec(),
                };
                if stretch == Stretch::Ordered {
                    list.sort_by_key(|&element| halo.numbers()[element as usize]);
                }
                Chosen::List(if self.tower.is_some() { self.visits(&list).collect() } else { list.into() })
            }
        };
        Iteration { stretch, chosen: Some(chosen), list: Once::new(), ..self.clone() }
    }

    /// Which elements of a distributed set are visited.
    pub fn stretch(&self) -> Stretch {
        self.stretch
    }

    /// The set.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Which cells of each column.
    pub fn region(&self) -> Region {
        self.region
    }

    /// The layers, of an extruded set.
    pub fn layers(&self) -> Option<&Layers> {
        self.tower.as_ref().map(|tower| &tower.layers)
    }

    /// How many cells a visit sees.
    pub fn height(&self) -> usize {
        self.region.height()
    }

    /// How many are visited.
    pub fn count(&self) -> usize {
        match &self.chosen {
            Some(Chosen::Below(limit)) => return *limit,
            Some(Chosen::List(list)) => return list.len(),
            None => {}
        }
        let columns = self.set.size();
        match (&self.tower, self.set.indices()) {
            (None, _) => columns,
            (Some(Tower { count: Some(count), .. }), _) => columns * *count as usize,
            (Some(_), None) => self.starts()[columns] as usize,
            (Some(_), Some(indices)) => indices[..columns].iter().map(|&column| self.column(column as usize).count as usize).sum(),
        }
    }

    /// How many numbers there are, ghosts and all.
    pub fn total(&self) -> usize {
        let columns = self.set.base().sizes().total;
        match &self.tower {
            None => columns,
            Some(Tower { count: Some(count), .. }) => columns * *count as usize,
            Some(_) => self.starts()[columns] as usize,
        }
    }

    /// How many are visited in each column, if as many in each.
    pub fn each(&self) -> Option<i32> {
        self.tower.as_ref().and_then(|tower| tower.count)
    }

    /// What is visited of a column of an extruded set.
    ///
    /// # Panics
    /// The set is not extruded, or has no such column.
    pub fn column(&self, column: usize) -> Visited {
        let tower = self.tower.as_ref().expect("invariant: only extruded sets have columns");
        let (start, number) = (self.start(column), column);
        let column = tower.layers.column(number);
        let (first, count) = self.region.visited(column.cells, tower.layers.is_periodic());
        Visited { column, first, count, start }
    }

    fn start(&self, column: usize) -> i32 {
        match self.each() {
            Some(count) => column as i32 * count,
            None => self.starts()[column],
        }
    }

    /// The number of the first in each column, and behind the last.
    fn starts(&self) -> &[i32] {
        let tower = self.tower.as_ref().expect("invariant: only extruded sets have columns");
        tower.starts.get_or_init(|| {
            let mut next = 0;
            let columns = (0..self.set.base().sizes().total).map(|column| tower.layers.column(column).cells);
            let counts = columns.map(|cells| self.region.visited(cells, tower.layers.is_periodic()).1);
            let behind = counts.map(|count| {
                next += count;
                next
            });
            std::iter::once(0).chain(behind).collect()
        })
    }

    /// The element, or the column and the layer, of a number, in words.
    pub fn told(&self, number: usize) -> String {
        if self.tower.is_none() {
            return number.to_string();
        }
        let columns = 0..self.set.base().sizes().total;
        let holds = |visited: &Visited| (visited.start..visited.start + visited.count).contains(&(number as i32));
        match columns.map(|column| (column, self.column(column))).find(|(_, visited)| holds(visited)) {
            Some((column, visited)) => {
                format!("{column}, layer {}", visited.column.bottom + visited.first + number as i32 - visited.start)
            }
            None => number.to_string(),
        }
    }

    /// The numbers that are visited, where not all from 0 are.
    pub fn list(&self) -> Option<&[i32]> {
        match &self.chosen {
            Some(Chosen::Below(_)) => return None,
            Some(Chosen::List(list)) => return Some(list),
            None => {}
        }
        let indices = &self.set.indices()?[..self.set.size()];
        if self.tower.is_none() {
            return Some(indices);
        }
        Some(self.list.get_or_init(|| self.visits(indices).collect()))
    }

    /// The numbers of all that is visited in some columns.
    fn visits(&self, columns: &[i32]) -> impl Iterator<Item = i32> {
        columns.iter().flat_map(|&column| {
            let visited = self.column(column as usize);
            visited.start..visited.start + visited.count
        })
    }

    /// How many are visited before an element, or a column.
    fn first_of(&self, element: usize) -> usize {
        if self.tower.is_some() { self.start(element) as usize } else { element }
    }

    /// The numbers that are visited, in the form that plans need.
    pub fn elements(&self) -> Elements<'_> {
        match self.list() {
            Some(list) => Elements::List(list),
            None => Elements::Range(0..self.count()),
        }
    }

    /// For each number the targets of a map, which of an extruded set moves from layer to layer.
    ///
    /// # Errors
    /// When the host cannot read the values; [`MeshError::LayerRange`].
    pub fn targets<'m>(&self, map: &'m Map) -> Result<Numbers<'m, i32>> {
        let values = map.numbers()?;
        if self.tower.is_none() || map.is_by_visit() {
            return Ok(values);
        }
        self.check(map, &values)?;
        let (arity, moves, periodic) = (map.arity(), map.moves(), self.layers().is_some_and(Layers::is_periodic));
        let seen = map.slots(self.height()) / arity;
        let (mut targets, whole_rows) = (Vec::with_capacity(self.total() * arity * seen), whole_rows(map));
        for (number, row) in values.chunks(arity).enumerate() {
            let Visited { column, first, count, .. } = self.column(number);
            if number >= whole_rows {
                targets.extend(std::iter::repeat_n(0, count as usize * seen * arity));
                continue;
            }
            for layer in first..first + count {
                for layer in layer..layer + seen as i32 {
                    let moved =
                        |(slot, &value): (usize, &i32)| value + moves.map_or(0, |moves| moves.at(slot, layer, column.cells, periodic));
                    targets.extend(row.iter().enumerate().map(moved));
                }
            }
        }
        Ok(Numbers::Copied(targets))
    }

    /// Adds the first and the last target that each slot of a map has in each column; those that leave its target set are left out.
    pub(crate) fn add_chains(&self, map: &Map, values: &[i32], chains: &mut Vec<[i32; 2]>) {
        let (Some(tower), Some(moves)) = (&self.tower, map.moves()) else { return };
        let limit = map.to().sizes().total as i64;
        for (column, slots) in values.chunks(map.arity()).enumerate() {
            let cells = tower.layers.column(column).cells;
            for (slot, &value) in slots.iter().enumerate().filter(|_| cells > 0) {
                let ends = moves.range(slot, cells, tower.layers.is_periodic());
                let mut ends = ends.map(|factor| i64::from(value) + i64::from(moves.offset(slot)) * i64::from(factor));
                ends.sort_unstable();
                if ends[0] >= 0 && ends[1] < limit {
                    chains.push(ends.map(|end| end as i32));
                }
            }
        }
    }

    /// Refuses a map that leaves its target set in a higher layer.
    ///
    /// # Errors
    /// [`MeshError::LayerRange`].
    pub fn check_map(&self, map: &Map) -> Result<()> {
        if self.tower.is_none() || map.is_by_visit() || map.moves().is_none() || map.is_checked_on(self.set.base()) {
            return Ok(());
        }
        self.check(map, &map.values()?)?;
        map.remember_checked_on(self.set.base());
        Ok(())
    }

    fn check(&self, map: &Map, values: &[i32]) -> Result<()> {
        let (Some(tower), Some(moves)) = (&self.tower, map.moves()) else { return Ok(()) };
        let limit = map.to().sizes().total as i64;
        let halo = map.to().halo();
        for (row, slots) in values.chunks(map.arity()).enumerate().take(whole_rows(map)) {
            let cells = tower.layers.column(row).cells;
            if cells == 0 {
                continue;
            }
            for (slot, &value) in slots.iter().enumerate() {
                // Between the ends targets move in a straight line.
                for factor in moves.range(slot, cells, tower.layers.is_periodic()) {
                    let target = i64::from(value) + i64::from(moves.offset(slot)) * i64::from(factor);
                    if !(0..limit).contains(&target) {
                        let (map_name, set) = (map.name().to_owned(), map.to().name().to_owned());
                        return Err(MeshError::LayerRange { map: map_name, row, slot, value: target, cells, set, size: limit as usize });
                    }
                    if halo.is_some_and(|halo| !halo.is_one_run(value, target as i32)) {
                        let reason = format!(
                            "the mesh was distributed before columns of {cells} cells were known; extrude set `{}` before calling distribute",
                            map.from().plain().name()
                        );
                        return Err(MeshError::MapOffsets { map: map.name().to_owned(), reason });
                    }
                }
            }
        }
        Ok(())
    }
}

/// How many rows of a map lead to their targets: those of ghosts that no loop runs may not.
fn whole_rows(map: &Map) -> usize {
    map.from().halo().map_or(usize::MAX, Halo::exec)
}
