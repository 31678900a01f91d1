//! `rename_iname`, `rename_inames`, `rename_inames_in_batch`: rename inames, or replace several by one.

use std::collections::BTreeMap;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel};
use parloop_isl::{Affine, IslError, Name, Set};

use super::replace::{self, Group, InameError};
use super::rewrite::{self, Scope};
use super::tag_inames::{TagInamesError, add_tag};

/// How inames are renamed.
///
/// ```
/// use parloop_loop::transform::Rename;
/// let rename = Rename::default().existing_ok();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    existing_ok: bool,
    keep_tags: bool,
    within: Query,
}

impl Default for Rename {
    /// In all instructions, to a name that is free; [`rename_iname`] keeps the tags.
    fn default() -> Rename {
        Rename { existing_ok: false, keep_tags: true, within: Query::All }
    }
}

impl Rename {
    /// Where the iname may be there already, and run over the same values.
    pub fn existing_ok(mut self) -> Rename {
        self.existing_ok = true;
        self
    }

    /// Without the tags that the iname had.
    pub fn without_tags(mut self) -> Rename {
        self.keep_tags = false;
        self
    }

    /// Only in those instructions.
    pub fn within(mut self, query: Query) -> Rename {
        self.within = query;
        self
    }
}

/// Why inames cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenameInamesError {
    /// The name is one of those that are to be renamed.
    #[error("`{iname}` cannot be renamed to itself")]
    ToItself {
        /// The iname.
        iname: Name,
    },
    /// One instruction uses two of the inames, which would become one.
    #[error("instruction `{instruction}` uses both `{first}` and `{second}`, which cannot become one iname")]
    Nested {
        /// The instruction.
        instruction: Name,
        /// One of the inames.
        first: Name,
        /// The other one.
        second: Name,
    },
    /// Two inames that would become one have different values.
    #[error("`{old}` and `{new}` do not run over the same values: `{old_domain}` versus `{new_domain}`")]
    Domains {
        /// The iname that is renamed.
        old: Name,
        /// What it is renamed to.
        new: Name,
        /// The values of the one.
        old_domain: String,
        /// The values of the other.
        new_domain: String,
    },
    /// An instruction would run for other values of its inames.
    #[error("with `{new}` in place of `{old}`, instruction `{instruction}` would run for `{after}` instead of `{before}`")]
    Instances {
        /// The instruction.
        instruction: Name,
        /// The iname that is renamed.
        old: Name,
        /// What it is renamed to.
        new: Name,
        /// The instances that it has.
        before: String,
        /// The instances that it would have.
        after: String,
    },
    /// An iname is in two batches.
    #[error("`{iname}` cannot be renamed to both `{first}` and `{second}`")]
    Twice {
        /// The iname.
        iname: Name,
        /// A name.
        first: Name,
        /// Another one.
        second: Name,
    },
    /// The inames cannot be replaced.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// The tags of the inames conflict.
    #[error(transparent)]
    Tag(#[from] TagInamesError),
}

impl From<IslError> for RenameInamesError {
    fn from(error: IslError) -> RenameInamesError {
        RenameInamesError::Iname(error.into())
    }
}

/// Renames an iname, with its tags.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::{Rename, rename_iname}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = rename_iname(&kernel, "i", "row", &Rename::default())?;
/// assert_eq!(kernel.instructions[0].lhs()[0].to_string(), "out[row]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`rename_inames`]; and if the tags conflict with those of an existing iname.
pub fn rename_iname(kernel: &LoopKernel, old: &str, new: &str, rename: &Rename) -> Result<LoopKernel, RenameInamesError> {
    let mut result = rename_inames(kernel, &[old.into()], new, rename)?;
    if let (Some(before), true) = (kernel.inames.get(old), rename.keep_tags)
        && let Some(entry) = result.inames.get_mut(new)
    {
        for tag in &before.tags {
            add_tag(entry, &new.into(), tag)?;
        }
        entry.slabs = before.slabs;
    }
    Ok(result)
}

