//! Sums, products and norms of data, as solvers use them, and when they stop.

use parloop_device::DType;
use parloop_kernel::{Context, Scalar};

use super::grid::MixedSystem;
use super::{Preconditioner, Solution, SolveOptions};
use crate::Result;
use crate::arithmetic::{Operand, Operation, Rounding, Sides};
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::declare::mat::Mat;

/// The data that a matrix is multiplied with.
///
/// Everything but products is done for the owned rows alone. Directions have zeros on ghosts, so that those of `x` stay as they are; an
/// exchange between processes would fill them in [`multiply`](Self::multiply), and add up what [`dot`](Self::dot) and [`norm`](Self::norm) give.
pub struct Space<'a, W> {
    pub system: MixedSystem<'a>,
    context: &'a Context,
    /// One by the diagonal.
    inverse: Option<Vec<Dat>>,
    /// For products of several blocks, if there are.
    scratch: Vec<Dat>,
    watch: W,
    residuals: Vec<f64>,
    options: SolveOptions,
    /// A residual is small that is at most this.
    limit: f64,
    /// What methods aim at: less than the limit, where their estimates were too low.
    aim: f64,
    stopped: bool,
}

impl<'a, W: FnMut(usize, f64) -> bool> Space<'a, W> {
    pub fn new(system: MixedSystem<'a>, options: SolveOptions, context: &'a Context, watch: W) -> Result<Space<'a, W>> {
        let inverse = match options.preconditioner {
            Preconditioner::None => None,
            Preconditioner::Jacobi => {
                Some(system.blocks.iter().enumerate().map(|(part, row)| inverse_diagonal(&system, &row[part])).collect::<Result<_>>()?)
            }
        };
        let scratch = if system.blocks.len() > 1 { system.vector()? } else { Vec::new() };
        Ok(Space { system, context, inverse, scratch, watch, residuals: Vec::new(), options, limit: 0.0, aim: 0.0, stopped: false })
    }

    /// Where it is solved.
    pub fn context(&self) -> &Context {
        self.context
    }

    /// One by the diagonal, where the preconditioner needs it.
    pub fn inverse(&self) -> &[Dat] {
        self.inverse.as_deref().unwrap_or_default()
    }

    /// Zeros on the rows of the matrix.
    pub fn vector(&self) -> Result<Vec<Dat>> {
        self.system.vector()
    }

    /// Computes the first residual and settles how small it must become; its norm.
    pub fn begin(&mut self, residual: &[Dat]) -> Result<f64> {
        let given = self.norm(self.system.b)?;
        if given == 0.0 {
            // The solution is zero, but for what the ghosts of x add to the right-hand side.
            self.system.x.iter().try_for_each(|x| x.zero_on(x.dataset().set(), self.context))?;
        }
        let norm = self.residual(residual)?;
        let size = if given == 0.0 { norm } else { given };
        let relative = self.options.rtol_for(self.system.dtype()) * size;
        self.limit = if relative.is_finite() { relative.max(self.options.atol) } else { self.options.atol };
        self.aim = self.limit;
        Ok(norm)
    }

    /// Notes the norm of a residual; whether it goes on.
    pub fn goes_on(&mut self, residual: f64) -> bool {
        let iteration = self.residuals.len();
        self.residuals.push(residual);
        self.stopped = !(self.watch)(iteration, residual);
        // NaN is never small.
        !(self.stopped || self.is_small(residual) || iteration >= self.options.iterations || !residual.is_finite())
    }

    /// Notes the norm of the residual of `x` itself, in place of an estimate at which it was stopped; whether it goes on.
    pub fn goes_on_from(&mut self, residual: f64) -> bool {
        if !self.stopped {
            return self.goes_on(residual);
        }
        self.residuals.pop();
        self.residuals.push(residual);
        false
    }

    /// Whether the residual of `x` must be computed after this iteration: the estimate is small enough, or so small beside `start`, where it
    /// began, that it cannot be trusted, or there are no iterations left.
    pub fn is_last(&mut self, estimate: f64, start: f64) -> bool {
        let is_enough = estimate <= self.aim;
        if is_enough {
            self.aim *= 0.1;
        }
        let is_believed = estimate.is_finite() && estimate > self.epsilon() * start;
        is_enough || !is_believed || self.residuals.len() >= self.options.iterations
    }

    fn is_small(&self, residual: f64) -> bool {
        residual.is_finite() && residual <= self.limit
    }

    pub fn solution(self) -> Solution {
        Solution { converged: self.is_solved(), residuals: self.residuals }
    }

    fn is_solved(&self) -> bool {
        self.residuals.last().is_some_and(|&last| self.is_small(last))
    }

    /// Whether it ended without a solution, and not because someone stopped it.
    pub fn has_failed(&self) -> bool {
        !self.stopped && !self.is_solved()
    }

    /// Whether half of the iterations gained nothing. It is asked after each, and answered after a power of two of them.
    pub fn is_stuck(&self) -> bool {
        let done = self.residuals.len();
        done >= 32 && done.is_power_of_two() && self.residuals[done - 1] >= self.residuals[done / 2 - 1]
    }

    /// The distance between one and the next number.
    pub fn epsilon(&self) -> f64 {
        match self.system.dtype() {
            DType::F32 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        }
    }

    /// Whether a number is finite in the type of the matrix.
    pub fn holds(&self, number: f64) -> bool {
        match self.system.dtype() {
            DType::F32 => (number as f32).is_finite(),
            _ => number.is_finite(),
        }
    }

    /// A power of two near a norm, which numbers can be divided by without rounding.
    pub fn unit(&self, norm: f64) -> f64 {
        let most = if self.system.dtype() == DType::F32 { 120.0 } else { 1000.0 };
        norm.log2().clamp(-most, most).floor().exp2()
    }

    pub fn dot(&self, one: &[Dat], other: &[Dat]) -> Result<f64> {
        one.iter().zip(other).try_fold(0.0, |sum, (one, other)| Ok(sum + number(&one.inner(other, self.context)?)?))
    }

    pub fn norm(&self, of: &[Dat]) -> Result<f64> {
        of.iter().try_fold(0.0, |norm: f64, part| Ok(norm.hypot(part.norm(self.context)?)))
    }

    /// `to = A from`
    pub fn multiply(&self, from: &[Dat], to: &[Dat]) -> Result<()> {
        self.system.multiply(from, to, &self.scratch, self.context)
    }

    /// `to += factor * other`
    pub fn add(&self, to: &[Dat], factor: f64, other: &[Dat]) -> Result<()> {
        to.iter().zip(other).try_for_each(|(to, other)| to.axpy(Operand::Number(Scalar::Float(factor)), other, self.context))
    }

    /// `to *= factor`
    pub fn scale(&self, to: &[Dat], factor: f64) -> Result<()> {
        let factor = || Operand::Number(Scalar::Float(factor));
        to.iter().try_for_each(|to| to.update(Operation::Multiply, factor(), Rounding::Refuse, self.context))
    }

    /// `to = 0`
    pub fn clear(&self, to: &[Dat]) -> Result<()> {
        to.iter().try_for_each(Dat::zero)
    }

    /// `residual = b - A x`; its norm.
    pub fn residual(&self, residual: &[Dat]) -> Result<f64> {
        self.multiply(self.system.x, residual)?;
        self.scale(residual, -1.0)?;
        self.add(residual, 1.0, self.system.b)?;
        self.norm(residual)
    }

    /// `to = M from`, on owned rows: products leave something on ghosts.
    pub fn precondition(&self, from: &[Dat], to: &[Dat]) -> Result<()> {
        for (part, (from, to)) in from.iter().zip(to).enumerate() {
            match &self.inverse {
                Some(inverse) => {
                    let sides = Sides { other: Operand::Dat(&inverse[part]), is_turned: false, rounding: Rounding::Refuse };
                    from.combine_into(to, Operation::Multiply, sides, self.context)?;
                }
                None => from.copy_on(to, from.dataset().set(), self.context)?,
            }
        }
        Ok(())
    }
}

