//! What is known about how a loop runs: the plans that were tried, their times, and the bytes that a run moves at least.

use std::fmt;
use std::time::Duration;

use super::scheme::{Order, Scheme, Strategy};
use crate::declare::arg::{ArgData, Part};
use crate::declare::map::Map;
use crate::lower::Batches;

/// How a loop runs on a device. See [`ParLoop::report`](crate::ParLoop::report).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReport {
    /// The kernel.
    pub kernel: String,
    /// The set.
    pub set: String,
    /// How many elements it visits.
    pub elements: usize,
    /// The device.
    pub device: String,
    /// The bytes that a run moves at least between memory and cores: each number that is touched is read once, written once, or both, and so are
    /// the maps.
    pub bytes: usize,
    /// The plans, the most promising first.
    pub plans: Vec<PlanReport>,
    /// How long a run takes, where it was measured: the last run on a CPU, the shortest of those that were waited for on a GPU.
    pub last: Option<Duration>,
    /// How often it ran.
    pub runs: u64,
}

/// A plan by which a loop can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReport {
    /// The plan, and what else distinguishes it from others: `owner`, `owner, lanes`, `owner, vectors`.
    pub name: String,
    /// What is known about it.
    pub state: PlanState,
    /// The median time of its trial runs.
    pub time: Option<Duration>,
}

/// What is known about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanState {
    /// It is used, and no others are tried any more.
    Chosen,
    /// It is used so far; others are yet to be tried.
    BestSoFar,
    /// It was slower.
    Slower,
    /// It was not tried.
    Untried,
}

impl fmt::Display for PlanState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PlanState::Chosen => "chosen",
            PlanState::BestSoFar => "best so far",
            PlanState::Slower => "slower",
            PlanState::Untried => "not tried",
        })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scheme {
            Scheme::Free => "free",
            Scheme::Sequential => "sequential",
            Scheme::Owner => "owner",
            Scheme::Strips => "strips",
            Scheme::Colour => "colour",
            Scheme::Gather => "gather",
            Scheme::Atomic => "atomic",
            Scheme::Shared => "shared",
        })?;
        f.write_str(match self.batches {
            Batches::Single => "",
            Batches::Calls => ", lanes",
            Batches::Vectors => ", vectors",
        })?;
        match self.order {
            Order::Given => Ok(()),
            Order::Near => f.write_str(", neighbouring elements in sequence"),
            Order::Packed => f.write_str(", packed data"),
        }
    }
}

/// The bytes that a run over this many elements moves at least: data, and the tables of maps.
pub fn least_bytes(parts: &[Part], stored: &[Map], elements: usize) -> usize {
    let mut bytes = 0usize;
    for (index, part) in parts.iter().enumerate() {
        let same = |other: &&Part| other.storage().is_same(part.storage());
        if parts[..index].iter().any(|other| same(&other)) {
            continue;
        }
        let (mut numbers, mut reads, mut writes) = (0usize, false, false);
        for part in parts.iter().filter(same) {
            let visits = if matches!(part.data, ArgData::Global(_)) { 1 } else { elements.saturating_mul(part.arity()) };
            numbers = numbers.saturating_add(visits.saturating_mul(part.count()));
            (reads, writes) = (reads || part.access.reads(), writes || part.access.writes());
        }
        let once = numbers.min(part.storage().len()).saturating_mul(part.dtype().size());
        bytes = bytes.saturating_add(once.saturating_mul(usize::from(reads) + usize::from(writes)));
    }
    stored
        .iter()
        .fold(bytes, |bytes, map| bytes.saturating_add(elements.saturating_mul(map.arity()).min(map.storage().len()) * size_of::<i32>()))
}
