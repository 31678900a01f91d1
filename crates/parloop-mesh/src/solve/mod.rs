//! Solvers for `A x = b` that only need products and sums of data, on the device of a context.

mod cg;
mod gmres;
mod grid;
mod recorded;
mod vectors;

use parloop_device::DType;
use parloop_kernel::{Context, KernelError, Scalar};

pub use self::grid::MixedSystem;
use self::vectors::Space;
use crate::Result;
use crate::arithmetic::Operand;
use crate::declare::dat::Dat;
use crate::declare::mat::Mat;

/// How a system is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients, for symmetric and positive definite matrices.
    #[default]
    Cg,
    /// Generalised minimal residuals, for any matrix.
    Gmres,
}

/// What a residual is multiplied with before it becomes a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// Nothing.
    None,
    /// One by the diagonal of the matrix.
    #[default]
    Jacobi,
}

/// When and how a system is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOptions {
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub preconditioner: Preconditioner,
    /// It is solved where the norm of the residual is at most this times the norm of `b`: by default 1e-8, or 1e-4 in single precision,
    pub rtol: Option<f64>,
    /// or at most this.
    pub atol: f64,
    /// At most this many iterations.
    pub iterations: usize,
    /// Directions that [`Method::Gmres`] keeps before it begins again.
    pub restart: usize,
}

impl Default for SolveOptions {
    fn default() -> SolveOptions {
        SolveOptions {
            method: Method::default(),
            preconditioner: Preconditioner::default(),
            rtol: None,
            atol: 0.0,
            iterations: 10_000,
            restart: 30,
        }
    }
}

