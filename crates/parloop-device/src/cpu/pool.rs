//! The threads of a CPU device, and what it costs to put them to work. The calling thread is one of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::crew::Crew;
use crate::forked::Lock;

/// Threads are started at first use, and again in a child process after a fork, which inherits none of them.
pub(super) struct Pool {
    threads: usize,
    running: Lock<Option<Running>>,
    /// When the device was made, and how many nanoseconds later it was last busy.
    made: Instant,
    busy: AtomicU64,
}

struct Running {
    process: u32,
    hands: Arc<Hands>,
}

/// The threads at work, with the measured costs of putting them to it.
pub(super) struct Hands {
    crew: Crew,
    /// Nanoseconds, where threads are awake.
    pub(super) dispatch_ns: f64,
    /// Nanoseconds, where they have to be woken.
    wake_ns: f64,
}

impl Pool {
    pub(super) fn new(threads: usize) -> Pool {
        Pool { threads, running: Lock::new(None), made: Instant::now(), busy: AtomicU64::new(0) }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// `None` when the system gives us no threads: the caller then does the work itself.
    fn hands(&self) -> Option<Arc<Hands>> {
        let mut running = self.running.lock_or(|| None);
        let process = std::process::id();
        if running.as_ref().is_none_or(|running| running.process != process) {
            *running = Some(Running { process, hands: Arc::new(Hands::start(self.threads)?) });
        }
        running.as_ref().map(|running| running.hands.clone())
    }

    /// The threads, if there is more than one item and sharing them out gains more than it costs.
    pub(super) fn hands_for(&self, items: u64, expected_ns: f64) -> Option<Arc<Hands>> {
        let gain = expected_ns * (1.0 - 1.0 / self.threads as f64);
        if self.threads == 1 || items < 2 || gain < LEAST_SHARED_NS {
            return None;
        }
        self.hands().filter(|hands| {
            // What is woken between calls that follow one another closely stays awake.
            let awake = || hands.crew.is_awake() || self.is_busy(hands.crew.stays_awake());
            gain > hands.wake_ns || (gain > hands.dispatch_ns && awake())
        })
    }

    /// Nanoseconds since the device was made.
    pub(super) fn now(&self) -> u64 {
        self.made.elapsed().as_nanos() as u64
    }

    /// The device was at work until then.
    pub(super) fn was_busy(&self, until: u64) {
        self.busy.store(until, Ordering::Relaxed);
    }

    /// Whether it was at work a moment ago.
    fn is_busy(&self, moment: Duration) -> bool {
        u128::from(self.now().saturating_sub(self.busy.load(Ordering::Relaxed))) < moment.as_nanos()
    }
}

impl Hands {
    fn start(threads: usize) -> Option<Hands> {
        let crew = Crew::start(threads - 1)?;
        let dispatch = |pause: Duration| {
            std::thread::sleep(pause);
            let (start, come) = (Instant::now(), AtomicU64::new(0));
            // Nobody leaves before all have come, or some are held up.
            crew.share(0, threads as u64, &|_, _| {
                come.fetch_add(1, Ordering::Relaxed);
                while come.load(Ordering::Relaxed) < threads as u64 && start.elapsed() < LONGEST_DISPATCH {
                    std::hint::spin_loop();
                }
            });
            start.elapsed().as_nanos() as f64
        };
        let least = |times: u32, pause: Duration| (0..times).map(|_| dispatch(pause)).fold(f64::INFINITY, f64::min);
        // Where all cores are busy at this moment nobody may have come at all: libraries that were just loaded often have threads that spin.
        let each = threads as f64;
        let wake_ns = least(3, 2 * crew.stays_awake()).min(10_000.0 + 1_000.0 * each);
        let dispatch_ns = least(9, Duration::ZERO).min(1_000.0 + 250.0 * each);
        Some(Hands { crew, dispatch_ns, wake_ns })
    }

    /// Calls `work(begin, end)` for parts of `begin..end`, on all threads.
    pub(super) fn share(&self, begin: u64, end: u64, work: &(dyn Fn(u64, u64) + Sync)) {
        self.crew.share(begin, end, work);
    }
}

/// A measurement of a dispatch that takes longer is given up.
const LONGEST_DISPATCH: Duration = Duration::from_micros(200);

/// No dispatch is cheaper than this, so that below it the threads need not even be asked.
const LEAST_SHARED_NS: f64 = 500.0;
