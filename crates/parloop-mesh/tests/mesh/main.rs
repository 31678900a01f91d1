//! Tests of mesh loops, one binary.

mod plan;
