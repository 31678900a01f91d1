//! What a loop kernel accesses, in which order, and with which types.
//!
//! Accesses of instructions with the conditions under which they happen ([`access`]), what may happen before what ([`dependence`]), the
//! accessed part of an array ([`footprint`]), the types and address spaces of all names ([`infer`]), and the work of a kernel ([`stats`]).
//! Kernels are only analysed and annotated here: nothing is moved or rewritten.

pub mod access;
pub mod axis;
pub mod dependence;
pub mod facts;
pub mod footprint;
pub mod infer;
pub mod sequence;
pub mod stats;
pub mod wrap;
