//! Local axes for inames tagged `l.auto`: the iname with the smallest stride in global memory gets axis 0, and so on, if it is as long as the
//! axis, otherwise the longest, so that few items are idle; among those without global accesses, the longest gets the longest axis.
//!
//! The inames with explicit axes determine the group size. One that is longer than its axis is split, and the outer part is a loop.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::affine::to_affine;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{ArgumentKind, BinaryOp, Expr, InameTag, Instruction, LoopKernel, UnaryOp};
use parloop_isl::{ConstraintKind, IslError, Name};
use parloop_transform::{Split, SplitError, domain_of, split_iname};

/// Why an iname cannot get an axis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalAxesError {
    /// An iname that is longer than its axis cannot be split.
    #[error("iname `{iname}` is tagged `l.auto` and longer than local axis {axis}, but cannot be split to fit: {reason}")]
    Split {
        /// The iname.
        iname: Name,
        /// The axis.
        axis: u8,
        /// Why not.
        reason: Box<SplitError>,
    },
    /// The solver failed.
    #[error("local axes: {0}")]
    Solver(#[from] IslError),
}

/// The assumed value of parameters when strides are compared.
const TYPICAL: i64 = 1000;

/// The kernel with a local axis, or none, for each iname tagged `l.auto`.
///
/// # Errors
/// [`LocalAxesError`].
pub fn assign_automatic_axes(kernel: &LoopKernel) -> Result<LoopKernel, LocalAxesError> {
    if !kernel.inames.values().any(|iname| iname.tags.contains(&InameTag::LocalAuto)) {
        return Ok(kernel.clone());
    }
    let mut kernel = kernel.clone();
    let sizes = local_sizes(&kernel)?;
    for axis in 0..sizes.len() {
        while let Some(iname) = next_for_axis(&kernel, axis as u8, sizes[axis])? {
            kernel = assign(kernel, &iname, Some(axis), &sizes)?;
        }
    }
    while let Some((iname, axis)) = next_left(&kernel, &sizes)? {
        kernel = assign(kernel, &iname, axis, &sizes)?;
    }
    Ok(kernel)
}

/// The length of each local axis: of the longest iname that has it. Axes are counted from 0 without a gap.
fn local_sizes(kernel: &LoopKernel) -> Result<Vec<i64>, LocalAxesError> {
    let mut sizes: BTreeMap<u8, i64> = BTreeMap::new();
    for (name, iname) in &kernel.inames {
        for tag in &iname.tags {
            if let InameTag::Local(axis) = tag
                && let Some(length) = constant_length(kernel, name)?
            {
                let size = sizes.entry(*axis).or_insert(1);
                *size = length.max(*size);
            }
        }
    }
    Ok((0u8..).map_while(|axis| sizes.get(&axis).copied()).collect())
}

/// The iname that an instruction without that axis would best have on it: neighbours in memory for neighbouring items if there is one for
/// each item, otherwise the one that leaves the fewest items idle.
fn next_for_axis(kernel: &LoopKernel, axis: u8, size: i64) -> Result<Option<Name>, LocalAxesError> {
    for instruction in kernel.instructions.iter().filter(|instruction| !local_axes(kernel, instruction).contains(&axis)) {
        let mut best: Option<(i64, Name)> = None;
        for iname in ranked_by_stride(kernel, instruction) {
            let items = constant_length(kernel, &iname)?.unwrap_or(-1).min(size);
            if best.as_ref().is_none_or(|(most, _)| items > *most) {
                best = Some((items, iname));
            }
        }
        if let Some((_, iname)) = best {
            return Ok(Some(iname));
        }
    }
    Ok(None)
}

/// An iname that goes through no global memory, the longest first, and the longest axis that is free, so that items have few turns.
fn next_left(kernel: &LoopKernel, sizes: &[i64]) -> Result<Option<(Name, Option<usize>)>, LocalAxesError> {
    for instruction in &kernel.instructions {
        let mut inames: Vec<(i64, Name)> = Vec::new();
        for iname in automatic(kernel, instruction) {
            inames.push((constant_length(kernel, &iname)?.unwrap_or(-1), iname));
        }
        let Some((_, iname)) = inames.into_iter().min_by_key(|(length, iname)| (Reverse(*length), iname.clone())) else { continue };
        let taken = local_axes(kernel, instruction);
        let free = (0..sizes.len()).filter(|&axis| !taken.contains(&(axis as u8)));
        return Ok(Some((iname, free.min_by_key(|&axis| (Reverse(sizes[axis]), axis)))));
    }
    // Inames that no instruction is within need no axis.
    let left = kernel.inames.iter().find(|(_, iname)| iname.tags.contains(&InameTag::LocalAuto));
    Ok(left.map(|(name, _)| (name.clone(), None)))
}

fn assign(kernel: LoopKernel, iname: &Name, axis: Option<usize>, sizes: &[i64]) -> Result<LoopKernel, LocalAxesError> {
    let mut plain = kernel;
    let length = constant_length(&plain, iname)?;
    if let Some(known) = plain.inames.get_mut(iname) {
        known.tags.remove(&InameTag::LocalAuto);
    }
    let (Some(length), Some(axis)) = (length, axis) else { return Ok(plain) };
    let tag = InameTag::Local(axis as u8);
    if length > sizes[axis] {
        let reason = |reason| LocalAxesError::Split { iname: iname.clone(), axis: axis as u8, reason: Box::new(reason) };
        return split_iname(&plain, iname, &Split::by(sizes[axis]).inner(tag)).map_err(reason);
    }
    if let Some(known) = plain.inames.get_mut(iname) {
        known.tags.insert(tag);
    }
    Ok(plain)
}

