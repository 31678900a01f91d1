//! Queries that need no libisl: most loop domains are one piece with small numbers, for which exact 64-bit fractions decide in about a
//! microsecond. `None` means that the answer was not found here and isl must decide.

mod eliminate;
mod simplex;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(crate) use self::eliminate::{is_inside_floor, project_out, simplify, tighten};

use self::simplex::{Row, has_whole_point};
use crate::affine::{Affine, Atom};
use crate::constraint::{Constraint, ConstraintKind, Piece};
use crate::error::Result;

/// Larger pieces go to isl, whose tables are sparse.
const MAX_CONSTRAINTS: usize = 64;

/// Whether no point satisfies all constraints.
pub(crate) fn is_empty<'a>(constraints: impl IntoIterator<Item = &'a Constraint>) -> Option<bool> {
    let mut system = System::default();
    for constraint in constraints {
        system.add(constraint)?;
    }
    system.has_point().map(|found| !found)
}

/// Whether a constraint holds wherever all of the others do.
pub(crate) fn implies(known: &[&Constraint], constraint: &Constraint) -> Option<bool> {
    for outside in outside(constraint).ok()? {
        match is_empty(known.iter().copied().chain([&outside])) {
            Some(true) => {}
            other => return other.map(|_| false),
        }
    }
    Some(true)
}

/// The negation of a constraint: one of these holds.
pub(crate) fn outside(constraint: &Constraint) -> Result<Vec<Constraint>> {
    let minus_one = Affine::constant(-1);
    let mut outside = vec![Constraint::not_negative(constraint.affine.scale(-1)?.add(&minus_one)?)];
    if constraint.kind == ConstraintKind::Zero {
        outside.push(Constraint::not_negative(constraint.affine.add(&minus_one)?));
    }
    Ok(outside)
}

/// Whether each point of one piece is in another.
pub(crate) fn is_within(piece: &Piece, other: &Piece) -> Option<bool> {
    let known: Vec<&Constraint> = piece.iter().collect();
    let mut all = Some(true);
    for constraint in other.iter().filter(|constraint| piece.binary_search(constraint).is_err()) {
        match implies(&known, constraint) {
            Some(true) => {}
            // A later constraint can still exclude a point.
            None => all = None,
            Some(false) => return Some(false),
        }
    }
    all
}

/// The constraints that neither `context` nor the others imply, of those that `asked` picks; the others stay. Constraints not found to be
/// implied stay too. Where two imply each other, the simpler one stays.
pub(crate) fn without_implied(piece: &Piece, context: &Piece, asked: impl Fn(&Constraint) -> bool) -> Piece {
    needed(piece, context, asked).0
}

/// The constraints that neither `context` nor the others imply. `None` if floors leave one undecided that isl may decide.
pub(crate) fn gist(piece: &Piece, context: &Piece) -> Option<Piece> {
    let (stays, is_decided) = needed(piece, context, |_| true);
    let has_floors = || piece.iter().chain(context).any(|constraint| constraint.affine.has_floors());
    (is_decided || !has_floors()).then_some(stays)
}

/// The result of [`without_implied`], and whether every constraint was decided.
fn needed(piece: &Piece, context: &Piece, asked: impl Fn(&Constraint) -> bool) -> (Piece, bool) {
    let mut stays: Vec<bool> = piece.iter().map(|constraint| !asked(constraint) || context.binary_search(constraint).is_err()).collect();
    let mut order: Vec<usize> = (0..piece.len()).filter(|&place| stays[place] && asked(&piece[place])).collect();
    order.sort_by_key(|&place| Reverse(complexity(&piece[place])));
    let mut is_decided = true;
    for place in order {
        let others = (0..piece.len()).filter(|&other| other != place && stays[other]).map(|other| &piece[other]);
        let known: Vec<&Constraint> = context.iter().chain(others).collect();
        let implied = if known.len() < MAX_CONSTRAINTS { implies(&known, &piece[place]) } else { None };
        is_decided &= implied.is_some();
        stays[place] = implied != Some(true);
    }
    (piece.iter().zip(stays).filter(|(_, stays)| *stays).map(|(constraint, _)| constraint.clone()).collect(), is_decided)
}

/// The complexity of a constraint: the number of terms and the size of their coefficients.
fn complexity(constraint: &Constraint) -> (usize, u64) {
    let terms = constraint.affine.terms();
    (terms.clone().count(), terms.map(|(_, coefficient)| coefficient.unsigned_abs()).max().unwrap_or(0))
}

/// Constraints in numbers: names and floors are variables, and a floor is bounded by its argument.
#[derive(Default)]
struct System<'a> {
    variables: BTreeMap<&'a Atom, usize>,
    rows: Vec<Sparse>,
}

/// `constant + sum of coefficient * variable`, zero or at least zero.
struct Sparse {
    is_zero: bool,
    constant: i64,
    terms: Vec<(usize, i64)>,
}

impl<'a> System<'a> {
    fn add(&mut self, constraint: &'a Constraint) -> Option<()> {
        let row = self.row(constraint.kind == ConstraintKind::Zero, &constraint.affine)?;
        self.rows.push(row);
        (self.rows.len() <= 2 * MAX_CONSTRAINTS).then_some(())
    }

    fn row(&mut self, is_zero: bool, affine: &'a Affine) -> Option<Sparse> {
        let terms = affine.terms().map(|(atom, coefficient)| Some((self.variable(atom)?, coefficient))).collect::<Option<_>>()?;
        Some(Sparse { is_zero, constant: affine.constant_term(), terms })
    }

    fn variable(&mut self, atom: &'a Atom) -> Option<usize> {
        if let Some(&known) = self.variables.get(atom) {
            return Some(known);
        }
        if let Atom::Floor(inner, divisor) = atom {
            // 0 <= inner - divisor*floor <= divisor - 1.
            let mut remainder = self.row(false, inner)?;
            let floor = self.variables.len();
            self.variables.insert(atom, floor);
            remainder.terms.push((floor, -divisor));
            let most = (divisor - 1).checked_sub(remainder.constant)?;
            let negated = remainder.terms.iter().map(|&(variable, c)| Some((variable, c.checked_neg()?))).collect::<Option<_>>()?;
            self.rows.push(Sparse { is_zero: false, constant: most, terms: negated });
            self.rows.push(remainder);
            return Some(floor);
        }
        let place = self.variables.len();
        self.variables.insert(atom, place);
        Some(place)
    }

    fn has_point(&self) -> Option<bool> {
        let variables = self.variables.len();
        let dense = |row: &Sparse| {
            let mut coefficients = vec![0; variables];
            row.terms.iter().for_each(|&(variable, coefficient)| coefficients[variable] = coefficient);
            Row { is_zero: row.is_zero, constant: row.constant, coefficients }
        };
        has_whole_point(&mut self.rows.iter().map(dense).collect(), variables)
    }
}
