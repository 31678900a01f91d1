//! The layers of extruded sets: how many cells stand over each element, and which of them a loop visits.

use std::sync::Arc;

/// How many layers of vertices stand over each element of a set; between two of them is a layer of cells.
#[derive(Clone, Debug)]
pub struct Layers {
    heights: Heights,
    periodic: bool,
}

#[derive(Clone, Debug)]
enum Heights {
    /// This many cells everywhere.
    Constant(i32),
    Varied(Arc<Varied>),
}

#[derive(Debug)]
struct Varied {
    /// For each column its lowest layer and one more than its highest.
    bounds: Vec<[i32; 2]>,
    /// How many cells are in the columns before each; one more than there are columns.
    starts: Vec<i32>,
}

/// A column of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The layer of its lowest cell.
    pub bottom: i32,
    /// How many cells it has.
    pub cells: i32,
    /// How many cells all columns before it have.
    pub before: i32,
}

impl Column {
    /// How many cells it has with all columns before it.
    pub(crate) fn end(self) -> i32 {
        self.before + self.cells
    }

    /// The rows of its cells in data on them.
    pub(crate) fn rows(self) -> std::ops::Range<i32> {
        self.before..self.end()
    }
}

impl Layers {
    pub(super) fn constant(cells: i32, periodic: bool) -> Layers {
        Layers { heights: Heights::Constant(cells), periodic }
    }

    /// Of columns with these bounds, if all of their cells can be counted.
    pub(super) fn varied(bounds: Vec<[i32; 2]>, periodic: bool) -> Option<Layers> {
        let mut starts = Vec::with_capacity(bounds.len() + 1);
        let mut before = 0i32;
        starts.push(before);
        for [bottom, top] in &bounds {
            before = before.checked_add(top - bottom - 1)?;
            starts.push(before);
        }
        Some(Layers { heights: Heights::Varied(Arc::new(Varied { bounds, starts })), periodic })
    }

    /// Those of some of the columns, if all of their cells can be counted.
    pub(crate) fn of_columns(&self, columns: &[i32]) -> Option<Layers> {
        match &self.heights {
            Heights::Constant(_) => Some(self.clone()),
            Heights::Varied(varied) => {
                Layers::varied(columns.iter().map(|&column| varied.bounds[column as usize]).collect(), self.periodic)
            }
        }
    }

    /// How many cells every column has, if all have as many.
    pub fn cells(&self) -> Option<usize> {
        match &self.heights {
            Heights::Constant(cells) => Some(*cells as usize),
            Heights::Varied(_) => None,
        }
    }

    /// For each column its lowest layer and one more than its highest, where they differ.
    pub fn bounds(&self) -> Option<&[[i32; 2]]> {
        match &self.heights {
            Heights::Constant(_) => None,
            Heights::Varied(varied) => Some(&varied.bounds),
        }
    }

    /// Whether the cell above the highest of a column is its lowest.
    pub fn is_periodic(&self) -> bool {
        self.periodic
    }

    /// A column.
    ///
    /// # Panics
    /// There is no such column, and they are not all alike.
    pub fn column(&self, column: usize) -> Column {
        match &self.heights {
            // The sum of all was counted when the set was made.
            Heights::Constant(cells) => Column { bottom: 0, cells: *cells, before: column as i32 * cells },
            Heights::Varied(varied) => {
                let [bottom, top] = varied.bounds[column];
                Column { bottom, cells: top - bottom - 1, before: varied.starts[column] }
            }
        }
    }
}

/// Which cells of each column a loop visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Region {
    /// All of them.
    #[default]
    All,
    /// The lowest.
    Bottom,
    /// The highest.
    Top,
    /// The facets between two cells, each of which sees the cell below and the cell above it.
    InteriorFacets,
}

impl Region {
    /// The first layer of a column of this many cells that is visited, counted from its lowest, and how many are.
    pub(crate) fn visited(self, cells: i32, periodic: bool) -> (i32, i32) {
        match self {
            Region::All => (0, cells),
            Region::Bottom => (0, cells.min(1)),
            Region::Top => ((cells - 1).max(0), cells.min(1)),
            Region::InteriorFacets if periodic => (0, cells),
            Region::InteriorFacets => (0, (cells - 1).max(0)),
        }
    }

    /// How many cells of a column a visit sees.
    pub(crate) fn height(self) -> usize {
        if self == Region::InteriorFacets { 2 } else { 1 }
    }
}
