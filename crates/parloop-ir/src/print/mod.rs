//! Kernels as text. What is printed reads back as the same value: this is the form for people, for snapshots and for cache keys.

mod expr;
mod instruction;
mod step;

pub(crate) use expr::quoted;
pub(crate) use instruction::joined;
