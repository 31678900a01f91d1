//! Infers missing shapes of arrays: along each axis, one more than the largest index over all accesses. If that is unknown, only the number
//! of axes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::footprint::{Access, Ranges, accesses};
use parloop_ir::affine::from_affine;
use parloop_ir::syntax::{ArgumentKind, Expr, Instruction, Layout, Shape};
use parloop_isl::{Affine, IslError, Name};

use super::checks::layouts;
use super::error::CreateError;
use super::making::Making;

/// Infers the missing shapes of all arrays.
pub(super) fn find_shapes(making: &mut Making) -> Result<(), CreateError> {
    for temporary in making.kernel.temporaries.values_mut() {
        if let (Shape::Auto, Some(values)) = (&temporary.layout.shape, &temporary.initializer) {
            temporary.layout.shape = Shape::Known(values.shape.iter().map(|&length| Expr::int(length as i64)).collect());
        }
    }
    // Nothing says where elements of several axes lie unless their lengths are found.
    let is_wanted = |layout: &Layout, axes: Option<usize>| {
        layout.shape == Shape::Auto || layout.shape == Shape::Unknown && layout.axis_count().is_none() && axes.is_some_and(|axes| axes > 1)
    };
    let is_open = |layout: &Layout| layout.shape == Shape::Auto || layout.shape == Shape::Unknown && layout.axis_count().is_none();
    let open: BTreeSet<Name> = layouts(&making.kernel).filter(|(_, layout)| is_open(layout)).map(|(name, _)| name.clone()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let expanded: Vec<Arc<Instruction>> = making.expanded()?;
    let mut found: BTreeMap<Name, Vec<Access<'_>>> = BTreeMap::new();
    for instruction in &expanded {
        accesses(instruction, &open, &mut found);
    }
    let axes: BTreeMap<Name, usize> = found.iter().filter_map(|(name, accesses)| Some((name.clone(), used_axes(accesses)?))).collect();
    let wanted: BTreeSet<Name> = layouts(&making.kernel)
        .filter(|(name, layout)| is_wanted(layout, axes.get(*name).copied()))
        .map(|(name, _)| name.clone())
        .collect();
    let ranges = Ranges::of(&making.kernel, constants(making));
    let mut shapes: BTreeMap<Name, Shape> = BTreeMap::new();
    for name in &wanted {
        let is_temporary = making.kernel.temporaries.contains_key(name);
        let shape = shape_of(name, found.get(name).map_or(&[], Vec::as_slice), &ranges, is_temporary);
        // A shape declared unknown may stay unknown.
        let may_stay = layouts(&making.kernel).any(|(known, layout)| known == name && layout.shape == Shape::Unknown);
        match shape {
            Err(_) if may_stay => {}
            shape => drop(shapes.insert(name.clone(), shape?)),
        }
    }
    for argument in &mut making.kernel.arguments {
        let ArgumentKind::Array { layout, .. } = &mut argument.kind else { continue };
        if let Some(shape) = shapes.remove(&argument.name) {
            layout.shape = shape;
        }
        // Of unknown extent: its uses at least give the number of axes.
        if layout.shape == Shape::Unknown
            && layout.axis_count().is_none()
            && let Some(&axes) = axes.get(&argument.name)
        {
            layout.dim_tags = layout.tags(axes);
        }
    }
    for (name, shape) in shapes {
        if let Some(temporary) = making.kernel.temporaries.get_mut(&name) {
            temporary.layout.shape = shape;
        }
    }
    Ok(())
}

/// Names that have one value in the whole kernel: numbers that are passed, and parameters that are nothing else.
fn constants(making: &Making) -> BTreeSet<Name> {
    let kernel = &making.kernel;
    let values = kernel.arguments.iter().filter(|argument| argument.kind == ArgumentKind::Value).map(|argument| &argument.name);
    let params = kernel.domains.iter().flat_map(|domain| domain.params());
    let free = params.filter(|param| !kernel.inames.contains_key(*param) && !kernel.temporaries.contains_key(*param));
    values.chain(free).cloned().collect()
}

/// The number of indices of all accesses, if it is one number.
fn used_axes(accesses: &[Access<'_>]) -> Option<usize> {
    let mut counts = accesses.iter().filter_map(|access| access.indices.map(<[Expr]>::len));
    let first = counts.next()?;
    counts.all(|count| count == first).then_some(first)
}

fn shape_of(name: &Name, accesses: &[Access<'_>], ranges: &Ranges<'_>, is_temporary: bool) -> Result<Shape, CreateError> {
    let Some(first) = accesses.first() else {
        // Never with an index: a number.
        return Ok(Shape::Known(Vec::new()));
    };
    let Some(axes) = accesses.iter().find_map(|access| access.indices.map(<[Expr]>::len)) else {
        // Of an argument nothing needs it; a temporary is made of that length.
        if !is_temporary {
            return Ok(Shape::Unknown);
        }
        return Err(CreateError::ShapeOfLinear { name: name.clone(), access: first.expr.clone(), instruction: first.instruction.clone() });
    };
    if let Some(other) = accesses.iter().find(|access| access.indices.is_some_and(|indices| indices.len() != axes)) {
        let (first, second) = (axes, other.indices.map_or(0, <[Expr]>::len));
        return Err(CreateError::IndexCounts { name: name.clone(), first, second, instruction: other.instruction.clone() });
    }
    let affine: Vec<(&Access<'_>, Vec<Affine>)> = accesses
        .iter()
        .filter_map(|access| {
            Some((access, access.indices?.iter().map(|index| ranges.index(index, &access.inames)).collect::<Option<Vec<Affine>>>()?))
        })
        .collect();
    let unknown = |access: &Access<'_>| match axes {
        // Strides of one axis need no length, so an argument can do without.
        1 if !is_temporary => Ok(Shape::Unknown),
        _ => Err(CreateError::ShapeNotAffine { name: name.clone(), access: access.expr.clone(), instruction: access.instruction.clone() }),
    };
    if affine.is_empty() {
        return unknown(first);
    }
    let mut lengths = Vec::with_capacity(axes);
    for axis in 0..axes {
        let indices: Vec<(&Access<'_>, Affine)> = affine.iter().map(|(access, indices)| (*access, indices[axis].clone())).collect();
        let bad = |error: IslError| CreateError::ShapeNotStatic { name: name.clone(), axis, reason: error.to_string() };
        let Some(largest) = ranges.largest(&indices).map_err(bad)? else { return unknown(affine[0].0) };
        lengths.push(from_affine(&largest.add(&Affine::constant(1)).map_err(bad)?));
    }
    Ok(Shape::Known(lengths))
}
