//! Parts of arrays that are passed to calls: where they begin, how long they are, and their stride along each swept iname.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_isl::{Affine, Atom, Bound, Name};

use super::InferError;
use crate::affine::{from_affine, to_affine};
use crate::fold;
use crate::layout::Axis;
use crate::syntax::{AddressSpace, ArgumentKind, DimTag, Expr, Layout, LoopKernel, Offset, Shape, Stride, SubArray};

/// The values of an iname that sweeps part of an array: the first value and the number of values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Extent {
    pub start: Expr,
    pub length: Expr,
}

/// Part of an array, as a callee sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The address space; `None` for a temporary whose address space is not inferred yet.
    pub space: Option<AddressSpace>,
    /// Its shape and its fixed strides.
    pub layout: Layout,
    /// The indices of its first element in the whole array.
    pub begin: Vec<Expr>,
}

/// The values of an iname that sweeps part of `array`.
///
/// # Errors
/// [`InferError::Unbounded`] if the domain has no bound, or if the solver fails.
pub fn extent(kernel: &LoopKernel, iname: &Name, array: &Name) -> Result<Extent, InferError> {
    let unbounded = || InferError::Unbounded { iname: iname.clone(), array: array.clone(), kernel: kernel.name.clone() };
    let domain = kernel.domains.iter().find(|domain| domain.has_dim(iname)).ok_or_else(unbounded)?;
    let bounds = domain.bounds(iname)?;
    let lower = bounds.lower.iter().map(least).collect::<Result<Vec<Affine>, _>>()?;
    let upper = bounds.upper.iter().map(|bound| Affine::floor(&bound.affine, bound.divisor)).collect::<Result<Vec<Affine>, _>>()?;
    match (lower.as_slice(), upper.as_slice()) {
        ([], _) | (_, []) => Err(unbounded()),
        ([start], [end]) => Ok(Extent { start: from_affine(start), length: from_affine(&end.sub(start)?.add(&Affine::constant(1))?) }),
        _ => {
            let start = extreme(&lower, |values| values.iter().max(), Expr::Max);
            let end = extreme(&upper, |values| values.iter().min(), Expr::Min);
            Ok(Extent { length: fold::add(fold::subtract(end, start.clone()), Expr::int(1)), start })
        }
    }
}

/// `ceil(affine / divisor)`.
fn least(bound: &Bound) -> Result<Affine, parloop_isl::IslError> {
    Affine::floor(&bound.affine.add(&Affine::constant(bound.divisor - 1))?, bound.divisor)
}

/// Combines several bounds: a constant if all are constants, else an expression.
fn extreme(limits: &[Affine], best: impl Fn(&[i64]) -> Option<&i64>, among: impl Fn(Arc<[Expr]>) -> Expr) -> Expr {
    if let [only] = limits {
        return from_affine(only);
    }
    let constants: Option<Vec<i64>> = limits.iter().map(Affine::as_constant).collect();
    match constants.as_deref().and_then(best) {
        Some(value) => Expr::int(*value),
        None => among(limits.iter().map(from_affine).collect()),
    }
}

/// The part of an array that is passed to a call.
///
/// # Errors
/// If its inames are unbounded, or if its strides are not fixed.
pub fn part(kernel: &LoopKernel, sub_array: &SubArray) -> Result<Part, InferError> {
    let (space, layout) = array_of(kernel, &sub_array.array)?;
    let mut begin_at = BTreeMap::new();
    let mut lengths = Vec::with_capacity(sub_array.inames.len());
    for iname in &sub_array.inames {
        let Extent { start, length } = extent(kernel, iname, &sub_array.array)?;
        if sub_array.inames.iter().any(|other| start.variables().contains(other) || length.variables().contains(other)) {
            return Err(InferError::Unbounded { iname: iname.clone(), array: sub_array.array.clone(), kernel: kernel.name.clone() });
        }
        begin_at.insert(iname.clone(), start);
        lengths.push(length);
    }
    let strides = strides(kernel, sub_array, layout)?;
    let layout = Layout {
        shape: Shape::Known(lengths),
        dim_tags: strides.into_iter().map(|stride| DimTag::Stride(Stride::Fixed(stride))).collect(),
        fortran_order: false,
        offset: Offset::Zero,
        axis_names: None,
    };
    let begin = sub_array.indices.iter().map(|index| simplify(index.substitute(&begin_at))).collect();
    Ok(Part { space, layout, begin })
}

