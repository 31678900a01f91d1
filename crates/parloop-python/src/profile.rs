//! `_Profile`: what `parloop.profile` measures with.

use std::sync::{Mutex, MutexGuard};

use parloop_device as dev;
use parloop_kernel::KernelError;
use pyo3::prelude::*;

use crate::error::Result;

/// Device, name, calls, seconds, bytes and operations.
type Row = (String, String, u64, f64, Option<u64>, Option<u64>);

/// Measures everything that is launched from its making until it is stopped.
#[pyclass(frozen, module = "parloop._parloop", name = "_Profile")]
pub struct Profile {
    state: Mutex<State>,
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
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }
}

#[pymethods]
impl Profile {
    #[new]
    fn new() -> Profile {
        Profile { state: Mutex::new(State { running: Some(dev::Profile::start()), rows: Vec::new() }) }
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
