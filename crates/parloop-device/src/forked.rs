//! Locks that survive a fork.
//!
//! A forked child has one thread. What the other threads of its parent had locked stays locked in the child, forever with the locks of
//! the standard library. [`Lock`] knows in which process it was locked: a child finds out that the holder does not exist and gets an
//! error, or a fresh value, at once. Processes made without the C library's `fork` (`vfork`, `posix_spawn`) run another program and need
//! none of this.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{self, AtomicI32, Ordering};

use crate::sync::{self, AtomicBool, AtomicU32};

/// The number of this process among its forebears, counted from the first that asked; zero before.
static GENERATION: atomic::AtomicU32 = atomic::AtomicU32::new(0);

/// A number that is different in a forked child, and never zero.
#[inline]
pub fn generation() -> u32 {
    match GENERATION.load(Ordering::Relaxed) {
        0 => watch(),
        generation => generation,
    }
}

unsafe extern "C" {
    pub(crate) fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

#[cold]
fn watch() -> u32 {
    if GENERATION.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        // SAFETY: the function lives as long as the library that it is in and does only what a child may do after a fork.
        unsafe { pthread_atfork(None, None, Some(in_child)) };
    }
    GENERATION.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    let next = (GENERATION.load(Ordering::Relaxed) + 1) & (u32::MAX >> 1);
    GENERATION.store(next.max(1), Ordering::Relaxed);
    for slot in &CLOSED_IN_CHILD {
        let descriptor = slot.swap(NO_FILE, Ordering::Relaxed);
        if descriptor != NO_FILE {
            // SAFETY: the thread that opened the file does not exist here, so that nobody else closes it.
            unsafe { rustix::io::close(descriptor) };
        }
    }
}

/// Something that works only in the process that uses it first, as the drivers of GPUs do.
#[derive(Debug)]
pub(crate) struct OneProcess(atomic::AtomicU32);

impl OneProcess {
    pub(crate) const fn new() -> OneProcess {
        OneProcess(atomic::AtomicU32::new(0))
    }

    /// Whether it can be used here. The first to ask decides where that is.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        let here = generation();
        let used_in = match self.0.load(Ordering::Relaxed) {
            // Another thread may be the first between the load and the exchange, and is in this process.
            0 => self.0.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).err(),
            used_in => Some(used_in),
        };
        used_in.is_none_or(|used_in| used_in == here)
    }
}

/// Files that a forked child closes at once.
static CLOSED_IN_CHILD: [AtomicI32; 64] = [const { AtomicI32::new(NO_FILE) }; 64];
const NO_FILE: c_int = -1;

/// While this lives, a forked child closes the file: a lock on it then belongs to this process alone.
///
/// The file outlives it, and is not used in the child: only the thread that opened the file uses it.
#[derive(Debug)]
pub struct ClosedInChild {
    slot: Option<&'static AtomicI32>,
    descriptor: c_int,
}

impl ClosedInChild {
    /// Registers a file. There is room for 64 at a time; a child keeps others open.
    pub fn new(file: BorrowedFd<'_>) -> ClosedInChild {
        generation();
        let descriptor = file.as_raw_fd();
        let free = |slot: &&AtomicI32| slot.compare_exchange(NO_FILE, descriptor, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        ClosedInChild { slot: CLOSED_IN_CHILD.iter().find(free), descriptor }
    }
}

impl Drop for ClosedInChild {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let _ = slot.compare_exchange(self.descriptor, NO_FILE, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// The value of a [`Lock`] was in use by a thread that does not exist in this forked child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another thread was changing this when the process forked")]
pub struct LeftLocked;

/// A mutex on which a forked child never deadlocks.
///
/// ```
/// use parloop_device::forked::Lock;
/// static COUNT: Lock<u32> = Lock::new(1);
/// *COUNT.lock_or(|| 0) += 1;
/// assert_eq!(*COUNT.lock().unwrap(), 2);
/// ```
pub struct Lock<T> {
    /// Zero, or the generation of the holder above a bit that says whether others wait.
    word: AtomicU32,
    left_locked: AtomicBool,
    value: UnsafeCell<ManuallyDrop<T>>,
}

// SAFETY: one thread at a time has access to the value, as with any mutex.
unsafe impl<T: Send> Send for Lock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Lock<T> {}

const WAITED_FOR: u32 = 1;

impl<T> Lock<T> {
    /// A lock around that value.
    pub const fn new(value: T) -> Lock<T> {
        Lock { word: AtomicU32::new(0), left_locked: AtomicBool::new(false), value: UnsafeCell::new(ManuallyDrop::new(value)) }
    }

    /// Waits for other threads and takes the lock. The value may be as a panic left it.
    ///
    /// # Errors
    /// [`LeftLocked`], in a forked child, from then on.
    #[inline]
    pub fn lock(&self) -> Result<Guard<'_, T>, LeftLocked> {
        let guard = self.take();
        if self.left_locked.load(Ordering::Relaxed) { Err(LeftLocked) } else { Ok(guard) }
    }

    /// As [`lock`](Self::lock); a forked child goes on with a fresh value where the other was in use. That one is never dropped.
    #[inline]
    pub fn lock_or(&self, fresh: impl FnOnce() -> T) -> Guard<'_, T> {
        let guard = self.take();
        if self.left_locked.load(Ordering::Relaxed) {
            // SAFETY: the lock is held. The value that is there may be half changed, so that it is overwritten and not dropped.
            unsafe { self.value.get().write(ManuallyDrop::new(fresh())) };
            self.left_locked.store(false, Ordering::Relaxed);
        }
        guard
    }

