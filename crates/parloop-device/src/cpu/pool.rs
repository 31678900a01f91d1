//! The threads of a CPU device, and what it costs to put them to work. The calling thread is one of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads are started at first use, and again in a child process after a fork, which inherits none of them.
pub(super) struct Pool {
    threads: usize,
    running: Mutex<Option<Running>>,
}

struct Running {
    process: u32,
    crew: Crew,
}

/// The threads at work, with the measured cost of one dispatch.
#[derive(Clone)]
pub(super) struct Crew {
    pool: Arc<ThreadPool>,
    pub(super) dispatch_ns: f64,
}

impl Pool {
    pub(super) fn new(threads: usize) -> Pool {
        Pool { threads, running: Mutex::new(None) }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// `None` when the system gives us no threads: the caller then does the work itself.
    pub(super) fn crew(&self) -> Option<Crew> {
        let mut running = self.running.lock().unwrap_or_else(|e| e.into_inner());
        let process = std::process::id();
        if running.as_ref().is_none_or(|running| running.process != process) {
            let started = Running::start(self.threads, process)?;
            // The threads of a pool from before a fork do not exist here; dropping it would wait for them for ever.
            std::mem::forget(running.replace(started));
        }
        running.as_ref().map(|running| running.crew.clone())
    }
}

impl Pool {
    /// The threads, if there is more than one item and sharing them out gains more than it costs.
    pub(super) fn crew_for(&self, items: u64, expected_ns: f64) -> Option<Crew> {
        let gain = expected_ns * (1.0 - 1.0 / self.threads as f64);
        if self.threads == 1 || items < 2 || gain < LEAST_SHARED_NS {
            return None;
        }
        self.crew().filter(|crew| gain > crew.dispatch_ns)
    }
}

impl Running {
    fn start(threads: usize, process: u32) -> Option<Running> {
        let pool = ThreadPoolBuilder::new().num_threads(threads - 1).thread_name(|index| format!("parloop-{index}")).build().ok()?;
        let mut crew = Crew { pool: Arc::new(pool), dispatch_ns: 0.0 };
        let mut samples: Vec<f64> = (0..9)
            .map(|_| {
                let start = Instant::now();
                crew.share(0, threads as u64, |_, _| ());
                start.elapsed().as_nanos() as f64
            })
            .collect();
        samples.sort_by(f64::total_cmp);
        crew.dispatch_ns = samples[samples.len() / 2];
        Some(Running { process, crew })
    }
}

impl Crew {
    /// Calls `work(begin, end)` for parts of `begin..end`, on all threads.
    ///
    /// The caller works too: it is awake already, and two sleepers are often woken on one core.
    pub(super) fn share(&self, begin: u64, end: u64, work: impl Fn(u64, u64) + Sync) {
        let len = end - begin;
        let others = self.pool.current_num_threads() as u64;
        let parts = len.min((others + 1) * PARTS_PER_THREAD);
        let edge = |part: u64| begin + (u128::from(len) * u128::from(part) / u128::from(parts)) as u64;
        let next = AtomicU64::new(0);
        let drain = || {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    break;
                }
                work(edge(part), edge(part + 1));
            }
        };
        self.pool.in_place_scope(|scope| {
            (0..others.min(parts - 1)).for_each(|_| scope.spawn(|_| drain()));
            drain();
        });
    }
}

/// No dispatch is cheaper than this, so that below it the threads need not even be asked.
pub(super) const LEAST_SHARED_NS: f64 = 500.0;

/// Enough parts that a thread which is late does not hold up the rest for long.
const PARTS_PER_THREAD: u64 = 8;
