//! Expressions in sets: sums, multiples, `floor`, `mod`, `min` and `max`.

use super::token::Token;
use super::{MAX_PIECES, Reader};
use crate::affine::Affine;
use crate::constraint::{Constraint, Piece};
use crate::error::{IslError, Result};
use crate::name::Name;

/// `affine / divisor` where `when` holds.
#[derive(Clone)]
pub(super) struct Case {
    pub when: Piece,
    pub affine: Affine,
    pub divisor: i64,
}

/// The value of an expression: an exhaustive list of cases, for `min` and `max`.
#[derive(Clone)]
pub(super) struct Value {
    pub cases: Vec<Case>,
    /// Where it is in the text.
    start: usize,
    end: usize,
}

/// The shape of a factor, for precedences on which languages differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A number, name or bracket.
    Single,
    /// It contains `*`, `/`, `%` or a minus.
    Compound,
}

impl Value {
    fn of(affine: Affine, start: usize, end: usize) -> Value {
        Value { cases: vec![Case { when: Piece::new(), affine, divisor: 1 }], start, end }
    }

    fn as_integer(&self) -> Option<i64> {
        match &self.cases[..] {
            [Case { affine, divisor: 1, .. }] => affine.as_constant(),
            _ => None,
        }
    }

    fn map(self, change: impl Fn(Affine, i64) -> Result<(Affine, i64)>) -> Result<Value> {
        let change = |case: Case| change(case.affine, case.divisor).map(|(affine, divisor)| Case { when: case.when, affine, divisor });
        Ok(Value { cases: self.cases.into_iter().map(change).collect::<Result<_>>()?, ..self })
    }
}

/// `a - b`, multiplied by both divisors, which are positive.
pub(super) fn difference(a: &Case, b: &Case) -> Result<Affine> {
    a.affine.scale(b.divisor)?.plus(&b.affine, a.divisor.checked_neg().ok_or_else(|| overflow(&a.affine))?)
}

fn overflow(affine: &Affine) -> IslError {
    IslError::Overflow { what: affine.to_string() }
}

impl<'t> Reader<'t> {
    /// An expression without cases and fractions.
    pub(super) fn single_affine(&mut self) -> Result<Affine> {
        let start = self.here();
        let mut value = self.expression()?;
        match (value.cases.pop(), value.cases.is_empty()) {
            (Some(Case { affine, divisor: 1, .. }), true) => Ok(affine),
            _ => Err(Reader::error(self.text, start, "expected an expression without `min`, `max` and fractions".into())),
        }
    }

    /// One side of a comparison: an integer value.
    pub(super) fn side(&mut self) -> Result<Value> {
        let value = self.expression()?;
        if value.cases.iter().any(|case| case.divisor != 1) {
            let text = &self.text[value.start..value.end];
            let reason = format!("`{text}` may not be an integer: write `floor({text})` or `ceil({text})`, or multiply both sides");
            return Err(Reader::error(self.text, value.start, reason));
        }
        Ok(value)
    }

    fn expression(&mut self) -> Result<Value> {
        let mut sum = self.term()?;
        loop {
            let factor = match self.token() {
                Token::Sign("+") => 1,
                Token::Sign("-") => -1,
                _ => return Ok(sum),
            };
            self.at += 1;
            let term = self.term()?;
            sum = self.combine(sum, term, |a, b| {
                let divisor = a.divisor.checked_mul(b.divisor).ok_or_else(|| overflow(&a.affine))?;
                let right = a.divisor.checked_mul(factor).ok_or_else(|| overflow(&a.affine))?;
                Ok(vec![(Piece::new(), a.affine.scale(b.divisor)?.plus(&b.affine, right)?, divisor)])
            })?;
        }
    }

    /// Combines each case of one with each case of the other.
    fn combine(&self, a: Value, b: Value, both: impl Fn(&Case, &Case) -> Result<Vec<(Piece, Affine, i64)>>) -> Result<Value> {
        let mut cases = Vec::new();
        for left in &a.cases {
            for right in &b.cases {
                for (extra, affine, divisor) in both(left, right)? {
                    cases.push(Case { when: left.when.iter().chain(&right.when).cloned().chain(extra).collect(), affine, divisor });
                }
                if cases.len() > MAX_PIECES {
                    return Err(Reader::error(self.text, a.start, format!("`min` and `max` expand this to more than {MAX_PIECES} cases")));
                }
            }
        }
        Ok(Value { cases, start: a.start, end: b.end })
    }

    fn term(&mut self) -> Result<Value> {
        let (mut value, mut shape) = self.factor()?;
        loop {
            let sign = match self.token() {
                Token::Sign(sign @ ("*" | "/" | "mod")) => sign,
                _ => return Ok(value),
            };
            let operator = self.here();
            self.at += 1;
            let (right, _) = self.factor()?;
            let (start, end) = (value.start, right.end);
            if sign == "mod" && shape == Shape::Compound {
                let reason = format!("`{}` is ambiguous; put the operand before `mod` in brackets", &self.text[start..end]);
                return Err(Reader::error(self.text, operator, reason));
            }
            value = match sign {
                "*" => self.product(value, right)?,
                _ => {
                    let divisor = right.as_integer().filter(|divisor| *divisor >= 1).ok_or_else(|| {
                        let right = &self.text[right.start..right.end];
                        Reader::error(self.text, start, format!("cannot divide by `{right}`; a divisor must be an integer of at least 1"))
                    })?;
                    let divide = |affine: Affine, by: i64| match by.checked_mul(divisor) {
                        Some(product) => Ok((affine, product)),
                        None => Err(overflow(&affine)),
                    };
                    match sign {
                        "/" => value.map(divide)?,
                        _ => {
                            let whole = value.cases.iter().all(|case| case.divisor == 1);
                            if !whole {
                                return Err(Reader::error(self.text, start, "the left operand of `mod` must be an integer".into()));
                            }
                            value.map(|affine, _| Ok((Affine::modulo(&affine, divisor)?, 1)))?
                        }
                    }
                }
            };
            value.end = end;
            shape = Shape::Compound;
        }
    }

