//! `parloop.mesh.solve`: systems of equations, on the current context.

use std::time::{Duration, Instant};

use parloop_mesh::{self as mesh, Method, Preconditioner, SolveOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::dat::Dat;
use super::mat::Mat;
use crate::context::current_context;
use crate::error::Result;

/// How often `watch` and signals are looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// What came of solving a system: whether the residual became small enough, and the norm of each.
#[pyclass(frozen, get_all, module = "parloop.mesh")]
pub struct Solution {
    /// Whether the residual became small enough.
    converged: bool,
    /// How many iterations were done.
    iterations: usize,
    /// The norm of the residual before the first iteration and after each.
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

/// Solves on the current context; `watch` is called now and then with the number of the iteration and the residual.
#[pyfunction]
#[pyo3(name = "_solve", signature = (mat, x, b, method, preconditioner, rtol, atol, iterations, restart, watch))]
#[allow(clippy::too_many_arguments)]
pub fn solve<'py>(
    mat: &Bound<'py, Mat>,
    x: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    method: &str,
    preconditioner: Option<&str>,
    rtol: f64,
    atol: f64,
    iterations: usize,
    restart: usize,
    watch: &Bound<'py, PyAny>,
) -> Result<Solution> {
    let py = mat.py();
    let method = match method {
        "cg" => Method::Cg,
        "gmres" => Method::Gmres,
        other => return Err(PyValueError::new_err(format!("unknown method {other:?}; the methods are \"cg\" and \"gmres\"")).into()),
    };
    let preconditioner = match preconditioner {
        Some("jacobi") => Preconditioner::Jacobi,
        None | Some("none") => Preconditioner::None,
        Some(other) => {
            return Err(PyValueError::new_err(format!("unknown preconditioner {other:?}; use \"jacobi\" or None")).into());
        }
    };
    let options = SolveOptions { method, preconditioner, rtol, atol, iterations, restart };
    let (mat, x, b, context) = (mat.get(), Dat::of(x)?.get(), Dat::of(b)?.get(), current_context(py)?);
    let (context, watch) = (&context.get().inner, watch.clone().unbind());
    let (mut last, mut raised) = (Instant::now(), None);
    let solution = py.detach(|| {
        mesh::solve(&mat.inner, &x.inner, &b.inner, options, context, |iteration, residual| {
            if last.elapsed() < PAUSE {
                return true;
            }
            last = Instant::now();
            let seen = Python::attach(|py| py.check_signals().and_then(|()| watch.call1(py, (iteration, residual)).map(drop)));
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
