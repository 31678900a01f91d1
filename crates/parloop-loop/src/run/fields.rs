//! The fields of objects that a kernel uses, and how long the arrays in them must be: the lengths belong to the object and are not in the
//! kernel.

use std::collections::BTreeMap;

use parloop_analysis::access::{Access, accesses, constraints_of};
use parloop_analysis::facts::Facts;
use parloop_analysis::wrap::may_wrap;
use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::fold;
use parloop_ir::syntax::{ArgumentKind, Expr, Instruction, LoopKernel};
use parloop_isl::{Bound, IslError, Name, Set};

use super::RunError;
use super::formula::Formula;

/// A field of an object that a kernel uses.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedField {
    /// The fields that lead there, with dots between them.
    pub path: Name,
    /// Whether the kernel writes to it.
    pub(super) is_written: bool,
    /// How many elements must be there at least: the axis, and the number; from each access that says so.
    pub(super) needed: Vec<(usize, Formula)>,
}

/// The fields that the kernel uses of each object among its arguments, by the name of the argument.
pub(super) fn fields_of(
    kernel: &LoopKernel,
    formula: &dyn Fn(&Expr) -> Option<Formula>,
) -> Result<BTreeMap<Name, Vec<PlannedField>>, RunError> {
    let mut found: BTreeMap<Name, Vec<PlannedField>> = BTreeMap::new();
    if kernel.arguments.iter().all(|argument| argument.kind != ArgumentKind::Object) {
        return Ok(found);
    }
    let facts = Facts::of(kernel);
    for instruction in &kernel.instructions {
        for access in accesses(kernel, instruction) {
            let Some((argument, path)) = access.name.split_once('.').map(|(argument, path)| (Name::from(argument), path)) else { continue };
            if facts.arguments.get(&argument).is_none_or(|argument| argument.kind != ArgumentKind::Object) {
                continue;
            }
            let fields = found.entry(argument).or_default();
            let place = fields.iter().position(|field| field.path == path).unwrap_or_else(|| {
                fields.push(PlannedField { path: path.into(), is_written: false, needed: Vec::new() });
                fields.len() - 1
            });
            fields[place].is_written |= access.write;
            for (axis, length) in needed(&facts, instruction, &access)? {
                let known = &mut fields[place].needed;
                let need = formula(&length).map(|length| (axis, length)).filter(|need| !known.contains(need));
                known.extend(need);
            }
        }
    }
    Ok(found)
}

/// For each axis of which it can be told: one more than the largest index, in terms of the kernel's parameters.
fn needed(facts: &Facts<'_>, instruction: &Instruction, access: &Access<'_>) -> Result<Vec<(usize, Expr)>, RunError> {
    let mut lengths = Vec::new();
    let Some(indices) = access.indices.filter(|indices| !indices.is_empty()) else { return Ok(lengths) };
    let points = points(facts, instruction, access)?;
    if points.params().iter().any(|param| facts.is_computed(param)) {
        return Ok(lengths);
    }
    let value = Name::from("_index");
    for (axis, index) in indices.iter().enumerate() {
        let Some(index) = to_affine(index) else { continue };
        let is_known = |name: &Name| points.has_dim(name) || is_number(facts, name);
        if !index.names().iter().all(is_known) {
            continue;
        }
        let upper =
            points.add_params(&index.names().into_iter().collect::<Vec<_>>()).image(&[(value.clone(), index)])?.bounds(&value)?.upper;
        let upper: Vec<Expr> = upper.iter().map(beyond).collect::<Result<_, _>>()?;
        match upper.as_slice() {
            [] => {}
            [only] => lengths.push((axis, only.clone())),
            _ => lengths.push((axis, Expr::Min(upper.into()))),
        }
    }
    Ok(lengths)
}

/// The points at which an access is made.
fn points(facts: &Facts<'_>, instruction: &Instruction, access: &Access<'_>) -> Result<Set, RunError> {
    let domain = facts.domain(instruction.within_inames.iter().chain(access.swept))?.join(&facts.kernel.assumptions)?;
    let mut conditions = Vec::new();
    for (condition, value) in &access.conditions {
        if !may_wrap(facts, condition, &domain)? {
            constraints_of(condition, *value, &mut conditions);
        }
    }
    conditions.retain(|constraint| constraint.affine.names().iter().all(|name| domain.has_dim(name) || is_number(facts, name)));
    Ok(domain.constrain(&conditions)?)
}

/// An argument that is an integer.
fn is_number(facts: &Facts<'_>, name: &Name) -> bool {
    facts.arguments.contains_key(name) && facts.is_integer(name)
}

/// The first number beyond an upper limit.
fn beyond(bound: &Bound) -> Result<Expr, IslError> {
    let raised = bound.affine.add(&parloop_isl::Affine::constant(bound.divisor))?;
    Ok(fold::floor_divide(from_affine(&raised), Expr::int(bound.divisor)))
}
