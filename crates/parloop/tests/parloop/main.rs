//! Tests of what the examples share, and of what needs more than one layer.

mod airfoil_mesh;
mod command;
mod loop_objects;
