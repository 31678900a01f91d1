//! Loop kernels: what to compute over which integers, transformed, scheduled and written for one target.
//!
//! The way of the data: text → `parse` → `create` (a [`LoopKernel`](syntax::LoopKernel) in a [`Program`](syntax::Program)) → transformations →
//! `prepare` (callables resolved, types and descriptors inferred, reductions realised, checks, schedule) → `lower` (a C-like tree) →
//! `target` (text and launches) → `run`.

pub mod affine;
pub mod callable;
pub mod check;
pub mod create;
pub mod domain;
pub mod error;
pub mod file;
pub mod fold;
pub mod infer;
pub mod interpret;
pub mod layout;
pub mod lower;
pub mod matching;
pub mod names;
pub mod parse;
pub mod prepare;
mod print;
pub mod reduce;
pub mod run;
pub mod schedule;
pub mod stats;
pub mod syntax;
pub mod target;
pub mod transform;
mod walk;

pub use parloop_isl::{Affine, IslError, Name, Set, add_library_folder, library_file};
