//! `make_reduction_inames_unique`: gives reductions that share an iname their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{Expr, LoopKernel, Reduction};
use parloop_isl::Name;

use super::remove_unused_inames::remove_unused_inames;
use super::replace::{self, InameError};
use super::rewrite::{self, Scope};

/// Gives each of several reductions over one of the inames (all, if none are given) its own iname, with the same values and tags.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, matching::Query, transform::make_reduction_inames_unique};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out = sum(i, a[i]) + sum(i, b[i])").build_kernel()?;
/// let kernel = make_reduction_inames_unique(&kernel, None, &Query::All)?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "sum(i_0, a[i_0]) + sum(i_1, b[i_1])");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, or the bounds of another iname depend on it.
pub fn make_reduction_inames_unique(kernel: &LoopKernel, inames: Option<&[Name]>, within: &Query) -> Result<LoopKernel, InameError> {
    inames.unwrap_or_default().iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let scope = Scope::of(kernel, within);
    let mut count: BTreeMap<Name, usize> = BTreeMap::new();
    rewrite::rewrite(kernel, &scope, &mut |expr, _| {
        if let Expr::Reduction(reduction) = &expr {
            reduction.inames.iter().for_each(|iname| *count.entry(iname.clone()).or_default() += 1);
        }
        Ok::<_, InameError>(expr)
    })?;
    let shared = |iname: &Name| inames.is_none_or(|inames| inames.contains(iname)) && count.get(iname).is_some_and(|count| *count > 1);
    let mut names = UniqueNames::of_variables(kernel);
    let mut copies: Vec<(Name, Name)> = Vec::new();
    let mut result = rewrite::rewrite(kernel, &scope, &mut |expr, hidden| {
        let Expr::Reduction(reduction) = &expr else { return Ok::<_, InameError>(expr) };
        let mut by = BTreeMap::new();
        for iname in reduction.inames.iter().filter(|iname| shared(iname) && !hidden.contains(iname)) {
            let copy = names.make(iname);
            copies.push((iname.clone(), copy.clone()));
            by.insert(iname.clone(), Expr::Variable(copy));
        }
        let renamed = |iname: &Name| match by.get(iname) {
            Some(Expr::Variable(copy)) => copy.clone(),
            _ => iname.clone(),
        };
        let inames = reduction.inames.iter().map(renamed).collect();
        let operands = reduction.operands.iter().map(|operand| operand.substitute(&by)).collect();
        Ok(Expr::Reduction(Arc::new(Reduction { inames, operands, ..(**reduction).clone() })))
    })?;
    for (iname, copy) in &copies {
        copy_iname(&mut result, iname, copy)?;
    }
    let originals: Vec<Name> = copies.into_iter().map(|(iname, _)| iname).collect();
    if originals.is_empty() { Ok(result) } else { remove_unused_inames(&result, Some(&originals)) }
}

/// Adds an iname with the values and tags of another.
pub(crate) fn copy_iname(kernel: &mut LoopKernel, iname: &Name, copy: &Name) -> Result<(), InameError> {
    if let Some(domain) = kernel.domains.iter().find(|domain| domain.params().contains(iname)) {
        let dim = domain.dims().first().cloned().unwrap_or_else(|| iname.clone());
        return Err(InameError::BoundsDepend { iname: iname.clone(), dim });
    }
    if let Some(place) = kernel.domains.iter().position(|domain| domain.has_dim(iname)) {
        let renamed = kernel.domains[place].rename(&|name| (name == iname).then(|| copy.clone()))?;
        if kernel.domains[place].dims().len() == 1 {
            kernel.domains.insert(place + 1, renamed);
        } else {
            kernel.domains[place] = kernel.domains[place].join(&renamed)?;
        }
    }
    let known = kernel.inames.get(iname).cloned().unwrap_or_default();
    kernel.inames.insert(copy.clone(), known);
    Ok(())
}
