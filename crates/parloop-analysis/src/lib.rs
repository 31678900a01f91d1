//! `analysis` knows what may happen before what.
//!
//! Accesses of instructions with the conditions under which they happen ([`access`]), whether work items can meet ([`race`]), which part
//! of an array is touched ([`footprint`]), the types and the memory of all names ([`infer`]), and how much work a kernel is ([`stats`]).
//! Kernels are only looked at here, and their annotations completed: nothing is moved or rewritten.

pub mod access;
pub mod axis;
pub mod dependence;
pub mod facts;
pub mod footprint;
pub mod infer;
pub mod sequence;
pub mod stats;
