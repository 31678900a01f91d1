//! What a loop kernel is called with, as values: names are for the compiler alone.

use parloop_loop::Name;

/// An array that a loop kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// The numbers of an argument.
    Table(usize),
    /// A table of map values.
    Stored(usize),
    /// The targets of a map, in the order of visits.
    Map(usize),
    /// Which column of its table each slot of a map is.
    Order(usize),
    /// How far the target of each slot of a map moves from a layer to the next.
    Offsets(usize),
    /// By how many layers the target of each slot of a map is above its cell.
    Quotients(usize),
    /// The column of each visit, where columns differ.
    Columns,
    /// What is known of each column, where they differ: see [`Tall`].
    Heights,
    /// What each group has of a number that is combined over all elements, for an argument.
    Partial(usize),
    /// Which element and column of a map lead last to each row.
    Last(usize),
    /// Which rows, and behind them which columns, each element has of a matrix, for a part.
    Kept(usize),
    /// Where the elements of each group begin and end.
    Bounds,
    /// Elements, or rows, in the order of visits.
    List,
    /// Which slots a visit writes.
    Masks,
    /// Where the entries of each row begin.
    Starts,
    /// Elements and slots that lead to each row.
    Entries,
    /// Where the sums of each block begin, for a map and a width.
    SumBounds(usize, usize),
    /// The row that each sum of a block is added to, for a map and a width.
    SumTargets(usize, usize),
    /// The entries of each sum of a block, two in a number, for a map and a width.
    SumEntries(usize, usize),
}

/// What is known of a column where columns differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tall {
    /// What is added to the number of a visit to get its layer, counted from the lowest of the column.
    Shift,
    /// The lowest layer.
    Bottom,
    /// How many cells it has.
    Cells,
    /// How many cells all columns before it have.
    Before,
}

impl Tall {
    /// How many things are known.
    pub const COUNT: usize = 4;
}

/// A number that a loop kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// The first group of a launch.
    First,
    /// How many groups a launch has.
    Groups,
    /// The first element of a launch, or of the list.
    Begin,
    /// How many elements or rows a launch has.
    Count,
    /// How many rows a table of map values has.
    StoredRows(usize),
    /// How many visits each column has.
    Visits,
    /// The first layer that is visited, counted from the lowest.
    Bottom,
    /// How many cells each column has.
    Cells,
    /// How many rows a table has.
    Rows(usize),
}

impl Array {
    pub(super) fn name(self) -> Name {
        match self {
            Array::Table(table) => format!("pl_dat{table}").into(),
            Array::Stored(table) => format!("pl_map{table}").into(),
            Array::Map(map) => format!("pl_targets{map}").into(),
            Array::Order(map) => format!("pl_order{map}").into(),
            Array::Offsets(map) => format!("pl_offsets{map}").into(),
            Array::Quotients(map) => format!("pl_quotients{map}").into(),
            Array::Columns => "pl_columns".into(),
            Array::Heights => "pl_heights".into(),
            Array::Partial(arg) => format!("pl_partial{arg}").into(),
            Array::Last(map) => format!("pl_last{map}").into(),
            Array::Kept(part) => format!("pl_kept{part}").into(),
            Array::Bounds => "pl_bounds".into(),
            Array::List => "pl_list".into(),
            Array::Masks => "pl_masks".into(),
            Array::Starts => "pl_starts".into(),
            Array::Entries => "pl_entries".into(),
            Array::SumBounds(map, width) => format!("pl_sum_bounds{map}_{width}").into(),
            Array::SumTargets(map, width) => format!("pl_sum_targets{map}_{width}").into(),
            Array::SumEntries(map, width) => format!("pl_sum_entries{map}_{width}").into(),
        }
    }
}

impl Number {
    pub(super) fn name(self) -> Name {
        match self {
            Number::First => "pl_first".into(),
            Number::Groups => "pl_groups".into(),
            Number::Begin => "pl_begin".into(),
            Number::Count => "pl_count".into(),
            Number::StoredRows(table) => format!("pl_elements{table}").into(),
            Number::Visits => "pl_visits".into(),
            Number::Bottom => "pl_bottom".into(),
            Number::Cells => "pl_cells".into(),
            Number::Rows(table) => format!("pl_rows{table}").into(),
        }
    }
}
