//! How contributions to elements of other processes reach their owners: these also run the elements that have them, or they are sent; whichever is
//! faster. All processes decide together, since they send different messages.

use std::collections::HashMap;
use std::time::Duration;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_device::{DType, DeviceError};
use parloop_kernel::KernelError;
use parloop_mpi::Comm;
use smallvec::SmallVec;

use crate::Result;
use crate::access::Access;
use crate::declare::halo::Halo;
use crate::declare::identity::{self, Id};
use crate::declare::layers::Region;

/// How contributions reach the owners of their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributions {
    /// The owner of a target also runs the elements of others that add to it.
    Recomputed,
    /// Each element is run once, and what it adds to targets of others is sent there.
    Sent,
}

/// Loops over one set whose times are compared with each other. All processes must tell them apart in the same way, so here is only what their programs say:
/// numbers of kernels and maps, devices and plans may differ between processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlikeLoops {
    pub kernel: String,
    pub parts: SmallVec<[AlikePart; 4]>,
    pub region: Region,
}

/// The part of an argument in a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlikePart {
    pub access: Access,
    pub is_mapped: bool,
    pub arity: usize,
    pub dtype: DType,
    pub count: usize,
}

/// What is known of the loops over a set.
#[derive(Debug, Default)]
struct OfSet {
    /// What the environment says, once the processes have found that it says the same to all.
    demanded: Option<Demanded>,
    trials: HashMap<AlikeLoops, Trial>,
}

/// The runs of loops that are alike, and what was decided from their times.
#[derive(Debug, Default)]
struct Trial {
    /// How often a run was asked for. It is the same on all processes.
    runs: usize,
    recomputed: Vec<Duration>,
    sent: Vec<Duration>,
    decided: Option<Contributions>,
}

/// Plans are tried, and messages made, in the first runs: these are not compared.
const FIRST: usize = 20;

/// In which order the runs that are timed are done, ten of each kind: not in turns, as programs do that run a loop twice in each of their steps.
const ORDER: [Contributions; 20] = {
    use Contributions::{Recomputed as R, Sent as S};
    [S, R, R, S, R, S, S, R, R, R, S, S, R, S, R, R, S, S, R, S]
};

/// How much faster it has to be to send contributions: times differ a little from one turn to the next.
const MARGIN: f64 = 0.95;

/// What the environment variable `PARLOOP_MPI_INC` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demanded {
    Nothing,
    Always(Contributions),
}

impl Demanded {
    const NAME: &str = "PARLOOP_MPI_INC";
    const EXPECTED: &str = "auto, recompute or send";

    /// What a value means, as a number that processes compare; one that is none of them for what means nothing.
    fn code(value: &str) -> u8 {
        ["auto", "recompute", "send"].iter().position(|known| *known == value).map_or(u8::MAX, |code| code as u8)
    }

    /// What it says to all processes, which must all call it.
    ///
    /// # Errors
    /// [`DeviceError::Variable`] on all of them, where it is not valid or not the same; what MPI says.
    fn agreed(comm: &Comm) -> Result<Demanded> {
        let value = std::env::var_os(Demanded::NAME).map_or_else(String::new, |value| value.to_string_lossy().into_owned());
        let value = if value.is_empty() { "auto".to_owned() } else { value };
        let code = Demanded::code(&value);
        let codes = comm.gather_alike(&[code])?;
        let refused = |value: String, expected: &str| {
            let expected = expected.to_owned();
            Err(KernelError::from(DeviceError::Variable { name: Demanded::NAME, value, expected }).into())
        };
        if code == u8::MAX {
            return refused(value, Demanded::EXPECTED);
        }
        if let Some(rank) = codes.iter().position(|&other| other != code) {
            return refused(format!("{value}, but not on rank {rank}"), "the same value on all processes");
        }
        Ok(match code {
            1 => Demanded::Always(Contributions::Recomputed),
            2 => Demanded::Always(Contributions::Sent),
            _ => Demanded::Nothing,
        })
    }
}

/// What is known of the loops over the set of a halo. It goes with the halo.
fn of_set<R>(halo: &Halo, with: impl FnOnce(&mut OfSet) -> R) -> R {
    static KNOWN: Lock<Option<HashMap<Id, OfSet>>> = Lock::new(None);
    static WATCH: Once<()> = Once::new();
    WATCH.get_or_init(|| identity::when_dropped(|halo| drop(KNOWN.lock_or(|| None).get_or_insert_default().remove(&halo))));
    with(KNOWN.lock_or(|| None).get_or_insert_default().entry(halo.id()).or_default())
}

