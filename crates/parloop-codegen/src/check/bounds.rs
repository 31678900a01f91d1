//! Indices are inside of their arrays, proved on the domains.
//!
//! Most indices are compared with a constraint of the domain as it stands, or with constant limits; the solver is asked about the rest. What the
//! solver cannot know (indices read from memory, bounds that data decide, lengths that nothing relates to the loops) is not checked here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_analysis::access::{Access, accesses, constraints_of};
use parloop_analysis::facts::Facts;
use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{ArgumentKind, Expr, Instruction, Shape};
use parloop_isl::{Affine, Atom, Constraint, Name, Set};

use super::CheckError;

pub(super) fn check(facts: &Facts<'_>) -> Result<(), CheckError> {
    let mut domains: HashMap<Vec<&Name>, Set> = HashMap::new();
    for instruction in &facts.kernel.instructions {
        for access in accesses(instruction) {
            let Some(indices) = access.indices.filter(|indices| !indices.is_empty() && access.expr.is_some()) else { continue };
            let lengths = match lengths_of(facts, &access.name) {
                // How long a field of an object is, each call knows.
                None if is_field(facts, &access.name) => None,
                None => continue,
                lengths => lengths,
            };
            if let Some(lengths) = lengths.filter(|lengths| lengths.len() != indices.len()) {
                return Err(CheckError::WrongRank {
                    access: text(&access),
                    instruction: instruction.id.clone(),
                    array: access.name.clone(),
                    found: indices.len(),
                    expected: lengths.len(),
                });
            }
            let inames: Vec<&Name> = instruction.within_inames.iter().chain(access.swept).collect();
            let domain = match domains.get(&inames) {
                Some(domain) => domain.clone(),
                None => {
                    let domain = facts.domain(inames.iter().copied())?;
                    domains.insert(inames, domain.clone());
                    domain
                }
            };
            if !domain.params().iter().any(|param| facts.kernel.temporaries.contains_key(param)) {
                check_access(facts, instruction, &access, domain, lengths)?;
            }
        }
    }
    Ok(())
}

fn text(access: &Access<'_>) -> String {
    access.expr.map_or_else(|| access.name.to_string(), ToString::to_string)
}

/// Whether the name is that of a field of an object, `p.x`.
fn is_field(facts: &Facts<'_>, name: &Name) -> bool {
    let object = name.split_once('.').and_then(|(object, _)| facts.arguments.get(&Name::from(object)));
    object.is_some_and(|argument| argument.kind == ArgumentKind::Object)
}

fn lengths_of<'k>(facts: &Facts<'k>, name: &Name) -> Option<&'k [Expr]> {
    let layout = match facts.kernel.temporaries.get(name) {
        Some(temporary) => &temporary.layout,
        None => match &facts.arguments.get(name)?.kind {
            ArgumentKind::Array { layout, .. } => layout,
            _ => return None,
        },
    };
    match &layout.shape {
        Shape::Known(lengths) => Some(lengths),
        Shape::Auto | Shape::Unknown => None,
    }
}

fn check_access(
    facts: &Facts<'_>,
    instruction: &Instruction,
    access: &Access<'_>,
    domain: Set,
    lengths: Option<&[Expr]>,
) -> Result<(), CheckError> {
    let mut conditions = Vec::new();
    for (condition, value) in &access.conditions {
        constraints_of(condition, *value, &mut conditions);
    }
    let is_known = |name: &Name| domain.has_dim(name) || domain.params().contains(name) || facts.kernel.assumptions.params().contains(name);
    conditions.retain(|constraint| constraint.affine.names().iter().all(|name| is_known(name) || is_plain_value(facts, name)));
    let named: BTreeSet<Name> = conditions.iter().flat_map(|constraint| constraint.affine.names()).collect();
    let known = Known { facts, domain: &domain, conditions: &conditions };
    for (axis, index) in access.indices.into_iter().flatten().enumerate() {
        let Some(index) = to_affine(index) else { continue };
        let length = match lengths.map(|lengths| to_affine(&lengths[axis])) {
            Some(None) => continue,
            length => length.flatten(),
        };
        let names = length.iter().flat_map(Affine::names).chain(index.names()).collect::<BTreeSet<Name>>();
        if !names.iter().all(|name| is_known(name) || named.contains(name)) {
            continue;
        }
        let room = match &length {
            Some(length) => Some(length.sub(&index)?.sub(&Affine::constant(1))?),
            None => None,
        };
        for inside in [Some(&index), room.as_ref()].into_iter().flatten() {
            if known.proves(inside) {
                continue;
            }
            if let Some(point) = known.counterexample(inside)? {
                return Err(out_of_bounds(instruction, access, axis, (&index, length.as_ref()), &point));
            }
        }
    }
    Ok(())
}

