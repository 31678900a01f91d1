//! Sums, products and norms of data, as solvers use them, and when they stop.

use parloop_device::DType;
use parloop_kernel::{Context, Scalar};

use super::{Preconditioner, Solution, SolveOptions, wrong};
use crate::Result;
use crate::arithmetic::{Operand, Operation, Rounding};
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::declare::mat::Mat;

/// The data that a matrix is multiplied with.
pub struct Space<'a, W> {
    pub mat: &'a Mat,
    context: &'a Context,
    /// One by the diagonal.
    inverse: Option<Dat>,
    watch: W,
    residuals: Vec<f64>,
    limit: f64,
    most: usize,
    stopped: bool,
}

impl<'a, W: FnMut(usize, f64) -> bool> Space<'a, W> {
    pub fn new(mat: &'a Mat, b: &Dat, options: SolveOptions, context: &'a Context, watch: W) -> Result<Space<'a, W>> {
        let inverse = match options.preconditioner {
            Preconditioner::None => None,
            Preconditioner::Jacobi => Some(inverse_diagonal(mat)?),
        };
        let mut space = Space { mat, context, inverse, watch, residuals: Vec::new(), limit: 0.0, most: options.iterations, stopped: false };
        space.limit = options.atol.max(options.rtol * space.norm(b)?);
        Ok(space)
    }

    /// Notes the norm of a residual; whether it goes on.
    pub fn goes_on(&mut self, residual: f64) -> bool {
        let iteration = self.residuals.len();
        self.residuals.push(residual);
        self.stopped = !(self.watch)(iteration, residual);
        // A number that is none is never small.
        !(self.stopped || residual <= self.limit || iteration >= self.most || !residual.is_finite())
    }

    pub fn solution(self) -> Solution {
        let last = self.residuals.last().copied().unwrap_or(f64::NAN);
        Solution { converged: last <= self.limit, residuals: self.residuals }
    }

    pub fn dot(&self, one: &Dat, other: &Dat) -> Result<f64> {
        number(&one.inner(other, self.context)?)
    }

    pub fn norm(&self, of: &Dat) -> Result<f64> {
        Ok(self.dot(of, of)?.sqrt())
    }

    /// `to = A from`
    pub fn multiply(&self, from: &Dat, to: &Dat) -> Result<()> {
        self.mat.multiply(from, to, self.context)
    }

    /// `to += factor * other`
    pub fn add(&self, to: &Dat, factor: f64, other: &Dat) -> Result<()> {
        to.axpy(Operand::Number(Scalar::Float(factor)), other, self.context)
    }

    /// `to *= factor`
    pub fn scale(&self, to: &Dat, factor: f64) -> Result<()> {
        to.update(Operation::Multiply, Operand::Number(Scalar::Float(factor)), Rounding::Refuse, self.context)
    }

    /// `residual = b - A x`
    pub fn residual(&self, x: &Dat, b: &Dat, residual: &Dat) -> Result<()> {
        self.multiply(x, residual)?;
        self.scale(residual, -1.0)?;
        self.add(residual, 1.0, b)
    }

    /// `to = M from`
    pub fn precondition(&self, from: &Dat, to: &Dat) -> Result<()> {
        from.copy_to(to)?;
        match &self.inverse {
            Some(inverse) => to.update(Operation::Multiply, Operand::Dat(inverse), Rounding::Refuse, self.context),
            None => Ok(()),
        }
    }
}

/// One by each number of the diagonal.
fn inverse_diagonal(mat: &Mat) -> Result<Dat> {
    let (pattern, size) = (mat.sparsity().pattern(), mat.sparsity().rows().count());
    let values = match mat.dtype() {
        DType::F32 => mat.storage().to_vec::<f32>()?.into_iter().map(f64::from).collect(),
        _ => mat.storage().to_vec::<f64>()?,
    };
    let mut inverse = vec![0.0; pattern.rows() * size];
    for row in 0..pattern.rows() {
        let found = pattern.row(row).binary_search(&(row as i32)).map_err(|_| wrong(mat, "its diagonal is not stored"))?;
        let block = pattern.starts()[row] as usize + found;
        for line in 0..size {
            let number = values[block * size * size + line * (size + 1)];
            if number == 0.0 {
                return Err(wrong(mat, "its diagonal has zeros, which the Jacobi preconditioner divides by; choose another"));
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
