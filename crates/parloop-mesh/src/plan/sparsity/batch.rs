//! Many elements of a source of targets at a time, so that sources of different types cost one indirect call for many elements.

use std::ops::Range;

use super::distinct::{DistinctFilter, Hashed, Marked, Row};
use crate::plan::Targets;

/// How large a source is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub count: usize,
    pub arity: usize,
    pub targets: usize,
}

pub(super) trait Batches: Sync {
    fn size(&self) -> Size;

    /// Adds the targets of some places to a list, negative ones as well.
    fn read(&self, places: Range<usize>, out: &mut Vec<i32>);

    /// The smallest range that has all targets of some places.
    fn span(&self, places: Range<usize>) -> Range<usize>;

    /// Counts the targets from `first` that some places lead to: `counts[target - first]`.
    fn tally(&self, places: Range<usize>, first: usize, counts: &mut [u32]);

    /// Writes each place to the rows of the targets from `first` that it leads to; `next[target - first]` is where it goes, and moves on.
    fn sort(&self, places: Range<usize>, first: usize, next: &mut [u32], sorted: &mut [u32]);

    /// Adds the targets of listed places to a row.
    fn collect_marked(&self, places: &[u32], row: &mut Row<'_, Marked<'_>>);

    /// The same where columns are found by hash.
    fn collect_hashed(&self, places: &[u32], row: &mut Row<'_, Hashed<'_>>);
}

impl<T: Targets> Batches for T {
    fn size(&self) -> Size {
        Size { count: self.count(), arity: self.arity(), targets: self.targets() }
    }

    fn read(&self, places: Range<usize>, out: &mut Vec<i32>) {
        if let Some(targets) = self.listed(places.clone()) {
            return out.extend_from_slice(targets);
        }
        let known = out.len();
        out.resize(known + places.len() * self.arity(), 0);
        let mut free = out[known..].iter_mut();
        for place in places {
            self.each(place, |target| {
                if let Some(free) = free.next() {
                    *free = target;
                }
            });
        }
    }

    fn span(&self, places: Range<usize>) -> Range<usize> {
        // As an unsigned number, a negative value is larger than all; as a signed one it is smaller.
        let (mut least, mut most) = (u32::MAX, -1);
        match self.listed(places.clone()) {
            Some(targets) => {
                // One after the other, each in vectors.
                least = targets.iter().fold(least, |least, &target| least.min(target as u32));
                most = targets.iter().fold(most, |most, &target| most.max(target));
            }
            None => places.for_each(|place| {
                self.each(place, |target| {
                    least = least.min(target as u32);
                    most = most.max(target);
                });
            }),
        }
        if most < 0 { 0..0 } else { least as usize..most as usize + 1 }
    }

    fn tally(&self, places: Range<usize>, first: usize, counts: &mut [u32]) {
        let mut count = |target: i32| {
            if let Some(count) = counts.get_mut(from(first, target)) {
                *count += 1;
            }
        };
        match self.listed(places.clone()) {
            Some(targets) => targets.iter().for_each(|&target| count(target)),
            None => places.for_each(|place| self.each(place, &mut count)),
        }
    }

    fn sort(&self, places: Range<usize>, first: usize, next: &mut [u32], sorted: &mut [u32]) {
        for place in places {
            self.each(place, |target| {
                if let Some(next) = next.get_mut(from(first, target)) {
                    sorted[*next as usize] = place as u32;
                    *next += 1;
                }
            });
        }
    }

    fn collect_marked(&self, places: &[u32], row: &mut Row<'_, Marked<'_>>) {
        collect(self, places, row);
    }

    fn collect_hashed(&self, places: &[u32], row: &mut Row<'_, Hashed<'_>>) {
        collect(self, places, row);
    }
}

#[inline]
fn collect<T: Targets, S: DistinctFilter>(source: &T, places: &[u32], row: &mut Row<'_, S>) {
    for &place in places {
        source.each(place as usize, |target| row.insert(target));
    }
}

/// How far a target is from the first one. It is beyond the end of any set for targets before the first one and for negative values.
#[inline]
fn from(first: usize, target: i32) -> usize {
    (target as u32).wrapping_sub(first as u32) as usize
}
