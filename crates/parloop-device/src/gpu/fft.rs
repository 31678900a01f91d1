//! Transforms by cuFFT and hipFFT, which have the same functions under different names.
//!
//! A library transforms along at most three axes that lie next to each other in memory, for elements that are one distance apart; what
//! is asked for is cut into [`BatchedTransform`]s of that form.

use std::ffi::c_int;
use std::sync::Arc;

use crate::backend::RawFft;
use crate::dtype::DType;
use crate::error::{DeviceError, Result};
use crate::forked::Lock;
use crate::gpu::calls::Failure;
use crate::gpu::context::Context;
use crate::gpu::driver::Driver;
use crate::gpu::fft_library::FftLibrary;
use crate::transform::{FftDirection, FftShape};

/// `batch` transforms of `lengths`, repeated at further places.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BatchedTransform {
    /// The lengths along one to three axes that follow each other in memory.
    lengths: Vec<i64>,
    /// Elements from one to the next along the last of these axes.
    stride: i64,
    /// Elements from one transform to the next.
    distance: i64,
    batch: i64,
    /// How often all of it is done, and how many elements further each time.
    repeats: u64,
    jump: u64,
}

const MOST_AXES: usize = 3;

/// The steps that transform `shape`, which has elements.
fn steps(shape: &FftShape) -> Vec<BatchedTransform> {
    // An axis of one element is not an axis: nothing is transformed along it, and its neighbours are next to each other.
    let (mut lengths, mut along) = (Vec::new(), Vec::new());
    for (axis, &len) in shape.lengths.iter().enumerate().filter(|(_, len)| **len > 1) {
        lengths.push(len);
        along.push(shape.axes.contains(&axis));
    }
    let mut steps = Vec::new();
    let mut end = lengths.len();
    while end > 0 {
        let mut begin = end;
        while begin > 0 && end - begin < MOST_AXES && along[begin - 1] {
            begin -= 1;
        }
        if begin < end {
            steps.push(step(&lengths, begin, end));
            end = begin;
        } else {
            end -= 1;
        }
    }
    steps
}

fn step(lengths: &[usize], begin: usize, end: usize) -> BatchedTransform {
    let product = |lengths: &[usize]| lengths.iter().product::<usize>() as i64;
    let (outer, volume, inner) = (product(&lengths[..begin]), product(&lengths[begin..end]), product(&lengths[end..]));
    // Transforms beside each other are one element apart, those behind each other a block. The longer of the two is the batch.
    let (beside, behind) = ((inner, 1), (outer, volume * inner));
    let ((batch, distance), (repeats, jump)) = if inner > 1 && inner >= outer { (beside, behind) } else { (behind, beside) };
    let lengths = lengths[begin..end].iter().map(|&len| len as i64).collect();
    BatchedTransform { lengths, stride: inner, distance, batch, repeats: repeats as u64, jump: jump as u64 }
}

/// The library's handle for one step; given back when dropped.
struct Plan {
    library: &'static FftLibrary,
    handle: u64,
}

const SINGLE: c_int = 0x29;
const DOUBLE: c_int = 0x69;

impl Plan {
    fn new(library: &'static FftLibrary, step: &BatchedTransform, dtype: DType, stream: u64) -> Result<Plan, Failure> {
        let calls = &library.calls;
        let mut handle = 0;
        // SAFETY: `handle` is valid for writing one handle.
        calls.create.check(unsafe { (calls.create.function)(&mut handle) })?;
        let plan = Plan { library, handle };
        let kind = if dtype == DType::C64 { SINGLE } else { DOUBLE };
        let (mut lengths, rank, mut work_size) = (step.lengths.clone(), step.lengths.len() as c_int, 0);
        let (n, stride, distance) = (lengths.as_mut_ptr(), step.stride, step.distance);
        // SAFETY: the plan was just made; each list has as many lengths as there are axes and is only read; `work_size` is valid for
        // writing one number.
        let made =
            unsafe { (calls.make.function)(handle, rank, n, n, stride, distance, n, stride, distance, kind, step.batch, &mut work_size) };
        calls.make.check(made)?;
        // SAFETY: plan and stream are alive.
        calls.set_stream.check(unsafe { (calls.set_stream.function)(handle, stream) })?;
        Ok(plan)
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: made by this library and dropped once. The work area is freed after the work that uses it.
        let _ = unsafe { (self.library.calls.destroy.function)(self.handle) };
    }
}

