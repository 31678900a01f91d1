//! Counts the points of a set: as a polynomial for boxes and simplices, by counting for given sizes otherwise, and as an upper bound where
//! that would take too long.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use parloop_isl::{Affine, Atom, Constraint, IslError, Name, Set};

use super::polynomial::Polynomial;

/// The maximum number of counting steps before a bound is used.
const MOST_STEPS: u64 = 20_000_000;

/// The number of points of a set, for each value of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    factor: i64,
    set: Set,
    /// The number of its points if it is not empty, for a box or a simplex.
    polynomial: Option<Polynomial>,
}

/// A counted number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The number, or an upper bound.
    pub value: u128,
    /// Whether it is exact.
    pub exact: bool,
}

impl Count {
    /// Nothing.
    pub fn zero() -> Count {
        Count { parts: Vec::new() }
    }

    /// `factor` for each point of the set.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn points(set: &Set, factor: i64) -> Result<Count, IslError> {
        let polynomial = polynomial_of(set)?;
        Ok(Count { parts: vec![Part { factor, set: set.clone(), polynomial }] })
    }

    /// Both together.
    pub fn add(&mut self, other: Count) {
        for part in other.parts {
            match self.parts.iter_mut().find(|own| own.set == part.set) {
                Some(own) => own.factor += part.factor,
                None => self.parts.push(part),
            }
        }
    }

    /// Multiplies the number.
    pub fn scaled(&self, factor: i64) -> Count {
        let parts = self.parts.iter().map(|part| Part { factor: part.factor.saturating_mul(factor), ..part.clone() });
        Count { parts: parts.collect() }
    }

    /// The number for these values of the parameters.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] for a parameter without a value; [`IslError::Unbounded`].
    pub fn evaluate(&self, value: &dyn Fn(&Name) -> Option<i64>) -> Result<Counted, IslError> {
        let mut total = Counted { value: 0, exact: true };
        for part in &self.parts {
            let counted = part.evaluate(value)?;
            total.value = total.value.saturating_add(counted.value.saturating_mul(u128::from(part.factor.unsigned_abs())));
            total.exact &= counted.exact;
        }
        Ok(total)
    }
}

impl Part {
    fn evaluate(&self, value: &dyn Fn(&Name) -> Option<i64>) -> Result<Counted, IslError> {
        let mut set = self.set.clone();
        for param in self.set.params() {
            let number =
                value(param).ok_or_else(|| IslError::UnknownName { name: format!("the value of {param}"), set: self.set.to_string() })?;
            set = set.substitute(param, &Affine::constant(number))?;
        }
        if set.is_empty()? {
            return Ok(Counted { value: 0, exact: true });
        }
        if let Some(points) = self.polynomial.as_ref().and_then(|polynomial| polynomial.evaluate(value)) {
            return Ok(Counted { value: points.max(0) as u128, exact: true });
        }
        let mut counter = Counter { steps: MOST_STEPS };
        let set = set.simplify()?;
        let mut total = Counted { value: 0, exact: true };
        let several = set.pieces().len() > 1;
        for piece in set.pieces() {
            let piece = Set::bounded(set.dims(), piece.clone());
            let counted = counter.count(&piece)?;
            total.value = total.value.saturating_add(counted.value);
            // Pieces may overlap.
            total.exact &= counted.exact && !several;
        }
        Ok(total)
    }
}

/// The number of points of a set in which each dimension has one bound on each side after the inner ones are summed.
fn polynomial_of(set: &Set) -> Result<Option<Polynomial>, IslError> {
    if set.pieces().len() != 1 || has_floors(set) {
        return Ok(None);
    }
    let mut rest = set.clone();
    let mut sum = Polynomial::constant(1);
    while !rest.dims().is_empty() {
        let mut found = None;
        for dim in rest.dims().iter().rev() {
            let limits = rest.bounds(dim)?;
            if let ([lower], [upper]) = (&limits.lower[..], &limits.upper[..])
                && lower.divisor == 1
                && upper.divisor == 1
                && let (Some(first), Some(last)) = (Polynomial::of(&lower.affine), Polynomial::of(&upper.affine))
            {
                found = Some((dim.clone(), first, last));
                break;
            }
        }
        let Some((dim, first, last)) = found else { return Ok(None) };
        let Some(next) = sum.sum_over(&dim, &first, &last) else { return Ok(None) };
        sum = next;
        rest = rest.project_out(&[dim])?;
        if rest.pieces().len() != 1 || has_floors(&rest) {
            return Ok(None);
        }
    }
    Ok(Some(sum))
}

