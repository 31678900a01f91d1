//! Sets of integers that affine constraints bound, as plain values. libisl, opened when it is first needed, answers the questions that
//! take solving: values go in, values come out, and nothing of isl is seen outside this crate.

mod affine;
mod error;
mod name;
mod relation;
mod set;

pub use affine::{Affine, Atom};
pub use error::{IslError, Result};
pub use name::Name;
pub use relation::Relation;
pub use set::{Bound, Bounds, Constraint, ConstraintKind, Piece, Piecewise, Set};
