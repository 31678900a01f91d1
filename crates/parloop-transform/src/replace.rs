//! Replacement of inames in instructions, rules, priorities and domains, shared by splitting, joining, renaming and duplicating.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::{Expr, Iname, Instruction, LoopKernel, Reduction, ReductionOp, SubArray};
use parloop_isl::{Affine, IslError, Name, Set};

use super::rewrite::{self, Scope};

/// Why inames cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InameError {
    /// Unknown iname.
    #[error("kernel `{kernel}` has no iname `{iname}`{near}")]
    Unknown {
        /// The kernel.
        kernel: Name,
        /// The name.
        iname: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// A name is already taken.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another one")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
    /// The axes of a call's array would change.
    #[error(
        "iname `{iname}` sweeps array `{array}` for a call, whose axes would change; split, join or map inames of the called kernel instead"
    )]
    Swept {
        /// The iname.
        iname: Name,
        /// The array.
        array: Name,
    },
    /// An instruction runs over some of the inames alone.
    #[error(
        "instruction `{instruction}` runs in `{present}` but not in `{absent}`; inames that are replaced together must be used together"
    )]
    Partly {
        /// The instruction.
        instruction: Name,
        /// An iname that it is within.
        present: Name,
        /// One that it is not within.
        absent: Name,
    },
    /// A reduction runs over some of the inames alone.
    #[error("a reduction is over `{present}` but not over `{absent}`; inames that are replaced together must be reduced together")]
    PartlyReduced {
        /// An iname that it is over.
        present: Name,
        /// One that it is not over.
        absent: Name,
    },
    /// The first of equal values would be another one.
    #[error(
        "a reduction `{op}` over `{iname}` takes the first of equal values, and its points would come in a different order; keep the order, or use an operation that does not depend on it"
    )]
    Reordered {
        /// The iname.
        iname: Name,
        /// The operation.
        op: ReductionOp,
    },
    /// A domain depends on an iname that is replaced for some of its users.
    #[error(
        "the bounds of `{dim}` depend on `{iname}`, and instructions inside and outside the query use `{dim}`; duplicate `{dim}` for one of them first"
    )]
    SharedDomain {
        /// The iname that is replaced.
        iname: Name,
        /// An iname of the domain.
        dim: Name,
    },
    /// A domain depends on an iname that several reductions get copies of.
    #[error(
        "the bounds of `{dim}` depend on `{iname}`, so reductions over `{iname}` cannot get copies of it; duplicate both for one of them first"
    )]
    BoundsDepend {
        /// The iname that was to be copied.
        iname: Name,
        /// An iname of the domain.
        dim: Name,
    },
    /// A query about the domains failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Checks that an iname exists.
pub(crate) fn known(kernel: &LoopKernel, iname: &str) -> Result<(), InameError> {
    if kernel.inames.contains_key(iname) {
        return Ok(());
    }
    Err(InameError::Unknown { kernel: kernel.name.clone(), iname: iname.into(), near: Near::of(iname, kernel.inames.keys()) })
}

/// The requested name, if it is free, or one made from `base`.
pub(crate) fn fresh(kernel: &LoopKernel, names: &mut UniqueNames, wanted: Option<&Name>, base: &str) -> Result<Name, InameError> {
    match wanted {
        None => Ok(names.make(base)),
        Some(name) if names.take(name) => Ok(name.clone()),
        Some(name) => Err(InameError::Taken { kernel: kernel.name.clone(), name: name.clone() }),
    }
}

/// A set with an expression in place of a name, if it has that name.
pub(crate) fn put(set: &Set, name: &Name, by: &Affine) -> Result<Set, IslError> {
    if set.has_dim(name) || set.params().contains(name) { set.substitute(name, by) } else { Ok(set.clone()) }
}

/// A set with further dimensions after one that it has; as it is, if it has no such dimension.
pub(crate) fn add_beside(set: &Set, dim: &str, names: &[&Name]) -> Set {
    if !set.has_dim(dim) {
        return set.clone();
    }
    let names: Vec<Name> = names.iter().map(|name| (*name).clone()).collect();
    let at = set.dims().iter().position(|other| other == dim).map_or(0, |place| place + 1);
    let order = [&set.dims()[..at], &names, &set.dims()[at..]].concat();
    set.add_dims(&names).reorder_dims(&order)
}

/// Inames that are replaced together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The old inames.
    pub old: Vec<Name>,
    /// Those that come, outer first.
    pub new: Vec<Name>,
    /// What each of those that go is in terms of those that come.
    pub values: BTreeMap<Name, Expr>,
    /// Whether the points have the same order in those that come as in those that go, the first iname counting most.
    pub keeps_order: bool,
}

impl Group {
    /// One iname under another name.
    pub fn rename(old: &Name, new: &Name) -> Group {
        let values = BTreeMap::from([(old.clone(), Expr::Variable(new.clone()))]);
        Group { old: vec![old.clone()], new: vec![new.clone()], values, keeps_order: true }
    }

