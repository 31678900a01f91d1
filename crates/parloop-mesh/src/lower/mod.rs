//! From the shape of a loop and a form to a loop kernel that calls the user's kernel: a frame (which elements), what is fetched, the call,
//! and what is kept are parts that compose.

mod block_sums;
mod frame;
mod lanes;
mod level;
mod names;
mod pairs;
mod permute;
mod piece;
mod product;
mod reduce;
mod rows;
mod scope;
mod stage;
mod writeback;

use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::Name;
use parloop_loop::create::Data;
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Expr, KernelOptions};
use parloop_loop::transform::{TransformError, register_callable};

use self::piece::{Piece, tagged};
use self::stage::{Body, Call};
use crate::kernel::{CALLABLE_IN_LANES, Kernel};
use crate::shape::{Around, MoveShape, Reach, Shape};
use crate::storage::Layout;

pub use block_sums::{can_number_entries, shared_numbers};
pub use names::{Array, Number};
pub use permute::{Permute, permute};
pub use piece::Lowered;
pub use product::{Product, product};
pub use reduce::combine;
pub use rows::{RowMove, RowWords, move_rows};

/// On what elements are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// Threads of a CPU, each of which takes groups of elements.
    Threads,
    /// Work items of a GPU, one for each element.
    Gpu,
}

/// How elements are visited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Each element once.
    Elements {
        /// Which elements.
        visits: Visits,
        /// How what is written is kept apart.
        apart: Apart,
        /// Whether several elements are run at a time; what the kernel left is kept afterwards, element by element.
        batches: Batches,
    },
    /// Each row of what the maps lead to once; it gets what its elements have for it.
    Targets {
        /// The maps, all of which lead to one set.
        maps: Vec<usize>,
        /// Rows are read from a list.
        listed: bool,
        /// Whether this pass also writes what elements have of their own.
        writes_direct: bool,
    },
}

/// Whether several elements are run at a time, in the lanes of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Batches {
    /// One element after another.
    Single,
    /// The kernel is called for each, in a loop that compilers make vectors of if they can.
    Calls,
    /// The form of the kernel for vectors is called once for all of them.
    Vectors,
}

impl Form {
    /// Whether what the work items of a block have for a row is added up before it is written.
    pub fn shares(&self) -> bool {
        matches!(self, Form::Elements { apart: Apart::Shared, .. })
    }

    /// The maps whose targets are read by elements.
    pub fn followed_maps(&self, shape: &Shape) -> Vec<usize> {
        let is_followed = |&map: &usize| !self.shares() || shape.parts.iter().any(|part| part.map() == Some(map) && !part.can_meet());
        (0..shape.maps.len()).filter(is_followed).collect()
    }
}

/// Which elements a launch visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visits {
    /// Those of a range.
    Range,
    /// Those of a list.
    List,
    /// Those of a list, with rows of maps that lie in the order of the list.
    ListWithMaps,
}

impl Visits {
    /// Whether elements are read from a list.
    pub fn is_listed(self) -> bool {
        self != Visits::Range
    }
}

impl From<bool> for Visits {
    fn from(listed: bool) -> Visits {
        if listed { Visits::List } else { Visits::Range }
    }
}

/// How writes of different elements to one row are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Apart {
    /// By the order of visits.
    Order,
    /// By the order of visits; what is only written is stored by the last element that leads to a row.
    Last,
    /// Each visit writes only where its mask has a bit.
    Mask,
    /// Every addition is atomic.
    Atomic,
    /// What the work items of a block have for a row is added up in the memory that they share; these sums are added atomically.
    Shared,
}

/// Work items of a block on a GPU.
pub const BLOCK: usize = 128;

/// Elements that are in the lanes of vectors at a time: as many doubles as the widest have, or twice as many as narrower ones.
pub const LANES: usize = 8;

/// Numbers that a batch of visits of a column leaves at most: they stay in the nearest cache. Visits that follow one another in a column lead to
/// rows one after another, so that the longer a batch is the less is spent on beginning loops.
pub const COLUMN_NUMBERS: usize = 1024;

