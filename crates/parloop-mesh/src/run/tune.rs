//! Finds the fastest plan of a loop: once a loop has run for a while, the others are tried one after another and the best is kept. Trials
//! take at most a tenth of the time that the loop has run.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parloop_device::Memory;
use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_kernel::Context;
use rustix::time::{ClockId, clock_gettime};

use super::job::{Job, Making, machine_of};
use super::report::{PlanReport, PlanState};
use super::scheme::Strategy;
use super::strategy_cache::StrategyEntry;
use crate::Result;
use crate::lower::Machine;
use crate::shape::Shape;

/// Trying may take one part in this many of the time that the loop has run.
const SHARE: u32 = 10;

/// The runs on a GPU that are waited for, to learn how long a run takes: the others are only queued. The first run may load code.
const TIMED: Range<u64> = 1..4;

/// Nanoseconds of a run that was not timed.
const UNKNOWN: u64 = u64::MAX;

/// How often each strategy is run at least before it is judged; the first run of each is not counted.
const TRIALS: usize = 7;

/// The time that a strategy is run before it is judged, for short loops are hard to time, and how often that is at most.
const ENOUGH: (Duration, usize) = (Duration::from_millis(1), 30);

/// Another strategy must be at least so much faster than the most promising one: machines are noisy.
const MARGIN: f64 = 0.95;

/// The tuning state of a loop: its plans, and which is the best.
#[derive(Debug)]
pub struct Tuned {
    shape: Shape,
    /// The most promising strategy.
    first: Arc<Job>,
    /// A better one, if one was found.
    better: Lock<Option<Arc<Job>>>,
    chosen: Once<Arc<Job>>,
    /// All strategies, the most promising first, and how long those that were tried took.
    known: Lock<Vec<(Strategy, Option<Duration>)>>,
    /// How often it ran, and how many nanoseconds a run takes: the last one on a CPU, the shortest of those that were timed on a GPU.
    runs: AtomicU64,
    each: AtomicU64,
    /// Nanoseconds that it ran so far.
    spent: AtomicU64,
    /// Nanoseconds that it must have run before a strategy is tried.
    worth_trying: AtomicU64,
    search: Lock<Search>,
}

#[derive(Debug, Default)]
struct Search {
    kept: Option<StrategyEntry>,
    /// Strategies that were not tried, the most promising last.
    others: Vec<Strategy>,
    /// The most promising strategy, the best of the others, and one that is being tried.
    trials: Vec<Trial>,
    /// What was spent on trying: to make strategies, and in runs that took longer than those of the first.
    cost: Duration,
    /// How long it takes to make a strategy.
    making: Duration,
}

#[derive(Debug)]
struct Trial {
    job: Arc<Job>,
    runs: usize,
    times: Vec<Duration>,
}

impl Trial {
    fn of(job: Arc<Job>) -> Trial {
        Trial { job, runs: 0, times: Vec::new() }
    }

    fn run(&mut self, with: &Run<'_>) -> Result<Duration> {
        with.context.synchronize()?;
        let clock = Clock::of(with.context);
        let start = clock.now();
        self.job.run(with.tables, with.maps, with.context)?;
        with.context.synchronize()?;
        let time = clock.now().saturating_sub(start);
        if self.runs > 0 {
            self.times.push(time);
        }
        self.runs += 1;
        Ok(time)
    }

    fn is_over(&self) -> bool {
        self.runs > TRIALS && (self.times.iter().sum::<Duration>() >= ENOUGH.0 || self.runs > ENOUGH.1)
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(Duration::MAX)
    }
}

/// What strategies are compared by.
#[derive(Clone, Copy)]
enum Clock {
    /// The time that passes.
    Wall(Instant),
    /// The time that this thread computes, where it is the only one: what else runs on the machine does not count.
    OwnThread,
}

impl Clock {
    fn of(context: &Context) -> Clock {
        match machine_of(context) == Machine::Threads && context.device().properties().compute_units == 1 {
            true => Clock::OwnThread,
            false => Clock::Wall(Instant::now()),
        }
    }

    fn now(self) -> Duration {
        match self {
            Clock::Wall(start) => start.elapsed(),
            Clock::OwnThread => {
                let time = clock_gettime(ClockId::ThreadCPUTime);
                Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
            }
        }
    }
}

