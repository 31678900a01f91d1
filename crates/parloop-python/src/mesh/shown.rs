//! The few numbers of a table that `repr` and notebooks show.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::Result;
use crate::ndarray::numpy_dtype;
use crate::recording::check_storage;

/// Tables of up to this many numbers are shown whole, and rows of up to this many are read whole.
const WHOLE: usize = 1000;
const WHOLE_ROW: usize = 64;

/// Numbers that are shown of a table.
pub struct ShownNumbers<'py> {
    pub values: Bound<'py, PyAny>,
    /// Whether these are all; otherwise an axis of seven stands for a longer one, of whose middle it has one.
    pub is_whole: bool,
}

impl<'py> ShownNumbers<'py> {
    /// Of the first `rows` rows, each of these axes. They are read where they are, without communication. `None` where they cannot be: while they
    /// are recorded, in a forked child, on a device that failed, or if their memory was resized.
    pub fn of(py: Python<'py>, storage: &mesh::Storage, rows: Option<usize>, axes: &[usize]) -> Result<Option<ShownNumbers<'py>>> {
        let (all_rows, count) = (rows.unwrap_or(1), storage.count());
        let is_whole = all_rows.saturating_mul(count) <= WHOLE;
        let all = |count: usize| (0..count).collect::<Vec<usize>>();
        let shown_rows = if is_whole { all(all_rows) } else { ends(all_rows) };
        let is_row_whole = is_whole || (rows.is_some() && count <= WHOLE_ROW);
        let columns = if is_row_whole { all(count) } else { ends(count) };
        let lengths = if is_row_whole { axes.to_vec() } else { vec![columns.len()] };
        let shape = rows.map(|_| shown_rows.len()).into_iter().chain(lengths);
        if check_storage(py, storage).is_err() {
            return Ok(None);
        }
        let Ok(Some(bytes)) = py.detach(|| storage.peek(&shown_rows, &columns)) else { return Ok(None) };
        let flat = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, &bytes), numpy_dtype(py, storage.dtype())?))?;
        let values = flat.call_method1("reshape", (PyTuple::new(py, shape.collect::<Vec<_>>())?,))?;
        Ok(Some(ShownNumbers { values, is_whole }))
    }

    /// As text that begins behind `prefix`.
    pub fn text(&self, prefix: &str) -> PyResult<String> {
        self.values.py().import("parloop._shown")?.call_method1("text", (&self.values, self.is_whole, prefix, ", "))?.extract()
    }
}

/// The indices at both ends of a long axis, with one between them.
fn ends(length: usize) -> Vec<usize> {
    if length <= 6 { (0..length).collect() } else { (0..4).chain(length - 3..length).collect() }
}