/// Elements of each work item where sums over all elements are made.
pub const EACH: usize = 8;

/// What is written outside of its only number where the kernel left a number of a part unwritten.
fn unwritten(part: usize) -> Name {
    format!("{UNWRITTEN}{part}").into()
}

const UNWRITTEN: &str = "pl_unwritten";

/// The part of which an array that a failed check names says that a number of it was left unwritten.
pub fn unwritten_part(array: &str) -> Option<usize> {
    array.strip_prefix(UNWRITTEN)?.parse().ok()
}

/// The loop kernel.
///
/// # Errors
/// What the loop compiler says.
pub fn lower(kernel: &Kernel, shape: &Shape, form: &Form, machine: Machine, checked: bool) -> Result<Lowered, LoopError> {
    let by_columns = |visits: &Visits| frame::goes_by_columns(shape, visits.is_listed());
    let in_vectors = matches!(form, Form::Elements { batches: Batches::Vectors, .. });
    // Indices that checks report count the numbers of all elements. Threads compute in 64 bits: narrower numbers may wrap, so that compilers
    // would widen every index by itself. Where compilers make vectors of calls, these have twice as many narrow ones; but lanes in a column
    // lead to rows one after another, which compilers see where numbers do not wrap.
    let is_scalar = machine == Machine::Threads
        && match form {
            Form::Elements { visits, batches: Batches::Calls, .. } => by_columns(visits),
            _ => true,
        };
    let wide = Shape { index: DType::I64, ..shape.clone() };
    let shape = if checked || is_scalar { &wide } else { shape };
    let mut frame = frame::frame(shape, form, machine, &lanes::lane_writes(shape));
    let mut around = std::mem::take(&mut frame.piece);
    if in_vectors {
        around.tags.extend(lanes::lane_tags(shape));
    }
    let axes = kernel.axes(shape);
    if checked {
        around = around.and(Body { shape, form, machine, frame: &frame, axes: &axes, checked, in_vectors }.find_targets());
        frame.body.ready.extend((0..shape.maps.len()).map(stage::targets_of));
    }
    let body = body(&Body { shape, form, machine, frame: &frame, axes: &axes, checked, in_vectors });
    let piece = tables(shape, form, machine, checked).and(level::data(shape)).and(around).and(body);
    let mut options = KernelOptions { checked: Some(checked), ..KernelOptions::default() };
    // SAFETY: whoever made the kernel vouched for its options.
    unsafe { options.set_build_options(kernel.build_options().to_vec()) };
    let (lowered, tags) = piece.build(format!("loop_{}", kernel.name()), shape.index, options)?;
    let mut program = kernel.register(&lowered.program, shape, checked)?;
    if in_vectors {
        let function = kernel.in_lanes(shape, LANES).expect("invariant: only kernels that have this form run in vectors");
        program = register_callable(&program, CALLABLE_IN_LANES, Arc::new(function), false).map_err(TransformError::from)?;
        if shape.parts.iter().any(|part| pairs::are_paired(shape, part)) {
            program = register_callable(&program, pairs::PAIRS, Arc::new(pairs::function()), false).map_err(TransformError::from)?;
        }
    }
    Ok(Lowered { program: tagged(program, &tags)?, ..lowered })
}

/// What is done for each element.
fn body(body: &Body<'_>) -> Piece {
    let Body { shape, form, frame, .. } = body;
    let mut piece = Piece::default();
    // What the kernel must write is 0 before this call and 1 before the other: a number that is 0 here and 1 there was not written, whatever
    // its type.
    if body.is_tried() {
        piece = body.stage(Call::trial(&frame.body));
    }
    piece = piece.and(body.stage(Call::real(&frame.body)));
    if let Some(lanes) = &frame.lanes {
        piece = piece.and(body.in_lanes(lanes));
    }
    if matches!(form, Form::Elements { apart: Apart::Last, .. }) {
        piece = piece.and(writeback::last_writers(shape));
    }
    if form.shares() {
        piece = piece.and(Piece::all(shape.meeting_maps().into_iter().map(|map| body.find_sums(map))));
    }
    for (index, part) in shape.parts.iter().enumerate().filter(|(_, part)| part.access.writes()) {
        if stage::must_be_written(part) && body.is_tried() {
            piece = piece.and(body.look(index, part));
        }
        piece = piece.and(body.write_back(index, part));
    }
    piece
}

