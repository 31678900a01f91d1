//! Loop kernels: what to compute over which integers, transformed, scheduled and written for one target.
//!
//! The way of the data: text → `parse` → `create` (a [`LoopKernel`](syntax::LoopKernel) in a [`Program`](syntax::Program)) → transformations →
//! `prepare` (callables resolved, types and descriptors inferred, reductions realised, checks, schedule) → `lower` (a C-like tree) →
//! `target` (text and launches) → `run`.

mod access;
pub mod affine;
mod axis;
pub mod c_function;
pub mod callable;
pub mod check;
pub mod create;
pub mod domain;
pub mod error;
mod facts;
pub mod file;
pub mod fold;
mod footprint;
pub mod functions;
pub mod infer;
pub mod interpret;
pub mod layout;
pub mod lower;
pub mod matching;
pub mod methods;
pub mod names;
pub mod parse;
pub mod prepare;
mod print;
pub mod program;
pub mod promote;
mod race;
pub mod reduce;
pub mod reduction;
pub mod run;
pub mod schedule;
pub mod stats;
pub mod step;
pub mod substitution;
pub mod syntax;
pub mod target;
pub mod text;
pub mod transform;
mod walk;

pub use parloop_isl::{Affine, IslError, Name, Set, add_library_folder, library_file};

/// What programs can do beyond being looked at: [`transform`](prelude::Transform::transform) and its like,
/// [`generate`](prelude::Generate::generate), [`compile`](prelude::Compile::compile).
pub mod prelude {
    pub use crate::methods::Transform;
    pub use crate::prepare::Generate;
    pub use crate::run::Compile;
}
