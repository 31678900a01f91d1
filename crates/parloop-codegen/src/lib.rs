//! `codegen` targets machines.
//!
//! Before and after a kernel is ordered, [`check`] proves what can be proved; [`schedule`] orders it into launches, with axes of the
//! hardware and barriers; [`lower`] builds a C-like tree in which every value has a type; [`target`] prints the tree for one target.
//! [`c_function`] calls functions in C from that code.

pub mod c_function;
pub mod check;
pub mod lower;
pub mod schedule;
pub mod target;
