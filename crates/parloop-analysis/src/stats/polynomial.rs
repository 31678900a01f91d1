//! Polynomials in the parameters of a kernel, with rational coefficients: how many points a box or a simplex has.

use std::collections::BTreeMap;
use std::fmt;

use parloop_isl::{Affine, Atom, Name};

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction(i128, i128);

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Option<Fraction> {
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()) as i128;
        let sign = if denominator < 0 { -1 } else { 1 };
        (denominator != 0).then(|| Fraction(sign * numerator / divisor.max(1), sign * denominator / divisor.max(1)))
    }

    fn add(self, other: Fraction) -> Option<Fraction> {
        let left = self.0.checked_mul(other.1)?;
        let right = other.0.checked_mul(self.1)?;
        Fraction::new(left.checked_add(right)?, self.1.checked_mul(other.1)?)
    }

    fn multiply(self, other: Fraction) -> Option<Fraction> {
        Fraction::new(self.0.checked_mul(other.0)?, self.1.checked_mul(other.1)?)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `n^2*m` as names with exponents, in order.
type Monomial = BTreeMap<Name, u32>;

/// A polynomial. Operations return `None` on overflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, Fraction>,
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<std::cmp::Ordering> {
        self.0.checked_mul(other.1)?.partial_cmp(&other.0.checked_mul(self.1)?)
    }
}

impl Polynomial {
    /// A constant.
    pub fn constant(value: i64) -> Polynomial {
        let terms = (value != 0).then(|| (Monomial::new(), Fraction(value.into(), 1)));
        Polynomial { terms: terms.into_iter().collect() }
    }

    /// An affine expression, if it has no integer divisions.
    pub fn of(affine: &Affine) -> Option<Polynomial> {
        let mut sum = Polynomial::constant(affine.constant_term());
        for (atom, coefficient) in affine.terms() {
            let Atom::Name(name) = atom else { return None };
            sum.insert(Monomial::from([(name.clone(), 1)]), Fraction(coefficient.into(), 1))?;
        }
        Some(sum)
    }

    fn insert(&mut self, monomial: Monomial, coefficient: Fraction) -> Option<()> {
        let sum = self.terms.get(&monomial).map_or(Some(coefficient), |old| old.add(coefficient))?;
        match sum.0 {
            0 => drop(self.terms.remove(&monomial)),
            _ => drop(self.terms.insert(monomial, sum)),
        }
        Some(())
    }

    /// `self + other`.
    pub fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (monomial, &coefficient) in &other.terms {
            sum.insert(monomial.clone(), coefficient)?;
        }
        Some(sum)
    }

    /// `self * other`.
    pub fn multiply(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (left, &a) in &self.terms {
            for (right, &b) in &other.terms {
                let mut monomial = left.clone();
                for (name, exponent) in right {
                    *monomial.entry(name.clone()).or_insert(0) += exponent;
                }
                product.insert(monomial, a.multiply(b)?)?;
            }
        }
        Some(product)
    }

    fn scale(&self, factor: Fraction) -> Option<Polynomial> {
        let scaled = self.terms.iter().map(|(monomial, &coefficient)| Some((monomial.clone(), coefficient.multiply(factor)?)));
        Some(Polynomial { terms: scaled.collect::<Option<_>>()? })
    }

    fn power(&self, exponent: u32) -> Option<Polynomial> {
        (0..exponent).try_fold(Polynomial::constant(1), |power, _| power.multiply(self))
    }

    /// Its sum over all integers `name` from `first` to `last`, where `last >= first - 1`.
    pub fn sum_over(&self, name: &Name, first: &Polynomial, last: &Polynomial) -> Option<Polynomial> {
        let before = first.add(&Polynomial::constant(-1))?;
        let mut total = Polynomial::default();
        for (monomial, &coefficient) in &self.terms {
            let mut rest = monomial.clone();
            let exponent = rest.remove(name).unwrap_or(0);
            let factor = Polynomial { terms: BTreeMap::from([(rest, coefficient)]) };
            let up_to_last = power_sum(exponent, last)?;
            let up_to_before = power_sum(exponent, &before)?;
            let difference = up_to_last.add(&up_to_before.scale(Fraction(-1, 1))?)?;
            total = total.add(&factor.multiply(&difference)?)?;
        }
        Some(total)
    }

    /// Its value, if it is an integer and all names have values.
    pub fn evaluate(&self, value: &dyn Fn(&Name) -> Option<i64>) -> Option<i128> {
        let mut sum = Fraction(0, 1);
        for (monomial, &coefficient) in &self.terms {
            let mut term = coefficient;
            for (name, &exponent) in monomial {
                let power = i128::from(value(name)?).checked_pow(exponent)?;
                term = term.multiply(Fraction(power, 1))?;
            }
            sum = sum.add(term)?;
        }
        (sum.1 == 1).then_some(sum.0)
    }
}

