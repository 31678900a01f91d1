//! The plans of mesh loops: in which order elements run, and who writes what, so that no two threads write one target at a time.
//!
//! Pure algorithms on slices of `i32`, linear or n·log n. What a loop writes through maps is an [`Incidence`]; the rest are answers
//! about it: [`Inverse`] (gather by target), [`Owned`] (owner-computes), [`Coloured`] and [`Blocks`] (colouring),
//! [`last_writers`], and orders. What a matrix stores is a [`Pattern`], made of [`Pair`]s of [`Targets`].

mod colour;
mod error;
mod incidence;
mod inverse;
mod last;
mod offset;
mod order;
mod owner;
mod sparsity;
mod targets;

pub use colour::{Blocks, Coloured};
pub use error::PlanError;
pub use incidence::{Elements, Incidence, Rank, Table};
pub use inverse::Inverse;
pub use last::last_writers;
pub use offset::Offset;
pub use order::{Locality, cuthill_mckee, element_order, locality};
pub use owner::Owned;
pub use sparsity::{Merged, Pair, Pattern, PatternSize, Positions, merge};
pub use targets::{Flat, Targets};
