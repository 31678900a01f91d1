//! The language of kernels, read from text: expressions, instructions with their options, queries for instructions.

pub mod draft;

pub use draft::{Draft, Parsed, Which, Within};
