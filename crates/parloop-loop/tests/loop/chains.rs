//! Random chains of transformations on random kernels whose numbers depend on order: each chain is refused, or the compiled kernel gives
//! the numbers of the interpreter for the kernel as created, bit for bit, on every device.
//!
//! `make fuzz` runs many; `PARLOOP_CHAINS_SEED=17` reruns one and prints all details.

mod arguments;
mod case;
mod chain;
mod counts;
mod draw;
mod found;
mod oracle;
mod reverse;
mod sample;
mod shrink;
mod steps;
mod verify;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parloop_loop::transform::known_steps;

use case::Case;
use counts::Counts;
use verify::Outcome;
use worker::{SERVES, Worker};

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(format!("PARLOOP_CHAINS_{name}")).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("PARLOOP_CHAINS_{name} is `{text}`, which is not a number")))
}

/// This many failures of one kind are made as small as they can be.
const ALIKE: usize = 3;

struct Failure {
    seed: u64,
    case: Case,
    outcome: Outcome,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { seed, case, outcome } = self;
        writeln!(f, "---- seed {seed}: PARLOOP_CHAINS_SEED={seed} runs it again\n{case}")?;
        match outcome {
            Outcome::Wrong { device, message } => writeln!(f, "wrong numbers on {device} {message}"),
            Outcome::Failed { device, what, message } => writeln!(f, "{what} on {device}: {message}"),
            other => writeln!(f, "{other:?}"),
        }
    }
}

/// How a failure looks: what happened, and the transformations of the smallest chain.
fn class(case: &Case, outcome: &Outcome) -> String {
    let what = match outcome {
        Outcome::Wrong { .. } => "wrong".to_owned(),
        Outcome::Failed { what, message, .. } if what == "panic" => format!("panic {}", message.rsplit(" at ").next().unwrap_or_default()),
        Outcome::Failed { what, .. } => what.clone(),
        _ => "other".to_owned(),
    };
    let steps: Vec<&str> = case.steps.iter().filter_map(|step| step.split(' ').next()).collect();
    format!("{what}: {}", steps.join(", "))
}

/// Runs the seeds in processes side by side; stops when there are this many failures.
fn run(first: u64, cases: u64, most_failures: usize, progress: bool) -> (Counts, Vec<Failure>) {
    let folder = tempfile::tempdir().unwrap();
    let (next, failed) = (AtomicU64::new(first), AtomicUsize::new(0));
    let (counts, failures) = (Mutex::new(Counts::default()), Mutex::new(Vec::<Failure>::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut worker = Worker::new(folder.path());
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || failed.load(Ordering::Relaxed) >= most_failures {
                        break;
                    }
                    // OpenCL compilers take longest.
                    let answer = worker.seed(seed, seed % 4 != 0);
                    counts.lock().unwrap().add(&answer);
                    if answer.outcome.is_failure() {
                        failed.fetch_add(1, Ordering::Relaxed);
                        let case = answer.case.unwrap_or(Case { kernel: String::new(), sizes: Vec::new(), steps: Vec::new() });
                        let is_known = |case: &Case, outcome: &Outcome| {
                            let alike = |known: &&Failure| class(&known.case, &known.outcome) == class(case, outcome);
                            failures.lock().unwrap().iter().filter(alike).count() >= ALIKE
                        };
                        let (case, outcome) = match case.sizes.is_empty() {
                            true => (case, answer.outcome),
                            false => shrink::shrink(&mut worker, &case, &answer.outcome, &is_known),
                        };
                        let failure = Failure { seed, case, outcome };
                        if progress {
                            eprintln!("{failure}");
                        }
                        failures.lock().unwrap().push(failure);
                    }
                    if progress && seed % 100 == 99 {
                        let counts = counts.lock().unwrap();
                        eprintln!(
                            "{} of {cases}: {} accepted, {} failed",
                            seed + 1 - first,
                            counts.accepted,
                            failed.load(Ordering::Relaxed)
                        );
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort_by_key(|failure: &Failure| failure.seed);
    (counts.into_inner().unwrap(), failures)
}

fn report(failures: &[Failure]) -> String {
    let mut classes: BTreeMap<String, Vec<&Failure>> = BTreeMap::new();
    failures.iter().for_each(|failure| classes.entry(class(&failure.case, &failure.outcome)).or_default().push(failure));
    let mut text = String::new();
    for (class, failures) in &classes {
        let seeds: Vec<String> = failures.iter().map(|failure| failure.seed.to_string()).collect();
        let smallest = failures.iter().min_by_key(|failure| failure.case.to_string().len());
        text += &format!("==== {class} ({} times; seeds {})\n", failures.len(), seeds.join(" "));
        smallest.iter().for_each(|failure| text += &failure.to_string());
    }
    text
}

fn print_refused(counts: &Counts, wanted: u64) {
    let mut draw = draw::Draw::seeded(counts.refused.len() as u64);
    for _ in 0..wanted.min(counts.refused.len() as u64) {
        let (case, message) = &counts.refused[draw.below(counts.refused.len())];
        println!("---- refused: {message}\n{case}");
    }
}

#[test]
#[ignore = "started by the test of chains"]
fn a_worker_runs_cases() {
    if std::env::var(SERVES).is_ok() {
        worker::serve();
    }
}

#[test]
fn every_transformation_is_drawn() {
    let drawn: BTreeSet<&str> = steps::drawn_steps().chain(steps::NOT_DRAWN).collect();
    assert_eq!(drawn, known_steps().collect());
}

#[test]
fn chains_of_transformations_are_refused_or_change_no_numbers() {
    if let Some(seed) = setting("SEED") {
        let (counts, failures) = run(seed, 1, 1, true);
        println!("{counts}");
        return assert!(failures.is_empty(), "{}", report(&failures));
    }
    let cases = setting("CASES");
    let most_failures = setting("FAILURES").unwrap_or(if cases.is_some() { u64::MAX } else { 5 });
    let most_failures = usize::try_from(most_failures).unwrap_or(usize::MAX);
    let (counts, failures) = run(setting("FIRST").unwrap_or(0), cases.unwrap_or(400), most_failures, cases.is_some());
    println!("{counts}");
    print_refused(&counts, setting("REFUSED").unwrap_or(0));
    if let Ok(path) = std::env::var("PARLOOP_CHAINS_REPORT") {
        std::fs::write(path, format!("{counts}\n{}", report(&failures))).unwrap();
    }
    assert!(failures.is_empty(), "{}", report(&failures));
    assert!(counts.accepted_percent() >= 50, "only {} of 100 chains are accepted", counts.accepted_percent());
    // Some are refused nearly always, so that a short run need not see all of them.
    if cases.is_some_and(|cases| cases >= 5000) {
        let never = counts.never_accepted(steps::drawn_steps());
        assert!(never.is_empty(), "no chain with {never:?} is accepted");
    }
}
