//! `parloop.mesh.solve`: systems of equations, on the current context.

use std::time::{Duration, Instant};

use parloop_device::interrupt;
use parloop_mesh::{self as mesh, Method, Preconditioner, SolveOptions};
use pyo3::prelude::*;

use super::dat::Dat;
use super::mat::Mat;
use crate::context::current_context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::released::released;

/// How often `watch` and signals are looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// The result of solving a system: whether it converged, and the residual norms.
#[pyclass(frozen, get_all, module = "parloop.mesh")]
pub struct Solution {
    /// Whether the residual of `x` became small enough.
    converged: bool,
    /// How many iterations were done.
    iterations: usize,
    /// The norm of the residual before the first iteration and after each. The first and the last are those of `b - A x`; the method
    /// estimates the others.
    residuals: Vec<f64>,
}

#[pymethods]
impl Solution {
    fn __repr__(&self) -> String {
        let what = if self.converged { "converged" } else { "not converged" };
        let last = self.residuals.last().copied().unwrap_or(f64::NAN);
        format!("<Solution: {what} after {} iterations, residual {last:.3e}>", self.iterations)
    }
}

/// Solves with a grid of matrices on the current context; `watch` is called periodically with the iteration number and the residual.
#[pyfunction]
#[pyo3(name = "_solve", signature = (name, blocks, x, b, method, preconditioner, rtol, atol, iterations, restart, watch))]
#[allow(clippy::too_many_arguments)]
pub fn solve<'py>(
    name: &str,
    blocks: Vec<Vec<Bound<'py, Mat>>>,
    x: Vec<Bound<'py, PyAny>>,
    b: Vec<Bound<'py, PyAny>>,
    method: &str,
    preconditioner: Option<&str>,
    rtol: Option<f64>,
    atol: f64,
    iterations: i64,
    restart: i64,
    watch: &Bound<'py, PyAny>,
) -> Result<Solution> {
    let py = watch.py();
    let method = match method {
        "cg" => Method::Cg,
        "gmres" => Method::Gmres,
        other => return wrong(format!("unknown method {other:?}; use \"cg\" or \"gmres\"")),
    };
    let preconditioner = match preconditioner {
        Some("jacobi") => Preconditioner::Jacobi,
        None | Some("none") => Preconditioner::None,
        Some(other) => return wrong(format!("unknown preconditioner {other:?}; use \"jacobi\" or None")),
    };
    let Ok(iterations) = usize::try_from(iterations) else {
        return wrong(format!("maxiter is {iterations}, but must be at least 0"));
    };
    let Some(restart) = usize::try_from(restart).ok().filter(|&restart| restart > 0) else {
        return wrong(format!("restart is {restart}, but must be at least 1"));
    };
    let options = SolveOptions { method, preconditioner, rtol, atol, iterations, restart };
    let blocks: Vec<Vec<mesh::Mat>> = blocks.iter().map(|row| row.iter().map(|block| block.get().inner.clone()).collect()).collect();
    let dats =
        |parts: &[Bound<'py, PyAny>]| parts.iter().map(|part| Ok(Dat::of(part)?.get().mesh().clone())).collect::<Result<Vec<mesh::Dat>>>();
    let (x, b, context) = (dats(&x)?, dats(&b)?, current_context(py)?);
    let (context, watch) = (&context.get().inner, watch.clone().unbind());
    let (mut last, mut raised) = (Instant::now(), None);
    let solution = released(py, || {
        let system = mesh::MixedSystem { name, blocks: &blocks, x: &x, b: &b };
        mesh::solve_mixed(system, options, context, |iteration, residual| {
            if last.elapsed() < PAUSE {
                return true;
            }
            last = Instant::now();
            let seen = Python::attach(|py| {
                py.check_signals().inspect(|()| interrupt::note_call()).and_then(|()| watch.call1(py, (iteration, residual)).map(drop))
            });
            raised = seen.err();
            raised.is_none()
        })
    });
    if let Some(error) = raised {
        return Err(error.into());
    }
    let solution = solution?;
    Ok(Solution { converged: solution.converged, iterations: solution.iterations(), residuals: solution.residuals })
}

fn wrong<T>(message: String) -> Result<T> {
    Err(Exception::DataValueError.error(message).into())
}
