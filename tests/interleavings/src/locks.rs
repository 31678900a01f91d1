//! Models of locks and signals.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use crate::forked::{Lock, Signal};
use crate::{explore, spawn};

/// A number that loom watches.
type Watched = UnsafeCell<u32>;

/// Adds one in two steps, so that it is lost where another thread does so meanwhile.
fn add(value: &Watched) {
    let before = value.with(|value| {
        // SAFETY: loom ends the model if another thread could write it.
        unsafe { *value }
    });
    value.with_mut(|value| {
        // SAFETY: loom ends the model if another thread could use it.
        unsafe { *value = before + 1 }
    });
}

fn read(value: &Watched) -> u32 {
    value.with(|value| {
        // SAFETY: loom ends the model if another thread could write it.
        unsafe { *value }
    })
}

fn lock() -> Arc<Lock<Watched>> {
    let lock = Lock::new(Watched::new(0));
    drop(lock.lock().expect("nobody forks"));
    Arc::new(lock)
}

/// Threads that each take a lock some times and add one; what a thread wrote is seen by the next.
pub fn threads_have_the_value_one_at_a_time(threads: u32, rounds: u32, preemptions: usize) -> usize {
    explore("threads have the value of a lock one at a time", preemptions, move || {
        let lock = lock();
        let work = |lock: Arc<Lock<Watched>>| move || (0..rounds).for_each(|_| add(&lock.lock().expect("nobody forks")));
        let others: Vec<_> = (1..threads).map(|_| spawn(work(lock.clone()))).collect();
        work(lock.clone())();
        others.into_iter().for_each(|other| other.join().expect("it adds"));
        assert_eq!(read(&lock.lock().expect("nobody forks")), threads * rounds);
    })
}

/// Threads that wait for a value which another sets: all go on.
pub fn a_signal_wakes_all_that_wait(threads: u32, preemptions: usize) -> usize {
    explore("a signal wakes all that wait", preemptions, move || {
        let both = Arc::new((lock(), Signal::default()));
        let waiting: Vec<_> = (0..threads)
            .map(|_| {
                let both = both.clone();
                spawn(move || {
                    let (lock, signal) = &*both;
                    let mut value = lock.lock().expect("nobody forks");
                    while read(&value) == 0 {
                        value = signal.wait(value).expect("nobody forks");
                    }
                })
            })
            .collect();
        let (lock, signal) = &*both;
        let value = lock.lock().expect("nobody forks");
        add(&value);
        signal.wake_all();
        drop(value);
        waiting.into_iter().for_each(|thread| thread.join().expect("it ends"));
    })
}
