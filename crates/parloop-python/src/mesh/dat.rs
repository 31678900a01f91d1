//! `parloop.mesh.Dat`: numbers on each element of a set.

use std::sync::{Mutex, PoisonError};

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::access::Access;
use super::arg::Arg;
use super::dataset::DataSet;
use super::given::name_of;
use super::map::Map;
use super::set::Set;
use super::shown::ShownNumbers;
use super::values::{Purpose, dtype_given, host_view, storage, to_host};
use crate::error::Result;
use crate::exceptions::Exception;
use crate::html::html;
use crate::ndarray::numpy_dtype;
use crate::number::describe;
use crate::recording::check_storage;

/// Numbers on each element of a set.
///
/// The data set is a `DataSet`, a `Set` (one number each) or another `Dat`, of which it becomes a copy. An array of the right type in C order is
/// shared, anything else copied; without data all numbers are zero. Numbers go where loops use them and come back when they are looked
/// at: ask for `data` again after a loop on a GPU.
///
/// >>> import numpy as np, parloop.mesh as op2
/// >>> nodes = op2.Set(3, "nodes")
/// >>> x = op2.Dat(nodes, [1, 2, 3], dtype=float, name="x")
/// >>> x.data_ro
/// array([1., 2., 3.])
/// >>> op2.Dat(nodes ** 2).shape
/// (3, 2)
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Dat {
    /// As it was made.
    made: mesh::Dat,
    dataset: Py<DataSet>,
    /// The access for which exchanges of ghosts are put off.
    frozen: Mutex<Option<Access>>,
}

/// Which of the elements are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Those of this process.
    Owned,
    /// The ghosts too.
    All,
}

/// What keeps data of a distributed set alive for an array that may be written: processes must know of such arrays.
#[pyclass(frozen, module = "parloop.mesh")]
struct LentNumbers {
    _dat: Py<Dat>,
    _lent: mesh::Lent,
}

