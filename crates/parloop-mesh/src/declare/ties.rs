//! What is tied to a set: maps from and to it, data on it, subsets. A set knows them only to distribute them with it.

use std::any::Any;
use std::sync::{Arc, Weak};

use parloop_device::forked::Lock;

/// Anything tied to a set.
pub type Tied = dyn Any + Send + Sync;

/// What is tied to a set and still in use.
#[derive(Default)]
pub struct Ties {
    list: Lock<TieList>,
}

#[derive(Default)]
struct TieList {
    ties: Vec<Weak<Tied>>,
    /// How many there are when dead ones are looked for.
    full: usize,
}

/// Dead ones are not looked for before there are this many.
const FEW: usize = 64;

impl Ties {
    /// Adds one.
    pub fn add(&self, tie: Weak<Tied>) {
        let mut known = self.list.lock_or(TieList::default);
        if known.ties.len() >= known.full.max(FEW) {
            known.ties.retain(|tie| tie.strong_count() > 0);
            known.full = 2 * known.ties.len();
        }
        known.ties.push(tie);
    }

    /// Those in use, in the order in which they were made.
    pub fn all(&self) -> Vec<Arc<Tied>> {
        self.list.lock_or(TieList::default).ties.iter().filter_map(Weak::upgrade).collect()
    }
}
