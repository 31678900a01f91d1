//! One matrix of a grid of matrices.

use super::Pattern;
use super::positions::{Positions, are_narrow};
use crate::plan::PlanError;
use crate::plan::incidence::fits;

/// The pattern of a grid of patterns as one, and where the blocks of each of them went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The rows of the grid one below another, its columns side by side.
    pub pattern: Pattern,
    /// `positions[i][j]`: for each block of `blocks[i][j]` its position in the pattern.
    pub positions: Vec<Vec<Positions>>,
}

/// Makes one pattern of a grid, row by row. A place of the grid without blocks has a pattern without blocks.
///
/// ```
/// use parloop_mesh::plan::{Pattern, PatternSize, Positions, merge};
///
/// let diagonal = Pattern::new(PatternSize { rows: 2, columns: 2, diagonal: true }, &[], 1)?;
/// let empty = Pattern::new(PatternSize { rows: 2, columns: 2, diagonal: false }, &[], 1)?;
/// let merged = merge(&[&[&diagonal, &diagonal], &[&empty, &diagonal]])?;
/// assert_eq!(merged.pattern.starts(), [0, 2, 4, 5, 6]);
/// assert_eq!(merged.pattern.columns(), [0, 2, 1, 3, 2, 3]);
/// assert_eq!(merged.positions[0][1], Positions::Narrow(vec![1, 3]));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// Rows of the grid have different numbers of patterns, patterns side by side have different numbers of rows, or those one below another
/// different numbers of columns; or the numbers of all rows or columns do not fit in 32 bits.
pub fn merge(blocks: &[&[&Pattern]]) -> Result<Merged, PlanError> {
    let first = blocks.first().copied().unwrap_or(&[]);
    let mut rows = 0usize;
    for (row, of_row) in blocks.iter().enumerate() {
        if of_row.len() != first.len() {
            return Err(PlanError::RaggedGrid { row, found: of_row.len(), expected: first.len() });
        }
        let height = of_row.first().map_or(0, |pattern| pattern.rows());
        for (column, pattern) in of_row.iter().enumerate() {
            for (what, found, expected) in [("rows", pattern.rows(), height), ("columns", pattern.width(), first[column].width())] {
                if found != expected {
                    return Err(PlanError::GridSize { row, column, what, found, expected });
                }
            }
        }
        rows = rows.saturating_add(height);
    }
    let width = first.iter().fold(0, |width: usize, pattern| width.saturating_add(pattern.width()));
    fits("the number of rows", rows)?;
    fits("the number of columns", width)?;
    let stored: usize = blocks.iter().flat_map(|of_row| of_row.iter()).map(|pattern| pattern.stored()).sum();
    let mut starts = Vec::with_capacity(rows + 1);
    starts.push(0i64);
    let mut merged = Pattern { starts, columns: Vec::with_capacity(stored), width };
    let narrow = are_narrow(stored);
    let positions = blocks.iter().map(|of_row| merged.append(of_row, narrow)).collect();
    Ok(Merged { pattern: merged, positions })
}

impl Pattern {
    /// Adds a row of patterns, side by side; returns where their blocks went.
    fn append(&mut self, side_by_side: &[&Pattern], narrow: bool) -> Vec<Positions> {
        let room = |pattern: &&Pattern| match narrow {
            true => Positions::Narrow(Vec::with_capacity(pattern.stored())),
            false => Positions::Wide(Vec::with_capacity(pattern.stored())),
        };
        let mut positions: Vec<Positions> = side_by_side.iter().map(room).collect();
        for row in 0..side_by_side.first().map_or(0, |pattern| pattern.rows()) {
            let mut shift = 0;
            for (pattern, positions) in side_by_side.iter().zip(&mut positions) {
                let (columns, first) = (pattern.row(row), self.columns.len());
                self.columns.extend(columns.iter().map(|&column| shift + column));
                match positions {
                    Positions::Narrow(positions) => positions.extend(first as i32..(first + columns.len()) as i32),
                    Positions::Wide(positions) => positions.extend(first as i64..(first + columns.len()) as i64),
                }
                shift += pattern.width() as i32;
            }
            self.starts.push(self.columns.len() as i64);
        }
        positions
    }
}