impl Dat {
    /// The context manager of a vector of PETSc's.
    fn petsc<'py>(slf: &Bound<'py, Self>, access: &str) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.mesh._petsc")?.call_method1("vector", (slf, access))?)
    }

    /// The data or, once its set is distributed, the part of it that this process has.
    pub fn mesh(&self) -> &mesh::Dat {
        self.made.current()
    }

    /// The data that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Dat>> {
        object.cast::<Dat>().map_err(|_| Exception::DatTypeError.error(format!("expected a Dat, not {}", describe(object))).into())
    }

    pub fn around(inner: mesh::Dat, dataset: Py<DataSet>) -> Dat {
        Dat { made: inner, dataset, frozen: Mutex::new(None) }
    }

    /// Data of the same kind with other numbers.
    pub fn like(&self, py: Python<'_>, inner: mesh::Dat) -> Dat {
        Dat::around(inner, self.dataset.clone_ref(py))
    }

    /// The shape of the numbers of this many elements.
    pub fn shape_of(&self, rows: usize) -> Vec<usize> {
        let dataset = self.mesh().dataset();
        let axes = if dataset.count() == 1 { &[] } else { dataset.axes() };
        std::iter::once(rows).chain(axes.iter().copied()).collect()
    }

    /// The numbers as an array.
    pub fn shown<'py>(slf: &Bound<'py, Self>, what: Shown, purpose: Purpose) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        if what == Shown::All && purpose != Purpose::Replace {
            this.check_shared(slf.py())?;
            slf.py().detach(|| this.mesh().renew_ghosts())?;
        }
        let set = this.mesh().dataset().set();
        let rows = if what == Shown::All { set.rows() } else { set.owned_rows() };
        // Ghosts that are not shown keep their numbers.
        let needed = if purpose == Purpose::Replace && rows < set.rows() { Purpose::Change } else { purpose };
        let storage = this.mesh().storage();
        let memory = to_host(slf.py(), storage, needed)?;
        let owner = match purpose.writes() && set.halo().is_some() {
            true => Bound::new(slf.py(), LentNumbers { _dat: slf.clone().unbind(), _lent: storage.lend()? })?.into_any(),
            false => slf.as_any().clone(),
        };
        // SAFETY: the object keeps its storage, which has a row for each element of the set.
        unsafe { host_view(owner, memory, this.mesh().dtype(), &this.shape_of(rows), purpose.writes()) }
    }

    fn few_numbers<'py>(&self, py: Python<'py>) -> Result<Option<ShownNumbers<'py>>> {
        let rows = self.mesh().dataset().set().owned_rows();
        ShownNumbers::of(py, self.mesh().storage(), Some(rows), &self.shape_of(rows)[1..])
    }

    pub fn are_ghosts_valid(&self, py: Python<'_>) -> bool {
        py.detach(|| self.mesh().storage().are_ghosts_fresh())
    }

    pub fn set_ghosts_valid(&self, py: Python<'_>, valid: bool) {
        py.detach(|| self.mesh().storage().set_ghosts_fresh(valid));
    }

    /// Says of a copy whether its ghosts have the numbers of their owners.
    pub fn take_validity(&self, py: Python<'_>, of: &Dat) {
        let are_valid = py.detach(|| of.mesh().storage().are_ghosts_settled());
        self.set_ghosts_valid(py, are_valid);
    }

    /// Fails when the NumPy array whose memory it shares has other memory.
    pub fn check_shared(&self, py: Python<'_>) -> Result<()> {
        check_storage(py, self.mesh().storage())
    }

    /// Checks what a loop is to do with it.
    pub fn check_access(&self, access: Access) -> Result<()> {
        let frozen = *self.frozen.lock().unwrap_or_else(PoisonError::into_inner);
        match frozen.filter(|&frozen| frozen != access) {
            None => Ok(()),
            Some(frozen) => {
                let (frozen, access) = (mesh::Access::from(frozen), mesh::Access::from(access));
                let message = format!("`{}` is frozen for {frozen}, so {access} is not allowed; unfreeze it first", self.mesh().name());
                Err(Exception::ModeValueError.error(message).into())
            }
        }
    }

    /// Checks that a map leads to the data.
    pub fn check_map(&self, map: &Map) -> Result<()> {
        if map.to() == self.mesh().dataset().set() {
            return Ok(());
        }
        let (name, set, map) = (self.mesh().name(), self.mesh().dataset().set().name(), map.to().name());
        Err(Exception::MapValueError.error(format!("data `{name}` is on set `{set}`, but the map leads to `{map}`")).into())
    }
}

/// The map that was given with an access, if any.
pub fn map_given<'a, 'py>(map: Option<&'a Bound<'py, PyAny>>) -> Result<Option<&'a Bound<'py, Map>>> {
    map.filter(|map| !map.is_none()).map(Map::of).transpose()
}

