//! One warning for each kernel in which the data decides whether an order is kept.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::Mutex;

use parloop_loop::Name;
use parloop_loop::matching::Glob;
use parloop_loop::prepare::Generated;
use parloop_loop::syntax::Target;
use pyo3::prelude::*;

use super::compiled::lock;

/// Warns of the accesses of generated code that are in doubt, unless it was done for the kernel. In checked mode a CPU decides them.
/// `frames` is the number of Python's own functions between the user and this call.
pub fn warn(py: Python<'_>, warned: &Mutex<BTreeSet<Name>>, generated: &Generated, frames: i32) -> PyResult<()> {
    let Generated { kernel, target, doubts, warnings, .. } = generated;
    if !warnings.is_empty() && lock(warned).insert(format!("{} (harmless?)", kernel.name).as_str().into()) {
        let category = py.import("parloop.loops._program")?.getattr("LoopWarning")?;
        for found in warnings {
            PyErr::warn(py, &category, &CString::new(format!("{}: {found}", kernel.name)).unwrap_or_default(), 1 + frames)?;
        }
    }
    if doubts.is_empty() || (kernel.options.is_checked() && *target == Target::C) {
        return Ok(());
    }
    let name = format!("order({})", kernel.name);
    if kernel.options.silenced.iter().any(|silenced| Glob::new(silenced).matches(&name)) {
        return Ok(());
    }
    if !lock(warned).insert(kernel.name.clone()) {
        return Ok(());
    }
    let accesses = doubts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let device = if *target == Target::C { "" } else { " on a CPU" };
    let message = format!("{name}: {accesses}; this depends on the data: call it with checked=True{device} to find out");
    let category = py.import("parloop.loops._program")?.getattr("LoopWarning")?;
    PyErr::warn(py, &category, &CString::new(message).unwrap_or_default(), 1 + frames)
}
