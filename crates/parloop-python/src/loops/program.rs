//! `LoopProgram`: kernels and what they call, as Python sees them.

use std::sync::{Arc, Mutex};

use parloop_loop::prepare::{Generated, generate};
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::{Step, apply};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::build::{change_options, element_type, target};
use super::call::Compiled;
use super::value::step_value;
use crate::error::Result;

/// A program of loop kernels; transformations make others of it.
#[pyclass(frozen, subclass, module = "parloop.loops")]
pub struct LoopProgram {
    pub inner: Arc<Program>,
    /// What was compiled of it, the one used last in front.
    pub compiled: Mutex<Vec<Arc<Compiled>>>,
}

impl LoopProgram {
    pub fn new(program: Program) -> LoopProgram {
        LoopProgram { inner: Arc::new(program), compiled: Mutex::new(Vec::new()) }
    }

    fn target_named(&self, name: Option<&str>) -> PyResult<Target> {
        Ok(match name {
            Some(name) => target(name)?,
            None => self.inner.target.unwrap_or(Target::C),
        })
    }

    fn code_for(&self, py: Python<'_>, name: Option<&str>, entry: Option<&str>) -> Result<Generated> {
        let target = self.target_named(name)?;
        let entry = match entry {
            Some(entry) => entry.to_owned(),
            None => self.inner.only_entry()?.to_string(),
        };
        Ok(py.detach(|| generate(&self.inner, &entry, target))?)
    }
}

#[pymethods]
impl LoopProgram {
    /// The same program, as an object of the class that is called.
    #[new]
    fn copy(other: &Bound<'_, LoopProgram>) -> LoopProgram {
        LoopProgram { inner: other.get().inner.clone(), compiled: Mutex::new(Vec::new()) }
    }

    /// Does the transformation of that name.
    fn _apply(&self, py: Python<'_>, name: &str, args: &Bound<'_, PyTuple>, named: &Bound<'_, PyDict>) -> Result<LoopProgram> {
        let args = args.iter().map(|value| step_value(&value)).collect::<PyResult<_>>()?;
        let keywords = named.iter().map(|(key, value)| Ok((key.extract::<String>()?.into(), step_value(&value)?)));
        let step = Step { name: name.into(), args, keywords: keywords.collect::<PyResult<_>>()? };
        Ok(LoopProgram::new(py.detach(|| apply(&self.inner, &step))?))
    }

    /// The source for a target.
    #[pyo3(signature = (target=None, entry=None))]
    fn _code(&self, py: Python<'_>, target: Option<&str>, entry: Option<&str>) -> Result<String> {
        Ok(self.code_for(py, target, entry)?.code.text)
    }

    /// The schedule for a target, as text.
    #[pyo3(signature = (target=None, entry=None))]
    fn _schedule(&self, py: Python<'_>, target: Option<&str>, entry: Option<&str>) -> Result<String> {
        Ok(self.code_for(py, target, entry)?.schedule.to_string())
    }

    /// With types for names of arguments and temporaries.
    fn _with_types(&self, types: &Bound<'_, PyDict>) -> Result<LoopProgram> {
        let mut program = (*self.inner).clone();
        let mut kernel = program.entry().ok_or_else(|| parloop_loop::error::LoopError::NoEntry { names: Vec::new() })?.clone();
        for (name, dtype) in types.iter() {
            let (name, dtype) = (name.extract::<String>()?, element_type(&dtype)?);
            for argument in &mut kernel.arguments {
                if argument.name == name.as_str() {
                    argument.ty = Some(dtype.into());
                }
            }
            if let Some(temporary) = kernel.temporaries.get_mut(name.as_str()) {
                temporary.ty = Some(dtype.into());
            }
        }
        program = program.with_kernel(kernel);
        Ok(LoopProgram::new(program))
    }

    /// With other options.
    fn _with_options(&self, given: &Bound<'_, PyDict>) -> Result<LoopProgram> {
        let mut program = (*self.inner).clone();
        for name in self.inner.entrypoints.clone() {
            if let Some(kernel) = self.inner.kernel(&name) {
                let mut kernel = kernel.clone();
                change_options(&mut kernel.options, given)?;
                program = program.with_kernel(kernel);
            }
        }
        Ok(LoopProgram::new(program))
    }

    /// With another target.
    fn _with_target(&self, name: &str) -> Result<LoopProgram> {
        let mut program = (*self.inner).clone();
        program.target = Some(target(name)?);
        Ok(LoopProgram::new(program))
    }

    /// The name of the target, if it was said.
    #[getter]
    fn _target(&self) -> Option<String> {
        self.inner.target.map(|target| target.to_string())
    }

    /// The names of the kernels that are called from outside.
    #[getter]
    fn _entrypoints(&self) -> Vec<String> {
        self.inner.entrypoints.iter().map(|name| name.to_string()).collect()
    }

    /// Whether both are the same.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<LoopProgram>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __str__(&self) -> String {
        let kernels = self.inner.callables.values().filter_map(|callable| callable.kernel());
        kernels.map(|kernel| kernel.to_string()).collect::<Vec<_>>().join("\n")
    }

    fn __repr__(&self) -> String {
        let names: Vec<String> = self.inner.entrypoints.iter().map(|name| name.to_string()).collect();
        format!("<loop program {}>", names.join(", "))
    }

    /// Runs it: `event, (out,) = knl(context, a=…)`.
    #[pyo3(signature = (*args, **named))]
    fn __call__<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> Result<Bound<'py, PyAny>> {
        super::call::call(slf, args, named)
    }
}
