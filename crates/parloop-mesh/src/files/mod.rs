//! Meshes and data in files.

pub mod vtk;
