//! Sets of integers bounded by affine constraints, as plain values. libisl, loaded on first use, answers the queries that need a solver:
//! values go in, values come out, and isl is not visible outside this crate.

mod affine;
mod constraint;
mod error;
mod extreme;
mod local;
mod name;
mod parse;
mod print;
mod question;
mod relation;
mod set;
mod solver;

pub use affine::{Affine, Atom};
pub use error::{IslError, Result};
pub use name::Name;
pub use relation::Relation;
pub use set::{Bound, Bounds, Constraint, ConstraintKind, Piece, Piecewise, Set};
pub use solver::{add_library_folder, library_file};
