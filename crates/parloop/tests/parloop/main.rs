//! Tests of what the examples share.

mod airfoil_mesh;
