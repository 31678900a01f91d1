//! Which of several jobs is the fastest: the first runs of a loop are timed, and the best is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use parloop_device::Memory;
use parloop_kernel::Context;
use smallvec::SmallVec;

use crate::Result;
use crate::identity::Id;
use crate::job::{Job, Making};
use crate::par_loop::LoopOptions;
use crate::scheme::Way;
use crate::shape::Shape;

/// Loops over fewer elements are not worth a measurement.
const WORTH_TIMING: usize = 20_000;

/// How often each way is run before one is chosen; the first run of each is not counted.
const TRIALS: usize = 3;

/// What is known about a loop: the ways to run it, and which is the best.
#[derive(Debug)]
pub struct Tuned {
    chosen: OnceLock<Arc<Job>>,
    trials: Mutex<Vec<Trial>>,
}

#[derive(Debug)]
struct Trial {
    job: Arc<Job>,
    runs: usize,
    best: Duration,
}

impl Tuned {
    /// Makes all jobs, or the first that can be made where it is not worth to time them.
    ///
    /// # Errors
    /// When none can be made: why the first cannot.
    pub fn new(making: &Making<'_>, ways: &[Way]) -> Result<Tuned> {
        let measured = ways.len() > 1 && making.set.size() >= WORTH_TIMING && !making.context.is_recording();
        let mut trials = Vec::new();
        let mut first_error = None;
        for &way in ways {
            match making.make(way) {
                Ok(job) => trials.push(Trial { job: Arc::new(job), runs: 0, best: Duration::MAX }),
                Err(error) => first_error = first_error.or(Some(error)),
            }
            if !measured && !trials.is_empty() {
                break;
            }
        }
        let chosen = OnceLock::new();
        match (&trials[..], first_error) {
            ([], Some(error)) => return Err(error),
            ([only], _) => _ = chosen.set(only.job.clone()),
            _ => {}
        }
        Ok(Tuned { chosen, trials: Mutex::new(trials) })
    }

    /// The job that was chosen, or the one that would be tried first.
    pub fn best_known(&self) -> Arc<Job> {
        self.chosen.get().cloned().unwrap_or_else(|| {
            let trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
            best(&trials).job.clone()
        })
    }

    /// Runs it, by the way whose turn it is as long as none is chosen.
    ///
    /// # Errors
    /// What the device says.
    pub fn run(&self, tables: &[Memory], maps: &[Memory], context: &Context) -> Result<()> {
        if let Some(job) = self.chosen.get() {
            return job.run(tables, maps);
        }
        if context.is_recording() {
            return self.best_known().run(tables, maps);
        }
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let next = trials.iter_mut().min_by_key(|trial| trial.runs).expect("invariant: there is at least one way");
        context.synchronize()?;
        let start = Instant::now();
        next.job.run(tables, maps)?;
        context.synchronize()?;
        if next.runs > 0 {
            next.best = next.best.min(start.elapsed());
        }
        next.runs += 1;
        if trials.iter().all(|trial| trial.runs >= TRIALS) {
            _ = self.chosen.set(best(&trials).job.clone());
            trials.clear();
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

/// What is known about the loops over a set, by what they are.
#[derive(Default)]
pub struct Known {
    loops: Mutex<HashMap<Key, Arc<Tuned>>>,
}

/// What tells loops over one set apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub kernel: Id,
    pub device: String,
    pub stream: u64,
    pub shape: Shape,
    pub maps: SmallVec<[Id; 4]>,
    pub options: LoopOptions,
}

impl Known {
    /// What is known about the loop of that key; made when it is not.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(&self, key: Key, make: impl FnOnce() -> Result<Tuned>) -> Result<Arc<Tuned>> {
        if let Some(tuned) = self.loops.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(tuned.clone());
        }
        // Made outside of the lock: compilation takes its time. Of two that are made at once one is kept.
        let tuned = Arc::new(make()?);
        Ok(self.loops.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(tuned).clone())
    }
}
