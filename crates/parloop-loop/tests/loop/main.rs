//! Tests of the loop compiler, one module an area, in one binary.

mod barriers;
mod callables;
mod calls;
mod checks;
mod create;
mod data;
mod dependencies;
mod expressions;
mod fetched;
mod files;
mod filetests;
mod inames;
mod instructions;
mod kernels;
mod layout;
mod loop_fusion;
mod lowering;
mod pipeline;
mod points;
mod prefetch;
mod reduce;
mod run;
mod schedule;
mod stats;
mod types;
