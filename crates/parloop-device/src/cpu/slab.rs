//! Small memory: pieces of some fifty sizes, cut from larger mappings, so that a piece costs no call to the system and no mapping.
//!
//! Pieces of up to half a page lie side by side; longer ones begin at a page and end at one. Threads
//! start at different shards, each with a lock of its own; a piece goes back to the shard that it came from. A size keeps one empty slab
//! in each shard, and gives others back to the system.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

use super::pages;
use crate::forked::{Guard, Lock};

/// The longest piece; what is longer has a mapping of its own.
pub(super) const LONGEST: usize = 512 << 10;

/// Pieces of less than a cache line begin at multiples of this many bytes.
const SHORTEST: usize = 16;
const CACHE_LINE: usize = 64;

/// Slabs are of this length, or of eight pieces.
const SLAB: usize = 256 << 10;
const LEAST_PIECES: usize = 8;

const SHARDS: usize = 8;
/// Four sizes to a power of two, from [`SHORTEST`] to [`LONGEST`].
const CLASSES: usize = 4 * (LONGEST.ilog2() - SHORTEST.ilog2()) as usize + 1;

/// A piece of memory; it goes back when dropped.
pub(super) struct Piece {
    address: usize,
    size: u32,
    slab: u32,
    index: u16,
    shard: u8,
    /// That of its shard when it was taken.
    epoch: u8,
}

impl Piece {
    /// A piece of at least `len` bytes, which are [`LONGEST`] at most. From [`CACHE_LINE`] bytes on it begins at a cache line.
    #[inline]
    pub(super) fn allocate(len: usize) -> io::Result<Piece> {
        let (shard, size) = (home(), piece_size(len, pages::page()));
        let mut slabs = lock(shard);
        let (slab, index, address) = slabs.take(size)?;
        Ok(Piece { address, size: size as u32, slab, index, shard, epoch: slabs.epoch })
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    pub(super) fn capacity(&self) -> usize {
        self.size as usize
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut slabs = lock(self.shard);
        if slabs.epoch == self.epoch {
            slabs.give(self.slab, self.index);
        }
    }
}

/// The size of the pieces that serve `len` bytes.
fn piece_size(len: usize, page: usize) -> usize {
    let len = len.max(1);
    // All steps are powers of two.
    let step = if len <= CACHE_LINE {
        SHORTEST
    } else {
        let quarter = (1 << (len - 1).ilog2()) / 4;
        quarter.max(if len <= page / 2 { CACHE_LINE } else { page })
    };
    (len + step - 1) & !(step - 1)
}

/// The number of a size: its power of two, and the quarters that it goes beyond that.
fn class_of(size: usize) -> usize {
    let power = size.ilog2();
    let quarters = ((4 * size) >> power) - 4;
    4 * (power - SHORTEST.ilog2()) as usize + quarters
}

/// The shard where this thread allocates.
fn home() -> u8 {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    const NONE: u8 = u8::MAX;
    thread_local! {
        static HOME: Cell<u8> = const { Cell::new(NONE) };
    }
    HOME.with(|home| {
        if home.get() == NONE {
            home.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS as u8);
        }
        home.get()
    })
}

/// On cache lines of its own.
#[repr(align(128))]
struct Apart(Lock<Shard>);

static ALL: [Apart; SHARDS] = [const { Apart(Lock::new(Shard::EMPTY)) }; SHARDS];

/// A forked child in which another thread was changing the shard goes on with an empty one; pieces of the other stay where they are.
fn lock(shard: u8) -> Guard<'static, Shard> {
    static EPOCH: AtomicU8 = AtomicU8::new(0);
    let fresh = || Shard { epoch: EPOCH.fetch_add(1, Ordering::Relaxed).wrapping_add(1), ..Shard::EMPTY };
    ALL[usize::from(shard)].0.lock_or(fresh)
}

/// The slabs of the threads that allocate here.
pub(super) struct Shard {
    classes: [Class; CLASSES],
    slabs: Vec<Slab>,
    /// Places in `slabs` that wait for another slab.
    vacant: Vec<u32>,
    /// Another one in a forked child that could not take over the slabs of its parent.
    epoch: u8,
}

struct Class {
    /// The slabs with free pieces; the last one serves.
    open: Vec<u32>,
    /// How many of them are empty.
    empty: u32,
}

struct Slab {
    address: usize,
    size: u32,
    pieces: u16,
    /// Pieces from this one on were never used.
    fresh: u16,
    free: Vec<u16>,
    live: u16,
    /// Its place among the open slabs of its class, while it is one.
    place: u32,
}

impl Slab {
    fn len(&self) -> usize {
        slab_len(self.size as usize)
    }
}

fn slab_len(size: usize) -> usize {
    SLAB.max(LEAST_PIECES * size)
}