/// An argument that nothing changes.
fn is_plain_value(facts: &Facts<'_>, name: &Name) -> bool {
    facts.arguments.get(name).is_some_and(|argument| argument.kind == ArgumentKind::Value)
}

fn out_of_bounds(
    instruction: &Instruction,
    access: &Access<'_>,
    axis: usize,
    (index, length): (&Affine, Option<&Affine>),
    point: &BTreeMap<Name, i64>,
) -> CheckError {
    let value = index.evaluate(&|name| point.get(name).copied()).unwrap_or_default();
    let names: BTreeSet<Name> = length.into_iter().flat_map(Affine::names).chain(index.names()).collect();
    let point = names.into_iter().filter_map(|name| point.get(&name).map(|&value| (name.clone(), value))).collect();
    let (access, instruction) = (text(access), instruction.id.clone());
    match length {
        Some(length) => CheckError::OutOfBounds { access, instruction, axis, length: length.to_string(), value, point },
        None => CheckError::NegativeIndex { access, instruction, axis, value, point },
    }
}

/// What holds where an access happens.
struct Known<'a, 'k> {
    facts: &'a Facts<'k>,
    domain: &'a Set,
    conditions: &'a [Constraint],
}

impl Known<'_, '_> {
    /// Whether it is seen at once that the expression is not negative.
    fn proves(&self, expr: &Affine) -> bool {
        let assumptions = match self.facts.kernel.assumptions.pieces() {
            [piece] => piece.as_slice(),
            _ => &[],
        };
        let domain = match self.domain.pieces() {
            [piece] => piece.as_slice(),
            _ => &[],
        };
        let mut constraints = domain.iter().chain(self.conditions).chain(assumptions);
        let follows = |constraint: &Constraint| {
            let beyond = expr.sub(&constraint.affine).ok().and_then(|rest| rest.as_constant());
            beyond.is_some_and(|beyond| beyond >= 0)
        };
        constraints.any(follows) || self.smallest(expr).is_some_and(|smallest| smallest >= 0)
    }

    /// A lower limit of the expression, if constant limits of its inames give one.
    fn smallest(&self, expr: &Affine) -> Option<i64> {
        expr.terms().try_fold(expr.constant_term(), |sum, (atom, coefficient)| {
            let Atom::Name(name) = atom else { return None };
            let (lower, upper) = self.facts.forest.constant_bounds(name);
            let limit = if coefficient > 0 { lower? } else { upper? };
            sum.checked_add(coefficient.checked_mul(limit)?)
        })
    }

    /// A point at which the expression is negative.
    fn counterexample(&self, expr: &Affine) -> Result<Option<BTreeMap<Name, i64>>, CheckError> {
        let negative = Constraint::not_negative(expr.scale(-1)?.sub(&Affine::constant(1))?);
        let set = self.domain.join(&self.facts.kernel.assumptions)?.constrain(self.conditions)?.constrain(&[negative])?;
        Ok(if set.is_empty()? { None } else { Some(set.sample()?.unwrap_or_default()) })
    }
}
