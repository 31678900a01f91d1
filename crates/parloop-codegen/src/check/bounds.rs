//! Bounds checks of indices: proved on the domains, or left for later.
//!
//! Most indices follow directly from a constraint of the domain or from constant bounds; the solver decides the rest. Affine indices that
//! depend on numbers unrelated to the loops are checked in each call; others, among them all that are read from memory, computed by the
//! kernel, or bounded by such values, are checked as the kernel runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_analysis::access::{Access, accesses, constraints_of, gaps_of};
use parloop_analysis::facts::Facts;
use parloop_analysis::wrap::may_wrap;
use parloop_ir::fold;
use parloop_ir::layout::{Axis, length_parameter};
use parloop_ir::syntax::{Argument, ArgumentKind, Expr, Instruction, Layout, Type};
use parloop_isl::{Affine, Atom, Constraint, Name, Set};

use super::CheckError;
use super::linear::{Cases, is_whole};

/// The remaining index checks of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// What each call checks, before anything runs.
    pub in_calls: Vec<CallBound>,
    /// The accesses to check at run time, with their axes.
    pub in_kernel: BTreeMap<Expr, BTreeSet<usize>>,
}

/// An index that is in bounds for some numbers of a call and out of bounds for others.
#[derive(Clone, Debug, PartialEq)]
pub struct CallBound {
    /// As written in the instruction.
    pub access: String,
    /// The instruction.
    pub instruction: Name,
    /// The axis, counted from 0.
    pub axis: usize,
    /// The index.
    pub index: Affine,
    /// The length of the axis; `None` where only negative indices are asked for.
    pub length: Option<Affine>,
    /// The numbers for which the index is out of bounds somewhere: a set without dimensions.
    pub outside: Set,
    /// Where it is.
    pub points: Set,
}

/// Proves what can be proved; `is_called` means that the host calls the kernel, so that it can check numbers first.
pub(super) fn check(facts: &Facts<'_>, is_called: bool) -> Result<Bounds, CheckError> {
    let mut found = Bounds::default();
    let mut domains: HashMap<Vec<Name>, Set> = HashMap::new();
    for instruction in &facts.kernel.instructions {
        for access in accesses(facts.kernel, instruction) {
            let Some(expr) = access.expr else { continue };
            let Some(sides) = sides(facts, instruction, &access)? else { continue };
            let mut inames: Vec<Name> = instruction.within_inames.iter().chain(access.swept).cloned().collect();
            let mut domain = domain_of(facts, &mut domains, &inames)?;
            // A loop whose limits are data may have no iterations.
            let mut is_exact = !is_computed(facts, &domain);
            if !is_exact {
                // Only the loops that the index uses matter.
                inames.retain(|iname| sides.iter().any(|(index, _)| index.variables().contains(iname)));
                // Their values are unknown, and may change from one loop to the next.
                domain = domain_of(facts, &mut domains, &inames)?.without(&|name| facts.is_computed(name));
            }
            let mut conditions = access.conditions.clone();
            for &(condition, _) in &access.conditions {
                if may_wrap(facts, condition, &domain)? {
                    conditions.retain(|(other, _)| *other != condition);
                    is_exact = false;
                }
            }
            let place = InstructionAccess { facts, instruction, access: &access, conditions, is_called, is_exact };
            let axes = place.check(&domain, &sides, &mut found.in_calls)?;
            if !axes.is_empty() {
                found.in_kernel.entry(expr.clone()).or_default().extend(axes);
            }
        }
    }
    Ok(found)
}

fn domain_of(facts: &Facts<'_>, known: &mut HashMap<Vec<Name>, Set>, inames: &[Name]) -> Result<Set, CheckError> {
    if let Some(domain) = known.get(inames) {
        return Ok(domain.clone());
    }
    let domain = facts.domain(inames)?;
    known.insert(inames.to_vec(), domain.clone());
    Ok(domain)
}

/// Whether bounds are computed in the kernel.
fn is_computed(facts: &Facts<'_>, domain: &Set) -> bool {
    domain.params().iter().any(|param| facts.is_computed(param))
}

/// An index, and the length that it must stay below; for a field, each call knows it.
type Side = (Expr, Option<Expr>);

/// Each index of an access with the length that it must stay below; `None` where there is nothing to check.
fn sides(facts: &Facts<'_>, instruction: &Instruction, access: &Access<'_>) -> Result<Option<Vec<Side>>, CheckError> {
    if let Some(Expr::LinearSubscript(_, index)) = access.expr {
        let size = layout_of(facts, &access.name).and_then(|layout| span(layout, &access.name));
        return Ok(size.map(|size| vec![((**index).clone(), Some(size))]));
    }
    let Some(indices) = access.indices.filter(|indices| !indices.is_empty()) else { return Ok(None) };
    let Some(layout) = layout_of(facts, &access.name) else {
        // Each call knows the length of a field of an object.
        let field = is_field(facts, &access.name).then(|| indices.iter().map(|index| (index.clone(), None)).collect());
        return Ok(field);
    };
    let lengths = lengths_of(layout, &access.name);
    if lengths.len() != indices.len() {
        return Err(wrong_rank(instruction, access, indices.len(), lengths.len()));
    }
    Ok(Some(indices.iter().cloned().zip(lengths.into_iter().map(Some)).collect()))
}

