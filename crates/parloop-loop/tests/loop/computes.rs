//! Generated code gives the right numbers, on CPUs and on all other devices found.

use parloop_kernel::Context;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::Program;

use super::lowering::{add, matmul, slabs, split};
use super::run::{contexts, executable};
use super::samples;

fn sample(name: &str) -> Program {
    samples::all().into_iter().find(|(known, _)| *known == name).unwrap().1
}

/// Runs a kernel of `a` and `x`, both of 64-bit floats.
fn of_a(program: &Program, context: &Context, a: &[f64], length: usize) -> Vec<f64> {
    let (a, mut x) = (context.array(a).unwrap(), context.zeros::<f64>(length).unwrap());
    executable(program, context).call(&mut [("a", LoopArg::from(&a)), ("x", LoopArg::from(&mut x))]).unwrap();
    x.to_vec().unwrap()
}

#[test]
fn lengths_that_a_tile_does_not_divide_are_done_to_the_end_and_no_further() {
    let tags = [(Some("g.0"), Some("l.0")), (None, None), (None, Some("unr")), (Some("g.0"), None)];
    let split = tags.map(|(outer, inner)| split(&add(), "i", 16, outer, inner));
    for program in split.into_iter().chain([(0, 1), (1, 0), (1, 1), (2, 3)].map(|ends| slabs(&add(), 16, ends))) {
        for context in contexts() {
            let executable = executable(&program, &context);
            for n in [1usize, 15, 16, 17, 100] {
                let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
                let (a, b, mut out) = (context.array(&a).unwrap(), context.array(&a).unwrap(), context.zeros::<f32>(n).unwrap());
                executable.call(&mut [("a", LoopArg::from(&a)), ("b", LoopArg::from(&b)), ("out", LoopArg::from(&mut out))]).unwrap();
                let expected: Vec<f32> = (0..n).map(|i| 3.0 * i as f32).collect();
                assert_eq!(out.to_vec().unwrap(), expected, "{n}");
            }
        }
    }
}

