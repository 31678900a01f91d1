//! `interpret` knows what a kernel means, and nothing of schedules and machines: tests compare compiled code with it.
//!
//! It takes a kernel at any phase; reductions that are not realised are evaluated where they stand. What runs before what is said in
//! `order.rs`: neither scheduler nor lowering have a part in it. Every index is checked, and so is every read of what was not written.
//! Arrays are seen by their indices alone: how they lie in memory makes no difference. Kernels that call kernels, text in C, and
//! reductions with several results (before they are realised) are refused.

mod error;
mod machine;
mod memory;
mod number;
mod order;

pub use error::InterpretError;
pub use machine::interpret;
pub use number::Number;
