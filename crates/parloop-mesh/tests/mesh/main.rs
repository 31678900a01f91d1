//! Tests of mesh loops, one binary.

mod arithmetic;
mod checked;
mod conditions;
mod cpp;
mod deterministic;
mod devices;
mod errors;
mod extruded;
mod forked;
mod ghosts;
mod kernels;
mod layouts;
mod loop_kernels;
mod loops;
mod matrices;
mod mixed;
mod plan;
mod random;
mod solve;
mod tables;
mod vtk;
mod written;