fn wrong_rank(instruction: &Instruction, access: &Access<'_>, found: usize, expected: usize) -> CheckError {
    let (instruction, array) = (instruction.id.clone(), access.name.clone());
    CheckError::WrongRank { access: text(access), instruction, array, found, expected }
}

fn text(access: &Access<'_>) -> String {
    access.expr.map_or_else(|| access.name.to_string(), ToString::to_string)
}

/// Whether the name is that of a field of an object, `p.x`.
fn is_field(facts: &Facts<'_>, name: &Name) -> bool {
    let object = name.split_once('.').and_then(|(object, _)| facts.arguments.get(&Name::from(object)));
    object.is_some_and(|argument| argument.kind == ArgumentKind::Object)
}

fn layout_of<'k>(facts: &Facts<'k>, name: &Name) -> Option<&'k Layout> {
    match facts.kernel.temporaries.get(name) {
        Some(temporary) => Some(&temporary.layout),
        None => match &facts.arguments.get(name)?.kind {
            ArgumentKind::Array { layout, .. } => Some(layout),
            _ => None,
        },
    }
}

/// The lengths of the axes; those that the kernel does not know are what each call finds.
fn lengths_of(layout: &Layout, name: &Name) -> Vec<Expr> {
    match layout.lengths() {
        Some(lengths) => lengths.to_vec(),
        None => layout.unknown_lengths(name).into_iter().map(Expr::var).collect(),
    }
}

/// How many elements an array takes, from its beginning to its last; `None` for what has no memory of its own.
pub(crate) fn span(layout: &Layout, name: &Name) -> Option<Expr> {
    if layout.lengths().is_some() {
        return layout.size(name).ok();
    }
    let Ok(axes) = layout.axes(name) else { return Some(Expr::var(length_parameter(name, 0))) };
    let mut size = Expr::int(1);
    for (axis, length) in axes.into_iter().zip(layout.unknown_lengths(name)) {
        let Axis::Stride(stride) = axis else { return None };
        let last = fold::subtract(Expr::var(length), Expr::int(1));
        size = fold::add(size, fold::multiply(stride, last));
    }
    Some(size)
}

/// Whether each call knows the number: an argument, or what it finds of an array.
fn is_number_of_calls(facts: &Facts<'_>, name: &Name) -> bool {
    let is_found = |argument: &Argument| match &argument.kind {
        ArgumentKind::Array { layout, .. } => {
            let lengths = layout.unknown_lengths(&argument.name);
            lengths.contains(name) || layout.hidden_parameters(&argument.name).iter().any(|(hidden, _)| hidden == name)
        }
        _ => false,
    };
    facts.arguments.contains_key(name) || facts.kernel.arguments.iter().any(is_found)
}

/// One access in an instruction.
struct InstructionAccess<'a, 'k> {
    facts: &'a Facts<'k>,
    instruction: &'a Instruction,
    access: &'a Access<'k>,
    /// Those of its conditions that are evaluated exactly.
    conditions: Vec<(&'k Expr, bool)>,
    /// Whether the host calls the kernel.
    is_called: bool,
    /// Whether the access happens at all points of the domain, as far as its conditions hold.
    is_exact: bool,
}

impl InstructionAccess<'_, '_> {
    /// The axes whose indices the kernel has to check as it runs.
    fn check(&self, domain: &Set, sides: &[Side], in_calls: &mut Vec<CallBound>) -> Result<BTreeSet<usize>, CheckError> {
        let facts = self.facts;
        let is_known =
            |name: &Name| domain.has_dim(name) || domain.params().contains(name) || facts.kernel.assumptions.params().contains(name);
        let is_usable = |name: &Name| is_known(name) || facts.arguments.contains_key(name) && facts.is_integer(name);
        let mut conditions = Vec::new();
        for (condition, value) in &self.conditions {
            constraints_of(condition, *value, &mut conditions);
        }
        conditions.retain(|constraint| constraint.affine.names().iter().all(|name| is_usable(name) && facts.is_integer(name)));
        let named: BTreeSet<Name> = conditions.iter().flat_map(|constraint| constraint.affine.names()).collect();
        let mut gaps = Vec::new();
        for (condition, value) in &self.conditions {
            gaps_of(condition, *value, &mut gaps);
        }
        gaps.retain(|gap| gap.names().iter().all(|name| is_usable(name) && facts.is_integer(name)));
        gaps.truncate(MOST_GAPS);
        let known = AccessDomain { facts, domain, conditions: &conditions, gaps: &gaps };
        let is_exact = self.is_exact && self.conditions.iter().all(|(condition, value)| is_whole(facts, condition, *value));
        let mut in_kernel = BTreeSet::new();
        for (axis, (index, length)) in sides.iter().enumerate() {
            if self.is_data(index) {
                in_kernel.insert(axis);
                continue;
            }
            let mut cases = Cases::new(facts);
            let affine = cases.affine(index);
            // The last index of a field, each call compares with the field's length, if it is affine and the call knows both.
            if length.is_none() && !(cases.is_plain() && self.is_exact && self.has_one_length(axis)) {
                in_kernel.insert(axis);
            }
            let limit = length.as_ref().map(|length| cases.affine(length));
            cases.relate(|expr, cases| known.follows(expr, cases))?;
            let room = match &limit {
                Some(limit) => Some(limit.sub(&affine)?.sub(&Affine::constant(1))?),
                None => None,
            };
            for inside in [Some(&affine), room.as_ref()].into_iter().flatten() {
                if known.proves(inside) {
                    continue;
                }
                if !cases.is_plain() {
                    if !known.follows(inside, &cases)? {
                        in_kernel.insert(axis);
                    }
                    continue;
                }
                let Some(outside) = known.outside(inside)? else { continue };
                let names = limit.iter().flat_map(Affine::names).chain(affine.names()).collect::<BTreeSet<Name>>();
                if self.is_exact && names.iter().all(|name| is_known(name) || named.contains(name)) {
                    let point = outside.sample()?.unwrap_or_default();
                    return Err(self.out_of_bounds(axis, (&affine, limit.as_ref()), &point));
                }
                match self.in_calls(&outside).filter(|_| is_exact) {
                    Some(numbers) => in_calls.push(CallBound {
                        access: text(self.access),
                        instruction: self.instruction.id.clone(),
                        axis,
                        index: affine.clone(),
                        length: limit.clone(),
                        outside: numbers,
                        points: outside,
                    }),
                    None => drop(in_kernel.insert(axis)),
                }
            }
        }
        Ok(in_kernel)
    }

