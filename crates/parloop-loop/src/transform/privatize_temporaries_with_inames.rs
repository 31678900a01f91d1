//! `privatize_temporaries_with_inames`: each value of some inames gets a copy of the temporaries that are written inside of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::{Affine, IslError, Name};

use super::precompute::domain_of;
use crate::affine::from_affine;
use crate::fold;
use crate::names::Near;
use crate::syntax::{DimTag, Expr, InameTag, Instruction, Layout, LoopKernel, Shape, Stride};

/// Why temporaries cannot have copies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrivatizeTemporariesError {
    /// There is no such iname.
    #[error("kernel `{kernel}` has no iname `{iname}`{near}")]
    UnknownIname {
        /// The kernel.
        kernel: Name,
        /// The name asked for.
        iname: Name,
        /// What may have been meant.
        near: Near,
    },
    /// There is no such temporary.
    #[error("kernel `{kernel}` has no temporary `{name}`{near}")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name asked for.
        name: Name,
        /// What may have been meant.
        near: Near,
    },
    /// Writers are inside of different ones.
    #[error("`{name}` is written inside of `{}` by `{instruction}`, but not so by others", .inames.join("`, `"))]
    WritersDiffer {
        /// The temporary.
        name: Name,
        /// A writer.
        instruction: Name,
        /// The inames that it is inside of.
        inames: Vec<String>,
    },
    /// A user is not inside of them.
    #[error("`{instruction}` uses `{name}`, but is not inside of `{iname}`; put it there first")]
    OutsideUser {
        /// The temporary.
        name: Name,
        /// The user.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// It is used in a way that has no further index.
    #[error("`{instruction}` uses `{name}` {how}, which has no place for a further index")]
    OtherUse {
        /// The temporary.
        name: Name,
        /// The user.
        instruction: Name,
        /// How.
        how: &'static str,
    },
    /// The shape is not known.
    #[error("the shape of `{name}` is not known; give it one")]
    NoShape {
        /// The temporary.
        name: Name,
    },
    /// The solver has no answer, or an iname has no end.
    #[error("{0}")]
    Solver(#[from] IslError),
}

/// Gives temporaries (all, if none are named) that are written inside of the inames, and not at an index of theirs, an axis for each of them.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::privatize_temporaries_with_inames;
/// let program = make_kernel("{[i, j]: 0<=i<8 and 0<=j<n}", "<>t = a[i, j] {id=get}\nb[i, j] = 2*t {dep=get}")?;
/// let kernel = privatize_temporaries_with_inames(program.entry().unwrap(), &["i".into()], None)?;
/// assert_eq!(kernel.instructions[1].rhs()[0].to_string(), "2*t[i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`PrivatizeTemporariesError`].
pub fn privatize_temporaries_with_inames(
    kernel: &LoopKernel,
    inames: &[Name],
    only: Option<&[Name]>,
) -> Result<LoopKernel, PrivatizeTemporariesError> {
    if let Some(iname) = inames.iter().find(|iname| !kernel.inames.contains_key(*iname)) {
        let near = Near::of(iname, kernel.inames.keys());
        return Err(PrivatizeTemporariesError::UnknownIname { kernel: kernel.name.clone(), iname: iname.clone(), near });
    }
    if let Some(name) = only.unwrap_or_default().iter().find(|name| !kernel.temporaries.contains_key(*name)) {
        let near = Near::of(name, kernel.temporaries.keys());
        return Err(PrivatizeTemporariesError::UnknownTemporary { kernel: kernel.name.clone(), name: name.clone(), near });
    }
    let mut axes: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    for name in kernel.temporaries.keys().filter(|name| only.is_none_or(|only| only.contains(name))) {
        let needed = needed_axes(kernel, name, inames)?;
        if !needed.is_empty() {
            axes.insert(name.clone(), needed);
        }
    }
    let mut result = kernel.clone();
    let mut extents: BTreeMap<Name, (Affine, Affine)> = BTreeMap::new();
    for iname in axes.values().flatten() {
        if !extents.contains_key(iname) {
            extents.insert(iname.clone(), extent(kernel, iname)?);
        }
    }
    for (name, inames) in &axes {
        if let Some(temporary) = result.temporaries.get_mut(name) {
            temporary.layout = widened(kernel, name, &temporary.layout, inames, &extents)?;
        }
    }
    for instruction in &mut result.instructions {
        let changed = instruction.try_map_exprs(&mut |expr| with_indices(expr, instruction, &axes, &extents))?;
        *instruction = Arc::new(changed);
    }
    Ok(result)
}

/// The inames by which a temporary needs copies.
fn needed_axes(kernel: &LoopKernel, name: &Name, inames: &[Name]) -> Result<Vec<Name>, PrivatizeTemporariesError> {
    let mut found: Option<Vec<Name>> = None;
    for writer in kernel.instructions.iter().filter(|instruction| instruction.writes().contains(name)) {
        let indices: BTreeSet<Name> =
            writer.lhs().into_iter().filter(|lhs| lhs.written_name() == Some(name)).flat_map(Expr::variables).collect();
        let here: Vec<Name> =
            inames.iter().filter(|iname| writer.within_inames.contains(*iname) && !indices.contains(*iname)).cloned().collect();
        match &found {
            Some(known) if *known != here => {
                let inames = if here.is_empty() { known } else { &here };
                let inames = inames.iter().map(Name::to_string).collect();
                return Err(PrivatizeTemporariesError::WritersDiffer { name: name.clone(), instruction: writer.id.clone(), inames });
            }
            _ => found = Some(here),
        }
    }
    Ok(found.unwrap_or_default())
}

/// The smallest value of an iname, and how many it has.
fn extent(kernel: &LoopKernel, iname: &Name) -> Result<(Affine, Affine), IslError> {
    let line = domain_of(kernel, std::slice::from_ref(iname))?.project_onto(std::slice::from_ref(iname))?;
    let least = line.static_min(iname, &kernel.assumptions)?;
    let length = line.static_max(iname, &kernel.assumptions)?.sub(&least)?.add(&Affine::constant(1))?;
    Ok((least, length))
}

fn widened(
    kernel: &LoopKernel,
    name: &Name,
    layout: &Layout,
    inames: &[Name],
    extents: &BTreeMap<Name, (Affine, Affine)>,
) -> Result<Layout, PrivatizeTemporariesError> {
    let Shape::Known(lengths) = &layout.shape else { return Err(PrivatizeTemporariesError::NoShape { name: name.clone() }) };
    let mut shape = lengths.clone();
    shape.extend(inames.iter().map(|iname| from_affine(&extents[iname].1)));
    let is_vector = |iname: &Name| kernel.inames[iname].tags.contains(&InameTag::Vector);
    // The layout is made afresh: in C order, with lanes where an iname is one.
    let strided = shape.len() - inames.iter().filter(|iname| is_vector(iname)).count();
    let mut level = strided;
    let mut dim_tags = Vec::with_capacity(shape.len());
    for axis in 0..shape.len() {
        if axis >= lengths.len() && is_vector(&inames[axis - lengths.len()]) {
            dim_tags.push(DimTag::Vector);
        } else {
            level -= 1;
            dim_tags.push(DimTag::Stride(Stride::Nested { level, pad_to: 1 }));
        }
    }
    Ok(Layout { dim_tags, axis_names: None, ..Layout::c_order(Shape::Known(shape)) })
}

fn with_indices(
    expr: &Expr,
    instruction: &Instruction,
    axes: &BTreeMap<Name, Vec<Name>>,
    extents: &BTreeMap<Name, (Affine, Affine)>,
) -> Result<Expr, PrivatizeTemporariesError> {
    let further = |name: &Name| -> Result<Option<Vec<Expr>>, PrivatizeTemporariesError> {
        let Some(inames) = axes.get(name) else { return Ok(None) };
        if let Some(iname) = inames.iter().find(|iname| !instruction.within_inames.contains(*iname)) {
            let (name, instruction, iname) = (name.clone(), instruction.id.clone(), iname.clone());
            return Err(PrivatizeTemporariesError::OutsideUser { name, instruction, iname });
        }
        let index = |iname: &Name| fold::subtract(Expr::var(iname), from_affine(&extents[iname].0));
        Ok(Some(inames.iter().map(index).collect()))
    };
    let other = |name: &Name, how| PrivatizeTemporariesError::OtherUse { name: name.clone(), instruction: instruction.id.clone(), how };
    expr.try_rewrite(&mut |inner| match inner {
        Expr::Subscript(array, indices) => match array.written_name().filter(|_| matches!(**array, Expr::Variable(_))) {
            Some(name) => match further(name)? {
                Some(more) => {
                    let mut all =
                        indices.iter().map(|index| with_indices(index, instruction, axes, extents)).collect::<Result<Vec<_>, _>>()?;
                    all.extend(more);
                    Ok(Some(Expr::subscript(name.clone(), all)))
                }
                None => Ok(None),
            },
            None => Ok(None),
        },
        Expr::Variable(name) => Ok(further(name)?.map(|more| Expr::subscript(name.clone(), more))),
        Expr::LinearSubscript(array, _) if array.written_name().is_some_and(|name| axes.contains_key(name)) => {
            Err(other(array.written_name().unwrap_or(&instruction.id), "by its place in memory"))
        }
        Expr::SubArray(part) if axes.contains_key(&part.array) => Err(other(&part.array, "as an argument of a call")),
        _ => Ok(None),
    })
}
