//! Pairs of accesses: separate names for what may differ between them, and the points at which both touch the same element.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, Time, TimeStep, without_primes};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::element_access::ElementAccess;
use super::opaque::Opaque;
use super::{Dependences, Placement};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// Two accesses, the first of which happens before the second in the order under consideration.
pub(super) struct Pair<'a, 'f, 'k> {
    pub deps: &'a Dependences<'f, 'k>,
    pub first: &'a ElementAccess<'k>,
    pub second: &'a ElementAccess<'k>,
    /// When they ran, if relevant: names of other instances that they stand for are bounded too.
    pub times: Option<(&'a Time, &'a Time)>,
    /// The loops around a copy that both fill or store, if only different iterations are relevant.
    pub turns: Option<(&'a [TimeStep], &'a [TimeStep])>,
    /// Inames that have one value for both.
    pub same: BTreeSet<Name>,
}

impl<'a, 'f, 'k> Pair<'a, 'f, 'k> {
    /// Two accesses, with only the facts that their indices show directly.
    pub fn new(deps: &'a Dependences<'f, 'k>, first: &'a ElementAccess<'k>, second: &'a ElementAccess<'k>) -> Pair<'a, 'f, 'k> {
        let same = determined(deps, first, second);
        Pair { deps, first, second, times: None, turns: None, same }
    }

    fn touch(&self, side: Side) -> &'a ElementAccess<'k> {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }

    fn time(&self, side: Side) -> Option<&'a Time> {
        let (first, second) = self.times?;
        Some(if side == Side::First { first } else { second })
    }

    /// The name of an iname, or of a number that the kernel computes, for one side. A character that names cannot contain keeps them apart.
    pub fn marked(&self, side: Side, name: &Name) -> Name {
        let kernel = self.deps.facts.kernel;
        let (plain, primes) = without_primes(name);
        let is_own = primes > 0 || Opaque::is_name(name) || kernel.inames.contains_key(plain) || kernel.temporaries.contains_key(plain);
        if !is_own || self.same.contains(name) {
            return name.clone();
        }
        let mark = if side == Side::First { 1 } else { 2 };
        format!("{name}@{mark}").into()
    }

    /// Whether a name has the same value on both sides if the leading steps of two times are equal.
    pub fn is_same_after(&self, first: &[TimeStep], second: &[TimeStep], depth: usize) -> impl Fn(&Name) -> bool {
        let turn = same_turn(self.deps, first, second, depth);
        move |name| turn.contains(name) || self.marked(Side::First, name) == *name
    }

    /// Whether a name is one of [`marked`](Self::marked) that only one side has.
    pub fn is_marked(name: &Name) -> bool {
        name.ends_with("@1") || name.ends_with("@2")
    }

    /// An expression with the names of one side.
    pub fn affine(&self, side: Side, affine: &Affine) -> Result<Affine, IslError> {
        affine.rename(&|name| Some(self.marked(side, name)))
    }

    /// `second - first` of one expression each.
    pub fn difference(&self, first: &Affine, second: &Affine) -> Result<Affine, IslError> {
        self.affine(Side::Second, second)?.sub(&self.affine(Side::First, first)?)
    }

    /// The points of one side.
    pub fn domain(&self, side: Side) -> Result<Set, IslError> {
        let (touch, facts) = (self.touch(side), self.deps.facts);
        let mut inames = touch.inames(facts);
        inames.extend(self.time(side).into_iter().flat_map(Time::names).filter(|name| facts.kernel.inames.contains_key(name)));
        let mut domain = facts.domain(&inames)?.join(&facts.kernel.assumptions)?.constrain(&touch.constraints)?;
        if let Some(time) = self.time(side) {
            domain = domain.join(&self.others(touch, time)?)?;
        }
        domain.rename(&|name| Some(self.marked(side, name)))
    }

    /// The points of the instances that one stands for.
    fn others(&self, touch: &ElementAccess<'k>, time: &Time) -> Result<Set, IslError> {
        let facts = self.deps.facts;
        let own = &facts.kernel.instructions[touch.at].within_inames;
        let mut by_primes: BTreeMap<usize, BTreeSet<Name>> = BTreeMap::new();
        for name in time.names() {
            let (plain, primes) = without_primes(&name);
            if primes > 0 && facts.kernel.inames.contains_key(plain) {
                by_primes.entry(primes).or_default().insert(plain.into());
            }
        }
        let mut points = Set::universe(&[], &[]);
        for (primes, inames) in by_primes {
            let mark = "'".repeat(primes);
            let domain = facts.domain(&inames)?;
            let is_other = |name: &Name| facts.kernel.inames.contains_key(name) && (inames.contains(name) || !own.contains(name));
            points = points.join(&domain.rename(&|name| is_other(name).then(|| format!("{name}{mark}").into()))?)?;
        }
        let mut equal = Vec::new();
        for (left, right) in &time.given {
            if let (Some(left), Some(right)) = (to_affine(left), to_affine(right)) {
                equal.push(Constraint::zero(left.sub(&right)?));
            }
        }
        points.constrain(&equal)
    }

