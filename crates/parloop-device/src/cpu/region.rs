//! Large memory: a mapping of its own each. Freed ones are kept for a while, with their pages, up to a limit.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::{Mutex, MutexGuard};

use super::pages;

/// Freed regions are kept up to this many bytes in all.
const KEPT: usize = 256 << 20;

/// A mapping; it goes back to the pool when dropped.
pub(super) struct Region {
    address: usize,
    len: usize,
}

impl Region {
    /// At least `len` bytes.
    pub(super) fn allocate(len: usize) -> io::Result<Region> {
        let len = pages::whole(len)?;
        match lock().take(len) {
            Some(region) => Ok(region),
            None => Region::map(len),
        }
    }

    /// Fresh pages; those that wait in the pool make room for them if they must.
    fn map(len: usize) -> io::Result<Region> {
        let mapped = pages::map_large(len).or_else(|_| {
            lock().trim(0);
            pages::map_large(len)
        });
        mapped.map(|address| Region { address, len })
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    pub(super) fn capacity(&self) -> usize {
        self.len
    }

    /// Makes it at least `len` bytes long. Its pages move to a longer range of addresses; where the system does not do that, the first
    /// `used` bytes are copied. After a failure it is as it was.
    ///
    /// # Safety
    /// Nobody uses it meanwhile, nor its address afterwards.
    pub(super) unsafe fn lengthen(&mut self, used: usize, len: usize) -> io::Result<()> {
        let longer = Region::map(pages::whole(len)?)?;
        // SAFETY: both ranges are ours alone.
        let moved = unsafe { pages::move_to(self.address, self.len, longer.address, longer.len) };
        if moved.is_ok() {
            // The range that was here went with its pages.
            mem::forget(mem::replace(self, longer));
            return Ok(());
        }
        // The range of `longer` may be gone, and may be somebody else's by now: it is left alone.
        mem::forget(longer);
        let longer = Region::map(pages::whole(len)?)?;
        // SAFETY: both ranges are ours alone, and `used` bytes are in both.
        unsafe { pages::copy(self.address, longer.address, used) };
        *self = longer;
        Ok(())
    }

    /// Gives the mapping back to the system.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub(super) unsafe fn unmap(self) {
        // SAFETY: mapped here; the caller's promise.
        unsafe { pages::unmap(self.address, self.len) };
        mem::forget(self);
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        lock().give(Region { address: self.address, len: self.len });
    }
}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: VecDeque::new(), bytes: 0 });

/// The pool; nobody else allocates or frees meanwhile.
pub(super) fn lock() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

/// Freed regions, the oldest first. They are never dropped here, which would bring them back.
pub(super) struct Pool {
    free: VecDeque<mem::ManuallyDrop<Region>>,
    bytes: usize,
}

impl Pool {
    /// The shortest that has `len` bytes and not a quarter more.
    fn take(&mut self, len: usize) -> Option<Region> {
        let fits = |region: &Region| region.len >= len && region.len - len <= len / 4;
        let (best, _) = self.free.iter().enumerate().rev().filter(|(_, region)| fits(region)).min_by_key(|(_, region)| region.len)?;
        let region = self.free.remove(best)?;
        self.bytes -= region.len;
        Some(mem::ManuallyDrop::into_inner(region))
    }

    fn give(&mut self, region: Region) {
        self.bytes += region.len;
        self.free.push_back(mem::ManuallyDrop::new(region));
        self.trim(KEPT);
    }

    /// Gives the oldest back until at most `bytes` are left.
    fn trim(&mut self, bytes: usize) {
        while self.bytes > bytes
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
        let mut pool = Pool { free: VecDeque::new(), bytes: 0 };
        let region = |len: usize| Region { address: pages::map_private(len).unwrap(), len };
        let megabytes = 1 << 20;
        for len in [20, 8, 9, 8] {
            pool.give(region(len * megabytes));
        }
        let newest = pool.free[3].address;
        let taken = mem::ManuallyDrop::new(pool.take(8 * megabytes).unwrap());
        assert_eq!((taken.address, taken.len, pool.bytes), (newest, 8 * megabytes, 37 * megabytes));
        assert!(pool.take(10 * megabytes).is_none() && pool.take(21 * megabytes).is_none());
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
            let used = region.capacity();
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
}
