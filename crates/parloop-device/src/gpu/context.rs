//! A device in use: its context and memory pool, and the step that comes before every call to the driver.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{DeviceError, Result};
use crate::forked::OneProcess;
use crate::gpu::calls::{Call, Failure, code};
use crate::gpu::driver::{Driver, LEGACY_STREAM, PoolCalls, PoolProperties};
use crate::identity::MemoryInfo;

/// Where memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the pool of the context, if there is one.
    Pool,
    /// By the driver, which lets other processes use it.
    Driver,
}

/// A device in use. Devices stay open until the process ends, so the context is never given back.
pub(crate) struct Context<D: Driver> {
    pub(crate) driver: &'static D,
    /// The device's name, for errors.
    pub(crate) name: String,
    handle: u64,
    pool: Option<u64>,
    process: OneProcess,
    /// Whether a wait for the device was abandoned.
    abandoned: AtomicBool,
}

impl<D: Driver> Context<D> {
    pub(crate) fn new(driver: &'static D, name: String, device: c_int) -> Result<Context<D>> {
        let setup = || {
            let handle = driver.context(device)?;
            driver.make_current(handle)?;
            Ok((handle, create_pool(driver, device)))
        };
        match setup() {
            Ok((handle, pool)) => {
                let process = OneProcess::new();
                process.is_here();
                Ok(Context { driver, name, handle, pool, process, abandoned: AtomicBool::new(false) })
            }
            Err(failure) => Err(Failure::into_error(failure, driver, &name)),
        }
    }

    /// Makes this the context of the calling thread, which other libraries in the process may have changed.
    #[inline]
    pub(crate) fn enter(&self) -> Result<()> {
        if !self.process.is_here() {
            return Err(DeviceError::Forked { kind: D::KIND });
        }
        if self.abandoned.load(Ordering::Relaxed) {
            return Err(DeviceError::Abandoned { device: self.name.clone() });
        }
        self.driver.make_current(self.handle).map_err(|failure| self.error(failure))
    }

    /// Makes this the last: from here on [`enter`](Self::enter) fails, so that nothing is asked of the driver and nothing is freed.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// The driver's answer as a result.
    #[inline]
    pub(crate) fn check<F>(&self, call: &Call<F>, result: c_int) -> Result<()> {
        call.check(result).map_err(|failure| self.error(failure))
    }

    /// The answer of a query: whether the work is done.
    pub(crate) fn check_done<F>(&self, call: &Call<F>, result: c_int) -> Result<bool> {
        match result {
            code::NOT_READY => Ok(false),
            result => self.check(call, result).map(|()| true),
        }
    }

    #[cold]
    pub(crate) fn error(&self, failure: Failure) -> DeviceError {
        failure.into_error(self.driver, &self.name)
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.enter()?;
        let call = &self.driver.calls().synchronize;
        // SAFETY: it takes nothing and waits for the current context.
        self.check(call, unsafe { (call.function)() })
    }

    /// Waits for the stream on which memory is allocated and freed.
    pub(crate) fn synchronize_legacy_stream(&self) -> Result<()> {
        self.enter()?;
        let call = &self.driver.calls().stream_synchronize;
        // SAFETY: the legacy stream is always there.
        self.check(call, unsafe { (call.function)(LEGACY_STREAM) })
    }

