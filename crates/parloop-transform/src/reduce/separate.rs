//! A reduction over nothing has a value too: what is outside of it must not depend on whether it has points.

use std::collections::BTreeSet;

use parloop_isl::{Constraint, IslError, Name, Set};

/// Gives the inames of a reduction, and of those inside of it, a domain of their own where they share one with others: conditions on them are theirs alone. Where the
/// others are bounded through them only, or are not around the reduction, the domain stays as it is.
pub(super) fn separate(domains: &mut Vec<Set>, inames: &[Name], around_it: &BTreeSet<Name>) -> Result<(), IslError> {
    for index in 0..domains.len() {
        let domain = &domains[index];
        let is_inner = |dim: &Name| inames.contains(dim);
        if !domain.dims().iter().any(is_inner) || domain.dims().iter().all(is_inner) {
            continue;
        }
        let [constraints] = domain.pieces() else { continue };
        let about_inner = |constraint: &Constraint| inames.iter().any(|iname| constraint.affine.mentions(iname));
        let (inside, outside): (Vec<Constraint>, Vec<Constraint>) = constraints.iter().cloned().partition(about_inner);
        let (inner, outer): (Vec<Name>, Vec<Name>) = domain.dims().iter().cloned().partition(is_inner);
        let around = Set::bounded(&outer, outside);
        let leans_on_inner = |dim: &&Name| inside.iter().any(|constraint| constraint.affine.mentions(dim));
        let mut is_outside = true;
        for dim in outer.iter().filter(leans_on_inner) {
            let limits = around.bounds(dim)?;
            is_outside &= around_it.contains(dim) && !limits.lower.is_empty() && !limits.upper.is_empty();
        }
        if is_outside {
            domains[index] = around;
            domains.push(Set::bounded(&inner, inside));
        }
    }
    Ok(())
}
