//! What a loop looks like to the compiler: its arguments without their data and sizes. Loops of one shape share their code.

use parloop_device::DType;
use parloop_kernel::LaneParam;
use smallvec::{SmallVec, smallvec};

use crate::access::Access;
use crate::block::Block;
use crate::declare::arg::{ArgData, Param, Part, axes};
use crate::declare::iteration::Iteration;
use crate::declare::layers::Layers;
use crate::declare::map::Map;
use crate::storage::Layout;

/// The arguments of a loop, in the order of the kernel's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What the kernel gets for each of its parameters.
    pub params: Vec<ParamShape>,
    /// The parts of all of them, one after another.
    pub parts: Vec<PartShape>,
    /// How many tables of numbers there are; arguments of the same data share one.
    pub tables: usize,
    /// The maps; parts with the same map share one.
    pub maps: Vec<MapShape>,
    /// How many columns each table of map values has; maps share tables.
    pub stored: Vec<usize>,
    /// Of an extruded set: how its layers are visited.
    pub layers: Option<LayerShape>,
    /// The type of indices: wide when a table has more numbers than 32 bits count.
    pub index: DType,
    /// The type of what says which slot of which element: wide when the elements of the loop have more slots than 32 bits count.
    pub offsets: DType,
}

/// What the kernel gets for a parameter: the numbers of its parts, as one array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParamShape {
    /// The lengths of its axes.
    pub axes: Vec<usize>,
    /// How many parts are beside each other.
    pub across: usize,
    /// How many numbers it has.
    pub size: usize,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether the kernel gets the table itself, which it only reads, and not a copy for each element.
    pub in_place: bool,
}

/// One part of what the kernel gets for a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartShape {
    /// The parameter.
    pub param: usize,
    /// Where its numbers begin in what the kernel gets for the parameter.
    pub start: usize,
    /// Which table of numbers.
    pub table: usize,
    /// The type of the numbers.
    pub dtype: DType,
    /// How many numbers a row of the table has.
    pub row: usize,
    /// Which of them the kernel gets: from `first`, and how many.
    pub first: usize,
    /// How many numbers of a row the kernel gets.
    pub count: usize,
    /// In which order the table lies in memory.
    pub layout: Layout,
    /// How elements lead to rows.
    pub reach: Reach,
    /// The blocks of a matrix that the kernel gets as one; then the map leads to stored blocks.
    pub block: Option<Block>,
    /// Whether some blocks lead nowhere.
    pub drops: bool,
    /// Whether single rows or columns of blocks are dropped.
    pub drops_singles: bool,
    /// What the kernel does with it.
    pub access: Access,
}

/// How a map leads from an element to its targets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MapShape {
    /// How many targets a visit has.
    pub slots: usize,
    /// How many targets a cell has.
    pub arity: usize,
    /// Tables of one column that lead to the row, one after another.
    pub through: SmallVec<[usize; 1]>,
    /// The table that has the targets; none where the row itself is the target, or the first is.
    pub table: Option<usize>,
    /// Whether the first is the target of all.
    pub is_to_first: bool,
    /// Whether there is a row for each visit, and not for each column of an extruded set.
    pub by_visit: bool,
    /// Whether the columns of the table are in another order than the slots.
    pub is_permuted: bool,
    /// How targets move from a layer to the next.
    pub moves: MoveShape,
    /// Whether they move around a periodic column, and there by a number of their own.
    pub around: Option<Around>,
}

/// How targets move from a layer to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveShape {
    /// Not at all.
    Not,
    /// All of them by this many.
    By(i32),
    /// Each by a number of a list.
    Listed,
}

/// How targets move around a periodic column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Around {
    /// They begin at their cell.
    Plain,
    /// They begin above their cell, by a number of a list.
    Shifted,
}

/// How the layers of an extruded set are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerShape {
    /// Whether columns differ.
    pub varied: bool,
    /// How many cells a visit sees.
    pub height: usize,
    /// Whether the kernel gets the number of the layer.
    pub is_passed: bool,
}

