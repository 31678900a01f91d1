//! The files of `parloop-device` in which threads meet, compiled with loom's atomics in place of those of the standard library, and the
//! models that are made of them. loom runs a model in every order in which its threads could take their steps, with every value that a
//! relaxed load could see.
//!
//! A model calls what is public in these files, from two or three threads, on data in cells that loom watches: two threads at one cell
//! without an order between them are an error, and so are threads that all wait.

// The unit tests of the files that it includes belong to their crate.
#![cfg(not(test))]

pub mod crews;
pub mod locks;
pub mod turns;

mod sync;

#[allow(dead_code, unused_imports, missing_docs)]
#[path = "../../../crates/parloop-device/src/forked.rs"]
mod forked;

#[allow(dead_code, unused_imports, missing_docs)]
#[path = "../../../crates/parloop-device/src/cpu/crew.rs"]
mod crew;

/// What `crew.rs` uses of the file of this name.
mod identity {
    pub(crate) const MAX_THREADS: usize = 64;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Starts a thread of a model, with a larger stack than loom's first thread has.
fn spawn(work: impl FnOnce() + 'static) -> loom::thread::JoinHandle<()> {
    /// loom wants a `Send`, and runs all threads as coroutines of one.
    struct Work<F>(F);
    // SAFETY: it stays in the thread in which it is made.
    unsafe impl<F> Send for Work<F> {}
    impl<F: FnOnce()> Work<F> {
        fn run(self) {
            (self.0)();
        }
    }
    let work = Work(work);
    loom::thread::Builder::new().stack_size(WORDS_OF_STACK).spawn(move || work.run()).expect("loom starts threads")
}

const WORDS_OF_STACK: usize = 1 << 16;

/// Runs a model in all orders of its threads with at most so many preemptions, that is, switches from a thread that could go on, and with
/// as many more as `PARLOOP_MORE_PREEMPTIONS` says. Prints and returns how many orders there were.
fn explore(name: &str, preemptions: usize, model: impl Fn() + Send + Sync + 'static) -> usize {
    let more = std::env::var("PARLOOP_MORE_PREEMPTIONS").unwrap_or_default();
    let more: usize = if more.is_empty() { 0 } else { more.parse().expect("PARLOOP_MORE_PREEMPTIONS is a number") };
    let preemptions = preemptions + more;
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    let orders = Arc::new(AtomicUsize::new(0));
    let counted = orders.clone();
    let model = Arc::new(model);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let model = model.clone();
        spawn(move || model()).join().expect("the model ends");
    });
    let orders = orders.load(Ordering::Relaxed);
    println!("{name}: {orders} orders, at most {preemptions} preemptions");
    orders
}
