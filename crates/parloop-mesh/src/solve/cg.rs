//! Conjugate gradients.

use super::vectors::Space;
use super::wrong;
use crate::Result;
use crate::declare::dat::Dat;

pub fn run<W: FnMut(usize, f64) -> bool>(space: &mut Space<'_, W>, x: &Dat, b: &Dat) -> Result<()> {
    let [residual, direction, product, better] = [b.zeros_alike()?, b.zeros_alike()?, b.zeros_alike()?, b.zeros_alike()?];
    space.residual(x, b, &residual)?;
    let mut norm = space.norm(&residual)?;
    space.precondition(&residual, &direction)?;
    let mut energy = space.dot(&residual, &direction)?;
    while space.goes_on(norm) {
        space.multiply(&direction, &product)?;
        let curvature = space.dot(&direction, &product)?;
        if curvature <= 0.0 {
            return Err(wrong(space.mat, "conjugate gradients need a positive definite matrix, and it is not; use GMRES"));
        }
        let step = energy / curvature;
        space.add(x, step, &direction)?;
        space.add(&residual, -step, &product)?;
        norm = space.norm(&residual)?;
        space.precondition(&residual, &better)?;
        let next = space.dot(&residual, &better)?;
        space.scale(&direction, next / energy)?;
        space.add(&direction, 1.0, &better)?;
        energy = next;
    }
    Ok(())
}