/// One by each number of the diagonal of owned rows, of a block on the diagonal.
fn inverse_diagonal(system: &MixedSystem<'_>, mat: &Mat) -> Result<Dat> {
    let (pattern, size) = (mat.sparsity().pattern(), mat.sparsity().rows().count());
    let values = match mat.dtype() {
        DType::F32 => mat.storage().to_vec::<f32>()?.into_iter().map(f64::from).collect(),
        _ => mat.storage().to_vec::<f64>()?,
    };
    let mut inverse = vec![0.0; pattern.rows() * size];
    for row in 0..mat.sparsity().rows().set().owned_rows() {
        let found = pattern.row(row).binary_search(&(row as i32)).map_err(|_| system.wrong("its diagonal is not stored"))?;
        let block = pattern.starts()[row] as usize + found;
        for line in 0..size {
            let number = values[block * size * size + line * (size + 1)];
            if number == 0.0 {
                return Err(system.wrong("its diagonal has zeros, and the Jacobi preconditioner divides by the diagonal; choose another"));
            }
            inverse[row * size + line] = 1.0 / number;
        }
    }
    let dataset = mat.sparsity().rows();
    match mat.dtype() {
        DType::F32 => Dat::new(dataset, &inverse.into_iter().map(|number| number as f32).collect::<Vec<_>>(), "inverse_diagonal"),
        _ => Dat::new(dataset, &inverse, "inverse_diagonal"),
    }
}

fn number(global: &Global) -> Result<f64> {
    Ok(match global.dtype() {
        DType::F32 => f64::from(global.to_vec::<f32>()?[0]),
        _ => global.to_vec::<f64>()?[0],
    })
}
