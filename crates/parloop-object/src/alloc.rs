//! Which parts of a buffer are taken: logarithmic allocation and freeing, and detection of frees that make no sense.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use crate::error::BufferError;

/// How many blocks that might just fit are looked at before one that fits for certain is taken.
const TRIES: usize = 8;

/// The free and the taken parts of `0..capacity`; each taken part can have an owner.
#[derive(Debug)]
pub struct Allocator<O> {
    capacity: usize,
    /// Free parts, start to end: disjoint, not empty, never touching each other.
    free: BTreeMap<usize, usize>,
    /// The same parts as (size, start).
    by_size: BTreeSet<(usize, usize)>,
    /// Taken parts, start to size and owner.
    taken: BTreeMap<usize, (usize, Option<O>)>,
}

impl<O> Allocator<O> {
    /// All of `0..capacity` is free.
    pub fn new(capacity: usize) -> Allocator<O> {
        let mut allocator = Allocator { capacity: 0, free: BTreeMap::new(), by_size: BTreeSet::new(), taken: BTreeMap::new() };
        allocator.grow(capacity);
        allocator
    }

    /// All of `0..capacity` is taken, as one part.
    pub fn taken_whole(capacity: usize, owner: O) -> Allocator<O> {
        let mut taken = BTreeMap::new();
        if capacity > 0 {
            taken.insert(0, (capacity, Some(owner)));
        }
        Allocator { capacity, free: BTreeMap::new(), by_size: BTreeSet::new(), taken }
    }

    /// The size of all parts together.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The bytes that are free.
    pub fn free_bytes(&self) -> usize {
        self.by_size.iter().map(|(size, _)| size).sum()
    }

    /// The free parts, as (start, end), in order.
    pub fn chunks(&self) -> impl Iterator<Item = (usize, usize)> {
        self.free.iter().map(|(&start, &end)| (start, end))
    }

    /// The bytes that are free up to the end.
    pub fn free_at_end(&self) -> usize {
        self.free.last_key_value().filter(|&(_, &end)| end == self.capacity).map_or(0, |(start, end)| end - start)
    }

    /// The number of parts taken.
    pub fn taken(&self) -> usize {
        self.taken.len()
    }

    /// The taken part that holds this offset, as (start, size), and its owner.
    pub fn holder(&self, offset: usize) -> Option<(usize, usize, Option<&O>)> {
        let (&start, (size, owner)) = self.taken.range(..=offset).next_back()?;
        (offset < start + size).then_some((start, *size, owner.as_ref()))
    }

    /// The owner of the part that was taken at this offset.
    pub fn owner_at(&self, offset: usize) -> Option<&O> {
        self.taken.get(&offset).and_then(|(_, owner)| owner.as_ref())
    }

    /// Gives the part that was taken at this offset an owner.
    pub fn set_owner(&mut self, offset: usize, owner: O) {
        if let Some((_, place)) = self.taken.get_mut(&offset) {
            *place = Some(owner);
        }
    }

    /// Takes `size` bytes at a multiple of `alignment`, which is a power of two; `None` when no free part is large enough.
    pub fn allocate(&mut self, size: usize, alignment: usize) -> Option<usize> {
        if size == 0 {
            return Some(0);
        }
        let aligned = |start: usize| start.checked_add(alignment - 1).map(|start| start & !(alignment - 1));
        let fits =
            |&(_, start): &(usize, usize), end: usize| aligned(start).and_then(|at| at.checked_add(size)).is_some_and(|last| last <= end);
        let close = self.by_size.range((size, 0)..).take(TRIES).copied().find(|part| fits(part, part.0 + part.1));
        let found = close.or_else(|| self.by_size.range((size.checked_add(alignment - 1)?, 0)..).next().copied());
        let (length, start) = found?;
        let (at, end) = (aligned(start)?, start + length);
        self.remove_free(start, end);
        self.add_free(start, at);
        self.add_free(at + size, end);
        self.taken.insert(at, (size, None));
        Some(at)
    }

    /// Frees an allocated part and returns its owner.
    ///
    /// # Errors
    /// What is not taken at all, or not as one part of that size.
    pub fn free(&mut self, offset: usize, size: usize) -> Result<Option<O>, BufferError> {
        if offset.checked_add(size).is_none_or(|end| end > self.capacity) {
            return Err(BufferError::FreeOutside { offset, size, capacity: self.capacity });
        }
        if size == 0 {
            return Ok(None);
        }
        let owner = match self.taken.entry(offset) {
            Entry::Occupied(taken) if taken.get().0 == size => taken.remove().1,
            _ => return Err(self.bad_free(offset, size)),
        };
        let mut end = offset + size;
        // A free part behind is looked for and taken away in one step; one in front only becomes longer.
        if let Some(after) = self.free.remove(&end) {
            self.by_size.remove(&(after - end, end));
            end = after;
        }
        match self.free.range_mut(..offset).next_back() {
            Some((&before, touching)) if *touching == offset => {
                *touching = end;
                self.by_size.remove(&(offset - before, before));
                self.by_size.insert((end - before, before));
            }
            _ => self.add_free(offset, end),
        }
        Ok(owner)
    }