impl Shard {
    const EMPTY: Shard =
        Shard { classes: [const { Class { open: Vec::new(), empty: 0 } }; CLASSES], slabs: Vec::new(), vacant: Vec::new(), epoch: 0 };

    /// A piece of that size: its slab, its number and its address.
    #[inline]
    fn take(&mut self, size: usize) -> io::Result<(u32, u16, usize)> {
        let class = class_of(size);
        let number = match self.classes[class].open.last() {
            Some(&number) => number,
            None => self.open_slab(class, size)?,
        };
        let slab = &mut self.slabs[number as usize];
        let index = slab.free.pop().unwrap_or_else(|| {
            slab.fresh += 1;
            slab.fresh - 1
        });
        self.classes[class].empty -= u32::from(slab.live == 0);
        slab.live += 1;
        if slab.live == slab.pieces {
            self.classes[class].open.pop();
        }
        Ok((number, index, slab.address + usize::from(index) * size))
    }

    #[cold]
    fn open_slab(&mut self, class: usize, size: usize) -> io::Result<u32> {
        let address = pages::map_private(slab_len(size))?;
        let open = &mut self.classes[class].open;
        let pieces = (slab_len(size) / size) as u16;
        let slab = Slab { address, size: size as u32, pieces, fresh: 0, free: Vec::new(), live: 0, place: open.len() as u32 };
        let number = match self.vacant.pop() {
            Some(number) => {
                self.slabs[number as usize] = slab;
                number
            }
            None => {
                self.slabs.push(slab);
                self.slabs.len() as u32 - 1
            }
        };
        open.push(number);
        self.classes[class].empty += 1;
        Ok(number)
    }

    #[inline]
    fn give(&mut self, number: u32, index: u16) {
        let slab = &mut self.slabs[number as usize];
        let class = &mut self.classes[class_of(slab.size as usize)];
        if slab.live == slab.pieces {
            slab.place = class.open.len() as u32;
            class.open.push(number);
        }
        slab.free.push(index);
        slab.live -= 1;
        if slab.live == 0 {
            class.empty += 1;
            if class.empty > 1 {
                self.close_slab(number);
            }
        }
    }

    #[cold]
    fn close_slab(&mut self, number: u32) {
        let slab = &mut self.slabs[number as usize];
        let (address, len, place) = (slab.address, slab.len(), slab.place as usize);
        slab.free = Vec::new();
        let class = &mut self.classes[class_of(slab.size as usize)];
        class.empty -= 1;
        class.open.swap_remove(place);
        if let Some(&moved) = class.open.get(place) {
            self.slabs[moved as usize].place = place as u32;
        }
        self.vacant.push(number);
        // SAFETY: the slab was mapped by `open_slab`, and none of its pieces is in use.
        unsafe { pages::unmap(address, len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_waste_little_and_have_numbers_of_their_own() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            let mut seen = [0; CLASSES];
            for len in 1..=LONGEST {
                let size = piece_size(len, page);
                let class = class_of(size);
                assert!(size >= len && piece_size(size, page) == size);
                assert!(seen[class] == 0 || seen[class] == size, "{size} and {} are both number {class}", seen[class]);
                seen[class] = size;
                assert!(len <= page / 2 || size.is_multiple_of(page));
                assert!(len > 64 || size < len + SHORTEST);
                assert!(len <= 256 || len > page / 2 || size * 4 < len * 5 + 4, "{size} for {len}");
                assert!(len < CACHE_LINE || size.is_multiple_of(CACHE_LINE));
                assert!(slab_len(size).is_multiple_of(page) && slab_len(size) / size <= usize::from(u16::MAX));
            }
        }
    }

    #[test]
    fn a_full_slab_is_followed_by_another_and_empty_ones_go_back() {
        let mut shard = Shard::EMPTY;
        let size = 2048;
        let per_slab = slab_len(size) / size;
        let mut taken: Vec<(u32, u16, usize)> = (0..3 * per_slab).map(|_| shard.take(size).unwrap()).collect();
        let mut addresses: Vec<usize> = taken.iter().map(|piece| piece.2).collect();
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] >= size));
        assert_eq!((shard.slabs.len(), shard.classes[class_of(size)].open.len()), (3, 0));
        // From the middle outwards, so that slabs open and close in another order than they were made.
        taken.rotate_left(per_slab + 1);
        for (slab, index, _) in taken {
            shard.give(slab, index);
        }
        let class = &shard.classes[class_of(size)];
        assert_eq!((class.open.len(), class.empty, shard.vacant.len()), (1, 1, 2));
        let kept = class.open[0];
        assert_eq!(shard.take(size).unwrap().0, kept);
    }

    #[test]
    fn a_piece_that_was_freed_is_the_next_one_taken() {
        let mut shard = Shard::EMPTY;
        let (slab, index, address) = shard.take(64).unwrap();
        shard.give(slab, index);
        assert_eq!(shard.take(64).unwrap().2, address);
    }
}
