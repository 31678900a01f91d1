//! Process-wide unique ids, by which caches identify sets, maps and kernels.

use std::sync::atomic::{AtomicU64, Ordering};

use parloop_device::forked::Lock;

/// The number of one value.
pub type Id = u64;

/// A number that was not given before.
pub fn fresh() -> Id {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

static WATCHERS: Lock<Vec<fn(Id)>> = Lock::new(Vec::new());

/// Calls `watcher` whenever an [`Identity`] is dropped: whoever keeps something about a value by its number forgets it then.
pub fn when_dropped(watcher: fn(Id)) {
    WATCHERS.lock_or(Vec::new).push(watcher);
}

/// The number of a value that others keep something about.
#[derive(Debug)]
pub struct Identity(Id);

impl Identity {
    /// With a number that was not given before.
    pub fn fresh() -> Identity {
        Identity(fresh())
    }

    /// The number.
    pub fn number(&self) -> Id {
        self.0
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        // Outside of the lock: what a watcher forgets may hold identities itself.
        let watchers = WATCHERS.lock_or(Vec::new).clone();
        watchers.into_iter().for_each(|watcher| watcher(self.0));
    }
}
