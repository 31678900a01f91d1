//! `_Profile`: what `parloop.profile` measures with.

use parloop_device as dev;
use parloop_device::forked::{Guard, Lock};
use parloop_kernel::KernelError;
use pyo3::prelude::*;

use crate::error::Result;

/// Device, name, calls, seconds, bytes and operations.
type Row = (String, String, u64, f64, Option<u64>, Option<u64>);

/// Measures everything that is launched from its making until it is stopped.
#[pyclass(frozen, module = "parloop._parloop", name = "_Profile")]
pub struct Profile {
    state: Lock<State>,
}

struct State {
    /// None once it is stopped.
    running: Option<dev::Profile>,
    rows: Vec<Row>,
}

impl State {
    fn refresh(&mut self) -> Result<()> {
        if let Some(running) = &self.running {
            let rows = running.rows().map_err(KernelError::from)?;
            let row = |(device, name, row): (dev::DeviceId, String, dev::ProfileRow)| {
                (device.to_string(), name, row.calls, row.seconds, row.bytes, row.flops)
            };
            self.rows = rows.into_iter().map(row).collect();
        }
        Ok(())
    }
}

impl Profile {
    fn state(&self) -> Guard<'_, State> {
        self.state.lock_or(|| State { running: None, rows: Vec::new() })
    }
}

#[pymethods]
impl Profile {
    #[new]
    fn new() -> Profile {
        Profile { state: Lock::new(State { running: Some(dev::Profile::start()), rows: Vec::new() }) }
    }

    /// What was launched so far, the longest first; waits for what is queued.
    fn rows(&self, py: Python<'_>) -> Result<Vec<Row>> {
        py.detach(|| {
            let mut state = self.state();
            state.refresh()?;
            Ok(state.rows.clone())
        })
    }

    /// Ends it; waits for what is queued.
    fn stop(&self, py: Python<'_>) -> Result<()> {
        py.detach(|| {
            let mut state = self.state();
            let refreshed = state.refresh();
            state.running = None;
            refreshed
        })
    }
}
