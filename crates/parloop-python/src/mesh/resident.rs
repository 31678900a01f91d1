//! The numbers of matrices where a context has them, for libraries that use its memory.

use std::sync::Arc;

use pyo3::prelude::*;

use super::mat::Mat;

use crate::array::Array;
use crate::context::current_context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::layout::Layout;
use crate::recording::check_storage;

/// The stored blocks of a matrix on the current context, which may be changed through the array. Ask for it again after a loop elsewhere.
#[pyfunction]
#[pyo3(name = "_numbers_on_context")]
pub fn numbers_on_context(mat: &Bound<'_, Mat>) -> Result<Array> {
    let (py, this) = (mat.py(), &mat.get().inner);
    let context = current_context(py)?.get().inner.clone();
    check_storage(py, this.storage())?;
    let Some(memory) = py.detach(|| this.storage().lent_on(&context))? else {
        let message = format!("the blocks of matrix `{}` are stored column by column on {}; copy it", this.name(), context.device().id());
        return Err(Exception::DataValueError.error(message).into());
    };
    let sparsity = this.sparsity();
    let (stored, rows, columns) = (sparsity.pattern().stored(), sparsity.rows().count(), sparsity.columns().count());
    let shape = if (rows, columns) == (1, 1) { vec![stored] } else { vec![stored, rows, columns] };
    let layout = Layout::dense(&shape, this.dtype().size());
    Ok(Array { context, memory, dtype: this.dtype(), layout, writeable: true, owner: None, buffer: None, held: Arc::default() })
}