impl SolveOptions {
    /// The relative tolerance for a type of numbers.
    fn rtol_for(&self, dtype: DType) -> f64 {
        self.rtol.unwrap_or(if dtype == DType::F32 { 1e-4 } else { 1e-8 })
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Whether the residual of `x` became small enough.
    pub converged: bool,
    /// The norm of the residual before the first iteration and after each. The first and the last are those of `b - A x`; the method
    /// estimates the others.
    pub residuals: Vec<f64>,
}

impl Solution {
    /// How many iterations were done.
    pub fn iterations(&self) -> usize {
        self.residuals.len() - 1
    }
}

/// Solves `A x = b`. The numbers of `x` are where it begins, and become the solution. `watch` is told of each iteration and the norm of its
/// residual; where it answers false the solver stops. It also stops where nothing is gained any more, and has then not converged.
///
/// On sets with ghosts the owned rows are solved, and the numbers of `x` on ghosts stay as they are. Where `b` is zero the solver begins at
/// zero, and `rtol` is relative to the residual there.
///
/// ```
/// use parloop_device::DType;
/// use parloop_kernel::Context;
/// use parloop_mesh::{Dat, Map, Mat, Set, SolveOptions, Sparsity, solve};
/// let (edges, nodes) = (Set::new(1, "edges")?, Set::new(2, "nodes")?);
/// let ends = Map::new(&edges, &nodes, 2, &[0, 1], "ends")?;
/// let on_nodes = nodes.data(1)?;
/// let a = Mat::zeros(&Sparsity::new(&on_nodes, &on_nodes, &[(&ends, &ends)], "s")?, DType::F64, "a")?;
/// a.storage().write(&[4.0, 1.0, 1.0, 3.0])?;
/// let (x, b) = (Dat::zeros(&on_nodes, DType::F64, "x")?, Dat::new(&on_nodes, &[1.0, 2.0], "b")?);
/// let solution = solve(&a, &x, &b, SolveOptions::default(), &Context::open("cpu")?, |_, _| true)?;
/// assert!(solution.converged && solution.iterations() <= 2);
/// let x = x.to_vec::<f64>()?;
/// assert!((x[0] - 1.0 / 11.0).abs() < 1e-12 && (x[1] - 7.0 / 11.0).abs() < 1e-12);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
///
/// # Errors
/// [`MeshError::Solve`](crate::MeshError::Solve) for a matrix that is not square, has no real numbers, has zeros on its diagonal that the
/// preconditioner divides by, or that conjugate gradients find not to be positive definite, for memory of `x` that is also that of `b` or of
/// the matrix, and for tolerances below zero; [`MeshError::Product`](crate::MeshError::Product) for data that does not fit; what the device
/// says, also while the context is recorded.
pub fn solve(
    mat: &Mat,
    x: &Dat,
    b: &Dat,
    options: SolveOptions,
    context: &Context,
    watch: impl FnMut(usize, f64) -> bool,
) -> Result<Solution> {
    let (x, b) = (std::slice::from_ref(x), std::slice::from_ref(b));
    solve_mixed(MixedSystem { name: mat.name(), blocks: &[vec![mat.clone()]], x, b }, options, context, watch)
}

/// As [`solve`], of a matrix of several parts, by data of as many.
///
/// ```
/// use parloop_device::DType;
/// use parloop_kernel::Context;
/// use parloop_mesh::{Dat, Map, Mat, Method, MixedSystem, Set, SolveOptions, Sparsity, solve_mixed};
/// let (cells, nodes) = (Set::new(1, "cells")?, Set::new(2, "nodes")?);
/// let maps = [Map::new(&cells, &cells, 1, &[0], "own")?, Map::new(&cells, &nodes, 2, &[0, 1], "ends")?];
/// let data = [cells.data(1)?, nodes.data(1)?];
/// let block = |row: usize, column: usize, values: &[f64]| {
///     let sparsity = Sparsity::new(&data[row], &data[column], &[(&maps[row], &maps[column])], "s")?;
///     let mat = Mat::zeros(&sparsity, DType::F64, "block")?;
///     mat.storage().write(values)?;
///     Ok::<_, parloop_mesh::MeshError>(mat)
/// };
/// let blocks = [vec![block(0, 0, &[2.0])?, block(0, 1, &[1.0, 0.0])?], vec![block(1, 0, &[0.0, 1.0])?, block(1, 1, &[4.0, 0.0, 0.0, 5.0])?]];
/// let x = [Dat::zeros(&data[0], DType::F64, "x0")?, Dat::zeros(&data[1], DType::F64, "x1")?];
/// let b = [Dat::new(&data[0], &[4.0], "b0")?, Dat::new(&data[1], &[8.0, 11.0], "b1")?];
/// let options = SolveOptions { method: Method::Gmres, ..SolveOptions::default() };
/// let system = MixedSystem { name: "a", blocks: &blocks, x: &x, b: &b };
/// assert!(solve_mixed(system, options, &Context::open("cpu")?, |_, _| true)?.converged);
/// assert!((x[0].to_vec::<f64>()?[0] - 1.0).abs() < 1e-7 && (x[1].to_vec::<f64>()?[1] - 2.0).abs() < 1e-7);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
///
/// # Errors
/// As [`solve`].
pub fn solve_mixed(
    system: MixedSystem<'_>,
    options: SolveOptions,
    context: &Context,
    watch: impl FnMut(usize, f64) -> bool,
) -> Result<Solution> {
    system.check()?;
    let is_tolerance = |number: f64| number.is_finite() && number >= 0.0;
    if !is_tolerance(options.rtol_for(system.dtype())) || !is_tolerance(options.atol) {
        return Err(system.wrong("rtol and atol must be finite and non-negative"));
    }
    if options.restart == 0 {
        return Err(system.wrong("restart must be at least 1"));
    }
    context.stream().refuse_recording(|| "the solution of a system".to_owned(), None).map_err(KernelError::from)?;
    let mut space = Space::new(system, options, context, watch)?;
    match options.method {
        Method::Cg => cg::run(&mut space),
        Method::Gmres => gmres::run(&mut space, options.restart),
    }?;
    Ok(space.solution())
}

/// What is added once.
fn one() -> Operand<'static> {
    Operand::Number(Scalar::Float(1.0))
}