/// What a loop is run with.
pub struct Run<'a> {
    pub tables: &'a [Memory],
    pub maps: &'a [Memory],
    pub context: &'a Context,
}

impl Tuned {
    /// Makes the strategy that was kept by an earlier process, or the first of the strategies that can be made.
    ///
    /// # Errors
    /// When none can be made: why the first cannot.
    pub fn new(making: &Making<'_>, strategies: &[Strategy], kept: impl FnOnce() -> StrategyEntry) -> Result<Tuned> {
        let kept = (strategies.len() > 1).then(kept);
        if let Some(strategy) = kept.and_then(|kept| kept.recall(strategies))
            && let Ok(job) = making.make(strategy)
        {
            return Ok(Tuned::with(making.shape.clone(), strategies, job, Search::default()));
        }
        let mut first_error = None;
        for (place, &strategy) in strategies.iter().enumerate() {
            let start = Instant::now();
            match making.make(strategy) {
                Ok(job) => {
                    let others = strategies[place + 1..].iter().rev().copied().collect();
                    let search = Search { kept, others, making: start.elapsed(), ..Search::default() };
                    return Ok(Tuned::with(making.shape.clone(), strategies, job, search));
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.expect("invariant: there is at least one strategy"))
    }

    fn with(shape: Shape, strategies: &[Strategy], job: Job, mut search: Search) -> Tuned {
        let (first, chosen) = (Arc::new(job), Once::new());
        if search.others.is_empty() {
            _ = chosen.set(first.clone());
        }
        search.trials.push(Trial::of(first.clone()));
        let worth_trying = AtomicU64::new(nanoseconds(search.needed()));
        Tuned {
            shape,
            first,
            better: Lock::default(),
            chosen,
            known: Lock::new(strategies.iter().map(|&strategy| (strategy, None)).collect()),
            runs: AtomicU64::new(0),
            each: AtomicU64::new(UNKNOWN),
            spent: AtomicU64::new(0),
            worth_trying,
            search: Lock::new(search),
        }
    }

    /// What is known about the strategies, the most promising first.
    pub fn strategies(&self) -> Vec<PlanReport> {
        let (used, is_chosen) = (self.best_known().strategy, self.chosen.get().is_some());
        let state = |strategy: Strategy, time: Option<Duration>| match (strategy == used, time) {
            (true, _) if is_chosen => PlanState::Chosen,
            (true, _) => PlanState::BestSoFar,
            (false, Some(_)) => PlanState::Slower,
            (false, None) => PlanState::Untried,
        };
        let known = self.known.lock_or(Vec::new);
        known.iter().map(|&(strategy, time)| PlanReport { name: strategy.to_string(), state: state(strategy, time), time }).collect()
    }

    /// How often it ran, and how long a run takes.
    pub fn runs(&self) -> (u64, Option<Duration>) {
        let each = self.each.load(Ordering::Relaxed);
        (self.runs.load(Ordering::Relaxed), (each != UNKNOWN).then(|| Duration::from_nanos(each)))
    }

    /// Remembers how long the strategies on trial took.
    fn note(&self, search: &Search) {
        let mut known = self.known.lock_or(Vec::new);
        for trial in search.trials.iter().filter(|trial| !trial.times.is_empty()) {
            if let Some((_, time)) = known.iter_mut().find(|(strategy, _)| *strategy == trial.job.strategy) {
                *time = Some(trial.median());
            }
        }
    }

    /// One run of a job, with the time that it takes as far as that is known.
    fn run_once(&self, job: &Job, with: &Run<'_>) -> Result<Duration> {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        let is_timed = machine_of(with.context) == Machine::Gpu && self.chosen.get().is_none() && TIMED.contains(&runs);
        if is_timed {
            with.context.synchronize()?;
        }
        let start = Instant::now();
        job.run(with.tables, with.maps, with.context)?;
        if is_timed {
            with.context.synchronize()?;
        }
        let time = start.elapsed();
        self.ran(time, is_timed, with);
        Ok(time)
    }

    /// Notes how long a run takes: on a CPU it is over when it returns, on a GPU once it was waited for.
    fn ran(&self, time: Duration, is_over: bool, with: &Run<'_>) {
        if machine_of(with.context) == Machine::Threads {
            self.each.store(nanoseconds(time), Ordering::Relaxed);
        } else if is_over {
            self.each.fetch_min(nanoseconds(time), Ordering::Relaxed);
        }
    }

    /// The job that was chosen, or the best so far.
    pub fn best_known(&self) -> Arc<Job> {
        let better = || self.better.lock_or(|| None).clone();
        self.chosen.get().cloned().or_else(better).unwrap_or_else(|| self.first.clone())
    }

    /// Runs it: by the most promising strategy at first, then also by other strategies, then by the best. `making` says what is made for a shape.
    ///
    /// # Errors
    /// What the device says.
    pub fn run<'a>(&'a self, with: &Run<'_>, making: impl FnOnce(&'a Shape) -> Making<'a>) -> Result<()> {
        if with.context.is_recording() {
            return self.best_known().run(with.tables, with.maps, with.context);
        }
        if let Some(chosen) = self.chosen.get() {
            return self.run_once(chosen, with).map(drop);
        }
        if self.spent.load(Ordering::Relaxed) < self.worth_trying.load(Ordering::Relaxed) {
            let time = nanoseconds(self.run_once(&self.best_known(), with)?);
            let queued = machine_of(with.context) == Machine::Gpu;
            let each = self.each.load(Ordering::Relaxed);
            self.spent.fetch_add(if queued && each != UNKNOWN { time.max(each) } else { time }, Ordering::Relaxed);
            return Ok(());
        }
        let mut search = self.search.lock_or(Search::default);
        if self.chosen.get().is_some() || search.trials.is_empty() {
            return self.run_once(&self.best_known(), with).map(drop);
        }
        if search.trials.len() == 1 {
            search.make_next(&making(&self.shape));
        }
        let time = search.step(with)?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.ran(time, true, with);
        self.spent.fetch_add(nanoseconds(time), Ordering::Relaxed);
        self.note(&search);
        if search.is_over() {
            let best = search.best();
            if let Some(kept) = search.kept {
                kept.keep(best.job.strategy);
            }
            _ = self.chosen.set(best.job.clone());
            search.trials.clear();
            return Ok(());
        }
        if search.is_decided() {
            search.keep_better();
        }
        if let [best] = &search.trials[..] {
            *self.better.lock_or(|| None) = Some(best.job.clone());
            self.worth_trying.store(nanoseconds(search.needed()), Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Search {
    /// How long the loop must have run before the next strategy is tried.
    fn needed(&self) -> Duration {
        SHARE * (self.cost + self.making)
    }

    /// Makes the next of the other strategies that can be made.
    fn make_next(&mut self, making: &Making<'_>) {
        let start = Instant::now();
        while let Some(strategy) = self.others.pop() {
            if let Ok(job) = making.make(strategy) {
                self.trials.push(Trial::of(Arc::new(job)));
                break;
            }
        }
        self.cost += start.elapsed();
    }

    /// One run, of the strategy that ran the least often. Both strategies run in turn, so that what disturbs the machine disturbs both.
    fn step(&mut self, with: &Run<'_>) -> Result<Duration> {
        let usual = self.trials[0].times.iter().min().copied();
        let next = self.trials.iter_mut().enumerate().filter(|(_, trial)| !trial.is_over()).min_by_key(|(_, trial)| trial.runs);
        let Some((place, next)) = next else {
            return self.trials[0].run(with);
        };
        let time = next.run(with)?;
        if place > 0 {
            self.cost += usual.map_or(Duration::ZERO, |usual| time.saturating_sub(usual));
        }
        Ok(time)
    }

    /// Whether the better of two strategies is known, and others are left.
    fn is_decided(&self) -> bool {
        self.trials.iter().all(Trial::is_over) && !self.others.is_empty()
    }

    /// Of the two strategies that were tried the better one stays, and the next is tried against it.
    fn keep_better(&mut self) {
        let better = self.place_of_best();
        let mut kept = self.trials.swap_remove(better);
        self.trials.clear();
        kept.runs = 1;
        kept.times.clear();
        self.trials.push(kept);
    }

    fn is_over(&self) -> bool {
        self.others.is_empty() && self.trials.iter().all(Trial::is_over)
    }

    /// The strategy that was the best so far, unless another was clearly faster.
    fn place_of_best(&self) -> usize {
        match &self.trials[..] {
            [known, new] if new.median().as_secs_f64() < MARGIN * known.median().as_secs_f64() => 1,
            _ => 0,
        }
    }

    fn best(&self) -> &Trial {
        &self.trials[self.place_of_best()]
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