/// Whether two arguments of a call are known to be the same location in memory: a kernel updates its arguments in place.
///
/// # Errors
/// As [`part`].
pub fn same_place(kernel: &LoopKernel, one: &Expr, other: &Expr) -> Result<bool, InferError> {
    match (one, other) {
        _ if one == other => Ok(true),
        (Expr::SubArray(one), Expr::SubArray(other)) => Ok(one.array == other.array && part(kernel, one)? == part(kernel, other)?),
        _ => Ok(false),
    }
}

/// Normalises affine expressions; others stay unchanged.
fn simplify(expr: Expr) -> Expr {
    to_affine(&expr).map_or(expr, |affine| from_affine(&affine))
}

fn array_of<'a>(kernel: &'a LoopKernel, name: &Name) -> Result<(Option<AddressSpace>, &'a Layout), InferError> {
    if let Some(temporary) = kernel.temporaries.get(name) {
        return Ok((temporary.space, &temporary.layout));
    }
    let argument = kernel.arguments.iter().find(|argument| argument.name == *name);
    let argument = argument.ok_or_else(|| InferError::UnknownName { name: name.clone(), kernel: kernel.name.clone() })?;
    match &argument.kind {
        ArgumentKind::Array { space, layout, .. } => Ok((Some(*space), layout)),
        _ => Err(InferError::NoValue { expr: name.to_string(), kernel: kernel.name.clone(), hint: "only parts of arrays can be passed" }),
    }
}

/// The stride of each swept iname, in elements.
fn strides(kernel: &LoopKernel, sub_array: &SubArray, layout: &Layout) -> Result<Vec<Expr>, InferError> {
    let array = &sub_array.array;
    let axes = layout.axes(array)?;
    if axes.len() != sub_array.indices.len() {
        let (axes, indices) = (axes.len(), sub_array.indices.len());
        return Err(crate::layout::LayoutError::WrongIndices { array: array.clone(), axes, indices }.into());
    }
    let not_strided = |iname: &Name| InferError::NotStrided {
        part: Expr::SubArray(Arc::new(sub_array.clone())).to_string(),
        iname: iname.clone(),
        kernel: kernel.name.clone(),
    };
    let swept_in = |expr: &Expr| sub_array.inames.iter().find(|iname| expr.variables().contains(*iname));
    // Indices along axes with constant strides are added up, so that `2*(i//2) + i%2` is seen to be `i`.
    let mut together = Affine::constant(0);
    let mut apart: Vec<(Expr, Affine)> = Vec::new();
    for (axis, index) in axes.into_iter().zip(&sub_array.indices) {
        let Some(iname) = swept_in(index) else { continue };
        let stride = match axis {
            Axis::Stride(stride) => stride,
            Axis::Separate => {
                return Err(InferError::AxisNotPassed { array: array.clone(), kernel: kernel.name.clone(), what: "separate" });
            }
            Axis::Vector => return Err(InferError::AxisNotPassed { array: array.clone(), kernel: kernel.name.clone(), what: "vector" }),
        };
        let index = to_affine(index).ok_or_else(|| not_strided(iname))?;
        match fold::as_int(&stride) {
            Some(stride) => together = together.add(&index.scale(stride)?)?,
            None => apart.push((stride, index)),
        }
    }
    let coefficient = |affine: &Affine, iname: &Name| {
        let inside_floor = affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(inner, _) if inner.mentions(iname)));
        if inside_floor { Err(not_strided(iname)) } else { Ok(affine.coefficient(iname)) }
    };
    let stride_of = |iname: &Name| {
        let mut stride = Expr::int(coefficient(&together, iname)?);
        for (axis, index) in &apart {
            stride = fold::add(stride, fold::multiply(Expr::int(coefficient(index, iname)?), axis.clone()));
        }
        Ok(stride)
    };
    sub_array.inames.iter().map(stride_of).collect()
}
