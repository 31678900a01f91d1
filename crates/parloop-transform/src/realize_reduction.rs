//! `realize_reduction`: turns reductions into instructions on request, to make them scans or to transform the result.

use parloop_analysis::infer;
use parloop_ir::callable::InferError;
use parloop_ir::program::{NoEntry, Program};
use parloop_ir::syntax::{Expr, LoopKernel, Target};
use parloop_isl::Name;

use crate::reduce::{self, Realization, ReduceError};

/// Why reductions cannot be realised.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RealizeReductionError {
    #[error(transparent)]
    Infer(#[from] InferError),
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    #[error(transparent)]
    NoEntry(#[from] NoEntry),
}

/// Realises the reductions of a kernel. Types are inferred as far as possible.
///
/// ```
/// use parloop_loop::{create::make_kernel, reduce::{Realization, Scan}, transform::realize_reduction};
/// let program = make_kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "out[i] = sum(j, a[j])")?;
/// let scan = Realization { scan: Scan::Always, ..Realization::default() };
/// let program = realize_reduction(&program, &"loopy_kernel".into(), &scan)?;
/// let ids: Vec<_> = program.entry().unwrap().instructions.iter().map(|i| i.id.to_string()).collect();
/// assert_eq!(ids, ["insn_j_init", "insn_j_update", "insn"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ReduceError`]; [`InferError`] for types that contradict each other; [`NoEntry`] without such a kernel.
pub fn realize_reduction(program: &Program, name: &Name, how: &Realization) -> Result<Program, RealizeReductionError> {
    let typed = infer::types_so_far(program, program.target.unwrap_or(Target::C))?;
    let kernel = typed.kernel(name).ok_or_else(|| NoEntry { names: program.entrypoints.iter().cloned().collect() })?;
    let type_of = |kernel: &LoopKernel, expr: &Expr| infer::type_of(&typed, kernel, expr).map_err(|error| error.to_string());
    let widened = infer::wide_sums(&typed, kernel, how.only.as_ref());
    let realized = reduce::realize(widened.as_ref().unwrap_or(kernel), how, &type_of)?;
    Ok(typed.with_kernel(realized))
}
