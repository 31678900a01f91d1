//! Constraints, and the normal form of a list of them, which needs no solver.

use std::collections::BTreeMap;

use crate::affine::{Affine, Atom, Terms, gcd};

/// The kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConstraintKind {
    /// It is zero.
    Zero,
    /// It is nonnegative.
    NotNegative,
}

/// `affine = 0` or `affine >= 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Constraint {
    pub kind: ConstraintKind,
    pub affine: Affine,
}

/// The points at which all of its constraints hold.
pub type Piece = Vec<Constraint>;

impl Constraint {
    /// `affine = 0`.
    pub fn zero(affine: Affine) -> Constraint {
        Constraint { kind: ConstraintKind::Zero, affine }
    }

    /// `affine >= 0`.
    pub fn not_negative(affine: Affine) -> Constraint {
        Constraint { kind: ConstraintKind::NotNegative, affine }
    }

    /// Whether it holds at a point; `None` if a name has no value or a number does not fit.
    pub fn holds(&self, point: &dyn Fn(&crate::Name) -> Option<i64>) -> Option<bool> {
        let value = self.affine.evaluate(point)?;
        Some(match self.kind {
            ConstraintKind::Zero => value == 0,
            ConstraintKind::NotNegative => value >= 0,
        })
    }
}

/// The meaning of a single constraint.
enum ConstraintMeaning {
    Always,
    Never,
    /// It bounds an expression without a constant, whose first coefficient is positive.
    Bounds(Terms, Range),
    /// It has numbers at the limit of 64 bits and stays unchanged.
    Raw(Constraint),
}

/// The range of one expression: `low <= expression <= high`.
#[derive(Default)]
struct Range {
    low: Option<i64>,
    high: Option<i64>,
}

/// Normalises constraints: divided by common factors, one lower and one upper bound for each expression, sorted; `None` if they cannot all
/// hold.
pub(crate) fn normalise(constraints: impl IntoIterator<Item = Constraint>) -> Option<Piece> {
    let mut ranges: BTreeMap<Terms, Range> = BTreeMap::new();
    let mut piece = Piece::new();
    for constraint in constraints {
        match read(constraint) {
            ConstraintMeaning::Always => {}
            ConstraintMeaning::Never => return None,
            ConstraintMeaning::Raw(constraint) => piece.push(constraint),
            ConstraintMeaning::Bounds(terms, said) => {
                let range = ranges.entry(terms).or_default();
                range.low = range.low.max(said.low);
                range.high = match (range.high, said.high) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                if matches!((range.low, range.high), (Some(low), Some(high)) if low > high) {
                    return None;
                }
            }
        }
    }
    for (terms, range) in ranges {
        write(&mut piece, terms, range);
    }
    piece.sort_unstable();
    piece.dedup();
    Some(piece)
}

/// Sorted, unique pieces; a piece without constraints absorbs all others.
pub(crate) fn normalise_pieces(mut pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.len() > 1 {
        if pieces.iter().any(Vec::is_empty) {
            return vec![Piece::new()];
        }
        pieces.sort_unstable();
        pieces.dedup();
    }
    pieces
}

fn read(constraint: Constraint) -> ConstraintMeaning {
    let Constraint { kind, affine } = constraint;
    let constant = affine.constant_term();
    if affine.as_constant().is_some() {
        let holds = if kind == ConstraintKind::Zero { constant == 0 } else { constant >= 0 };
        return if holds { ConstraintMeaning::Always } else { ConstraintMeaning::Never };
    }
    // Room to change the sign of everything.
    if constant == i64::MIN || affine.terms().any(|(_, c)| c == i64::MIN) {
        return ConstraintMeaning::Raw(Constraint { kind, affine });
    }
    if kind == ConstraintKind::NotNegative && is_remainder_at_least_its_least(&affine) {
        return ConstraintMeaning::Always;
    }
    let (mut terms, constant) = affine.into_parts();
    let mut common = 0;
    let mut positive = true;
    for (place, &(_, coefficient)) in terms.iter().enumerate() {
        if place == 0 {
            (common, positive) = (coefficient.abs(), coefficient > 0);
        }
        common = gcd(common, coefficient);
    }
    let sign = if positive { 1 } else { -1 };
    terms.iter_mut().for_each(|(_, c)| *c = *c / common * sign);
    // With t the expression without constant: common*t*sign + constant is zero, or at least zero.
    match kind {
        ConstraintKind::Zero if constant % common != 0 => ConstraintMeaning::Never,
        ConstraintKind::Zero => {
            let value = -sign * (constant / common);
            ConstraintMeaning::Bounds(terms, Range { low: Some(value), high: Some(value) })
        }
        ConstraintKind::NotNegative => {
            let limit = constant.div_euclid(common);
            let range = if positive { Range { low: Some(-limit), high: None } } else { Range { low: None, high: Some(limit) } };
            ConstraintMeaning::Bounds(terms, range)
        }
    }
}

/// Whether the expression is `m*(a mod d) + c` with `c` large enough that it is never negative.
fn is_remainder_at_least_its_least(affine: &Affine) -> bool {
    affine.terms().any(|(atom, coefficient)| {
        let Atom::Floor(inner, divisor) = atom else { return false };
        if coefficient % divisor != 0 {
            return false;
        }
        // The coefficient of the remainder, and the rest of the expression.
        let factor = -(coefficient / divisor);
        let rest = Affine::from_parts(vec![(atom.clone(), -divisor)], 0).add(inner).and_then(|remainder| affine.plus(&remainder, -factor));
        let least = if factor >= 0 { 0 } else { i128::from(factor) * i128::from(divisor - 1) };
        rest.ok().and_then(|rest| rest.as_constant()).is_some_and(|constant| i128::from(constant) + least >= 0)
    })
}

fn write(piece: &mut Piece, terms: Terms, range: Range) {
    let negated = |terms: &Terms| terms.iter().map(|(atom, c)| (atom.clone(), -c)).collect();
    match (range.low, range.high) {
        (Some(low), Some(high)) if low == high => piece.push(Constraint::zero(Affine::from_parts(terms, -low))),
        (low, high) => {
            if let Some(high) = high {
                piece.push(Constraint::not_negative(Affine::from_parts(negated(&terms), high)));
            }
            if let Some(low) = low {
                piece.push(Constraint::not_negative(Affine::from_parts(terms, -low)));
            }
        }
    }
}
