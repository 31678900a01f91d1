//! What a loop kernel is called with, as values: names are for the compiler alone.

use parloop_loop::Name;

/// An array that a loop kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// The numbers of an argument.
    Table(usize),
    /// The rows that elements lead to.
    Map(usize),
    /// What each group has of a number that is combined over all elements, for an argument.
    Partial(usize),
    /// Which element and column of a map lead last to each row.
    Last(usize),
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
    /// How many rows maps have.
    Elements,
    /// How many rows a table has.
    Rows(usize),
}

impl Array {
    pub(super) fn name(self) -> Name {
        match self {
            Array::Table(table) => format!("pl_dat{table}").into(),
            Array::Map(map) => format!("pl_map{map}").into(),
            Array::Partial(arg) => format!("pl_partial{arg}").into(),
            Array::Last(map) => format!("pl_last{map}").into(),
            Array::Bounds => "pl_bounds".into(),
            Array::List => "pl_list".into(),
            Array::Masks => "pl_masks".into(),
            Array::Starts => "pl_starts".into(),
            Array::Entries => "pl_entries".into(),
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
            Number::Elements => "pl_elements".into(),
            Number::Rows(table) => format!("pl_rows{table}").into(),
        }
    }
}
