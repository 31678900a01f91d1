//! `LoopProgram`: kernels and what they call, as Python sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use parloop_loop::Name;
use parloop_loop::error::LoopError;
use parloop_loop::infer;
use parloop_loop::prepare::{Generated, generate, prepare};
use parloop_loop::syntax::{LoopKernel, Preamble, Program, Target};
use parloop_loop::transform::{self, TransformError, TransformStep, apply};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::callable::{PyCallable, PyLookup};
use super::compiled::Compiled;
use super::options::{change_options, target, type_given};
use super::repeat::LastCall;
use super::value::step_value;
use super::{describe, doubts};
use crate::error::Result;

/// One program with the kernels and functions of all.
#[pyfunction]
#[pyo3(name = "_merge_loop_programs")]
pub fn merge_loop_programs(programs: Vec<Bound<'_, LoopProgram>>) -> Result<LoopProgram> {
    let merged = transform::merge(programs.iter().map(|program| &*program.get().inner))?;
    Ok(LoopProgram::new(merged))
}

/// One program of a kernel that does what the kernels of programs do, each given with its name; data flows as `(variable, from, to)`.
#[pyfunction]
#[pyo3(name = "_fuse_loop_kernels")]
pub fn fuse_loop_kernels(
    programs: Vec<(Bound<'_, LoopProgram>, String)>,
    suffixes: Vec<String>,
    flows: Vec<(String, usize, usize)>,
) -> Result<LoopProgram> {
    let mut kernels = Vec::with_capacity(programs.len());
    for (program, name) in &programs {
        kernels.push(program.get().kernel_named(name)?);
    }
    let suffixes: Vec<Name> = suffixes.iter().map(|suffix| suffix.as_str().into()).collect();
    let flows: Vec<transform::Flow> =
        flows.into_iter().map(|(variable, from, to)| transform::Flow { variable: variable.into(), from, to }).collect();
    let fused = transform::fuse_kernels(&kernels, &suffixes, &flows).map_err(|error| LoopError::from(TransformError::from(error)))?;
    // What they call comes along.
    let mut parts = Vec::with_capacity(programs.len());
    for (program, _) in &programs {
        let mut rest = (*program.get().inner).clone();
        rest.callables.retain(|name, _| !rest.entrypoints.contains(name));
        rest.entrypoints.clear();
        parts.push(rest);
    }
    let mut merged = transform::merge(&parts)?;
    merged.entrypoints = BTreeSet::from([fused.name.clone()]);
    Ok(LoopProgram::new(merged.with_kernel(fused)))
}

/// A program of loop kernels; transformations make others of it.
#[pyclass(frozen, subclass, name = "_LoopProgram", module = "parloop._parloop")]
pub struct LoopProgram {
    pub inner: Arc<Program>,
    /// What was compiled of it, the one used last in front.
    pub compiled: Mutex<Vec<Arc<Compiled>>>,
    /// The last call.
    pub last: Mutex<Option<LastCall>>,
    /// The kernels whose doubts were warned of.
    pub warned: Mutex<BTreeSet<Name>>,
}

impl LoopProgram {
    pub fn new(program: Program) -> LoopProgram {
        LoopProgram::around(Arc::new(program))
    }

    fn around(inner: Arc<Program>) -> LoopProgram {
        LoopProgram { inner, compiled: Mutex::default(), last: Mutex::default(), warned: Mutex::default() }
    }

    fn target_named(&self, name: Option<&str>) -> PyResult<Target> {
        Ok(match name {
            Some(name) => target(name)?,
            None => self.inner.target.unwrap_or(Target::C),
        })
    }

    /// The kernels that are called from outside; all, if none is said to be.
    fn entry_kernels(&self, program: &Program) -> Vec<LoopKernel> {
        let is_entry = |kernel: &&LoopKernel| self.inner.entrypoints.is_empty() || self.inner.entrypoints.contains(&kernel.name);
        program.callables.values().filter_map(|callable| callable.kernel()).filter(is_entry).cloned().collect()
    }

    fn kernel_named(&self, name: &str) -> Result<&LoopKernel> {
        self.inner.kernel(name).ok_or_else(|| PyKeyError::new_err(format!("the program has no kernel {name:?}")).into())
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
        LoopProgram::around(other.get().inner.clone())
    }

    /// Does the transformation of that name.
    fn _apply(&self, py: Python<'_>, name: &str, args: &Bound<'_, PyTuple>, named: &Bound<'_, PyDict>) -> Result<LoopProgram> {
        let args = args.iter().map(|value| step_value(&value)).collect::<PyResult<_>>()?;
        let keywords = named.iter().map(|(key, value)| Ok((key.extract::<String>()?.into(), step_value(&value)?)));
        let step = TransformStep { name: name.into(), args, keywords: keywords.collect::<PyResult<_>>()? };
        Ok(LoopProgram::new(py.detach(|| apply(&self.inner, &step))?))
    }

    /// The source for a target.
    #[pyo3(signature = (target=None, entry=None))]
    fn _code(&self, py: Python<'_>, target: Option<&str>, entry: Option<&str>) -> Result<String> {
        let generated = self.code_for(py, target, entry)?;
        doubts::warn(py, &self.warned, &generated, 1)?;
        Ok(generated.code.text)
    }

    /// The schedule for a target, as text.
    #[pyo3(signature = (target=None, entry=None))]
    fn _schedule(&self, py: Python<'_>, target: Option<&str>, entry: Option<&str>) -> Result<String> {
        Ok(self.code_for(py, target, entry)?.schedule.to_string())
    }

    /// The names of the functions that the host launches, in the order of the code.
    #[pyo3(signature = (target=None, entry=None))]
    fn _launches(&self, py: Python<'_>, target: Option<&str>, entry: Option<&str>) -> Result<Vec<String>> {
        let generated = self.code_for(py, target, entry)?;
        Ok(generated.code.launches.iter().map(|launch| launch.function.to_string()).collect())
    }

    /// With types for names of arguments and temporaries; returns the names that no kernel has, too.
    fn _with_types(&self, types: &Bound<'_, PyDict>) -> Result<(LoopProgram, Vec<String>)> {
        let mut program = (*self.inner).clone();
        let mut unknown = Vec::new();
        for (name, dtype) in types.iter() {
            let (name, dtype) = (name.extract::<String>()?, type_given(&dtype)?);
            let mut is_known = false;
            for mut kernel in self.entry_kernels(&program) {
                for argument in kernel.arguments.iter_mut().filter(|argument| argument.name == name.as_str()) {
                    argument.ty = Some(dtype.clone());
                    is_known = true;
                }
                if let Some(temporary) = kernel.temporaries.get_mut(name.as_str()) {
                    temporary.ty = Some(dtype.clone());
                    is_known = true;
                }
                program = program.with_kernel(kernel);
            }
            if !is_known {
                unknown.push(name);
            }
        }
        Ok((LoopProgram::new(program), unknown))
    }

    /// With other options.
    fn _with_options(&self, given: &Bound<'_, PyDict>) -> Result<LoopProgram> {
        let mut program = (*self.inner).clone();
        for mut kernel in self.entry_kernels(&self.inner) {
            change_options(&mut kernel.options, given)?;
            program = program.with_kernel(kernel);
        }
        Ok(LoopProgram::new(program))
    }

    /// With nothing promised of the parameters of its kernels.
    fn _without_assumptions(&self) -> LoopProgram {
        let mut program = (*self.inner).clone();
        for mut kernel in self.entry_kernels(&self.inner) {
            kernel.assumptions = parloop_loop::Set::universe(&[], &[]);
            program = program.with_kernel(kernel);
        }
        LoopProgram::new(program)
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

    /// Whether a call gives its results by name.
    #[getter]
    fn _returns_dict(&self) -> bool {
        self.entry_kernels(&self.inner).iter().any(|kernel| kernel.options.return_dict)
    }

    /// With the kernel of that name in the place of all calls of it.
    fn _inline(&self, py: Python<'_>, name: &str) -> Result<LoopProgram> {
        Ok(LoopProgram::new(py.detach(|| transform::inline_callable_kernel(&self.inner, name))?))
    }

    /// Which of these loops of a kernel may be fused: names with those that each stands for.
    fn _fusion_candidates(&self, name: &str, inames: Vec<String>, prefix: &str) -> Result<BTreeMap<String, Vec<String>>> {
        let candidates = inames.into_iter().map(Into::into).collect();
        let found = transform::get_kennedy_unweighted_fusion_candidates(self.kernel_named(name)?, &candidates, prefix);
        let groups = found.map_err(|error| LoopError::from(TransformError::from(error)))?.into_iter();
        Ok(groups.map(|(name, inames)| (name.to_string(), inames.iter().map(ToString::to_string).collect())).collect())
    }

    /// With those kernels, and no others, called from outside.
    fn _with_entrypoints(&self, names: Vec<String>) -> Result<LoopProgram> {
        Ok(LoopProgram::new(transform::with_entrypoints(&self.inner, names)?))
    }

    /// With a kernel of another program as a function of that name.
    fn _register_kernel(&self, name: &str, other: &LoopProgram, kernel: &str) -> Result<LoopProgram> {
        Ok(LoopProgram::new(transform::register_callable_kernel(&self.inner, name, other.kernel_named(kernel)?)?))
    }

    /// With a Python object as a function of that name.
    fn _register_callable(&self, py: Python<'_>, name: &str, object: Bound<'_, PyAny>, replace: bool) -> Result<LoopProgram> {
        let callable = Arc::new(PyCallable::new(name, object));
        Ok(LoopProgram::new(py.detach(|| transform::register_callable(&self.inner, name, callable, replace))?))
    }

    /// With a Python object that is asked for functions and symbols.
    fn _register_lookup(&self, py: Python<'_>, object: Bound<'_, PyAny>) -> Result<LoopProgram> {
        let lookup = Arc::new(PyLookup::new(object));
        Ok(LoopProgram::new(py.detach(|| transform::register_function_lookup(&self.inner, lookup))?))
    }

    /// With all calls resolved that can be, and all types that can be found; all must be found unless `partly`.
    fn _with_inferred_types(&self, py: Python<'_>, partly: bool) -> Result<LoopProgram> {
        let target = self.target_named(None)?;
        let infer = || if partly { infer::types_so_far(&self.inner, target) } else { infer::types(&self.inner, target) };
        Ok(LoopProgram::new(py.detach(infer).map_err(parloop_loop::error::LoopError::from)?))
    }

    /// After all that is done before a schedule is made.
    fn _prepared(&self, py: Python<'_>) -> Result<LoopProgram> {
        let target = self.target_named(None)?;
        Ok(LoopProgram::new(py.detach(|| prepare(&self.inner, target))?))
    }

    /// With a kernel of another program in the place of the one of its name.
    fn _with_kernel(&self, other: &LoopProgram, name: &str) -> Result<LoopProgram> {
        Ok(LoopProgram::new(self.inner.with_kernel(other.kernel_named(name)?.clone())))
    }

    /// With text in front of the code of its kernels.
    fn _with_preambles(&self, preambles: Vec<(String, String)>) -> Result<LoopProgram> {
        let mut program = (*self.inner).clone();
        for mut kernel in self.entry_kernels(&self.inner) {
            // SAFETY: C in Python programs is its author's business, as with `ctypes`.
            kernel.preambles.extend(preambles.iter().map(|(key, text)| unsafe { Preamble::new(key, text) }));
            program = program.with_kernel(kernel);
        }
        Ok(LoopProgram::new(program))
    }

    /// What the kernel of that name is made of.
    fn _describe<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyDict>> {
        Ok(describe::kernel(py, self.kernel_named(name)?)?)
    }

    /// The canonical text of the kernel of that name.
    fn _kernel_text(&self, name: &str) -> Result<String> {
        Ok(self.kernel_named(name)?.to_string())
    }

    /// The names of all that can be called: whether each is a kernel, and the Python object that it is.
    #[getter]
    fn _callables(&self, py: Python<'_>) -> Vec<(String, bool, Option<Py<PyAny>>)> {
        let object = |callable: &dyn std::any::Any| callable.downcast_ref::<PyCallable>().map(|callable| callable.object().clone_ref(py));
        let entry = |(name, callable): (&parloop_loop::Name, &Arc<dyn parloop_loop::callable::Callable>)| {
            (name.to_string(), callable.kernel().is_some(), object(callable.as_any()))
        };
        self.inner.callables.iter().map(entry).collect()
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
}
