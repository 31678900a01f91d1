//! Tests of the loop compiler, one module an area, in one binary.

mod barriers;
mod checks;
mod create;
mod expressions;
mod instructions;
mod kernels;
mod layout;
mod lowering;
mod pipeline;
mod prefetch;
mod reduce;
mod schedule;
mod stats;
mod types;
