//! `parloop.mesh.Mat`: sparse matrices that loops assemble.

use std::sync::Arc;

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::access::Access;
use super::arg::Arg;
use super::dat::Dat;
use super::given::{Integers, name_of};
use super::sparsity::{Side, Sparsity, pair};
use super::values::{Purpose, dtype_given, host_view, storage, to_host};
use crate::context::current_context;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::ndarray::numpy_dtype;
use crate::released::released;

/// A sparse matrix: the stored blocks of a sparsity, all zero at first.
///
/// With `data` these are its numbers, block by block, each row by row. An array of the right type in C order is shared, anything else copied.
///
/// >>> import parloop.mesh as op2
/// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
/// >>> ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends")
/// >>> mat = op2.Mat(op2.Sparsity(nodes ** 1, ends), float)
/// >>> edge = op2.Kernel("void edge(double k[2][2]) { k[0][0] += 1; k[0][1] -= 1; k[1][0] -= 1; k[1][1] += 1; }", "edge")
/// >>> op2.par_loop(edge, edges, mat(op2.INC, (ends, ends)))
/// >>> mat.values
/// array([[ 1., -1.,  0.],
///        [-1.,  2., -1.],
///        [ 0., -1.,  1.]])
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Mat {
    pub inner: mesh::Mat,
    sparsity: Py<Sparsity>,
}

/// The integers of an array, which are numbers of rows or columns.
fn numbers(array: &Bound<'_, PyAny>) -> Result<Arc<[i32]>> {
    let wrong = |found: String| -> Error { Exception::MapTypeError.error(format!("row numbers must be integers, not {found}")).into() };
    let mut found = Vec::new();
    Integers::of(array, wrong)?.each(&mut |_, value| {
        found.push(value as i32);
        Ok(())
    })?;
    Ok(found.into())
}