/// How elements lead to rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Every element to its own.
    Direct,
    /// Through that map, to as many rows as its arity says.
    Through(usize),
    /// All elements to the only one.
    Global,
}

/// Slots whose bits one word of a mask holds.
pub const MASK_BITS: usize = 32;

/// One loop of a walk through the numbers that a kernel gets of an argument, and how far a step moves: from one row that the element leads
/// to to another, from a cell to the next above it, in the row, and in the array that the kernel gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    pub length: usize,
    pub slot: usize,
    pub cell: usize,
    /// Of a matrix: in the rows and in the columns that the kernel gets.
    pub row: usize,
    pub column: usize,
    pub number: usize,
    pub place: usize,
}

impl PartShape {
    /// The loops of a walk through the numbers that the kernel gets, outer first.
    pub fn walk(&self, shape: &Shape) -> SmallVec<[Axis; 4]> {
        if let Some(block) = self.block {
            return block_walk(block, shape.params[self.param].axes[1]);
        }
        let numbers = Axis { length: self.count, number: 1, place: 1, ..Axis::default() };
        let Some(map) = self.map() else { return smallvec![numbers] };
        let MapShape { arity, slots, .. } = shape.maps[map];
        let rows = Axis { length: arity, slot: 1, place: self.count, ..Axis::default() };
        match slots / arity {
            1 => smallvec![rows, numbers],
            cells => smallvec![Axis { length: cells, cell: 1, place: arity * self.count, ..Axis::default() }, rows, numbers],
        }
    }

    /// How many numbers the kernel gets.
    pub fn size(&self, shape: &Shape) -> usize {
        self.count * self.map().map_or(1, |map| shape.maps[map].slots)
    }

    /// The map, if there is one.
    pub fn map(&self) -> Option<usize> {
        match self.reach {
            Reach::Through(map) => Some(map),
            Reach::Direct | Reach::Global => None,
        }
    }

    /// Whether different elements may write the same rows.
    pub fn can_meet(&self) -> bool {
        self.access.writes() && self.map().is_some()
    }

    /// Whether different elements may write the same rows, where the last of them decides.
    pub fn last_decides(&self) -> bool {
        self.can_meet() && self.access == Access::Write
    }

    /// Whether both have numbers of a row in common.
    pub fn overlaps(&self, other: &PartShape) -> bool {
        self.table == other.table && self.first < other.first + other.count && other.first < self.first + self.count
    }

    /// Whether both are the same numbers of a row.
    pub fn is_alike(&self, other: &PartShape) -> bool {
        (self.table, self.first, self.count) == (other.table, other.first, other.count)
    }

    /// Whether it is combined over all elements.
    pub fn is_reduced(&self) -> bool {
        self.access.writes() && self.reach == Reach::Global
    }
}

/// Row by row through all blocks together, as the kernel has them in rows of this many numbers; what has length one needs no loop.
fn block_walk(block: Block, width: usize) -> SmallVec<[Axis; 4]> {
    let Block { below, beside, rows, columns } = block;
    let axes = [
        Axis { length: below, slot: beside, place: rows * width, row: rows, ..Axis::default() },
        Axis { length: rows, number: columns, place: width, row: 1, ..Axis::default() },
        Axis { length: beside, slot: 1, place: columns, column: columns, ..Axis::default() },
        Axis { length: columns, number: 1, place: 1, column: 1, ..Axis::default() },
    ];
    axes.into_iter().filter(|axis| axis.length > 1).collect()
}

/// What the shape of a loop is made of.
pub struct Loop<'a> {
    pub iteration: &'a Iteration,
    pub params: &'a [Param],
    pub parts: &'a [Part],
    /// Whether the kernel gets the number of the layer.
    pub passes_layer: bool,
}

/// The maps of these parts, by their numbers in the shape.
pub fn maps_of(parts: &[Part]) -> SmallVec<[Map; 4]> {
    let mut maps: SmallVec<[Map; 4]> = SmallVec::new();
    for map in parts.iter().filter_map(|part| part.map.as_ref()) {
        if !maps.contains(map) {
            maps.push(map.clone());
        }
    }
    maps
}

