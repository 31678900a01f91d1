//! Grids as Python gives them: numbers, names of arguments, tuples of both, and functions of the arguments.

use parloop_kernel as ker;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Result;

/// How a call finds its grid.
#[derive(Default)]
pub enum GridRule {
    /// As the kernel itself says.
    #[default]
    Own,
    /// A Python function of the arguments, by name.
    Function(Py<PyAny>),
    /// Integers or names of arguments, an axis each.
    Axes(Vec<Py<PyAny>>),
}

/// A grid: an integer, an argument's name, a tuple of them, or a function of the arguments.
pub fn grid_of(grid: &Bound<'_, PyAny>) -> Result<(ker::Grid, GridRule)> {
    if let Ok(items) = grid.extract::<u64>() {
        return Ok((ker::Grid::Items(items), GridRule::Own));
    }
    if let Ok(name) = grid.extract::<String>() {
        return Ok((ker::Grid::Argument(name), GridRule::Own));
    }
    if grid.is_callable() {
        return Ok((ker::Grid::Items(1), GridRule::Function(grid.clone().unbind())));
    }
    let Ok(axes) = grid.extract::<Vec<Bound<'_, PyAny>>>() else {
        let reason =
            format!("a grid must be an integer, the name of an argument, a tuple of them or a function of the arguments, not {grid}");
        return Err(PyTypeError::new_err(reason).into());
    };
    if axes.is_empty() || axes.len() > 3 {
        return Err(PyValueError::new_err(format!("a grid must have one to three axes, not {}", axes.len())).into());
    }
    Ok((ker::Grid::Items(1), GridRule::Axes(axes.into_iter().map(Bound::unbind).collect())))
}