/// Plans for all steps, on one stream.
struct Plans {
    steps: Vec<(Plan, BatchedTransform)>,
    dtype: DType,
}

impl Plans {
    fn new(library: &'static FftLibrary, shape: &FftShape, stream: u64) -> Result<Plans, Failure> {
        let make = |step: BatchedTransform| Ok((Plan::new(library, &step, shape.dtype, stream)?, step));
        Ok(Plans { steps: steps(shape).into_iter().map(make).collect::<Result<_, _>>()?, dtype: shape.dtype })
    }

    /// # Safety
    /// As [`RawFft::run`]; nobody else uses the plans meanwhile.
    unsafe fn run(&self, address: u64, direction: FftDirection) -> Result<(), Failure> {
        let sign = match direction {
            FftDirection::Forward => -1,
            FftDirection::Inverse => 1,
        };
        for (plan, step) in &self.steps {
            let calls = &plan.library.calls;
            let call = if self.dtype == DType::C64 { &calls.run_single } else { &calls.run_double };
            for repeat in 0..step.repeats {
                let at = address + repeat * step.jump * self.dtype.size() as u64;
                // SAFETY: the plan is alive, and the elements it reads and writes are all inside the memory, as the caller guarantees.
                call.check(unsafe { (call.function)(plan.handle, at, at, sign) })?;
            }
        }
        Ok(())
    }
}

/// A transform on a GPU. Its work area is used in the order of its stream, and by one thread at a time.
pub(crate) struct GpuFft<D: Driver> {
    context: Arc<Context<D>>,
    /// `None` only while it is dropped.
    plans: Lock<Option<Plans>>,
}

impl<D: Driver> GpuFft<D> {
    pub(crate) fn plan(context: Arc<Context<D>>, stream: u64, shape: &FftShape) -> Result<GpuFft<D>> {
        let library = context.driver.fft()?;
        context.enter()?;
        let empty = shape.lengths.contains(&0);
        let make = || if empty { Ok(Plans { steps: Vec::new(), dtype: shape.dtype }) } else { Plans::new(library, shape, stream) };
        let plans = match make() {
            // What our pool keeps for later is missing for the work area.
            Err(Failure { code: ALLOCATION_FAILED, .. }) => {
                context.trim()?;
                make()
            }
            made => made,
        };
        let plans = plans.map_err(|failure| error(&context.name, failure))?;
        Ok(GpuFft { context, plans: Lock::new(Some(plans)) })
    }
}

impl<D: Driver> RawFft for GpuFft<D> {
    unsafe fn run(&self, address: u64, direction: FftDirection) -> Result<()> {
        self.context.enter()?;
        let plans = self.plans.lock().map_err(|_| DeviceError::LeftLocked { what: "a Fourier transform" })?;
        let Some(plans) = &*plans else { return Ok(()) };
        // SAFETY: the caller guarantees it; the lock keeps others away.
        unsafe { plans.run(address, direction) }.map_err(|failure| error(&self.context.name, failure))
    }
}

impl<D: Driver> Drop for GpuFft<D> {
    fn drop(&mut self) {
        // Plans are given back on their device. Where it cannot be reached they are gone with it.
        let plans = self.plans.lock_or(|| None).take();
        match self.context.enter() {
            Ok(()) => drop(plans),
            Err(_) => std::mem::forget(plans),
        }
    }
}

const ALLOCATION_FAILED: i32 = 2;

fn error(device: &str, failure: Failure) -> DeviceError {
    let message = words(failure.code).to_owned();
    DeviceError::Driver { device: device.to_owned(), call: failure.call, code: i64::from(failure.code), message }
}

/// The libraries have no function for this; their numbers are the same.
fn words(code: i32) -> &'static str {
    match code {
        1 => "invalid plan",
        2 => "no memory for the plan",
        3 => "invalid type",
        4 => "invalid value",
        5 => "internal error of the library",
        6 => "the transform failed on the device",
        7 => "the library could not be initialised: its version may not match the driver",
        8 => "a length that the library cannot transform",
        9 => "unaligned data",
        11 => "invalid device",
        13 => "no work area",
        14 => "not implemented",
        16 => "not supported",
        17..=20 => "a library that it needs is missing or failed",
        _ => "unknown error",
    }
}

#[cfg(test)]
mod tests;
