//! `split_iname`: splits an iname into an outer and an inner one of given length.

use std::collections::BTreeMap;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{BinaryOp, Expr, InameTag, LoopKernel};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::replace::{self, Group, InameError};
use super::rewrite::Scope;
use super::tag_inames::{TagInamesError, add_tag};

/// How an iname is split.
///
/// ```
/// use parloop_loop::{syntax::InameTag, transform::Split};
/// let split = Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(0)).inner_name("lane");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The length of the inner iname, or the number of chunks.
    pub(super) length: i64,
    pub(super) outer_name: Option<Name>,
    pub(super) inner_name: Option<Name>,
    pub(super) outer_tags: Vec<InameTag>,
    pub(super) inner_tags: Vec<InameTag>,
    pub(super) slabs: (u32, u32),
    pub(super) within: Query,
    pub(super) any_tag: bool,
}

impl Split {
    /// With an inner iname of that length (or, for [`chunk_iname`](super::chunk_iname), into this many chunks), named after the iname that is split.
    pub fn by(length: i64) -> Split {
        Split {
            length,
            outer_name: None,
            inner_name: None,
            outer_tags: Vec::new(),
            inner_tags: Vec::new(),
            slabs: (0, 0),
            within: Query::All,
            any_tag: false,
        }
    }

    /// With a tag for the outer iname.
    pub fn outer(mut self, tag: InameTag) -> Split {
        self.outer_tags.push(tag);
        self
    }

    /// With a tag for the inner iname.
    pub fn inner(mut self, tag: InameTag) -> Split {
        self.inner_tags.push(tag);
        self
    }

    /// With that name for the outer iname, instead of `i_outer`.
    pub fn outer_name(mut self, name: impl Into<Name>) -> Split {
        self.outer_name = Some(name.into());
        self
    }

    /// With that name for the inner iname, instead of `i_inner`.
    pub fn inner_name(mut self, name: impl Into<Name>) -> Split {
        self.inner_name = Some(name.into());
        self
    }

    /// With separate code for that many of the first and last values of the outer iname.
    pub fn slabs(mut self, first: u32, last: u32) -> Split {
        self.slabs = (first, last);
        self
    }

    /// Only in those instructions; the others keep the iname.
    pub fn within(mut self, query: Query) -> Split {
        self.within = query;
        self
    }

    /// Even if the iname has a tag, which both parts then get.
    pub fn of_any_tag(mut self) -> Split {
        self.any_tag = true;
        self
    }
}

/// Why an iname cannot be split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The length is zero or negative.
    #[error("iname `{iname}` cannot be split by {length}: the length must be at least 1")]
    Length {
        /// The iname.
        iname: Name,
        /// The length that was asked for.
        length: i64,
    },
    /// The iname is already tagged.
    #[error("iname `{iname}` is tagged `{tag}` and cannot be split; split it first and tag its parts")]
    Tagged {
        /// The iname.
        iname: Name,
        /// Its tag.
        tag: InameTag,
    },
    /// The iname cannot be replaced.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// A tag of a part does not fit.
    #[error(transparent)]
    Tag(#[from] TagInamesError),
}

impl From<IslError> for SplitError {
    fn from(error: IslError) -> SplitError {
        SplitError::Iname(error.into())
    }
}

