//! Kernels as text. Printed text parses back to the same value: this is the form for people, snapshots and cache keys.

mod expr;
mod instruction;
mod step;

pub(crate) use expr::quoted;
pub(crate) use instruction::joined;
