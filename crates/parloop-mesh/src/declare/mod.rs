//! What users declare: sets, maps, data on sets, and the arguments of loops. Plain values, checked when they are made.

pub mod arg;
pub mod dat;
pub mod dataset;
pub mod global;
pub mod halo;
pub mod identity;
pub mod iteration;
pub mod layers;
pub mod map;
pub mod mat;
pub mod meeting;
pub mod moves;
pub mod set;
pub mod sparsity;
mod subset;
pub mod ties;
