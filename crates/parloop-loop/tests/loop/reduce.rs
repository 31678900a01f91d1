//! Reductions as instructions.

use parloop_loop::create::KernelBuilder;
use parloop_loop::reduce::{Realization, ReduceError, Scan, realize};
use parloop_loop::syntax::{Expr, LoopKernel};

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