/// Whether a constraint has an integer division, so that some values between the bounds may not be points.
fn has_floors(set: &Set) -> bool {
    let divides = |constraint: &Constraint| constraint.affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(..)));
    set.pieces().iter().flatten().any(divides)
}

struct Counter {
    steps: u64,
}

impl Counter {
    /// The points of a set of one piece without parameters: dimensions that no constraint connects are counted separately.
    fn count(&mut self, set: &Set) -> Result<Counted, IslError> {
        let mut total = Counted { value: 1, exact: true };
        for group in independent(set) {
            let part = set.project_onto(&group)?;
            let counted = self.count_joined(&part, &group)?;
            total.value = total.value.saturating_mul(counted.value);
            total.exact &= counted.exact;
        }
        Ok(total)
    }

    fn count_joined(&mut self, set: &Set, dims: &[Name]) -> Result<Counted, IslError> {
        // From the outermost dimension inwards: the bounds of each in terms of those around it.
        let mut limits = Vec::with_capacity(dims.len());
        let mut rest = set.clone();
        for dim in dims.iter().rev() {
            limits.push((dim.clone(), rest.bounds(dim)?));
            rest = rest.project_out(std::slice::from_ref(dim))?;
        }
        limits.reverse();
        let before = self.steps;
        match self.walk(set, &limits, &mut BTreeMap::new()) {
            Some(value) => Ok(Counted { value, exact: true }),
            None => {
                self.steps = before;
                let mut value: u128 = 1;
                for dim in dims {
                    let alone = set.project_onto(std::slice::from_ref(dim))?;
                    let nothing = Set::universe(&[], &[]);
                    let (first, last) = (alone.static_min(dim, &nothing)?, alone.static_max(dim, &nothing)?);
                    let extent = last.sub(&first)?.as_constant().unwrap_or(i64::MAX);
                    value = value.saturating_mul(u128::from(extent.unsigned_abs()) + 1);
                }
                Ok(Counted { value, exact: false })
            }
        }
    }

    fn walk(&mut self, set: &Set, limits: &[(Name, parloop_isl::Bounds)], point: &mut BTreeMap<Name, i64>) -> Option<u128> {
        let Some(((dim, bounds), inner)) = limits.split_first() else { return Some(1) };
        let value = |affine: &Affine| affine.evaluate(&|name| point.get(name).copied());
        let lower = bounds.lower.iter().map(|bound| Some(-(-value(&bound.affine)?).div_euclid(bound.divisor)));
        let first = lower.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        let upper = bounds.upper.iter().map(|bound| Some(value(&bound.affine)?.div_euclid(bound.divisor)));
        let last = upper.collect::<Option<Vec<_>>>()?.into_iter().min()?;
        if last < first {
            return Some(0);
        }
        if inner.is_empty() && !has_floors(set) {
            return Some((last - first) as u128 + 1);
        }
        let mut total = 0;
        for number in first..=last {
            self.steps = self.steps.checked_sub(1)?;
            point.insert(dim.clone(), number);
            total += match inner.is_empty() {
                true => u128::from(set.contains(&|name| point.get(name).copied())?),
                false => self.walk(set, inner, point)?,
            };
        }
        point.remove(dim);
        Some(total)
    }
}

/// The dimensions in groups that no constraint connects.
fn independent(set: &Set) -> Vec<Vec<Name>> {
    let mut groups: Vec<BTreeSet<Name>> = set.dims().iter().map(|dim| BTreeSet::from([dim.clone()])).collect();
    for constraint in set.pieces().iter().flatten() {
        let names = constraint.affine.names();
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| !group.is_disjoint(&names));
        groups = apart;
        if !joined.is_empty() {
            groups.push(joined.into_iter().flatten().collect());
        }
    }
    let order = |group: BTreeSet<Name>| set.dims().iter().filter(|dim| group.contains(*dim)).cloned().collect();
    groups.into_iter().map(order).collect()
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() {
            return f.write_str("0");
        }
        for (index, part) in self.parts.iter().enumerate() {
            let plus = if index == 0 { "" } else { " + " };
            match &part.polynomial {
                Some(polynomial) if part.factor == 1 => write!(f, "{plus}{polynomial}")?,
                Some(polynomial) => write!(f, "{plus}{}*({polynomial})", part.factor)?,
                None => write!(f, "{plus}{}*card {}", part.factor, part.set)?,
            }
        }
        Ok(())
    }
}
