//! The plans of mesh loops: in which order elements run, and who writes what, so that no two threads write one target at a time.
//!
//! Pure algorithms on slices of `i32`, linear or n·log n. What a loop writes through maps is an [`Incidence`]; the rest are answers
//! about it: [`Inverse`] (gather by target), [`Owned`] (owner-computes), [`Strips`], [`Coloured`] and [`Blocks`] (colouring), [`BlockSums`] (sums in the
//! memory that a block of work items shares), [`last_writers`], and orders. Which process has what of a mesh is told by [`by_coordinates`], [`Graph::partition`], [`follow`] and [`shares`], and how it is numbered
//! by [`renumber`]; elements that columns lead through stay together as [`Runs`]. What a matrix stores is a [`Pattern`], made of [`Pair`]s of [`Targets`].

mod block_sums;
mod colour;
mod error;
mod graph;
mod incidence;
mod inverse;
mod last;
mod offset;
mod order;
mod owner;
mod partition;
mod patches;
mod renumber;
mod runs;
mod share;
mod sparsity;
mod strips;
mod targets;
pub(crate) mod threads;

pub use block_sums::{BlockSums, Sums};
pub use colour::{Blocks, Coloured};
pub use error::PlanError;
pub use graph::Graph;
pub use incidence::{Elements, Incidence, Rank, Table};
pub use inverse::Inverse;
pub use last::last_writers;
pub use offset::Offset;
pub use order::{Locality, cuthill_mckee, element_order, locality};
pub use owner::Owned;
pub use partition::{Link, by_coordinates, follow};
pub use patches::patches;
pub use renumber::renumber;
pub use runs::{Runs, between_runs};
pub use share::{Share, shares};
pub use sparsity::{Merged, Pair, Pattern, PatternSize, Positions, merge};
pub use strips::Strips;
pub use targets::{Flat, Targets};
