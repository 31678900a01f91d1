//! Eliminates dimensions from a piece where that is exact without integer divisions: by an equality, or by pairs of bounds one of which has
//! a coefficient of 1 (Fourier and Motzkin). Tiles, `0 <= 16*o + i` with `0 <= i < 16`, are first converted to that form.

use std::collections::BTreeSet;

use super::without_implied;
use crate::affine::{Affine, Atom};
use crate::constraint::{Constraint, ConstraintKind, Piece, normalise};
use crate::name::Name;

/// More pairs of bounds than this go to isl.
const MAX_PAIRS: usize = 48;

/// The projection of the piece onto its other names; `None` if it needs divisions or has too many bounds. The result is `Some(None)` if
/// there are no points.
pub(crate) fn project_out(piece: &Piece, names: &[Name]) -> Option<Option<Piece>> {
    let mut piece = piece.clone();
    let mut left: Vec<&Name> = names.iter().collect();
    // The cheapest names go first; costs change along the way.
    while !left.is_empty() {
        if left.iter().all(|name| cost(&piece, name).is_none()) {
            let tightened = |name: &&Name| Some(tighten(&piece, name)).filter(|piece| cost(piece, name).is_some());
            piece = left.iter().copied().find_map(|name| tightened(&name))?;
        }
        let (place, _) =
            left.iter().enumerate().filter_map(|(place, name)| Some((place, cost(&piece, name)?))).min_by_key(|(_, cost)| *cost)?;
        let name = left.remove(place);
        match without(piece, name)? {
            Some(next) => piece = next,
            None => return Some(None),
        }
    }
    Some(Some(simplify(&piece)))
}

/// The piece with smaller coefficients where its bounds allow, and without constraints that are found to be implied by the others.
pub(crate) fn simplify(piece: &Piece) -> Piece {
    let large = piece.iter().flat_map(|constraint| constraint.affine.terms()).filter(|(_, coefficient)| coefficient.unsigned_abs() > 1);
    let names: BTreeSet<&Name> = large.filter_map(|(atom, _)| if let Atom::Name(name) = atom { Some(name) } else { None }).collect();
    let tight = names.iter().fold(piece.clone(), |piece, name| tighten(&piece, name));
    without_implied(&tight, &Piece::new(), |_| true)
}

/// How many constraints eliminating the name creates; `None` if it is not exact.
fn cost(piece: &Piece, name: &Name) -> Option<usize> {
    let (mut lower, mut upper) = (0, 0);
    let (mut unit_lower, mut unit_upper) = (true, true);
    let mut equal = false;
    for constraint in piece {
        let coefficient = constraint.affine.coefficient(name);
        // The name inside a floor.
        if is_inside_floor(&constraint.affine, name) {
            return None;
        }
        match (constraint.kind, coefficient) {
            (_, 0) => {}
            (ConstraintKind::Zero, 1 | -1) => equal = true,
            // An equality with another coefficient determines the possible remainders.
            (ConstraintKind::Zero, _) => (unit_lower, unit_upper) = (false, false),
            (_, 1..) => (lower, unit_lower) = (lower + 1, unit_lower && coefficient == 1),
            (_, _) => (upper, unit_upper) = (upper + 1, unit_upper && coefficient == -1),
        }
    }
    match (equal, unit_lower || unit_upper) {
        (true, _) => Some(0),
        (false, true) if lower * upper <= MAX_PAIRS => Some(lower * upper),
        _ => None,
    }
}

/// Replaces bounds of a name by implied bounds whose coefficient is 1.
pub(crate) fn tighten(piece: &Piece, name: &str) -> Piece {
    let can_be_cut =
        |constraint: &Constraint| constraint.kind == ConstraintKind::NotNegative && constraint.affine.coefficient(name).unsigned_abs() > 1;
    let cuts: Vec<Constraint> =
        piece.iter().filter(|constraint| can_be_cut(constraint)).filter_map(|constraint| cut(piece, constraint, name)).collect();
    if cuts.is_empty() {
        return piece.clone();
    }
    match normalise(piece.iter().cloned().chain(cuts)) {
        Some(all) => without_implied(&all, &Piece::new(), can_be_cut),
        None => piece.clone(),
    }
}