/// The maps whose tables these maps are made of, by their numbers in the shape. Of plain maps it is themselves.
pub fn stored_by(maps: &[Map]) -> SmallVec<[Map; 4]> {
    let mut stored: SmallVec<[Map; 4]> = SmallVec::new();
    for route in maps.iter().map(Map::route) {
        for map in route.through.into_iter().chain(route.table) {
            if !stored.contains(&map) {
                stored.push(map);
            }
        }
    }
    stored
}

fn map_shape(map: &Map, stored: &[Map], iteration: &Iteration) -> MapShape {
    let route = map.route();
    let number = |map: &Map| stored.iter().position(|known| known == map).expect("invariant: it is one of them");
    let layers = iteration.layers();
    let moves = match map.moves().filter(|_| layers.is_some()) {
        None => MoveShape::Not,
        Some(moves) => match moves.offsets() {
            [first, rest @ ..] if rest.iter().all(|offset| offset == first) => MoveShape::By(*first),
            _ => MoveShape::Listed,
        },
    };
    let is_around = layers.is_some_and(Layers::is_periodic) && moves != MoveShape::Not;
    let shifted = map.moves().is_some_and(|moves| moves.quotients().is_some());
    MapShape {
        slots: map.slots(iteration.height()),
        arity: if map.is_by_visit() { map.slots(1) } else { map.arity() },
        through: route.through.iter().map(number).collect(),
        table: route.table.as_ref().map(number),
        is_to_first: map.is_to_first(),
        by_visit: map.is_by_visit(),
        is_permuted: route.order.is_some(),
        moves,
        around: is_around.then_some(if shifted { Around::Shifted } else { Around::Plain }),
    }
}

/// Where the numbers of each part begin in an array with these axes.
fn starts(parts: &[Part], across: usize, axes: &[usize]) -> SmallVec<[usize; 4]> {
    let (mut starts, mut row, mut next) = (SmallVec::new(), 0, 0);
    for (place, part) in parts.iter().enumerate() {
        starts.push(next);
        match part.block().map(Block::shape) {
            None => next += part.axes().iter().product::<usize>(),
            Some([_, columns]) if (place + 1) % across != 0 => next += columns,
            Some([rows, _]) => {
                row += rows * axes[1];
                next = row;
            }
        }
    }
    starts
}

/// The type of numbers that count the slots of this many elements.
pub(crate) fn offsets_for(elements: usize, slots: usize) -> DType {
    if elements.saturating_mul(slots) <= i32::MAX as usize { DType::I32 } else { DType::I64 }
}

