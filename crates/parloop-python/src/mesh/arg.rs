//! `parloop.mesh.Arg`: which data a loop gets, how it is reached and what is done with it.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::access::Access;
use super::map::Map;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::number::describe;

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

/// The arguments that were given, and their data.
fn given<'py>(args: &Bound<'py, PyAny>) -> Result<(Vec<mesh::Arg>, Bound<'py, PyTuple>)> {
    let (mut found, mut data) = (Vec::new(), Vec::new());
    for arg in args.try_iter()? {
        let arg = arg?;
        let given = arg.cast::<Arg>().map_err(|_| {
            Exception::DatTypeError
                .error(format!("a part of an argument must be data with an access, such as dat(op2.READ), not {}", describe(&arg)))
        })?;
        found.push(given.get().inner.clone());
        data.push(given.get().data.clone_ref(args.py()));
    }
    Ok((found, PyTuple::new(args.py(), data)?))
}

impl Arg {
    /// One argument of several.
    fn of_parts(inner: mesh::Arg, data: &Bound<'_, PyTuple>) -> Arg {
        let access = inner.access().into();
        Arg { inner, data: data.clone().into_any().unbind(), access, map: None }
    }
}

#[pymethods]
impl Arg {
    /// Several arguments as one: the kernel gets their values one after another.
    ///
    /// >>> import parloop.mesh as op2
    /// >>> cells = op2.Set(1, "cells")
    /// >>> x, y = op2.Dat(cells ** 2), op2.Dat(cells)
    /// >>> number = op2.Kernel("void number(double *xy) { xy[0] = 1; xy[1] = 2; xy[2] = 3; }", "number")
    /// >>> op2.par_loop(number, cells, op2.Arg.mixed([x(op2.WRITE), y(op2.WRITE)]))
    /// >>> x.data_ro.tolist(), y.data_ro.tolist()
    /// ([[1.0, 2.0]], [3.0])
    #[staticmethod]
    fn mixed(args: &Bound<'_, PyAny>) -> Result<Arg> {
        let (found, data) = given(args)?;
        Ok(Arg::of_parts(mesh::Arg::mixed(found)?, &data))
    }

    /// Several matrix arguments as one, given row by row: the kernel gets them as one block matrix.
    #[staticmethod]
    fn grid(rows: &Bound<'_, PyAny>) -> Result<Arg> {
        let (mut found, mut data) = (Vec::new(), Vec::new());
        for row in rows.try_iter()? {
            let (args, of_row) = given(&row?)?;
            found.push(args);
            data.push(of_row);
        }
        Ok(Arg::of_parts(mesh::Arg::grid(found)?, &PyTuple::new(rows.py(), data)?))
    }

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

    /// The map through which the data is accessed; `None` for direct access.
    #[getter]
    fn map<'py>(&self, py: Python<'py>) -> Option<Bound<'py, Map>> {
        self.map.as_ref().map(|map| map.bind(py).clone())
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let (data, access) = (self.inner.name(), mesh::Access::from(self.access).name());
        Ok(match &self.map {
            Some(map) => format!("{data}({access}, {})", map.bind(py).getattr("name")?),
            None => format!("{data}({access})"),
        })
    }
}
