//! Growable memory of a CPU.
//!
//! Short memory lies in pieces, long memory in regions, which begin a range of addresses that is theirs to grow in (`region.rs`). Growing
//! in place changes no address and copies nothing, so that views, kernels and other threads go on meanwhile. Short memory moves to a
//! region when its address is held for the first time. Its piece is kept as long as the memory, so that somebody who has the address from
//! before, against the contract, reads old bytes and harms nobody else's.
//!
//! A region for which the system gave no addresses, and one that has used all of them, grows by moving; while its address is held, that
//! is an error.
//!
//! All pages are private: a forked child has a copy of them, as of all memory.
//!
//! Addresses are multiples of 16 for memory shorter than a cache line, of 64 for the rest, and of the page from half a page on.

use std::io;
use std::sync::Arc;

use super::pages;
use super::region::Region;
use super::slab::{self, Piece};
use crate::backend::{Growable, Location, RawDevice, RawGrowable, RawStream};
use crate::error::{DeviceError, Result};
use crate::forked::{Guard, Lock};

pub(super) struct CpuGrowable {
    state: Lock<State>,
}

struct State {
    pages: Pages,
    holds: usize,
    /// The piece from before the first hold.
    first: Option<Box<Piece>>,
}

/// Where the bytes are.
enum Pages {
    Piece(Piece),
    Region(Region),
}

impl Pages {
    fn allocate(len: usize) -> io::Result<Pages> {
        if len <= slab::LONGEST { Piece::allocate(len).map(Pages::Piece) } else { Region::allocate(len).map(Pages::Region) }
    }

    fn address(&self) -> usize {
        match self {
            Pages::Piece(piece) => piece.address(),
            Pages::Region(region) => region.address(),
        }
    }

    /// How long it can become where it is.
    fn room(&self) -> usize {
        match self {
            Pages::Piece(piece) => piece.capacity(),
            Pages::Region(region) => region.room(),
        }
    }
}

impl State {
    /// Makes it `len` bytes long, of which `used` have content.
    fn lengthen(&mut self, used: usize, len: usize) -> io::Result<()> {
        match &mut self.pages {
            Pages::Piece(piece) if len <= piece.capacity() => Ok(()),
            Pages::Region(region) if len <= region.room() => region.commit(len),
            // SAFETY: no address is held, and growing has the memory to itself.
            Pages::Region(region) => unsafe { region.lengthen(used, len) },
            Pages::Piece(piece) => {
                let pages = Pages::allocate(len)?;
                // SAFETY: both have `used` bytes; growing has the memory to itself.
                unsafe { pages::copy(piece.address(), pages.address(), used) };
                self.pages = pages;
                self.first = None;
                Ok(())
            }
        }
    }

    /// Moves short memory to where it can grow, if the system gives it addresses.
    fn move_to_region(&mut self, used: usize) {
        if let Pages::Piece(piece) = &self.pages
            && let Some(region) = Region::with_room(used)
        {
            // SAFETY: both have `used` bytes; the first hold has the memory to itself.
            unsafe { pages::copy(piece.address(), region.address(), used) };
            if let Pages::Piece(piece) = std::mem::replace(&mut self.pages, Pages::Region(region)) {
                self.first = Some(Box::new(piece));
            }
        }
    }
}

impl CpuGrowable {
    pub(super) fn allocate(device: &dyn RawDevice, len: usize) -> Result<Arc<Growable>> {
        let pages = Pages::allocate(len).map_err(|_| out_of_memory(device, len))?;
        let place = Location::new(pages.address() as u64, len, true);
        let state = State { pages, holds: 0, first: None };
        Ok(Arc::new(Growable { place, raw: CpuGrowable { state: Lock::new(state) } }))
    }

    fn state(&self, device: &dyn RawDevice) -> Result<Guard<'_, State>> {
        self.state.lock().map_err(|left| {
            let what = format!("use growable memory in a forked child, since {left}; allocate it in the child");
            DeviceError::Unsupported { device: device.properties().id.to_string(), what }
        })
    }
}

impl RawGrowable for CpuGrowable {
    fn grow(&self, place: &Location, device: &dyn RawDevice, _stream: &dyn RawStream, len: usize) -> Result<()> {
        let mut state = self.state(device)?;
        let used = place.len();
        if len <= used {
            return Ok(());
        }
        if len > state.pages.room() && state.holds > 0 {
            let device = device.properties().id.to_string();
            return Err(DeviceError::AddressHeld { device, len: used, asked: len, holds: state.holds });
        }
        state.lengthen(used, len).map_err(|_| out_of_memory(device, len))?;
        place.set(state.pages.address() as u64, len);
        Ok(())
    }

    fn grows_in_place(&self, len: usize) -> bool {
        self.state.lock().is_ok_and(|state| len <= state.pages.room())
    }

    fn hold(&self, place: &Location, device: &dyn RawDevice) -> Result<u64> {
        let mut state = self.state(device)?;
        if state.holds == 0 && !place.is_in_use() {
            state.move_to_region(place.len());
            place.set(state.pages.address() as u64, place.len());
        }
        state.holds += 1;
        Ok(place.handle())
    }

    fn hold_moves(&self) -> bool {
        self.state.lock().is_ok_and(|state| state.holds == 0 && matches!(state.pages, Pages::Piece(_)))
    }

    fn release(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.holds -= 1;
        }
    }
}

fn out_of_memory(device: &dyn RawDevice, len: usize) -> DeviceError {
    let free = device.memory_info().ok().map(|info| info.free);
    DeviceError::OutOfMemory { device: device.properties().id.to_string(), asked: len as u64, free }
}
