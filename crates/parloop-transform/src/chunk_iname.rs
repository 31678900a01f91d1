//! `chunk_iname`: splits an iname into an outer one over a given number of chunks and an inner one over the values of a chunk.

use std::sync::Arc;

use parloop_ir::affine::from_affine;
use parloop_ir::fold;
use parloop_ir::syntax::{BinaryOp, Expr, LoopKernel};
use parloop_isl::{Affine, Constraint, ConstraintKind, IslError, Name, Set};

use super::replace::{self, InameError};
use super::rewrite::Scope;
use super::split_iname::{Parts, Split, SplitError, range};

/// Why an iname cannot be divided into chunks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The bounds of the iname depend on another iname, or those of another depend on it.
    #[error(
        "iname `{iname}` cannot be divided into chunks: its values in `{domain}` are not a contiguous range whose bounds depend only on parameters"
    )]
    NoBox {
        /// The iname.
        iname: Name,
        /// A domain that it is in.
        domain: String,
    },
    /// It cannot be split.
    #[error(transparent)]
    Split(#[from] SplitError),
}

impl From<InameError> for ChunkError {
    fn from(error: InameError) -> ChunkError {
        ChunkError::Split(error.into())
    }
}

impl From<IslError> for ChunkError {
    fn from(error: IslError) -> ChunkError {
        ChunkError::Split(error.into())
    }
}

/// Divides the values of an iname into `split.by` chunks, whose lengths differ by at most one: the outer iname counts the chunks, the inner
/// one the values of a chunk.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::{Split, chunk_iname}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = chunk_iname(&kernel, "i", &Split::by(4))?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "2*a[i_inner + n // 4*i_outer + minimum(i_outer, n % 4)]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`split_iname`](super::split_iname); and when the bounds of the iname depend on other inames, or those of others on it.
pub fn chunk_iname(kernel: &LoopKernel, iname: &str, split: &Split) -> Result<LoopKernel, ChunkError> {
    let scope = Scope::of(kernel, &split.within);
    if scope.is_empty() {
        return Ok(kernel.clone());
    }
    let parts = Parts::of(kernel, iname, split)?;
    let (first, length) = bounds(kernel, iname)?;
    let value = fold::add(from_affine(&first), offset(&parts, &from_affine(&length), split.length));
    // The pairs of chunk and place in it are counted along the chunks, as the longer chunks come first.
    let counted = Affine::name(&parts.inner).scale(split.length)?.add(&Affine::name(&parts.outer))?.add(&first)?;
    let digits = vec![Expr::var(&parts.outer), Expr::var(&parts.inner)];
    let mut chunked = parts.replace(kernel, &scope, value.clone(), &|domain, iname| {
        let domain = replace::add_beside(domain, iname, &[&parts.outer, &parts.inner]);
        let from_zero = Constraint::not_negative(Affine::name(&parts.inner));
        domain.constrain(&range(&parts.outer, split.length)?)?.constrain(&[from_zero])?.substitute(iname, &counted)
    })?;
    // The chunks follow one another, whatever their lengths are.
    for instruction in chunked.instructions.iter_mut().filter(|instruction| instruction.within_inames.contains(&parts.outer)) {
        let instruction = Arc::make_mut(instruction);
        Arc::make_mut(&mut instruction.origin).lexical.push((value.clone(), digits.clone()));
    }
    Ok(chunked)
}

/// The first value of an iname and the number of its values.
fn bounds(kernel: &LoopKernel, iname: &str) -> Result<(Affine, Affine), ChunkError> {
    let no_box = |domain: &Set| ChunkError::NoBox { iname: iname.into(), domain: domain.to_string() };
    if let Some(domain) = kernel.domains.iter().find(|domain| domain.params().iter().any(|param| param == iname)) {
        return Err(no_box(domain));
    }
    let Some(home) = kernel.domains.iter().find(|domain| domain.has_dim(iname)) else {
        return Err(replace::known(kernel, iname).err().map_or_else(|| no_box(&Set::universe(&[], &[])), ChunkError::from));
    };
    let others = || home.dims().iter().filter(|dim| *dim != iname);
    let [piece] = home.pieces() else { return Err(no_box(home)) };
    if piece.iter().any(|constraint| constraint.affine.mentions(iname) && others().any(|dim| constraint.affine.mentions(dim))) {
        return Err(no_box(home));
    }
    // Chunks have all values between their first and their last one.
    let has_gaps = |constraint: &Constraint| {
        constraint.affine.mentions(iname) && (constraint.affine.has_floors() || constraint.kind == ConstraintKind::Zero)
    };
    if piece.iter().any(has_gaps) {
        return Err(no_box(home));
    }
    let bounds = home.bounds(iname)?;
    match (bounds.lower.as_slice(), bounds.upper.as_slice()) {
        ([lower], [upper]) if lower.divisor == 1 && upper.divisor == 1 => {
            let length = upper.affine.sub(&lower.affine)?.add(&Affine::constant(1))?;
            Ok((lower.affine.clone(), length))
        }
        _ => Err(no_box(home)),
    }
}

/// How far the value of a chunk and a place in it is from the first one.
fn offset(parts: &Parts<'_>, length: &Expr, chunks: i64) -> Expr {
    let (outer, inner) = (Expr::var(&parts.outer), Expr::var(&parts.inner));
    let short = fold::floor_divide(length.clone(), Expr::int(chunks));
    let longer = match fold::as_int(length) {
        Some(length) => Expr::int(length.rem_euclid(chunks)),
        None => Expr::binary(BinaryOp::Modulo, length.clone(), Expr::int(chunks)),
    };
    // Every chunk before this one has `short` values, and the first `longer` chunks have one more.
    let before = Expr::Min(Arc::new([outer.clone(), longer.clone()]));
    let extra = if fold::as_int(&longer) == Some(0) { Expr::int(0) } else { before };
    fold::add(fold::add(inner, fold::multiply(short, outer)), extra)
}
