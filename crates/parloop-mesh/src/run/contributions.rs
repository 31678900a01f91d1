//! How contributions to elements of other processes reach their owners: these also run the elements that have them, or they are sent; whichever is
//! faster. All processes decide together, since they send different messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parloop_device::DeviceError;
use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_kernel::KernelError;
use parloop_mpi::Comm;
use smallvec::SmallVec;

use super::options::LoopOptions;
use crate::Result;
use crate::access::Access;
use crate::declare::halo::Halo;
use crate::declare::identity::{self, Id};

/// How contributions reach the owners of their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributions {
    /// The owner of a target also runs the elements of others that add to it.
    Recomputed,
    /// Each element is run once, and what it adds to targets of others is sent there.
    Sent,
}

/// Loops over one set whose times are compared with each other. All processes tell them apart in the same way: nothing here depends on a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlikeLoops {
    pub kernel: Id,
    pub parts: SmallVec<[(Access, Option<Id>); 4]>,
    pub options: LoopOptions,
}

/// The runs of loops that are alike, and what was decided from their times.
#[derive(Debug, Default)]
pub struct Trial {
    state: Lock<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// How often a run was asked for. It is the same on all processes.
    runs: usize,
    recomputed: Vec<Duration>,
    sent: Vec<Duration>,
    decided: Option<Contributions>,
}

/// Plans are tried, and messages made, in the first runs: these are not compared.
const FIRST: usize = 20;

/// How many runs of each kind are timed.
const TIMED: usize = 10;

/// In which order they are run: not one after the other in turns, as programs do that run a loop twice in each of their steps.
const ORDER: [Contributions; 4] = [Contributions::Sent, Contributions::Recomputed, Contributions::Recomputed, Contributions::Sent];

/// How much faster it has to be to send contributions: times differ a little from one turn to the next.
const MARGIN: f64 = 0.95;

/// What the environment variable `PARLOOP_MPI_INC` says, if it says anything.
///
/// # Errors
/// [`DeviceError::Variable`].
fn demanded() -> Result<Option<Contributions>> {
    static DEMANDED: Once<std::result::Result<Option<Contributions>, String>> = Once::new();
    let found = DEMANDED.get_or_init(|| match std::env::var_os("PARLOOP_MPI_INC") {
        None => Ok(None),
        Some(value) => match value.to_string_lossy().as_ref() {
            "" | "auto" => Ok(None),
            "recompute" => Ok(Some(Contributions::Recomputed)),
            "send" => Ok(Some(Contributions::Sent)),
            other => Err(other.to_owned()),
        },
    });
    let unknown = |value: &String| {
        let expected = "auto, recompute or send".to_owned();
        KernelError::from(DeviceError::Variable { name: "PARLOOP_MPI_INC", value: value.clone(), expected })
    };
    Ok(found.as_ref().copied().map_err(unknown)?)
}

impl Trial {
    /// The trial of loops over a set that are alike. It goes with the halo of the set.
    pub fn of(halo: &Halo, alike: AlikeLoops) -> Arc<Trial> {
        type Trials = HashMap<AlikeLoops, Arc<Trial>>;
        static TRIALS: Lock<Option<HashMap<Id, Trials>>> = Lock::new(None);
        static WATCH: Once<()> = Once::new();
        WATCH.get_or_init(|| identity::when_dropped(|halo| drop(TRIALS.lock_or(|| None).get_or_insert_default().remove(&halo))));
        TRIALS.lock_or(|| None).get_or_insert_default().entry(halo.id()).or_default().entry(alike).or_default().clone()
    }

