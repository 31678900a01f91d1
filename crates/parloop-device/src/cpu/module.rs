//! Shared libraries as modules, and the launch: short ranges on the calling thread, long ones shared among the threads.

use std::ffi::c_void;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::{MemfdFlags, memfd_create};

use super::pool::{Hands, Pool};
use crate::backend::{RawFunction, RawModule};
use crate::binary::ModuleBinary;
use crate::error::{DeviceError, Result};
use crate::identity::{DeviceId, Properties};
use crate::launch::Launch;

/// The one signature of all CPU entry points.
type Entry = unsafe extern "C" fn(args: *const *mut c_void, begin: i64, end: i64);

pub(super) struct CpuModule {
    device: DeviceId,
    pool: Arc<Pool>,
    library: Library,
    /// The library's file in memory. It stays open while the library is loaded: the loader tells libraries apart by path, and the
    /// path holds this number. Declared after `library`, so that it is closed after it.
    _file: OwnedFd,
}

impl CpuModule {
    pub(super) fn load(properties: &Properties, binary: &ModuleBinary, pool: Arc<Pool>) -> Result<CpuModule> {
        let failed = |reason: String| DeviceError::Load { device: properties.id.to_string(), reason };
        check_elf(&binary.bytes).map_err(|reason| failed(reason.to_owned()))?;
        let descriptor = memfd_create("parloop", MemfdFlags::CLOEXEC).map_err(|e| failed(format!("no file in memory: {e}")))?;
        let mut file = std::fs::File::from(descriptor);
        file.write_all(&binary.bytes).map_err(|e| failed(format!("no file in memory: {e}")))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the bytes are what our compiler made from the user's kernels; loading them runs no code but the C runtime's.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| failed(e.to_string()))?;
        Ok(CpuModule { device: properties.id, pool, library, _file: file.into() })
    }
}

/// Bytes that are cut short would load and then fault when touched, so the loader is only given whole files.
fn check_elf(bytes: &[u8]) -> Result<(), &'static str> {
    if bytes.get(..5) != Some(b"\x7fELF\x02") {
        return Err("not a 64-bit ELF shared library");
    }
    let word = |at: usize, len: usize| {
        let mut value = [0; 8];
        value[..len].copy_from_slice(bytes.get(at..at + len).ok_or("cut short")?);
        Ok::<u64, &'static str>(u64::from_le_bytes(value))
    };
    let sections_end = word(40, 8)?.checked_add(word(58, 2)? * word(60, 2)?).ok_or("damaged")?;
    if sections_end > bytes.len() as u64 { Err("cut short") } else { Ok(()) }
}

impl RawModule for CpuModule {
    fn function(self: Arc<Self>, name: &str) -> Result<Arc<dyn RawFunction>> {
        let unknown = || DeviceError::UnknownFunction { device: self.device.to_string(), name: name.to_owned() };
        // SAFETY: entry points are generated with exactly this signature, under names that only they have.
        let entry = unsafe { self.library.get::<Entry>(name) }.map(|symbol| *symbol).map_err(|_| unknown())?;
        Ok(Arc::new(CpuFunction { entry, pool: self.pool.clone(), cost: Cost::default(), _module: self }))
    }
}

struct CpuFunction {
    entry: Entry,
    pool: Arc<Pool>,
    cost: Cost,
    _module: Arc<CpuModule>,
}

/// Kernel arguments on their way to the threads.
struct SharedArgs(*const *mut c_void);
// SAFETY: the launch outlives the threads' use of the arguments, which they only read.
unsafe impl Sync for SharedArgs {}

impl SharedArgs {
    /// # Safety
    /// As [`RawFunction::launch`].
    unsafe fn call(&self, entry: Entry, begin: u64, end: u64) {
        // SAFETY: the caller's promise is the one asked for.
        unsafe { entry(self.0, begin as i64, end as i64) };
    }
}

impl RawFunction for CpuFunction {
    fn max_block(&self) -> u32 {
        1
    }

