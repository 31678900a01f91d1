//! Models of the threads of a CPU device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use crate::crew::Crew;
use crate::{explore, spawn};

/// Whether threads look at their mailboxes for a while before they sleep.
#[derive(Clone, Copy, Debug)]
pub enum Waiting {
    /// They look before they sleep.
    Awake,
    /// They sleep at once.
    Asleep,
}

impl Waiting {
    fn crew(self, helpers: usize) -> Crew {
        let awake = match self {
            Waiting::Awake => Duration::from_micros(100),
            Waiting::Asleep => Duration::ZERO,
        };
        Crew::start_awake(helpers, awake).expect("loom starts threads")
    }
}

/// Items that work changes, which loom watches.
struct Items(Vec<UnsafeCell<u32>>);

// SAFETY: loom ends the model where two threads could use an item at once.
unsafe impl Sync for Items {}

impl Items {
    /// The caller writes them: what it wrote must be seen by threads that help.
    fn new(len: u32) -> Items {
        let items = Items((0..len).map(|_| UnsafeCell::new(0)).collect());
        items.add(0, len.into());
        items
    }

    fn add(&self, begin: u64, end: u64) {
        for item in &self.0[begin as usize..end as usize] {
            item.with_mut(|item| {
                // SAFETY: loom ends the model if another thread could use it.
                unsafe { *item += 1 }
            });
        }
    }

    fn all_are(&self, value: u32) -> bool {
        self.0.iter().all(|item| {
            item.with(|item| {
                // SAFETY: loom ends the model if another thread could write it.
                unsafe { *item == value }
            })
        })
    }
}

/// Shares out items, some times: each item is visited once each time, and the caller sees what was done.
fn share(crew: &Crew, items: u32, times: u32) {
    let items = Items::new(items);
    for time in 1..=times {
        crew.share(0, items.0.len() as u64, &|begin, end| items.add(begin, end));
        assert!(items.all_are(1 + time));
    }
}

/// One caller and some threads.
pub fn every_item_is_visited_once(helpers: usize, items: u32, times: u32, waiting: Waiting, preemptions: usize) -> usize {
    let name = format!("every item is visited once, {helpers} helpers, {items} items, {times} times, {waiting:?}");
    explore(&name, preemptions, move || share(&waiting.crew(helpers), items, times))
}

/// Two callers of one crew.
pub fn callers_share_one_crew(items: u32, waiting: Waiting, preemptions: usize) -> usize {
    explore(&format!("callers share one crew, {items} items, {waiting:?}"), preemptions, move || {
        let crew = Arc::new(waiting.crew(1));
        let own = crew.clone();
        let other = spawn(move || share(&own, items, 1));
        share(&crew, items, 1);
        other.join().expect("its items were visited");
    })
}

/// A part that panics: the caller hears of it, and the crew goes on.
pub fn a_panic_reaches_the_caller(bad: u64, waiting: Waiting, preemptions: usize) -> usize {
    explore(&format!("a panic at item {bad} reaches the caller, {waiting:?}"), preemptions, move || {
        let crew = waiting.crew(1);
        let work = |begin: u64, end: u64| {
            if (begin..end).contains(&bad) {
                std::panic::resume_unwind(Box::new("bad item"));
            }
        };
        let panic = catch_unwind(AssertUnwindSafe(|| crew.share(0, 2, &work))).expect_err("an item is bad");
        assert_eq!(panic.downcast_ref(), Some(&"bad item"));
        share(&crew, 2, 1);
    })
}
