//! Ctrl-C while a kernel runs or a device is waited for.
//!
//! Python notes a SIGINT and raises `KeyboardInterrupt` when its main thread is back from Rust, which a kernel that never ends prevents. So the
//! first SIGINT that finds something of ours on that thread says what is running, and the second abandons it: a CPU's threads leave their
//! kernel (`leave.c`), a wait for another device ends. Python's own handler runs as ever.
//!
//! The handler is in place while something runs for long (`watcher.rs`). Nothing of this happens before somebody [listens](listen), or on
//! other threads.

mod sys;
mod threads;
mod wait;
mod watcher;

use std::sync::atomic::{Ordering, compiler_fence};

use sys::main_thread;
pub(crate) use sys::{Code, Entry};
pub(crate) use threads::call;
pub(crate) use wait::{gave, wait};

/// SIGINT is for the thread with that `pthread_t`, Python's main thread. It is only compared.
pub fn listen(thread: usize) {
    sys::parloop_listen(thread);
}

/// Says that Python calls something, or has it back: it has seen the signals that came before.
#[inline]
pub fn note_call() {
    if is_heard() {
        let call = &main_thread().call;
        call.store(call.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// Whether this is the thread that SIGINT is for.
#[inline]
pub(crate) fn is_heard() -> bool {
    main_thread().thread.load(Ordering::Relaxed) != 0 && sys::parloop_is_main() != 0
}

/// Something that may take long, on the thread that SIGINT is for, until dropped.
pub(crate) struct Turn {
    number: u64,
}

impl Turn {
    /// Begins it; `None` on other threads. `text` is what the first Ctrl-C writes, and outlives the turn.
    #[inline]
    pub(crate) fn begin(text: &str) -> Option<Turn> {
        if !is_heard() {
            return None;
        }
        let main = main_thread();
        let number = main.turn.load(Ordering::Relaxed) + 1;
        if number.is_multiple_of(2) {
            return None;
        }
        main.text.store(text.as_ptr().cast_mut(), Ordering::Relaxed);
        main.text_length.store(text.len(), Ordering::Relaxed);
        // The handler runs on this thread: what it finds is in the order of the program.
        compiler_fence(Ordering::SeqCst);
        main.turn.store(number, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        if main.watcher.load(Ordering::Relaxed) != watcher::AWAKE {
            watcher::wake();
        }
        Some(Turn { number })
    }

    /// Whether it was abandoned.
    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        is_abandoned(self.number)
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        main_thread().turn.store(self.number + 1, Ordering::Release);
    }
}

/// The number of the turn that this thread has, if any.
#[inline]
pub(crate) fn own_turn() -> Option<u64> {
    if is_heard() { Some(main_thread().turn.load(Ordering::Relaxed)).filter(|turn| !turn.is_multiple_of(2)) } else { None }
}

#[inline]
fn is_abandoned(turn: u64) -> bool {
    main_thread().abandoned_turn.load(Ordering::Relaxed) == turn
}
