//! `interpret` defines the meaning of a kernel, independent of schedules and machines: tests compare compiled code with it.
//!
//! It takes a kernel at any phase; reductions that are not realised are evaluated in place. `order.rs` defines the order of execution,
//! without the scheduler or the lowering. Every index is checked, and reading an unwritten element is an error. Arrays are accessed by
//! index; their memory layout does not matter. Kernels that call kernels, C code, and reductions with several results (before they are
//! realised) are refused.

mod error;
mod machine;
mod memory;
mod number;
mod order;
mod random123;
mod vector;

pub use error::InterpretError;
pub use machine::interpret;
pub use number::Number;
