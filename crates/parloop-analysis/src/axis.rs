//! Hardware axes: the value of an iname for work item, or group, 0.

use parloop_ir::domain::Forest;
use parloop_isl::{Affine, IslError, Name, Set};

/// The value of an iname for work item, or group, 0: a lower bound in terms of parameters. Code and sizes must agree on it.
///
/// # Errors
/// If the solver fails.
pub fn axis_base(forest: &Forest<'_>, iname: &Name) -> Result<Affine, IslError> {
    match forest.constant_bounds(iname) {
        (Some(lower), _) => Ok(Affine::constant(lower)),
        _ => alone(forest, iname)?.static_min(iname, &forest.kernel().assumptions),
    }
}

/// The points of one iname, in terms of parameters.
///
/// # Errors
/// If the solver fails.
pub fn alone(forest: &Forest<'_>, iname: &Name) -> Result<Set, IslError> {
    let domain = forest.domain_of([iname])?;
    if domain.dims().len() == 1 { Ok(domain) } else { domain.project_onto(std::slice::from_ref(iname)) }
}
