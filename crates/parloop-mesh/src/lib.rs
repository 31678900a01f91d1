//! Parallel loops over unstructured meshes: sets, maps between them, data on them, and kernels that are run for each element.
//!
//! Data flow: [`Set`], [`Map`], [`Dat`] and [`Global`] are declared → a [`ParLoop`] of a [`Kernel`] over a set checks its
//! arguments → a plan says in which order and by whom elements are visited so that writes never conflict → `lower` makes a loop kernel
//! that calls the user's kernel → the loop compiler makes code of it → it is launched on a context. No C is written here.
//!
//! The midpoint of each cell of a mesh of triangles: the kernel gets the data of one cell, what is on the cell itself as `double *` and
//! what is on its vertices as `double **`, row by row.
//!
//! ```
//! use parloop_kernel::Context;
//! use parloop_mesh::{Access, Dat, Kernel, Map, Set, par_loop};
//!
//! let (vertices, cells) = (Set::new(4, "vertices")?, Set::new(2, "cells")?);
//! let cell2vertex = Map::new(&cells, &vertices, 3, &[0, 1, 2, 1, 3, 2], "cell2vertex")?;
//! let coordinates = Dat::new(&vertices.data(2)?, &[0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 3.0, 3.0], "coordinates")?;
//! let midpoints = Dat::new(&cells.data(2)?, &[0.0; 4], "midpoints")?;
//! let source = "void midpoint(double p[2], double *coords[2]) {
//!     p[0] = (coords[0][0] + coords[1][0] + coords[2][0]) / 3.0;
//!     p[1] = (coords[0][1] + coords[1][1] + coords[2][1]) / 3.0;
//! }";
//! // SAFETY: a cell has two numbers, and its map leads to three vertices of two each.
//! let midpoint = unsafe { Kernel::new(source, "midpoint")? };
//! let args = vec![midpoints.arg(Access::Write, None), coordinates.arg(Access::Read, &cell2vertex)];
//! par_loop(&midpoint, &cells, args, &Context::open("cpu")?)?;
//! assert_eq!(midpoints.to_vec::<f64>()?, [1.0, 1.0, 2.0, 2.0]);
//! # Ok::<(), parloop_mesh::MeshError>(())
//! ```

mod access;
mod arithmetic;
mod block;
mod declare;
mod distribute;
mod error;
mod files;
mod kernel;
mod lower;
pub mod plan;
mod run;
mod shape;
mod sizes;
mod solve;
mod storage;

pub use access::Access;
pub use arithmetic::{Operand, Operation, Rounding, Sides};
pub use block::Block;
pub use declare::arg::{Arg, ArgData, Part};
pub use declare::dat::Dat;
pub use declare::dataset::DataSet;
pub use declare::global::Global;
pub use declare::halo::{Halo, Neighbour};
pub use declare::layers::{Column, Layers, Region};
pub use declare::map::Map;
pub use declare::mat::Mat;
pub use declare::meeting::{Dropped, Meeting};
pub use declare::moves::Moves;
pub use declare::set::{Set, SetKind};
pub use declare::sparsity::{MapPair, Sparsity};
pub use distribute::slices::{MeshPart, MeshSlices, SlicesBy};
pub use distribute::{By, Report, distribute};
pub use error::MeshError;
pub use files::vtk;
pub use kernel::{Kernel, KernelOptions};
pub use parloop_kernel::Language;
pub use parloop_mpi::{Comm, MpiError};
pub use run::options::{Lanes, LoopOptions, PlanChoice};
pub use run::par_loop::{ParLoop, par_loop};
pub use run::report::{LoopReport, PlanReport, PlanState};
pub use sizes::Sizes;
pub use solve::{Method, MixedSystem, Preconditioner, Solution, SolveOptions, solve, solve_mixed};
pub use storage::{HostNumbers, Lent, Storage};

/// What came out, or why not.
pub type Result<T, E = MeshError> = std::result::Result<T, E>;
