//! The system's loader of libraries, which no thread uses while another forks.
//!
//! glibc gives a forked child fresh locks of the loader, but not the one around its list of libraries, and leaves half-made entries of that
//! list as they are: a child that loads a kernel could wait forever, or find what another thread was in the middle of.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::forked::{Guard, Lock, pthread_atfork};

static LOADER: Lock<()> = Lock::new(());

thread_local! {
    /// Whether this thread has a turn: initialisers of a library may load others, or fork.
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
    /// The lock, from before a fork until after it.
    static FORKING: RefCell<Option<Guard<'static, ()>>> = const { RefCell::new(None) };
}

/// While this lives, its thread loads or unloads libraries, and no other thread forks.
pub(crate) struct Turn {
    guard: Option<Guard<'static, ()>>,
}

/// Waits for other threads that load, unload or fork.
pub(crate) fn turn() -> Turn {
    watch_forks();
    let guard = (!HAS_TURN.replace(true)).then(|| LOADER.lock_or(|| ()));
    Turn { guard }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.guard.is_some() {
            HAS_TURN.set(false);
        }
    }
}

fn watch_forks() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the functions live as long as the library that they are in; the thread that forks exists in the child too, so that it
        // may give the lock back there.
        unsafe { pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
    }
}

extern "C" fn before_fork() {
    if !HAS_TURN.get() {
        FORKING.replace(Some(LOADER.lock_or(|| ())));
    }
}

extern "C" fn after_fork() {
    drop(FORKING.take());
}
