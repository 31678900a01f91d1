//! The memory of one object: it is freed with its last holder, and so is what it refers to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parloop_device::forked::Lock;

use super::Inner;

/// The memory of one object. It is freed when the last holder goes: the object, views of its parts, and objects that refer to it.
#[derive(Debug)]
pub struct Allocation {
    /// Nowhere for objects whose memory is not ours to free.
    buffer: Weak<Inner>,
    /// By which the buffer knows it from others that were at its offset before.
    number: u64,
    offset: usize,
    size: usize,
    freed: AtomicBool,
    /// What the references in it refer to, by the offsets of their slots in the buffer.
    referred: Lock<BTreeMap<usize, Arc<Allocation>>>,
}

/// What a buffer knows of the object in one of its parts.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) number: u64,
    pub(super) allocation: Weak<Allocation>,
}

impl Allocation {
    pub(super) fn new(buffer: Weak<Inner>, number: u64, offset: usize, size: usize) -> Allocation {
        Allocation { buffer, number, offset, size, freed: AtomicBool::new(false), referred: Lock::default() }
    }

    /// Where it begins.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What it takes.
    pub fn size(&self) -> usize {
        self.size
    }

    pub(super) fn mark_freed(&self) {
        self.freed.store(true, Ordering::Release);
    }

    /// Whether its memory was freed explicitly.
    #[inline]
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Whether the reference at this offset of the buffer was made to refer to the object at `target`, which was freed explicitly since.
    pub(crate) fn refers_to_freed(&self, slot: usize, target: usize) -> bool {
        let Ok(referred) = self.referred.lock() else { return false };
        referred
            .get(&slot)
            .is_some_and(|referred| referred.is_freed() && (referred.offset..referred.offset + referred.size).contains(&target))
    }

    /// What the reference at this offset of the buffer refers to is kept, and what it referred to is let go.
    pub(crate) fn refer(&self, slot: usize, target: Option<Arc<Allocation>>) {
        // A forked child that cannot know what is referred to keeps all of it.
        let Ok(mut referred) = self.referred.lock() else {
            std::mem::forget(target);
            return;
        };
        let old = match target {
            Some(target) => referred.insert(slot, target),
            None => referred.remove(&slot),
        };
        drop(referred); // dropping `old` may free a long chain
        drop(old);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // Long chains of references are let go one by one, not one inside the other.
        let mut chain: Vec<Arc<Allocation>> = Vec::new();
        let let_go = |allocation: &mut Allocation, chain: &mut Vec<Arc<Allocation>>| {
            if let Ok(mut referred) = allocation.referred.lock() {
                chain.extend(std::mem::take(&mut *referred).into_values());
            }
        };
        let_go(self, &mut chain);
        while let Some(next) = chain.pop() {
            if let Some(mut last) = Arc::into_inner(next) {
                let_go(&mut last, &mut chain);
            }
        }
        if self.is_freed() {
            return;
        }
        if let Some(inner) = self.buffer.upgrade().filter(|inner| !inner.keeps_objects.load(Ordering::Relaxed)) {
            let Ok(mut state) = inner.state() else { return };
            // It may have been freed explicitly while its last holder was dropped; it is then off the list, and another allocation may have
            // its position.
            if state.allocator.owner_at(self.offset).is_some_and(|owner| owner.number == self.number) {
                let freed = state.allocator.free(self.offset, self.size);
                debug_assert!(freed.is_ok(), "{freed:?}");
            }
        }
    }
}
