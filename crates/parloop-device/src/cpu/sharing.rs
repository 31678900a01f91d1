//! Where the items of a kernel run: short ranges on the calling thread, long ones on all threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::pool::{Hands, Pool};

/// The threads of a device, and what a kernel was measured to cost.
pub(super) struct Sharing {
    pool: Arc<Pool>,
    cost: Cost,
}

impl Sharing {
    pub(super) fn new(pool: Arc<Pool>) -> Sharing {
        Sharing { pool, cost: Cost::default() }
    }

    /// Calls `run(begin, end)` for parts of `0..range`, here or on all threads.
    pub(super) fn run(&self, range: u64, run: impl Fn(u64, u64) + Sync) {
        if self.pool.threads() == 1 || range == 1 {
            run(0, range);
            return;
        }
        let mut begin = 0;
        let mut hands = self.worth_sharing(range, 1.0);
        if !self.cost.is_known() {
            // A kernel of unknown cost runs on two small parts alone: the first items of all find everything cold.
            for _ in 0..2 {
                begin = self.run_alone(begin, range, range.div_ceil(64), &run);
            }
            hands = self.worth_sharing(range - begin, 1.0);
        } else if hands.is_some() && self.cost.is_doubted() {
            // On a part that takes little of what a shared call takes.
            begin = self.run_alone(begin, range, range.div_ceil(16 * self.pool.threads() as u64), &run);
            hands = self.worth_sharing(range - begin, DOUBTFUL);
        }
        if let Some(hands) = hands {
            self.share(&hands, begin, range, run);
            return;
        }
        self.cost.trust();
        // Items may be more expensive than they were in the last call, so that a range of some length is looked at once more on its way.
        if range - begin >= LEAST_LOOK {
            begin = self.run_alone(begin, range, (range - begin) / 8, &run);
            if let Some(hands) = self.worth_sharing(range - begin, 1.0) {
                self.share(&hands, begin, range, run);
                return;
            }
        }
        self.run_alone(begin, range, range, &run);
    }

    /// Runs at most `items` items from `begin` on here and now, and returns where they end.
    fn run_alone(&self, begin: u64, end: u64, items: u64, run: &impl Fn(u64, u64)) -> u64 {
        let stop = end.min(begin.saturating_add(items));
        if begin < stop {
            self.measure(stop - begin, 1.0, 0.0, || run(begin, stop));
        }
        stop
    }

    fn share(&self, hands: &Hands, begin: u64, end: u64, run: impl Fn(u64, u64) + Sync) {
        self.measure(end - begin, self.pool.threads() as f64, hands.dispatch_ns, || hands.share(begin, end, &run));
    }

    /// The threads, if `items` items are expected to cost more than this many times putting them to it.
    fn worth_sharing(&self, items: u64, times: f64) -> Option<Arc<Hands>> {
        let expected_ns = self.cost.per_item() * items as f64;
        self.pool.hands_for(items, expected_ns).filter(|hands| expected_ns >= times * hands.dispatch_ns)
    }

    fn measure(&self, items: u64, threads: f64, overhead_ns: f64, work: impl FnOnce()) {
        let start = self.pool.now();
        work();
        let end = self.pool.now();
        self.pool.was_busy(end);
        self.cost.set(((end - start) as f64 - overhead_ns).max(1.0) * threads / items as f64);
    }
}

/// Looking at the clock once more costs as much as some tens of small items.
const LEAST_LOOK: u64 = 32;

/// A measurement of few items is exact enough to share work that is worth more than this many dispatches.
const DOUBTFUL: f64 = 20.0;

/// What one item of a kernel's range costs, measured as it runs.
#[derive(Default)]
struct Cost {
    /// Nanoseconds, as the bits of an `f64`; 0 is not known yet.
    per_item: AtomicU64,
    /// How many shared calls were expected to pay since the kernel last ran alone.
    shared: AtomicU32,
}

impl Cost {
    fn is_known(&self) -> bool {
        self.per_item.load(Ordering::Relaxed) != 0
    }

    fn per_item(&self) -> f64 {
        f64::from_bits(self.per_item.load(Ordering::Relaxed))
    }

    /// A call that was held up makes its kernel look expensive, and shared calls that are held up keep it so: the first call that is to be
    /// shared, and then every so many, measure it alone again.
    fn is_doubted(&self) -> bool {
        self.shared.fetch_add(1, Ordering::Relaxed).is_multiple_of(16)
    }

    fn trust(&self) {
        if self.shared.load(Ordering::Relaxed) != 0 {
            self.shared.store(0, Ordering::Relaxed);
        }
    }

    fn set(&self, ns: f64) {
        self.per_item.store(ns.max(f64::MIN_POSITIVE).to_bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_held_up_does_not_stay_shared_where_that_does_not_pay() {
        let sharing = Sharing::new(Arc::new(Pool::new(4)));
        // Parts of shared calls have twenty items. Where cores are busy with something else, each of them is late.
        let late = |begin: u64, end: u64| {
            if end - begin == 20 {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let is_alone = || {
            let parts = AtomicU32::new(0);
            let run = |begin, end| {
                parts.fetch_add(1, Ordering::Relaxed);
                late(begin, end);
            };
            sharing.run(640, run);
            parts.into_inner() < 20
        };
        sharing.run(640, |_, _| std::thread::sleep(Duration::from_millis(20)));
        // What is measured alone may be held up too, so that most of them are asked.
        let alone = (0..50).map(|_| is_alone()).skip(30).filter(|alone| *alone).count();
        assert!(alone >= 15, "{alone} of 20 on the calling thread");
    }
}
