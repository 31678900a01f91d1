//! `split_reduction_inward` and `split_reduction_outward`: split a reduction over several inames into two nested ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::syntax::{Expr, LoopKernel, Reduction};
use parloop_isl::Name;

use super::replace::{self, InameError};
use super::rewrite::{self, Scope};

/// Why a reduction cannot be split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitReductionError {
    /// The reduction takes several values at a time.
    #[error("a reduction over `{iname}` takes {operands} values at a time, so it cannot be split into two nested ones")]
    SeveralValues {
        /// One of its inames.
        iname: Name,
        /// How many values it takes.
        operands: usize,
    },
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
}

/// Makes `sum((j, k), sum(i, e))` of `sum((i, j, k), e)`, for the inames `i`.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, matching::Query, transform::split_reduction_inward};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i,j<n}").instructions("out = sum((i, j), a[i, j])").build_kernel()?;
/// let kernel = split_reduction_inward(&kernel, &["i".into()], &Query::All)?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "sum(j, sum(i, a[i, j]))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, or a reduction takes several values at a time, as `argmax` does.
pub fn split_reduction_inward(kernel: &LoopKernel, inames: &[Name], within: &Query) -> Result<LoopKernel, SplitReductionError> {
    split(kernel, inames, within, true)
}

/// Makes `sum(i, sum((j, k), e))` of `sum((i, j, k), e)`, for the inames `i`.
///
/// # Errors
/// As [`split_reduction_inward`].
pub fn split_reduction_outward(kernel: &LoopKernel, inames: &[Name], within: &Query) -> Result<LoopKernel, SplitReductionError> {
    split(kernel, inames, within, false)
}

fn split(kernel: &LoopKernel, inames: &[Name], within: &Query, inward: bool) -> Result<LoopKernel, SplitReductionError> {
    inames.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let chosen: BTreeSet<&Name> = inames.iter().collect();
    rewrite::rewrite(kernel, &Scope::of(kernel, within), &mut |expr, hidden| {
        let Expr::Reduction(reduction) = &expr else { return Ok(expr) };
        let (those, others): (Vec<Name>, Vec<Name>) = reduction.inames.iter().cloned().partition(|iname| chosen.contains(iname));
        if those.len() < chosen.len() || others.is_empty() || those.iter().any(|iname| hidden.contains(iname)) {
            return Ok(expr);
        }
        if reduction.operands.len() != 1 {
            return Err(SplitReductionError::SeveralValues { iname: those[0].clone(), operands: reduction.operands.len() });
        }
        let (outer, inner) = if inward { (others, those) } else { (those, others) };
        let inside = Expr::Reduction(Arc::new(Reduction { inames: inner, ..(**reduction).clone() }));
        Ok(Expr::Reduction(Arc::new(Reduction { inames: outer, operands: vec![inside], ..(**reduction).clone() })))
    })
}
