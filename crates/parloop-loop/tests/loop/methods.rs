//! Programs by methods: chains of transformations, and calls with Rust values.

use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::loop_args;
use parloop_loop::prelude::*;
use parloop_loop::run::{LoopArg, RunError};
use parloop_loop::syntax::{InameTag, Program};
use parloop_loop::transform::{Prefetch, Split, SplitError, TransformError};

use super::run::contexts;

fn named(name: &str) -> Program {
    KernelBuilder::new()
        .name(name)
        .domain("{[i,j]: 0<=i<n and 0<=j<m}")
        .instructions("out[i] = c*sum(j, a[i,j])")
        .data(Data::global("a").dtype("float64").shape("n, m"))
        .data(Data::global("out").dtype("float64").shape("n"))
        .data(Data::value("c").dtype("float64"))
        .rest()
        .build()
        .unwrap()
}

#[test]
fn a_chain_of_methods_gives_the_same_numbers_from_arrays_of_the_host() {
    let program = named("rows")
        .split_iname("i", Split::by(4).outer(InameTag::Group(0)).inner(InameTag::Local(0)))
        .and_then(|program| program.split_iname("j", Split::by(4)))
        .and_then(|program| program.add_prefetch(Prefetch::new("a", ["i_inner", "j_inner"])))
        .and_then(|program| program.assume("n >= 1 and m >= 1"))
        .unwrap();
    for context in contexts() {
        let a: Vec<f64> = (0..30).map(f64::from).collect();
        let mut out = vec![f64::NAN; 6];
        program.compile(&context).unwrap().call(loop_args! { a: (&a, [6, 5]), c: 2.0, out: &mut out }).unwrap();
        let expected: Vec<f64> = a.chunks(5).map(|row| 2.0 * row.iter().sum::<f64>()).collect();
        assert_eq!(out, expected, "on {}", context.device().kind());
        out.fill(0.0);
        program.compile(&context).unwrap().call(loop_args! { a: (&a[..15], [3, 5]), c: 2.0, out: &mut out[..3] }).unwrap();
        assert_eq!(out[..3], expected[..3], "on {}", context.device().kind());
        assert_eq!(out[3..], [0.0; 3], "on {}", context.device().kind());
    }
}

#[test]
fn a_method_says_what_its_transformation_says() {
    let error = named("rows").split_iname("i", Split::by(0)).unwrap_err();
    assert_eq!(error.to_string(), "iname `i` cannot be split by 0: the length must be at least 1");
    assert!(matches!(error, LoopError::Transform(TransformError::Split(SplitError::Length { length: 0, .. }))), "{error:?}");
}

#[test]
fn of_two_entry_points_none_is_chosen() {
    let both = named("one").merge(&named("two")).unwrap();
    let message = "the program has several kernels, `one`, `two`; specify one";
    assert_eq!(both.tag_inames("i:g.0").unwrap_err().to_string(), message);
    let error = both.compile(&contexts()[0]).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_array_of_another_shape_is_refused_before_anything_runs() {
    let context = &contexts()[0];
    let executable = named("rows").compile(context).unwrap();
    let (a, mut out) = (vec![1.0; 6], vec![7.0; 4]);
    let error = executable.call(loop_args! { a: (&a, [3, 2]), c: 1.0, out: &mut out }).unwrap_err();
    assert_eq!(error.to_string(), "kernel `rows`: argument `out` has shape [4], but must have shape [3]");
    assert_eq!(out, [7.0; 4]);
    let error = executable.call(loop_args! { a: (&a, [3, 2]), c: 1.0, c: 2.0, out: &mut out }).unwrap_err();
    assert_eq!(error.to_string(), "kernel `rows`: argument `c` was given twice");
}

#[test]
fn a_shape_that_its_memory_does_not_hold_is_refused() {
    for context in contexts() {
        let executable = named("rows").compile(&context).unwrap();
        let (a, mut out) = (context.array(&[1.0; 6]).unwrap(), vec![7.0; 3]);
        let error = executable.call(loop_args! { a: (&a, [3, 3]), c: 1.0, out: &mut out }).unwrap_err();
        assert_eq!(error.to_string(), "kernel `rows`: argument `a` of shape [3, 3] takes 72 bytes, but its memory has 48");
        let error = executable.call(loop_args! { a: (&a, [i64::MAX, i64::MAX]), c: 1.0, out: &mut out }).unwrap_err();
        assert!(matches!(error, LoopError::Run(RunError::TooSmall { .. })), "{error}");
        let odd =
            |shape: [i64; 2], strides: &[i64]| LoopArg::Array { arg: (&a).into(), shape: shape.to_vec(), strides: Some(strides.to_vec()) };
        for array in [odd([3, 2], &[8]), odd([3, -2], &[16, 8]), odd([3, 2], &[-16, 8])] {
            let error = executable.call(loop_args! { a: array, c: 1.0, out: &mut out }).unwrap_err();
            assert!(matches!(error, LoopError::Run(RunError::BadShape { .. })), "{error}");
        }
        assert_eq!(out, [7.0; 3]);
    }
}
