//! What the value of a rule depends on without saying so: inames that bound the reductions inside it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::syntax::{Expr, LoopKernel, Reduction};
use parloop_isl::{Affine, IslError, Name, Set};

use super::footprint::domain_of;

/// Those of the inames around that the values of the bound ones depend on.
pub(crate) fn inames_that_bound(kernel: &LoopKernel, bound: &BTreeSet<Name>, around: &BTreeSet<Name>) -> Result<BTreeSet<Name>, IslError> {
    if bound.is_empty() || around.is_empty() {
        return Ok(BTreeSet::new());
    }
    let domain = together(kernel, bound, around)?;
    let linked = domain.pieces().iter().flatten().map(|constraint| constraint.affine.names());
    let linked = linked.filter(|names| !names.is_disjoint(bound)).flatten();
    Ok(linked.filter(|name| around.contains(name) && !bound.contains(name)).collect())
}

/// The values of both kinds of inames, and of no others.
fn together(kernel: &LoopKernel, bound: &BTreeSet<Name>, around: &BTreeSet<Name>) -> Result<Set, IslError> {
    let wanted: Vec<Name> = bound.union(around).cloned().collect();
    let domain = domain_of(kernel, &wanted)?;
    let kept: Vec<Name> = domain.dims().iter().filter(|dim| wanted.contains(dim)).cloned().collect();
    domain.project_onto(&kept)
}

/// The values of copies of the bound inames, where inames around have other values: `copies` has the names of the copies.
pub(super) fn domain_of_copies(
    kernel: &LoopKernel,
    copies: &BTreeMap<Name, Name>,
    values: &BTreeMap<Name, Affine>,
) -> Result<Set, IslError> {
    let (bound, around): (BTreeSet<Name>, BTreeSet<Name>) = (copies.keys().cloned().collect(), values.keys().cloned().collect());
    // What the inames around do to each other is left out: only the bounds of the copies are taken along.
    let domain = together(kernel, &bound, &around)?;
    let mut set = domain.rename(&|name| copies.get(name).cloned())?;
    for (name, value) in values {
        if set.has_dim(name) || set.params().contains(name) {
            // The value may mention an iname of that very name; it is another one from here on.
            let place = Name::from(format!("{name}_"));
            set = set.rename(&|known| (known == name).then(|| place.clone()))?.substitute(&place, value)?;
        }
    }
    let dims: Vec<Name> = copies.values().cloned().collect();
    let others: Vec<Name> = set.dims().iter().filter(|dim| !dims.contains(dim)).cloned().collect();
    Ok(set.to_params(&others))
}

/// The expression with other inames for its reductions.
pub(super) fn rename_reductions(expr: &Expr, copies: &BTreeMap<Name, Name>) -> Expr {
    let changed = expr.map_children(&mut |child| rename_reductions(child, copies));
    let Expr::Reduction(reduction) = &changed else { return changed };
    if !reduction.inames.iter().any(|iname| copies.contains_key(iname)) {
        return changed;
    }
    let own = |iname: &&Name| copies.contains_key(*iname);
    let by: BTreeMap<Name, Expr> = reduction.inames.iter().filter(own).map(|iname| (iname.clone(), Expr::var(&copies[iname]))).collect();
    let inames = reduction.inames.iter().map(|iname| copies.get(iname).unwrap_or(iname).clone()).collect();
    let operands = reduction.operands.iter().map(|operand| operand.substitute(&by)).collect();
    Expr::Reduction(Arc::new(Reduction { inames, operands, ..(**reduction).clone() }))
}