impl AlikeLoops {
    /// How the next run over the set of a halo is done. `is_on_host`: this process has the data in memory of the host, from which it is sent at once. All
    /// processes must call it.
    ///
    /// # Errors
    /// [`DeviceError::Variable`]; what MPI says.
    pub fn next(&self, halo: &Halo, is_on_host: bool) -> Result<Contributions> {
        // Processes wait for each other without the lock.
        let comm = halo.comm();
        let demanded = match of_set(halo, |known| known.demanded) {
            Some(demanded) => demanded,
            None => {
                let agreed = Demanded::agreed(comm)?;
                of_set(halo, |known| known.demanded = Some(agreed));
                agreed
            }
        };
        if let Demanded::Always(contributions) = demanded {
            return Ok(contributions);
        }
        let due = of_set(halo, |known| match known.trials.get_mut(self) {
            Some(trial) => trial.due(),
            None => known.trials.entry(self.clone()).or_default().due(),
        });
        let decided = match due {
            Due::Run(contributions) => return Ok(contributions),
            // Rows in memory of a GPU would go to the host and back.
            Due::First => (!are_all(comm, is_on_host)?).then_some(Contributions::Recomputed),
            Due::Timed(_) => None,
            Due::Decision(own) => Some(faster(&comm.gather_alike(&own.map(f64::to_ne_bytes).concat())?)),
        };
        if let Some(decided) = decided {
            of_set(halo, |known| known.trials.entry(self.clone()).or_default().decided = Some(decided));
            return Ok(decided);
        }
        // What one process waits for another that is late from the run before is not to count.
        comm.barrier()?;
        Ok(if let Due::Timed(turn) = due { ORDER[turn] } else { ORDER[0] })
    }

    /// How long a run took on this process.
    pub fn took(&self, halo: &Halo, contributions: Contributions, time: Duration) {
        of_set(halo, |known| known.trials.get_mut(self).map(|trial| trial.took(contributions, time)));
    }
}

/// What is to be done before a run.
enum Due {
    /// Nothing.
    Run(Contributions),
    /// It is found out whether runs are timed.
    First,
    /// One of the runs that are timed.
    Timed(usize),
    /// It is decided, from the seconds of recomputed and of sent contributions.
    Decision([f64; 2]),
}

impl Trial {
    fn due(&mut self) -> Due {
        if let Some(decided) = self.decided {
            return Due::Run(decided);
        }
        let run = self.runs;
        self.runs += 1;
        match run.checked_sub(FIRST) {
            None => Due::Run(Contributions::Recomputed),
            Some(0) => Due::First,
            Some(turn) if turn < ORDER.len() => Due::Timed(turn),
            Some(_) => Due::Decision([median(&self.recomputed), median(&self.sent)]),
        }
    }

    fn took(&mut self, contributions: Contributions, time: Duration) {
        if self.decided.is_some() || self.runs <= FIRST {
            return;
        }
        match contributions {
            Contributions::Recomputed => self.recomputed.push(time),
            Contributions::Sent => self.sent.push(time),
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
    fn runs(recomputed: u64, sent: u64) -> Vec<Contributions> {
        let mut trial = Trial::default();
        let mut one = |_| {
            let contributions = match trial.due() {
                Due::Run(contributions) => contributions,
                Due::First => ORDER[0],
                Due::Timed(turn) => ORDER[turn],
                Due::Decision(own) => {
                    let decided = faster(&own.map(f64::to_ne_bytes).concat());
                    trial.decided = Some(decided);
                    decided
                }
            };
            trial.took(contributions, Duration::from_micros(if contributions == Contributions::Sent { sent } else { recomputed }));
            contributions
        };
        (0..FIRST + ORDER.len() + 10).map(&mut one).collect()
    }

    #[test]
    fn both_are_timed_and_the_faster_is_kept() {
        let found = runs(100, 50);
        assert!(found[..FIRST].iter().all(|&each| each == Contributions::Recomputed));
        let timed = &found[FIRST..][..ORDER.len()];
        assert_eq!(timed.iter().filter(|&&each| each == Contributions::Sent).count(), ORDER.len() / 2);
        assert!(found[FIRST + ORDER.len()..].iter().all(|&each| each == Contributions::Sent));
        // A little faster may be chance.
        for (recomputed, sent) in [(100, 98), (50, 100)] {
            assert!(runs(recomputed, sent)[FIRST + ORDER.len()..].iter().all(|&each| each == Contributions::Recomputed));
        }
    }

    #[test]
    fn the_slowest_process_decides() {
        let seconds = |each: &[f64]| each.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>();
        assert_eq!(faster(&seconds(&[3.0, 1.0, 2.0, 2.5])), Contributions::Sent);
        assert_eq!(faster(&seconds(&[3.0, 1.0, 2.0, 3.5])), Contributions::Recomputed);
        assert_eq!(faster(&seconds(&[3.0, f64::INFINITY])), Contributions::Recomputed);
    }
}
