//! Generalised minimal residuals, with the preconditioner on the right, so that residuals are those of the system itself. Those inside of a
//! cycle are estimates; at its end the residual of `x` is computed.

use super::vectors::Space;
use crate::Result;
use crate::declare::dat::Dat;

/// Where a cycle does not gain this factor, neither would the next.
const GAIN: f64 = 0.999;

pub fn run<W: FnMut(usize, f64) -> bool>(space: &mut Space<'_, W>, restart: usize) -> Result<()> {
    let (mut basis, sum, better) = (vec![space.vector()?], space.vector()?, space.vector()?);
    let mut norm = space.begin(&basis[0])?;
    let mut goes_on = space.goes_on(norm);
    while goes_on {
        let start = norm;
        let factors = cycle(space, &mut basis, &better, start, restart)?;
        if factors.iter().all(|&factor| space.holds(factor)) {
            space.clear(&sum)?;
            for (direction, factor) in basis.iter().zip(factors) {
                space.add(&sum, factor, direction)?;
            }
            space.precondition(&sum, &better)?;
            space.add(space.system.x, 1.0, &better)?;
        }
        norm = space.residual(&basis[0])?;
        goes_on = space.goes_on_from(norm) && norm < GAIN * start;
    }
    Ok(())
}

/// Builds directions from the residual in `basis[0]`, at most `restart` of them; the factors of their sum that leaves the least residual.
fn cycle<W: FnMut(usize, f64) -> bool>(
    space: &mut Space<'_, W>,
    basis: &mut Vec<Vec<Dat>>,
    better: &[Dat],
    start: f64,
    restart: usize,
) -> Result<Vec<f64>> {
    // In two steps: one by a small number may be beyond the type.
    let unit = space.unit(start);
    space.scale(&basis[0], 1.0 / unit)?;
    space.scale(&basis[0], unit / start)?;
    let mut small = Rotated::new(start);
    for step in 0..restart {
        if basis.len() == step + 1 {
            basis.push(space.vector()?);
        }
        space.precondition(&basis[step], better)?;
        space.multiply(better, &basis[step + 1])?;
        let mut column = Vec::with_capacity(step + 2);
        for before in 0..=step {
            let part = space.dot(&basis[step + 1], &basis[before])?;
            if !space.holds(part) {
                return Ok(small.factors(space.epsilon()));
            }
            space.add(&basis[step + 1], -part, &basis[before])?;
            column.push(part);
        }
        let left = space.norm(&basis[step + 1])?;
        column.push(left);
        let whole = column.iter().fold(0.0, |whole: f64, part| whole.hypot(*part));
        let estimate = small.push(column);
        // What rounding leaves of a product that lies in the span of the directions is not one more.
        let is_new = left > space.epsilon() * whole && space.holds(1.0 / left);
        if !is_new || step + 1 == restart || space.is_last(estimate, start) || !space.goes_on(estimate) {
            break;
        }
        space.scale(&basis[step + 1], 1.0 / left)?;
    }
    Ok(small.factors(space.epsilon()))
}

/// The small least squares problem, made triangular by rotations.
struct Rotated {
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl Rotated {
    fn new(norm: f64) -> Rotated {
        Rotated { columns: Vec::new(), rotations: Vec::new(), right: vec![norm] }
    }

    /// Takes one more column; the norm of what is left.
    fn push(&mut self, mut column: Vec<f64>) -> f64 {
        for (row, &(cosine, sine)) in self.rotations.iter().enumerate() {
            let (upper, lower) = (column[row], column[row + 1]);
            (column[row], column[row + 1]) = (cosine * upper + sine * lower, cosine * lower - sine * upper);
        }
        let last = column.len() - 2;
        let (upper, lower) = (column[last], column[last + 1]);
        let length = upper.hypot(lower);
        // A column of zeros leaves all that there was.
        let (cosine, sine) = if length == 0.0 { (0.0, 1.0) } else { (upper / length, lower / length) };
        (column[last], column[last + 1]) = (length, 0.0);
        let right = self.right[last];
        self.right[last] = cosine * right;
        self.right.push(-sine * right);
        self.rotations.push((cosine, sine));
        self.columns.push(column);
        (sine * right).abs()
    }

    /// The factors of the directions; none for those that add only rounding, as where the matrix is singular.
    fn factors(&self, epsilon: f64) -> Vec<f64> {
        let count = self.columns.len();
        let largest = (0..count).map(|row| self.columns[row][row]).fold(0.0, f64::max);
        let least = 100.0 * epsilon * largest;
        let mut factors = vec![0.0; count];
        for row in (0..count).rev() {
            let known: f64 = (row + 1..count).map(|column| self.columns[column][row] * factors[column]).sum();
            let diagonal = self.columns[row][row];
            factors[row] = if diagonal <= least { 0.0 } else { (self.right[row] - known) / diagonal };
        }
        factors
    }
}