/// The tables and maps, with the lengths of their axes where indices are checked.
fn tables(shape: &Shape, form: &Form, machine: Machine, checked: bool) -> Piece {
    let mut piece = Piece::default();
    let of_shape = |data: Data, lengths: Vec<Expr>| if checked { data.shape_of(lengths) } else { data.unknown_shape() };
    // Memory of a GPU is ours; that of a host may be the user's, of which nothing is known.
    let aligned = |data: Data, row: usize| match machine {
        Machine::Gpu => data.alignment(alignment(row)),
        Machine::Threads => data,
    };
    let one = || Expr::int(1);
    for table in 0..shape.tables {
        let part = shape.parts.iter().find(|part| part.table == table).expect("invariant: every table has an argument");
        let (array, rows, row) = (Array::Table(table), Expr::from(&Number::Rows(table).name()), Expr::from(part.row));
        let global = Data::global(array.name().as_str()).dtype(part.dtype);
        piece = match (part.reach, part.layout) {
            (Reach::Global, _) => piece.take_data(array, of_shape(global, vec![row]), [one()]),
            (_, Layout::Rows) => {
                let data = aligned(of_shape(global, vec![rows, row.clone()]), part.row * part.dtype.size());
                piece.take_data(array, data, [row, one()])
            }
            (_, Layout::Columns) => piece.take_data(array, of_shape(global, vec![rows.clone(), row]), [one(), rows]),
        };
        if part.reach != Reach::Global && (checked || part.layout == Layout::Columns) {
            piece = piece.take_number(Number::Rows(table), shape.index);
        }
    }
    for (index, part) in shape.parts.iter().enumerate().filter(|(_, part)| part.drops_singles) {
        let lines = part.block.map_or(0, |block| block.shape().iter().sum());
        piece = piece.take(Array::Kept(index), DType::U8, Some(lines));
    }
    if matches!(form, Form::Elements { visits: Visits::ListWithMaps, .. }) {
        for number in form.followed_maps(shape) {
            let map = &shape.maps[number];
            let global = Data::global(Array::Map(number).name().as_str()).dtype(DType::I32).unknown_shape();
            piece = piece.take_data(Array::Map(number), aligned(global, map.slots * 4), [Expr::from(map.slots), one()]);
        }
        return piece;
    }
    for (table, &columns) in shape.stored.iter().enumerate() {
        let global = Data::global(Array::Stored(table).name().as_str()).dtype(DType::I32);
        let lengths = vec![Expr::from(&Number::StoredRows(table).name()), Expr::from(columns)];
        piece = piece.take_data(Array::Stored(table), aligned(of_shape(global, lengths), columns * 4), [Expr::from(columns), one()]);
        if checked {
            piece = piece.take_number(Number::StoredRows(table), shape.index);
        }
    }
    for (number, map) in shape.maps.iter().enumerate() {
        let lists = [
            (Array::Order(number), map.is_permuted),
            (Array::Offsets(number), map.moves == MoveShape::Listed),
            (Array::Quotients(number), map.around == Some(Around::Shifted)),
        ];
        for (array, _) in lists.into_iter().filter(|(_, is_read)| *is_read) {
            piece = piece.take(array, DType::I32, None);
        }
    }
    piece
}

/// What every row of this many bytes is aligned to, when the first is aligned to 32.
fn alignment(row: usize) -> u32 {
    1 << row.trailing_zeros().min(5)
}
