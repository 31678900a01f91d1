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
    let mut computed = Vec::new();
    condition.any(&mut |part| {
        if is_arithmetic(part) {
            computed.push(part.clone());
        }
        false
    });
    for part in &computed {
        let arguments: Vec<Name> = part.variables().into_iter().filter(|name| facts.arguments.contains_key(name)).collect();
        if arguments.is_empty() {
            continue;
        }
        // What is not affine is part of no proof.
        let Some(value) = to_affine(part) else { continue };
        if !stays_below_one(&value, &arguments, facts, domain)? && !fits(&value, facts, domain)? {
            return Ok(true);
        }
    }
    Ok(false)
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
        let dtype = facts.arguments.get(&name).and_then(|argument| argument.ty.as_ref()?.scalar()).unwrap_or(facts.kernel.index_type);
        let Some((least, most)) = range(dtype) else { return Ok(false) };
        let (low, high) = limits.unwrap_or((least, most));
        limits = Some((low.max(least), high.min(most)));
        let name = Affine::name(name);
        points = points.constrain(&[
            Constraint::not_negative(name.sub(&Affine::constant(least))?),
            Constraint::not_negative(Affine::constant(most).sub(&name)?),
        ])?;
    }
    let Some((least, most)) = limits else { return Ok(true) };
    let below = points.constrain(&[negative(&value.sub(&Affine::constant(least))?)?])?;
    let above = points.constrain(&[negative(&Affine::constant(most).sub(value)?)?])?;
    Ok(below.is_empty()? && above.is_empty()?)
}

fn negative(expr: &Affine) -> Result<Constraint, IslError> {
    Ok(Constraint::not_negative(expr.scale(-1)?.sub(&Affine::constant(1))?))
}

/// The numbers of an integer type of at most 32 bits.
fn range(dtype: DType) -> Option<(i64, i64)> {
    let (least, most) = dtype.integer_range().filter(|_| dtype.size() <= 4)?;
    Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
}