    /// Takes all but these parts, given as (start, end) in order.
    pub(crate) fn take_all_but(&mut self, chunks: &[(usize, usize)]) -> Result<(), ()> {
        let ends = chunks.iter().map(|&(_, end)| end);
        let ordered = chunks.iter().zip([0].into_iter().chain(ends)).all(|(&(start, end), before)| before <= start && start < end);
        if !self.taken.is_empty() || !ordered || chunks.last().is_some_and(|&(_, end)| end > self.capacity) {
            return Err(());
        }
        let capacity = self.capacity;
        *self = Allocator { capacity, free: BTreeMap::new(), by_size: BTreeSet::new(), taken: BTreeMap::new() };
        let mut start = 0;
        for &(free, end) in chunks.iter().chain([&(capacity, capacity)]) {
            if start < free {
                self.taken.insert(start, (free - start, None));
            }
            self.add_free(free, end);
            start = end;
        }
        Ok(())
    }

    fn bad_free(&self, offset: usize, size: usize) -> BufferError {
        let end = offset + size;
        let overlapping =
            self.taken.range(..end).next_back().map(|(&start, &(taken, _))| (start, taken)).filter(|(start, taken)| start + taken > offset);
        match overlapping {
            Some((start, taken)) => BufferError::ForeignFree { offset, size, start, taken },
            None => BufferError::DoubleFree { offset, size },
        }
    }

    /// Makes room at the end.
    pub fn grow(&mut self, capacity: usize) {
        if capacity <= self.capacity {
            return;
        }
        let old = std::mem::replace(&mut self.capacity, capacity);
        let mut start = old;
        if let Some((&last, &end)) = self.free.range((Unbounded, Excluded(old))).next_back()
            && end == old
        {
            self.remove_free(last, end);
            start = last;
        }
        self.add_free(start, capacity);
    }

    fn add_free(&mut self, start: usize, end: usize) {
        if start < end {
            self.free.insert(start, end);
            self.by_size.insert((end - start, start));
        }
    }

    fn remove_free(&mut self, start: usize, end: usize) {
        self.free.remove(&start);
        self.by_size.remove(&(end - start, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_are_joined_when_they_are_freed() {
        let mut allocator = Allocator::<()>::new(64);
        let parts: Vec<usize> = (0..4).map(|_| allocator.allocate(16, 8).unwrap()).collect();
        assert_eq!(parts, [0, 16, 32, 48]);
        assert_eq!(allocator.allocate(1, 1), None);
        for offset in [0, 32, 16] {
            allocator.free(offset, 16).unwrap();
        }
        assert_eq!(allocator.chunks().collect::<Vec<_>>(), [(0, 48)]);
        allocator.grow(80);
        assert_eq!(allocator.chunks().collect::<Vec<_>>(), [(0, 48), (64, 80)]);
    }

    #[test]
    fn frees_that_make_no_sense_are_told_apart_and_change_nothing() {
        let mut allocator = Allocator::<()>::new(64);
        allocator.allocate(16, 8).unwrap();
        allocator.allocate(16, 8).unwrap();
        allocator.free(0, 16).unwrap();
        let messages = [
            (0, 16, "bytes 0..16 of the buffer are already free; they were freed twice or never allocated"),
            (16, 8, "bytes 16..24 of the buffer are not an allocation: they are part of the allocation of 16 bytes at 16"),
            (24, 8, "bytes 24..32 of the buffer are not an allocation: they are part of the allocation of 16 bytes at 16"),
            (60, 8, "Cannot free outside of buffer: bytes 60..68 of a buffer of 64 bytes"),
        ];
        for (offset, size, message) in messages {
            assert_eq!(allocator.free(offset, size).unwrap_err().to_string(), message);
        }
        assert_eq!(allocator.chunks().collect::<Vec<_>>(), [(0, 16), (32, 64)]);
    }

    proptest! {
        /// Against the simplest possible allocator: one flag per byte.
        #[test]
        fn parts_never_overlap_and_no_byte_is_lost(steps in prop::collection::vec((0usize..4, 1usize..80, 0u32..6), 1..200)) {
            let mut allocator = Allocator::<()>::new(256);
            let mut flags = vec![false; 256];
            let mut live: Vec<(usize, usize)> = Vec::new();
            for (what, size, shift) in steps {
                match what {
                    0 if !live.is_empty() => {
                        let (offset, size) = live.swap_remove(size % live.len());
                        allocator.free(offset, size).unwrap();
                        flags[offset..offset + size].fill(false);
                    }
                    1 => {
                        allocator.grow(flags.len() + size);
                        flags.resize(allocator.capacity(), false);
                    }
                    _ => {
                        let alignment = 1 << shift;
                        match allocator.allocate(size, alignment) {
                            Some(offset) => {
                                prop_assert_eq!(offset % alignment, 0);
                                prop_assert!(flags[offset..offset + size].iter().all(|taken| !taken));
                                flags[offset..offset + size].fill(true);
                                live.push((offset, size));
                            }
                            None => {
                                let room = |at: usize| flags[at..].iter().take_while(|taken| !**taken).count() >= size + alignment - 1;
                                prop_assert!(!(0..flags.len()).any(room), "there was room for {size}");
                            }
                        }
                    }
                }
                prop_assert_eq!(allocator.free_bytes(), flags.iter().filter(|taken| !**taken).count());
                for (offset, size) in &live {
                    prop_assert_eq!(allocator.holder(offset + size - 1), Some((*offset, *size, None)));
                }
            }
        }
    }
}
