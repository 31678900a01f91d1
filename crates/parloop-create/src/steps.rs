//! The steps of creating a kernel, in order.

use parloop_ir::syntax::LoopKernel;

use super::error::{CreateError, Warning};
use super::making::Making;
use super::{
    arguments, checks, common_subexpressions, declare, dependencies, domains, duplicate, empty_reductions, extremes, identify, inames,
    rules, shapes, slices, tagged_names,
};

/// A step of creating a kernel.
type CreateStep = fn(&mut Making) -> Result<(), CreateError>;

/// The steps, in order.
const STEPS: &[CreateStep] = &[
    domains::read_domains,
    domains::read_assumptions,
    common_subexpressions::expand,
    identify::name_instructions,
    tagged_names::drop_tags,
    extremes::settle_extremes,
    empty_reductions::resolve,
    rules::collect_rules,
    arguments::read_data,
    declare::make_temporaries,
    arguments::guess_arguments,
    checks::check_names,
    checks::check_inames,
    checks::check_writes,
    dependencies::add_sequential,
    slices::realise_slices,
    // Temporaries carry inames from who writes them to who reads them, so they come first.
    inames::find_within,
    domains::fix_parameters,
    // An instruction must be within an iname to have a copy of it.
    duplicate::duplicate_inames,
    // An empty reduction has a value too.
    domains::separate_reductions,
    // Shapes are footprints over the inames of the instructions.
    shapes::find_shapes,
    arguments::apply_default_order,
    dependencies::resolve,
    dependencies::add_single_writers,
    checks::check_uses,
];

/// Runs all steps.
pub fn run(mut making: Making) -> Result<(LoopKernel, Vec<Warning>), CreateError> {
    for step in STEPS {
        step(&mut making)?;
    }
    // The order that the kernel has as created is its meaning.
    Ok((parloop_analysis::sequence::created(making.kernel), making.warnings))
}
