//! Which of several ways to run a loop is the fastest: a loop that has run for a while is timed in each, and the best is kept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parloop_device::Memory;
use parloop_device::forked::Lock;
use parloop_kernel::Context;

use super::job::{Job, Making};
use super::scheme::Way;
use crate::Result;
use crate::shape::Shape;

/// Nanoseconds that a loop runs before other ways to run it are tried, and for each element: about as long as it takes to compile and to
/// plan them.
const WORTH_TRYING: (u64, u64) = (100_000_000, 300);

/// Nanoseconds that an element takes at least, where loops are only queued and their time is not known.
const LEAST_EACH: u64 = 10;

/// How often each way is run at least before one is chosen; the first run of each is not counted.
const TRIALS: usize = 5;

/// The time that ways are run before one is chosen, for short loops are hard to time, and how often that is at most.
const ENOUGH: (Duration, usize) = (Duration::from_millis(1), 20);

/// What is known about a loop: the ways to run it, and which is the best.
#[derive(Debug)]
pub struct Tuned {
    shape: Shape,
    /// The most promising way.
    first: Arc<Job>,
    chosen: OnceLock<Arc<Job>>,
    /// Nanoseconds that it ran so far.
    spent: AtomicU64,
    search: Lock<Search>,
}

#[derive(Debug, Default)]
struct Search {
    /// Ways that are made when it is worth to try them.
    others: Vec<Way>,
    trials: Vec<Trial>,
}

#[derive(Debug)]
struct Trial {
    job: Arc<Job>,
    runs: usize,
    total: Duration,
    best: Duration,
}

impl Trial {
    fn of(job: Arc<Job>) -> Trial {
        Trial { job, runs: 0, total: Duration::ZERO, best: Duration::MAX }
    }

    fn run(&mut self, with: &Run<'_>) -> Result<()> {
        with.context.synchronize()?;
        let start = Instant::now();
        self.job.run(with.tables, with.maps, with.context)?;
        with.context.synchronize()?;
        let time = start.elapsed();
        if self.runs > 0 {
            self.best = self.best.min(time);
            self.total += time;
        }
        self.runs += 1;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.runs >= TRIALS && (self.total >= ENOUGH.0 || self.runs >= ENOUGH.1)
    }
}

/// What a loop is run with.
pub struct Run<'a> {
    pub tables: &'a [Memory],
    pub maps: &'a [Memory],
    pub context: &'a Context,
}

impl Tuned {
    /// Makes the first of the ways that can be made.
    ///
    /// # Errors
    /// When none can be made: why the first cannot.
    pub fn new(making: &Making<'_>, ways: &[Way]) -> Result<Tuned> {
        let mut first_error = None;
        for (place, &way) in ways.iter().enumerate() {
            match making.make(way) {
                Ok(job) => return Ok(Tuned::with(making.shape.clone(), Arc::new(job), ways[place + 1..].to_vec())),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.expect("invariant: there is at least one way"))
    }

    fn with(shape: Shape, first: Arc<Job>, others: Vec<Way>) -> Tuned {
        let chosen = OnceLock::new();
        if others.is_empty() {
            _ = chosen.set(first.clone());
        }
        Tuned { shape, first, chosen, spent: AtomicU64::new(0), search: Lock::new(Search { others, trials: Vec::new() }) }
    }

    /// The job that was chosen, or the most promising one.
    pub fn best_known(&self) -> &Arc<Job> {
        self.chosen.get().unwrap_or(&self.first)
    }

    /// Runs it: by the most promising way at first, then by each way in turn, then by the best. `making` says what is made for a
    /// shape.
    ///
    /// # Errors
    /// What the device says.
    pub fn run<'a>(&'a self, with: &Run<'_>, elements: usize, making: impl FnOnce(&'a Shape) -> Making<'a>) -> Result<()> {
        if self.chosen.get().is_some() || with.context.is_recording() {
            return self.best_known().run(with.tables, with.maps, with.context);
        }
        let elements = elements as u64;
        if self.spent.load(Ordering::Relaxed) < WORTH_TRYING.0 + WORTH_TRYING.1 * elements {
            let start = Instant::now();
            self.first.run(with.tables, with.maps, with.context)?;
            let time = (start.elapsed().as_nanos() as u64).max(LEAST_EACH * elements);
            self.spent.fetch_add(time, Ordering::Relaxed);
            return Ok(());
        }
        let mut search = self.search.lock_or(Search::default);
        let others = std::mem::take(&mut search.others);
        if !others.is_empty() {
            let making = making(&self.shape);
            let made = others.into_iter().filter_map(|way| making.make(way).ok());
            search.trials = std::iter::once(self.first.clone()).chain(made.map(Arc::new)).map(Trial::of).collect();
        }
        let Some(next) = search.trials.iter_mut().filter(|trial| !trial.is_over()).min_by_key(|trial| trial.runs) else {
            return self.best_known().run(with.tables, with.maps, with.context);
        };
        next.run(with)?;
        if search.trials.iter().all(Trial::is_over) {
            _ = self.chosen.set(best(&search.trials).job.clone());
            search.trials.clear();
        }
        Ok(())
    }
}

/// The first way, unless another was clearly faster: machines are noisy, and the first is the most promising.
fn best(trials: &[Trial]) -> &Trial {
    let first = trials.first().expect("invariant: there is at least one way");
    let fastest = trials.iter().min_by_key(|trial| trial.best).unwrap_or(first);
    if fastest.best.as_secs_f64() < 0.95 * first.best.as_secs_f64() { fastest } else { first }
}
