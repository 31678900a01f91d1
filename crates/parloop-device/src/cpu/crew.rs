//! Threads that help a caller with its work. Each has a mailbox, in which callers leave what is to be done.
//!
//! A thread spins for a moment after it has helped, since loops often follow one another closely and waking a thread takes longer
//! than many loops do; then it sleeps. Nothing is locked on the way from a caller to a thread that is awake, and few cache lines change hands.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::identity::MAX_THREADS;
use crate::sync::thread::{self, Thread};
use crate::sync::{self, Arc, AtomicPtr, AtomicU32, AtomicUsize, Instant, Mutex};

/// How long a thread spins before it sleeps. It is some times what it takes to wake one.
const AWAKE: Duration = Duration::from_micros(100);

/// Enough parts that a thread which is late does not hold up the rest for long.
const PARTS_PER_THREAD: u64 = 8;

/// A group of threads that end when it is dropped.
pub(super) struct Crew {
    helpers: Vec<Helper>,
    /// How long they spin: not at all where threads have to share cores.
    awake: Duration,
}

struct Helper {
    mailbox: Arc<Mailbox>,
    thread: Thread,
}

/// A job for a thread, or one of the marks below. It has cache lines of its own: its thread looks at it all the time.
#[repr(align(128))]
struct Mailbox(AtomicPtr<Job<'static>>);

type Mail = *mut Job<'static>;

/// The thread spins.
const IDLE: Mail = without_provenance_mut(0);
/// The thread sleeps; a caller that leaves a job wakes it.
const ASLEEP: Mail = without_provenance_mut(1);
/// The thread is at work.
const BUSY: Mail = without_provenance_mut(2);
/// The thread is to end.
const CLOSED: Mail = without_provenance_mut(3);

/// Work in parts, on the stack of its caller. Parts that follow one another are a thread's share, with which it begins before it helps with
/// those of others: so its caches have what it worked on in the job before.
struct Job<'a> {
    work: &'a (dyn Fn(u64, u64) + Sync),
    begin: u64,
    len: u64,
    parts: u64,
    shares: usize,
    caller: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    counts: Counts,
}

/// What threads change while others read the rest.
#[repr(align(128))]
struct Counts {
    /// Parts of each share that were taken, or more.
    taken: [AtomicU32; MOST_SHARES],
    /// Threads that have the job, with the bit [`WAITS`] when the caller sleeps until there are none.
    helpers: AtomicUsize,
}

/// With more threads than this, some have a share in common.
const MOST_SHARES: usize = 64;

const WAITS: usize = 1 << (usize::BITS - 1);

impl Crew {
    /// Starts threads; `None` when the system gives us none.
    pub(super) fn start(helpers: usize) -> Option<Crew> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Crew::start_awake(helpers, if helpers < cores { AWAKE } else { Duration::ZERO })
    }

    /// Starts threads that spin for so long.
    pub(super) fn start_awake(helpers: usize, awake: Duration) -> Option<Crew> {
        let mut crew = Crew { helpers: Vec::with_capacity(helpers), awake };
        for index in 0..helpers {
            let mailbox = Arc::new(Mailbox(AtomicPtr::new(IDLE)));
            let own = mailbox.clone();
            // Threads that were started before one could not be end with the crew.
            let handle = thread::Builder::new().name(format!("parloop-{index}")).spawn(move || own.serve(index + 1, awake)).ok()?;
            crew.helpers.push(Helper { mailbox, thread: handle.thread().clone() });
        }
        Some(crew)
    }

    /// Whether a thread is awake, so that work need not wait for one to be woken.
    pub(super) fn is_awake(&self) -> bool {
        self.helpers.iter().any(|helper| helper.mailbox.0.load(Ordering::Relaxed) != ASLEEP)
    }

    /// How long threads spin.
    pub(super) fn stays_awake(&self) -> Duration {
        self.awake
    }

    /// Calls `work(begin, end)` for parts of `begin..end`, on all threads and on this one, which is awake already.
    pub(super) fn share(&self, begin: u64, end: u64, work: &(dyn Fn(u64, u64) + Sync)) {
        let len = end - begin;
        let parts = len.min((self.helpers.len() as u64 + 1) * PARTS_PER_THREAD);
        let shares = (self.helpers.len() + 1).min(MOST_SHARES).min(usize::try_from(parts).unwrap_or(MOST_SHARES));
        let counts = Counts { taken: std::array::from_fn(|_| AtomicU32::default()), helpers: AtomicUsize::new(0) };
        let job = Job { work, begin, len, parts, shares, caller: thread::current(), panic: Mutex::new(None), counts };
        let mut offer = Offer { crew: self, job: &job, mailed: [0; MAX_THREADS / 64], missing: self.helpers.len() };
        offer.make();
        // Threads that were busy with the work of others may have become free after each part.
        job.drain(0, || offer.make());
        drop(offer);
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(|e| e.into_inner()) {
            resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for helper in &self.helpers {
            if helper.mailbox.0.swap(CLOSED, Ordering::AcqRel) == ASLEEP {
                helper.thread.unpark();
            }
        }
    }
}

