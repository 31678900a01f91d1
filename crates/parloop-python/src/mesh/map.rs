//! `parloop.mesh.Map`: for each element of one set, elements of another.

use parloop_device::DType;
use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::given::{Integers, integer, integers_array, name_of};
use super::set::Set;
use super::values::host_view;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::number::describe;

/// For each element of `iterset`, `arity` elements of `toset`.
///
/// The values are integers of any type, row by row, ghosts and all; every one is checked. A map without values says only where it begins
/// and ends; no loop can use it.
///
/// >>> import parloop.mesh as op2
/// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
/// >>> op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends").values
/// array([[0, 1],
///        [1, 2]], dtype=int32)
/// >>> op2.Map(edges, nodes, 2, [0, 1, 1, 3], "ends")
/// Traceback (most recent call last):
/// parloop.MapValueError: map `ends`: entry [1, 1] is 3, but set `nodes` has 3 elements
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Map {
    inner: Option<mesh::Map>,
    iterset: Py<Set>,
    toset: Py<Set>,
    arity: usize,
    name: String,
}

impl Map {
    /// The map that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Map>> {
        object.cast::<Map>().map_err(|_| Exception::MapTypeError.error(format!("a Map is needed, not {}", describe(object))).into())
    }

    /// The map, if it has values.
    pub fn inner(&self) -> Result<&mesh::Map> {
        self.inner
            .as_ref()
            .ok_or_else(|| Exception::MapValueError.error(format!("map `{}` has no values, so that no loop can use it", self.name)).into())
    }

    /// The set it leads to.
    pub fn to(&self) -> &mesh::Set {
        &self.toset.get().inner
    }

    fn view<'py>(slf: &Bound<'py, Self>, rows: usize) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        let inner = this.inner()?;
        let memory = slf.py().detach(|| inner.host())?;
        // SAFETY: the map keeps its storage, which has a row for each element.
        unsafe { host_view(slf.as_any().clone(), memory, DType::I32, &[rows, this.arity], false) }
    }
}

/// The values, checked to be integers that 32 bits can hold.
fn made(from: &mesh::Set, to: &mesh::Set, arity: usize, values: &Bound<'_, PyAny>, name: &str) -> Result<mesh::Map> {
    let wrong = |found: String| -> Error {
        Exception::MapTypeError.error(format!("the values of map `{name}` are integers, not numbers of type {found}")).into()
    };
    let integers = Integers::of(values, wrong)?;
    if let Some(values) = integers.as_i32()? {
        return Ok(mesh::Map::new(from, to, arity, values, name)?);
    }
    let mut narrow = Vec::with_capacity(integers.len()?);
    integers.each(&mut |place, value| {
        narrow.push(i32::try_from(value).map_err(|_| mesh::MeshError::MapRange {
            map: name.to_owned(),
            row: place / arity,
            column: place % arity,
            value: i64::try_from(value).unwrap_or(i64::MAX),
            set: to.name().to_owned(),
            size: to.sizes().total,
        })?);
        Ok(())
    })?;
    Ok(mesh::Map::new(from, to, arity, &narrow, name)?)
}

#[pymethods]
impl Map {
    #[new]
    #[pyo3(signature = (iterset, toset, arity, values=None, name=None))]
    fn new(
        iterset: &Bound<'_, PyAny>,
        toset: &Bound<'_, PyAny>,
        arity: &Bound<'_, PyAny>,
        values: Option<&Bound<'_, PyAny>>,
        name: Option<&Bound<'_, PyAny>>,
    ) -> Result<Map> {
        let (iterset, toset, name) = (Set::of(iterset)?, Set::of(toset)?, name_of(name, "map")?);
        let wrong = || -> Error {
            let found = arity.repr().map_or_else(|_| describe(arity), |text| text.to_string());
            Exception::ArityTypeError.error(format!("the arity of map `{name}` is a positive integer, not {found}")).into()
        };
        let arity = integer(arity).and_then(|arity| usize::try_from(arity).ok()).filter(|&arity| arity > 0).ok_or_else(wrong)?;
        let inner = match values.filter(|values| !values.is_none()) {
            Some(values) => Some(made(&iterset.get().inner, &toset.get().inner, arity, values, &name)?),
            None => None,
        };
        Ok(Map { inner, iterset: iterset.clone().unbind(), toset: toset.clone().unbind(), arity, name })
    }

    /// The set it leads from.
    #[getter]
    fn iterset<'py>(&self, py: Python<'py>) -> Bound<'py, Set> {
        self.iterset.bind(py).clone()
    }

    /// The set it leads to.
    #[getter]
    fn toset<'py>(&self, py: Python<'py>) -> Bound<'py, Set> {
        self.toset.bind(py).clone()
    }

    /// How many elements it gives for each.
    #[getter]
    fn arity(&self) -> usize {
        self.arity
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The number of elements of `iterset` with the ghosts, and the arity.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.iterset.get().inner.sizes().total, self.arity)
    }

    /// The values for the elements of this process, which cannot be changed.
    #[getter]
    fn values<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Map::view(slf, slf.get().iterset.get().inner.size())
    }

    /// The values for all elements, ghosts and all.
    #[getter]
    fn values_with_halo<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Map::view(slf, slf.get().iterset.get().inner.sizes().total)
    }

    /// A number for each element of `toset`, such that those that meet in one element of `iterset` have near numbers.
    ///
    /// >>> import parloop.mesh as op2
    /// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
    /// >>> ends = op2.Map(edges, nodes, 2, [[0, 2], [2, 1]])
    /// >>> abs(ends.reverse_cuthill_mckee()[ends.values] @ [1, -1]).tolist()
    /// [1, 1]
    fn reverse_cuthill_mckee<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let map = self.inner()?;
        integers_array(py, &py.detach(|| map.reverse_cuthill_mckee())?)
    }

    /// A map is one part, as opposed to mixed ones: it gives itself.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(PyTuple::new(slf.py(), [slf])?.try_iter()?.into_any())
    }

    /// One: the number of its parts.
    fn __len__(&self) -> usize {
        1
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let (from, to) = (self.iterset.bind(py).repr()?, self.toset.bind(py).repr()?);
        let values = if self.inner.is_some() { "..." } else { "None" };
        Ok(format!("Map({from}, {to}, {}, {values}, {})", self.arity, PyString::new(py, &self.name).repr()?))
    }
}