impl Shape {
    /// The shape of these arguments for what a loop visits; `layout` says how the numbers of each part lie in memory, `in_place` which
    /// parameters are not copied.
    pub fn of(of: &Loop<'_>, layout: impl Fn(&Part) -> Layout, in_place: impl Fn(usize) -> bool) -> Shape {
        let &Loop { iteration, params, parts, passes_layer } = of;
        let maps = maps_of(parts);
        let mut tables: Vec<&Part> = Vec::new();
        let mut param_shapes = Vec::with_capacity(params.len());
        let mut part_shapes = Vec::with_capacity(parts.len());
        for (number, param) in params.iter().enumerate() {
            let parts = &parts[param.parts.clone()];
            let axes = axes(parts.iter().map(Part::axes), param.across, parts[0].block().is_some());
            let starts = starts(parts, param.across, &axes);
            for (part, start) in parts.iter().zip(starts) {
                let known = tables.iter().position(|known| known.storage().is_same(part.storage()));
                let table = known.unwrap_or_else(|| {
                    tables.push(part);
                    tables.len() - 1
                });
                let reach = match (&part.data, &part.map) {
                    (ArgData::Global(_), _) => Reach::Global,
                    (_, None) => Reach::Direct,
                    (_, Some(map)) => Reach::Through(maps.iter().position(|known| known == map).expect("invariant: it is one of them")),
                };
                part_shapes.push(PartShape {
                    param: number,
                    start,
                    table,
                    dtype: part.dtype(),
                    row: part.storage().count(),
                    first: if let ArgData::Component(_, component) = part.data { component } else { 0 },
                    count: part.count(),
                    layout: layout(part),
                    reach,
                    block: part.block(),
                    drops: part.map.as_ref().is_some_and(Map::drops),
                    drops_singles: part.meeting().is_some_and(|meeting| meeting.dropped.has_singles()),
                    access: part.access,
                });
            }
            param_shapes.push(ParamShape {
                size: axes.iter().product(),
                axes,
                across: param.across,
                access: parts[0].access,
                in_place: in_place(number),
            });
        }
        let tables_are_small = parts.iter().all(|part| part.storage().len() <= i32::MAX as usize);
        let stored = stored_by(&maps);
        let maps_are_small = stored.iter().all(|map| map.storage().len() <= i32::MAX as usize);
        let slots = maps.iter().map(|map| map.slots(iteration.height())).fold(0, usize::saturating_add);
        let offsets = offsets_for(iteration.total(), slots);
        let index = if tables_are_small && maps_are_small { offsets } else { DType::I64 };
        let layers = iteration.layers().map(|layers| LayerShape {
            varied: layers.cells().is_none(),
            height: iteration.height(),
            is_passed: passes_layer,
        });
        Shape {
            params: param_shapes,
            parts: part_shapes,
            tables: tables.len(),
            maps: maps.iter().map(|map| map_shape(map, &stored, iteration)).collect(),
            stored: stored.iter().map(Map::arity).collect(),
            layers,
            index,
            offsets,
        }
    }

    /// Whether every map is a table with a row for each element, so that elements and rows can be taken in another order.
    pub fn is_flat(&self) -> bool {
        self.layers.is_none() && self.maps.iter().all(|map| map.table.is_some() && map.through.is_empty() && !map.is_permuted)
    }

    /// The parts of a parameter.
    pub fn parts_of(&self, param: usize) -> &[PartShape] {
        let first = self.parts.partition_point(|part| part.param < param);
        let end = self.parts.partition_point(|part| part.param <= param);
        &self.parts[first..end]
    }

    /// How a parameter is passed to a kernel that runs several elements at once.
    pub fn lane_param(&self, param: usize) -> LaneParam {
        let is_same = self.parts_of(param).iter().all(|part| part.reach == Reach::Global && part.access == Access::Read);
        let numbers = self.params[param].size;
        if is_same { LaneParam::Same(numbers) } else { LaneParam::Each(numbers) }
    }

    /// The type of the numbers of a parameter.
    pub fn dtype(&self, param: usize) -> DType {
        self.parts_of(param)[0].dtype
    }

    /// The maps through which different elements may write the same rows, in the order of the plan's slots.
    pub fn meeting_maps(&self) -> Vec<usize> {
        self.maps_of(PartShape::can_meet)
    }

    /// Those of them through which data is only written, so that the last element decides.
    pub fn last_deciding_maps(&self) -> Vec<usize> {
        self.maps_of(PartShape::last_decides)
    }

    fn maps_of(&self, which: impl Fn(&PartShape) -> bool) -> Vec<usize> {
        let mut maps = Vec::new();
        for map in self.parts.iter().filter(|arg| which(arg)).filter_map(PartShape::map) {
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
        maps
    }

    /// How many words a mask over the slots of the meeting maps has.
    pub fn mask_words(&self) -> usize {
        let slots: usize = self.meeting_maps().iter().map(|&map| self.maps[map].slots).sum();
        slots.div_ceil(MASK_BITS).max(1)
    }

    /// The first slot of a map among those of `maps`.
    pub fn first_slot(&self, maps: &[usize], map: usize) -> usize {
        maps.iter().take_while(|&&known| known != map).map(|&known| self.maps[known].slots).sum()
    }
}
