//! Sets of integers that affine constraints bound, as plain values. libisl, opened when it is first needed, answers the questions that
//! take solving: values go in, values come out, and nothing of isl is seen outside this crate.

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
