//! `parloop.mesh.Arg`: which data a loop gets, how it is reached and what is done with it.

use parloop_mesh as mesh;
use pyo3::prelude::*;

use super::access::Access;
use super::map::Map;
use crate::error::Result;

/// An argument of a loop: `dat(op2.INC, map)`, `dat(op2.READ)`, `total(op2.INC)`.
#[pyclass(frozen, subclass, module = "parloop.mesh")]
pub struct Arg {
    pub inner: mesh::Arg,
    data: Py<PyAny>,
    access: Access,
    map: Option<Py<Map>>,
}

impl Arg {
    pub fn new(inner: mesh::Arg, data: &Bound<'_, PyAny>, access: Access, map: Option<&Bound<'_, Map>>) -> Arg {
        Arg { inner, data: data.clone().unbind(), access, map: map.map(|map| map.clone().unbind()) }
    }
}

#[pymethods]
impl Arg {
    /// The data.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.data.bind(py).clone()
    }

    /// What the kernel does with it.
    #[getter]
    fn access(&self) -> Access {
        self.access
    }

    /// The map through which elements lead to the data; `None` is directly.
    #[getter]
    fn map<'py>(&self, py: Python<'py>) -> Option<Bound<'py, Map>> {
        self.map.as_ref().map(|map| map.bind(py).clone())
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let (data, access) = (self.data.bind(py).getattr("name")?, mesh::Access::from(self.access).name());
        Ok(match &self.map {
            Some(map) => format!("{data}({access}, {})", map.bind(py).getattr("name")?),
            None => format!("{data}({access})"),
        })
    }
}
