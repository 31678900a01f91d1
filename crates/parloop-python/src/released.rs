//! Work without the interpreter's lock.

use parloop_device::interrupt;
use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// [`Python::detach`] for what launches kernels or waits for them. Python has seen the signals that came before, and sees those that come meanwhile
/// afterwards: a Ctrl-C counts for this work alone.
#[inline]
pub fn released<T: Ungil>(py: Python<'_>, work: impl Ungil + FnOnce() -> T) -> T {
    interrupt::note_call();
    let done = py.detach(work);
    interrupt::note_call();
    done
}

/// Has the thread on which Python handles signals hear Ctrl-C in kernels.
pub fn listen(py: Python<'_>) -> PyResult<()> {
    let main = py.import("threading")?.call_method0("main_thread")?.getattr("ident")?;
    // A main thread that does not run yet has none.
    if let Some(thread) = main.extract::<Option<usize>>()? {
        interrupt::listen(thread);
    }
    Ok(())
}
