//! Growable memory of a CPU.
//!
//! Short memory lies in pieces, long memory in mappings of its own, all of it private. While nobody holds an address, growing moves the
//! content. While somebody does, the pages are mapped a second time at a longer range, and the addresses held show the same bytes.
//!
//! That is possible for memory that shares no page with other memory: the page where it ends must go on with its own bytes. Pieces of up
//! to half a page lie side by side, since a page for each of a hundred thousand objects would be too dear; such memory moves to pages of
//! its own when its address is held for the first time. Its old piece is kept as long as the memory, so that somebody who has the address
//! from before, against the contract, reads old bytes and harms nobody else's.
//!
//! Pages become shared ones only when they are mapped a second time, and by a copy, which nobody may disturb: growing wants the memory to
//! itself. If all pages were shared from the start, growing under a held address would need no copy, but every fork would have to copy
//! every page by hand (see `fork.rs`), and huge pages would be lost. Memory that grows again with no address held is private again.
//!
//! Addresses are multiples of 16 for memory shorter than a cache line, of 64 for the rest, and of the page from half a page on.

use std::io;
use std::mem::{self, ManuallyDrop};
use std::sync::{Arc, Mutex, MutexGuard};

use super::fork;
use super::mirror::{self, Mirror, Object};
use super::pages;
use super::region::Region;
use super::slab::{self, Piece};
use crate::backend::{Growable, Place, RawDevice, RawGrowable, RawStream};
use crate::error::{DeviceError, Result};

pub(super) struct CpuGrowable {
    state: Mutex<State>,
}

struct State {
    present: Present,
    /// How often the address was exchanged while it, or an earlier one, was held.
    generation: u32,
    /// Holds of the present address.
    holds: usize,
    earlier: Vec<Earlier>,
    /// The piece from before the first hold.
    first: Option<Box<Piece>>,
}

/// Where the bytes are.
enum Present {
    Private(Private),
    Mirror(Box<Mirror>),
}

/// Private pages, or a part of one.
enum Private {
    Piece(Piece),
    Region(Region),
}

/// A range that became too short while its address was held.
struct Earlier {
    generation: u32,
    holds: usize,
    _pages: EarlierPages,
}

enum EarlierPages {
    Exchanged { _exchanged: Exchanged },
    Mirror { _mirror: Box<Mirror> },
}

/// Private pages after they were exchanged for those of an object.
struct Exchanged {
    pages: ManuallyDrop<Private>,
    object: Object,
}

impl Drop for Exchanged {
    fn drop(&mut self) {
        mirror::forget(self.object, self.pages.address());
        // SAFETY: taken once, as the value is being dropped.
        match unsafe { ManuallyDrop::take(&mut self.pages) } {
            Private::Piece(piece) => {
                // SAFETY: the piece has pages of its own, and nobody uses it any more.
                let restored = unsafe { pages::map_private_at(piece.address(), piece.capacity()) };
                if restored.is_err() {
                    // Nobody else may get shared pages, so that the piece is lost.
                    mem::forget(piece);
                }
            }
            // SAFETY: nobody uses it any more.
            Private::Region(region) => unsafe { region.unmap() },
        }
    }
}

impl Private {
    fn allocate(len: usize) -> io::Result<Private> {
        if len <= slab::LONGEST { Piece::allocate(len).map(Private::Piece) } else { Region::allocate(len).map(Private::Region) }
    }

    fn address(&self) -> usize {
        match self {
            Private::Piece(piece) => piece.address(),
            Private::Region(region) => region.address(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Private::Piece(piece) => piece.capacity(),
            Private::Region(region) => region.capacity(),
        }
    }
}

impl Present {
    fn address(&self) -> usize {
        match self {
            Present::Private(pages) => pages.address(),
            Present::Mirror(mirror) => mirror.address(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Present::Private(pages) => pages.capacity(),
            Present::Mirror(mirror) => mirror.capacity(),
        }
    }
}

impl State {
    fn is_held(&self) -> bool {
        self.holds > 0 || !self.earlier.is_empty()
    }

    /// Moves `used` bytes to a place of `len` bytes, while nobody holds an address.
    fn move_to_longer(&mut self, used: usize, len: usize) -> io::Result<()> {
        if let Present::Private(Private::Region(region)) = &mut self.present {
            // SAFETY: no address is held, and growing has the memory to itself.
            return unsafe { region.lengthen(used, len) };
        }
        let pages = Private::allocate(len)?;
        // SAFETY: both have `used` bytes; growing has the memory to itself.
        unsafe { pages::copy(self.present.address(), pages.address(), used) };
        self.present = Present::Private(pages);
        self.first = None;
        Ok(())
    }

    /// Maps the pages at a range of at least `len` bytes as well; all addresses that are held show the same bytes.
    fn mirror_to_longer(&mut self, used: usize, len: usize) -> io::Result<()> {
        // Pages take memory when they are touched, so that room for as much again costs addresses only.
        let generous = pages::whole(len.max(self.present.capacity().saturating_mul(2)));
        generous.and_then(|capacity| self.mirror_to(used, capacity)).or_else(|_| self.mirror_to(used, pages::whole(len)?))
    }

