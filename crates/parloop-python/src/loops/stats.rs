//! What kernels do, and how fast the last call did it, as numbers for Python.

use std::collections::BTreeMap;

use parloop_loop::prepare::prepare;
use parloop_loop::stats::{Count, Direction, Work};
use parloop_loop::syntax::Program;
use parloop_loop::{Name, run::target_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::compiled::{lock, with_types};
use super::program::LoopProgram;
use crate::error::Result;

/// Seconds, sizes, the device, and the program with its types.
type Said<'py> = (f64, BTreeMap<String, i64>, String, Bound<'py, LoopProgram>);

fn work_of(program: &Program, entry: &Name) -> Result<Work> {
    let mut only = program.clone();
    only.entrypoints.retain(|name| name == entry);
    let prepared = prepare(&only, program.target.unwrap_or(parloop_loop::syntax::Target::C))?;
    let kernel = prepared.kernel(entry).ok_or_else(|| parloop_loop::error::LoopError::NoEntry { names: Vec::new() })?;
    Ok(Work::of(&prepared, kernel)?)
}

/// The number for these sizes, and whether it is exact; without sizes only its text.
fn counted<'py>(py: Python<'py>, count: &Count, sizes: Option<&BTreeMap<String, i64>>) -> Result<Bound<'py, PyAny>> {
    let numbers = match sizes {
        Some(sizes) => {
            let found = count.evaluate(&|name| sizes.get(name.as_str()).copied()).map_err(parloop_loop::error::LoopError::from)?;
            Some((found.value, found.exact))
        }
        None => None,
    };
    Ok((count.to_string(), numbers).into_pyobject(py)?.into_any())
}

#[pymethods]
impl LoopProgram {
    /// Operations as `(kind, dtype, (text, numbers))`, accesses and footprints as `(array, dtype, direction, (text, numbers))`.
    #[pyo3(signature = (sizes=None))]
    fn _work<'py>(&self, py: Python<'py>, sizes: Option<BTreeMap<String, i64>>) -> Result<Bound<'py, PyDict>> {
        let work = work_of(&self.inner, self.inner.only_entry()?)?;
        let said = PyDict::new(py);
        let mut operations = Vec::new();
        for ((operation, dtype), count) in &work.operations {
            operations.push((operation.to_string(), dtype.name(), counted(py, count, sizes.as_ref())?));
        }
        let way = |direction: &Direction| if *direction == Direction::Load { "load" } else { "store" };
        let (mut accesses, mut footprints) = (Vec::new(), Vec::new());
        for ((array, direction), count) in &work.accesses {
            accesses.push((array.to_string(), work.types[array].name(), way(direction), counted(py, count, sizes.as_ref())?));
        }
        for ((array, direction), count) in &work.footprints {
            let count = count.as_ref().map(|count| counted(py, count, sizes.as_ref())).transpose()?;
            footprints.push((array.to_string(), work.types[array].name(), way(direction), count));
        }
        said.set_item("operations", operations)?;
        said.set_item("accesses", accesses)?;
        said.set_item("footprints", footprints)?;
        Ok(said)
    }

    /// The last call: seconds, sizes, the device, and the program with the types it was called with; `None` before the first.
    fn _last_call<'py>(&self, py: Python<'py>) -> Result<Option<Said<'py>>> {
        let last = lock(&self.last);
        let Some(last) = &*last else { return Ok(None) };
        let seconds = match &last.events {
            None => last.took.as_secs_f64(),
            Some((start, end)) => {
                end.wait().map_err(parloop_kernel::KernelError::from)?;
                end.since(start).map_err(parloop_kernel::KernelError::from)?
            }
        };
        let compiled = &last.known.compiled;
        let sizes = compiled.executable().plan().sizes(&last.known.sizes).map(|(name, value)| (name.to_string(), value)).collect();
        let kernel = self.inner.kernel(compiled.entry());
        let mut typed = kernel.map_or_else(|| (*self.inner).clone(), |kernel| with_types(&self.inner, kernel, compiled.types()));
        typed.entrypoints.retain(|name| name == compiled.entry());
        typed.target = Some(target_of(compiled.context().device().kind()));
        let device = compiled.context().device().id().to_string();
        Ok(Some((seconds, sizes, device, Bound::new(py, LoopProgram::new(typed))?)))
    }
}