/// The bound `a*name + rest >= 0` with each term of the rest that `a` does not divide at its maximum in the piece: all its coefficients can
/// be divided by `a`.
fn cut(piece: &Piece, constraint: &Constraint, name: &str) -> Option<Constraint> {
    let size = constraint.affine.coefficient(name).checked_abs()?;
    let mut affine = constraint.affine.clone();
    for (atom, coefficient) in constraint.affine.terms().filter(|(_, coefficient)| coefficient % size != 0) {
        let Atom::Name(other) = atom else { return None };
        let most = if coefficient > 0 { largest(piece, other)? } else { smallest(piece, other)? };
        let largest_term = Affine::constant(coefficient.checked_mul(most)?);
        affine = affine.plus(&Affine::name(other), coefficient.checked_neg()?).ok()?.add(&largest_term).ok()?;
    }
    Some(Constraint::not_negative(affine))
}

/// The constant upper bound of a name, if a constraint gives one.
fn largest(piece: &Piece, name: &Name) -> Option<i64> {
    piece.iter().filter_map(|constraint| limit(constraint, name, -1)).min()
}

/// The constant lower bound of a name.
fn smallest(piece: &Piece, name: &Name) -> Option<i64> {
    piece.iter().filter_map(|constraint| limit(constraint, name, 1)?.checked_neg()).max()
}

/// The constant of `sign*name + constant >= 0`.
fn limit(constraint: &Constraint, name: &Name, sign: i64) -> Option<i64> {
    let affine = &constraint.affine;
    let is_it = constraint.kind == ConstraintKind::NotNegative && affine.coefficient(name) == sign && affine.terms().count() == 1;
    is_it.then(|| affine.constant_term())
}

/// Whether the name is inside a floor.
pub(crate) fn is_inside_floor(affine: &Affine, name: &str) -> bool {
    affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(inner, _) if inner.mentions(name)))
}

/// The piece without one name; `Some(None)` when it is empty.
fn without(piece: Piece, name: &Name) -> Option<Option<Piece>> {
    let is_unit =
        |constraint: &&Constraint| constraint.kind == ConstraintKind::Zero && constraint.affine.coefficient(name).unsigned_abs() == 1;
    if let Some(equality) = piece.iter().find(is_unit).cloned() {
        // coefficient*name + rest = 0
        let coefficient = equality.affine.coefficient(name);
        let value = equality.affine.plus(&Affine::name(name), -coefficient).ok()?.scale(-coefficient).ok()?;
        let replaced = piece.iter().filter(|constraint| **constraint != equality).map(|constraint| {
            let affine = constraint.affine.substitute(name, &value).ok()?;
            Some(Constraint { kind: constraint.kind, affine })
        });
        return Some(normalise(replaced.collect::<Option<Vec<_>>>()?));
    }
    let (with, mut result): (Vec<Constraint>, Vec<Constraint>) =
        piece.into_iter().partition(|constraint| constraint.affine.coefficient(name) != 0);
    let (lower, upper): (Vec<Constraint>, Vec<Constraint>) =
        with.into_iter().partition(|constraint| constraint.affine.coefficient(name) > 0);
    for low in &lower {
        for high in &upper {
            // a*name + e >= 0 and f - b*name >= 0 give b*e + a*f >= 0.
            let (a, b) = (low.affine.coefficient(name), high.affine.coefficient(name).checked_neg()?);
            result.push(Constraint::not_negative(low.affine.scale(b).ok()?.plus(&high.affine, a).ok()?));
        }
    }
    Some(normalise(result))
}
