//! Tests of the loop compiler, one module an area, in one binary.

mod callables;
mod create;
mod expressions;
mod files;
mod instructions;
mod kernels;
mod layout;
mod lowering;
mod prefetch;
mod reduce;
mod run;
mod schedule;
mod stats;
mod types;
