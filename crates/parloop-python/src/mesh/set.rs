//! `parloop.mesh.Set` and `parloop.mesh.Subset`.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::given::{Integers, integer, integers_array, name_of};
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::html::html;
use crate::ndarray::{NdArray, as_array};
use crate::number::describe;

/// Elements of one kind: nodes, edges, cells. They are only counted.
///
/// The size is an integer or, where a process has only a part of a mesh, three: the core, which touches nothing of other processes, with
/// the other elements that the process owns, and with the ghosts behind them. Loops run over the owned elements.
///
/// >>> import parloop.mesh as op2
/// >>> cells = op2.Set(100, "cells")
/// >>> cells.size
/// 100
/// >>> cells(7, 3, 3).indices
/// array([3, 7], dtype=int32)
/// >>> cells ** 2
/// DataSet(Set(100, 'cells'), 2)
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Set {
    /// As it was made.
    made: mesh::Set,
    /// The set that a subset is of.
    pub superset: Option<Py<PyAny>>,
}

/// Some elements of a set: each once, ascending.
///
/// >>> import parloop.mesh as op2
/// >>> cells = op2.Set(10, "cells")
/// >>> some, others = op2.Subset(cells, [2, 3, 5]), op2.Subset(cells, [3, 4])
/// >>> some.union(others).indices
/// array([2, 3, 4, 5], dtype=int32)
#[pyclass(frozen, subclass, extends = Set, module = "parloop.mesh")]
pub struct Subset;

impl Set {
    pub fn around(made: mesh::Set, superset: Option<Py<PyAny>>) -> Set {
        Set { made, superset }
    }

    /// The set or, once it is distributed, the part of it that this process has.
    pub fn mesh(&self) -> &mesh::Set {
        self.made.current()
    }

    /// The set that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Set>> {
        object.cast::<Set>().map_err(|_| Exception::SetTypeError.error(format!("expected a Set, not {}", describe(object))).into())
    }

    /// The set that a subset is of, or itself.
    fn base<'py>(slf: &Bound<'py, Set>) -> Bound<'py, PyAny> {
        slf.get().superset.as_ref().map_or_else(|| slf.as_any().clone(), |superset| superset.bind(slf.py()).clone())
    }

    /// The object for a set that the algebra gave: one that is there already, where it has the same elements.
    fn result<'py>(made: mesh::Set, slf: &Bound<'py, Set>, other: &Bound<'py, Set>) -> Result<Bound<'py, PyAny>> {
        let base = Set::base(slf);
        // Of a distributed set, other processes may have other elements: each would decide differently, and loops over a set and over a
        // subset exchange different things.
        if made.halo().is_none() {
            if made.sizes().total == made.base().sizes().total {
                return Ok(base);
            }
            for known in [slf, other] {
                if known.get().mesh().indices() == made.indices() {
                    return Ok(known.as_any().clone());
                }
            }
        }
        subset_object(made, base)
    }
}

fn subset_object<'py>(made: mesh::Set, superset: Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let py = superset.py();
    let parts = PyClassInitializer::from(Set { made, superset: Some(superset.unbind()) }).add_subclass(Subset);
    Ok(Bound::new(py, parts)?.into_any())
}

fn sizes_of(size: &Bound<'_, PyAny>, name: &str) -> Result<mesh::Sizes> {
    let wrong = || -> Error {
        let found = size.repr().map_or_else(|_| describe(size), |text| text.to_string());
        let message = format!("the size of set `{name}` must be an integer or three of them (core, owned, total), not {found}");
        Exception::SizeTypeError.error(message).into()
    };
    let count = |value: i64| {
        let message = || Exception::SetValueError.error(format!("set `{name}` cannot have {value} elements; a size must be at least 0"));
        usize::try_from(value).map_err(|_| Error::from(message()))
    };
    if let Some(size) = integer(size) {
        let size = count(size)?;
        return Ok(mesh::Sizes { core: size, owned: size, total: size });
    }
    if size.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let mut sizes = Vec::new();
    for item in size.try_iter().map_err(|_| wrong())? {
        sizes.push(count(integer(&item?).ok_or_else(wrong)?)?);
    }
    match sizes[..] {
        [core, owned, total] => Ok(mesh::Sizes { core, owned, total }),
        _ => Err(wrong()),
    }
}

fn indices_of(set: &mesh::Set, indices: &Bound<'_, PyAny>) -> Result<Vec<i64>> {
    let wrong =
        |found: String| Exception::IndexTypeError.error(format!("elements of set `{}` must be integers, not {found}", set.name())).into();
    let integers = Integers::of(indices, wrong)?;
    let mut chosen = Vec::with_capacity(integers.len()?);
    integers.each(&mut |_, value| {
        // A value that does not fit is out of bounds of every set; the message shows the nearest value that fits.
        chosen.push(i64::try_from(value).unwrap_or(i64::MAX));
        Ok(())
    })?;
    Ok(chosen)
}

