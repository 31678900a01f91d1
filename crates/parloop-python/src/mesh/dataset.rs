//! `parloop.mesh.DataSet`: how many numbers each element of a set has.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::given::{dim_of, name_of};
use super::set::Set;
use crate::error::Result;

/// A set with the dimension of data on each of its elements; `set ** dim` is the same.
///
/// >>> import parloop.mesh as op2
/// >>> nodes = op2.Set(4, "nodes")
/// >>> op2.DataSet(nodes, (2, 3)).cdim
/// 6
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct DataSet {
    /// As it was made.
    made: mesh::DataSet,
    set: Py<Set>,
    name: String,
}

impl DataSet {
    /// It or, once its set is distributed, the same on the part of it that this process has.
    pub fn mesh(&self) -> mesh::DataSet {
        self.made.current()
    }

    /// That of data on a set that has an object.
    pub fn around(made: mesh::DataSet, set: Py<Set>) -> Result<DataSet> {
        Ok(DataSet { made, set, name: name_of(None, "dataset")? })
    }

    pub fn on(set: &Bound<'_, Set>, dim: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>) -> Result<DataSet> {
        let name = name_of(name, "dataset")?;
        let axes = dim_of(dim, set.get().mesh().name(), 0)?;
        Ok(DataSet { made: set.get().mesh().data(&axes[..])?, set: set.clone().unbind(), name })
    }
}

#[pymethods]
impl DataSet {
    #[new]
    #[pyo3(signature = (set, dim, name=None))]
    fn new(set: &Bound<'_, PyAny>, dim: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>) -> Result<DataSet> {
        DataSet::on(Set::of(set)?, dim, name)
    }

    /// The set.
    #[getter]
    fn set<'py>(&self, py: Python<'py>) -> Bound<'py, Set> {
        self.set.bind(py).clone()
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The lengths of the axes of one element's data.
    #[getter]
    fn dim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.made.axes())
    }

    /// How many numbers each element has.
    #[getter]
    fn cdim(&self) -> usize {
        self.mesh().count()
    }

    /// How many elements touch nothing of other processes.
    #[getter]
    fn core_size(&self) -> usize {
        self.mesh().set().sizes().core
    }

    /// How many rows of the data are of this process: one for each element, or for each cell of an extruded set.
    #[getter]
    fn size(&self) -> usize {
        self.mesh().set().owned_rows()
    }

    /// How many rows there are with the ghosts.
    #[getter]
    fn total_size(&self) -> usize {
        self.mesh().set().rows()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<DataSet>().is_ok_and(|other| other.get().mesh() == self.mesh())
    }

    fn __hash__(&self) -> u64 {
        self.made.axes().iter().fold(self.made.set().id(), |hash, &axis| hash.wrapping_mul(31).wrapping_add(axis as u64))
    }

    /// A data set is one part, as opposed to mixed ones: it gives itself.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(PyTuple::new(slf.py(), [slf])?.try_iter()?.into_any())
    }

    /// One: the number of its parts.
    fn __len__(&self) -> usize {
        1
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let dim = match self.made.axes() {
            [only] => only.to_string(),
            axes => PyTuple::new(py, axes)?.repr()?.to_string(),
        };
        let set = self.set.bind(py).repr()?;
        Ok(match self.name.starts_with("dataset_") {
            true => format!("DataSet({set}, {dim})"),
            false => format!("DataSet({set}, {dim}, {})", PyString::new(py, &self.name).repr()?),
        })
    }
}

#[pymethods]
impl Set {
    /// Data of that dimension on each element.
    fn __pow__<'py>(slf: &Bound<'py, Self>, dim: &Bound<'py, PyAny>, _modulo: &Bound<'py, PyAny>) -> Result<DataSet> {
        DataSet::on(slf, dim, None)
    }

    /// Whether a `DataSet` is on this set.
    fn __contains__(slf: &Bound<'_, Self>, dataset: &Bound<'_, PyAny>) -> bool {
        dataset.cast::<DataSet>().is_ok_and(|dataset| dataset.get().mesh().set() == slf.get().mesh())
    }
}
