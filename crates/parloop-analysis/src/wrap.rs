//! Whether conditions are evaluated exactly. Proofs are about integers without limits; kernels compute in types that wrap around.

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{BinaryOp, Expr, UnaryOp};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use crate::facts::Facts;

/// Whether a number that a condition computes from arguments may wrap around at a point of the domain, so that the condition proves
/// nothing. Calls check what is computed from inames alone.
///
/// # Errors
/// A question about the domain that has no answer.
pub fn may_wrap(facts: &Facts<'_>, condition: &Expr, domain: &Set) -> Result<bool, IslError> {
    for (value, arguments) in computed(facts, condition) {
        if !stays_below_one(&value, &arguments, facts, domain)? && !fits(&value, facts, domain)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Constraints under which nothing that a condition computes from arguments wraps around; there may be other points at which nothing does.
///
/// # Errors
/// Numbers that are too large.
pub fn exact_where(facts: &Facts<'_>, condition: &Expr) -> Result<Vec<Constraint>, IslError> {
    let mut found = Vec::new();
    for (value, _) in computed(facts, condition) {
        let mut limits = (-WIDE, WIDE);
        for name in value.names() {
            let (least, most) = range(facts, &name).unwrap_or((if is_unsigned(facts, &name) { 0 } else { -WIDE }, WIDE));
            limits = (limits.0.max(least), limits.1.min(most));
            found.extend(between(&Affine::name(name), (least, most))?);
        }
        found.extend(between(&value, limits)?);
    }
    Ok(found)
}

/// Numbers of 64 bits up to this one are looked at, which the solver computes with easily.
const WIDE: i64 = 1 << 40;

/// What a condition computes from arguments, as far as it is affine, and these arguments. What is not affine is part of no proof.
fn computed(facts: &Facts<'_>, condition: &Expr) -> Vec<(Affine, Vec<Name>)> {
    let mut found = Vec::new();
    condition.any(&mut |part| {
        if is_arithmetic(part) {
            let arguments: Vec<Name> = part.variables().into_iter().filter(|name| facts.arguments.contains_key(name)).collect();
            found.extend(to_affine(part).filter(|_| !arguments.is_empty()).map(|value| (value, arguments)));
        }
        false
    });
    found
}

fn is_arithmetic(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, ..) => !matches!(op, BinaryOp::And | BinaryOp::Or),
        Expr::Chain(_) => true,
        Expr::Unary(op, _) => *op == UnaryOp::Negate,
        _ => false,
    }
}

/// Whether the value is one of the arguments less something, and not negative, as `n - 1 - i` is where `0 <= i < n`.
fn stays_below_one(value: &Affine, arguments: &[Name], facts: &Facts<'_>, domain: &Set) -> Result<bool, IslError> {
    let points = domain.join(&facts.kernel.assumptions)?;
    let holds = |expr: &Affine| points.constrain(&[negative(expr)?])?.is_empty();
    if !holds(value)? {
        return Ok(false);
    }
    for argument in arguments {
        if holds(&Affine::name(argument.clone()).sub(value)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the value fits the types of all names in it, which it is computed in one of.
fn fits(value: &Affine, facts: &Facts<'_>, domain: &Set) -> Result<bool, IslError> {
    let mut points = domain.join(&facts.kernel.assumptions)?;
    let mut limits: Option<(i64, i64)> = None;
    for name in value.names() {
        let Some((least, most)) = range(facts, &name) else { return Ok(false) };
        let (low, high) = limits.unwrap_or((least, most));
        limits = Some((low.max(least), high.min(most)));
        points = points.constrain(&between(&Affine::name(name), (least, most))?)?;
    }
    let Some((least, most)) = limits else { return Ok(true) };
    let below = points.constrain(&[negative(&value.sub(&Affine::constant(least))?)?])?;
    let above = points.constrain(&[negative(&Affine::constant(most).sub(value)?)?])?;
    Ok(below.is_empty()? && above.is_empty()?)
}

fn negative(expr: &Affine) -> Result<Constraint, IslError> {
    Ok(Constraint::not_negative(expr.scale(-1)?.sub(&Affine::constant(1))?))
}

fn between(expr: &Affine, (least, most): (i64, i64)) -> Result<[Constraint; 2], IslError> {
    let (above, below) = (expr.sub(&Affine::constant(least))?, Affine::constant(most).sub(expr)?);
    Ok([Constraint::not_negative(above), Constraint::not_negative(below)])
}

/// The type of an argument, or of another integer of the kernel.
fn type_of(facts: &Facts<'_>, name: &Name) -> DType {
    facts.arguments.get(name).and_then(|argument| argument.ty.as_ref()?.scalar()).unwrap_or(facts.kernel.index_type)
}

/// The numbers of the type of a name, if that has at most 32 bits.
fn range(facts: &Facts<'_>, name: &Name) -> Option<(i64, i64)> {
    let dtype = type_of(facts, name);
    let (least, most) = dtype.integer_range().filter(|_| dtype.size() <= 4)?;
    Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
}

fn is_unsigned(facts: &Facts<'_>, name: &Name) -> bool {
    type_of(facts, name).integer_range().is_some_and(|(least, _)| least == 0)
}
