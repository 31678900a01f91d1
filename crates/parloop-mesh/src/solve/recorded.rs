//! An iteration of conjugate gradients on a device with memory of its own, recorded once and replayed. What the host decides stays with it:
//! it reads the sums between the two halves, and writes the factors that these read.

use parloop_device::{DType, DeviceKind};
use parloop_kernel::{Context, Replay};

use super::vectors::Space;
use crate::Result;
use crate::arithmetic::{Operand, Operation, Rounding};
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::storage::Storage;

/// What conjugate gradients go on with.
pub struct Vectors {
    pub residual: Vec<Dat>,
    pub direction: Vec<Dat>,
    pub product: Vec<Dat>,
    pub better: Vec<Dat>,
}

/// The halves of an iteration, and the numbers that go between them and the host.
pub struct Recorded {
    /// `x += step * direction`, `residual += back * product`, `better = M residual`, and the sums of the residual.
    update: Replay,
    /// `direction = turn * direction + better`, `product = A direction`, and their sum.
    turn: Replay,
    factors: [Global; 3],
    squares: Vec<Global>,
    energies: Vec<Global>,
    curvatures: Vec<Global>,
}

/// What the residual is after an update.
pub struct Updated {
    /// Its norm.
    pub norm: f64,
    /// Its product with what the preconditioner makes of it.
    pub energy: f64,
}

impl Recorded {
    /// Records an iteration; `None` where that gains nothing or some numbers are elsewhere.
    pub fn new<W: FnMut(usize, f64) -> bool>(space: &Space<'_, W>, vectors: &Vectors) -> Result<Option<Recorded>> {
        let (context, dtype) = (space.context(), space.system.dtype());
        let Vectors { residual, direction, product, better } = vectors;
        let all = [space.system.x, residual, direction, product, better].into_iter().flatten().chain(space.inverse());
        if context.device().kind() == DeviceKind::Cpu
            || !all.into_iter().all(|dat| is_on(dat, context) && dat.dataset().set().halo().is_none())
        {
            return Ok(None);
        }
        let global = |name: &str| Global::around(1, Storage::zeros(dtype, 1, 1)?, name, false);
        let globals = |name: &str| residual.iter().map(|_| global(name)).collect::<Result<Vec<Global>>>();
        let factors = [global("step")?, global("back")?, global("turn")?];
        let (squares, energies, curvatures) = (globals("square")?, globals("energy")?, globals("curvature")?);
        let [step, back, turning] = &factors;
        let recording = context.recording()?;
        multiples(space.system.x, step, direction, context)?;
        multiples(residual, back, product, context)?;
        sums(residual, residual, &squares, context)?;
        space.precondition(residual, better)?;
        sums(residual, better, &energies, context)?;
        let update = recording.finish()?;
        let recording = context.recording()?;
        for direction in direction {
            direction.update(Operation::Multiply, Operand::Global(turning), Rounding::Refuse, context)?;
        }
        space.add(direction, 1.0, better)?;
        space.multiply(direction, product)?;
        sums(direction, product, &curvatures, context)?;
        let turn = recording.finish()?;
        Ok(Some(Recorded { update, turn, factors, squares, energies, curvatures }))
    }

    /// Goes a step along the direction: `step` for `x`, `-back` for the residual.
    pub fn update<W: FnMut(usize, f64) -> bool>(&self, space: &Space<'_, W>, residual: &[Dat], [step, back]: [f64; 2]) -> Result<Updated> {
        write(&self.factors[0], step)?;
        write(&self.factors[1], -back)?;
        self.update.run()?;
        let mut norm = 0f64;
        for (square, part) in self.squares.iter().zip(residual) {
            norm = norm.hypot(part.norm_by_square(read(square)?, space.context())?);
        }
        Ok(Updated { norm, energy: total(&self.energies)? })
    }

    /// Turns the direction; the product of the next one with what the matrix makes of it.
    pub fn turn(&self, factor: f64) -> Result<f64> {
        write(&self.factors[2], factor)?;
        self.turn.run()?;
        total(&self.curvatures)
    }
}

/// Whether arithmetic with the data is done on the context.
fn is_on(dat: &Dat, context: &Context) -> bool {
    dat.storage().newest().is_some_and(|newest| newest.is_same(context))
}

fn multiples(to: &[Dat], factor: &Global, of: &[Dat], context: &Context) -> Result<()> {
    to.iter().zip(of).try_for_each(|(to, of)| to.axpy(Operand::Global(factor), of, context))
}

fn sums(one: &[Dat], other: &[Dat], sums: &[Global], context: &Context) -> Result<()> {
    one.iter().zip(other).zip(sums).try_for_each(|((one, other), sum)| one.inner_to(other, sum, context))
}

fn write(global: &Global, number: f64) -> Result<()> {
    match global.dtype() {
        DType::F32 => global.write(&[number as f32]),
        _ => global.write(&[number]),
    }
}

fn read(global: &Global) -> Result<f64> {
    Ok(match global.dtype() {
        DType::F32 => f64::from(global.to_vec::<f32>()?[0]),
        _ => global.to_vec::<f64>()?[0],
    })
}

fn total(parts: &[Global]) -> Result<f64> {
    parts.iter().try_fold(0.0, |sum, part| Ok(sum + read(part)?))
}