    /// How the next run is done. `is_on_host`: this process has the data in memory of the host, from which it is sent at once. All processes must call it.
    ///
    /// # Errors
    /// What MPI says.
    pub fn next(&self, comm: &Comm, is_on_host: bool) -> Result<Contributions> {
        if let Some(demanded) = demanded()? {
            return Ok(demanded);
        }
        let mut state = self.state.lock_or(State::default);
        if let Some(decided) = state.decided {
            return Ok(decided);
        }
        let run = state.runs;
        state.runs += 1;
        if run < FIRST {
            return Ok(Contributions::Recomputed);
        }
        let own = [median(&state.recomputed), median(&state.sent)];
        // Processes wait for each other without the lock.
        drop(state);
        let decided = match run - FIRST {
            // Rows in memory of a GPU would go to the host and back.
            0 => (!are_all(comm, is_on_host)?).then_some(Contributions::Recomputed),
            turn if turn < 2 * TIMED => None,
            _ => Some(faster(&comm.gather_alike(&own.map(f64::to_ne_bytes).concat())?)),
        };
        self.state.lock_or(State::default).decided = decided;
        if decided.is_none() {
            // What one process waits for another that is late from the run before is not to count.
            comm.barrier()?;
        }
        Ok(decided.unwrap_or(ORDER[(run - FIRST) % ORDER.len()]))
    }

    /// How long a run took on this process.
    pub fn took(&self, contributions: Contributions, time: Duration) {
        let mut state = self.state.lock_or(State::default);
        if state.decided.is_some() || state.runs <= FIRST {
            return;
        }
        match contributions {
            Contributions::Recomputed => state.recomputed.push(time),
            Contributions::Sent => state.sent.push(time),
        }
    }
}

fn are_all(comm: &Comm, own: bool) -> Result<bool> {
    Ok(comm.gather_alike(&[u8::from(own)])?.iter().all(|&each| each == 1))
}

/// In seconds; as long as can be where nothing was timed.
fn median(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map_or(f64::INFINITY, Duration::as_secs_f64)
}

/// What is faster on the slowest process: from the seconds of recomputed and of sent contributions on each.
fn faster(seconds: &[u8]) -> Contributions {
    let slowest = |kind: usize| {
        let of_kind = seconds.chunks_exact(size_of::<f64>()).skip(kind).step_by(2);
        of_kind.map(|bytes| f64::from_ne_bytes(bytes.try_into().expect("invariant: eight bytes"))).fold(0.0, f64::max)
    };
    if slowest(1) < MARGIN * slowest(0) { Contributions::Sent } else { Contributions::Recomputed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs loops that take this many microseconds, and gives how they were run.
    fn runs(is_on_host: bool, recomputed: u64, sent: u64) -> Vec<Contributions> {
        let (trial, comm) = (Trial::default(), Comm::alone());
        let one = |_| {
            let contributions = trial.next(&comm, is_on_host).unwrap();
            trial.took(contributions, Duration::from_micros(if contributions == Contributions::Sent { sent } else { recomputed }));
            contributions
        };
        (0..FIRST + 2 * TIMED + 10).map(one).collect()
    }

    #[test]
    fn both_are_timed_and_the_faster_is_kept() {
        let found = runs(true, 100, 50);
        assert!(found[..FIRST].iter().all(|&each| each == Contributions::Recomputed));
        assert_eq!(found[FIRST..][..2 * TIMED].iter().filter(|&&each| each == Contributions::Sent).count(), TIMED);
        assert!(found[FIRST + 2 * TIMED..].iter().all(|&each| each == Contributions::Sent));
        // A little faster may be chance.
        for (recomputed, sent) in [(100, 98), (50, 100)] {
            assert!(runs(true, recomputed, sent)[FIRST + 2 * TIMED..].iter().all(|&each| each == Contributions::Recomputed));
        }
        assert!(runs(false, 100, 50).iter().all(|&each| each == Contributions::Recomputed));
    }

    #[test]
    fn the_slowest_process_decides() {
        let seconds = |each: &[f64]| each.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>();
        assert_eq!(faster(&seconds(&[3.0, 1.0, 2.0, 2.5])), Contributions::Sent);
        assert_eq!(faster(&seconds(&[3.0, 1.0, 2.0, 3.5])), Contributions::Recomputed);
        assert_eq!(faster(&seconds(&[3.0, f64::INFINITY])), Contributions::Recomputed);
    }
}
