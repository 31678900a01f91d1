//! Transformations: each in a file of its own, a function from a kernel to a kernel that computes the same.

pub mod step;

pub use step::{Arguments, Step, StepError, StepValue};