    pub(crate) fn memory_info(&self) -> Result<MemoryInfo> {
        self.enter()?;
        let (mut free, mut total) = (0usize, 0usize);
        let call = &self.driver.calls().memory_info;
        // SAFETY: both are places for one number.
        self.check(call, unsafe { (call.function)(&mut free, &mut total) })?;
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    /// Device memory of `bytes` bytes, ready for work on the legacy stream and on all blocking streams.
    pub(crate) fn allocate(&self, bytes: usize, from: Source) -> Result<u64> {
        self.enter()?;
        match self.try_allocate(bytes, from) {
            Err(Failure { code: code::OUT_OF_MEMORY, .. }) => self.allocate_after_trimming(bytes, from),
            result => result.map_err(|failure| self.error(failure)),
        }
    }

    /// Memory that was freed may still wait for work, or lie in the pool in pieces: after that, another try.
    #[cold]
    fn allocate_after_trimming(&self, bytes: usize, from: Source) -> Result<u64> {
        self.trim()?;
        match self.try_allocate(bytes, from) {
            Err(Failure { code: code::OUT_OF_MEMORY, .. }) => Err(self.out_of_memory(bytes)),
            result => result.map_err(|failure| self.error(failure)),
        }
    }

    /// Gives the driver back what was freed and is kept for later.
    pub(crate) fn trim(&self) -> Result<()> {
        self.synchronize()?;
        if let Some((pools, pool)) = self.pool() {
            // SAFETY: the pool is alive; giving back what it does not use concerns nobody.
            let _ = pools.trim.check(unsafe { (pools.trim.function)(pool, 0) });
        }
        Ok(())
    }

    /// How much host memory may be page-locked is not known.
    pub(crate) fn host_out_of_memory(&self, bytes: usize) -> DeviceError {
        DeviceError::OutOfMemory { device: self.name.clone(), asked: bytes as u64, free: None }
    }

    fn out_of_memory(&self, bytes: usize) -> DeviceError {
        let free = self.memory_info().ok().map(|info| info.free);
        DeviceError::OutOfMemory { device: self.name.clone(), asked: bytes as u64, free }
    }

    fn try_allocate(&self, bytes: usize, from: Source) -> Result<u64, Failure> {
        let mut address = 0;
        if let Some((pools, pool)) = self.pool_for(from) {
            // SAFETY: the pool is alive, the legacy stream is always there, and `address` is valid for writing one address.
            pools.allocate.check(unsafe { (pools.allocate.function)(&mut address, bytes, pool, LEGACY_STREAM) })?;
        } else {
            let call = &self.driver.calls().allocate;
            // SAFETY: `address` is valid for writing one address.
            call.check(unsafe { (call.function)(&mut address, bytes) })?;
        }
        Ok(address)
    }

    /// Gives memory back, after the work queued so far on the legacy stream and on all blocking streams.
    ///
    /// # Safety
    /// `address` came from [`allocate`](Self::allocate) from there, was not freed, and is not used by work queued later.
    pub(crate) unsafe fn free(&self, address: u64, from: Source) -> Result<()> {
        self.enter()?;
        if let Some((pools, _)) = self.pool_for(from) {
            // SAFETY: the caller guarantees it; it came from the pool.
            self.check(&pools.free, unsafe { (pools.free.function)(address, LEGACY_STREAM) })
        } else {
            let call = &self.driver.calls().free;
            // SAFETY: the caller guarantees it; what is not from the pool is from the driver itself,
            // which waits for the device before it frees it.
            self.check(call, unsafe { (call.function)(address) })
        }
    }

    fn pool_for(&self, from: Source) -> Option<(&'static PoolCalls, u64)> {
        match from {
            Source::Pool => self.pool(),
            Source::Driver => None,
        }
    }

    fn pool(&self) -> Option<(&'static PoolCalls, u64)> {
        self.driver.pools().zip(self.pool)
    }
}

const ALLOCATION_PINNED: c_int = 1;
const LOCATION_DEVICE: c_int = 1;
const RELEASE_THRESHOLD: c_int = 4;

/// A pool of our own that keeps what is freed, so that allocating again costs little; `None` where the device has no pools.
fn create_pool<D: Driver>(driver: &'static D, device: c_int) -> Option<u64> {
    let pools = driver.pools()?;
    let mut supported = 0;
    let call = &driver.calls().device_attribute;
    // SAFETY: `supported` is valid for writing one number.
    call.check(unsafe { (call.function)(&mut supported, D::ATTRIBUTES.pools_supported, device) }).ok()?;
    if supported == 0 {
        return None;
    }
    let properties = PoolProperties {
        allocation_type: ALLOCATION_PINNED,
        handle_types: 0,
        location_type: LOCATION_DEVICE,
        location: device,
        security_attributes: ptr::null_mut(),
        reserved: [0; 64],
    };
    let mut pool = 0;
    // SAFETY: `pool` is valid for writing one handle and `properties` is what the driver reads.
    pools.create.check(unsafe { (pools.create.function)(&mut pool, &properties) }).ok()?;
    let mut threshold = u64::MAX;
    // SAFETY: the attribute is one 64-bit number. Failing only makes later allocations slower.
    let _ = unsafe { (pools.set_attribute.function)(pool, RELEASE_THRESHOLD, (&raw mut threshold).cast::<c_void>()) };
    Some(pool)
}
