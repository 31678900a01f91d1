//! `parloop.CompiledKernel`, as data. `call.rs` calls it.

use parloop_kernel as ker;
use parloop_kernel::Checker;
use parloop_object as obj;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::grid::GridRule;

/// A compiled kernel; call it with its arguments by position or by name.
#[pyclass(frozen, subclass, name = "CompiledKernel", module = "parloop")]
pub struct Kernel {
    pub inner: ker::Kernel,
    pub names: Vec<Py<PyString>>,
    pub rule: GridRule,
    /// The types of the objects that it takes, where they are known.
    pub classes: Vec<Option<obj::Type>>,
}

impl Kernel {
    pub fn new(py: Python<'_>, inner: ker::Kernel, rule: GridRule, classes: Vec<Option<obj::Type>>) -> Kernel {
        let names = inner.signature().params.iter().map(|param| PyString::intern(py, &param.name).unbind()).collect();
        Kernel { inner, names, rule, classes }
    }

    pub fn checker(&self, index: usize) -> Checker<'_> {
        Checker { signature: self.inner.signature(), index }
    }
}
