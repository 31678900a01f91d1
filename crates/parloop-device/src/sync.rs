//! What the threads of `forked.rs` and `cpu/crew.rs` synchronise with, under one name. The tests of interleavings (`tests/interleavings`)
//! compile these files with a model in place of this one.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::thread;
pub(crate) use std::time::Instant;

use rustix::thread::futex;

/// How often a thread looks before it goes to sleep for a lock.
pub(crate) const LOOKS_FOR_A_LOCK: usize = 100;

/// How often a thread that spins looks before it asks for the time.
pub(crate) const LOOKS_AWAKE: usize = 16;

/// Sleeps if the word has this value, until woken. It may also return without cause.
pub(crate) fn sleep_while(word: &AtomicU32, value: u32) {
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

/// Wakes at most this many threads that sleep at the word.
pub(crate) fn wake(word: &AtomicU32, most: u32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, most);
}

/// All threads that sleep.
pub(crate) const ALL: u32 = i32::MAX as u32;
