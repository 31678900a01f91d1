//! Kernels that prefetch or precompute give the same numbers as those that do not, on every device.

use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::matching::Query;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{AddressSpace, InameTag, LoopKernel, Program};
use parloop_loop::transform::{
    AssignmentToSubst, AxisTags, Precompute, Prefetch, ReductionArgToSubstRule, Split, add_prefetch, assignment_to_subst, precompute,
    privatize_temporaries_with_inames, reduction_arg_to_subst_rule, split_iname, split_reduction_outward, tag_array_axes,
};

use crate::run::{contexts, executable};

fn prefetch(kernel: &LoopKernel, array: &str, sweep: &[&str]) -> LoopKernel {
    add_prefetch(kernel, &Prefetch::new(array, sweep.iter().copied())).unwrap()
}

fn tiled_product() -> Program {
    let kernel = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a, b, c").dtype("float32").shape("n, n"))
        .rest()
        .build_kernel()
        .unwrap();
    let kernel = split_iname(&kernel, "i", &Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(1))).unwrap();
    let kernel = split_iname(&kernel, "j", &Split::by(16).outer(InameTag::Group(1)).inner(InameTag::Local(0))).unwrap();
    let kernel = split_iname(&kernel, "k", &Split::by(16)).unwrap();
    let kernel = prefetch(&kernel, "a", &["k_inner", "i_inner"]);
    Program::of(prefetch(&kernel, "b", &["j_inner", "k_inner"]))
}

#[test]
fn a_product_by_tiles_is_the_product() {
    let program = tiled_product();
    for context in contexts() {
        let executable = executable(&program, &context);
        for n in [1usize, 15, 16, 17, 37, 64] {
            let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
            let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
            let (x, y, mut z) = (context.array(&a).unwrap(), context.array(&b).unwrap(), context.zeros::<f32>(a.len()).unwrap());
            let shape = [n as i64, n as i64];
            let mut args = [("a", LoopArg::shaped(&x, &shape)), ("b", LoopArg::shaped(&y, &shape)), ("c", LoopArg::shaped(&mut z, &shape))];
            executable.call(&mut args).unwrap();
            let expected: Vec<f32> = (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect();
            assert_eq!(z.to_vec().unwrap(), expected, "n = {n}");
        }
    }
}

/// Runs a kernel with `a` of `from` numbers, for each size; `b` must be what is expected.
fn check_line(kernel: LoopKernel, sizes: &[usize], from: impl Fn(usize) -> usize, expected: impl Fn(&[f64], usize) -> Vec<f64>) {
    let program = Program::of(kernel);
    for context in contexts() {
        let executable = executable(&program, &context);
        for &n in sizes {
            let a: Vec<f64> = (0..from(n)).map(|i| ((i * i) % 11) as f64).collect();
            let expected = expected(&a, n);
            let (x, mut y) = (context.array(&a).unwrap(), context.zeros::<f64>(expected.len()).unwrap());
            let size = LoopArg::from(n as i64);
            executable.call(&mut [("a", LoopArg::from(&x)), ("b", LoopArg::from(&mut y)), ("n", size)]).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected, "n = {n}");
        }
    }
}

fn stencil() -> LoopKernel {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("b[i] = a[i] + 2*a[i + 1] + 3*a[i + 5]")
        .data(Data::global("a").dtype("float64").shape("n + 5"))
        .data(Data::global("b").dtype("float64").shape("n"))
        .rest()
        .build_kernel()
        .unwrap()
}

fn stencil_of(a: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|i| a[i] + 2.0 * a[i + 1] + 3.0 * a[i + 5]).collect()
}

/// Few values of a short line have holes between them, so the box is fetched.
fn fetch_box(kernel: &LoopKernel) -> LoopKernel {
    add_prefetch(kernel, &Prefetch { bounding_box: true, ..Prefetch::new("a", ["i_inner"]) }).unwrap()
}

const SIZES: [usize; 6] = [1, 7, 16, 17, 31, 100];

#[test]
fn a_stencil_from_local_memory_is_the_stencil() {
    let kernel = split_iname(&stencil(), "i", &Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(0))).unwrap();
    check_line(fetch_box(&kernel), &SIZES, |n| n + 5, stencil_of);
}

#[test]
fn a_stencil_from_private_memory_is_the_stencil() {
    let kernel = split_iname(&stencil(), "i", &Split::by(16)).unwrap();
    check_line(fetch_box(&kernel), &SIZES, |n| n + 5, stencil_of);
}