    fn is_rename(&self) -> bool {
        self.old.len() == 1 && self.new.len() == 1 && self.values[&self.old[0]] == Expr::Variable(self.new[0].clone())
    }

    /// One of its old inames for which a test holds, and one for which it does not.
    fn sides(&self, test: &dyn Fn(&Name) -> bool) -> (Option<&Name>, Option<&Name>) {
        (self.old.iter().find(|iname| test(iname)), self.old.iter().find(|iname| !test(iname)))
    }
}

/// A list of inames in order, each once, with those of a group replaced at the first place of any of them.
pub(crate) fn in_list(inames: &[Name], group: &Group) -> Vec<Name> {
    let mut list: Vec<Name> = Vec::with_capacity(inames.len() + 1);
    for iname in inames {
        let replaced = if group.old.contains(iname) { group.new.as_slice() } else { std::slice::from_ref(iname) };
        replaced.iter().for_each(|name| {
            if !list.contains(name) {
                list.push(name.clone());
            }
        });
    }
    list
}

/// The instructions in scope, and the rules they use, with the inames of each group replaced. Domains, priorities and the table of inames stay.
pub(crate) fn in_code(kernel: &LoopKernel, scope: &Scope, groups: &[Group]) -> Result<LoopKernel, InameError> {
    let old: BTreeSet<&Name> = groups.iter().flat_map(|group| &group.old).collect();
    let any_old = |inames: &BTreeSet<Name>| inames.iter().any(|iname| old.contains(iname));
    let touched = scope.narrow(kernel, &|instruction| {
        !kernel.substitutions.is_empty()
            || any_old(&instruction.within_inames)
            || any_old(&instruction.reduction_inames())
            || any_old(&instruction.sub_array_inames())
    });
    let by: BTreeMap<&Name, &Expr> = groups.iter().flat_map(|group| &group.values).collect();
    let kernel = rewrite::rewrite(kernel, &touched, &mut |expr, hidden| match &expr {
        Expr::Variable(name) => Ok(by.get(name).map_or(expr.clone(), |value| (*value).clone())),
        Expr::Reduction(reduction) => in_reduction(reduction, groups, hidden),
        Expr::SubArray(part) => in_sub_array(part, groups),
        _ => Ok(expr),
    })?;
    let instructions = touched.map(&kernel, &mut |instruction| in_within(instruction, groups))?;
    Ok(in_times(LoopKernel { instructions, ..kernel }, groups))
}

/// The times of instructions, with inames replaced of which the instructions are not, or no longer, within the old ones. An instruction may
/// stand for instances of others: these names go with the inames, whatever is in scope.
fn in_times(kernel: LoopKernel, groups: &[Group]) -> LoopKernel {
    let mut kernel = kernel;
    for instruction in &mut kernel.instructions {
        let gone = groups.iter().filter(|group| !group.old.iter().any(|iname| instruction.within_inames.contains(iname)));
        let (mut by, mut new) = (BTreeMap::new(), Vec::new());
        for group in gone {
            by.extend(group.values.iter().map(|(name, value)| (name.clone(), value.clone())));
            new.extend(group.new.iter().cloned());
        }
        let origin = instruction.origin.substitute(&by, &new);
        if origin != *instruction.origin {
            Arc::make_mut(instruction).origin = Arc::new(origin);
        }
    }
    kernel
}

fn in_reduction(reduction: &Arc<Reduction>, groups: &[Group], hidden: &[Name]) -> Result<Expr, InameError> {
    let mut inames = reduction.inames.clone();
    for group in groups {
        match group.sides(&|iname| reduction.inames.contains(iname) && !hidden.contains(iname)) {
            (None, _) => {}
            (Some(present), Some(absent)) => {
                return Err(InameError::PartlyReduced { present: present.clone(), absent: absent.clone() });
            }
            (Some(iname), None) => {
                let is_kept = group.keeps_order && reduction.inames.windows(group.old.len()).any(|part| part == group.old);
                if reduction.op.has_order() && !is_kept {
                    return Err(InameError::Reordered { iname: iname.clone(), op: reduction.op.clone() });
                }
                inames = in_list(&inames, group);
            }
        }
    }
    Ok(Expr::Reduction(if inames == reduction.inames {
        reduction.clone()
    } else {
        Arc::new(Reduction { inames, ..(**reduction).clone() })
    }))
}

fn in_sub_array(part: &Arc<SubArray>, groups: &[Group]) -> Result<Expr, InameError> {
    let mut inames = part.inames.clone();
    for group in groups {
        if let Some(iname) = group.old.iter().find(|iname| part.inames.contains(iname)) {
            if !group.is_rename() {
                return Err(InameError::Swept { iname: iname.clone(), array: part.array.clone() });
            }
            inames = in_list(&inames, group);
        }
    }
    Ok(Expr::SubArray(if inames == part.inames { part.clone() } else { Arc::new(SubArray { inames, ..(**part).clone() }) }))
}