    fn product(&self, a: Value, b: Value) -> Result<Value> {
        let (start, end) = (a.start, b.end);
        let (number, other) = match (a.as_integer(), b.as_integer()) {
            (Some(number), _) => (number, b),
            (_, Some(number)) => (number, a),
            (None, None) => return Err(self.not_affine(&a, &b)),
        };
        let mut product = other.map(|affine, divisor| Ok((affine.scale(number)?, divisor)))?;
        (product.start, product.end) = (start, end);
        Ok(product)
    }

    fn not_affine(&self, a: &Value, b: &Value) -> IslError {
        let name = |value: &Value| match &value.cases[..] {
            [case] => case.affine.as_name().cloned(),
            _ => None,
        };
        let text = &self.text[a.start..b.end];
        let reason = match (name(a), name(b)) {
            (Some(a), Some(b)) => {
                format!("`{text}` is a product of two names; a domain must be affine: make the product a separate parameter, `{a}{b}`")
            }
            _ => format!(
                "`{text}` is a product of two expressions with names; a domain must be affine: make the product a separate parameter"
            ),
        };
        Reader::error(self.text, a.start, reason)
    }

    fn factor(&mut self) -> Result<(Value, Shape)> {
        let start = self.here();
        let token = self.token();
        match token {
            Token::Number(number) => {
                self.at += 1;
                let number = Value::of(Affine::constant(number), start, self.behind());
                // `2i` and `4floor(i/4)`, as isl prints them.
                if matches!(self.token(), Token::Word(_) | Token::Sign("floor" | "floord")) {
                    let (right, _) = self.factor()?;
                    return Ok((self.product(number, right)?, Shape::Compound));
                }
                Ok((number, Shape::Single))
            }
            Token::Word(word) => {
                self.at += 1;
                if self.token() == Token::Sign("[") {
                    return Err(Reader::error(
                        self.text,
                        start,
                        format!("`{word}[…]`: the bounds of a set cannot read arrays; read the value into a variable and use its name"),
                    ));
                }
                if self.token() == Token::Sign("(") {
                    return Err(Reader::error(
                        self.text,
                        start,
                        format!("unknown function `{word}`; sets can use floor, ceil, min and max"),
                    ));
                }
                let bound = self.bound.iter().rev().find(|(text, _)| *text == word).map(|(_, name)| name.clone());
                Ok((Value::of(Affine::name(bound.unwrap_or_else(|| Name::from(word))), start, self.behind()), Shape::Single))
            }
            Token::Sign("-") => {
                self.at += 1;
                let (value, _) = self.deeper(|reader| reader.factor())?;
                let mut value = value.map(|affine, divisor| Ok((affine.scale(-1)?, divisor)))?;
                value.start = start;
                Ok((value, Shape::Compound))
            }
            Token::Sign("+") => {
                self.at += 1;
                self.deeper(|reader| reader.factor())
            }
            Token::Sign(sign @ ("(" | "[" | "floor" | "ceil" | "floord" | "ceild" | "min" | "max")) => {
                self.at += 1;
                let mut value = self.deeper(|reader| reader.bracketed(sign))?;
                (value.start, value.end) = (start, self.behind());
                Ok((value, Shape::Single))
            }
            _ => Err(self.unexpected("a number, a name or an expression in brackets")),
        }
    }

    /// The expression that begins with that sign or word, which has been consumed.
    fn bracketed(&mut self, sign: &str) -> Result<Value> {
        let floor = |value: Value| value.map(|affine, divisor| Ok((Affine::floor(&affine, divisor)?, 1)));
        let ceil = |value: Value| value.map(|affine, divisor| Ok((Affine::floor(&affine.scale(-1)?, divisor)?.scale(-1)?, 1)));
        if !matches!(sign, "(" | "[") {
            self.expect("(", &format!("`(` after `{sign}`"))?;
        }
        let mut value = self.expression()?;
        match sign {
            "floord" | "ceild" => {
                self.expect(",", "`,` and the divisor")?;
                let Token::Number(divisor @ 1..) = self.token() else {
                    return Err(self.unexpected("a divisor, an integer of at least 1"));
                };
                self.at += 1;
                value = value.map(|affine, by| match by.checked_mul(divisor) {
                    Some(product) => Ok((affine, product)),
                    None => Err(overflow(&affine)),
                })?;
                value = if sign == "floord" { floor(value)? } else { ceil(value)? };
            }
            "floor" | "[" => value = floor(value)?,
            "ceil" => value = ceil(value)?,
            "min" | "max" => {
                while self.take(",") {
                    let other = self.expression()?;
                    value = self.extreme(value, other, sign == "max")?;
                }
            }
            _ => {}
        }
        if sign == "[" {
            self.expect("]", "`]`")?
        } else {
            self.expect(")", "`)`")?
        };
        Ok(value)
    }

    fn extreme(&self, a: Value, b: Value, largest: bool) -> Result<Value> {
        self.combine(a, b, |a, b| {
            // Where the first applies, and where the second does.
            let first = if largest { difference(a, b)? } else { difference(b, a)? };
            let second = first.scale(-1)?.add(&Affine::constant(-1))?;
            Ok(vec![
                (vec![Constraint::not_negative(first)], a.affine.clone(), a.divisor),
                (vec![Constraint::not_negative(second)], b.affine.clone(), b.divisor),
            ])
        })
    }
}
