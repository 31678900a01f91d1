//! Kernels made of others: several fused to one, and one for several batches of data.

use parloop_kernel::Context;
use parloop_loop::create::make_kernel;
use parloop_loop::prelude::*;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{Expr, Program};
use parloop_loop::transform::{Batches, Flow, fuse_kernels, to_batched};

fn flow(variable: &str, from: usize, to: usize) -> Flow {
    Flow { variable: variable.into(), from, to }
}

#[test]
fn data_flows_through_fused_kernels_in_its_own_order() {
    let made = |text: &str| {
        let data = parloop_loop::create::Data::global("a, b, c").dtype("float64").shape("8");
        let builder = parloop_loop::create::KernelBuilder::new().domain("{[i]: 0<=i<8}").instructions(text);
        parloop_loop::transform::remove_unused_arguments(builder.data(data).build().unwrap().entry().unwrap())
    };
    let (late, early) = (made("c[i] = 3*b[7 - i]"), made("b[i] = a[i] + 1"));
    let fused = fuse_kernels(&[&late, &early], &[], &[flow("b", 1, 0)]).unwrap();
    let context = Context::open("cpu:1").unwrap();
    let numbers: Vec<f64> = (0..8).map(f64::from).collect();
    let a = context.array(&numbers).unwrap();
    let (mut b, mut c) = (context.zeros::<f64>(8).unwrap(), context.zeros::<f64>(8).unwrap());
    let ready = Program::of(fused).compile(&context).unwrap();
    ready.call(&mut [("a", LoopArg::from(&a)), ("b", LoopArg::from(&mut b)), ("c", LoopArg::from(&mut c))]).unwrap();
    let expected: Vec<f64> = (0..8).map(|i| 3.0 * f64::from(8 - i)).collect();
    assert_eq!(c.to_vec().unwrap(), expected);
}

#[test]
fn kernels_that_mean_different_things_by_a_name_are_not_fused() {
    let one = make_kernel("{[i]: 0<=i<8}", "b[i] = a[i]").unwrap();
    let two = make_kernel("{[i]: 0<=i<9}", "b[i] = a[i]").unwrap();
    let (one, two) = (one.entry().unwrap(), two.entry().unwrap());
    let error = fuse_kernels(&[one, two], &[], &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "kernels `loopy_kernel` and `loopy_kernel` both have an argument `a`, but differ in its shape; rename it in one of them"
    );
    let circle = fuse_kernels(&[one, one], &[], &[flow("b", 0, 1), flow("b", 1, 0)]).unwrap_err().to_string();
    assert_eq!(circle, "the data flow between these kernels is cyclic: `loopy_kernel`, `loopy_kernel`; fuse fewer of them");
    let nowhere = fuse_kernels(&[one, one], &[], &[flow("a", 0, 1)]).unwrap_err().to_string();
    assert_eq!(nowhere, "`a` cannot carry data from kernel `loopy_kernel` to kernel `loopy_kernel`: the first does not write it");
    let place = fuse_kernels(&[one], &[], &[flow("b", 0, 3)]).unwrap_err().to_string();
    assert_eq!(place, "data flow of `b` from kernel 0 to kernel 3: there are only 1 kernels, counted from 0");
}

#[test]
fn names_that_collide_get_others() {
    let one = make_kernel("{[i]: 0<=i<8}", "<>t = 2*a[i] {id=t}\nb[i] = t {id=b, dep=t}").unwrap();
    let one = one.entry().unwrap();
    let fused = fuse_kernels(&[one, one], &["_x".into(), "_y".into()], &[]).unwrap();
    let ids: Vec<&str> = fused.instructions.iter().map(|instruction| instruction.id.as_str()).collect();
    assert_eq!(ids, ["t", "b", "t_y", "b_y"]);
    assert_eq!(fused.instructions[3].kind.to_string(), "b[i_y] = t_y");
    assert_eq!(fused.arguments.len(), 2);
}

#[test]
fn each_batch_has_the_numbers_of_a_call_of_its_own() {
    let text = "<float64>t = 2*x[i] {id=t}\ny[i] = t + x[5 - i] {dep=t}";
    let program = parloop_loop::create::KernelBuilder::new()
        .domain("{[i]: 0<=i<6}")
        .instructions(text)
        .data(parloop_loop::create::Data::global("x, y").dtype("float64").shape("6"))
        .build()
        .unwrap();
    let batched = to_batched(program.entry().unwrap(), &Batches::of(Expr::var("nb"), ["x", "y"])).unwrap();
    let context = Context::open("cpu:1").unwrap();
    let numbers: Vec<f64> = (0..18).map(|at| f64::from(at * at)).collect();
    let (x, mut y) = (context.array(&numbers).unwrap(), context.zeros::<f64>(18).unwrap());
    let ready = Program::of(batched).compile(&context).unwrap();
    ready.call(&mut [("x", LoopArg::shaped(&x, &[3, 6])), ("y", LoopArg::shaped(&mut y, &[3, 6]))]).unwrap();
    let expected: Vec<f64> = (0..18).map(|at| 2.0 * numbers[at] + numbers[at / 6 * 6 + 5 - at % 6]).collect();
    assert_eq!(y.to_vec().unwrap(), expected);
}
