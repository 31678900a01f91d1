//! Which arrays a call of given sizes takes.

use std::collections::BTreeMap;

use parloop_loop::error::LoopError;
use parloop_loop::prepare::prepare;
use parloop_loop::run::{CallPlan, PlannedKind, RunError};
use parloop_loop::syntax::Target;
use pyo3::prelude::*;

use super::components::component_dtype;
use super::program::LoopProgram;
use crate::error::Result;
use crate::ndarray::numpy_dtype;

/// An array: its name, dtype, shape, and strides in elements, where they must be so.
type Layout<'py> = (String, Bound<'py, PyAny>, Vec<i64>, Vec<Option<i64>>);

/// A number that is not an integer: its name and dtype.
type Number<'py> = (String, Bound<'py, PyAny>);

#[pymethods]
impl LoopProgram {
    /// The arrays that a call with these integers takes and gives, the other numbers and the objects that it takes; all types must be
    /// known.
    fn _layouts<'py>(
        &self,
        py: Python<'py>,
        entry: &str,
        sizes: BTreeMap<String, i64>,
    ) -> Result<(Vec<Layout<'py>>, Vec<Number<'py>>, Vec<String>)> {
        let mut only = (*self.inner).clone();
        only.entrypoints.retain(|name| name == entry);
        let plan = py.detach(|| {
            let prepared = prepare(&only, only.target.unwrap_or(Target::C))?;
            let kernel = prepared.kernel(entry).ok_or_else(|| LoopError::NoEntry { names: Vec::new() })?;
            Ok::<_, LoopError>(CallPlan::of(kernel, &[])?)
        })?;
        let values = plan.values(|name| sizes.get(name.as_str()).copied());
        for arg in plan.args() {
            if let PlannedKind::Value { place: Some(place), .. } = arg.kind
                && values[place].is_none()
            {
                return Err(LoopError::from(RunError::Missing { kernel: plan.kernel().clone(), argument: arg.name.clone() }).into());
            }
        }
        let (mut arrays, mut numbers, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        for arg in plan.args() {
            let name = arg.name.to_string();
            match &arg.kind {
                PlannedKind::Array { dtype, .. } => {
                    let dtype = match &arg.components {
                        Some(ty) => component_dtype(py, ty)?,
                        None => numpy_dtype(py, *dtype)?,
                    };
                    let shape = plan.output_shape(arg, &values).map_err(LoopError::from)?.to_vec();
                    let strides = plan.output_strides(arg, &values).map_err(LoopError::from)?.to_vec();
                    arrays.push((name, dtype, shape, strides));
                }
                PlannedKind::Value { place: Some(_), .. } => {}
                PlannedKind::Value { dtype, place: None } => numbers.push((name, numpy_dtype(py, *dtype)?)),
                PlannedKind::Object { .. } => objects.push(name),
            }
        }
        Ok((arrays, numbers, objects))
    }
}
