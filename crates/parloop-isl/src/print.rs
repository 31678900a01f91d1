//! Canonical text of expressions, constraints, sets and relations: `parse` reads it back as the same value.

use std::fmt;

use crate::affine::{Affine, Atom};
use crate::constraint::{Constraint, ConstraintKind};
use crate::name::Name;
use crate::relation::Relation;
use crate::set::{Bound, Piece, Piecewise, Set};

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Name(name) => write!(f, "{name}"),
            Atom::Floor(inner, divisor) => match inner.as_name() {
                Some(name) => write!(f, "floor({name}/{divisor})"),
                None => write!(f, "floor(({inner})/{divisor})"),
            },
        }
    }
}

/// `a + 2*b - c + 3`: terms with their magnitudes, positive ones first, and a constant; `0` if there are none.
fn write_sum<'a>(f: &mut fmt::Formatter<'_>, terms: impl Iterator<Item = (&'a Atom, i128)> + Clone, constant: i128) -> fmt::Result {
    let mut first = true;
    for sign in [1, -1] {
        for (atom, coefficient) in terms.clone().filter(|(_, c)| c.signum() == sign) {
            match (first, sign) {
                (true, 1) => {}
                (true, _) => write!(f, "-")?,
                (false, 1) => write!(f, " + ")?,
                (false, _) => write!(f, " - ")?,
            }
            match coefficient.abs() {
                1 => write!(f, "{atom}")?,
                size => write!(f, "{size}*{atom}")?,
            }
            first = false;
        }
    }
    match constant {
        0 if !first => Ok(()),
        _ if first => write!(f, "{constant}"),
        1.. => write!(f, " + {constant}"),
        _ => write!(f, " - {}", constant.abs()),
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sum(f, self.terms().map(|(atom, c)| (atom, c.into())), self.constant_term().into())
    }
}

impl fmt::Display for Constraint {
    /// Terms go to the side where they are positive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = i128::from(self.affine.constant_term());
        let positive = self.affine.terms().filter(|(_, c)| *c > 0).map(|(atom, c)| (atom, i128::from(c)));
        let negative = self.affine.terms().filter(|(_, c)| *c < 0).map(|(atom, c)| (atom, -i128::from(c)));
        let none = || std::iter::empty::<(&Atom, i128)>();
        let (any_positive, any_negative) = (positive.clone().next().is_some(), negative.clone().next().is_some());
        match (self.kind, any_positive, any_negative) {
            (ConstraintKind::Zero, true, _) => {
                write_sum(f, positive, constant.max(0))?;
                write!(f, " = ")?;
                write_sum(f, negative, (-constant).max(0))
            }
            (ConstraintKind::Zero, false, _) => {
                write_sum(f, negative, 0)?;
                write!(f, " = ")?;
                write_sum(f, none(), constant)
            }
            (ConstraintKind::NotNegative, _, false) => {
                write_sum(f, positive, 0)?;
                write!(f, " >= ")?;
                write_sum(f, none(), -constant)
            }
            (ConstraintKind::NotNegative, true, true) if constant == -1 => {
                write_sum(f, negative, 0)?;
                write!(f, " < ")?;
                write_sum(f, positive, 0)
            }
            (ConstraintKind::NotNegative, _, true) => {
                write_sum(f, negative, if any_positive { (-constant).max(0) } else { 0 })?;
                write!(f, " <= ")?;
                write_sum(f, positive, if any_positive { constant.max(0) } else { constant })
            }
        }
    }
}

fn write_names(f: &mut fmt::Formatter<'_>, names: &[Name]) -> fmt::Result {
    write!(f, "[")?;
    for (place, name) in names.iter().enumerate() {
        write!(f, "{}{name}", if place == 0 { "" } else { ", " })?;
    }
    write!(f, "]")
}

fn write_pieces(f: &mut fmt::Formatter<'_>, pieces: &[Piece]) -> fmt::Result {
    match pieces {
        [] => return write!(f, " : false }}"),
        [piece] if piece.is_empty() => return write!(f, " }}"),
        _ => write!(f, " : ")?,
    }
    for (place, piece) in pieces.iter().enumerate() {
        let brackets = pieces.len() > 1 && piece.len() > 1;
        write!(f, "{}{}", if place == 0 { "" } else { " or " }, if brackets { "(" } else { "" })?;
        for (place, constraint) in piece.iter().enumerate() {
            write!(f, "{}{constraint}", if place == 0 { "" } else { " and " })?;
        }
        write!(f, "{}", if brackets { ")" } else { "" })?;
    }
    write!(f, " }}")
}

fn write_params(f: &mut fmt::Formatter<'_>, params: &[Name]) -> fmt::Result {
    if params.is_empty() {
        return Ok(());
    }
    write_names(f, params)?;
    write!(f, " -> ")
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_params(f, self.params())?;
        write!(f, "{{ ")?;
        write_names(f, self.dims())?;
        write_pieces(f, self.pieces())
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_params(f, self.pairs().params())?;
        write!(f, "{{ ")?;
        write_names(f, self.inputs())?;
        write!(f, " -> ")?;
        write_names(f, self.outputs())?;
        write_pieces(f, self.pairs().pieces())
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.divisor {
            1 => write!(f, "{}", self.affine),
            divisor => write!(f, "({})/{divisor}", self.affine),
        }
    }
}

impl fmt::Display for Piecewise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (domain, value)) in self.0.iter().enumerate() {
            write!(f, "{}{value} on {domain}", if place == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
