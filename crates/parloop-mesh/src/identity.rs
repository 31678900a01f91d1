//! Numbers that no two values of a process share, by which caches know sets, maps and kernels.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of one value.
pub type Id = u64;

/// A number that was not given before.
pub fn fresh() -> Id {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
