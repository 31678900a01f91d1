//! How many items a call has whose grid Python decides.

use parloop_kernel::Items;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::ArgumentObjects;
use crate::error::Result;
use crate::grid::GridRule;
use crate::kernel::Kernel;

impl Kernel {
    /// How many items a call has whose grid Python decides; `None` leaves it to the kernel.
    pub fn items<'py>(&self, py: Python<'py>, given: &ArgumentObjects<'_, 'py>) -> Result<Option<Items>> {
        let value_of = |index: usize| given[index].map(|value| value.to_owned());
        match &self.rule {
            GridRule::Own => Ok(None),
            GridRule::Function(function) => {
                let named = PyDict::new(py);
                for (index, name) in self.names.iter().enumerate() {
                    named.set_item(name, value_of(index))?;
                }
                items_of(&function.bind(py).call((), Some(&named))?).map(Some)
            }
            GridRule::Axes(axes) => {
                let mut items = [1; 3];
                for (axis, wanted) in axes.iter().enumerate() {
                    let wanted = wanted.bind(py);
                    let value = match wanted.extract::<String>() {
                        Ok(name) => {
                            let index = self.inner.signature().position(&name);
                            index
                                .and_then(value_of)
                                .ok_or_else(|| PyValueError::new_err(format!("the grid names `{name}`, which is not an argument")))?
                        }
                        Err(_) => wanted.clone(),
                    };
                    items[axis] = value.extract::<u64>()?;
                }
                Ok(Some(Items::Axes(items)))
            }
        }
    }
}

fn items_of(value: &Bound<'_, PyAny>) -> Result<Items> {
    if let Ok(items) = value.extract::<u64>() {
        return Ok(Items::Line(items));
    }
    let axes: Vec<u64> =
        value.extract().map_err(|_| PyTypeError::new_err(format!("a grid must be an integer or a tuple of integers, not {value}")))?;
    match *axes {
        [x] => Ok(Items::Line(x)),
        [x, y] => Ok(Items::Axes([x, y, 1])),
        [x, y, z] => Ok(Items::Axes([x, y, z])),
        _ => Err(PyValueError::new_err(format!("a grid must have one to three axes, not {}", axes.len())).into()),
    }
}
