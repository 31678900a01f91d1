//! `ir` knows what a kernel is.
//!
//! The data of the compiler ([`syntax`]) and the queries that all layers above need: types and their promotion, layouts, domains, affine
//! expressions, names, substitution rules, callables and programs of them, and kernels as text, read and printed. Dependences and machines
//! are not known here.

pub mod affine;
pub mod callable;
pub mod domain;
pub mod fold;
pub mod functions;
pub mod layout;
pub mod matching;
pub mod names;
pub mod parse;
mod print;
pub mod program;
pub mod promote;
pub mod reduction;
pub mod step;
pub mod substitution;
pub mod syntax;
pub mod text;
mod walk;