/// The local axes that an instruction has.
fn local_axes(kernel: &LoopKernel, instruction: &Instruction) -> BTreeSet<u8> {
    let tags = instruction.within_inames.iter().filter_map(|iname| kernel.inames.get(iname)).flat_map(|iname| &iname.tags);
    tags.filter_map(|tag| if let InameTag::Local(axis) = tag { Some(*axis) } else { None }).collect()
}

/// The inames around an instruction that want an axis.
fn automatic(kernel: &LoopKernel, instruction: &Instruction) -> Vec<Name> {
    let wants = |iname: &&Name| kernel.inames.get(*iname).is_some_and(|iname| iname.tags.contains(&InameTag::LocalAuto));
    instruction.within_inames.iter().filter(wants).cloned().collect()
}

/// These inames by how far the instruction goes in global memory from one value to the next, the nearest first; none if it does not use
/// global memory with them.
fn ranked_by_stride(kernel: &LoopKernel, instruction: &Instruction) -> Vec<Name> {
    let mut inames = automatic(kernel, instruction);
    if inames.is_empty() {
        return inames;
    }
    let mut strides: BTreeMap<Name, i64> = BTreeMap::new();
    for expr in instruction.exprs() {
        expr.visit(&mut |inner| {
            for (iname, stride) in strides_of_access(kernel, inner, &inames) {
                let sum = strides.entry(iname).or_insert(0);
                *sum = sum.saturating_add(stride);
            }
        });
    }
    if strides.is_empty() {
        return Vec::new();
    }
    inames.sort_by_key(|iname| strides.get(iname).copied().unwrap_or(i64::MAX));
    inames
}

/// How far `a[…]` goes for each of the inames, if `a` is an argument.
fn strides_of_access(kernel: &LoopKernel, access: &Expr, inames: &[Name]) -> Vec<(Name, i64)> {
    let Expr::Subscript(array, indices) = access else { return Vec::new() };
    let Expr::Variable(name) = &**array else { return Vec::new() };
    let Some(argument) = kernel.arguments.iter().find(|argument| argument.name == *name) else { return Vec::new() };
    let ArgumentKind::Array { layout, .. } = &argument.kind else { return Vec::new() };
    let Ok(axes) = layout.axes(name) else { return Vec::new() };
    let mut found: BTreeMap<Name, i64> = BTreeMap::new();
    for (axis, index) in axes.iter().zip(indices.iter()) {
        let (Axis::Stride(stride), Some(index)) = (axis, to_affine(index)) else { continue };
        let Some(stride) = estimate(stride) else { continue };
        for iname in inames.iter().filter(|iname| index.mentions(iname)) {
            let step = stride.saturating_mul(index.coefficient(iname)).saturating_abs();
            let known = found.entry(iname.clone()).or_insert(i64::MAX);
            *known = step.min(*known);
        }
    }
    found.into_iter().collect()
}

/// The value of a stride when all parameters have a typical one.
fn estimate(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(_) => parloop_ir::fold::as_int(expr),
        Expr::Variable(_) => Some(TYPICAL),
        Expr::Unary(UnaryOp::Negate, operand) => estimate(operand)?.checked_neg(),
        Expr::Binary(op, left, right) => {
            let (left, right) = (estimate(left)?, estimate(right)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Subtract => left.checked_sub(right),
                BinaryOp::Multiply => Some(left.saturating_mul(right)),
                BinaryOp::FloorDivide => left.checked_div_euclid(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// How many values an iname has at most, if that is the same for all parameters.
fn constant_length(kernel: &LoopKernel, iname: &Name) -> Result<Option<i64>, IslError> {
    if let Some(length) = written_length(kernel, iname) {
        return Ok(Some(length));
    }
    let line = domain_of(kernel, std::slice::from_ref(iname))?.project_onto(std::slice::from_ref(iname))?;
    let bounds = line.project_out(line.params())?.bounds(iname)?;
    let floor = |value: i64, divisor: i64| value.checked_div_euclid(divisor);
    let lower =
        bounds.lower.iter().filter_map(|bound| floor(bound.affine.as_constant()?.checked_neg()?, bound.divisor)?.checked_neg()).max();
    let upper = bounds.upper.iter().filter_map(|bound| floor(bound.affine.as_constant()?, bound.divisor)).min();
    Ok(lower.zip(upper).and_then(|(lower, upper)| upper.checked_sub(lower)?.checked_add(1)))
}

/// The length that constraints on the iname alone give, such as `0 <= i < 16`.
fn written_length(kernel: &LoopKernel, iname: &Name) -> Option<i64> {
    let domain = kernel.domains.iter().find(|domain| domain.has_dim(iname))?;
    let [piece] = domain.pieces() else { return None };
    let (mut lower, mut upper): (Option<i64>, Option<i64>) = (None, None);
    for constraint in piece.iter().filter(|constraint| constraint.kind == ConstraintKind::NotNegative) {
        let constant = constraint.affine.constant_term();
        match (constraint.affine.coefficient(iname), constraint.affine.terms().count()) {
            (1, 1) => lower = lower.max(constant.checked_neg()),
            (-1, 1) => upper = Some(upper.map_or(constant, |known| known.min(constant))),
            _ => {}
        }
    }
    upper?.checked_sub(lower?)?.checked_add(1)
}
