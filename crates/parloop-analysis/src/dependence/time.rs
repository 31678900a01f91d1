//! Which of two instances ran first in the kernel as it was created.

use parloop_ir::syntax::TimeStep;
use parloop_isl::{Constraint, IslError};

use super::pair::{Pair, Side};

/// When the first of two instances ran before the second: the alternatives, and the constraints under which both have the same time.
pub(super) struct Comparison {
    pub earlier: Vec<Vec<Constraint>>,
    /// `None` if they never have the same time.
    pub equal: Option<Vec<Constraint>>,
    /// Whether every step could be compared.
    pub is_exact: bool,
}

/// Compares two times, each in the names of one side, step by step.
pub(super) fn compare(
    pair: &Pair<'_, '_, '_>,
    (first_side, first): (Side, &[TimeStep]),
    (second_side, second): (Side, &[TimeStep]),
) -> Result<Comparison, IslError> {
    let mut found = Comparison { earlier: Vec::new(), equal: None, is_exact: true };
    let mut equal: Vec<Constraint> = Vec::new();
    for place in 0..first.len().max(second.len()) {
        let step = |steps: &[TimeStep]| steps.get(place).cloned().unwrap_or(TimeStep::At(0));
        match (step(first), step(second)) {
            (TimeStep::At(a), TimeStep::At(b)) if a == b => {}
            (TimeStep::At(a), TimeStep::At(b)) => {
                if a < b {
                    found.earlier.push(equal);
                }
                return Ok(found);
            }
            (TimeStep::Loop(a), TimeStep::Loop(b)) => {
                let affine = |value| pair.deps.opaque.affine(value);
                let (Some(a), Some(b)) = (affine(&a), affine(&b)) else {
                    found.is_exact = false;
                    found.earlier.push(equal.clone());
                    found.equal = Some(equal);
                    return Ok(found);
                };
                let later = pair.affine(second_side, &b)?.sub(&pair.affine(first_side, &a)?)?;
                if a == b
                    && let Some(digits) = pair.deps.opaque.digits(&a, &pair.is_same_after(first, second, place))
                {
                    let steps: Vec<TimeStep> = digits.iter().cloned().map(TimeStep::Loop).collect();
                    let inner = compare(pair, (first_side, &steps), (second_side, &steps))?;
                    let one = parloop_isl::Affine::constant(1);
                    for digits in inner.earlier {
                        let mut before = [&equal[..], &digits].concat();
                        before.push(Constraint::not_negative(later.sub(&one)?));
                        found.earlier.push(before);
                    }
                    equal.extend(inner.equal.unwrap_or_default());
                    equal.push(Constraint::zero(later));
                    continue;
                }
                match later.as_constant() {
                    Some(0) => {}
                    Some(by) => {
                        if by > 0 {
                            found.earlier.push(equal);
                        }
                        return Ok(found);
                    }
                    None => {
                        let one = parloop_isl::Affine::constant(1);
                        let mut before = equal.clone();
                        before.push(Constraint::not_negative(later.sub(&one)?));
                        found.earlier.push(before);
                        equal.push(Constraint::zero(later));
                    }
                }
            }
            // A loop on one side and an instruction on the other: they are never in one body.
            _ => {
                found.is_exact = false;
                found.earlier.push(equal);
                return Ok(found);
            }
        }
    }
    found.equal = Some(equal);
    Ok(found)
}

/// How many leading steps of two times are identical, if the first is then earlier by its position.
pub(super) fn shared(first: &[TimeStep], second: &[TimeStep]) -> usize {
    first.iter().zip(second).take_while(|(a, b)| a == b).count()
}
