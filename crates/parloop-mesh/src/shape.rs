//! What a loop looks like to the compiler: its arguments without their data and sizes. Loops of one shape share their code.

use parloop_device::DType;
use smallvec::{SmallVec, smallvec};

use crate::access::Access;
use crate::block::Block;
use crate::declare::arg::{Arg, ArgData};
use crate::storage::Layout;

/// The arguments of a loop, in the order of the kernel's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Each argument.
    pub args: Vec<ArgShape>,
    /// How many tables of numbers there are; arguments of the same data share one.
    pub tables: usize,
    /// The arity of each map; arguments of the same map share one.
    pub maps: Vec<usize>,
    /// The type of indices: wide when a table has more numbers than 32 bits count.
    pub index: DType,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArgShape {
    /// Which table of numbers.
    pub table: usize,
    /// The type of the numbers.
    pub dtype: DType,
    /// How many numbers a row of the table has.
    pub row: usize,
    /// Which of them the kernel gets: from `first`, so many.
    pub first: usize,
    /// How many numbers of a row the kernel gets.
    pub count: usize,
    /// In which order the table lies in memory.
    pub layout: Layout,
    /// How elements lead to rows.
    pub reach: Reach,
    /// The blocks of a matrix that the kernel gets as one; then the map leads to stored blocks, or nowhere.
    pub block: Option<Block>,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether the kernel gets the table itself, which it only reads, and not a copy for each element.
    pub in_place: bool,
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
/// to to another, in the row, and in the array that the kernel gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub length: usize,
    pub slot: usize,
    pub number: usize,
    pub place: usize,
}

impl ArgShape {
    /// The loops of a walk through the numbers that the kernel gets, outer first.
    pub fn walk(&self, shape: &Shape) -> SmallVec<[Axis; 4]> {
        if let Some(block) = self.block {
            return block_walk(block);
        }
        let numbers = Axis { length: self.count, slot: 0, number: 1, place: 1 };
        match self.map() {
            Some(map) => smallvec![Axis { length: shape.maps[map], slot: 1, number: 0, place: self.count }, numbers],
            None => smallvec![numbers],
        }
    }

    /// The lengths of the axes of what the kernel gets.
    pub fn axes(&self, shape: &Shape) -> Vec<usize> {
        match self.block {
            Some(block) => block.shape().to_vec(),
            None => self.map().map(|map| shape.maps[map]).into_iter().chain([self.count]).collect(),
        }
    }

    /// How many numbers the kernel gets.
    pub fn size(&self, shape: &Shape) -> usize {
        self.count * self.map().map_or(1, |map| shape.maps[map])
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
    pub fn overlaps(&self, other: &ArgShape) -> bool {
        self.table == other.table && self.first < other.first + other.count && other.first < self.first + self.count
    }

    /// Whether both are the same numbers of a row.
    pub fn is_alike(&self, other: &ArgShape) -> bool {
        (self.table, self.first, self.count) == (other.table, other.first, other.count)
    }

    /// Whether it is combined over all elements.
    pub fn is_reduced(&self) -> bool {
        self.access.writes() && self.reach == Reach::Global
    }
}

/// Row by row through all blocks together, as the kernel has them; what has length one needs no loop.
fn block_walk(block: Block) -> SmallVec<[Axis; 4]> {
    let Block { below, beside, rows, columns } = block;
    let width = beside * columns;
    let axes = [
        Axis { length: below, slot: beside, number: 0, place: rows * width },
        Axis { length: rows, slot: 0, number: columns, place: width },
        Axis { length: beside, slot: 1, number: 0, place: columns },
        Axis { length: columns, slot: 0, number: 1, place: 1 },
    ];
    axes.into_iter().filter(|axis| axis.length > 1).collect()
}

impl Shape {
    /// The shape of these arguments; `layout` says how the numbers of each lie in memory, `in_place` which are not copied.
    pub fn of(args: &[Arg], layout: impl Fn(&Arg) -> Layout, in_place: impl Fn(usize, &Arg) -> bool) -> Shape {
        let mut tables: Vec<&Arg> = Vec::new();
        let mut maps = Vec::new();
        let mut shapes = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let known = tables.iter().position(|known| known.storage().is_same(arg.storage()));
            let table = known.unwrap_or_else(|| {
                tables.push(arg);
                tables.len() - 1
            });
            let reach = match (&arg.data, &arg.map) {
                (ArgData::Global(_), _) => Reach::Global,
                (_, None) => Reach::Direct,
                (_, Some(map)) => Reach::Through(maps.iter().position(|known| *known == map).unwrap_or_else(|| {
                    maps.push(map);
                    maps.len() - 1
                })),
            };
            let first = if let ArgData::Component(_, component) = arg.data { component } else { 0 };
            shapes.push(ArgShape {
                table,
                dtype: arg.dtype(),
                row: arg.storage().count(),
                first,
                count: arg.count(),
                layout: layout(arg),
                reach,
                block: arg.block(),
                access: arg.access,
                in_place: in_place(index, arg),
            });
        }
        let tables_are_small = args.iter().all(|arg| arg.storage().len() <= i32::MAX as usize);
        let maps_are_small = maps.iter().all(|map| map.storage().len() <= i32::MAX as usize);
        let index = if tables_are_small && maps_are_small { DType::I32 } else { DType::I64 };
        Shape { args: shapes, tables: tables.len(), maps: maps.iter().map(|map| map.arity()).collect(), index }
    }

    /// The maps through which different elements may write the same rows, in the order of the plan's slots.
    pub fn meeting_maps(&self) -> Vec<usize> {
        self.maps_of(ArgShape::can_meet)
    }

    /// Those of them through which data is only written, so that the last element decides.
    pub fn last_deciding_maps(&self) -> Vec<usize> {
        self.maps_of(ArgShape::last_decides)
    }

    fn maps_of(&self, which: impl Fn(&ArgShape) -> bool) -> Vec<usize> {
        let mut maps = Vec::new();
        for map in self.args.iter().filter(|arg| which(arg)).filter_map(ArgShape::map) {
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
        maps
    }

    /// How many words a mask over the slots of the meeting maps has.
    pub fn mask_words(&self) -> usize {
        let slots: usize = self.meeting_maps().iter().map(|&map| self.maps[map]).sum();
        slots.div_ceil(MASK_BITS).max(1)
    }

    /// The first slot of a map among those of `maps`.
    pub fn first_slot(&self, maps: &[usize], map: usize) -> usize {
        maps.iter().take_while(|&&known| known != map).map(|&known| self.maps[known]).sum()
    }
}
