//! The steps and the calls, with a library of our own that transforms host memory by the definition.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use num_complex::Complex64;

use super::*;
use crate::gpu::fft_library::{FftCallNames, FftCalls, FftFlavour};

fn shape(lengths: &[usize], axes: &[usize]) -> FftShape {
    FftShape { lengths: lengths.into(), axes: axes.into(), dtype: DType::C128 }
}

fn root(product: i64, n: i64, sign: f64) -> Complex64 {
    Complex64::from_polar(1.0, sign * TAU * (product % n) as f64 / n as f64)
}

/// By the definition, along one axis after the other.
fn expected(values: &[Complex64], shape: &FftShape, sign: f64) -> Vec<Complex64> {
    let mut values = values.to_vec();
    for &axis in &shape.axes {
        let inner: usize = shape.lengths[axis + 1..].iter().product();
        let n = shape.lengths[axis];
        let before = values.clone();
        for (at, value) in values.iter_mut().enumerate() {
            let k = at / inner % n;
            let first = at - k * inner;
            *value = (0..n).map(|j| before[first + j * inner] * root((j * k) as i64, n as i64, sign)).sum();
        }
    }
    values
}

// ---- the library ----

#[derive(Clone, Default)]
struct Made {
    lengths: Vec<i64>,
    stride: i64,
    distance: i64,
    batch: i64,
    stream: u64,
}

#[derive(Default)]
struct Fake {
    plans: HashMap<u64, Made>,
    last: u64,
    runs: usize,
    fail_to_make: Option<c_int>,
}

static FAKE: Mutex<Option<Fake>> = Mutex::new(None);

fn fake<T>(use_it: impl FnOnce(&mut Fake) -> T) -> T {
    use_it(FAKE.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert_default())
}

unsafe extern "C" fn create(handle: *mut u64) -> c_int {
    let made = fake(|fake| {
        fake.last += 1;
        fake.plans.insert(fake.last, Made::default());
        fake.last
    });
    // SAFETY: a place for one handle, of which cuFFT writes the lower half.
    unsafe { handle.cast::<u32>().write(made as u32) };
    0
}

#[allow(clippy::too_many_arguments)] // the library's
unsafe extern "C" fn make(
    plan: u64,
    rank: c_int,
    n: *mut i64,
    embed: *mut i64,
    stride: i64,
    distance: i64,
    out_embed: *mut i64,
    out_stride: i64,
    out_distance: i64,
    kind: c_int,
    batch: i64,
    work_size: *mut usize,
) -> c_int {
    assert!((1..=3).contains(&rank) && kind == DOUBLE && !work_size.is_null());
    assert!((n, stride, distance) == (embed, out_stride, out_distance) && embed == out_embed);
    // SAFETY: a list of `rank` lengths.
    let lengths = unsafe { std::slice::from_raw_parts(n, rank as usize) }.to_vec();
    fake(|fake| {
        if let Some(code) = fake.fail_to_make {
            return code;
        }
        *fake.plans.get_mut(&plan).unwrap() = Made { lengths, stride, distance, batch, stream: 0 };
        0
    })
}

unsafe extern "C" fn set_stream(plan: u64, stream: u64) -> c_int {
    fake(|fake| fake.plans.get_mut(&plan).unwrap().stream = stream);
    0
}

unsafe extern "C" fn run_single(_plan: u64, _from: u64, _to: u64, _sign: c_int) -> c_int {
    panic!("the elements are of double precision");
}

unsafe extern "C" fn run_double(plan: u64, from: u64, to: u64, sign: c_int) -> c_int {
    let made = fake(|fake| {
        fake.runs += 1;
        fake.plans[&plan].clone()
    });
    assert!(from == to && made.stream == 77);
    let volume: i64 = made.lengths.iter().product();
    let inner = FftShape {
        lengths: made.lengths.iter().map(|&len| len as usize).collect(),
        axes: (0..made.lengths.len()).collect(),
        dtype: DType::C128,
    };
    for transform in 0..made.batch {
        let place = |element: i64| (from as *mut Complex64).wrapping_offset((transform * made.distance + element * made.stride) as isize);
        // SAFETY: the test's own elements, if the steps are right.
        let values: Vec<Complex64> = (0..volume).map(|element| unsafe { *place(element) }).collect();
        for (element, value) in expected(&values, &inner, f64::from(sign)).into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { *place(element as i64) = value };
        }
    }
    0
}

unsafe extern "C" fn destroy(plan: u64) -> c_int {
    fake(|fake| fake.plans.remove(&plan).map_or(1, |_| 0))
}

const NAMES: FftCallNames =
    FftCallNames { create: "create", make: "make", set_stream: "set", run_single: "single", run_double: "double", destroy: "destroy" };