    unsafe fn launch(&self, _stream: u64, launch: &Launch, args: &[*mut c_void], _sizes: &[usize]) -> Result<()> {
        let args = SharedArgs(args.as_ptr());
        let range = launch.range.min(i64::MAX as u64);
        // SAFETY: the arguments fit, by the border's promise; the calls below cover `0..range` once.
        let run = |begin, end| unsafe { args.call(self.entry, begin, end) };
        if self.pool.threads() == 1 || range == 1 {
            run(0, range);
            return Ok(());
        }
        // A kernel of unknown cost runs on two small parts alone: the first items of all find everything cold.
        let mut begin = 0;
        if !self.cost.is_known() {
            for _ in 0..2 {
                begin = self.run_alone(begin, range, range.div_ceil(64), &run);
            }
        }
        if let Some(hands) = self.worth_sharing(range - begin) {
            self.share(&hands, begin, range, run);
            return Ok(());
        }
        // Items may be dearer than they were in the last call, so that a range of some length is looked at once more on its way.
        if range - begin >= LEAST_LOOK {
            begin = self.run_alone(begin, range, (range - begin) / 8, &run);
            if let Some(hands) = self.worth_sharing(range - begin) {
                self.share(&hands, begin, range, run);
                return Ok(());
            }
        }
        self.run_alone(begin, range, range, &run);
        Ok(())
    }
}

impl CpuFunction {
    /// Runs at most `items` items from `begin` on here and now, and returns where they end.
    fn run_alone(&self, begin: u64, end: u64, items: u64, run: &impl Fn(u64, u64)) -> u64 {
        let stop = end.min(begin.saturating_add(items));
        if begin < stop {
            self.measure(stop - begin, 1.0, 0.0, || run(begin, stop));
        }
        stop
    }

    fn share(&self, hands: &Hands, begin: u64, end: u64, run: impl Fn(u64, u64) + Sync) {
        self.measure(end - begin, self.pool.threads() as f64, hands.dispatch_ns, || hands.share(begin, end, &run));
    }

    /// The threads, if `items` items are expected to cost more than putting them to it.
    fn worth_sharing(&self, items: u64) -> Option<Arc<Hands>> {
        let expected_ns = self.cost.per_item() * items as f64;
        let hands = self.pool.hands_for(items, expected_ns)?;
        // A call that was held up makes its kernel look dear, so that it is measured alone again from time to time.
        let doubtful = expected_ns < DOUBTFUL * hands.dispatch_ns && self.cost.is_due();
        (!doubtful).then_some(hands)
    }

    fn measure(&self, items: u64, threads: f64, overhead_ns: f64, work: impl FnOnce()) {
        let start = self.pool.now();
        work();
        let end = self.pool.now();
        self.pool.was_busy(end);
        self.cost.set(((end - start) as f64 - overhead_ns).max(1.0) * threads / items as f64);
    }
}

/// Looking at the clock once more costs as much as some tens of small items.
const LEAST_LOOK: u64 = 32;

/// Work that is worth more than so many dispatches is shared whatever the last measurement was.
const DOUBTFUL: f64 = 20.0;

/// What one item of a kernel's range costs, measured as it runs.
#[derive(Default)]
struct Cost {
    /// Nanoseconds, as the bits of an `f64`; 0 is not known yet.
    per_item: AtomicU64,
    doubts: AtomicU32,
}

impl Cost {
    fn is_known(&self) -> bool {
        self.per_item.load(Ordering::Relaxed) != 0
    }

    fn per_item(&self) -> f64 {
        f64::from_bits(self.per_item.load(Ordering::Relaxed))
    }

    /// Every so many times.
    fn is_due(&self) -> bool {
        self.doubts.fetch_add(1, Ordering::Relaxed) % 16 == 15
    }

    fn set(&self, ns: f64) {
        self.per_item.store(ns.max(f64::MIN_POSITIVE).to_bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_whole_is_refused() {
        assert_eq!(check_elf(b""), Err("not a 64-bit ELF shared library"));
        assert_eq!(check_elf(b"\x7fELF\x02"), Err("cut short"));
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(check_elf(&own), Ok(()));
        assert_eq!(check_elf(&own[..own.len() - 1]), Err("cut short"));
    }
}