fn in_within(instruction: &Arc<Instruction>, groups: &[Group]) -> Result<Arc<Instruction>, InameError> {
    let mut within = instruction.within_inames.clone();
    for group in groups {
        match group.sides(&|iname| instruction.within_inames.contains(iname)) {
            (None, _) => {}
            (Some(present), Some(absent)) => {
                let instruction = instruction.id.clone();
                return Err(InameError::Partly { instruction, present: present.clone(), absent: absent.clone() });
            }
            (Some(_), None) => {
                within.retain(|iname| !group.old.contains(iname));
                within.extend(group.new.iter().cloned());
            }
        }
    }
    Ok(if within == instruction.within_inames {
        instruction.clone()
    } else {
        Arc::new(Instruction { within_inames: within, ..(**instruction).clone() })
    })
}

/// How a domain is written in the inames that come with a group: without those that go, which are dimensions or parameters of it.
pub(crate) type Forward<'a> = dyn Fn(&Set, &Group) -> Result<Set, IslError> + 'a;

/// The kernel with the inames of each group replaced everywhere: as [`in_code`], and in domains, priorities and the table of inames.
/// Inames that instructions out of scope use stay beside those that come.
pub(crate) fn replace(kernel: &LoopKernel, scope: &Scope, groups: &[Group], forward: &Forward<'_>) -> Result<LoopKernel, InameError> {
    let changed = in_code(kernel, scope, groups)?;
    let stay = if scope.is_whole() { BTreeSet::new() } else { rewrite::inames_used_by(kernel, scope.instructions(kernel, false)) };
    let (staying, going): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(|group| group.old.iter().any(|iname| stay.contains(iname)));
    let domains = Domains { kernel, scope, staying: &staying, going: &going, forward }.all()?;
    let mut inames = kernel.inames.clone();
    going.iter().flat_map(|group| &group.old).for_each(|iname| drop(inames.remove(iname)));
    inames.extend(groups.iter().flat_map(|group| &group.new).map(|iname| (iname.clone(), Iname::default())));
    let mut priorities = BTreeSet::new();
    for chain in &kernel.priorities {
        let kept = going.iter().fold(chain.clone(), |chain, group| in_list(&chain, group));
        priorities.insert(staying.iter().fold(kept.clone(), |chain, group| in_list(&chain, group)));
        priorities.insert(kept);
    }
    Ok(LoopKernel { domains, inames, priorities, ..changed })
}

/// What becomes of the domains.
struct Domains<'a> {
    kernel: &'a LoopKernel,
    scope: &'a Scope,
    staying: &'a [&'a Group],
    going: &'a [&'a Group],
    forward: &'a Forward<'a>,
}

impl Domains<'_> {
    fn all(&self) -> Result<Vec<Set>, InameError> {
        let mut domains = Vec::with_capacity(self.kernel.domains.len() + self.staying.len());
        for domain in &self.kernel.domains {
            self.one(domain, &mut domains)?;
        }
        Ok(domains)
    }

    fn one(&self, domain: &Set, domains: &mut Vec<Set>) -> Result<(), InameError> {
        let kept = self.write(domain, self.going)?;
        let mentions = |names: &[Name], group: &Group| group.old.iter().any(|iname| names.contains(iname));
        let staying: Vec<&Group> =
            self.staying.iter().copied().filter(|group| mentions(domain.dims(), group) || mentions(domain.params(), group)).collect();
        if staying.is_empty() {
            domains.push(kept);
            return Ok(());
        }
        let written = self.write(&kept, &staying)?;
        let as_param = staying.iter().find(|group| mentions(domain.params(), group));
        if written.dims().iter().all(|dim| !kept.has_dim(dim)) {
            domains.extend([kept, written]);
        } else if let Some(group) = as_param {
            match (self.is_used(domain, true), self.is_used(domain, false)) {
                (true, true) => {
                    let dim = domain.dims().first().cloned().unwrap_or_else(|| Name::from(""));
                    return Err(InameError::SharedDomain { iname: group.old[0].clone(), dim });
                }
                (true, false) => domains.push(written),
                (false, _) => domains.push(kept),
            }
        } else {
            domains.push(kept.join(&written)?);
        }
        Ok(())
    }

    fn write(&self, domain: &Set, groups: &[&Group]) -> Result<Set, InameError> {
        let mut written = domain.clone();
        for group in groups {
            if group.old.iter().any(|iname| written.has_dim(iname) || written.params().contains(iname)) {
                written = (self.forward)(&written, group)?;
            }
        }
        Ok(written)
    }

    /// Whether instructions inside or outside the scope use a dimension of the domain.
    fn is_used(&self, domain: &Set, inside: bool) -> bool {
        let used = rewrite::inames_used_by(self.kernel, self.scope.instructions(self.kernel, inside));
        domain.dims().iter().any(|dim| used.contains(dim))
    }
}