#[pymethods]
impl Mat {
    #[new]
    #[pyo3(signature = (sparsity, dtype=None, name=None, data=None))]
    fn new<'py>(
        sparsity: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        name: Option<&Bound<'py, PyAny>>,
        data: Option<&Bound<'py, PyAny>>,
    ) -> Result<Mat> {
        let (py, sparsity) = (sparsity.py(), Sparsity::of(sparsity)?);
        let on = &sparsity.get().inner;
        let storage = storage(py, data, dtype_given(dtype)?, on.pattern().stored(), on.block())?;
        Ok(Mat { inner: mesh::Mat::around(on, storage, name_of(name, "mat")?)?, sparsity: sparsity.clone().unbind() })
    }

    /// An argument of a loop: for each element the block where the targets of two maps meet.
    ///
    /// `lgmaps` are two lists with a number for each row and column of blocks, as arrays or PETSc's: rows and columns whose number is
    /// negative get nothing. With `unroll_map` they have a number for each row and column.
    #[pyo3(signature = (access, path, lgmaps=None, unroll_map=false))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        access: &Bound<'py, PyAny>,
        path: &Bound<'py, PyAny>,
        lgmaps: Option<&Bound<'py, PyAny>>,
        unroll_map: bool,
    ) -> Result<Arg> {
        let (access, (rows, columns)) = (Access::of(access)?, pair(path)?);
        let mut dropped = mesh::Dropped::default();
        if let Some(lgmaps) = lgmaps.filter(|lgmaps| !lgmaps.is_none()) {
            let found = slf.py().import("parloop.mesh._matrix")?.call_method1("dropped", (slf, lgmaps, unroll_map))?;
            let list = |place: usize| numbers(&found.get_item(place)?);
            dropped = mesh::Dropped { rows: list(0)?, columns: list(1)?, single_rows: list(2)?, single_columns: list(3)? };
        }
        let (mat, row_map, column_map) = (&slf.get().inner, rows.get().inner()?, columns.get().inner()?);
        let inner = slf.py().detach(|| mat.arg_without(access.into(), row_map, column_map, &dropped))?;
        Ok(Arg::new(inner, slf.as_any(), access, None))
    }

    /// Which blocks are stored.
    #[getter]
    fn sparsity<'py>(&self, py: Python<'py>) -> Bound<'py, Sparsity> {
        self.sparsity.bind(py).clone()
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The type of the numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.inner.dtype())
    }

    /// How many rows and columns it has.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }

    /// How many rows it has.
    #[getter]
    fn nrows(&self) -> usize {
        self.inner.shape().0
    }

    /// How many columns it has.
    #[getter]
    fn ncols(&self) -> usize {
        self.inner.shape().1
    }

    /// How many rows of blocks it has.
    #[getter]
    fn nblock_rows(&self) -> usize {
        self.inner.sparsity().pattern().rows()
    }

    /// How many columns of blocks it has.
    #[getter]
    fn nblock_cols(&self) -> usize {
        self.inner.sparsity().pattern().width()
    }

    /// The stored blocks, row by row, which may be changed through the array.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Mat::shown(slf, Purpose::Change)
    }

    /// The stored blocks, row by row, to look at.
    #[getter]
    fn data_ro<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Mat::shown(slf, Purpose::Look)
    }

    /// Sets all numbers to zero.
    fn zero(&self, py: Python<'_>) -> Result<()> {
        let context = current_context(py)?;
        let context = &context.get().inner;
        Ok(py.detach(|| self.inner.storage().zero(context))?)
    }

    /// `y = A x` on the current context, or with `transposed` `y = Aᵀ x`; `y` is created if not given.
    #[pyo3(signature = (x, y=None, transposed=false))]
    fn mult<'py>(
        slf: &Bound<'py, Self>,
        x: &Bound<'py, PyAny>,
        y: Option<&Bound<'py, PyAny>>,
        transposed: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let sparsity = this.sparsity.bind(py).get();
        let y = match y.filter(|y| !y.is_none()) {
            Some(y) => y.clone(),
            None => {
                let dataset = sparsity.dataset(py, if transposed { Side::Columns } else { Side::Rows });
                py.get_type::<Dat>().call1((dataset, py.None(), numpy_dtype(py, this.inner.dtype())?))?
            }
        };
        let (from, to) = (Dat::of(x)?.get(), Dat::of(&y)?.get());
        let context = current_context(py)?;
        let context = &context.get().inner;
        released(py, || match transposed {
            false => this.inner.multiply(from.mesh(), to.mesh(), context),
            true => this.inner.multiply_transposed(from.mesh(), to.mesh(), context),
        })?;
        Ok(y)
    }

    /// `mat @ dat`: the product as new data.
    fn __matmul__<'py>(slf: &Bound<'py, Self>, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Mat::mult(slf, x, None, false)
    }

    /// All values, including zeros, as a dense host array.
    #[getter]
    fn values<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._matrix")?.call_method1("dense", (slf,))?)
    }

    /// Sets the numbers on the diagonal of some rows of blocks.
    #[pyo3(signature = (rows, diag_val=None, idx=None), text_signature = "($self, rows, diag_val=1.0, idx=None)")]
    fn set_local_diagonal_entries<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        diag_val: Option<&Bound<'py, PyAny>>,
        idx: Option<usize>,
    ) -> Result<()> {
        slf.py().import("parloop.mesh._matrix")?.call_method1("set_diagonal", (slf, rows, diag_val, idx))?;
        Ok(())
    }

    /// Adds to the numbers on the diagonal of some rows of blocks.
    #[pyo3(signature = (rows, diag_val=None, idx=None), text_signature = "($self, rows, diag_val=1.0, idx=None)")]
    fn inc_local_diagonal_entries<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        diag_val: Option<&Bound<'py, PyAny>>,
        idx: Option<usize>,
    ) -> Result<()> {
        slf.py().import("parloop.mesh._matrix")?.call_method1("add_to_diagonal", (slf, rows, diag_val, idx))?;
        Ok(())
    }

    /// Sets some rows of blocks to zero, except their diagonal.
    #[pyo3(signature = (rows, diag_val=None, idx=None), text_signature = "($self, rows, diag_val=1.0, idx=None)")]
    fn zero_rows<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        diag_val: Option<&Bound<'py, PyAny>>,
        idx: Option<usize>,
    ) -> Result<()> {
        slf.py().import("parloop.mesh._matrix")?.call_method1("zero_rows", (slf, rows, diag_val, idx))?;
        Ok(())
    }

    /// Adds a dense part to these rows and columns; negative ones are ignored. Every entry must be stored.
    fn addto_values<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        cols: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
    ) -> Result<()> {
        slf.py().import("parloop.mesh._matrix")?.call_method1("put", (slf, rows, cols, values, true))?;
        Ok(())
    }

    /// Sets these rows and columns to a dense part; negative ones are ignored. Every entry must be stored.
    fn set_values<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        cols: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
    ) -> Result<()> {
        slf.py().import("parloop.mesh._matrix")?.call_method1("put", (slf, rows, cols, values, false))?;
        Ok(())
    }

    /// Does nothing: loops leave a matrix assembled.
    fn assemble(&self) {}

    /// A SciPy matrix, `csr_matrix` or with blocks `bsr_matrix`, over the same host memory.
    fn to_scipy<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._matrix")?.call_method1("to_scipy", (slf,))?)
    }

    /// A CuPy `csr_matrix` over the same memory on the current context, which must be a CUDA one. Request it again after a loop elsewhere.
    fn to_cupy<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._sparse")?.call_method1("to_cupy", (slf,))?)
    }

    /// A PyTorch sparse tensor (CSR, or BSR with blocks) over the same memory on the current context. Request it again after a loop
    /// elsewhere.
    fn to_torch<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._sparse")?.call_method1("to_torch", (slf,))?)
    }

    /// A PETSc matrix over the same host memory, if petsc4py is installed; with blocks it forwards its operations to this matrix. Request it
    /// again after a loop.
    #[getter]
    fn handle<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._petsc")?.call_method1("handle", (slf,))?)
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let name = PyString::new(py, self.name()).repr()?;
        let (rows, columns) = self.shape();
        Ok(format!("<Mat {name}: {rows} × {columns} {}, {} blocks stored>", self.inner.dtype(), self.inner.sparsity().pattern().stored()))
    }
}

impl Mat {
    fn shown<'py>(slf: &Bound<'py, Self>, purpose: Purpose) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        let sparsity = this.inner.sparsity();
        let (stored, rows, columns) = (sparsity.pattern().stored(), sparsity.rows().count(), sparsity.columns().count());
        let shape = if (rows, columns) == (1, 1) { vec![stored] } else { vec![stored, rows, columns] };
        let memory = to_host(slf.py(), this.inner.storage(), purpose)?;
        // SAFETY: the object keeps its storage, which has a row for each stored block.
        unsafe { host_view(slf.as_any().clone(), memory, this.inner.dtype(), &shape, purpose.writes()) }
    }
}
