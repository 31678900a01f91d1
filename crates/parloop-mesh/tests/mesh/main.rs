//! Tests of mesh loops, one binary.

mod loops;
mod plan;
mod vtk;
