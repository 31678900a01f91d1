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
use crate::html::html;
use crate::number::describe;

/// For each element of `iterset`, `arity` elements of `toset`.
///
/// The values are integers of any type, row by row, including ghosts; every value is checked. A map without values has only its sets; no
/// loop can use it. Where it begins at an extruded set, a row has the targets of the lowest cell of a column, and
/// `offset` says how far each moves from a cell to the next above it.
///
/// >>> import parloop.mesh as op2
/// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
/// >>> op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends").values
/// array([[0, 1],
///        [1, 2]], dtype=int32)
/// >>> op2.Map(edges, nodes, 2, [0, 1, 1, 3], "ends")
/// Traceback (most recent call last):
/// parloop.errors.MapValueError: map `ends`: entry [1, 1] is 3, but set `nodes` has 3 elements
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Map {
    /// As it was made.
    made: Option<mesh::Map>,
    iterset: Py<Set>,
    toset: Py<Set>,
    arity: usize,
    name: String,
}

impl Map {
    /// The map that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Map>> {
        object.cast::<Map>().map_err(|_| Exception::MapTypeError.error(format!("expected a Map, not {}", describe(object))).into())
    }

    /// A map between two sets that have objects.
    pub fn around(made: mesh::Map, iterset: Py<Set>, toset: Py<Set>) -> Map {
        let (arity, name) = (made.arity(), made.name().to_owned());
        Map { made: Some(made), iterset, toset, arity, name }
    }

    /// The map or, once its sets are distributed, that between their parts.
    fn mesh(&self) -> Option<&mesh::Map> {
        self.made.as_ref().map(mesh::Map::current)
    }

    /// The map, if it has values.
    pub fn inner(&self) -> Result<&mesh::Map> {
        self.mesh()
            .ok_or_else(|| Exception::MapValueError.error(format!("map `{}` has no values, so a loop cannot use it", self.name)).into())
    }

    /// The set it leads to.
    pub fn to(&self) -> &mesh::Set {
        self.toset.get().mesh()
    }

    fn view<'py>(slf: &Bound<'py, Self>, rows: usize) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        let inner = this.inner()?;
        match slf.py().detach(|| inner.host())? {
            // SAFETY: the map keeps its storage, which has a row for each element.
            Some(memory) => unsafe { host_view(slf.as_any().clone(), memory, DType::I32, &[rows, this.arity], false) },
            // It has no table of its own.
            None => {
                let values = slf.py().detach(|| inner.values())?;
                Ok(integers_array(slf.py(), &values[..rows * this.arity])?.call_method1("reshape", (rows, this.arity))?)
            }
        }
    }
}

/// The values, checked to be integers that 32 bits can hold.
fn made(ends: (&mesh::Set, &mesh::Set), arity: usize, values: &Bound<'_, PyAny>, moves: &Moves, name: &str) -> Result<mesh::Map> {
    let (from, to) = ends;
    let map = |values: &[i32]| match &moves.offsets {
        None => mesh::Map::new(from, to, arity, values, name),
        Some(offsets) => mesh::Map::with_offsets(from, to, arity, values, offsets, moves.quotients.as_deref(), name),
    };
    let wrong = |found: String| -> Error {
        Exception::MapTypeError.error(format!("the values of map `{name}` must be integers, not numbers of type {found}")).into()
    };
    let integers = Integers::of(values, wrong)?;
    if let Some(values) = integers.as_i32()? {
        return Ok(map(values)?);
    }
    // The words of `MeshError::MapRange`, whose value has 64 bits.
    let outside = |place: usize, value: i128| -> Error {
        let (row, column, set, size) = (place / arity, place % arity, to.name(), to.sizes().total);
        let message = format!("map `{name}`: entry [{row}, {column}] is {value}, but set `{set}` has {size} elements");
        Exception::MapValueError.error(message).into()
    };
    let mut narrow = Vec::with_capacity(integers.len()?);
    integers.each(&mut |place, value| {
        narrow.push(i32::try_from(value).map_err(|_| outside(place, value))?);
        Ok(())
    })?;
    Ok(map(&narrow)?)
}

/// How targets move from layer to layer of an extruded set, as they were given.
struct Moves {
    offsets: Option<Vec<i32>>,
    quotients: Option<Vec<i32>>,
}

