//! Axes of the hardware: the value of an iname with which work item, or group, 0 begins.

use parloop_ir::domain::Forest;
use parloop_isl::{Affine, IslError, Name, Set};

/// The value of an iname that work item, or group, 0 has: not above any of its values, in terms of parameters. Code and sizes must agree on it.
///
/// # Errors
/// When the solver has no answer.
pub fn axis_base(forest: &Forest<'_>, iname: &Name) -> Result<Affine, IslError> {
    match forest.constant_bounds(iname) {
        (Some(lower), _) => Ok(Affine::constant(lower)),
        _ => alone(forest, iname)?.static_min(iname, &forest.kernel().assumptions),
    }
}

/// The points of one iname, in terms of parameters.
///
/// # Errors
/// When the solver has no answer.
pub fn alone(forest: &Forest<'_>, iname: &Name) -> Result<Set, IslError> {
    let domain = forest.domain_of([iname])?;
    if domain.dims().len() == 1 { Ok(domain) } else { domain.project_onto(std::slice::from_ref(iname)) }
}
