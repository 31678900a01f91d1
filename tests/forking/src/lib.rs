//! Forked children of tests.
//!
//! ```
//! use parloop_forking::{ends_well_in_a_child, forked};
//! assert!(ends_well_in_a_child(|| true));
//! assert!(!ends_well_in_a_child(|| false));
//! assert!(!ends_well_in_a_child(|| panic!("a child that panics does not end well")));
//! assert!(forked(|| true, || ()));
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// How long a child may take.
const PATIENCE: Duration = Duration::from_secs(60);

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
}

/// Whether `work` is true in a forked child, and ends there.
pub fn ends_well_in_a_child(work: impl FnOnce() -> bool) -> bool {
    forked(work, || ())
}

/// Whether `child` is true in a forked child, and ends there; `parent` runs here meanwhile.
///
/// # Panics
/// When the system does not give us a process.
pub fn forked(child: impl FnOnce() -> bool, parent: impl FnOnce()) -> bool {
    // SAFETY: the child does its work with what is valid after a fork, and ends here.
    let process = match unsafe { fork() } {
        0 => {
            let well = catch_unwind(AssertUnwindSafe(child)).unwrap_or(false);
            // SAFETY: it ends the child.
            unsafe { _exit(i32::from(!well)) }
        }
        process => Pid::from_raw(process).filter(|_| process > 0).expect("the system forks"),
    };
    parent();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some((_, status)) = waitpid(Some(process), WaitOptions::NOHANG).expect("the child is ours") {
            return status.exit_status() == Some(0);
        }
        sleep(Duration::from_millis(10));
    }
    kill_process(process, Signal::KILL).expect("the child is ours");
    waitpid(Some(process), WaitOptions::empty()).expect("the child is ours");
    false
}
