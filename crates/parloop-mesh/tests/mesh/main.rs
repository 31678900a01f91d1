//! Tests of mesh loops, one binary.
