//! Checks of kernels before and after they are scheduled: one file each, one error each.

mod assumptions;
mod bounds;
mod calls;
mod definitions;
mod destinations;
mod error;
mod inames;
mod index_types;
mod linear;
mod memory;
mod names;
mod order;
mod ordering;
mod placed;

pub(crate) use bounds::span;
pub use bounds::{Bounds, CallBound};
pub use error::CheckError;

use std::collections::BTreeSet;

use parloop_analysis::dependence::Doubt;
use parloop_analysis::facts::Facts;
use parloop_ir::program::Program;
use parloop_ir::syntax::LoopKernel;

use crate::schedule::Schedule;

/// Checks a typed and realised kernel before it is scheduled; returns the remaining index checks.
///
/// # Errors
/// The first error.
pub fn before_schedule(program: &Program, kernel: &LoopKernel) -> Result<Bounds, CheckError> {
    names::check(kernel)?;
    memory::check(kernel)?;
    let facts = Facts::of(kernel);
    assumptions::check(&facts)?;
    inames::check(program, &facts)?;
    calls::check(program, &facts)?;
    destinations::check(&facts)?;
    definitions::check(&facts)?;
    index_types::check(program, &facts)?;
    ordering::check(&facts)?;
    if !kernel.options.check_bounds() {
        return Ok(Bounds::default());
    }
    bounds::check(&facts, program.entrypoints.contains(&kernel.name))
}

/// Checks what only a schedule shows, of a kernel of the program; gives the orders that may be lost, depending on the data, and the errors
/// that its options turn into warnings.
///
/// # Errors
/// The first error.
pub fn after_schedule(program: &Program, schedule: &Schedule) -> Result<ScheduleFindings, CheckError> {
    let facts = Facts::of_typed(program, &schedule.kernel);
    placed::check(schedule)?;
    placed::check_axes(program, schedule, &facts)?;
    let is_lenient = schedule.kernel.options.is_lenient();
    let mut found = ScheduleFindings::default();
    match definitions::check_order(schedule, &facts) {
        Err(error @ CheckError::MissingDefinition { .. }) if is_lenient => found.warnings.push(error),
        checked => checked?,
    }
    match order::check(schedule, &facts) {
        Err(error @ (CheckError::Race { .. } | CheckError::Reordered { .. } | CheckError::Overwritten { .. })) if is_lenient => {
            found.warnings.push(error)
        }
        checked => found.doubts = checked?,
    }
    Ok(found)
}

/// What is found of a schedule that is not an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleFindings {
    /// Orders of instances that may be lost, depending on the data.
    pub doubts: BTreeSet<Doubt>,
    /// Errors that the options of the kernel turn into warnings.
    pub warnings: Vec<CheckError>,
}
