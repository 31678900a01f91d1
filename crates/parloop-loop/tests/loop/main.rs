//! Tests of the loop compiler, one module an area, in one binary.

mod callables;
mod compiles;
mod computes;
mod create;
mod dependencies;
mod expressions;
mod inames;
mod instructions;
mod kernels;
mod layout;
mod loop_fusion;
mod lowering;
mod points;
mod prefetch;
mod reduce;
mod run;
mod samples;
mod schedule;
mod stats;
mod types;