impl Job<'_> {
    /// Runs parts that nobody has taken until there are none: those of one share first, then those of others.
    fn drain(&self, share: usize, mut after_each: impl FnMut()) {
        let edge = |part: u64| self.begin + (u128::from(self.len) * u128::from(part) / u128::from(self.parts)) as u64;
        for share in (0..self.shares).map(|other| (share + other) % self.shares) {
            let parts = self.share(share);
            loop {
                let part = parts.start + u64::from(self.counts.taken[share].fetch_add(1, Ordering::Relaxed));
                if part >= parts.end {
                    break;
                }
                (self.work)(edge(part), edge(part + 1));
                after_each();
            }
        }
    }

    /// The parts of a share.
    fn share(&self, share: usize) -> Range<u64> {
        let edge = |share: usize| share as u64 * self.parts / self.shares as u64;
        edge(share)..edge(share + 1)
    }

    /// How many parts nobody has taken.
    fn parts_left(&self) -> u64 {
        let left = |share: usize| {
            let parts = self.share(share);
            (parts.end - parts.start).saturating_sub(self.counts.taken[share].load(Ordering::Relaxed).into())
        };
        (0..self.shares).map(left).sum()
    }

    fn has_helpers(&self) -> bool {
        self.counts.helpers.load(Ordering::Acquire) & !WAITS != 0
    }

    /// A helper leaves the job. It may be gone afterwards.
    fn leave(&self) {
        let helpers = &self.counts.helpers;
        let mut before = helpers.load(Ordering::Relaxed);
        loop {
            let caller = (before == WAITS | 1).then(|| self.caller.clone());
            let Err(found) = helpers.compare_exchange_weak(before, before - 1, Ordering::Release, Ordering::Relaxed) else {
                return caller.iter().for_each(Thread::unpark);
            };
            before = found;
        }
    }
}

/// A job that lies in mailboxes until this is dropped; by then no thread has it any more.
struct Offer<'a, 'b> {
    crew: &'a Crew,
    job: &'a Job<'b>,
    /// Threads that got it, a bit for each.
    mailed: [u64; MAX_THREADS / 64],
    /// How many did not.
    missing: usize,
}

impl Offer<'_, '_> {
    fn mail(&self) -> Mail {
        std::ptr::from_ref(self.job).cast_mut().cast()
    }

    fn has(&self, index: usize) -> bool {
        self.mailed[index / 64] >> (index % 64) & 1 == 1
    }

    /// Leaves the job with threads that have nothing to do, as long as there are parts for them.
    fn make(&mut self) {
        if self.missing == 0 {
            return;
        }
        let mut left = self.job.parts_left();
        for (index, helper) in self.crew.helpers.iter().enumerate() {
            if left == 0 {
                break;
            }
            if self.has(index) {
                continue;
            }
            let found = helper.mailbox.0.load(Ordering::Relaxed);
            if found != IDLE && found != ASLEEP {
                continue;
            }
            self.job.counts.helpers.fetch_add(1, Ordering::Relaxed);
            match helper.mailbox.0.compare_exchange(found, self.mail(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    self.mailed[index / 64] |= 1 << (index % 64);
                    self.missing -= 1;
                    left -= 1;
                    if found == ASLEEP {
                        helper.thread.unpark();
                    }
                }
                Err(_) => _ = self.job.counts.helpers.fetch_sub(1, Ordering::Relaxed),
            }
        }
    }
}

