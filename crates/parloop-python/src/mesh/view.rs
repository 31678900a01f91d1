//! `parloop.mesh.DatView`: one component of data on a set.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::access::Access;
use super::arg::Arg;
use super::dat::{Dat, Shown, map_given};
use super::dataset::DataSet;
use super::given::integer;
use super::values::Purpose;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::number::describe;

/// One component of each element's data: `dat[1]`, or `dat[0, 1]` where there are two axes.
///
/// >>> import parloop.mesh as op2
/// >>> velocity = op2.Dat(op2.Set(3, "nodes") ** 2, name="velocity")
/// >>> velocity[1].data[:] = 7
/// >>> velocity.data_ro.tolist()
/// [[0.0, 7.0], [0.0, 7.0], [0.0, 7.0]]
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct DatView {
    parent: Py<Dat>,
    index: Vec<usize>,
    component: usize,
}

impl DatView {
    pub fn of(parent: &Bound<'_, Dat>, index: &Bound<'_, PyAny>) -> Result<DatView> {
        let inner = parent.get().mesh();
        let axes = inner.dataset().axes();
        let items = match index.cast::<PyTuple>() {
            Ok(items) => items.clone(),
            Err(_) => PyTuple::new(parent.py(), [index])?,
        };
        let mut given = Vec::new();
        for item in items.iter() {
            let wrong = || {
                Exception::IndexTypeError.error(format!("a component of `{}` must be an integer, not {}", inner.name(), describe(&item)))
            };
            given.push(integer(&item).ok_or_else(wrong)?);
        }
        let outside = || {
            let message = format!("data `{}` of dimension {axes:?} has no component {index}", inner.name());
            Exception::IndexValueError.error(message)
        };
        if given.len() != axes.len() {
            return Err(outside().into());
        }
        let (mut component, mut index) = (0, Vec::new());
        for (&at, &length) in given.iter().zip(axes) {
            let at = usize::try_from(at).ok().filter(|&at| at < length).ok_or_else(outside)?;
            component = component * length + at;
            index.push(at);
        }
        Ok(DatView { parent: parent.clone().unbind(), index, component })
    }

    fn shown<'py>(&self, py: Python<'py>, what: Shown, purpose: Purpose) -> Result<Bound<'py, PyAny>> {
        let is_whole = self.parent.get().mesh().dataset().count() == 1;
        // The other components keep their numbers.
        let needed = if purpose == Purpose::Replace && !is_whole { Purpose::Change } else { purpose };
        let all = Dat::shown(self.parent.bind(py), what, needed)?;
        if is_whole {
            return Ok(all);
        }
        let index = PyList::empty(py);
        index.append(pyo3::types::PySlice::full(py))?;
        for at in &self.index {
            index.append(at)?;
        }
        Ok(all.get_item(index.to_tuple())?)
    }
}

#[pymethods]
impl DatView {
    #[new]
    fn new(dat: &Bound<'_, PyAny>, index: &Bound<'_, PyAny>) -> Result<DatView> {
        DatView::of(Dat::of(dat)?, index)
    }

    /// An argument of a loop, which sees this component only.
    #[pyo3(signature = (access, map=None))]
    fn __call__<'py>(slf: &Bound<'py, Self>, access: &Bound<'py, PyAny>, map: Option<&Bound<'py, PyAny>>) -> Result<Arg> {
        let (this, access, map) = (slf.get(), Access::of(access)?, map_given(map)?);
        let parent = this.parent.get();
        parent.check_access(access)?;
        let inner = match map {
            Some(map) => {
                parent.check_map(map.get())?;
                mesh::Arg::component(parent.mesh(), this.component, access.into(), Some(map.get().inner()?))
            }
            None => mesh::Arg::component(parent.mesh(), this.component, access.into(), None),
        };
        Ok(Arg::new(inner, slf.as_any(), access, map))
    }

    /// The data it is a part of.
    #[getter]
    fn parent<'py>(&self, py: Python<'py>) -> Bound<'py, Dat> {
        self.parent.bind(py).clone()
    }

    /// Which component, along each axis.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.index)
    }

    /// The set with the dimension of the whole.
    #[getter]
    fn dataset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, DataSet>> {
        Ok(self.parent.bind(py).getattr("dataset")?.cast_into::<DataSet>()?)
    }

    /// The name of the whole with the index.
    #[getter]
    fn name(&self) -> String {
        let index: Vec<String> = self.index.iter().map(usize::to_string).collect();
        format!("{}[{}]", self.parent.get().mesh().name(), index.join(", "))
    }

    /// The type of the numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parent.bind(py).getattr("dtype")
    }

    /// One number for each element.
    #[getter]
    fn dim(&self) -> (usize,) {
        (1,)
    }

    /// One number for each element.
    #[getter]
    fn cdim(&self) -> usize {
        1
    }

    /// The number of elements with the ghosts.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.parent.get().mesh().dataset().set().rows(),)
    }

    /// The numbers of this process's elements, which may be changed through the array.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::Owned, Purpose::Change)
    }

    /// The numbers of this process's elements, to look at.
    #[getter]
    fn data_ro<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::Owned, Purpose::Look)
    }

    /// The values of this process's elements, all of which must be written; entries that are not written keep stale values.
    #[getter]
    fn data_wo<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::Owned, Purpose::Replace)
    }

    /// As `data`, with the ghosts.
    #[getter]
    fn data_with_halos<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::All, Purpose::Change)
    }

    /// As `data_ro`, with the ghosts.
    #[getter]
    fn data_ro_with_halos<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::All, Purpose::Look)
    }

    /// As `data_wo`, with the ghosts.
    #[getter]
    fn data_wo_with_halos<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.shown(py, Shown::All, Purpose::Replace)
    }

    /// How often the numbers of the whole were, or may have been, changed.
    #[getter]
    fn dat_version(&self, py: Python<'_>) -> u64 {
        let parent = self.parent.get().mesh();
        py.detach(|| parent.storage().version())
    }

    /// Whether the ghosts of the whole have the values of their owners.
    #[getter]
    fn halo_valid(&self, py: Python<'_>) -> bool {
        self.parent.get().are_ghosts_valid(py)
    }

    #[setter]
    fn set_halo_valid(&self, py: Python<'_>, valid: bool) {
        self.parent.get().set_ghosts_valid(py, valid);
    }

    /// Sets the component to zero, ghosts and all.
    fn zero(&self, py: Python<'_>) -> Result<()> {
        self.shown(py, Shown::All, Purpose::Change)?.set_item(py.Ellipsis(), 0)?;
        self.parent.get().set_ghosts_valid(py, true);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<DatView {}>", self.name())
    }
}

#[pymethods]
impl Dat {
    /// One component of each element's data.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> Result<DatView> {
        DatView::of(slf, index)
    }
}
