//! Which way messages of a GPU take where MPI takes its memory: from there or through the host, whichever is faster. Each process decides for itself: its
//! neighbours cannot tell.

use std::collections::HashMap;
use std::time::Duration;

use parloop_device::DeviceId;
use parloop_device::forked::Lock;

/// A way of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// MPI reads and writes memory of the GPU.
    Direct,
    /// Through memory of the host.
    Host,
}

/// Exchanges that are compared with each other: those of a device with about as many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alike {
    device: DeviceId,
    bytes: usize,
}

impl Alike {
    pub fn new(device: DeviceId, bytes: usize) -> Alike {
        Alike { device, bytes: bytes.next_power_of_two() }
    }

    /// The way of the next exchange: both in turn, until it is known which one is faster.
    pub fn route(self) -> Route {
        trials(|trials| trials.entry(self).or_default().route())
    }

    /// There is no memory for the direct way: it is not tried again.
    pub fn reject(self) {
        trials(|trials| trials.entry(self).or_default().is_rejected = true);
    }

    /// What an exchange took.
    pub fn took(self, route: Route, time: Duration) {
        trials(|trials| trials.entry(self).or_default().took(route, time));
    }
}

fn trials<R>(with: impl FnOnce(&mut HashMap<Alike, Trial>) -> R) -> R {
    static TRIALS: Lock<Option<HashMap<Alike, Trial>>> = Lock::new(None);
    with(TRIALS.lock_or(|| None).get_or_insert_default())
}

/// The first exchanges of each way compile kernels and make memory known to other processes.
const WARM: usize = 3;

/// How many are timed after them.
const TIMED: usize = 9;

/// The times of exchanges that are alike.
#[derive(Debug, Default)]
struct Trial {
    direct: Vec<Duration>,
    host: Vec<Duration>,
    is_rejected: bool,
}

impl Trial {
    fn route(&self) -> Route {
        let is_direct = match self.direct.len().min(self.host.len()) == WARM + TIMED {
            true => median(&self.direct) < median(&self.host),
            false => self.direct.len() <= self.host.len(),
        };
        if is_direct && !self.is_rejected { Route::Direct } else { Route::Host }
    }

    fn took(&mut self, route: Route, time: Duration) {
        let times = match route {
            Route::Direct => &mut self.direct,
            Route::Host => &mut self.host,
        };
        if times.len() < WARM + TIMED {
            times.push(time);
        }
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times[WARM..].to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs exchanges that take that long by each way, and gives the ways that were taken.
    fn routes(trial: &mut Trial, direct: impl Fn(usize) -> u64, host: u64) -> Vec<Route> {
        let mut taken = Vec::new();
        for turn in 0..60 {
            let route = trial.route();
            let time = if route == Route::Direct { direct(turn) } else { host };
            trial.took(route, Duration::from_micros(time));
            taken.push(route);
        }
        taken
    }

    #[test]
    fn both_ways_are_tried_and_the_faster_one_is_kept() {
        let taken = routes(&mut Trial::default(), |_| 10, 20);
        let tried = 2 * (WARM + TIMED);
        assert_eq!(taken[..tried].iter().filter(|&&route| route == Route::Host).count(), tried / 2);
        assert!(taken[tried..].iter().all(|&route| route == Route::Direct));
        let taken = routes(&mut Trial::default(), |_| 30, 20);
        assert!(taken[tried..].iter().all(|&route| route == Route::Host));
        let mut rejected = Trial { is_rejected: true, ..Trial::default() };
        assert!(routes(&mut rejected, |_| 1, 20).iter().all(|&route| route == Route::Host));
        // The first ones, and single late ones, do not count.
        let taken = routes(&mut Trial::default(), |turn| if turn < 4 || turn % 8 == 0 { 9000 } else { 10 }, 20);
        assert!(taken[tried..].iter().all(|&route| route == Route::Direct));
    }
}
