//! What `leave.c` has: handlers of signals, and the call of a kernel that can be left.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// The one signature of all CPU entry points.
pub(crate) type Entry = unsafe extern "C" fn(args: *const *mut c_void, begin: i64, end: i64);

/// The machine code of a kernel's library, from its first byte to behind the last.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Code {
    begin: usize,
    end: usize,
}

/// What one thread is doing.
#[repr(C)]
pub(super) struct Slot {
    pub(super) tid: AtomicI32,
    /// Where to go on from a kernel; null outside of one.
    pub(super) back: AtomicPtr<c_void>,
    code: AtomicPtr<Code>,
}

impl Slot {
    pub(super) fn new(tid: i32) -> Slot {
        Slot { tid: AtomicI32::new(tid), back: AtomicPtr::default(), code: AtomicPtr::default() }
    }
}

/// What the thread that signals are for is doing.
#[repr(C)]
pub(super) struct Main {
    /// Its `pthread_t`; 0: nobody listens.
    pub(super) thread: AtomicUsize,
    /// Odd while something runs that may take long.
    pub(super) turn: AtomicU64,
    /// Changes when Python calls.
    pub(super) call: AtomicU64,
    /// What is running, for the first Ctrl-C.
    pub(super) text: AtomicPtr<u8>,
    pub(super) text_length: AtomicUsize,
    noted_turn: AtomicU64,
    noted_call: AtomicU64,
    /// What is not to be waited for any more.
    pub(super) abandoned_turn: AtomicU64,
    /// Whether the watcher is there.
    pub(super) watcher: AtomicU32,
    pub(super) slot: Slot,
}

unsafe extern "C" {
    safe static parloop_main: Main;
    pub(super) safe fn parloop_is_main() -> c_int;
    pub(super) safe fn parloop_thread_id() -> c_int;
    pub(super) safe fn parloop_install();
    pub(super) safe fn parloop_listen(thread: usize);
    pub(super) safe fn parloop_block_signals();
    pub(super) safe fn parloop_barrier();
    pub(super) safe fn parloop_exit_without_drivers();
    fn parloop_signal(tid: c_int, slot: *const Slot) -> c_int;
    fn parloop_find_code(address: usize, code: *mut Code);
    fn parloop_call(slot: *const Slot, code: *const Code, entry: Entry, args: *const *mut c_void, begin: i64, end: i64) -> c_int;
}

/// What Python's main thread is doing.
#[inline]
pub(super) fn main_thread() -> &'static Main {
    &parloop_main
}

/// Tells the thread of a slot to leave its kernel, if it is in one of what was abandoned.
pub(super) fn signal(slot: &'static Slot, tid: c_int) {
    // SAFETY: the slot is never freed. The handler looks at everything else itself; a thread that has ended is an error without effect.
    let _ = unsafe { parloop_signal(tid, slot) };
}

impl Code {
    /// The code around that address.
    pub(crate) fn around(entry: Entry) -> Code {
        let mut code = Code::default();
        // SAFETY: `code` is a place for one.
        unsafe { parloop_find_code(entry as usize, &mut code) };
        code
    }
}

/// Calls an entry point from the thread of that slot; `false` if it was left before its end.
///
/// # Safety
/// As the entry point. `code` is the code around it.
#[inline]
pub(super) unsafe fn call(slot: &'static Slot, code: &Code, entry: Entry, args: *const *mut c_void, begin: i64, end: i64) -> bool {
    // SAFETY: the caller's promise. A kernel that is left has no frames of Rust, and the slot is the thread's own.
    unsafe { parloop_call(slot, code, entry, args, begin, end) == 0 }
}
