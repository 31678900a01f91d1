//! The threads that run parts of a kernel, and how they are made to leave it.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::is_abandoned;
use super::sys::{self, Code, Entry, Slot, main_thread};
use crate::forked::Lock;

/// The slots of threads that helped, and those that threads which ended left. They are few, and never freed.
static SLOTS: Lock<Slots> = Lock::new(Slots { taken: Vec::new(), free: Vec::new() });

#[derive(Default)]
struct Slots {
    taken: Vec<&'static Slot>,
    free: Vec<&'static Slot>,
}

thread_local! {
    static OWN: Own = const { Own(Cell::new(None)) };
}

/// The slot of this thread, once it has one.
struct Own(Cell<Option<&'static Slot>>);

impl Own {
    fn get(&self) -> &'static Slot {
        self.0.get().unwrap_or_else(|| self.take())
    }

    #[cold]
    fn take(&self) -> &'static Slot {
        let mut slots = SLOTS.lock_or(Slots::default);
        let tid = sys::parloop_thread_id();
        let slot = slots.free.pop().unwrap_or_else(|| Box::leak(Box::new(Slot::new(0))));
        slot.tid.store(tid, Ordering::Relaxed);
        slots.taken.push(slot);
        self.0.set(Some(slot));
        slot
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            let mut slots = SLOTS.lock_or(Slots::default);
            slots.taken.retain(|taken| !std::ptr::eq(*taken, slot));
            slots.free.push(slot);
        }
    }
}

/// Calls an entry point for a part of the work of a turn. A turn that is abandoned does no more parts.
///
/// # Safety
/// As the entry point. `code` is the code around it.
#[inline]
pub(crate) unsafe fn call(turn: u64, code: &Code, entry: Entry, args: *const *mut c_void, begin: i64, end: i64) {
    if is_abandoned(turn) {
        return;
    }
    // A thread that is ending has no slot any more, and runs no parts.
    let own = if super::is_heard() { Some(&main_thread().slot) } else { OWN.try_with(Own::get).ok() };
    match own {
        // SAFETY: the caller's promise, and the slot is this thread's.
        Some(slot) => _ = unsafe { sys::call(slot, code, entry, args, begin, end) },
        // SAFETY: the caller's promise.
        None => unsafe { entry(args, begin, end) },
    }
}

/// Tells all threads that are in a kernel to leave it.
pub(super) fn leave_all() {
    let tell = |slot: &'static Slot| {
        let tid = slot.tid.load(Ordering::Relaxed);
        if tid != 0 && !slot.back.load(Ordering::Relaxed).is_null() {
            sys::signal(slot, tid);
        }
    };
    tell(&main_thread().slot);
    SLOTS.lock_or(Slots::default).taken.iter().copied().for_each(tell);
}