/// `0^e + 1^e + … + n^e` as a polynomial in `n` (for n >= -1), by Faulhaber's formula.
fn power_sum(exponent: u32, n: &Polynomial) -> Option<Polynomial> {
    let mut sum = Polynomial::default();
    let degree = exponent + 1;
    for (k, bernoulli) in bernoulli_numbers(exponent)?.into_iter().enumerate() {
        let k = k as u32;
        let choose = Fraction::new(binomial(degree.into(), k.into())?, degree.into())?;
        sum = sum.add(&n.power(degree - k)?.scale(choose.multiply(bernoulli)?)?)?;
    }
    // The formula counts from 1; only 0^0 adds to it.
    if exponent == 0 { sum.add(&Polynomial::constant(1)) } else { Some(sum) }
}

/// B0 … Bn with B1 = +1/2.
fn bernoulli_numbers(n: u32) -> Option<Vec<Fraction>> {
    let mut numbers: Vec<Fraction> = Vec::new();
    for m in 0..=i128::from(n) {
        let mut value = Fraction(1, 1);
        for (k, &earlier) in numbers.iter().enumerate() {
            let weight = Fraction::new(binomial(m, k as i128)?, m - k as i128 + 1)?;
            value = value.add(weight.multiply(earlier)?.multiply(Fraction(-1, 1))?)?;
        }
        numbers.push(value);
    }
    Some(numbers)
}

fn binomial(n: i128, k: i128) -> Option<i128> {
    (0..k).try_fold(1i128, |product, i| Some(product.checked_mul(n - i)? / (i + 1)))
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(monomial.values().sum::<u32>()));
        for (index, (monomial, Fraction(numerator, denominator))) in terms.into_iter().enumerate() {
            match (index, *numerator < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let factors: Vec<String> = monomial
                .iter()
                .map(|(name, exponent)| if *exponent == 1 { name.to_string() } else { format!("{name}^{exponent}") })
                .collect();
            let number = numerator.unsigned_abs();
            match (factors.is_empty(), number) {
                (true, _) => write!(f, "{number}")?,
                (false, 1) => f.write_str(&factors.join("*"))?,
                (false, _) => write!(f, "{number}*{}", factors.join("*"))?,
            }
            if *denominator != 1 {
                write!(f, "/{denominator}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_powers_are_those_of_a_loop() {
        let n = Polynomial::of(&Affine::name("n")).unwrap();
        for exponent in 0..6 {
            let sum = power_sum(exponent, &n).unwrap();
            for value in -1i64..20 {
                let expected: i128 = (0..=value).map(|k| i128::from(k).pow(exponent)).sum();
                assert_eq!(sum.evaluate(&|_| Some(value)), Some(expected), "exponent {exponent}, n = {value}");
            }
        }
    }

    #[test]
    fn a_triangle_has_n_times_n_plus_one_halves_points() {
        let (zero, one) = (Polynomial::constant(0), Polynomial::constant(1));
        let i = Polynomial::of(&Affine::name("i")).unwrap();
        let last = Polynomial::of(&Affine::name("n")).unwrap().add(&Polynomial::constant(-1)).unwrap();
        let rows = one.sum_over(&"j".into(), &zero, &i).unwrap();
        let triangle = rows.sum_over(&"i".into(), &zero, &last).unwrap();
        assert_eq!(triangle.to_string(), "n^2/2 + n/2");
        assert_eq!(triangle.evaluate(&|_| Some(4)), Some(10));
        assert_eq!(triangle.evaluate(&|_| None), None);
    }
}
