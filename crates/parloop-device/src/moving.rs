//! Growable memory of a device that has one address for each piece: it grows by moving, while nobody holds its address.

use std::sync::Arc;

use crate::backend::{Growable, Location, RawDevice, RawGrowable, RawMemory, RawStream};
use crate::error::{DeviceError, Result};
use crate::forked::{Guard, Lock};

/// The memory of the moment.
pub(crate) struct Moving {
    state: Lock<State>,
}

struct State {
    /// `None` is memory of length zero.
    memory: Option<Arc<dyn RawMemory>>,
    holds: usize,
}

impl Moving {
    /// Growable memory of `len` bytes, which may be zero.
    pub(crate) fn allocate(device: &dyn RawDevice, len: usize) -> Result<Arc<Growable>> {
        let memory = if len == 0 { None } else { Some(device.allocate(len)?) };
        let place = Location::new(memory.as_ref().map_or(0, |memory| memory.handle()), len, false);
        Ok(Arc::new(Growable { place, raw: Moving { state: Lock::new(State { memory, holds: 0 }) } }))
    }

    fn state(&self, device: &dyn RawDevice) -> Result<Guard<'_, State>> {
        self.state.lock().map_err(|_| DeviceError::Forked { kind: device.properties().id.kind() })
    }
}

impl RawGrowable for Moving {
    fn grow(&self, place: &Location, device: &dyn RawDevice, stream: &dyn RawStream, len: usize) -> Result<()> {
        let mut state = self.state(device)?;
        let used = place.len();
        if len <= used {
            return Ok(());
        }
        if state.holds > 0 {
            let device = device.properties().id.to_string();
            return Err(DeviceError::AddressHeld { device, len: used, asked: len, holds: state.holds });
        }
        let longer = device.allocate(len)?;
        if let Some(memory) = &state.memory {
            // Work on any stream may still write to it.
            device.synchronize()?;
            if stream.is_foreign() {
                longer.note_foreign_use();
            }
            // SAFETY: both are live memory of this device and have `used` bytes; the wait below keeps them until the copy is done.
            unsafe { stream.copy(longer.handle(), 0, memory.handle(), 0, used)? };
            stream.synchronize()?;
        }
        place.set(longer.handle(), len);
        state.memory = Some(longer);
        Ok(())
    }

    fn hold(&self, place: &Location, device: &dyn RawDevice) -> Result<u64> {
        let mut state = self.state(device)?;
        state.holds += 1;
        Ok(place.handle())
    }

    fn release(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.holds -= 1;
        }
    }

    fn note_foreign_use(&self) {
        if let Ok(state) = self.state.lock()
            && let Some(memory) = &state.memory
        {
            memory.note_foreign_use();
        }
    }
}
