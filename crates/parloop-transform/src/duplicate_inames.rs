//! `duplicate_inames`: gives some instructions their own inames.

use std::collections::BTreeMap;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{InameTag, LoopKernel};
use parloop_isl::Name;

use super::replace::{self, Group, InameError};
use super::rewrite::Scope;
use super::tag_inames::{TagInamesError, add_tag};

/// Which inames get a copy, for which instructions, and what the copies are called.
///
/// ```
/// use parloop_loop::{matching::{Glob, Query}, transform::Duplicate};
/// let duplicate = Duplicate::of(["i"]).within(Query::Id(Glob::new("init"))).suffix("_init");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    inames: Vec<Name>,
    names: Vec<Name>,
    suffix: String,
    tags: BTreeMap<Name, InameTag>,
    within: Query,
}

impl Duplicate {
    /// Those inames, for all instructions.
    pub fn of<N: Into<Name>>(inames: impl IntoIterator<Item = N>) -> Duplicate {
        let inames = inames.into_iter().map(Into::into).collect();
        Duplicate { inames, names: Vec::new(), suffix: String::new(), tags: BTreeMap::new(), within: Query::All }
    }

    /// Only in those instructions.
    pub fn within(mut self, query: Query) -> Duplicate {
        self.within = query;
        self
    }

    /// With those names for the copies, one for each iname.
    pub fn named<N: Into<Name>>(mut self, names: impl IntoIterator<Item = N>) -> Duplicate {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// With names that end so, where none are given.
    pub fn suffix(mut self, suffix: impl Into<String>) -> Duplicate {
        self.suffix = suffix.into();
        self
    }

    /// With a tag for the copy of that iname.
    pub fn tag(mut self, iname: impl Into<Name>, tag: InameTag) -> Duplicate {
        self.tags.insert(iname.into(), tag);
        self
    }
}

/// Why inames cannot be duplicated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DuplicateInamesError {
    /// There are more or fewer names than inames.
    #[error("{inames} inames are duplicated, but {names} names were given for the copies; give one for each")]
    Names {
        /// How many inames there are.
        inames: usize,
        /// How many names.
        names: usize,
    },
    /// The inames cannot be replaced.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// A tag conflicts.
    #[error(transparent)]
    Tag(#[from] TagInamesError),
}

/// Gives instructions copies of inames, which run over the same values. Copies have only the given tags. Inames that are no longer used are
/// removed.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, transform::{Duplicate, duplicate_inames}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1\nb[i] = 2 {id=two}").build_kernel()?;
/// let kernel = duplicate_inames(&kernel, &Duplicate::of(["i"]).within(parse::query("id:two")?))?;
/// assert_eq!(kernel.instructions[1].lhs()[0].to_string(), "b[i_0]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, a name is taken, or the bounds of another iname that both kinds of instructions use depend on one of them.
pub fn duplicate_inames(kernel: &LoopKernel, duplicate: &Duplicate) -> Result<LoopKernel, DuplicateInamesError> {
    let scope = Scope::of(kernel, &duplicate.within);
    if scope.is_empty() {
        return Ok(kernel.clone());
    }
    if !duplicate.names.is_empty() && duplicate.names.len() != duplicate.inames.len() {
        return Err(DuplicateInamesError::Names { inames: duplicate.inames.len(), names: duplicate.names.len() });
    }
    let mut names = UniqueNames::of_variables(kernel);
    let mut groups = Vec::with_capacity(duplicate.inames.len());
    for (index, iname) in duplicate.inames.iter().enumerate() {
        replace::known(kernel, iname)?;
        let copy = replace::fresh(kernel, &mut names, duplicate.names.get(index), &format!("{iname}{}", duplicate.suffix))?;
        groups.push(Group::rename(iname, &copy));
    }
    let mut result = replace::replace(kernel, &scope, &groups, &|domain, group| {
        domain.rename(&|name| (*name == group.old[0]).then(|| group.new[0].clone()))
    })?;
    for (iname, tag) in &duplicate.tags {
        if let Some(group) = groups.iter().find(|group| group.old[0] == *iname) {
            add_tag(result.inames.entry(group.new[0].clone()).or_default(), &group.new[0], tag)?;
        } else {
            replace::known(kernel, iname)?;
        }
    }
    Ok(result)
}
