//! Affine expressions over named integers, with integer divisions inside. All arithmetic is checked: overflow is an error.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{IslError, Result};
use crate::name::Name;

/// What a coefficient multiplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A named integer: a parameter or a dimension of a set.
    Name(Name),
    /// `floor(affine / divisor)`; the divisor is at least 2. Created by [`Affine::floor`], which normalises it.
    Floor(Arc<Affine>, i64),
}

/// `constant + sum of coefficient * atom`; no coefficient is zero, and atoms are sorted and unique.
///
/// ```
/// use parloop_isl::Affine;
/// let i = Affine::name("i");
/// let e = i.clone().scale(16).unwrap().add(&Affine::constant(3)).unwrap();
/// assert_eq!(e.to_string(), "16*i + 3");
/// assert_eq!(e.sub(&e).unwrap(), Affine::constant(0));
/// assert_eq!(Affine::floor(&e, 4).unwrap().to_string(), "4*i");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    terms: Terms,
    constant: i64,
}

/// Atoms with their coefficients, in order.
pub(crate) type Terms = Vec<(Atom, i64)>;

impl Affine {
    /// A constant.
    pub fn constant(value: i64) -> Affine {
        Affine { terms: Terms::new(), constant: value }
    }

    /// A named integer.
    pub fn name(name: impl Into<Name>) -> Affine {
        Affine::atom(Atom::Name(name.into()))
    }

    fn atom(atom: Atom) -> Affine {
        Affine { terms: vec![(atom, 1)], constant: 0 }
    }

    /// From sorted terms without zero coefficients.
    pub(crate) fn from_parts(terms: Terms, constant: i64) -> Affine {
        debug_assert!(terms.iter().all(|(_, coefficient)| *coefficient != 0), "invariant: no coefficient is zero");
        debug_assert!(terms.is_sorted_by(|(a, _), (b, _)| a < b), "invariant: atoms are in order, each once");
        Affine { terms, constant }
    }

    pub(crate) fn into_parts(self) -> (Terms, i64) {
        (self.terms, self.constant)
    }

    /// `floor(affine / divisor)`, with multiples of the divisor moved outside; the divisor is at least 1.
    ///
    /// # Errors
    /// [`IslError::Divisor`] for a divisor below 1; [`IslError::Overflow`].
    pub fn floor(affine: &Affine, divisor: i64) -> Result<Affine> {
        if divisor < 1 {
            return Err(IslError::Divisor { divisor, dividend: affine.to_string() });
        }
        let mut whole = Affine::constant(affine.constant.div_euclid(divisor));
        let mut rest = Affine::constant(affine.constant.rem_euclid(divisor));
        for (atom, coefficient) in affine.terms() {
            // The nearest multiple: the remainder is at most half the divisor, on either side of zero.
            let left = coefficient.rem_euclid(divisor);
            let up = i64::from(left > divisor / 2);
            whole.push(atom, coefficient.div_euclid(divisor) + up);
            rest.push(atom, left - up * divisor);
        }
        let common = rest.terms.iter().fold(divisor, |g, &(_, c)| gcd(g, c));
        rest.constant /= common;
        rest.terms.iter_mut().for_each(|(_, c)| *c /= common);
        rest.floor_of_small(divisor / common, whole)
    }

    /// `whole + floor(self / divisor)`, where no coefficient is larger than half the divisor, they have no common factor, and the constant
    /// is at least 0 and less than the divisor.
    fn floor_of_small(mut self, divisor: i64, mut whole: Affine) -> Result<Affine> {
        let mut sign = 1;
        match self.terms.first().map(|(_, coefficient)| *coefficient) {
            None => return Ok(whole),
            // floor(-a/d) is -floor((a + d - 1)/d): choose the one whose first coefficient is positive.
            Some(..0) => {
                sign = -1;
                self.constant = divisor - 1 - self.constant;
                self.terms.iter_mut().for_each(|(_, c)| *c = -*c);
                let half = |c: i64| divisor % 2 == 0 && c == -(divisor / 2);
                for (atom, coefficient) in self.terms.iter_mut().filter(|(_, c)| half(*c)) {
                    *coefficient = -*coefficient;
                    whole = whole.add(&Affine::atom(atom.clone()))?;
                }
            }
            Some(_) => {}
        }
        // floor((floor(a/d) + c) / e) is floor((a + c*d) / (d*e)), if that fits.
        if let Some((Atom::Floor(inner, inner_divisor), 1)) = self.only_term() {
            let constant = self.constant.checked_mul(*inner_divisor).and_then(|c| inner.constant.checked_add(c));
            if let (Some(constant), Some(divisor)) = (constant, divisor.checked_mul(*inner_divisor)) {
                let flat = Affine::floor(&Affine { terms: inner.terms.clone(), constant }, divisor)?;
                return whole.plus(&flat, sign);
            }
        }
        whole.plus(&Affine::atom(Atom::Floor(Arc::new(self), divisor)), sign)
    }

    fn only_term(&self) -> Option<(&Atom, i64)> {
        match self.terms.len() {
            1 => self.terms().next(),
            _ => None,
        }
    }

    /// `affine - divisor * floor(affine / divisor)`.
    ///
    /// # Errors
    /// As [`Affine::floor`].
    pub fn modulo(affine: &Affine, divisor: i64) -> Result<Affine> {
        affine.plus(&Affine::floor(affine, divisor)?, -divisor)
    }

    /// Its atoms with their coefficients, in order.
    pub fn terms(&self) -> impl Iterator<Item = (&Atom, i64)> + Clone {
        self.terms.iter().map(|(atom, coefficient)| (atom, *coefficient))
    }

