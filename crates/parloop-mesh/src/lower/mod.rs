//! From the shape of a loop and a form to a loop kernel that calls the user's kernel. Texts here are in the language of loop kernels.

mod body;
mod frame;
mod lanes;
mod permute;
mod reduce;

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{KernelOptions, Program};

use crate::kernel::Kernel;
use crate::shape::{Reach, Shape};
use crate::storage::Layout;

pub use permute::{Permute, permute};
pub use reduce::combine;

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
        /// The kernel is called for several elements in the lanes of vectors, and what it left is kept afterwards, element by element.
        lanes: bool,
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
    /// Every addition is indivisible.
    Atomic,
}

/// Work items of a block on a GPU.
pub const BLOCK: usize = 128;

/// Elements that are in the lanes of vectors at a time: as many doubles as the widest have, or twice as many as narrower ones.
pub const LANES: usize = 8;

/// Elements of each work item where sums over all elements are made.
pub const EACH: usize = 8;

/// Names of what a loop kernel is called with, besides `dat0 …` and `map0 …`.
pub mod names {
    /// Where the elements of each group begin and end.
    pub const BOUNDS: &str = "pl_bounds";
    /// The first group of a launch.
    pub const FIRST: &str = "pl_first";
    /// How many groups a launch has.
    pub const GROUPS: &str = "pl_groups";
    /// The first element of a launch, or of the list.
    pub const BEGIN: &str = "pl_begin";
    /// How many a launch has.
    pub const COUNT: &str = "pl_count";
    /// Elements, or rows, in the order of visits.
    pub const LIST: &str = "pl_list";
    /// Which slots a visit writes.
    pub const MASKS: &str = "pl_masks";
    /// Where the entries of each row begin.
    pub const STARTS: &str = "pl_starts";
    /// Elements and slots that lead to each row.
    pub const ENTRIES: &str = "pl_entries";

    /// How many rows maps have.
    pub const ELEMENTS: &str = "pl_elements";

    /// What is written outside of its only number where a kernel left a number unwritten.
    pub const UNWRITTEN: &str = "pl_unwritten";

    /// See [`UNWRITTEN`].
    pub fn unwritten(arg: usize) -> String {
        format!("{UNWRITTEN}{arg}")
    }

    /// Which element and column of a map lead last to each row.
    pub fn last(map: usize) -> String {
        format!("pl_last{map}")
    }

    /// A table of numbers.
    pub fn table(table: usize) -> String {
        format!("pl_dat{table}")
    }

    /// The number of rows of a table that lies column by column.
    pub fn rows(table: usize) -> String {
        format!("pl_rows{table}")
    }

    /// A map.
    pub fn map(map: usize) -> String {
        format!("pl_map{map}")
    }

    /// What each group has of a number that is combined over all elements.
    pub fn partial(arg: usize) -> String {
        format!("pl_partial{arg}")
    }
}

/// Options of kernels whose instances a plan keeps apart; these instructions write.
fn planned<'a>(writes: impl Iterator<Item = &'a str>) -> KernelOptions {
    let silenced = writes.map(|id| format!("write_race({id})").into()).collect();
    let mut options = KernelOptions { silenced, ..KernelOptions::default() };
    // SAFETY: maps and lists of plans lead to rows that tables have, which is checked when they are made, and the plan says that no two
    // elements which run at the same time meet.
    unsafe {
        options.set_check_bounds(false);
        options.set_planned_order(true);
    }
    options
}

/// The loop kernel.
///
/// # Errors
/// What the loop compiler says.
pub fn lower(kernel: &Kernel, shape: &Shape, form: &Form, machine: Machine, checked: bool) -> Result<Program, LoopError> {
    // Indices that checks report count the numbers of all elements.
    let wide = Shape { index: DType::I64, ..shape.clone() };
    let shape = if checked { &wide } else { shape };
    let frame = frame::frame(shape, form, machine);
    let body = body::body(shape, form, machine, &frame, &kernel.axes(shape), checked);
    let mut options = planned(body.writes.iter().map(String::as_str));
    options.checked = Some(checked);
    // SAFETY: whoever made the kernel vouched for its options.
    unsafe { options.set_build_options(kernel.build_options().to_vec()) };
    let mut builder = KernelBuilder::new()
        .name(format!("loop_{}", kernel.name()))
        .domains(frame.domains.iter().chain(&body.domains).map(String::as_str))
        .instructions(frame.instructions.join("\n"))
        .instructions(body.instructions.join("\n"))
        .index_type(shape.index)
        .options(options);
    for data in tables(shape, machine, checked).into_iter().chain(frame.data).chain(body.data) {
        builder = builder.data(data);
    }
    let program = kernel.register(&builder.build()?, shape, checked)?;
    let tags = frame.tags.iter().chain(&body.tags).map(String::as_str);
    tagged(program, tags)
}

/// With inames tagged: `"i:unr"`.
pub(crate) fn tagged<'a>(program: Program, tags: impl Iterator<Item = &'a str>) -> Result<Program, LoopError> {
    let text = tags.collect::<Vec<_>>().join(",");
    let tags = text.parse::<parloop_loop::transform::Tags>().map_err(parloop_loop::transform::TransformError::from)?;
    let entry = program.entry().ok_or_else(|| LoopError::NoEntry { names: Vec::new() })?;
    let tagged = parloop_loop::transform::tag_inames(entry, &tags).map_err(parloop_loop::transform::TransformError::from)?;
    Ok(program.with_kernel(tagged))
}

/// The tables and maps, with the lengths of their axes where indices are checked.
fn tables(shape: &Shape, machine: Machine, checked: bool) -> Vec<Data> {
    let mut data = Vec::new();
    let of_shape = |data: Data, lengths: String| if checked { data.shape(lengths) } else { data.unknown_shape() };
    // Memory of a GPU is ours; that of a host may be the user's, of which nothing is known.
    let aligned = |data: Data, row: usize| match machine {
        Machine::Gpu => data.alignment(alignment(row)),
        Machine::Threads => data,
    };
    for table in 0..shape.tables {
        let arg = shape.args.iter().find(|arg| arg.table == table).expect("invariant: every table has an argument");
        let (global, rows, row) = (Data::global(names::table(table)).dtype(arg.dtype), names::rows(table), arg.row);
        data.push(match (arg.reach, arg.layout) {
            (Reach::Global, _) => of_shape(global, row.to_string()).strides("1"),
            (_, Layout::Rows) => aligned(of_shape(global, format!("{rows}, {row}")).strides(format!("{row}, 1")), row * arg.dtype.size()),
            (_, Layout::Columns) => of_shape(global, format!("{rows}, {row}")).strides(format!("1, {rows}")),
        });
        if arg.reach != Reach::Global && (checked || arg.layout == Layout::Columns) {
            data.push(Data::value(rows).dtype(shape.index));
        }
    }
    for (map, arity) in shape.maps.iter().enumerate() {
        let global = of_shape(Data::global(names::map(map)).dtype("int32"), format!("{}, {arity}", names::ELEMENTS));
        data.push(aligned(global.strides(format!("{arity}, 1")), arity * 4));
    }
    if checked && !shape.maps.is_empty() {
        data.push(Data::value(names::ELEMENTS).dtype(shape.index));
    }
    data
}

/// What every row of so many bytes is aligned to, when the first is aligned to 32.
fn alignment(row: usize) -> u32 {
    1 << row.trailing_zeros().min(5)
}
