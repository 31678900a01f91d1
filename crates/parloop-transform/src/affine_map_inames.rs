//! `affine_map_inames`: replaces inames by equations between old and new ones.

use parloop_ir::syntax::LoopKernel;
use parloop_isl::{Name, Relation};

use super::map_domain::{MapDomainError, map_domain};

/// Replaces inames by others that are related by equations: [`map_domain`] with the equations as the relation.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::affine_map_inames};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = a[i]").build_kernel()?;
/// let kernel = affine_map_inames(&kernel, &["i".into()], &["k".into()], &["k = i + 1"])?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "a[k - 1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`map_domain`]; and if an equation is invalid.
pub fn affine_map_inames(kernel: &LoopKernel, old: &[Name], new: &[Name], equations: &[&str]) -> Result<LoopKernel, MapDomainError> {
    let list = |names: &[Name]| names.iter().map(Name::as_str).collect::<Vec<&str>>().join(", ");
    let conditions: Vec<String> = equations.iter().map(|equation| format!("({equation})")).collect();
    let map = Relation::parse(&format!("{{ [{}] -> [{}] : {} }}", list(old), list(new), conditions.join(" and ")))?;
    map_domain(kernel, &map)
}