/// Splits an iname `i` into `i_outer` and `i_inner`, so that `i = i_inner + length*i_outer` and `0 <= i_inner < length`. The last inner
/// loop is shorter if the length does not divide evenly. A reduction over `i` becomes one over both. The parts have only the given tags.
///
/// If the query selects no instruction, the kernel is returned unchanged.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, syntax::InameTag, transform::{Split, split_iname}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = split_iname(&kernel, "i", &Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(0)))?;
/// assert_eq!(kernel.domains[0].dims(), ["i_outer", "i_inner"]);
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "2*a[i_inner + i_outer*16]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, the length is less than 1, the iname is tagged, a name is taken, or the iname sweeps an array for a call.
pub fn split_iname(kernel: &LoopKernel, iname: &str, split: &Split) -> Result<LoopKernel, SplitError> {
    let scope = Scope::of(kernel, &split.within);
    if scope.is_empty() {
        return Ok(kernel.clone());
    }
    let parts = Parts::of(kernel, iname, split)?;
    let length = split.length;
    let product = Expr::binary(BinaryOp::Multiply, Expr::var(&parts.outer), Expr::int(length));
    let value = Expr::binary(BinaryOp::Add, Expr::var(&parts.inner), product);
    let whole = Affine::name(&parts.outer).scale(length)?.add(&Affine::name(&parts.inner))?;
    parts.replace(kernel, &scope, value, &|domain, iname| {
        let domain = replace::add_beside(domain, iname, &[&parts.outer, &parts.inner]);
        domain.constrain(&range(&parts.inner, length)?)?.substitute(iname, &whole)
    })
}

/// The iname that is split, checked, and the names of its parts.
pub(super) struct Parts<'a> {
    iname: Name,
    pub outer: Name,
    pub inner: Name,
    split: &'a Split,
}

impl Parts<'_> {
    pub fn of<'a>(kernel: &LoopKernel, iname: &str, split: &'a Split) -> Result<Parts<'a>, SplitError> {
        replace::known(kernel, iname)?;
        if split.length < 1 {
            return Err(SplitError::Length { iname: iname.into(), length: split.length });
        }
        let sequential = |tag: &InameTag| matches!(tag, InameTag::Loop | InameTag::Ordered);
        let placed = kernel.inames[iname].tags.iter().find(|tag| tag.is_placing() && !sequential(tag));
        if let Some(tag) = placed.filter(|_| !split.any_tag) {
            return Err(SplitError::Tagged { iname: iname.into(), tag: tag.clone() });
        }
        let mut names = UniqueNames::of_variables(kernel);
        let outer = replace::fresh(kernel, &mut names, split.outer_name.as_ref(), &format!("{iname}_outer"))?;
        let inner = replace::fresh(kernel, &mut names, split.inner_name.as_ref(), &format!("{iname}_inner"))?;
        Ok(Parts { iname: iname.into(), outer, inner, split })
    }

    /// The kernel with the parts in place of the iname, which is `value`, and in the domains as `forward` says.
    pub fn replace(
        &self,
        kernel: &LoopKernel,
        scope: &Scope,
        value: Expr,
        forward: &dyn Fn(&Set, &Name) -> Result<Set, IslError>,
    ) -> Result<LoopKernel, SplitError> {
        let values = BTreeMap::from([(self.iname.clone(), value)]);
        let group = Group { old: vec![self.iname.clone()], new: vec![self.outer.clone(), self.inner.clone()], values, keeps_order: true };
        let mut result = replace::replace(kernel, scope, &[group], &|domain, _| forward(domain, &self.iname))?;
        let inherited: Vec<InameTag> = kernel.inames[&self.iname].tags.iter().filter(|tag| tag.is_placing()).cloned().collect();
        for (part, tags) in [(&self.outer, &self.split.outer_tags), (&self.inner, &self.split.inner_tags)] {
            let entry = result.inames.entry(part.clone()).or_default();
            for tag in if tags.iter().any(InameTag::is_placing) { &[] } else { inherited.as_slice() }.iter().chain(tags) {
                add_tag(entry, part, tag)?;
            }
        }
        result.inames.entry(self.outer.clone()).or_default().slabs = self.split.slabs;
        Ok(result)
    }
}

/// `0 <= name < length`.
pub(super) fn range(name: &Name, length: i64) -> Result<[Constraint; 2], IslError> {
    let name = Affine::name(name);
    let last = Affine::constant(length - 1).sub(&name)?;
    Ok([Constraint::not_negative(name), Constraint::not_negative(last)])
}