/// A number for each slot, if any are given.
fn for_slots(object: Option<&Bound<'_, PyAny>>, what: &str) -> Result<Option<Vec<i32>>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    let wrong =
        |found: String| -> Error { Exception::MapTypeError.error(format!("the {what} of a map must be integers, not {found}")).into() };
    let integers = Integers::of(object, wrong)?;
    let mut found = Vec::with_capacity(integers.len()?);
    integers.each(&mut |_, value| {
        let narrow =
            i32::try_from(value).map_err(|_| Exception::MapValueError.error(format!("{value} is too large for the {what} of a map")))?;
        found.push(narrow);
        Ok(())
    })?;
    Ok(Some(found).filter(|found| !found.is_empty()))
}

/// A map with its slots in another order: slot `i` is slot `permutation[i]` of the other. No table is copied.
///
/// >>> import parloop.mesh as op2
/// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
/// >>> ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends")
/// >>> op2.PermutedMap(ends, [1, 0]).values.tolist()
/// [[1, 0], [2, 1]]
#[pyclass(frozen, subclass, extends = Map, module = "parloop.mesh")]
pub struct PermutedMap {
    map: Py<Map>,
    permutation: Vec<i32>,
}

#[pymethods]
impl PermutedMap {
    #[new]
    #[pyo3(signature = (map_, permutation, name=None))]
    fn new(
        map_: &Bound<'_, PyAny>,
        permutation: &Bound<'_, PyAny>,
        name: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyClassInitializer<PermutedMap>> {
        let (py, of, name) = (map_.py(), Map::of(map_)?, name_of(name, "map")?);
        let permutation = for_slots(Some(permutation), "slots")?.unwrap_or_default();
        let this = of.get();
        let inner = Some(this.inner()?.permuted(&permutation, name.as_str())?);
        let (iterset, toset) = (this.iterset.clone_ref(py), this.toset.clone_ref(py));
        let base = Map { made: inner, iterset, toset, arity: this.arity, name };
        Ok(PyClassInitializer::from(base).add_subclass(PermutedMap { map: of.clone().unbind(), permutation }))
    }

    /// The map whose slots are in another order.
    #[getter]
    fn map_<'py>(&self, py: Python<'py>) -> Bound<'py, Map> {
        self.map.bind(py).clone()
    }

    /// Which slot of that map each slot is.
    #[getter]
    fn permutation<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        integers_array(py, &self.permutation)
    }
}

/// A composition of maps: `ComposedMap(a, b, c)` applies `c`, then `b`, then `a`. All but the first
/// have arity 1. No table is copied.
///
/// >>> import parloop.mesh as op2
/// >>> facets, cells, nodes = op2.Set(3, "facets"), op2.Set(2, "cells"), op2.Set(4, "nodes")
/// >>> corners = op2.Map(cells, nodes, 2, [[0, 1], [2, 3]], "corners")
/// >>> inside = op2.Map(facets, cells, 1, [1, 1, 0], "inside")
/// >>> op2.ComposedMap(corners, inside).values.tolist()
/// [[2, 3], [2, 3], [0, 1]]
#[pyclass(frozen, subclass, extends = Map, module = "parloop.mesh")]
pub struct ComposedMap {
    maps: Vec<Py<Map>>,
}

#[pymethods]
impl ComposedMap {
    #[new]
    #[pyo3(signature = (*maps, name=None))]
    fn new(maps: &Bound<'_, PyTuple>, name: Option<&Bound<'_, PyAny>>) -> Result<PyClassInitializer<ComposedMap>> {
        let (py, name) = (maps.py(), name_of(name, "map")?);
        let given: Vec<Bound<'_, PyAny>> = maps.iter().collect();
        let maps = given.iter().map(|map| Ok(Map::of(map)?.clone())).collect::<Result<Vec<_>>>()?;
        let [first, .., last] = &maps[..] else {
            return Err(Exception::MapTypeError.error(format!("a composed map needs at least two maps, not {}", maps.len())).into());
        };
        let mut inner = first.get().inner()?.clone();
        for map in &maps[1..] {
            inner = inner.after(map.get().inner()?, name.as_str()).map_err(|error| Exception::MapTypeError.error(error.to_string()))?;
        }
        let (iterset, toset) = (last.get().iterset.clone_ref(py), first.get().toset.clone_ref(py));
        let base = Map { made: Some(inner), iterset, toset, arity: first.get().arity, name };
        Ok(PyClassInitializer::from(base).add_subclass(ComposedMap { maps: maps.into_iter().map(Bound::unbind).collect() }))
    }

    /// The maps that it leads through, the last first.
    #[getter]
    fn maps_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.maps.iter().map(|map| map.bind(py)))
    }
}

