//! A forked child has memory of its own, as everywhere.
//!
//! Private pages are copied by the system. Pages that are mapped at several addresses are shared ones, in which a child's writes would
//! reach its parent: at the fork they are copied, and the child maps the copy at the same addresses. The locks are held over the fork,
//! so that the child finds everything whole and nothing locked. Processes that are started without the C library's `fork` (`vfork`,
//! `posix_spawn`) go on to run another program; a bare `clone` shares these pages with its parent.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::mirror::{self, Copied, Objects};
use super::region::{self, Pool};
use super::slab::{self, Shard};

static NOT_FORKING: RwLock<()> = RwLock::new(());

/// No fork happens while this is held. It is taken before all other locks of growable memory, and once.
pub(super) fn not_now() -> RwLockReadGuard<'static, ()> {
    NOT_FORKING.read().unwrap_or_else(|e| e.into_inner())
}

/// All that is held while the process forks; released from top to bottom.
struct Held {
    copies: Vec<Copied>,
    _objects: MutexGuard<'static, Objects>,
    _pool: MutexGuard<'static, Pool>,
    _shards: Vec<MutexGuard<'static, Shard>>,
    _forking: RwLockWriteGuard<'static, ()>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

unsafe extern "C" {
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

/// From here on forks are prepared for.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions live as long as the library that they are in; they call nothing that a fork forbids. Without memory
        // for the entry, children share what their parents have mapped more than once.
        unsafe { pthread_atfork(prepare, in_parent, in_child) };
    });
}

extern "C" fn prepare() {
    let forking = NOT_FORKING.write().unwrap_or_else(|e| e.into_inner());
    let (shards, pool, objects) = (slab::lock_all(), region::lock(), mirror::lock());
    let held = Held { copies: objects.copy(), _objects: objects, _pool: pool, _shards: shards, _forking: forking };
    // A thread that is about to end has nothing to keep it in; the locks are then released before the fork.
    let _ = HELD.try_with(|place| place.replace(Some(held)));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn in_child() {
    let held = HELD.try_with(RefCell::take).ok().flatten();
    for copy in held.iter().flat_map(|held| &held.copies) {
        // SAFETY: the list was locked since the copy was made, and a child has one thread.
        unsafe { copy.put_in_place() };
    }
}
