//! `parloop.mesh.Kernel`: what is done for each element.

use std::path::PathBuf;

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Result;
use crate::exceptions::Exception;
use crate::html::html;
use crate::loops::LoopProgram;
use crate::number::describe;
use crate::program::language;

/// What is done for each element: a function in C or C++, or a loop kernel.
///
/// The function returns nothing and has a parameter for each argument of the loop, in order. A direct argument is a pointer to the numbers of
/// the element, one through a map either a pointer to pointers, `double **x` or `double *x[2]`, one for each element the map leads to, or
/// a pointer to all of them side by side. The source may have other functions, macros and constants.
///
/// Parameters
/// ----------
/// code : str or parloop.loops.Program
///     The source, or a program of loop kernels.
/// name : str, optional
///     The function's name; a program with one kernel needs none.
/// headers : sequence of str
///     Lines in front of the source, as ``#include <math.h>``.
/// include_dirs : sequence of path
///     Folders where included files are looked for.
/// opts : sequence of str
///     Further arguments for the compiler of a CPU.
/// cpp : bool
///     Whether the source is C++, which runs on cpu, cuda and hip. The function itself is a plain one: its parameters are pointers.
///
/// Examples
/// --------
/// >>> import parloop.mesh as op2
/// >>> op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice").name
/// 'twice'
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Kernel {
    pub inner: mesh::Kernel,
    code: Py<PyAny>,
}

impl Kernel {
    /// The kernel that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Kernel>> {
        object.cast::<Kernel>().map_err(|_| Exception::KernelTypeError.error(format!("expected a Kernel, not {}", describe(object))).into())
    }
}

#[pymethods]
impl Kernel {
    #[new]
    #[allow(clippy::too_many_arguments)] // the surface of one Python call; each goes to a field of the options
    #[pyo3(signature = (code, name=None, headers=vec![], include_dirs=vec![], opts=vec![], cpp=false))]
    fn new(
        py: Python<'_>,
        code: &Bound<'_, PyAny>,
        name: Option<&Bound<'_, PyAny>>,
        headers: Vec<String>,
        include_dirs: Vec<PathBuf>,
        opts: Vec<String>,
        cpp: bool,
    ) -> Result<Kernel> {
        let name = match name.filter(|name| !name.is_none()) {
            None => None,
            Some(name) => match name.cast::<PyString>() {
                Ok(name) => Some(name.to_str()?.to_owned()),
                Err(_) => return Err(Exception::NameTypeError.error(format!("a name must be a string, not {}", describe(name))).into()),
            },
        };
        let inner = if let Ok(source) = code.cast::<PyString>() {
            let missing = || Exception::NameTypeError.error("a kernel in C needs the name of its function".to_owned());
            let name = name.ok_or_else(missing)?;
            let options = mesh::KernelOptions { language: language(cpp), headers, include_dirs, arguments: opts };
            let source = source.to_str()?;
            // SAFETY: C in Python programs is its author's business, as with `ctypes`.
            py.detach(|| unsafe { mesh::Kernel::c(source, &name, &options) })?
        } else if let Ok(program) = code.cast::<LoopProgram>() {
            let program = &program.get().inner;
            let name = match name {
                Some(name) => name,
                None => program.only_entry()?.to_string(),
            };
            mesh::Kernel::from_program((**program).clone(), &name)?
        } else {
            let message = format!("the code of a kernel must be a string of C or a program of loop kernels, not {}", describe(code));
            return Err(Exception::KernelTypeError.error(message).into());
        };
        Ok(Kernel { inner, code: code.clone().unbind() })
    }

    /// The name of its function.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The source or program that it was made of.
    #[getter]
    fn code<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.code.bind(py).clone()
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        html(py, "source", (self.__repr__(), self.code.bind(py).str()?))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}
