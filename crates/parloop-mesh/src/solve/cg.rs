//! Conjugate gradients. The residual of the recursion drifts away from that of `x`, so that it is recomputed before it is believed; where
//! it is not small enough, the method begins again from it.

use super::recorded::{Recorded, Updated, Vectors};
use super::vectors::Space;
use crate::Result;

/// Where a descent does not gain this factor, only rounding is left.
const GAIN: f64 = 0.5;

pub fn run<W: FnMut(usize, f64) -> bool>(space: &mut Space<'_, W>) -> Result<()> {
    let vectors = Vectors { residual: space.vector()?, direction: space.vector()?, product: space.vector()?, better: space.vector()? };
    let mut norm = space.begin(&vectors.residual)?;
    let (mut goes_on, mut is_first, mut recorded) = (space.goes_on(norm), true, None);
    let mut symmetry = Symmetry::new(space.epsilon());
    while goes_on {
        let start = norm;
        let is_definite = descend(space, &vectors, start, &mut recorded, &mut symmetry)?;
        if !is_definite && is_first && symmetry.holds {
            return Err(space.system.wrong("conjugate gradients need a positive definite matrix, but this one is not; use GMRES"));
        }
        norm = space.residual(&vectors.residual)?;
        goes_on = space.goes_on_from(norm) && is_definite && norm < GAIN * start;
        is_first = false;
        // Some matrices that are not symmetric are solved with nevertheless, as those with rows of an identity that `x` fulfils.
        if !goes_on && !symmetry.holds && space.has_failed() {
            return Err(space.system.wrong("conjugate gradients need a symmetric matrix, but this one is not; use GMRES"));
        }
    }
    Ok(())
}

/// What was seen of the symmetry of the matrix: of two directions that follow one another, each times the product with the other.
struct Symmetry {
    holds: bool,
    seen: usize,
    most: f64,
}

impl Symmetry {
    fn new(epsilon: f64) -> Symmetry {
        Symmetry { holds: true, seen: 0, most: epsilon.sqrt() }
    }

    /// Whether this iteration is looked at: the first ones, and ever fewer later. It costs as much as a few sums.
    fn is_due(&mut self) -> bool {
        self.seen += 1;
        self.seen < 4 || self.seen.is_power_of_two()
    }

    /// Compares two numbers that are equal for a symmetric matrix, but for rounding of numbers of this size.
    fn compare(&mut self, one: f64, other: f64, size: f64) {
        // Numbers that are none say nothing.
        if (one - other).abs() > self.most * size {
            self.holds = false;
        }
    }
}

/// Iterates until the residual of the recursion, which begins with that of `x`, is small enough or cannot be believed any longer. Whether the
/// matrix is positive definite as far as was seen.
///
/// The first iteration is done step by step, and recorded if it is not the only one.
fn descend<W: FnMut(usize, f64) -> bool>(
    space: &mut Space<'_, W>,
    vectors: &Vectors,
    start: f64,
    recorded: &mut Option<Recorded>,
    symmetry: &mut Symmetry,
) -> Result<bool> {
    let Vectors { residual, direction, product, better } = vectors;
    // The squares of a residual of about one neither overflow nor underflow.
    let unit = space.unit(start);
    space.scale(residual, 1.0 / unit)?;
    space.precondition(residual, direction)?;
    let mut energy = space.dot(residual, direction)?;
    space.multiply(direction, product)?;
    let mut curvature = space.dot(direction, product)?;
    loop {
        if curvature <= 0.0 || energy < 0.0 {
            return Ok(false);
        }
        let step = energy / curvature;
        if step == 0.0 || !space.holds(step) || !space.holds(unit * step) {
            return Ok(true);
        }
        let updated = match &*recorded {
            Some(recorded) => recorded.update(space, residual, [unit * step, step])?,
            None => {
                space.add(space.system.x, unit * step, direction)?;
                space.add(residual, -step, product)?;
                let norm = space.norm(residual)?;
                space.precondition(residual, better)?;
                Updated { norm, energy: space.dot(residual, better)? }
            }
        };
        let norm = unit * updated.norm;
        if space.is_last(norm, start) || !space.goes_on(norm) || (!symmetry.holds && space.is_stuck()) {
            return Ok(true);
        }
        let turn = updated.energy / energy;
        energy = updated.energy;
        curvature = match &*recorded {
            Some(recorded) if space.holds(turn) => recorded.turn(turn)?,
            _ => {
                space.scale(direction, turn)?;
                space.add(direction, 1.0, better)?;
                let is_due = symmetry.is_due();
                let before = if is_due { turn * space.dot(direction, product)? } else { 0.0 };
                space.multiply(direction, product)?;
                let curvature = space.dot(direction, product)?;
                if is_due {
                    // The direction before this one, times the factor of the turn, is what `better` leaves of it.
                    let after = curvature - space.dot(better, product)?;
                    symmetry.compare(before, after, space.norm(direction)? * space.norm(product)?);
                }
                curvature
            }
        };
        if recorded.is_none() {
            *recorded = Recorded::new(space, vectors)?;
        }
    }
}
