//! What can be wrong with what a plan is asked about.

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The values of a table are not whole rows.
    #[error("table {table} has {values} values, which is not a multiple of its arity {arity}; give `rows * arity` values")]
    Shape {
        /// Which table, counted from 0.
        table: usize,
        /// How many values it has.
        values: usize,
        /// How many values a row should have.
        arity: usize,
    },
    /// A table has no row for an element.
    #[error("element {element} has no row in table {table}, which has {rows} rows")]
    NoRow {
        /// Which table, counted from 0.
        table: usize,
        /// The largest element of the loop.
        element: usize,
        /// How many rows the table has.
        rows: usize,
    },
    /// A value of a table is not an element of its target set.
    #[error("table {table}: entry [{row}, {column}] is {value}, but the target set has {targets} elements")]
    OutOfRange {
        /// Which table, counted from 0.
        table: usize,
        /// The element.
        row: usize,
        /// The column.
        column: usize,
        /// What stands there.
        value: i32,
        /// The size of the target set.
        targets: usize,
    },
    /// Two tables go to the same set and say different sizes of it.
    #[error("table {table} needs {found} elements in set {set}, but an earlier table needs {before}")]
    SetSize {
        /// Which table, counted from 0.
        table: usize,
        /// The set.
        set: usize,
        /// The size by the table.
        found: usize,
        /// The size by an earlier table.
        before: usize,
    },
    /// The elements of a block have too many slots.
    #[error("a block of elements has {count} entries, but at most 65535 can be numbered; use fewer elements for a block")]
    BlockEntries {
        /// How many there are.
        count: usize,
    },
    /// METIS could not make parts of a graph.
    #[error("METIS could not partition the graph: {reason}")]
    Metis {
        /// What it said.
        reason: String,
    },
    /// A list of elements has one twice, or a negative number.
    #[error("a list of elements must have non-negative entries without repeats, but entry {position} is {element}")]
    NotDistinct {
        /// Where in the list.
        position: usize,
        /// The element there.
        element: i32,
    },
    /// A rank or an order is not what it is made of, each exactly once.
    #[error("the {what} must be a permutation of {expected} numbers, but it has {found} entries and entry {position} is wrong")]
    NotPermutation {
        /// `"rank"` or `"order"`.
        what: &'static str,
        /// How many numbers there are.
        expected: usize,
        /// How many were given.
        found: usize,
        /// The first entry that is repeated, unknown or missing.
        position: usize,
    },
    /// A rank is given for a set that no table goes to.
    #[error("a rank was given for set {set}, but no table of the loop leads to it")]
    UnknownSet {
        /// The set.
        set: usize,
    },
    /// Only tables to one set can be asked about.
    #[error("{asked} needs tables that lead to one set, but these lead to {sets} sets; make one for each set")]
    SeveralSets {
        /// What was requested.
        asked: &'static str,
        /// To how many sets the tables go.
        sets: usize,
    },
    /// A number does not fit in the 32 bits of an index.
    #[error("{what} would be {count}, but an index has 32 bits, up to {most}", most = i32::MAX)]
    Overflow {
        /// The quantity.
        what: &'static str,
        /// How large it is.
        count: usize,
    },
    /// A number of parts that makes no sense.
    #[error("{parts} parts were requested; the number must be 1 to {most}")]
    Parts {
        /// What was asked.
        parts: usize,
        /// How many there may be.
        most: usize,
    },
    /// Blocks of no elements.
    #[error("blocks of 0 elements were requested; a block needs at least 1")]
    EmptyBlocks,
    /// The two sides of a pair have different numbers of elements.
    #[error("the row targets of a pair have {rows} elements, but its column targets have {columns}; both must have the same elements")]
    PairCounts {
        /// How many elements have row targets.
        rows: usize,
        /// How many elements have column targets.
        columns: usize,
    },
    /// One side of a pair leads to a set that is not that of the matrix.
    #[error("pair {pair}: the {side} targets are of a set of {found} elements, but the matrix has {expected} {side}s")]
    PairTargets {
        /// Which pair, counted from 0.
        pair: usize,
        /// `"row"` or `"column"`.
        side: &'static str,
        /// The size of the target set.
        found: usize,
        /// How many rows or columns there are.
        expected: usize,
    },
    /// Two targets of an element meet where no block is stored.
    #[error("the pattern has no block in row {row} and column {column}; build it from this pair of maps as well")]
    NotStored {
        /// The row.
        row: i32,
        /// The column.
        column: i32,
    },
    /// Where compressed rows start does not ascend from 0 to the number of stored blocks.
    #[error("row starts must ascend from 0 to {stored}, the number of stored columns, but entry {place} is {}", .found.map_or("missing".to_owned(), |found| found.to_string()))]
    RowStarts {
        /// Which entry.
        place: usize,
        /// What stands there, if anything does.
        found: Option<i64>,
        /// How many columns are stored in all rows.
        stored: usize,
    },
    /// A compressed row has a column that the matrix has not.
    #[error("row {row} has column {column}, but the matrix has {width} columns")]
    RowColumn {
        /// The row.
        row: usize,
        /// The column.
        column: i32,
        /// How many columns there are.
        width: usize,
    },
    /// The columns of a compressed row do not ascend.
    #[error("the columns of row {row} must ascend, but {column} follows {before}; sort them and remove duplicates")]
    RowOrder {
        /// The row.
        row: usize,
        /// The column.
        column: i32,
        /// The column in front of it.
        before: i32,
    },
    /// The rows of a grid have different lengths.
    #[error("row {row} of the grid has {found} patterns, but row 0 has {expected}")]
    RaggedGrid {
        /// Which row, counted from 0.
        row: usize,
        /// How many patterns it has.
        found: usize,
        /// How many the first row has.
        expected: usize,
    },
    /// A pattern does not fit beside or below another.
    #[error("pattern [{row}, {column}] of the grid has {found} {what}, but the first one there has {expected}")]
    GridSize {
        /// Which row of the grid, counted from 0.
        row: usize,
        /// Which column of the grid, counted from 0.
        column: usize,
        /// `"rows"` or `"columns"`.
        what: &'static str,
        /// How many the pattern has.
        found: usize,
        /// How many the first pattern of this row, or of this column, has.
        expected: usize,
    },
    /// There is not enough memory.
    #[error("could not allocate memory for {count} {what}")]
    NoRoom {
        /// What was to be stored.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// The system starts no further thread.
    #[error("a thread could not be started ({reason}); use fewer threads")]
    NoThread {
        /// Why.
        reason: std::io::ErrorKind,
    },
}