#[pymethods]
impl Set {
    #[new]
    #[pyo3(signature = (size, name=None))]
    fn new(size: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>) -> Result<Set> {
        let name = name_of(name, "set")?;
        Ok(Set { made: mesh::Set::with_sizes(sizes_of(size, &name)?, name)?, superset: None })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.mesh().name()
    }

    /// How many elements touch nothing of other processes.
    #[getter]
    fn core_size(&self) -> usize {
        self.mesh().sizes().core
    }

    /// How many elements are of this process.
    #[getter]
    fn size(&self) -> usize {
        self.mesh().sizes().owned
    }

    /// How many elements there are with the ghosts.
    #[getter]
    fn total_size(&self) -> usize {
        self.mesh().sizes().total
    }

    /// The three sizes: core, owned, total.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        let sizes = self.mesh().sizes();
        (sizes.core, sizes.owned, sizes.total)
    }

    /// The numbers of its elements: of a set `range(total_size)`, of a subset an array.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let Some(indices) = self.mesh().indices() else {
            return Ok(py.import("builtins")?.getattr("range")?.call1((self.mesh().sizes().total,))?);
        };
        integers_array(py, indices)
    }

    /// The elements with these numbers.
    #[pyo3(signature = (*indices))]
    fn __call__<'py>(slf: &Bound<'py, Self>, indices: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>> {
        let only = if indices.len() == 1 { Some(indices.get_item(0)?) } else { None };
        let chosen = match only.filter(|only| integer(only).is_none()) {
            Some(only) => only,
            None => as_array(PyList::new(slf.py(), indices)?.as_any(), None)?,
        };
        let inner = slf.get().mesh().subset(&indices_of(slf.get().mesh(), &chosen)?)?;
        subset_object(inner, Set::base(slf))
    }

    /// The elements that are in either.
    fn union<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let other = Set::of(other)?;
        Set::result(slf.get().mesh().union(other.get().mesh())?, slf, other)
    }

    /// The elements that are in both.
    fn intersection<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let other = Set::of(other)?;
        Set::result(slf.get().mesh().intersection(other.get().mesh())?, slf, other)
    }

    /// The elements that are in this one and not in the other.
    fn difference<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let other = Set::of(other)?;
        Set::result(slf.get().mesh().difference(other.get().mesh())?, slf, other)
    }

    /// The elements that are in just one of the two.
    fn symmetric_difference<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let other = Set::of(other)?;
        Set::result(slf.get().mesh().symmetric_difference(other.get().mesh())?, slf, other)
    }

    /// A set is one part, as opposed to mixed ones: it gives itself.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(PyTuple::new(slf.py(), [slf])?.try_iter()?.into_any())
    }

    /// One: the number of its parts.
    fn __len__(&self) -> usize {
        1
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "mesh_set", (slf,))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> Result<String> {
        let this = slf.get();
        if let Some(superset) = &this.superset {
            return Ok(format!("<Subset of {}: {} elements>", superset.bind(slf.py()).repr()?, this.mesh().sizes().total));
        }
        let (name, sizes) = (PyString::new(slf.py(), this.mesh().name()).repr()?, this.mesh().sizes());
        Ok(match sizes.core == sizes.total {
            true => format!("Set({}, {name})", sizes.total),
            false => format!("Set(({}, {}, {}), {name})", sizes.core, sizes.owned, sizes.total),
        })
    }
}

#[pymethods]
impl Subset {
    #[new]
    fn new(superset: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>) -> Result<PyClassInitializer<Subset>> {
        let set = Set::of(superset)?;
        if !(indices.is_instance_of::<PyList>() || indices.is_instance_of::<PyTuple>() || NdArray::of(indices)?.is_some()) {
            let message = format!("the elements of a subset must be a list, a tuple or an array, not {}", describe(indices));
            return Err(Exception::IndexTypeError.error(message).into());
        }
        let inner = set.get().mesh().subset(&indices_of(set.get().mesh(), indices)?)?;
        Ok(PyClassInitializer::from(Set { made: inner, superset: Some(Set::base(set).unbind()) }).add_subclass(Subset))
    }

    /// The set whose elements these are; never a subset itself.
    #[getter]
    fn superset<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyAny> {
        Set::base(slf.as_super())
    }

    /// The numbers of those elements that are of this process.
    #[getter]
    fn owned_indices<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let set = slf.as_super().get();
        let slice = pyo3::types::PySlice::new(slf.py(), 0, set.mesh().sizes().owned as isize, 1);
        Ok(set.indices(slf.py())?.get_item(slice)?)
    }
}
