//! Constraints under which two instances differ, or agree, in some of their values.

use parloop_ir::syntax::TimeStep;
use parloop_isl::{Affine, Constraint, IslError, Name};

use super::pair::Pair;
use super::violation::Cause;

/// The constraints under which two instances lose their order, and the cause.
pub(super) type OrderLoss = (Vec<Constraint>, Cause);

/// `second - first` of an iname.
pub(super) fn difference(pair: &Pair<'_, '_, '_>, iname: &Name) -> Result<Affine, IslError> {
    pair.difference(&Affine::name(iname.clone()), &Affine::name(iname.clone()))
}

/// Adds `equal and positive > 0` for each of the expressions that can be positive.
pub(super) fn push_if_possible(
    ways: &mut Vec<OrderLoss>,
    equal: &[Constraint],
    positive: &[Affine],
    cause: impl Fn() -> Cause,
) -> Result<(), IslError> {
    for affine in positive {
        if affine.as_constant().is_none_or(|value| value > 0) {
            let mut way = equal.to_vec();
            way.push(Constraint::not_negative(affine.sub(&Affine::constant(1))?));
            ways.push((way, cause()));
        }
    }
    Ok(())
}

pub(super) fn push_equal(equal: &mut Vec<Constraint>, difference: Affine) {
    if difference.as_constant() != Some(0) {
        equal.push(Constraint::zero(difference));
    }
}

/// The constraints under which two times differ in one of their loops: the alternatives.
pub(super) fn differ(pair: &Pair<'_, '_, '_>, first: &[TimeStep], second: &[TimeStep]) -> Result<Vec<Vec<Constraint>>, IslError> {
    let mut ways: Vec<OrderLoss> = Vec::new();
    for (one, other) in first.iter().zip(second) {
        let (TimeStep::Loop(one), TimeStep::Loop(other)) = (one, other) else { continue };
        match (pair.deps.opaque.affine(one), pair.deps.opaque.affine(other)) {
            (Some(one), Some(other)) => {
                let later = pair.difference(&one, &other)?;
                push_if_possible(&mut ways, &[], &[later.clone(), later.scale(-1)?], || Cause::Placed)?;
            }
            _ => ways.push((Vec::new(), Cause::Placed)),
        }
    }
    Ok(ways.into_iter().map(|(constraints, _)| constraints).collect())
}

/// The constraints under which two times agree in their leading steps; `None` if they never do.
pub(super) fn agree(
    pair: &Pair<'_, '_, '_>,
    first: &[TimeStep],
    second: &[TimeStep],
    depth: usize,
) -> Result<Option<Vec<Constraint>>, IslError> {
    let mut equal = Vec::new();
    for (one, other) in first.iter().zip(second).take(depth) {
        match (one, other) {
            (TimeStep::Loop(one), TimeStep::Loop(other)) => {
                if let (Some(one), Some(other)) = (pair.deps.opaque.affine(one), pair.deps.opaque.affine(other)) {
                    push_equal(&mut equal, pair.difference(&one, &other)?);
                }
            }
            (one, other) if one == other => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(equal))
}
