//! Large memory, and memory whose address is held: a mapping of its own each, at the beginning of a range of addresses that is reserved for
//! it to grow in. Freed ones are kept for a while, with their pages, up to a limit.
//!
//! Reserved addresses are not memory: they cost an entry in the system's list of mappings. A process has as many addresses as would make
//! 128 TiB and about 65,000 mappings, so that the first reservations are long, later ones shorter, and their number is limited. Where a
//! process is limited in addresses (`RLIMIT_AS`), nothing is reserved: that would use up what others need.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pages;
use crate::forked::{Guard, Lock};

/// Freed regions are kept up to this many bytes in all, and up to this number.
const KEPT: usize = 256 << 20;
const KEPT_REGIONS: usize = 256;

/// The most reservations at a time.
const RESERVATIONS: usize = 4096;
/// This many of them are long, the others short.
const LONG_RESERVATIONS: usize = 64;
const LONG: usize = 256 << 30;
const SHORT: usize = 4 << 30;
/// Memory that is long already can become this many times as long.
const TIMES: usize = 4;

/// How many there are.
static RESERVED: AtomicUsize = AtomicUsize::new(0);

/// A mapping; it goes back to the pool when dropped.
pub(super) struct Region {
    address: usize,
    /// Bytes of memory.
    len: usize,
    /// Bytes of addresses, where more than those of the memory are reserved.
    reserved: Option<usize>,
}

impl Region {
    /// At least `len` bytes, which can grow in place where the system has addresses for it.
    pub(super) fn allocate(len: usize) -> io::Result<Region> {
        let len = pages::whole(len.max(1))?;
        match lock().take(len, false) {
            Some(region) => Ok(region),
            None => Region::map(len),
        }
    }

    /// At least `len` bytes that can grow in place; `None` where the system has no addresses for them.
    pub(super) fn with_room(len: usize) -> Option<Region> {
        let len = pages::whole(len.max(1)).ok()?;
        let kept = lock().take(len, true);
        kept.or_else(|| Region::reserve(len).and_then(Result::ok))
    }

    /// Fresh pages; those that wait in the pool make room for them if they must.
    fn map(len: usize) -> io::Result<Region> {
        let map = || match Region::reserve(len) {
            Some(region) => region,
            None => pages::map_large(len).map(|address| Region { address, len, reserved: None }),
        };
        map().or_else(|_| {
            lock().trim(0, 0);
            map()
        })
    }

    /// Fresh pages in reserved addresses. `None` where nothing can be reserved, an error where there is no memory.
    fn reserve(len: usize) -> Option<io::Result<Region>> {
        let number = RESERVED.fetch_add(1, Ordering::Relaxed);
        let give_back = || RESERVED.fetch_sub(1, Ordering::Relaxed);
        let least = len.checked_mul(2).filter(|_| number < RESERVATIONS && !has_limited_addresses());
        let found = least.and_then(|least| {
            let most = if number < LONG_RESERVATIONS { LONG } else { SHORT };
            let lengths = std::iter::successors(Some(most.max(len.saturating_mul(TIMES))), |len| Some(len / 8));
            let lengths = lengths.take_while(|&len| len >= least);
            lengths.filter_map(|reserved| Some((pages::reserve(pages::whole(reserved).ok()?).ok()?, reserved))).next()
        });
        let Some((address, reserved)) = found else {
            give_back();
            return None;
        };
        let mut region = Region { address, len: 0, reserved: Some(reserved) };
        let committed = region.commit(len);
        if let Err(error) = committed {
            // SAFETY: nobody has it.
            unsafe { region.unmap() };
            return Some(Err(error));
        }
        Some(Ok(region))
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    /// How long it can become where it is.
    pub(super) fn room(&self) -> usize {
        self.reserved.unwrap_or(self.len)
    }

    /// Makes it at least `len` bytes long in place; no more than [`room`](Self::room).
    pub(super) fn commit(&mut self, len: usize) -> io::Result<()> {
        let len = pages::whole(len)?;
        debug_assert!(len <= self.room());
        if len > self.len {
            // SAFETY: these addresses are reserved for this region.
            unsafe { pages::commit(self.address + self.len, len - self.len)? };
            pages::advise_huge(self.address, len);
            self.len = len;
        }
        Ok(())
    }

    /// Makes it at least `len` bytes long. Its pages move to a longer range of addresses; where the system does not do that, the first
    /// `used` bytes are copied. After a failure it is as it was.
    ///
    /// # Safety
    /// Nobody uses it meanwhile, nor its address afterwards.
    pub(super) unsafe fn lengthen(&mut self, used: usize, len: usize) -> io::Result<()> {
        let longer = Region::map(pages::whole(len)?)?;
        if self.reserved.is_none() && longer.reserved.is_none() {
            // SAFETY: both ranges are ours alone.
            let moved = unsafe { pages::move_to(self.address, self.len, longer.address, longer.len) };
            if moved.is_ok() {
                // The range that was here went with its pages.
                mem::forget(mem::replace(self, longer));
                return Ok(());
            }
            // The range of `longer` may be gone, and may be another owner's by now: it is left alone.
            mem::forget(longer);
            // SAFETY: the caller guarantees it.
            return unsafe { self.copy_to(used, Region::map(pages::whole(len)?)?) };
        }
        // SAFETY: the caller guarantees it.
        unsafe { self.copy_to(used, longer) }
    }

    /// # Safety
    /// As [`lengthen`](Self::lengthen).
    unsafe fn copy_to(&mut self, used: usize, longer: Region) -> io::Result<()> {
        // SAFETY: both ranges are ours alone, and `used` bytes are in both.
        unsafe { pages::copy(self.address, longer.address, used) };
        *self = longer;
        Ok(())
    }

    /// Gives the mapping back to the system.
    ///
    /// # Safety
    /// Nobody uses it any more.
    unsafe fn unmap(self) {
        // SAFETY: mapped or reserved here; the caller guarantees it.
        unsafe { pages::unmap(self.address, self.room()) };
        if self.reserved.is_some() {
            RESERVED.fetch_sub(1, Ordering::Relaxed);
        }
        mem::forget(self);
    }
}

/// Whether the process may have only a limited number of addresses.
fn has_limited_addresses() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
}

