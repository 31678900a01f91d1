//! `join_inames`: joins several inames into one that runs over all of their values.

use std::collections::BTreeMap;

use parloop_ir::affine::from_affine;
use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{BinaryOp, Expr, InameTag, LoopKernel};
use parloop_isl::{Affine, IslError, Name, Set};

use super::replace::{self, Group, InameError};
use super::rewrite::Scope;
use super::tag_inames::{TagInamesError, add_tag};

/// Which inames become one, and what it is called.
///
/// ```
/// use parloop_loop::{syntax::InameTag, transform::Join};
/// let join = Join::of(["i", "j"]).named("ij").tag(InameTag::Local(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    inames: Vec<Name>,
    name: Option<Name>,
    tags: Vec<InameTag>,
    within: Query,
}

impl Join {
    /// Those inames, the last of which varies fastest.
    pub fn of<N: Into<Name>>(inames: impl IntoIterator<Item = N>) -> Join {
        Join { inames: inames.into_iter().map(Into::into).collect(), name: None, tags: Vec::new(), within: Query::All }
    }

    /// With that name, instead of those of the inames from the fastest on with `_and_` between them.
    pub fn named(mut self, name: impl Into<Name>) -> Join {
        self.name = Some(name.into());
        self
    }

    /// With a tag.
    pub fn tag(mut self, tag: InameTag) -> Join {
        self.tags.push(tag);
        self
    }

    /// Only in those instructions.
    pub fn within(mut self, query: Query) -> Join {
        self.within = query;
        self
    }
}

/// Why inames cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// No inames at all.
    #[error("no inames to join were given")]
    Nothing,
    /// An iname was given twice.
    #[error("iname `{iname}` cannot be joined with itself")]
    Twice {
        /// The iname.
        iname: Name,
    },
    /// The inames are not in one domain.
    #[error("inames `{first}` and `{second}` are in different domains and cannot be joined")]
    Apart {
        /// An iname.
        first: Name,
        /// One of another domain.
        second: Name,
    },
    /// The number of values is not known.
    #[error(
        "iname `{iname}` does not have a constant number of values in `{domain}`; only the first of the joined inames, which varies slowest, may have a variable number"
    )]
    NoLength {
        /// The iname.
        iname: Name,
        /// Its domain.
        domain: String,
    },
    /// The inames cannot be replaced.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// The tag conflicts.
    #[error(transparent)]
    Tag(#[from] TagInamesError),
}

impl From<IslError> for JoinError {
    fn from(error: IslError) -> JoinError {
        JoinError::Iname(error.into())
    }
}

/// Joins several inames into one, the reverse of [`split_iname`](super::split_iname). All but the first have a constant number of values.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::{Join, join_inames}};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i<n and 0<=j<4}").instructions("out[i,j] = 1").build_kernel()?;
/// let kernel = join_inames(&kernel, &Join::of(["i", "j"]).named("ij"))?;
/// assert_eq!(kernel.instructions[0].lhs()[0].to_string(), "out[ij // 4, ij % 4]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, the inames are of different domains, a number of values is not known, or an instruction or a reduction runs
/// over some of the inames alone.
pub fn join_inames(kernel: &LoopKernel, join: &Join) -> Result<LoopKernel, JoinError> {
    let scope = Scope::of(kernel, &join.within);
    if scope.is_empty() {
        return Ok(kernel.clone());
    }
    let home = home(kernel, &join.inames)?;
    let fastest_first: Vec<&str> = join.inames.iter().rev().map(Name::as_str).collect();
    let mut names = UniqueNames::of_variables(kernel);
    let name = replace::fresh(kernel, &mut names, join.name.as_ref(), &fastest_first.join("_and_"))?;
    let mut values = BTreeMap::new();
    let mut affines = Vec::new();
    let mut stride = 1;
    for (index, iname) in join.inames.iter().enumerate().rev() {
        let (first, length) = if index == 0 {
            (slowest_first(home, iname)?, None)
        } else {
            box_of(home, iname).map(|(first, length)| (first, Some(length)))?
        };
        let (value, affine) = part(&name, stride, length, &first)?;
        values.insert(iname.clone(), value);
        affines.push((iname.clone(), affine));
        let overflow = || IslError::Overflow { what: home.to_string() };
        stride = length.map_or(Some(stride), |length| stride.checked_mul(length)).ok_or_else(overflow)?;
    }
    let group = Group { old: join.inames.clone(), new: vec![name.clone()], values, keeps_order: true };
    let mut result = replace::replace(kernel, &scope, &[group], &|domain, group| {
        let mut joined = replace::add_beside(domain, &group.old[0], &[&name]);
        for (iname, affine) in &affines {
            joined = replace::put(&joined, iname, affine)?;
        }
        joined.simplify()
    })?;
    let entry = result.inames.entry(name.clone()).or_default();
    for tag in &join.tags {
        add_tag(entry, &name, tag)?;
    }
    Ok(result)
}

