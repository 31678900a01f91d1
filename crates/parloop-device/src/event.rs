//! Events: points in the order of a stream, to wait for and to measure between.

use std::fmt;
use std::sync::Arc;

use crate::backend::RawEvent;
use crate::device::Device;
use crate::error::Result;

/// A point in the order of a stream. Clones are the same event.
#[derive(Clone)]
pub struct Event {
    pub(crate) device: Device,
    pub(crate) raw: Arc<dyn RawEvent>,
}

impl Event {
    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The driver's handle; 0 where there is none.
    pub fn handle(&self) -> u64 {
        self.raw.handle()
    }

    /// Whether all work before the event is done.
    ///
    /// # Errors
    /// [`DeviceError::EventNotRecorded`](crate::DeviceError::EventNotRecorded), or the failure of that work.
    pub fn query(&self) -> Result<bool> {
        self.raw.query()
    }

    /// Waits until all work before the event is done.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn wait(&self) -> Result<()> {
        let raw = self.raw.clone();
        self.device.wait(Some(&|| self.raw.query()), move || raw.wait())
    }

    /// Seconds on the device between `earlier` and this event; waits for both.
    ///
    /// # Errors
    /// As [`query`](Self::query), and when the events are of different devices.
    pub fn since(&self, earlier: &Event) -> Result<f64> {
        self.device.check_same(&earlier.device, "time between events")?;
        earlier.wait()?;
        self.wait()?;
        self.raw.seconds_since(&*earlier.raw)
    }
}

impl Device {
    /// An event that is not recorded yet.
    ///
    /// # Errors
    /// When the driver cannot make one.
    pub fn create_event(&self) -> Result<Event> {
        Ok(Event { device: self.clone(), raw: self.raw.create_event()? })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.query() {
            Ok(true) => "done",
            Ok(false) => "pending",
            Err(_) => "not recorded",
        };
        write!(f, "<Event on {}: {state}>", self.device.id())
    }
}