impl Drop for Region {
    fn drop(&mut self) {
        lock().give(Region { address: self.address, len: self.len, reserved: self.reserved });
    }
}

static POOL: Lock<Pool> = Lock::new(Pool::EMPTY);

/// The pool. A forked child in which another thread was changing it goes on with an empty one.
fn lock() -> Guard<'static, Pool> {
    POOL.lock_or(|| Pool::EMPTY)
}

/// Freed regions, the oldest first. They are never dropped here, which would bring them back.
struct Pool {
    free: VecDeque<mem::ManuallyDrop<Region>>,
    bytes: usize,
}

impl Pool {
    const EMPTY: Pool = Pool { free: VecDeque::new(), bytes: 0 };

    /// The shortest that has `len` bytes and not a quarter more; if wanted, one that can become twice as long.
    fn take(&mut self, len: usize, with_room: bool) -> Option<Region> {
        let fits = |region: &Region| region.len >= len && region.len - len <= len / 4 && (!with_room || region.room() / 2 >= len);
        let (best, _) = self.free.iter().enumerate().rev().filter(|(_, region)| fits(region)).min_by_key(|(_, region)| region.len)?;
        let region = self.free.remove(best)?;
        self.bytes -= region.len;
        Some(mem::ManuallyDrop::into_inner(region))
    }

    fn give(&mut self, region: Region) {
        self.bytes += region.len;
        self.free.push_back(mem::ManuallyDrop::new(region));
        self.trim(KEPT, KEPT_REGIONS);
    }

    /// Gives the oldest back until at most `bytes` in this many regions are left.
    fn trim(&mut self, bytes: usize, regions: usize) {
        while (self.bytes > bytes || self.free.len() > regions)
            && let Some(region) = self.free.pop_front()
        {
            self.bytes -= region.len;
            // SAFETY: whoever had it has dropped it.
            unsafe { mem::ManuallyDrop::into_inner(region).unmap() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_gives_the_best_fit_and_stays_within_its_limit() {
        let mut pool = Pool::EMPTY;
        let region = |len: usize| Region { address: pages::map_private(len).unwrap(), len, reserved: None };
        let megabytes = 1 << 20;
        for len in [20, 8, 9, 8] {
            pool.give(region(len * megabytes));
        }
        let newest = pool.free[3].address;
        let taken = mem::ManuallyDrop::new(pool.take(8 * megabytes, false).unwrap());
        assert_eq!((taken.address, taken.len, pool.bytes), (newest, 8 * megabytes, 37 * megabytes));
        assert!(pool.take(10 * megabytes, false).is_none() && pool.take(21 * megabytes, false).is_none());
        for _ in 0..3 {
            pool.give(region(KEPT / 3));
            assert!(pool.bytes <= KEPT);
        }
        assert_eq!(pool.free.len(), 3);
        pool.give(region(KEPT + megabytes));
        assert_eq!((pool.free.len(), pool.bytes), (0, 0));
        // SAFETY: nobody uses it.
        unsafe { mem::ManuallyDrop::into_inner(taken).unmap() };
    }

    #[test]
    fn a_region_that_is_lengthened_keeps_its_content() {
        let mut region = Region::allocate(3 << 20).unwrap();
        for len in [5 << 20, 40 << 20, 41 << 20] {
            let used = region.len;
            // SAFETY: the region is ours alone and has these bytes.
            unsafe {
                (region.address() as *mut u8).write(7);
                ((region.address() + used - 1) as *mut u8).write(9);
                region.lengthen(used, len).unwrap();
                assert_eq!(((region.address() as *const u8).read(), ((region.address() + used - 1) as *const u8).read()), (7, 9));
                ((region.address() + len - 1) as *mut u8).write(1);
            }
        }
    }

    #[test]
    fn a_region_with_room_grows_where_it_is() {
        let mut region = Region::with_room(5000).unwrap();
        let address = region.address();
        assert!(address.is_multiple_of(2 << 20) && region.len < 10_000 && region.room() >= SHORT);
        for len in [10_000, 3 << 20, 100 << 20] {
            region.commit(len).unwrap();
            // SAFETY: the region is ours alone and has these bytes.
            unsafe { ((address + len - 1) as *mut u8).write(1) };
            assert_eq!(region.address(), address);
        }
        assert!(Region::reserve(usize::MAX / 4).is_none());
    }
}
