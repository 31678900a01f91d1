//! CPU events: the moment at which they were recorded.

use std::time::Instant;

use crate::backend::RawEvent;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;
use crate::identity::DeviceId;

pub(super) struct CpuEvent {
    device: DeviceId,
    at: Lock<Option<Instant>>,
}

impl CpuEvent {
    pub(super) fn new(device: DeviceId) -> CpuEvent {
        CpuEvent { device, at: Lock::new(None) }
    }

    pub(super) fn record(&self) {
        *self.at.lock_or(|| None) = Some(Instant::now());
    }

    fn at(&self) -> Result<Instant> {
        let at = *self.at.lock_or(|| None);
        at.ok_or_else(|| DeviceError::EventNotRecorded { device: self.device.to_string() })
    }
}

impl RawEvent for CpuEvent {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn handle(&self) -> u64 {
        0
    }

    fn query(&self) -> Result<bool> {
        self.at().map(|_| true)
    }

    fn wait(&self) -> Result<()> {
        self.at().map(|_| ())
    }

    fn seconds_since(&self, earlier: &dyn RawEvent) -> Result<f64> {
        let end = self.at()?;
        match earlier.as_any().downcast_ref::<CpuEvent>() {
            Some(earlier) => {
                let start = earlier.at()?;
                let negative = start.saturating_duration_since(end).as_secs_f64();
                Ok(end.saturating_duration_since(start).as_secs_f64() - negative)
            }
            None => Err(DeviceError::EventNotRecorded { device: self.device.to_string() }),
        }
    }
}
