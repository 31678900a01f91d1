//! Tests of mesh loops, one binary.

mod plan;
mod vtk;