    /// Whether a field has one length along the axis: there may be another for each index in front of it.
    fn has_one_length(&self, axis: usize) -> bool {
        let class = self.access.name.split_once('.').and_then(|(object, path)| {
            let argument = self.facts.arguments.get(&Name::from(object))?;
            let Some(Type::Class(class)) = &argument.ty else { return None };
            class.fields().get(path)
        });
        class.and_then(|field| field.axes.get(axis)).is_some_and(|axis| axis.indices == 0)
    }

    /// Whether an index is read from memory, or is what the kernel computes.
    fn is_data(&self, index: &Expr) -> bool {
        index.any(&mut |part| match part {
            Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::Lookup(..) | Expr::SubArray(_) => true,
            Expr::Variable(name) => self.facts.is_computed(name),
            _ => false,
        })
    }

    /// The numbers of a call with which there is one of these points, if the host knows them all.
    fn in_calls(&self, outside: &Set) -> Option<Set> {
        if !self.is_called || self.facts.kernel.options.is_checked() {
            return None;
        }
        let numbers = outside.project_onto(&[]).ok()?;
        numbers.used_params().iter().all(|name| is_number_of_calls(self.facts, name)).then_some(numbers)
    }

    fn out_of_bounds(&self, axis: usize, (index, length): (&Affine, Option<&Affine>), point: &BTreeMap<Name, i64>) -> CheckError {
        let value = index.evaluate(&|name| point.get(name).copied()).unwrap_or_default();
        let names: BTreeSet<Name> = length.into_iter().flat_map(Affine::names).chain(index.names()).collect();
        let point = names.into_iter().filter_map(|name| point.get(&name).map(|&value| (name.clone(), value))).collect();
        let (access, instruction) = (text(self.access), self.instruction.id.clone());
        match length {
            Some(length) => CheckError::OutOfBounds { access, instruction, axis, length: length.to_string(), value, point },
            None => CheckError::NegativeIndex { access, instruction, axis, value, point },
        }
    }
}

/// What holds where an access happens.
struct AccessDomain<'a, 'k> {
    facts: &'a Facts<'k>,
    domain: &'a Set,
    conditions: &'a [Constraint],
    /// What is not 0.
    gaps: &'a [Affine],
}

/// Each gap may double the cases.
const MOST_GAPS: usize = 4;

impl AccessDomain<'_, '_> {
    /// Whether the expression is obviously not negative.
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

    /// The points at which the expression is negative, if there are any.
    fn outside(&self, expr: &Affine) -> Result<Option<Set>, CheckError> {
        let negative = Constraint::not_negative(expr.scale(-1)?.sub(&Affine::constant(1))?);
        let mut set = self.domain.join(&self.facts.kernel.assumptions)?.constrain(self.conditions)?.constrain(&[negative])?;
        for gap in self.gaps {
            let above = set.constrain(&[Constraint::not_negative(gap.sub(&Affine::constant(1))?)])?;
            let below = set.constrain(&[Constraint::not_negative(gap.scale(-1)?.sub(&Affine::constant(1))?)])?;
            set = above.union(&below)?;
        }
        Ok(if set.is_empty()? { None } else { Some(set) })
    }

    /// Whether the expression is not negative in any of the cases.
    fn follows(&self, expr: &Affine, cases: &Cases<'_, '_>) -> Result<bool, CheckError> {
        let Some(outside) = self.outside(expr)? else { return Ok(true) };
        for case in &cases.all {
            if !outside.constrain(case)?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
