//! Conditions in sets: comparisons, `and`, `or`, `not`, `exists`. Each is converted to the pieces where it holds.

use super::expression::{Value, difference};
use super::token::Token;
use super::{MAX_PIECES, Reader};
use crate::affine::Affine;
use crate::constraint::{Constraint, ConstraintKind, Piece, normalise, normalise_pieces};
use crate::error::Result;
use crate::name::Name;
use crate::set::Set;

const COMPARISONS: &[&str] = &["<", "<=", "=", ">=", ">", "!="];

impl<'t> Reader<'t> {
    /// `a or b`.
    pub(super) fn formula(&mut self) -> Result<Vec<Piece>> {
        let mut pieces = self.conjunction()?;
        while self.take("or") {
            pieces.extend(self.conjunction()?);
            self.check_size(pieces.len())?;
        }
        Ok(pieces)
    }

    /// `a and b`.
    fn conjunction(&mut self) -> Result<Vec<Piece>> {
        let mut pieces = self.condition()?;
        while self.take("and") {
            let other = self.condition()?;
            pieces = self.both(pieces, other)?;
        }
        Ok(pieces)
    }

    fn both(&self, mut a: Vec<Piece>, b: Vec<Piece>) -> Result<Vec<Piece>> {
        if let ([first], [second]) = (&mut a[..], &b[..]) {
            first.extend(second.iter().cloned());
            return Ok(a);
        }
        self.check_size(a.len().saturating_mul(b.len()))?;
        let joined = a.iter().flat_map(|a| b.iter().filter_map(move |b| normalise(a.iter().chain(b).cloned())));
        Ok(normalise_pieces(joined.collect()))
    }

    fn check_size(&self, pieces: usize) -> Result<()> {
        if pieces <= MAX_PIECES {
            Ok(())
        } else {
            Err(self.error_here(format!("the conditions up to here have more than {MAX_PIECES} parts")))
        }
    }

    fn condition(&mut self) -> Result<Vec<Piece>> {
        match self.token() {
            Token::Sign("not") => {
                self.at += 1;
                let inner = self.deeper(|reader| reader.condition())?;
                self.complement(inner)
            }
            Token::Sign("exists") => {
                self.at += 1;
                self.deeper(|reader| reader.exists())
            }
            Token::Sign("true") => {
                self.at += 1;
                Ok(vec![Piece::new()])
            }
            Token::Sign("false") => {
                self.at += 1;
                Ok(Vec::new())
            }
            Token::Sign("(") if self.bracket_holds_a_formula() => {
                self.at += 1;
                let inner = self.deeper(|reader| reader.formula())?;
                self.expect(")", "`and`, `or` or `)`")?;
                Ok(inner)
            }
            _ => self.comparisons(),
        }
    }

    /// Whether there is a comparison between this bracket and its partner: expressions have none.
    fn bracket_holds_a_formula(&self) -> bool {
        let mut open = 0;
        for spanned in &self.tokens[self.at..] {
            match spanned.token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::Sign("true" | "false" | "exists" | "not" | "and" | "or") => return true,
                Token::Sign(sign) if COMPARISONS.contains(&sign) => return true,
                _ => {}
            }
            if open == 0 {
                return false;
            }
        }
        false
    }

    /// Where none of the pieces holds.
    fn complement(&self, pieces: Vec<Piece>) -> Result<Vec<Piece>> {
        let mut result = vec![Piece::new()];
        for piece in pieces.into_iter().filter_map(normalise) {
            let mut outside = Vec::new();
            for constraint in piece {
                outside.push(vec![Constraint::not_negative(constraint.affine.scale(-1)?.add(&Affine::constant(-1))?)]);
                if constraint.kind == ConstraintKind::Zero {
                    outside.push(vec![Constraint::not_negative(constraint.affine.add(&Affine::constant(-1))?)]);
                }
            }
            result = self.both(result, outside)?;
        }
        Ok(result)
    }

    /// `a, b: formula` or the same in brackets; `exists` has been read.
    fn exists(&mut self) -> Result<Vec<Piece>> {
        let brackets = self.take("(");
        let outside = self.bound.len();
        let mut given = Piece::new();
        loop {
            let Token::Word(word) = self.token() else {
                return Err(self.unexpected("a name after `exists`, as in `exists e: i = 2*e`"));
            };
            self.at += 1;
            // A character that names cannot contain makes it unique.
            let name = Name::from(format!("{word}'{}", self.bound_so_far));
            self.bound_so_far += 1;
            if self.take("=") {
                let value = self.single_affine()?;
                given.push(Constraint::zero(Affine::name(&name).sub(&value)?));
            }
            self.bound.push((word, name));
            if !self.take(",") {
                break;
            }
        }
        self.expect(":", "`:` after the names that exist")?;
        let mut pieces = self.formula()?;
        if brackets {
            self.expect(")", "`)`")?;
        }
        pieces.iter_mut().for_each(|piece| piece.extend(given.iter().cloned()));
        let names: Vec<Name> = self.bound.drain(outside..).map(|(_, name)| name).collect();
        Ok(Set::from_raw(names.clone(), Vec::new(), pieces).project_out(&names)?.pieces().to_vec())
    }

    /// `0 <= i, j < n`: each of a list with each of the next.
    fn comparisons(&mut self) -> Result<Vec<Piece>> {
        let mut left = self.list()?;
        let mut pieces = vec![Piece::new()];
        let mut any = false;
        while let Token::Sign(sign) = self.token()
            && COMPARISONS.contains(&sign)
        {
            self.at += 1;
            any = true;
            let right = self.list()?;
            self.check_size(left.len() * right.len())?;
            for a in &left {
                for b in &right {
                    let holds = self.comparison(a, sign, b)?;
                    pieces = self.both(pieces, holds)?;
                }
            }
            left = right;
        }
        if any { Ok(pieces) } else { Err(self.unexpected("a comparison: one of `<`, `<=`, `=`, `>=`, `>`, `!=`")) }
    }

    fn list(&mut self) -> Result<Vec<Value>> {
        let mut values = vec![self.side()?];
        while self.take(",") {
            values.push(self.side()?);
        }
        Ok(values)
    }

    fn comparison(&self, a: &Value, sign: &str, b: &Value) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        for left in &a.cases {
            for right in &b.cases {
                let more = difference(left, right)?;
                let less = more.scale(-1)?;
                let minus_one = Affine::constant(-1);
                let constraints = match sign {
                    "<" => vec![Constraint::not_negative(less.add(&minus_one)?)],
                    "<=" => vec![Constraint::not_negative(less)],
                    "=" => vec![Constraint::zero(more)],
                    ">=" => vec![Constraint::not_negative(more)],
                    ">" => vec![Constraint::not_negative(more.add(&minus_one)?)],
                    _ => vec![Constraint::not_negative(less.add(&minus_one)?), Constraint::not_negative(more.add(&minus_one)?)],
                };
                for constraint in constraints {
                    pieces.push(left.when.iter().chain(&right.when).cloned().chain([constraint]).collect());
                    self.check_size(pieces.len())?;
                }
            }
        }
        Ok(pieces)
    }
}