#[test]
fn a_product_of_matrices_in_tiles_of_local_memory_is_right_for_every_size() {
    for (program, sizes) in [(matmul(None), &[1usize, 16, 37][..]), (matmul(Some(64)), &[64])] {
        for context in contexts() {
            let executable = executable(&program, &context);
            for &n in sizes {
                let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
                let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
                let (x, y, mut z) = (context.array(&a).unwrap(), context.array(&b).unwrap(), context.zeros::<f32>(n * n).unwrap());
                let shape = [n as i64, n as i64];
                let args =
                    &mut [("a", LoopArg::shaped(&x, &shape)), ("b", LoopArg::shaped(&y, &shape)), ("c", LoopArg::shaped(&mut z, &shape))];
                executable.call(args).unwrap();
                let expected: Vec<f32> = (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect();
                assert_eq!(z.to_vec().unwrap(), expected, "{n}");
            }
        }
    }
}

#[test]
fn work_items_see_what_others_put_into_local_memory_before_the_barrier() {
    let a: Vec<f64> = (0..48).map(f64::from).collect();
    let mirrored = |at: usize| a[at / 16 * 16 + 15 - at % 16];
    for context in contexts() {
        let expected: Vec<f64> = (0..48).map(mirrored).collect();
        assert_eq!(of_a(&sample("reverse"), &context, &a, 48), expected);
        let expected: Vec<f64> = (0..48).map(|at| 2.0 * mirrored(at) + 2.0 * a[at]).collect();
        assert_eq!(of_a(&sample("across"), &context, &a, 48), expected);
    }
}

#[test]
fn sums_over_the_work_items_of_a_group_are_those_of_a_loop() {
    let a: Vec<f64> = (0..48).map(f64::from).collect();
    let expected: Vec<f64> = a.chunks(16).map(|row| row.iter().sum()).collect();
    for context in contexts() {
        for name in ["total", "total_in_order"] {
            let (a, mut x) = (context.array(&a).unwrap(), context.zeros::<f64>(3).unwrap());
            let args = &mut [("a", LoopArg::shaped(&a, &[3, 16])), ("x", LoopArg::from(&mut x))];
            executable(&sample(name), &context).call(args).unwrap();
            assert_eq!(x.to_vec().unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn loops_may_depend_on_each_other_and_go_in_steps() {
    let a: Vec<f64> = (1..=20).map(f64::from).collect();
    for context in contexts() {
        let (x, mut out) = (context.array(&a).unwrap(), context.zeros::<f64>(20).unwrap());
        executable(&sample("triangle"), &context).call(&mut [("a", LoopArg::from(&x)), ("out", LoopArg::from(&mut out))]).unwrap();
        let expected: Vec<f64> = (0..20).map(|i| a[..=i].iter().sum()).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
        let mut out = context.zeros::<f64>(20).unwrap();
        let args = &mut [("a", LoopArg::from(&x)), ("out", LoopArg::from(&mut out)), ("n", LoopArg::from(20i32))];
        executable(&sample("every_third"), &context).call(args).unwrap();
        let expected: Vec<f64> = (0..20).map(|i| if i % 3 == 1 { 2.0 * a[i] } else { 0.0 }).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[test]
fn integers_are_divided_towards_minus_infinity() {
    let n = 20usize;
    let k: Vec<i32> = (0..n as i32).map(|i| 7 * i - 60).collect();
    let g: Vec<f64> = k.iter().map(|&k| f64::from(k) / 4.0).collect();
    for context in contexts() {
        let mut ints: Vec<_> = (0..3).map(|_| context.zeros::<i32>(n).unwrap()).collect();
        let [x, y, z] = ints.as_mut_slice() else { unreachable!() };
        let (k_in, g_in, mut f) = (context.array(&k).unwrap(), context.array(&g).unwrap(), context.zeros::<f64>(n).unwrap());
        let args = &mut [
            ("x", LoopArg::from(&mut *x)),
            ("y", LoopArg::from(&mut *y)),
            ("z", LoopArg::from(&mut *z)),
            ("k", LoopArg::from(&k_in)),
            ("f", LoopArg::from(&mut f)),
            ("g", LoopArg::from(&g_in)),
        ];
        executable(&sample("floors"), &context).call(args).unwrap();
        let each = |value: &dyn Fn(i32) -> i32| (0..n as i32).map(value).collect::<Vec<i32>>();
        assert_eq!(x.to_vec().unwrap(), each(&|i| (i - 5).div_euclid(3) + 10 * (i - 5).rem_euclid(3)));
        assert_eq!(y.to_vec().unwrap(), each(&|i| i / 4 + (i - 5).rem_euclid(4) + i % 7));
        assert_eq!(z.to_vec().unwrap(), each(&|i| k[i as usize].div_euclid(3) - k[i as usize].rem_euclid(5)));
        let floats: Vec<f64> = g.iter().map(|&g| (g / 2.0).floor() + g.rem_euclid(3.0)).collect();
        assert_eq!(f.to_vec().unwrap(), floats);
    }
}

#[test]
fn updates_in_one_step_lose_nothing() {
    let a: Vec<f32> = (0..1000).map(|i| (i % 10) as f32).collect();
    for context in contexts() {
        let (x, mut s, mut m) = (context.array(&a).unwrap(), context.zeros::<f32>(1).unwrap(), context.zeros::<f32>(1).unwrap());
        let mut k = context.zeros::<i32>(1).unwrap();
        let args =
            &mut [("a", LoopArg::from(&x)), ("s", LoopArg::from(&mut s)), ("m", LoopArg::from(&mut m)), ("k", LoopArg::from(&mut k))];
        executable(&sample("atomics"), &context).call(args).unwrap();
        assert_eq!((s.to_vec().unwrap(), m.to_vec().unwrap(), k.to_vec().unwrap()), (vec![4500.0], vec![9.0], vec![1000]));
    }
}

#[test]
fn sums_and_extremes_in_one_step_are_right_for_every_type() {
    for dtype in samples::ATOMIC_TYPES {
        let program = samples::atomics(dtype);
        for context in contexts() {
            macro_rules! run {
                ($rust:ty) => {{
                    let a: Vec<$rust> = (0..1000).map(|i| (i * 7 % 1000) as $rust - 300 as $rust).collect();
                    let start = |value: f64| context.array(&[value as $rust]).unwrap();
                    let (a, mut s, mut l, mut m) = (context.array(&a).unwrap(), start(0.0), start(5.0), start(-5.0));
                    let args = &mut [("a", LoopArg::from(&a)), ("s", (&mut s).into()), ("l", (&mut l).into()), ("m", (&mut m).into())];
                    executable(&program, &context).call(args).unwrap();
                    let found = [s, l, m].map(|array| array.to_vec().unwrap()[0] as f64);
                    assert_eq!(found, [199500.0, -300.0, 699.0], "{dtype} on {}", context.device().kind());
                }};
            }
            match dtype {
                "float64" => run!(f64),
                "float32" => run!(f32),
                "int64" => run!(i64),
                _ => run!(i32),
            }
        }
    }
}

#[test]
fn a_global_barrier_makes_two_launches_between_which_values_are_kept() {
    let a: Vec<f64> = (0..50).map(f64::from).collect();
    let expected: Vec<f64> = a.iter().rev().map(|a| 2.0 * a).collect();
    for context in contexts() {
        assert_eq!(of_a(&sample("launches"), &context, &a, 50), expected);
    }
}

#[test]
fn rows_of_a_sparse_matrix_end_where_the_data_say() {
    let (ptr, col) = (vec![0i32, 2, 2, 5], vec![0i32, 2, 0, 1, 2]);
    let (v, x) = (vec![1.0f64, 2.0, 3.0, 4.0, 5.0], vec![1.0f64, 10.0, 100.0]);
    for context in contexts() {
        let (ptr, col) = (context.array(&ptr).unwrap(), context.array(&col).unwrap());
        let (v, x, mut y) = (context.array(&v).unwrap(), context.array(&x).unwrap(), context.zeros::<f64>(3).unwrap());
        let args = &mut [
            ("ptr", LoopArg::from(&ptr)),
            ("col", LoopArg::from(&col)),
            ("v", LoopArg::from(&v)),
            ("x", LoopArg::from(&x)),
            ("y", LoopArg::from(&mut y)),
        ];
        executable(&sample("rows"), &context).call(args).unwrap();
        assert_eq!(y.to_vec().unwrap(), [201.0, 0.0, 543.0]);
    }
}

#[test]
fn values_that_run_at_once_have_private_copies() {
    let a: Vec<f64> = (0..40).map(f64::from).collect();
    let expected: Vec<f64> = a.iter().map(|a| a + a * a).collect();
    for context in contexts() {
        let (x, mut y) = (context.array(&a).unwrap(), context.zeros::<f64>(40).unwrap());
        let args = &mut [("a", LoopArg::shaped(&x, &[10, 4])), ("x", LoopArg::shaped(&mut y, &[10, 4]))];
        executable(&sample("at_once"), &context).call(args).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected);
    }
}
