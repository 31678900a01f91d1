//! Tests of mesh loops, one binary.

mod loops;
mod plan;
mod random;
mod vtk;