    fn mirror_to(&mut self, used: usize, capacity: usize) -> io::Result<()> {
        let longer = match &self.present {
            Present::Mirror(mirror) => mirror.longer(capacity)?,
            // SAFETY: memory whose address is held has pages of its own, and growing has the memory to itself.
            Present::Private(pages) => unsafe { Mirror::take_over(pages.address(), pages.capacity(), used, capacity)? },
        };
        let object = longer.first();
        let pages = match mem::replace(&mut self.present, Present::Mirror(Box::new(longer))) {
            Present::Mirror(mirror) => EarlierPages::Mirror { _mirror: mirror },
            Present::Private(pages) => EarlierPages::Exchanged { _exchanged: Exchanged { pages: ManuallyDrop::new(pages), object } },
        };
        let holds = mem::take(&mut self.holds);
        if holds > 0 {
            self.earlier.push(Earlier { generation: self.generation, holds, _pages: pages });
        }
        self.generation += 1;
        Ok(())
    }

    /// Moves memory that shares its page with other memory to pages of its own, while nobody holds an address.
    fn move_to_own_pages(&mut self, used: usize) -> io::Result<()> {
        let Present::Private(Private::Piece(piece)) = &mut self.present else { return Ok(()) };
        if !piece.has_own_pages() {
            let own = Piece::allocate_own_pages(used)?;
            // SAFETY: both have `used` bytes; the first hold has the memory to itself.
            unsafe { pages::copy(piece.address(), own.address(), used) };
            self.first = Some(Box::new(mem::replace(piece, own)));
        }
        Ok(())
    }
}

impl CpuGrowable {
    pub(super) fn allocate(device: &dyn RawDevice, len: usize) -> Result<Arc<Growable>> {
        let pages = Private::allocate(len).map_err(|_| out_of_memory(device, len))?;
        let place = Place::new(pages.address() as u64, len, true);
        let state = State { present: Present::Private(pages), generation: 0, holds: 0, earlier: Vec::new(), first: None };
        Ok(Arc::new(Growable { place, raw: CpuGrowable { state: Mutex::new(state) } }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl RawGrowable for CpuGrowable {
    fn grow(&self, place: &Place, device: &dyn RawDevice, _stream: &dyn RawStream, len: usize) -> Result<()> {
        let _no_fork = fork::not_now();
        let mut state = self.state();
        let used = place.len();
        if len <= used {
            return Ok(());
        }
        if len > state.present.capacity() {
            let grown = if state.is_held() { state.mirror_to_longer(used, len) } else { state.move_to_longer(used, len) };
            grown.map_err(|error| growth_error(device, len, &error))?;
        }
        if let Present::Mirror(mirror) = &state.present {
            mirror.set_used(len);
        }
        place.set(state.present.address() as u64, len);
        Ok(())
    }

    fn hold(&self, place: &Place, device: &dyn RawDevice) -> Result<(u64, u32)> {
        let _no_fork = fork::not_now();
        let mut state = self.state();
        state.move_to_own_pages(place.len()).map_err(|_| out_of_memory(device, place.len()))?;
        place.set(state.present.address() as u64, place.len());
        state.holds += 1;
        Ok((place.handle(), state.generation))
    }

    fn release(&self, generation: u32) {
        let _no_fork = fork::not_now();
        let mut state = self.state();
        if generation == state.generation {
            state.holds -= 1;
        } else if let Some(at) = state.earlier.iter().position(|earlier| earlier.generation == generation) {
            state.earlier[at].holds -= 1;
            if state.earlier[at].holds == 0 {
                state.earlier.swap_remove(at);
            }
        }
    }
}

fn out_of_memory(device: &dyn RawDevice, len: usize) -> DeviceError {
    let free = device.memory_info().ok().map(|info| info.free);
    DeviceError::OutOfMemory { device: device.properties().id.to_string(), asked: len as u64, free }
}

fn growth_error(device: &dyn RawDevice, len: usize, error: &io::Error) -> DeviceError {
    if matches!(error.kind(), io::ErrorKind::OutOfMemory) {
        return out_of_memory(device, len);
    }
    let what = format!(
        "grow memory to {len} bytes while its address is held, since the system does not map its pages twice ({error}); \
         drop the views of it first, or give it its full length at creation"
    );
    DeviceError::Unsupported { device: device.properties().id.to_string(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_maps_no_page_twice_is_named_with_what_to_do() {
        let device = crate::cpu::open(Some(1)).unwrap();
        let error = growth_error(&*device, 5000, &io::Error::from_raw_os_error(1));
        assert_eq!(
            error.to_string(),
            "cpu:1 cannot do this: grow memory to 5000 bytes while its address is held, since the system does not map its pages twice \
             (Operation not permitted (os error 1)); drop the views of it first, or give it its full length at creation"
        );
        let error = growth_error(&*device, 5000, &pages::no_room());
        assert!(matches!(error, DeviceError::OutOfMemory { asked: 5000, free: Some(_), .. }), "{error:?}");
    }
}
