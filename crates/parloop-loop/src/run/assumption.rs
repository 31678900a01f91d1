//! Assumptions of a kernel about its sizes, as formulas: code relies on them, so each call checks them.

use std::fmt::Write;

use parloop_ir::affine::from_affine;
use parloop_ir::syntax::Expr;
use parloop_isl::{Affine, Atom, Constraint, ConstraintKind, Name, Set};

use super::formula::Formula;
use super::formula::Values;
use crate::error::RunError;

/// A condition on the sizes of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assumption {
    text: String,
    /// All conditions of one of these lists hold.
    any_of: Vec<Vec<(Formula, ConstraintKind)>>,
    names: Vec<(Name, usize)>,
}

/// The conditions that a set without dimensions says, as far as they are about integers of the call.
pub(super) fn assumptions_of(
    set: &Set,
    place: &dyn Fn(&Name) -> Option<usize>,
    formula: &dyn Fn(&Expr) -> Option<Formula>,
) -> Vec<Assumption> {
    let condition = |constraint: &Constraint| Some((formula(&from_affine(&constraint.affine))?, constraint.kind));
    let assumption = |text: String, any_of, constraints: &mut dyn Iterator<Item = &Constraint>| {
        let mut names: Vec<Name> = constraints.flat_map(|constraint| constraint.affine.names()).collect();
        names.sort();
        names.dedup();
        let names = names.into_iter().filter_map(|name| place(&name).map(|place| (name, place))).collect();
        Assumption { text, any_of, names }
    };
    match set.pieces() {
        [piece] => piece
            .iter()
            .filter_map(|constraint| {
                let any_of = vec![vec![condition(constraint)?]];
                Some(assumption(text(constraint), any_of, &mut std::iter::once(constraint)))
            })
            .collect(),
        pieces => {
            let conditions = |piece: &[Constraint]| piece.iter().map(condition).collect::<Option<Vec<_>>>();
            let any_of = pieces.iter().map(|piece| conditions(piece)).collect::<Option<Vec<_>>>();
            let written = |piece: &[Constraint]| format!("({})", piece.iter().map(text).collect::<Vec<_>>().join(" and "));
            let all = pieces.iter().map(|piece| written(piece)).collect::<Vec<_>>().join(" or ");
            let all = if pieces.is_empty() { "false".to_owned() } else { all };
            any_of.map(|any_of| assumption(all, any_of, &mut pieces.iter().flatten())).into_iter().collect()
        }
    }
}

impl Assumption {
    /// Checks that it holds for those integers; unknown values are not checked.
    pub(super) fn check(&self, kernel: &Name, values: &Values) -> Result<(), RunError> {
        let mut is_certain = true;
        let mut holds = |(formula, kind): &(Formula, ConstraintKind)| match (formula.evaluate(values), kind) {
            (Some(value), ConstraintKind::Zero) => value == 0,
            (Some(value), ConstraintKind::NotNegative) => value >= 0,
            (None, _) => {
                is_certain = false;
                false
            }
        };
        if self.any_of.iter().any(|all| all.iter().all(&mut holds)) {
            return Ok(());
        }
        if !is_certain {
            let is_missing = self.names.iter().any(|(_, place)| values[*place].is_none());
            let argument = Name::from(format!("the assumption `{}`", self.text).as_str());
            return if is_missing { Ok(()) } else { Err(RunError::Overflow { kernel: kernel.clone(), argument }) };
        }
        let mut found = String::new();
        for (name, value) in self.names.iter().filter_map(|(name, place)| Some((name, values[*place]?))) {
            let comma = if found.is_empty() { "" } else { ", " };
            let _ = write!(found, "{comma}{name} = {value}");
        }
        Err(RunError::Assumption { kernel: kernel.clone(), assumption: self.text.clone(), values: found })
    }
}

/// A constraint as a user would write it: `n mod 16 = 0`, not `n = 16*floor(n/16)`.
fn text(constraint: &Constraint) -> String {
    congruence(constraint).unwrap_or_else(|| constraint.to_string())
}

fn congruence(constraint: &Constraint) -> Option<String> {
    let floor = |(atom, _): (&Atom, i64)| match atom {
        Atom::Floor(inner, divisor) => Some((inner.clone(), *divisor)),
        Atom::Name(_) => None,
    };
    let (inner, divisor) = constraint.affine.terms().find_map(floor)?;
    let modulo = Affine::modulo(&inner, divisor).ok()?;
    let rest = |sign: i64| constraint.affine.scale(sign).ok()?.sub(&modulo).ok()?.as_constant();
    let inner = match inner.as_name() {
        Some(name) => name.to_string(),
        None => format!("({inner})"),
    };
    Some(match (constraint.kind, rest(1), rest(-1)) {
        (ConstraintKind::Zero, Some(rest), _) | (ConstraintKind::Zero, None, Some(rest)) => format!("{inner} mod {divisor} = {}", -rest),
        (ConstraintKind::NotNegative, Some(rest), _) => format!("{inner} mod {divisor} >= {}", -rest),
        (ConstraintKind::NotNegative, None, Some(rest)) => format!("{inner} mod {divisor} <= {}", -rest),
        _ => return None,
    })
}
