//! An empty reduction has a value too: instructions around it must not depend on whether it has points.

use std::collections::BTreeSet;

use parloop_ir::matching::Query;
use parloop_ir::substitution::{ExpandSubstError, expand_subst};
use parloop_ir::syntax::{Expr, LoopKernel, Reduction};
use parloop_isl::{Constraint, IslError, Name, Set};

/// The kernel in which what is around a reduction does not depend on whether the reduction has points: its inames have a domain of their own
/// wherever they may have no values.
///
/// # Errors
/// If a call does not match its rule, or if the solver fails.
pub fn separate_reductions(kernel: &LoopKernel) -> Result<LoopKernel, SeparateError> {
    let mut result = kernel.clone();
    for instruction in &expand_subst(kernel, &Query::All)?.instructions {
        let mut open: Vec<(&Expr, BTreeSet<Name>)> =
            instruction.exprs().into_iter().map(|expr| (expr, instruction.within_inames.clone())).collect();
        while let Some((expr, mut around)) = open.pop() {
            if let Expr::Reduction(reduction) = expr {
                let inner = inames_of(reduction);
                separate(&mut result.domains, &inner, &around, &|around, domain| {
                    Ok(!has_points_everywhere(around, domain, &inner, &kernel.assumptions)?)
                })?;
                around.extend(reduction.inames.iter().cloned());
            }
            open.extend(expr.children().into_iter().map(|child| (child, around.clone())));
        }
    }
    Ok(result)
}

/// Why reductions cannot have domains of their own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SeparateError {
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// The inames of a reduction and of those inside it.
pub(super) fn inames_of(reduction: &Reduction) -> Vec<Name> {
    let inside = reduction.operands.iter().flat_map(Expr::reduction_inames);
    reduction.inames.iter().cloned().chain(inside).collect()
}

/// Whether the inames of a reduction have values wherever the others of their domain do: then it does not matter whether they have a domain of
/// their own.
pub(super) fn has_points_everywhere(around: &Set, domain: &Set, inames: &[Name], assumptions: &Set) -> Result<bool, IslError> {
    let inner: Vec<Name> = domain.dims().iter().filter(|dim| inames.contains(*dim)).cloned().collect();
    around.join(assumptions)?.is_subset(&domain.project_out(&inner)?)
}

/// Gives the inames of a reduction, and of those inside it, a domain of their own where they share one with others: conditions on them are
/// theirs alone. Where the others are bounded through them only, or are not around the reduction, the domain stays as it is; also where a
/// test of what is around, and of the domain, says so.
pub(super) fn separate(
    domains: &mut Vec<Set>,
    inames: &[Name],
    around_it: &BTreeSet<Name>,
    is_wanted: &dyn Fn(&Set, &Set) -> Result<bool, IslError>,
) -> Result<(), IslError> {
    for index in 0..domains.len() {
        let domain = &domains[index];
        let is_inner = |dim: &Name| inames.contains(dim);
        if !domain.dims().iter().any(is_inner) || domain.dims().iter().all(is_inner) {
            continue;
        }
        let about_inner = |constraint: &Constraint| inames.iter().any(|iname| constraint.affine.mentions(iname));
        let parts = domain.pieces().iter().map(|piece| piece.iter().cloned().partition::<Vec<Constraint>, _>(about_inner));
        let (mut inside, outsides): (Vec<Vec<Constraint>>, Vec<Vec<Constraint>>) = parts.unzip();
        let (inner, outer): (Vec<Name>, Vec<Name>) = domain.dims().iter().cloned().partition(is_inner);
        if inside.is_empty() {
            continue;
        }
        // Where pieces differ in what is around, each keeps its own as a condition.
        let is_in_all = |constraint: &Constraint| outsides.iter().all(|other| other.contains(constraint));
        for (piece, outside) in inside.iter_mut().zip(&outsides) {
            piece.extend(outside.iter().filter(|constraint| !is_in_all(constraint)).cloned());
        }
        let around = any_of(&outer, &outsides, &is_in_all)?;
        let leans_on_inner = |dim: &&Name| inside.iter().flatten().any(|constraint| constraint.affine.mentions(dim));
        let mut is_outside = true;
        for dim in outer.iter().filter(leans_on_inner) {
            let limits = around.bounds(dim)?;
            is_outside &= around_it.contains(dim) && !limits.lower.is_empty() && !limits.upper.is_empty();
        }
        if is_outside && is_wanted(&around, domain)? {
            domains[index] = around;
            let mut pieces = inside.into_iter().map(|piece| Set::bounded(&inner, piece));
            domains.push(pieces.try_fold(Set::empty(&[], &inner), |all, piece| all.union(&piece))?);
        }
    }
    Ok(())
}

/// The points of any of the pieces: those of one that has only what is in all of them, if there is such a one.
fn any_of(dims: &[Name], pieces: &[Vec<Constraint>], is_in_all: &dyn Fn(&Constraint) -> bool) -> Result<Set, IslError> {
    match pieces.iter().find(|piece| piece.iter().all(is_in_all)) {
        Some(widest) => Ok(Set::bounded(dims, widest.clone())),
        None => pieces.iter().try_fold(Set::empty(&[], dims), |all, piece| all.union(&Set::bounded(dims, piece.clone()))),
    }
}
