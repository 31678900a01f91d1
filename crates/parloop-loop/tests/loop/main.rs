//! Tests of the loop compiler, one module an area, in one binary.

mod create;
mod expressions;
mod files;
mod instructions;
mod kernels;
mod layout;
mod schedule;
mod stats;
mod types;
mod reduce;