    #[inline]
    fn take(&self) -> Guard<'_, T> {
        let held = generation() << 1;
        if self.word.compare_exchange(0, held, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.take_slowly(held);
        }
        Guard { lock: self }
    }

    #[cold]
    fn take_slowly(&self, held: u32) {
        for _ in 0..sync::LOOKS_FOR_A_LOCK {
            if self.word.load(Ordering::Relaxed) != held {
                break;
            }
            sync::spin_loop();
        }
        let swap = |from, to| self.word.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok();
        loop {
            match self.word.load(Ordering::Relaxed) {
                // Others may have waited before: whoever waited wakes the next.
                0 if swap(0, held | WAITED_FOR) => return,
                0 => {}
                found if found & !WAITED_FOR != held => {
                    if swap(found, held) {
                        self.left_locked.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                found => {
                    if found & WAITED_FOR != 0 || swap(found, found | WAITED_FOR) {
                        sync::sleep_while(&self.word, held | WAITED_FOR);
                    }
                }
            }
        }
    }
}

impl<T> Drop for Lock<T> {
    fn drop(&mut self) {
        let word = *self.word.get_mut();
        let left_locked = *self.left_locked.get_mut() || (word != 0 && word & !WAITED_FOR != generation() << 1);
        if !left_locked {
            // SAFETY: the value is whole, and is not used again.
            unsafe { ManuallyDrop::drop(self.value.get_mut()) };
        }
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Lock<T> {
        Lock::new(T::default())
    }
}

impl<T> std::fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// Access to the value of a [`Lock`], until dropped.
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and this borrow of the guard is the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.word.swap(0, Ordering::Release) & WAITED_FOR != 0 {
            sync::wake(&self.lock.word, 1);
        }
    }
}

/// Wakes threads that wait for the value of a [`Lock`] to change.
#[derive(Debug, Default)]
pub struct Signal {
    sent: AtomicU32,
}

impl Signal {
    /// Releases the lock, waits for [`wake_all`](Self::wake_all) and takes the lock again. It may also return without cause.
    ///
    /// # Errors
    /// As [`Lock::lock`].
    pub fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Result<Guard<'a, T>, LeftLocked> {
        let sent = self.sent.load(Ordering::Relaxed);
        let lock = guard.lock;
        drop(guard);
        sync::sleep_while(&self.sent, sent);
        lock.lock()
    }

    /// Wakes all that wait; called while the lock is held.
    pub fn wake_all(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        sync::wake(&self.sent, sync::ALL);
    }
}

/// Turns at something that several use: any number may read, or one writes.
///
/// A forked child does not wait for threads of its parent. Those who read do not matter to it; where one wrote, what was written is
/// not whole, and everyone in the child gets an error.
///
/// ```
/// use parloop_device::forked::Turns;
/// let turns = Turns::default();
/// let (first, second) = (turns.take(false)?, turns.take(false)?);
/// assert!(turns.try_take(true)?.is_none());
/// drop((first, second));
/// assert!(turns.try_take(true)?.is_some());
/// # Ok::<(), parloop_device::forked::LeftLocked>(())
/// ```
#[derive(Debug, Default)]
pub struct Turns {
    counts: Lock<Counts>,
    changed: Signal,
}

#[derive(Default)]
struct Counts {
    /// The process whose threads are counted.
    generation: u32,
    readers: usize,
    writes: bool,
    /// How many wait, and how many of these to write: who reads lets them pass.
    waiting: usize,
    writers_waiting: usize,
    /// A thread of a parent was writing.
    left_written: bool,
}

