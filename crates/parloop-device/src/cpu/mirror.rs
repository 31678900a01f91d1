//! Pages that are mapped at several addresses, so that memory which becomes longer is still where it was.
//!
//! An object is a run of shared pages. Each of its mappings begins at its first page, and the longest one shows all of it. Memory
//! that grows while its addresses are held is a range in which several objects follow each other; the range before, which is shorter,
//! shows the same objects. The system frees an object with its last mapping.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard};

use super::pages;

/// A range of addresses with objects in it, one after the other; unmapped when dropped.
pub(super) struct Mirror {
    address: usize,
    first: Object,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    object: Object,
    len: usize,
}

/// The number of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object(u64);

/// Pages are exchanged in steps of so many bytes, so that large memory does not exist twice meanwhile.
const STEP: usize = 64 << 20;

/// Every object with all of its mappings, which a forked child needs to know.
static OBJECTS: Mutex<Objects> = Mutex::new(Objects { known: BTreeMap::new(), next: 0 });

pub(super) struct Objects {
    known: BTreeMap<Object, Known>,
    next: u64,
}

struct Known {
    /// Bytes from the first on that have content.
    used: usize,
    mappings: Vec<Mapping>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Mapping {
    address: usize,
    len: usize,
}

/// The list; nobody maps or unmaps objects meanwhile.
pub(super) fn lock() -> MutexGuard<'static, Objects> {
    OBJECTS.lock().unwrap_or_else(|e| e.into_inner())
}

impl Objects {
    fn add(&mut self, used: usize, mappings: Vec<Mapping>) -> Object {
        let object = Object(self.next);
        self.next += 1;
        self.known.insert(object, Known { used, mappings });
        object
    }

    fn add_mapping(&mut self, object: Object, mapping: Mapping) {
        if let Some(known) = self.known.get_mut(&object) {
            known.mappings.push(mapping);
        }
    }

    fn remove_mapping(&mut self, object: Object, address: usize) {
        if let Some(known) = self.known.get_mut(&object) {
            known.mappings.retain(|mapping| mapping.address != address);
            if known.mappings.is_empty() {
                self.known.remove(&object);
            }
        }
    }

    fn set_used(&mut self, object: Object, used: usize) {
        if let Some(known) = self.known.get_mut(&object) {
            known.used = used;
        }
    }
}

impl Mirror {
    /// Takes over `len` bytes of private pages at `address`, of which `used` have content: the content moves to shared pages, which
    /// are mapped at a range of `capacity` bytes and, as far as they go, at `address`. After a failure the pages are as they were.
    ///
    /// # Safety
    /// The pages belong to the caller, and nobody reads or writes them meanwhile: what is written between the copy and the exchange
    /// of the pages would be lost.
    pub(super) unsafe fn take_over(address: usize, len: usize, used: usize, capacity: usize) -> io::Result<Mirror> {
        let range = pages::map_shared(capacity)?;
        let mut objects = lock();
        let mut done = 0;
        while done < len {
            let step = STEP.min(len - done);
            // SAFETY: the first is the caller's, the second was mapped above and is longer than `len`.
            unsafe { pages::copy(address + done, range + done, step.min(used.saturating_sub(done))) };
            // SAFETY: `range` was mapped at once; the pages at `address + done` are the caller's and were copied.
            if let Err(error) = unsafe { pages::map_again(range + done, step, address + done) } {
                let (done, used) = (done + step, used.min(done + step));
                // SAFETY: the pages up to `done` are the caller's, or gone; nobody has `range`.
                unsafe {
                    pages::map_private_at(address, done)?;
                    pages::copy(range, address, used);
                    pages::unmap(range, capacity);
                }
                return Err(error);
            }
            done += step;
        }
        let object = objects.add(used, vec![Mapping { address: range, len: capacity }, Mapping { address, len }]);
        Ok(Mirror { address: range, first: object, parts: vec![Part { object, len: capacity }] })
    }

    /// A longer range that begins with the objects of this one.
    pub(super) fn longer(&self, capacity: usize) -> io::Result<Mirror> {
        let range = pages::reserve(capacity)?;
        let mut longer = Mirror { address: range, first: self.first, parts: Vec::with_capacity(self.parts.len() + 1) };
        let mut objects = lock();
        let mut at = 0;
        for part in &self.parts {
            // SAFETY: the object is mapped at `self.address + at` from its first page on; the target was reserved above.
            if let Err(error) = unsafe { pages::map_again(self.address + at, part.len, range + at) } {
                // What could not be mapped may be gone, and somebody else's by now: it is left alone.
                // SAFETY: the rest was reserved above.
                unsafe { pages::unmap(range + at + part.len, capacity - at - part.len) };
                return Err(error);
            }
            objects.add_mapping(part.object, Mapping { address: range + at, len: part.len });
            longer.parts.push(*part);
            at += part.len;
        }
        // SAFETY: the end of the range was reserved above.
        unsafe { pages::map_shared_at(range + at, capacity - at)? };
        let object = objects.add(0, vec![Mapping { address: range + at, len: capacity - at }]);
        longer.parts.push(Part { object, len: capacity - at });
        Ok(longer)
    }

    /// The object that it begins with.
    pub(super) fn first(&self) -> Object {
        self.first
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    pub(super) fn capacity(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// Says that the first `used` bytes have content.
    pub(super) fn set_used(&self, used: usize) {
        let mut objects = lock();
        let mut left = used;
        for part in &self.parts {
            objects.set_used(part.object, left.min(part.len));
            left -= left.min(part.len);
        }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let mut objects = lock();
        let mut at = self.address;
        for part in &self.parts {
            objects.remove_mapping(part.object, at);
            // SAFETY: mapped there by this range, which nobody uses any more.
            unsafe { pages::unmap(at, part.len) };
            at += part.len;
        }
    }
}

/// Forgets the mapping of an object at pages that [`Mirror::take_over`] exchanged.
pub(super) fn forget(object: Object, address: usize) {
    lock().remove_mapping(object, address);
}

/// An object's content at one moment, and where a forked child puts it.
pub(super) struct Copied {
    address: usize,
    len: usize,
    mappings: Vec<Mapping>,
}

impl Objects {
    /// Copies every object. One for which there is no memory stays out: the child then shares it.
    pub(super) fn copy(&self) -> Vec<Copied> {
        let copy_one = |known: &Known| {
            let whole = known.mappings.iter().max_by_key(|mapping| mapping.len)?;
            let address = pages::map_shared(whole.len).ok()?;
            // SAFETY: the longest mapping shows all of the object, and the copy was mapped above. Other threads may be writing: the
            // child gets what a fork would have shown it of a write under way.
            unsafe { pages::copy(whole.address, address, known.used) };
            Some(Copied { address, len: whole.len, mappings: known.mappings.clone() })
        };
        self.known.values().filter_map(copy_one).collect()
    }
}

impl Copied {
    /// Puts the copy where the object is. In a child this makes the object its own.
    ///
    /// # Safety
    /// The mappings exist, and no other thread does.
    pub(super) unsafe fn put_in_place(&self) {
        for mapping in &self.mappings {
            // SAFETY: the copy is as long as the longest mapping, and the mappings are ours. A child for which this fails goes on with
            // the object of its parent, unless the mapping is gone.
            let _ = unsafe { pages::map_again(self.address, mapping.len, mapping.address) };
        }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: mapped by `Objects::copy`; the mappings made of it stay.
        unsafe { pages::unmap(self.address, self.len) };
    }
}