/// Renames inames to one, which may already exist if that is [ok](Rename::existing_ok): all run over the same values, and none inside
/// another. This fuses loops, as far as the dependencies allow.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::{Rename, rename_inames}};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i,j<n}").instructions("a[i] = 1\nb[j] = 2").build_kernel()?;
/// let kernel = rename_inames(&kernel, &["j".into()], "i", &Rename::default().existing_ok())?;
/// assert_eq!(kernel.instructions[1].lhs()[0].to_string(), "b[i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, the name is taken, the values differ, or an instruction uses two of the inames.
pub fn rename_inames(kernel: &LoopKernel, old: &[Name], new: &str, rename: &Rename) -> Result<LoopKernel, RenameInamesError> {
    let scope = Scope::of(kernel, &rename.within);
    if scope.is_empty() {
        return Ok(kernel.clone());
    }
    let new = Name::from(new);
    check(kernel, &scope, old, &new, rename)?;
    let mut result = kernel.clone();
    for iname in old {
        result = if result.inames.contains_key(&new) {
            merge(&result, &scope, iname, &new)?
        } else {
            let group = Group::rename(iname, &new);
            replace::replace(&result, &scope, &[group], &|domain, _| renamed(domain, iname, &new))?
        };
    }
    Ok(result)
}

/// Renames many inames at once: to each key, those that are its value.
///
/// # Errors
/// As [`rename_inames`]; and when an iname is in two of the batches.
pub fn rename_inames_in_batch(kernel: &LoopKernel, batches: &BTreeMap<Name, Vec<Name>>) -> Result<LoopKernel, RenameInamesError> {
    let mut seen: BTreeMap<&Name, &Name> = BTreeMap::new();
    for (second, iname) in batches.iter().flat_map(|(new, old)| old.iter().map(move |iname| (new, iname))) {
        if let Some(first) = seen.insert(iname, second) {
            return Err(RenameInamesError::Twice { iname: iname.clone(), first: first.clone(), second: second.clone() });
        }
    }
    batches.iter().try_fold(kernel.clone(), |kernel, (new, old)| rename_inames(&kernel, old, new, &Rename::default()))
}

fn check(kernel: &LoopKernel, scope: &Scope, old: &[Name], new: &Name, rename: &Rename) -> Result<(), RenameInamesError> {
    for iname in old {
        replace::known(kernel, iname)?;
    }
    if old.contains(new) {
        return Err(RenameInamesError::ToItself { iname: new.clone() });
    }
    let exists = kernel.inames.contains_key(new);
    let usable = exists && rename.existing_ok;
    if !usable && !UniqueNames::of_variables(kernel).take(new) {
        return Err(InameError::Taken { kernel: kernel.name.clone(), name: new.clone() }.into());
    }
    let become_one: Vec<&Name> = old.iter().chain(exists.then_some(new)).collect();
    if become_one.len() > 1 {
        for instruction in scope.instructions(kernel, true) {
            let used = rewrite::inames_used_by(kernel, std::iter::once(instruction));
            let mut both = become_one.iter().filter(|iname| used.contains(**iname));
            if let (Some(first), Some(second)) = (both.next(), both.next())
                && !are_apart(instruction, &become_one)
            {
                let instruction = instruction.id.clone();
                return Err(RenameInamesError::Nested { instruction, first: (*first).clone(), second: (*second).clone() });
            }
        }
    }
    Ok(())
}

/// Whether an instruction uses such inames in reductions alone that stand side by side, none inside another.
fn are_apart(instruction: &Instruction, inames: &[&Name]) -> bool {
    let is_one = |name: &Name| inames.contains(&name);
    let is_nested = |expr: &Expr| match expr {
        Expr::Reduction(reduction) if reduction.inames.iter().any(is_one) => {
            let own = reduction.inames.iter().filter(|name| is_one(name)).count();
            let inside =
                |operand: &Expr| operand.any(&mut |part| matches!(part, Expr::Reduction(inner) if inner.inames.iter().any(is_one)));
            let other = |operand: &Expr| operand.variables().iter().any(|name| is_one(name) && !reduction.inames.contains(name));
            own > 1 || reduction.operands.iter().any(|operand| inside(operand) || other(operand))
        }
        _ => false,
    };
    let outside = |expr: &Expr| without_reductions(expr).variables().iter().any(is_one);
    !instruction.within_inames.iter().any(is_one)
        && instruction.exprs().into_iter().all(|expr| !expr.any(&mut |part| is_nested(part)) && !outside(expr))
}

/// The expression with nothing in place of its reductions.
fn without_reductions(expr: &Expr) -> Expr {
    match expr {
        Expr::Reduction(_) => Expr::int(0),
        _ => expr.map_children(&mut without_reductions),
    }
}

fn renamed(domain: &Set, old: &Name, new: &Name) -> Result<Set, IslError> {
    domain.rename(&|name| (name == old).then(|| new.clone()))
}