#[test]
fn values_in_global_memory_are_those_computed_where_they_are_used() {
    let kernel = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("f(x) := 2*a[x] + 1\nb[i] = f(i)*f(i + 1)")
        .data(Data::global("a").dtype("float64").shape("n + 1"))
        .data(Data::global("b").dtype("float64").shape("n"))
        .rest()
        .build_kernel()
        .unwrap();
    let what = Precompute { space: Some(AddressSpace::Global), ..Precompute::new("f", ["i".into()]) };
    let expected = |a: &[f64], n: usize| (0..n).map(|i| (2.0 * a[i] + 1.0) * (2.0 * a[i + 1] + 1.0)).collect();
    let kernel = precompute(&kernel, &what).unwrap();
    check_line(kernel.clone(), &SIZES, |n| n + 1, expected);
    // The loops that compute and those that use are shared out by themselves.
    let kernel = split_iname(&kernel, "i", &Split::by(8).outer(InameTag::Group(0)).inner(InameTag::Local(0))).unwrap();
    let kernel = split_iname(&kernel, "x", &Split::by(8).outer(InameTag::Group(0)).inner(InameTag::Local(0))).unwrap();
    check_line(kernel, &SIZES, |n| n + 1, expected);
}

#[test]
fn a_rule_made_of_an_assignment_gives_the_same_numbers() {
    let kernel = KernelBuilder::new()
        .domain("{[i, j]: 0<=i,j<n}")
        .instructions("t[i] = 2*a[i] + 1 {id=fill}\nb[j] = t[n - 1 - j] {dep=fill}")
        .data(Data::global("a, b").dtype("float64").shape("n"))
        .data(Data::temporary("t").dtype("float64").shape("n").space(AddressSpace::Global))
        .rest()
        .build_kernel()
        .unwrap();
    let expected = |a: &[f64], n: usize| (0..n).map(|j| 2.0 * a[n - 1 - j] + 1.0).collect();
    let kernel = assignment_to_subst(&kernel, &AssignmentToSubst::of("t")).unwrap();
    check_line(kernel, &SIZES, |n| n, expected);
}

#[test]
fn axes_in_another_order_give_the_same_numbers() {
    let kernel = KernelBuilder::new()
        .domain("{[i, j, k]: 0<=i<n and 0<=j,k<3}")
        .instructions("t[k, i] = a[3*i + k] {id=fill}\nb[3*i + j] = 2*t[2 - j, i] {dep=fill}")
        .data(Data::global("a, b").dtype("float64").shape("3*n"))
        .data(Data::temporary("t").dtype("float64").shape("3,n").space(AddressSpace::Global))
        .rest()
        .build_kernel()
        .unwrap();
    let expected = |a: &[f64], n: usize| (0..3 * n).map(|at| 2.0 * a[3 * (at / 3) + 2 - at % 3]).collect();
    for tags in ["N1,N0", "N0,N1", "N0(pad=4),N1"] {
        let tagged = tag_array_axes(&kernel, &["t".into()], &AxisTags::parse(tags)).unwrap();
        check_line(tagged, &SIZES, |n| 3 * n, expected);
    }
}

#[test]
fn private_copies_give_the_same_numbers() {
    let kernel = KernelBuilder::new()
        .domain("{[i, j]: 0<=i<n and 0<=j<8}")
        .instructions("<>t = 2*a[8*i + j] {id=get}\nb[8*i + j] = t + j {dep=get}")
        .data(Data::global("a, b").dtype("float64").shape("8*n"))
        .rest()
        .build_kernel()
        .unwrap();
    let expected = |a: &[f64], n: usize| (0..8 * n).map(|at| 2.0 * a[at] + (at % 8) as f64).collect();
    let copies = privatize_temporaries_with_inames(&kernel, &["j".into()].into(), None).unwrap();
    check_line(copies, &SIZES, |n| 8 * n, expected);
}

#[test]
fn a_sum_computed_ahead_in_parts_is_the_sum() {
    let kernel = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("b[0] = sum(i, a[i])")
        .data(Data::global("a").dtype("float64").shape("n"))
        .data(Data::global("b").dtype("float64").shape("1"))
        .rest()
        .build_kernel()
        .unwrap();
    let kernel = split_iname(&kernel, "i", &Split::by(8)).unwrap();
    let kernel = split_reduction_outward(&kernel, &["i_outer".into()], &Query::All).unwrap();
    let kernel = reduction_arg_to_subst_rule(&kernel, &ReductionArgToSubstRule::over(["i_outer".into()])).unwrap();
    let what = Precompute { space: Some(AddressSpace::Global), ..Precompute::new("red_i_outer_arg", ["i_outer".into()]) };
    let kernel = precompute(&kernel, &what).unwrap();
    check_line(kernel, &SIZES, |n| n, |a, _| vec![a.iter().sum()]);
}