impl Drop for Offer<'_, '_> {
    /// Takes the job back from mailboxes of threads that have not looked, and waits for the others.
    fn drop(&mut self) {
        let mail = self.mail();
        for (index, helper) in self.crew.helpers.iter().enumerate() {
            if self.has(index) && helper.mailbox.0.compare_exchange(mail, IDLE, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.job.counts.helpers.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if stay_awake(self.crew.awake, || !self.job.has_helpers()) {
            return;
        }
        self.job.counts.helpers.fetch_or(WAITS, Ordering::Relaxed);
        while self.job.has_helpers() {
            thread::park();
        }
    }
}

impl Mailbox {
    /// What a thread does all its life.
    fn serve(&self, share: usize, awake: Duration) {
        while let Some(mail) = self.wait(awake) {
            // The caller may have taken it back.
            if self.0.compare_exchange(mail, BUSY, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            // SAFETY: the job was in the mailbox, so that its caller, who counts this thread among the helpers, waits until it leaves.
            let job = unsafe { &*mail };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.drain(share, || ()))) {
                *job.panic.lock().unwrap_or_else(|e| e.into_inner()) = Some(panic);
            }
            // First, so that the caller finds this thread free for its next job.
            let closed = self.0.compare_exchange(BUSY, IDLE, Ordering::Relaxed, Ordering::Relaxed).is_err();
            job.leave();
            if closed {
                return;
            }
        }
    }

    /// A job; `None` when there will be no more.
    fn wait(&self, awake: Duration) -> Option<Mail> {
        loop {
            stay_awake(awake, || self.0.load(Ordering::Relaxed) != IDLE);
            // It sleeps only if the mailbox is still empty.
            _ = self.0.compare_exchange(IDLE, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
            loop {
                match self.0.load(Ordering::Relaxed) {
                    ASLEEP => thread::park(),
                    IDLE => break,
                    CLOSED => return None,
                    mail => return Some(mail),
                }
            }
        }
    }
}

/// Spins until something is so; `false` when that takes too long.
fn stay_awake(awake: Duration, is_so: impl Fn() -> bool) -> bool {
    if awake.is_zero() {
        return is_so();
    }
    let start = Instant::now();
    loop {
        for _ in 0..sync::LOOKS_AWAKE {
            if is_so() {
                return true;
            }
            sync::spin_loop();
        }
        if start.elapsed() > awake {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// How often each of the items was visited.
    fn visits(crew: &Crew, items: usize) -> Vec<u32> {
        let visits: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
        crew.share(0, items as u64, &|begin, end| {
            visits[begin as usize..end as usize].iter().for_each(|count| _ = count.fetch_add(1, Ordering::Relaxed));
        });
        visits.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_item_is_visited_once_however_many_there_are() {
        let crew = Crew::start(3).unwrap();
        for items in (1..70).chain([1000, 4099]) {
            assert_eq!(visits(&crew, items), vec![1; items]);
        }
    }

    #[test]
    fn threads_that_sleep_are_woken() {
        let crew = Crew::start(2).unwrap();
        for _ in 0..20 {
            std::thread::sleep(AWAKE * 3);
            assert_eq!(visits(&crew, 100), vec![1; 100]);
        }
    }

    #[test]
    fn many_callers_share_one_crew_and_calls_may_be_nested() {
        let crew = Crew::start(2).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..300).for_each(|round| assert_eq!(visits(&crew, round % 40 + 1), vec![1; round % 40 + 1])));
            }
        });
        let inner = AtomicU64::new(0);
        crew.share(0, 20, &|begin, end| {
            crew.share(begin, end, &|begin, end| _ = inner.fetch_add((begin..end).sum(), Ordering::Relaxed));
        });
        assert_eq!(inner.into_inner(), 190);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_crew_goes_on() {
        let crew = Crew::start(2).unwrap();
        for bad in [0, 57, 99] {
            let result = catch_unwind(AssertUnwindSafe(|| {
                crew.share(0, 100, &|begin, end| assert!(!(begin..end).contains(&bad), "item {bad}"));
            }));
            let message = *result.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(message, format!("item {bad}"));
            assert_eq!(visits(&crew, 100), vec![1; 100]);
        }
    }

    #[test]
    fn threads_end_with_their_crew() {
        for pause in [Duration::ZERO, AWAKE * 3] {
            let crew = Crew::start(2).unwrap();
            let mailboxes: Vec<_> = crew.helpers.iter().map(|helper| Arc::downgrade(&helper.mailbox)).collect();
            assert_eq!(visits(&crew, 10), vec![1; 10]);
            thread::sleep(pause);
            drop(crew);
            let start = Instant::now();
            while mailboxes.iter().any(|mailbox| mailbox.strong_count() > 0) && start.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
            assert!(mailboxes.iter().all(|mailbox| mailbox.strong_count() == 0));
        }
    }
}
