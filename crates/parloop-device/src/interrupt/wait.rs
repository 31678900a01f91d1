//! Waits for devices that work by themselves. Drivers cannot be told to stop waiting, so on the thread that SIGINT is for another thread waits
//! in the driver, where it takes longer than a moment.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use super::{Turn, is_heard, sys};
use crate::error::{DeviceError, Result};
use crate::forked::{Lock, generation};
use crate::identity::DeviceId;
use crate::sync;

/// How long the device is asked before another thread waits for it.
const MOMENT: Duration = Duration::from_micros(200);

/// How often a wait looks whether it was abandoned.
const LOOK: futex::Timespec = futex::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The kernels that devices were given last.
static LAST: Lock<Vec<(DeviceId, Arc<str>)>> = Lock::new(Vec::new());

/// Notes that a device was given a kernel, for who asks what it is doing.
pub(crate) fn gave(device: DeviceId, kernel: &Arc<str>) {
    if !is_heard() {
        return;
    }
    let mut last = LAST.lock_or(Vec::new);
    match last.iter_mut().find(|(known, _)| *known == device) {
        Some((_, known)) if Arc::ptr_eq(known, kernel) => {}
        Some((_, known)) => *known = kernel.clone(),
        None => last.push((device, kernel.clone())),
    }
}

/// A wait in a driver, done by a thread for another one.
struct Handed {
    /// 1 when it is over.
    over: AtomicU32,
    outcome: Mutex<Option<Result<()>>>,
}

type Work = Box<dyn FnOnce() + Send>;

/// The thread that waits, and the process it is of.
static WAITER: Lock<Option<(u32, Sender<Work>)>> = Lock::new(None);

/// Waits for a device: `is_done` asks it, where there is something to ask, and `block` waits in its driver.
///
/// # Errors
/// Those of `block`, and [`DeviceError::Interrupted`]: then a thread is still waiting, and the driver is not to be called again.
pub(crate) fn wait(
    device: DeviceId,
    is_done: Option<&dyn Fn() -> Result<bool>>,
    block: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<()> {
    if !is_heard() {
        return block();
    }
    let start = Instant::now();
    while let Some(is_done) = is_done {
        match is_done() {
            Ok(true) => return Ok(()),
            // The driver says what failed.
            Err(_) => return block(),
            Ok(false) if start.elapsed() > MOMENT => break,
            Ok(false) => std::thread::yield_now(),
        }
    }
    let kernel = LAST.lock_or(Vec::new).iter().find(|(known, _)| *known == device).map(|(_, kernel)| kernel.clone());
    let text = kernel.as_ref().map_or_else(String::new, |kernel| format!(", which was last given the kernel `{kernel}`"));
    let text = format!(
        "\nparloop: waiting for {device}{text}. Python sees this Ctrl-C when it is done. Press Ctrl-C again to stop waiting: \
         {device} then cannot be used in this process any more.\n"
    );
    let Some(turn) = Turn::begin(&text) else { return block() };
    let handed = Arc::new(Handed { over: AtomicU32::new(0), outcome: Mutex::new(None) });
    let theirs = handed.clone();
    let work = move || {
        let outcome = block();
        *theirs.outcome.lock().unwrap_or_else(|e| e.into_inner()) = Some(outcome);
        theirs.over.store(1, Ordering::Release);
        sync::wake(&theirs.over, 1);
    };
    hand_over(Box::new(work));
    while handed.over.load(Ordering::Acquire) == 0 {
        if turn.is_abandoned() {
            // Its thread may never be free again.
            *WAITER.lock_or(|| None) = None;
            sys::parloop_exit_without_drivers();
            return Err(DeviceError::Interrupted { what: format!("the wait for {device}"), effect: STILL_RUNNING });
        }
        let _ = futex::wait(&handed.over, futex::Flags::PRIVATE, 0, Some(&LOOK));
    }
    let outcome = handed.outcome.lock().unwrap_or_else(|e| e.into_inner()).take();
    outcome.unwrap_or(Ok(()))
}

const STILL_RUNNING: &str = "what it was given may still be running, and it cannot be used in this process any more";

/// Has the waiting thread do that, or this one where there is none.
fn hand_over(work: Work) {
    let mut waiter = WAITER.lock_or(|| None);
    let here = generation();
    if waiter.as_ref().is_none_or(|(process, _)| *process != here) {
        let (sender, tasks) = channel::<Work>();
        let serve = move || {
            sys::parloop_block_signals();
            tasks.into_iter().for_each(|work| work());
        };
        *waiter = std::thread::Builder::new().name("parloop-wait".into()).spawn(serve).ok().map(|_| (here, sender));
    }
    match &*waiter {
        Some((_, sender)) => {
            if let Err(unsent) = sender.send(work) {
                (unsent.0)();
            }
        }
        None => work(),
    }
}
