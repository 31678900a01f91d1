//! `parloop.mesh.Access`: what a kernel does with an argument.

use parloop_mesh as mesh;
use pyo3::prelude::*;

use crate::error::Result;
use crate::exceptions::Exception;

/// What a kernel does with an argument: READ, WRITE, RW, INC, MIN or MAX.
#[pyclass(frozen, eq, hash, module = "parloop.mesh")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::upper_case_acronyms)] // they are the names of Python's constants
pub enum Access {
    READ,
    WRITE,
    RW,
    INC,
    MIN,
    MAX,
}

impl From<Access> for mesh::Access {
    fn from(access: Access) -> mesh::Access {
        match access {
            Access::READ => mesh::Access::Read,
            Access::WRITE => mesh::Access::Write,
            Access::RW => mesh::Access::Rw,
            Access::INC => mesh::Access::Inc,
            Access::MIN => mesh::Access::Min,
            Access::MAX => mesh::Access::Max,
        }
    }
}

impl From<mesh::Access> for Access {
    fn from(access: mesh::Access) -> Access {
        match access {
            mesh::Access::Read => Access::READ,
            mesh::Access::Write => Access::WRITE,
            mesh::Access::Rw => Access::RW,
            mesh::Access::Inc => Access::INC,
            mesh::Access::Min => Access::MIN,
            mesh::Access::Max => Access::MAX,
        }
    }
}

impl Access {
    /// The access that was given.
    pub fn of(object: &Bound<'_, PyAny>) -> Result<Access> {
        match object.cast::<Access>() {
            Ok(access) => Ok(*access.get()),
            Err(_) => Err(Exception::ModeValueError
                .error(format!("an access must be READ, WRITE, RW, INC, MIN or MAX, not {}", crate::number::describe(object)))
                .into()),
        }
    }
}

#[pymethods]
impl Access {
    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        mesh::Access::from(*self).name()
    }

    fn __repr__(&self) -> &'static str {
        self.name()
    }
}