/// The library, for one test at a time.
fn library() -> (&'static FftLibrary, MutexGuard<'static, ()>) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let find = |name: &'static str| {
        Some(match name {
            "create" => create as *const std::ffi::c_void,
            "make" => make as *const _,
            "set" => set_stream as *const _,
            "single" => run_single as *const _,
            "double" => run_double as *const _,
            _ => destroy as *const _,
        })
    };
    // SAFETY: these functions have these signatures.
    let calls = unsafe { FftCalls::load(&NAMES, find) }.unwrap();
    *FAKE.lock().unwrap_or_else(|e| e.into_inner()) = None;
    (Box::leak(Box::new(FftLibrary { calls, _library: None })), alone)
}

// ---- the tests ----

#[test]
fn every_set_of_axes_is_transformed_once_along_each() {
    let (library, _alone) = library();
    for lengths in [vec![6], vec![1], vec![4, 3], vec![2, 5, 3], vec![3, 1, 4], vec![2, 3, 2, 4], vec![2, 2, 3, 2, 2], vec![1, 1], vec![]] {
        let size: usize = lengths.iter().product();
        let values: Vec<Complex64> = (0..size).map(|i| Complex64::new((i * i % 7) as f64, (i % 5) as f64 - 2.0)).collect();
        for chosen in 0..1usize << lengths.len() {
            let axes: Vec<usize> = (0..lengths.len()).filter(|axis| chosen >> axis & 1 == 1).collect();
            let shape = shape(&lengths, &axes);
            let plans = Plans::new(library, &shape, 77).unwrap();
            for (direction, sign) in [(FftDirection::Forward, -1.0), (FftDirection::Inverse, 1.0)] {
                let mut found = values.clone();
                // SAFETY: as many elements as were planned for.
                unsafe { plans.run(found.as_mut_ptr() as u64, direction) }.unwrap();
                for (found, expected) in found.iter().zip(expected(&values, &shape, sign)) {
                    assert!((found - expected).norm() < 1e-10, "{shape:?}: {found} is not {expected}");
                }
            }
        }
    }
    assert!(fake(|fake| fake.plans.is_empty()), "a plan was not given back");
}

#[test]
fn axes_next_to_each_other_are_one_step_and_the_shorter_side_is_repeated() {
    let whole = |lengths: &[i64], stride, distance, batch, repeats, jump| BatchedTransform {
        lengths: lengths.into(),
        stride,
        distance,
        batch,
        repeats,
        jump,
    };
    assert_eq!(steps(&shape(&[64, 32, 16], &[0, 1, 2])), [whole(&[64, 32, 16], 1, 32768, 1, 1, 1)]);
    assert_eq!(steps(&shape(&[64, 32, 16], &[1, 2])), [whole(&[32, 16], 1, 512, 64, 1, 1)]);
    assert_eq!(steps(&shape(&[64, 32], &[0])), [whole(&[64], 32, 1, 32, 1, 2048)]);
    assert_eq!(steps(&shape(&[2, 32, 16], &[1])), [whole(&[32], 16, 1, 16, 2, 512)]);
    assert_eq!(steps(&shape(&[64, 32, 2], &[1])), [whole(&[32], 2, 64, 64, 2, 1)]);
    assert_eq!(steps(&shape(&[5, 1, 6], &[0, 2])), [whole(&[5, 6], 1, 30, 1, 1, 1)]);
    assert_eq!(steps(&shape(&[2, 3, 4, 5], &[0, 1, 2, 3])), [whole(&[3, 4, 5], 1, 60, 2, 1, 1), whole(&[2], 60, 1, 60, 1, 120)]);
    assert_eq!(steps(&shape(&[3, 1], &[1])), []);
}

#[test]
fn a_plan_that_cannot_be_made_is_given_back_and_named() {
    let (library, _alone) = library();
    fake(|fake| fake.fail_to_make = Some(8));
    let failure = Plans::new(library, &shape(&[4, 4], &[0, 1]), 77).err().unwrap();
    assert_eq!(error("cuda:0", failure).to_string(), "cuda:0: make failed with 8 (a length that the library cannot transform)");
    assert!(fake(|fake| fake.plans.is_empty()));
}

#[test]
fn a_library_without_the_functions_is_an_error() {
    let flavour = FftFlavour { name: "cuFFT", names: NAMES, hint: "install it" };
    let message = |candidates: &[&str]| {
        let candidates: Vec<PathBuf> = candidates.iter().map(PathBuf::from).collect();
        FftLibrary::open(&flavour, &candidates).err().unwrap().to_string()
    };
    assert_eq!(
        message(&["libc.so.6"]),
        "cuFFT not found: none of libc.so.6 could be used; it has no function `create`; install another version of it"
    );
    assert_eq!(
        message(&["libcufft-of-nobody.so", "/nowhere/libcufft.so"]),
        "cuFFT not found: none of libcufft-of-nobody.so could be used; install it"
    );
}
