//! Reductions as instructions.

use parloop_kernel::Context;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::reduce::{Realization, ReduceError, Scan, realize};
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{Expr, LoopKernel};
use parloop_loop::transform::apply;

fn kernel(domain: &str, instructions: &str) -> LoopKernel {
    KernelBuilder::new().domain(domain).instructions(instructions).build_kernel().unwrap()
}

fn double(_: &LoopKernel, _: &Expr) -> Result<parloop_loop::syntax::Type, String> {
    Ok(parloop_device::DType::F64.into())
}

fn lines(kernel: &LoopKernel) -> Vec<String> {
    kernel.instructions.iter().map(|instruction| instruction.to_string()).collect()
}

#[test]
fn a_sum_becomes_an_accumulator() {
    let realized = realize(&kernel("{[i,k]: 0<=i,k<n}", "c[i] = 2*sum(k, a[i,k])"), &Realization::default(), &double).unwrap();
    assert_eq!(
        lines(&realized),
        [
            "acc_k = 0.0d {id=insn_k_init, inames=+i}",
            "acc_k = acc_k + a[i, k] {id=insn_k_update, dep=insn_k_init, inames=+i:k}",
            "c[i] = 2*acc_k {id=insn, dep=insn_k_update, inames=+i}",
        ]
    );
}

#[test]
fn a_triangle_is_a_scan_and_nothing_else_is() {
    let how = Realization { scan: Scan::Always, ..Realization::default() };
    let error = realize(&kernel("{[i,j]: 0<=i<100 and 1<=j<=2*i + 3}", "a[i] = sum(j, j*j)"), &how, &double).unwrap_err();
    assert!(matches!(error, ReduceError::NotTriangular { .. }), "{error}");
    let realized = realize(&kernel("{[i,j]: 0<=i<n and 0<=j<=2*i}", "a[i] = sum(j, j*j)"), &how, &double).unwrap();
    assert_eq!(
        lines(&realized),
        [
            "acc_j = 0.0d {id=insn_j_init}",
            "acc_j = acc_j + j_scan*j_scan {id=insn_j_update, dep=insn_j_init, inames=+i:j_scan}",
            "a[i] = acc_j {id=insn, dep=insn_j_update, inames=+i}",
        ]
    );
    assert_eq!(realized.domains.last().unwrap().to_string(), "[i] -> { [j_scan] : 2*i <= j_scan + 1 and j_scan <= 2*i and j_scan >= 0 }");
}

#[test]
fn advice_for_two_sums_over_one_iname_names_what_was_written_and_works() {
    let nesting = |first: &str, nest: &str, second: &str, within: &str| {
        format!(
            "iname `j` would have to be one loop in two places: `{first}` runs in {nest}, `{second}` runs in loops `i`, `j`; give one of them \
             its own loop: duplicate_inames(\"j\", within=\"{within}\")"
        )
    };
    let order = "`s = sum(j, a[j] - m)` needs `m = max(j, a[j])`, which is known when the loop over `j` has ended, but runs in the same loop; give it \
                 its own: duplicate_inames(\"j\", within=\"writes:s\")";
    // The instructions, the message, and the results for a = 1, 2, 3.
    let cases = [
        (
            "<> s = sum(j, a[j])\nout[i] = sum(j, a[j]*s)",
            nesting("s = sum(j, a[j])", "loop `j`", "out[i] = sum(j, a[j]*s)", "writes:out"),
            [36.0, 36.0, 36.0],
        ),
        ("<> m = max(j, a[j])\n<> s = sum(j, a[j] - m)\nout[i] = s + a[i]", order.to_owned(), [-2.0, -1.0, 0.0]),
        (
            "<> s = sum(j, a[j]) {id=one}\nout[i] = sum(j, a[j]*s) {id=two, dep=one}\nout[i] = out[i] + 1 {id=three, dep=two}",
            nesting("s = sum(j, a[j])", "loop `j`", "out[i] = sum(j, a[j]*s)", "id:two"),
            [37.0, 37.0, 37.0],
        ),
    ];
    let context = Context::open("cpu:1").unwrap();
    for (text, expected, results) in cases {
        let data = Data::global("a, out").dtype("float64").shape("n");
        let program = KernelBuilder::new().domain("{[i,j]: 0<=i<n and 0<=j<n}").instructions(text).data(data).rest().build().unwrap();
        let message = program.compile(&context).map(|_| ()).unwrap_err().to_string();
        assert_eq!(message, expected);
        let advice = message.split("duplicate_inames(").nth(1).unwrap().trim_end_matches(')');
        let (iname, within) = advice.split_once(", ").unwrap();
        let step = format!("duplicate_inames {iname} {within}");
        let followed = apply(&program, &parse::step(&step).unwrap()).unwrap_or_else(|error| panic!("{step}: {error}"));
        let executable = followed.compile(&context).unwrap_or_else(|error| panic!("{step}: {error}"));
        let (a, mut out) = (context.array(&[1.0, 2.0, 3.0]).unwrap(), context.zeros::<f64>(3).unwrap());
        executable.call(&mut [("a", LoopArg::from(&a)), ("out", LoopArg::from(&mut out))]).unwrap();
        assert_eq!(out.to_vec().unwrap(), results, "{text}");
    }
}
