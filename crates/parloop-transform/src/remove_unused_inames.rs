//! `remove_unused_inames`: removes unused inames from domains.

use std::collections::BTreeSet;

use parloop_ir::syntax::LoopKernel;
use parloop_isl::{Name, Set};

use super::replace::{self, InameError};
use super::rewrite;

/// Removes the given inames (all, if none are given) from the domains unless an instruction or a bound of a used iname uses them. Empty
/// domains are removed.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::remove_unused_inames};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i,j<n}").instructions("out[i] = 1").build_kernel()?;
/// let kernel = remove_unused_inames(&kernel, None)?;
/// assert_eq!(kernel.domains[0].dims(), ["i"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname.
pub fn remove_unused_inames(kernel: &LoopKernel, inames: Option<&[Name]>) -> Result<LoopKernel, InameError> {
    for iname in inames.unwrap_or_default() {
        replace::known(kernel, iname)?;
    }
    let used = used_inames(kernel);
    let asked = |iname: &Name| inames.is_none_or(|inames| inames.contains(iname));
    let unused: BTreeSet<Name> = kernel.inames.keys().filter(|iname| asked(iname) && !used.contains(*iname)).cloned().collect();
    if unused.is_empty() {
        return Ok(kernel.clone());
    }
    let mut result = kernel.clone();
    result.domains = Vec::with_capacity(kernel.domains.len());
    for domain in &kernel.domains {
        let gone: Vec<Name> = domain.dims().iter().chain(domain.params()).filter(|name| unused.contains(*name)).cloned().collect();
        if domain.dims().iter().all(|dim| unused.contains(dim)) {
            continue;
        }
        result.domains.push(if gone.is_empty() { domain.clone() } else { domain.project_out(&gone)? });
    }
    result.inames.retain(|iname, _| !unused.contains(iname));
    result.priorities = without(&kernel.priorities, &unused);
    Ok(result)
}

/// Chains without some inames; those of one iname say nothing.
fn without(chains: &BTreeSet<Vec<Name>>, unused: &BTreeSet<Name>) -> BTreeSet<Vec<Name>> {
    let rest = chains.iter().map(|chain| chain.iter().filter(|iname| !unused.contains(*iname)).cloned().collect());
    rest.filter(|chain: &Vec<Name>| chain.len() > 1).collect()
}

/// The inames that instructions use, and those that the bounds of used inames depend on.
fn used_inames(kernel: &LoopKernel) -> BTreeSet<Name> {
    let mut used = rewrite::inames_used_by(kernel, kernel.instructions.iter());
    loop {
        let needed = |domain: &&Set| domain.dims().iter().any(|dim| used.contains(dim));
        let params = kernel.domains.iter().filter(needed).flat_map(Set::params);
        let more: Vec<Name> = params.filter(|name| kernel.inames.contains_key(*name) && !used.contains(*name)).cloned().collect();
        if more.is_empty() {
            return used;
        }
        used.extend(more);
    }
}
