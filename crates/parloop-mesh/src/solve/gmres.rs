//! Generalised minimal residuals, with the preconditioner on the right, so that residuals are those of the system itself.

use super::vectors::Space;
use crate::Result;
use crate::declare::dat::Dat;

pub fn run<W: FnMut(usize, f64) -> bool>(space: &mut Space<'_, W>, x: &Dat, b: &Dat, restart: usize) -> Result<()> {
    let (mut basis, better) = (vec![b.zeros_alike()?], b.zeros_alike()?);
    space.residual(x, b, &basis[0])?;
    let mut norm = space.norm(&basis[0])?;
    let mut goes_on = space.goes_on(norm);
    while goes_on {
        space.scale(&basis[0], 1.0 / norm)?;
        let mut small = Rotated::new(norm);
        for step in 0..restart {
            if basis.len() == step + 1 {
                basis.push(b.zeros_alike()?);
            }
            space.precondition(&basis[step], &better)?;
            space.multiply(&better, &basis[step + 1])?;
            let mut column = Vec::with_capacity(step + 2);
            for before in 0..=step {
                let part = space.dot(&basis[step + 1], &basis[before])?;
                space.add(&basis[step + 1], -part, &basis[before])?;
                column.push(part);
            }
            let left = space.norm(&basis[step + 1])?;
            column.push(left);
            norm = small.push(column);
            goes_on = space.goes_on(norm);
            if left > 0.0 {
                space.scale(&basis[step + 1], 1.0 / left)?;
            }
            if !goes_on || left == 0.0 {
                break;
            }
        }
        let sum = b.zeros_alike()?;
        for (direction, factor) in basis.iter().zip(small.solved()) {
            space.add(&sum, factor, direction)?;
        }
        space.precondition(&sum, &better)?;
        space.add(x, 1.0, &better)?;
        if goes_on {
            space.residual(x, b, &basis[0])?;
            norm = space.norm(&basis[0])?;
            // What rounding left of it is all that there is to gain.
            goes_on = norm > 0.0;
        }
    }
    Ok(())
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
        let (cosine, sine) = if length == 0.0 { (1.0, 0.0) } else { (upper / length, lower / length) };
        (column[last], column[last + 1]) = (length, 0.0);
        let right = self.right[last];
        self.right[last] = cosine * right;
        self.right.push(-sine * right);
        self.rotations.push((cosine, sine));
        self.columns.push(column);
        (sine * right).abs()
    }

    /// The factors of the directions.
    fn solved(&self) -> Vec<f64> {
        let count = self.columns.len();
        let mut factors = vec![0.0; count];
        for row in (0..count).rev() {
            let known: f64 = (row + 1..count).map(|column| self.columns[column][row] * factors[column]).sum();
            let diagonal = self.columns[row][row];
            factors[row] = if diagonal == 0.0 { 0.0 } else { (self.right[row] - known) / diagonal };
        }
        factors
    }
}