/// The kernel with `new`, which is there, in place of `old`.
fn merge(kernel: &LoopKernel, scope: &Scope, old: &Name, new: &Name) -> Result<LoopKernel, RenameInamesError> {
    check_values(kernel, old, new)?;
    let group = Group::rename(old, new);
    let mut result = replace::in_code(kernel, scope, std::slice::from_ref(&group))?;
    let outside = rewrite::inames_used_by(kernel, scope.instructions(kernel, false));
    let stays = outside.contains(old);
    let inside = if stays { rewrite::inames_used_by(kernel, scope.instructions(kernel, true)) } else { Default::default() };
    result.domains = Vec::with_capacity(kernel.domains.len());
    for domain in &kernel.domains {
        let depends = domain.params().contains(old);
        let used_inside = domain.dims().iter().find(|dim| *dim != old && *dim != new && inside.contains(*dim));
        let used_outside = domain.dims().iter().any(|dim| outside.contains(dim));
        match (domain.has_dim(old), domain.has_dim(new)) {
            (false, _) if !depends => result.domains.push(domain.clone()),
            (false, _) if !stays || (used_inside.is_some() && !used_outside) => {
                result.domains.push(domain.substitute(old, &Affine::name(new))?)
            }
            (true, true) if !stays => result.domains.push(domain.project_out(std::slice::from_ref(old))?),
            // What else the domain has depends on the iname as it would on one of an outer domain.
            (true, false) if !stays => {
                let rest = renamed(&domain.to_params(std::slice::from_ref(old)), old, new)?;
                if !rest.dims().is_empty() {
                    result.domains.push(rest);
                }
            }
            (_, false) if used_inside.is_some() => {
                let dim = used_inside.cloned().unwrap_or_else(|| old.clone());
                return Err(InameError::SharedDomain { iname: old.clone(), dim }.into());
            }
            _ => result.domains.push(domain.clone()),
        }
    }
    if !stays {
        result.inames.remove(old);
        result.priorities = kernel.priorities.iter().map(|chain| replace::in_list(chain, &group)).collect();
    }
    check_instances(kernel, &result, old, new)?;
    Ok(result)
}

/// Checks that each instruction runs for the same values of its inames as before: an iname that takes the place of another brings the
/// constraints of its domain with it.
fn check_instances(kernel: &LoopKernel, result: &LoopKernel, old: &Name, new: &Name) -> Result<(), RenameInamesError> {
    for (before, after) in kernel.instructions.iter().zip(&result.instructions) {
        let inames: Vec<Name> = rewrite::inames_used_by(result, std::iter::once(after)).into_iter().collect();
        let instances = |kernel: &LoopKernel, inames: &[Name]| -> Result<Set, IslError> {
            kernel.domain_of(&inames.iter().cloned().collect())?.join(&kernel.assumptions)?.project_onto(inames)
        };
        let is_renamed = !inames.contains(old) && rewrite::inames_used_by(kernel, std::iter::once(before)).contains(old);
        let own = |iname: &Name| if is_renamed && iname == new { old.clone() } else { iname.clone() };
        let were = instances(kernel, &inames.iter().map(own).collect::<Vec<Name>>())?;
        let were = if is_renamed { renamed(&were, old, new)? } else { were };
        let are = instances(result, &inames)?;
        if !were.is_equal(&are)? {
            return Err(RenameInamesError::Instances {
                instruction: before.id.clone(),
                old: old.clone(),
                new: new.clone(),
                before: were.to_string(),
                after: are.to_string(),
            });
        }
    }
    Ok(())
}

/// Checks that two inames run over the same values, for all values of the parameters and of the other inames of their domain.
fn check_values(kernel: &LoopKernel, old: &Name, new: &Name) -> Result<(), RenameInamesError> {
    let home = |iname: &Name| kernel.domains.iter().find(|domain| domain.has_dim(iname));
    let (Some(old_home), Some(new_home)) = (home(old), home(new)) else { return Ok(()) };
    let (old_values, new_values) = if old_home.has_dim(new) {
        let others: Vec<Name> = old_home.dims().iter().filter(|dim| *dim != old && *dim != new).cloned().collect();
        let beside = |iname: &Name| old_home.project_onto(&[&others[..], std::slice::from_ref(iname)].concat());
        (beside(old)?, beside(new)?)
    } else {
        (old_home.project_onto(std::slice::from_ref(old))?, new_home.project_onto(std::slice::from_ref(new))?)
    };
    if renamed(&old_values, old, new)?.is_equal(&new_values)? {
        return Ok(());
    }
    let (old_domain, new_domain) = (old_values.to_string(), new_values.to_string());
    Err(RenameInamesError::Domains { old: old.clone(), new: new.clone(), old_domain, new_domain })
}
