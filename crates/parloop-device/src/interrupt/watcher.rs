//! A thread that looks now and then what Python's main thread is doing. When that takes long it puts our handler of SIGINT in place, and when
//! that was abandoned it tells threads to leave.
//!
//! A handler that is installed once would not stay: notebooks and event loops set Python's handler again for each of their calls. And the
//! thread does what a handler must not do. It sleeps while nothing is run.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::sys::{self, main_thread};
use super::{is_abandoned, threads};
use crate::sync;

/// States of the watcher: it was not started, watches, or sleeps.
const ABSENT: u32 = 0;
pub(super) const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
/// It could not be started.
const REFUSED: u32 = 3;

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(50);

/// How often threads are told to leave, which they do only in their kernel's own code.
const AGAIN: Duration = Duration::from_millis(1);

/// It sleeps after this many looks at nothing.
const PATIENCE: u32 = 20;

/// Sees to it that there is a watcher and that it is awake.
#[cold]
pub(super) fn wake() {
    let main = main_thread();
    if main.slot.tid.load(Ordering::Relaxed) == 0 {
        main.slot.tid.store(sys::parloop_thread_id(), Ordering::Relaxed);
    }
    match main.watcher.load(Ordering::Relaxed) {
        ABSENT => {
            main.watcher.store(AWAKE, Ordering::Relaxed);
            if std::thread::Builder::new().name("parloop-watch".into()).spawn(watch).is_err() {
                main.watcher.store(REFUSED, Ordering::Relaxed);
            }
        }
        ASLEEP => {
            main.watcher.store(AWAKE, Ordering::Relaxed);
            sync::wake(&main.watcher, 1);
        }
        _ => {}
    }
}

/// What it does all its life.
fn watch() {
    sys::parloop_block_signals();
    let main = main_thread();
    let now = || (main.turn.load(Ordering::Acquire), main.call.load(Ordering::Relaxed));
    let (mut last, mut quiet) = ((0, 0), 0);
    loop {
        let (turn, call) = now();
        let runs = !turn.is_multiple_of(2);
        // One thing, or the many of one call, are running for a while.
        if runs && (turn == last.0 || call == last.1) {
            sys::parloop_install();
        }
        if runs && is_abandoned(turn) {
            threads::leave_all();
            std::thread::sleep(AGAIN);
            continue;
        }
        quiet = if runs || turn != last.0 { 0 } else { quiet + 1 };
        last = (turn, call);
        if quiet >= PATIENCE {
            main.watcher.store(ASLEEP, Ordering::Relaxed);
            // From here on either this thread sees a turn that begins, or the main thread sees that this one sleeps.
            sys::parloop_barrier();
            while now().0 == turn && main.watcher.load(Ordering::Relaxed) == ASLEEP {
                sync::sleep_while(&main.watcher, ASLEEP);
            }
            main.watcher.store(AWAKE, Ordering::Relaxed);
            quiet = 0;
        }
        std::thread::sleep(PAUSE);
    }
}
