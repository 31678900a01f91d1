//! Patterns of compressed rows that someone else made.

use super::Pattern;
use crate::plan::PlanError;
use crate::plan::incidence::fits;

impl Pattern {
    /// The pattern with these compressed rows: row `r` has blocks in the columns `columns[starts[r]..starts[r + 1]]`, ascending.
    ///
    /// ```
    /// use parloop_mesh::plan::{Pattern, PlanError};
    /// let pattern = Pattern::from_rows(3, vec![0, 2, 2, 3], vec![0, 2, 1])?;
    /// assert_eq!((pattern.rows(), pattern.row(0), pattern.row(1)), (3, &[0, 2][..], &[][..]));
    /// assert_eq!(Pattern::from_rows(3, vec![0, 2], vec![2, 0]), Err(PlanError::RowOrder { row: 0, column: 0, before: 2 }));
    /// # Ok::<(), PlanError>(())
    /// ```
    ///
    /// # Errors
    /// [`PlanError::RowStarts`], [`PlanError::RowColumn`] and [`PlanError::RowOrder`] for rows that are not those of a matrix, and
    /// [`PlanError::Overflow`].
    pub fn from_rows(width: usize, starts: Vec<i64>, columns: Vec<i32>) -> Result<Self, PlanError> {
        let rows = starts.len().saturating_sub(1);
        fits("the number of rows", rows)?;
        fits("the number of columns", width)?;
        let stored = columns.len();
        let wrong = |place: usize| PlanError::RowStarts { place, found: starts.get(place).copied(), stored };
        if starts.first() != Some(&0) {
            return Err(wrong(0));
        }
        for (row, ends) in starts.windows(2).enumerate() {
            let within = usize::try_from(ends[1]).is_ok_and(|end| end <= stored);
            if ends[1] < ends[0] || !within {
                return Err(wrong(row + 1));
            }
            let mut before = -1;
            for &column in &columns[ends[0] as usize..ends[1] as usize] {
                if usize::try_from(column).map_or(true, |column| column >= width) {
                    return Err(PlanError::RowColumn { row, column, width });
                }
                if column <= before {
                    return Err(PlanError::RowOrder { row, column, before });
                }
                before = column;
            }
        }
        if starts[rows] as usize != stored {
            return Err(wrong(rows));
        }
        Ok(Self { starts, columns, width })
    }
}