    /// Whether both can touch the same element, judging by names and constants.
    pub fn is_apart(&self) -> Result<bool, IslError> {
        if self.first.access.name != self.second.access.name {
            return Ok(false);
        }
        let (Some(left), Some(right)) = (&self.first.indices, &self.second.indices) else { return Ok(false) };
        for (x, y) in left.iter().zip(right) {
            if let (Some(x), Some(y)) = (x, y)
                && self.difference(x, y)?.as_constant().is_some_and(|apart| apart != 0)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The pairs of points at which both touch the same element.
    pub fn touching(&self) -> Result<Set, IslError> {
        let both = self.domain(Side::First)?.join(&self.domain(Side::Second)?)?;
        both.constrain(&self.same_element()?)
    }

    /// The known constraints under which both touch the same element.
    fn same_element(&self) -> Result<Vec<Constraint>, IslError> {
        let mut constraints = Vec::new();
        if self.first.access.name == self.second.access.name
            && let (Some(left), Some(right)) = (&self.first.indices, &self.second.indices)
            && left.len() == right.len()
        {
            for (x, y) in left.iter().zip(right) {
                if let (Some(x), Some(y)) = (x, y) {
                    constraints.push(Constraint::zero(self.difference(x, y)?));
                }
            }
        }
        Ok(constraints)
    }

    /// Whether both relations are exact.
    pub fn is_exact(&self) -> bool {
        self.first.is_exact && self.second.is_exact && self.first.access.name == self.second.access.name
    }

    /// The number of the work item, or group, of one side along an axis; `None` if the instruction does not run along it.
    pub fn item(&self, side: Side, axis: Placement) -> Result<Option<Affine>, IslError> {
        let Some(iname) = self.deps.along(self.touch(side).at, axis) else { return Ok(None) };
        let base = self.deps.base(iname)?;
        Ok(Some(Affine::name(self.marked(side, iname)).sub(&base)?))
    }
}

/// The inames that have one value for both accesses wherever they touch the same element: those that equal indices determine.
fn determined(deps: &Dependences<'_, '_>, first: &ElementAccess<'_>, second: &ElementAccess<'_>) -> BTreeSet<Name> {
    let (Some(left), Some(right)) = (first.known_indices(), second.known_indices()) else { return BTreeSet::new() };
    if left != right || first.access.name != second.access.name {
        return BTreeSet::new();
    }
    given_away(deps, &left)
}

/// The inames that have one value for both sides wherever the leading steps of two times are equal.
pub(super) fn same_turn(deps: &Dependences<'_, '_>, first: &[TimeStep], second: &[TimeStep], depth: usize) -> BTreeSet<Name> {
    let steps = first.iter().zip(second).take(depth);
    let values: Vec<Affine> = steps
        .filter_map(|(one, other)| match (one, other) {
            (TimeStep::Loop(one), TimeStep::Loop(other)) if one == other => deps.opaque.affine(one),
            _ => None,
        })
        .collect();
    given_away(deps, &values.iter().collect::<Vec<_>>())
}

/// The inames, and values of loops as created, that follow from some values.
fn given_away(deps: &Dependences<'_, '_>, values: &[&Affine]) -> BTreeSet<Name> {
    let kernel = deps.facts.kernel;
    let is_iname = |name: &Name| kernel.inames.contains_key(name) || Opaque::is_name(name);
    // Names of other instances, and numbers that the kernel computes, differ from side to side.
    let is_other = |name: &Name| without_primes(name).1 > 0 || kernel.temporaries.contains_key(name);
    let mut same: BTreeSet<Name> = BTreeSet::new();
    loop {
        let known = same.len();
        for value in values.iter().filter(|value| !value.names().iter().any(is_other)) {
            let open: Vec<Name> = value.names().into_iter().filter(|name| is_iname(name) && !same.contains(name)).collect();
            if !open.is_empty() && is_one_to_one(deps, value, &open) {
                same.extend(open);
            }
        }
        let is_same = |name: &Name| same.contains(name) || !(is_iname(name) || is_other(name));
        let opaque: Vec<Affine> = same.iter().filter(|name| Opaque::is_name(name)).cloned().map(Affine::name).collect();
        let digits: Vec<Name> = opaque
            .iter()
            .filter_map(|value| deps.opaque.digits(value, &is_same))
            .flatten()
            .filter_map(|digit| match digit {
                Expr::Variable(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        same.extend(digits);
        if same.len() == known {
            return same;
        }
    }
}

/// Whether the value of an index determines each of the inames: they are its digits.
fn is_one_to_one(deps: &Dependences<'_, '_>, index: &Affine, open: &[Name]) -> bool {
    let mut digits: Vec<(i64, &Name)> = open.iter().map(|name| (index.coefficient(name).saturating_abs(), name)).collect();
    let in_floor = index.has_floors()
        && index.terms().any(|(atom, _)| match atom {
            parloop_isl::Atom::Floor(inner, _) => open.iter().any(|name| inner.mentions(name)),
            parloop_isl::Atom::Name(_) => false,
        });
    if in_floor || digits.iter().any(|(coefficient, _)| *coefficient == 0) {
        return false;
    }
    digits.sort_unstable();
    let mut below: i64 = 0;
    for (place, (coefficient, name)) in digits.iter().enumerate() {
        if *coefficient <= below {
            return false;
        }
        if place + 1 == digits.len() {
            return true;
        }
        let Some(length) = deps.facts.constant_length(name) else { return false };
        let Some(span) =
            length.checked_sub(1).and_then(|span| span.max(0).checked_mul(*coefficient)).and_then(|span| span.checked_add(below))
        else {
            return false;
        };
        below = span;
    }
    true
}