/// The domain that all inames are in.
fn home<'a>(kernel: &'a LoopKernel, inames: &[Name]) -> Result<&'a Set, JoinError> {
    let first = inames.first().ok_or(JoinError::Nothing)?;
    for (index, iname) in inames.iter().enumerate() {
        replace::known(kernel, iname)?;
        if inames[..index].contains(iname) {
            return Err(JoinError::Twice { iname: iname.clone() });
        }
    }
    let home = kernel.domains.iter().find(|domain| domain.has_dim(first)).ok_or(JoinError::Nothing)?;
    match inames.iter().find(|iname| !home.has_dim(iname)) {
        Some(second) => Err(JoinError::Apart { first: first.clone(), second: second.clone() }),
        None => Ok(home),
    }
}

/// A lower bound of an iname and how many values it has at most from there.
fn box_of(home: &Set, iname: &Name) -> Result<(Affine, i64), JoinError> {
    let bounds = home.project_onto(std::slice::from_ref(iname))?.bounds(iname)?;
    let mut best: Option<(i64, Affine)> = None;
    for lower in bounds.lower.iter().filter(|lower| lower.divisor == 1) {
        for upper in &bounds.upper {
            let difference = upper.affine.sub(&lower.affine.scale(upper.divisor)?)?;
            let Some(last) = difference.as_constant().map(|difference| difference.div_euclid(upper.divisor)) else { continue };
            let length = last.saturating_add(1).max(1);
            if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                best = Some((length, lower.affine.clone()));
            }
        }
    }
    let (length, first) = best.ok_or_else(|| JoinError::NoLength { iname: iname.clone(), domain: home.to_string() })?;
    Ok((first, length))
}

/// A lower bound of the iname that varies slowest; any number will do, and a bound makes the joined iname start at zero.
fn slowest_first(home: &Set, iname: &Name) -> Result<Affine, JoinError> {
    let bounds = home.project_onto(std::slice::from_ref(iname))?.bounds(iname)?;
    let lower = bounds.lower.into_iter().find(|lower| lower.divisor == 1);
    Ok(lower.map_or_else(|| Affine::constant(0), |lower| lower.affine))
}

/// `(joined // stride) % length + first`, for the kernel and for the domains.
fn part(joined: &Name, stride: i64, length: Option<i64>, first: &Affine) -> Result<(Expr, Affine), IslError> {
    let (mut value, mut affine) = (Expr::var(joined), Affine::name(joined));
    if stride != 1 {
        value = Expr::binary(BinaryOp::FloorDivide, value, Expr::int(stride));
        affine = Affine::floor(&affine, stride)?;
    }
    if let Some(length) = length {
        value = Expr::binary(BinaryOp::Modulo, value, Expr::int(length));
        affine = Affine::modulo(&affine, length)?;
    }
    if first.as_constant() != Some(0) {
        value = Expr::binary(BinaryOp::Add, value, from_affine(first));
    }
    Ok((value, affine.add(first)?))
}
