//! `parloop.mesh.distribute_slices`: meshes of which each process has a slice.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::dat::Dat;
use super::dataset::DataSet;
use super::map::Map;
use super::processes::{Comm, report};
use super::set::Set;
use super::values::dtype_given;
use crate::error::Result;
use crate::exceptions::Exception;

/// A map: its name, the places of its sets, its arity, and its values as bytes of 32-bit integers.
type MapGiven<'py> = (String, usize, usize, usize, Bound<'py, PyBytes>);

/// Data: its name, the place of its set, its axes, its type, its bytes.
type DataGiven<'py> = (String, usize, Vec<usize>, Bound<'py, PyAny>, Bound<'py, PyBytes>);

/// By what elements are dealt out: the place of data, or the rank of each.
#[derive(FromPyObject)]
pub enum ByGiven {
    #[pyo3(transparent)]
    Coordinates(usize),
    #[pyo3(transparent)]
    Ranks(Vec<u32>),
}

/// Deals out a mesh that is given in slices; see `parloop.mesh.distribute_slices`, which checks and names everything.
#[pyfunction]
#[pyo3(name = "_distribute_slices")]
pub fn distribute_slices<'py>(
    sets: Vec<(String, usize)>,
    maps: Vec<MapGiven<'py>>,
    data: Vec<DataGiven<'py>>,
    set: usize,
    by: ByGiven,
    comm: &Bound<'py, Comm>,
) -> Result<Bound<'py, PyDict>> {
    let (py, comm) = (comm.py(), comm.get().mesh());
    let mut slices = mesh::MeshSlices::new(comm);
    for (name, size) in sets {
        slices.add_set(size, name);
    }
    for (name, from, to, arity, values) in maps {
        let values = values.as_bytes().chunks_exact(4).map(|value| i32::from_ne_bytes(value.try_into().expect("invariant: four bytes")));
        slices.add_map(from, to, arity, values.collect(), name);
    }
    for (name, on, axes, dtype, bytes) in data {
        let dtype = dtype_given(Some(&dtype))?.ok_or_else(|| Exception::DataTypeError.error(format!("data `{name}` has no type")))?;
        slices.add_data_bytes(on, &axes, dtype, bytes.as_bytes().to_vec(), name);
    }
    let by = match &by {
        ByGiven::Coordinates(data) => mesh::SlicesBy::Coordinates(*data),
        ByGiven::Ranks(ranks) => mesh::SlicesBy::Ranks(ranks),
    };
    let part = py.detach(|| slices.distribute(set, by))?;
    let sets = part.sets.into_iter().map(|set| Py::new(py, Set::around(set, None))).collect::<PyResult<Vec<_>>>()?;
    let object = |set: &mesh::Set| {
        let found = sets.iter().find(|object| object.get().mesh() == set);
        found.expect("invariant: maps and data are on these sets").clone_ref(py)
    };
    let mut maps = Vec::with_capacity(part.maps.len());
    for map in part.maps {
        let (from, to) = (object(map.from()), object(map.to()));
        maps.push(Py::new(py, Map::around(map, from, to))?);
    }
    let mut data = Vec::with_capacity(part.data.len());
    for dat in part.data {
        let dataset = DataSet::around(dat.dataset().clone(), object(dat.dataset().set()))?;
        data.push(Py::new(py, Dat::around(dat, Py::new(py, dataset)?))?);
    }
    let found = PyDict::new(py);
    found.set_item("sets", sets)?;
    found.set_item("maps", maps)?;
    found.set_item("data", data)?;
    found.set_item("distribution", report(py, &part.report, comm)?)?;
    Ok(found)
}