#[pymethods]
impl Dat {
    #[new]
    #[pyo3(signature = (dataset, data=None, dtype=None, name=None))]
    fn new<'py>(
        dataset: &Bound<'py, PyAny>,
        data: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        name: Option<&Bound<'py, PyAny>>,
    ) -> Result<Dat> {
        let py = dataset.py();
        if let Ok(other) = dataset.cast::<Dat>() {
            let other = other.get();
            let name = name.map_or_else(|| Ok(format!("copy_of_{}", other.mesh().name())), |name| name_of(Some(name), "dat"))?;
            let copy = mesh::Dat::zeros(other.mesh().dataset(), other.mesh().dtype(), name)?;
            other.check_shared(py)?;
            py.detach(|| other.mesh().copy_to(&copy))?;
            let copy = other.like(py, copy);
            copy.take_validity(py, other);
            return Ok(copy);
        }
        let name = name_of(name, "dat")?;
        let dataset = match dataset.cast::<Set>() {
            Ok(set) => set.as_any().pow(1, py.None())?,
            Err(_) => dataset.clone(),
        };
        let dataset = dataset.cast_into::<DataSet>().map_err(|error| {
            let found = describe(&error.into_inner());
            Exception::DataSetTypeError.error(format!("a Dat needs a Set or a DataSet, not {found}"))
        })?;
        let on = dataset.get().mesh();
        let storage = storage(py, data, dtype_given(dtype)?, on.set().rows(), on.count())?;
        Ok(Dat::around(mesh::Dat::around(&on, storage, name)?, dataset.unbind()))
    }

    /// An argument of a loop: the data of the element itself, or through a map of those it leads to.
    #[pyo3(signature = (access, map=None))]
    fn __call__<'py>(slf: &Bound<'py, Self>, access: &Bound<'py, PyAny>, map: Option<&Bound<'py, PyAny>>) -> Result<Arg> {
        let (this, access, map) = (slf.get(), Access::of(access)?, map_given(map)?);
        this.check_access(access)?;
        let inner = match map {
            Some(map) => {
                this.check_map(map.get())?;
                mesh::Arg::dat(this.mesh(), access.into(), Some(map.get().inner()?))
            }
            None => mesh::Arg::dat(this.mesh(), access.into(), None),
        };
        Ok(Arg::new(inner, slf.as_any(), access, map))
    }

    /// The set with the dimension.
    #[getter]
    fn dataset<'py>(&self, py: Python<'py>) -> Bound<'py, DataSet> {
        self.dataset.bind(py).clone()
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.mesh().name()
    }

    /// The type of the numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.mesh().dtype())
    }

    /// The lengths of the axes of one element's data.
    #[getter]
    fn dim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.mesh().dataset().axes())
    }

    /// How many numbers each element has.
    #[getter]
    fn cdim(&self) -> usize {
        self.mesh().dataset().count()
    }

    /// The shape of all numbers, ghosts and all.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape_of(self.mesh().dataset().set().rows()))
    }

    /// The bytes of all numbers.
    #[getter]
    fn nbytes(&self) -> usize {
        self.mesh().storage().len() * self.mesh().dtype().size()
    }

    /// The numbers of this process's elements, which may be changed through the array.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::Owned, Purpose::Change)
    }

    /// The numbers of this process's elements, to look at.
    #[getter]
    fn data_ro<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::Owned, Purpose::Look)
    }

    /// The values of this process's elements, all of which must be written; entries that are not written keep stale values.
    #[getter]
    fn data_wo<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::Owned, Purpose::Replace)
    }

    /// ``with dat.vec as v:`` gives the numbers of this process's elements as a PETSc vector over the same memory.
    #[getter]
    fn vec<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::petsc(slf, "rw")
    }

    /// As `vec`, to read.
    #[getter]
    fn vec_ro<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::petsc(slf, "ro")
    }

    /// As `vec`, to write all of it.
    #[getter]
    fn vec_wo<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::petsc(slf, "wo")
    }

    /// As `data`, with the ghosts, which are updated from their owners first. Collective: all processes must call it.
    #[getter]
    fn data_with_halos<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::All, Purpose::Change)
    }

    /// As `data_ro`, with the ghosts, which are updated from their owners first. Collective: all processes must call it.
    #[getter]
    fn data_ro_with_halos<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::All, Purpose::Look)
    }

    /// As `data_wo`, with the ghosts.
    #[getter]
    fn data_wo_with_halos<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Dat::shown(slf, Shown::All, Purpose::Replace)
    }

    /// How often the numbers were, or may have been, changed.
    #[getter]
    fn dat_version(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.mesh().storage().version())
    }

    /// Whether the ghosts have the values of their owners.
    #[getter]
    fn halo_valid(&self, py: Python<'_>) -> bool {
        self.are_ghosts_valid(py)
    }

    #[setter]
    fn set_halo_valid(&self, py: Python<'_>, valid: bool) {
        self.set_ghosts_valid(py, valid);
    }

    /// Inside `with dat.frozen_halo(access):` the ghosts are not exchanged, and loops use the data with that access only.
    fn frozen_halo<'py>(slf: &Bound<'py, Self>, access: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Access::of(access)?;
        Ok(slf.py().import("parloop.mesh._halo")?.getattr("frozen")?.call1((slf, access))?)
    }

    /// Defers ghost exchanges; loops may use the data with that access only.
    fn freeze_halo(&self, access: &Bound<'_, PyAny>) -> Result<()> {
        let access = Access::of(access)?;
        let mut frozen = self.frozen.lock().unwrap_or_else(PoisonError::into_inner);
        if frozen.is_some() {
            return Err(Exception::ModeValueError.error(format!("`{}` is already frozen", self.mesh().name())).into());
        }
        *frozen = Some(access);
        Ok(())
    }

    /// Ends `freeze_halo`.
    fn unfreeze_halo(&self) -> Result<()> {
        match self.frozen.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(_) => Ok(()),
            None => Err(Exception::ModeValueError.error(format!("`{}` is not frozen", self.mesh().name())).into()),
        }
    }

    /// Writes the numbers of this process's elements to a NumPy `.npy` file.
    fn save<'py>(slf: &Bound<'py, Self>, filename: &Bound<'py, PyAny>) -> Result<()> {
        slf.py().import("numpy")?.call_method1("save", (filename, Dat::data_ro(slf)?))?;
        Ok(())
    }

    /// Reads what `save` wrote. The suffix `.npy` is added if missing.
    fn load<'py>(slf: &Bound<'py, Self>, filename: &Bound<'py, PyAny>) -> Result<()> {
        let py = slf.py();
        let path: String = py.import("os")?.call_method1("fspath", (filename,))?.extract()?;
        let path = if path.ends_with(".npy") { path } else { format!("{path}.npy") };
        let found = py.import("numpy")?.call_method1("load", (&path,))?;
        let (asked, shape) = (slf.get().shape_of(slf.get().mesh().dataset().set().owned_rows()), found.getattr("shape")?);
        if shape.extract::<Vec<usize>>()? != asked {
            let asked = PyTuple::new(py, asked)?;
            let message = format!("`{}` has shape {asked} without ghosts, but {path} has {shape}", slf.get().mesh().name());
            return Err(Exception::DataValueError.error(message).into());
        }
        let values = super::values::converted(&found, Some(slf.get().mesh().dtype()))?;
        Ok(Dat::data_wo(slf)?.set_item(py.Ellipsis(), values)?)
    }

    /// Draws numbers on nodes or cells of triangles or quadrilaterals; needs matplotlib.
    ///
    /// The coordinates are a `Dat` of dimension 2 on the nodes, and the map leads from cells to their nodes in order. Keyword arguments go to
    /// matplotlib's `tripcolor`. Returns its axes.
    #[pyo3(signature = (coordinates, map, ax=None, component=None, **options))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        coordinates: &Bound<'py, PyAny>,
        map: &Bound<'py, PyAny>,
        ax: Option<&Bound<'py, PyAny>>,
        component: Option<usize>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> Result<Bound<'py, PyAny>> {
        let py = slf.py();
        let plot = py.import("parloop.mesh._plot")?.getattr("plot")?;
        Ok(plot.call1((slf, coordinates, map, ax, component, options))?)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let (values, is_whole) = slf.get().few_numbers(slf.py())?.map(|shown| (shown.values, shown.is_whole)).unzip();
        Ok(html(slf.py(), "dat", (slf, values, is_whole))?)
    }

    /// The numbers of this process's elements, or those at both ends: no process waits for another here, and nothing else is moved.
    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let (dataset, name) = (self.dataset.bind(py).repr()?, PyString::new(py, self.mesh().name()).repr()?);
        let begin = format!("Dat({dataset}, ");
        let values = self.few_numbers(py)?.map_or(Ok("...".to_owned()), |shown| shown.text(&begin))?;
        Ok(format!("{begin}{values}, dtype={}, name={name})", self.mesh().dtype()))
    }
}

#[pymethods]
impl DataSet {
    /// Whether data is on this data set.
    fn __contains__(&self, dat: &Bound<'_, PyAny>) -> bool {
        dat.cast::<Dat>().is_ok_and(|dat| *dat.get().mesh().dataset() == self.mesh())
    }
}