#[pymethods]
impl Map {
    #[new]
    #[pyo3(signature = (iterset, toset, arity, values=None, name=None, offset=None, offset_quotient=None))]
    #[allow(clippy::too_many_arguments)] // they are the parameters of Python's class
    fn new(
        iterset: &Bound<'_, PyAny>,
        toset: &Bound<'_, PyAny>,
        arity: &Bound<'_, PyAny>,
        values: Option<&Bound<'_, PyAny>>,
        name: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        offset_quotient: Option<&Bound<'_, PyAny>>,
    ) -> Result<Map> {
        let (iterset, toset, name) = (Set::of(iterset)?, Set::of(toset)?, name_of(name, "map")?);
        let wrong = || -> Error {
            let found = arity.repr().map_or_else(|_| describe(arity), |text| text.to_string());
            Exception::ArityTypeError.error(format!("the arity of map `{name}` must be a positive integer, not {found}")).into()
        };
        let arity = integer(arity).and_then(|arity| usize::try_from(arity).ok()).filter(|&arity| arity > 0).ok_or_else(wrong)?;
        let inner = match values.filter(|values| !values.is_none()) {
            Some(values) => {
                if offset.is_none_or(|offset| offset.is_none()) && offset_quotient.is_some_and(|quotient| !quotient.is_none()) {
                    let message = format!("map `{name}` has an offset_quotient but no offset; give both");
                    return Err(Exception::MapValueError.error(message).into());
                }
                let moves = Moves { offsets: for_slots(offset, "offsets")?, quotients: for_slots(offset_quotient, "offset quotients")? };
                Some(made((iterset.get().mesh(), toset.get().mesh()), arity, values, &moves, &name)?)
            }
            None => None,
        };
        Ok(Map { made: inner, iterset: iterset.clone().unbind(), toset: toset.clone().unbind(), arity, name })
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

    /// The map by which all elements of a set, and all cells of an extruded one, lead to the first element of another: to what they share.
    ///
    /// >>> import parloop.mesh as op2
    /// >>> op2.Map.to_first(op2.Set(3, "cells"), op2.Set(1, "one")).values.tolist()
    /// [[0], [0], [0]]
    #[staticmethod]
    #[pyo3(signature = (iterset, toset, name=None))]
    fn to_first(iterset: &Bound<'_, PyAny>, toset: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>) -> Result<Map> {
        let (iterset, toset, name) = (Set::of(iterset)?, Set::of(toset)?, name_of(name, "map")?);
        let inner = Some(mesh::Map::to_first(iterset.get().mesh(), toset.get().mesh(), name.as_str())?);
        Ok(Map { made: inner, iterset: iterset.clone().unbind(), toset: toset.clone().unbind(), arity: 1, name })
    }

    /// How far the target of each slot moves from a cell of an extruded set to the next above it, if it does.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let moves = self.mesh().and_then(mesh::Map::moves);
        moves.map(|moves| integers_array(py, moves.offsets())).transpose()
    }

    /// By how many cells of a periodic column the target of each slot is above its cell, if any is.
    #[getter]
    fn offset_quotient<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let quotients = self.mesh().and_then(mesh::Map::moves).and_then(mesh::Moves::quotients);
        quotients.map(|quotients| integers_array(py, quotients)).transpose()
    }

    /// The number of elements of `iterset` with the ghosts, and the arity.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.iterset.get().mesh().sizes().total, self.arity)
    }

    /// The values for the elements of this process, read-only.
    #[getter]
    fn values<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Map::view(slf, slf.get().iterset.get().mesh().size())
    }

    /// The values for all elements, ghosts and all.
    #[getter]
    fn values_with_halo<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Map::view(slf, slf.get().iterset.get().mesh().sizes().total)
    }

    /// A number for each element of `toset`, such that the targets of one element of `iterset` have nearby numbers.
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

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let leads_through_others = slf.is_instance_of::<PermutedMap>() || slf.is_instance_of::<ComposedMap>();
        let values = if leads_through_others { None } else { Map::values(slf).ok() };
        html(slf.py(), "mesh_map", (slf, values))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let (from, to) = (self.iterset.bind(py).repr()?, self.toset.bind(py).repr()?);
        let values = if self.made.is_some() { "..." } else { "None" };
        Ok(format!("Map({from}, {to}, {}, {values}, {})", self.arity, PyString::new(py, &self.name).repr()?))
    }
}
