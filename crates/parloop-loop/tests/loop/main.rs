//! Tests of the loop compiler, one module an area, in one binary.
mod schedule;

mod layout;