impl Turns {
    /// Waits until nobody else uses it in a way that forbids this one.
    ///
    /// # Errors
    /// [`LeftLocked`], in a forked child, where a thread of its parent was writing.
    pub fn take(&self, writes: bool) -> Result<Turn<'_>, LeftLocked> {
        let mut counts = self.counts()?;
        while !counts.is_free(writes) {
            counts.waiting += 1;
            counts.writers_waiting += usize::from(writes);
            counts = self.changed.wait(counts)?;
            counts.waiting -= 1;
            counts.writers_waiting -= usize::from(writes);
        }
        Ok(self.taken(counts, writes))
    }

    /// As [`take`](Self::take), without waiting.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn try_take(&self, writes: bool) -> Result<Option<Turn<'_>>, LeftLocked> {
        let counts = self.counts()?;
        Ok(counts.is_free(writes).then(|| self.taken(counts, writes)))
    }

    /// Several turns are taken in ascending order of this number, which prevents deadlock.
    pub fn rank(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn counts(&self) -> Result<Guard<'_, Counts>, LeftLocked> {
        let mut counts = self.counts.lock()?;
        let here = generation();
        if counts.generation != here {
            let left_written = counts.left_written || counts.writes;
            *counts = Counts { generation: here, left_written, ..Counts::default() };
        }
        if counts.left_written { Err(LeftLocked) } else { Ok(counts) }
    }

    fn taken<'a>(&'a self, mut counts: Guard<'_, Counts>, writes: bool) -> Turn<'a> {
        match writes {
            true => counts.writes = true,
            false => counts.readers += 1,
        }
        Turn { turns: self, writes, generation: counts.generation }
    }
}

impl Counts {
    fn is_free(&self, writes: bool) -> bool {
        !self.writes && if writes { self.readers == 0 } else { self.writers_waiting == 0 }
    }
}

/// A turn at something, until dropped.
#[derive(Debug)]
#[must_use = "a turn ends when it is dropped"]
pub struct Turn<'a> {
    turns: &'a Turns,
    writes: bool,
    generation: u32,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Ok(mut counts) = self.turns.counts() else { return };
        // What was taken before a fork is not counted in the child.
        if counts.generation != self.generation {
            return;
        }
        match self.writes {
            true => counts.writes = false,
            false => counts.readers -= 1,
        }
        if counts.waiting > 0 {
            self.turns.changed.wake_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use parloop_forking::ends_well_in_a_child;

    use super::*;

    #[test]
    fn a_child_waits_for_no_turn_of_its_parents_threads() {
        for writes in [false, true] {
            let turns = Turns::default();
            let (held, is_held) = std::sync::mpsc::channel();
            let (end, ends) = std::sync::mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let turns = &turns;
                scope.spawn(move || {
                    let _turn = turns.take(writes).unwrap();
                    held.send(()).unwrap();
                    let _ = ends.recv();
                });
                is_held.recv().unwrap();
                // What was written is not whole; those who read do not matter.
                let work = || turns.take(true).is_ok() != writes && turns.take(false).is_ok() != writes;
                assert!(ends_well_in_a_child(work), "writes: {writes}");
                drop(end);
            });
            assert!(turns.take(true).is_ok());
        }
    }

    #[test]
    fn one_writes_or_several_read() {
        let (turns, value) = (Turns::default(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (turns, value) = (&turns, &value);
                scope.spawn(move || {
                    for _ in 0..5_000 {
                        let writes = thread < 4;
                        let _turn = turns.take(writes).unwrap();
                        let before = value.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        assert_eq!(value.load(Ordering::Relaxed), before);
                        value.store(before + u32::from(writes), Ordering::Relaxed);
                    }
                });
            }
        });
        // Readers store what they found; no write happened in between.
        assert_eq!(value.into_inner(), 20_000);
    }

    #[test]
    fn threads_have_the_value_one_at_a_time() {
        let lock = Lock::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut value = lock.lock().unwrap();
                        let before = *value;
                        std::hint::black_box(());
                        *value = before + 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock().unwrap(), 160_000);
    }

    #[test]
    fn threads_that_ask_first_at_the_same_time_are_all_in_the_process() {
        for _ in 0..2_000 {
            let (one, start) = (OneProcess::new(), std::sync::Barrier::new(4));
            let here = std::thread::scope(|scope| {
                let asking = [(); 4].map(|()| {
                    scope.spawn(|| {
                        start.wait();
                        one.is_here()
                    })
                });
                asking.map(|thread| thread.join().unwrap())
            });
            assert_eq!(here, [true; 4]);
        }
    }

    #[test]
    fn what_a_thread_of_another_process_holds_is_known_to_be_left_locked() {
        let lock = Lock::new(vec![1]);
        std::mem::forget(lock.lock().unwrap());
        let held = lock.word.load(Ordering::Relaxed);
        // As a child sees it: the word has the generation of the parent.
        lock.word.store(held + 2, Ordering::Relaxed);
        assert!(lock.lock().is_err());
        assert!(lock.lock().is_err(), "the value is not to be trusted later either");
        assert_eq!(*lock.lock_or(|| vec![2]), [2]);
        assert_eq!(*lock.lock().unwrap(), [2]);
    }

    #[test]
    fn a_signal_wakes_all_that_wait() {
        let (lock, signal) = (Lock::new(false), Signal::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut ready = lock.lock().unwrap();
                    while !*ready {
                        ready = signal.wait(ready).unwrap();
                    }
                });
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            *lock.lock().unwrap() = true;
            let _held = lock.lock().unwrap();
            signal.wake_all();
        });
    }
}