    /// The constant term.
    pub fn constant_term(&self) -> i64 {
        self.constant
    }

    /// The constant, if it has no terms.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The name, if it is just a name.
    pub fn as_name(&self) -> Option<&Name> {
        match self.only_term() {
            Some((Atom::Name(name), 1)) if self.constant == 0 => Some(name),
            _ => None,
        }
    }

    /// The coefficient of a name, not counting those inside floors.
    pub fn coefficient(&self, name: &str) -> i64 {
        self.terms().find(|(atom, _)| matches!(atom, Atom::Name(n) if n == name)).map_or(0, |(_, coefficient)| coefficient)
    }

    /// All names in it, including those inside floors.
    pub fn names(&self) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.collect_names(&mut names);
        names
    }

    pub(crate) fn collect_names(&self, names: &mut BTreeSet<Name>) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Name(name) => {
                    names.insert(name.clone());
                }
                Atom::Floor(inner, _) => inner.collect_names(names),
            }
        }
    }

    /// Whether it mentions the name.
    pub fn mentions(&self, name: &str) -> bool {
        self.terms.iter().any(|(atom, _)| match atom {
            Atom::Name(n) => n == name,
            Atom::Floor(inner, _) => inner.mentions(name),
        })
    }

    /// Whether it contains a floor.
    pub fn has_floors(&self) -> bool {
        self.terms.iter().any(|(atom, _)| matches!(atom, Atom::Floor(..)))
    }

    /// `self + other`.
    ///
    /// # Errors
    /// [`IslError::Overflow`], as for all arithmetic in this module.
    pub fn add(&self, other: &Affine) -> Result<Affine> {
        self.plus(other, 1)
    }

    /// `self - other`.
    ///
    /// # Errors
    /// [`IslError::Overflow`].
    pub fn sub(&self, other: &Affine) -> Result<Affine> {
        self.plus(other, -1)
    }

    /// `factor * self`.
    ///
    /// # Errors
    /// [`IslError::Overflow`].
    pub fn scale(&self, factor: i64) -> Result<Affine> {
        Affine::default().plus(self, factor)
    }

    /// `self + factor * other`.
    ///
    /// # Errors
    /// [`IslError::Overflow`].
    pub fn plus(&self, other: &Affine, factor: i64) -> Result<Affine> {
        let overflow = || IslError::Overflow { what: format!("({self}) + {factor}*({other})") };
        let sum = |a: i64, b: i64| b.checked_mul(factor).and_then(|b| a.checked_add(b)).ok_or_else(overflow);
        let mut result =
            Affine { terms: Terms::with_capacity(self.terms.len() + other.terms.len()), constant: sum(self.constant, other.constant)? };
        let (mut own, mut new) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (own.peek(), new.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Ok(result),
            };
            // The term whose atom comes first, or both.
            let first = if order == Ordering::Greater { None } else { own.next() };
            let second = if order == Ordering::Less { None } else { new.next() };
            let coefficient = sum(first.map_or(0, |(_, c)| *c), second.map_or(0, |(_, c)| *c))?;
            if let Some((atom, _)) = first.or(second) {
                result.push(atom, coefficient);
            }
        }
    }

    /// Adds a term whose atom comes after all others.
    fn push(&mut self, atom: &Atom, coefficient: i64) {
        if coefficient != 0 {
            self.terms.push((atom.clone(), coefficient));
        }
    }

    /// Replaces a name by an expression, inside floors too.
    ///
    /// # Errors
    /// [`IslError::Overflow`].
    pub fn substitute(&self, name: &str, by: &Affine) -> Result<Affine> {
        if !self.mentions(name) {
            return Ok(self.clone());
        }
        self.map_names(&|n| if n == name { by.clone() } else { Affine::name(n) })
    }

    /// Renames; `None` keeps a name. The terms of two names that become one are added.
    ///
    /// # Errors
    /// [`IslError::Overflow`] if their sum does not fit.
    pub fn rename(&self, new: &dyn Fn(&Name) -> Option<Name>) -> Result<Affine> {
        self.map_names(&|n| Affine::name(new(n).unwrap_or_else(|| n.clone())))
    }

    fn map_names(&self, new: &dyn Fn(&Name) -> Affine) -> Result<Affine> {
        let mut result = Affine::constant(self.constant);
        for (atom, coefficient) in self.terms() {
            let value = match atom {
                Atom::Name(n) => new(n),
                Atom::Floor(inner, divisor) => Affine::floor(&inner.map_names(new)?, *divisor)?,
            };
            result = result.plus(&value, coefficient)?;
        }
        Ok(result)
    }

    /// Its value at a point; `None` if a name has no value or the result does not fit.
    pub fn evaluate(&self, value: &dyn Fn(&Name) -> Option<i64>) -> Option<i64> {
        let mut sum = i128::from(self.constant);
        for (atom, coefficient) in self.terms() {
            let factor = match atom {
                Atom::Name(name) => value(name)?,
                Atom::Floor(inner, divisor) => inner.evaluate(value)?.div_euclid(*divisor),
            };
            sum = sum.checked_add(i128::from(factor) * i128::from(coefficient))?;
        }
        i64::try_from(sum).ok()
    }
}

/// The greatest common divisor of two numbers, the first above 0.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).expect("invariant: a divisor of a positive i64 is one")
}

impl From<i64> for Affine {
    fn from(value: i64) -> Affine {
        Affine::constant(value)
    }
}

impl From<&Name> for Affine {
    fn from(name: &Name) -> Affine {
        Affine::name(name)
    }
}
