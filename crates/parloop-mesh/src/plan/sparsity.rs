//! The sparsity of matrices that loops assemble: which blocks a matrix stores, and where the block of each pair of targets is.
//!
//! A matrix is made of pairs of maps. For each element of a pair, each of its row targets meets each of its column targets.

mod band;
mod batch;
mod distinct;
mod given;
mod merge;
mod pair;
mod positions;
mod search;
mod strip;

pub use merge::{Merged, merge};
pub use pair::Pair;
pub use positions::Positions;

use super::incidence::fits;
use super::{PlanError, threads};
use band::Band;

/// What a pattern is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternSize {
    /// How many rows of blocks there are.
    pub rows: usize,
    /// How many columns of blocks there are.
    pub columns: usize,
    /// Whether the blocks of the diagonal are stored even where no element meets itself there.
    pub diagonal: bool,
}

/// The compressed rows of a matrix of blocks: row `r` has blocks in the columns `columns()[starts()[r]..starts()[r + 1]]`, ascending.
///
/// ```
/// use parloop_mesh::plan::{Elements, Flat, Pair, Pattern, PatternSize, Positions, Table};
///
/// // Two triangles that share an edge: vertices 0 and 3 do not meet.
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 4, drops: false };
/// let vertices = Flat::new(Elements::Range(0..2), triangles)?;
/// let pairs = [Pair::new(&vertices, &vertices)?];
/// let pattern = Pattern::new(PatternSize { rows: 4, columns: 4, diagonal: true }, &pairs, 1)?;
/// assert_eq!(pattern.starts(), [0, 3, 7, 11, 14]);
/// assert_eq!(pattern.row(0), [0, 1, 2]);
/// assert_eq!(pattern.row(1), [0, 1, 2, 3]);
///
/// // Row 1 starts at 3, and in it column 0 is first.
/// let Positions::Narrow(positions) = pattern.positions(pairs[0], 1)? else { unreachable!("few blocks") };
/// assert_eq!(positions[..9], [0, 1, 2, 3, 4, 5, 7, 8, 9]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    starts: Vec<i64>,
    columns: Vec<i32>,
    width: usize,
}

impl Pattern {
    /// Finds all pairs of targets that meet in an element, on up to `threads` threads; 0 counts as 1.
    ///
    /// The time is in proportion to the number of pairs, each counted as often as it is met. What comes out does not depend on the number
    /// of threads.
    ///
    /// # Errors
    /// A source of targets leads to a set of another size than the matrix has rows or columns, sizes do not fit in 32 bits, or a thread
    /// cannot be started.
    pub fn new(size: PatternSize, pairs: &[Pair], threads: usize) -> Result<Self, PlanError> {
        let PatternSize { rows, columns, diagonal } = size;
        fits("the number of rows", rows)?;
        fits("the number of columns", columns)?;
        for (number, pair) in pairs.iter().enumerate() {
            pair.check(number, rows, columns)?;
        }
        let bands = band::cut(pairs, rows, threads.clamp(1, rows.max(1)));
        let spans = strip::spans(pairs, bands.len())?;
        let plan = strip::Plan { pairs, spans: &spans, width: columns, diagonal: if diagonal { rows.min(columns) } else { 0 } };
        let found = threads::each(bands, |rows| plan.band(rows))?;
        let (starts, columns) = joined(found)?;
        Ok(Self { starts, columns, width: size.columns })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many blocks are stored.
    pub fn stored(&self) -> usize {
        self.columns.len()
    }

    /// Where the blocks of each row start; one more than there are rows.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// The column of each block, row by row.
    pub fn columns(&self) -> &[i32] {
        &self.columns
    }

    /// The columns of the blocks of a row, ascending.
    ///
    /// # Panics
    /// There is no such row.
    pub fn row(&self, row: usize) -> &[i32] {
        &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// One band after another: where rows start, and columns.
fn joined(mut bands: Vec<Band>) -> Result<(Vec<i64>, Vec<i32>), PlanError> {
    if let [band] = &mut bands[..] {
        return Ok((std::mem::take(&mut band.starts), std::mem::take(&mut band.columns)));
    }
    let rows: usize = bands.iter().map(Band::rows).sum();
    let mut starts = vec![0i64; rows + 1];
    let mut columns = vec![0i32; bands.iter().map(|band| band.columns.len()).sum()];
    let (mut starts_left, mut columns_left) = (&mut starts[1..], &mut columns[..]);
    let mut before = 0i64;
    let mut copies = Vec::with_capacity(bands.len());
    for band in &bands {
        let (band_starts, band_columns);
        (band_starts, starts_left) = std::mem::take(&mut starts_left).split_at_mut(band.rows());
        (band_columns, columns_left) = std::mem::take(&mut columns_left).split_at_mut(band.columns.len());
        copies.push((band, before, band_starts, band_columns));
        before += band.columns.len() as i64;
    }
    threads::each(copies, |(band, before, starts, columns)| {
        for (start, &local) in starts.iter_mut().zip(&band.starts[1..]) {
            *start = before + local;
        }
        columns.copy_from_slice(&band.columns);
    })?;
    Ok((starts, columns))
}
