//! The grid of a launch: for each axis the largest extent of the inames tagged with it.

use std::collections::BTreeMap;

use parloop_analysis::axis::{alone, axis_base};
use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::affine::from_affine;
use parloop_ir::callable::kernel_args;
use parloop_ir::fold::as_int;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Instruction};
use parloop_isl::{Affine, Name};

use super::callee::{callee, callee_axes};
use super::error::ScheduleError;

/// Groups and work items along each axis.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Sizes {
    pub groups: Vec<Expr>,
    pub group_size: Vec<Expr>,
}

/// The sizes that cover all instructions.
pub(crate) fn group_and_local_sizes<'i>(
    program: &Program,
    facts: &Facts<'_>,
    instructions: impl IntoIterator<Item = &'i Instruction>,
) -> Result<Sizes, ScheduleError> {
    let mut inames: BTreeMap<&Name, Placement> = BTreeMap::new();
    let mut groups: BTreeMap<u8, Vec<Expr>> = BTreeMap::new();
    let mut locals: BTreeMap<u8, Vec<Expr>> = BTreeMap::new();
    for instruction in instructions {
        let parallel = instruction.within_inames.iter().map(|iname| (iname, facts.placement(iname)));
        inames.extend(parallel.filter(|(_, placement)| placement.is_parallel()));
        let inside = callee_sizes(program, instruction)?;
        for (axis, extent) in (0u8..).zip(inside.groups) {
            groups.entry(axis).or_default().push(extent);
        }
        for (axis, extent) in (0u8..).zip(inside.group_size) {
            locals.entry(axis).or_default().push(extent);
        }
    }
    for (iname, placement) in inames {
        if let Some(bound) = facts.bound_names(iname).iter().find(|bound| facts.kernel.temporaries.contains_key(*bound)) {
            return Err(ScheduleError::ParallelBound { iname: iname.clone(), bound: bound.clone() });
        }
        match placement {
            Placement::Group(axis) => {
                check_axis(iname, 'g', axis)?;
                let extent = group_extent(facts, iname)?;
                let known = groups.entry(axis).or_default();
                if !known.contains(&extent) {
                    known.push(extent);
                }
            }
            Placement::Local(axis) => {
                check_axis(iname, 'l', axis)?;
                locals.entry(axis).or_default().push(local_extent(facts, iname, axis)?);
            }
            Placement::LocalAuto => return Err(ScheduleError::AutoAxis { iname: iname.clone() }),
            Placement::Loop | Placement::Innermost => {}
        }
    }
    let largest = |mut extents: Vec<Expr>| if extents.len() == 1 { extents.remove(0) } else { Expr::Max(extents.into()) };
    let groups = groups.into_iter().map(|(axis, extents)| (axis, largest(extents))).collect();
    let locals = locals.into_iter().map(|(axis, extents)| (axis, largest_group(extents))).collect();
    Ok(Sizes { groups: without_gaps('g', groups)?, group_size: without_gaps('l', locals)? })
}

fn check_axis(iname: &Name, which: char, axis: u8) -> Result<(), ScheduleError> {
    if axis < 3 { Ok(()) } else { Err(ScheduleError::AxisUnknown { iname: iname.clone(), which, axis }) }
}

fn without_gaps<T>(which: char, axes: BTreeMap<u8, T>) -> Result<Vec<T>, ScheduleError> {
    let mut sizes = Vec::with_capacity(axes.len());
    for (place, (axis, size)) in (0u8..).zip(axes) {
        if place != axis {
            return Err(ScheduleError::AxisGap { which, axis, missing: place });
        }
        sizes.push(size);
    }
    Ok(sizes)
}

fn group_extent(facts: &Facts<'_>, iname: &Name) -> Result<Expr, ScheduleError> {
    let largest = alone(&facts.forest, iname)?.static_max(iname, &facts.kernel.assumptions)?;
    let extent = largest.sub(&axis_base(&facts.forest, iname)?)?.add(&Affine::constant(1))?;
    Ok(from_affine(&extent))
}

/// The largest of the lengths of an axis within a group. One is a constant if all are; there are no groups of size 0, so an axis without
/// values has a work item all the same, which does nothing.
fn largest_group(extents: Vec<Expr>) -> Expr {
    let constant = extents.iter().filter_map(as_int).fold(1, i64::max);
    let mut all = vec![Expr::int(constant)];
    for extent in extents.into_iter().filter(|extent| as_int(extent).is_none()) {
        if !all.contains(&extent) {
            all.push(extent);
        }
    }
    if all.len() == 1 { all.remove(0) } else { Expr::Max(all.into()) }
}

/// How many values an iname has along a local axis: a number, or what a call tells.
fn local_extent(facts: &Facts<'_>, iname: &Name, axis: u8) -> Result<Expr, ScheduleError> {
    let extent = match facts.forest.constant_bounds(iname) {
        (Some(lower), Some(upper)) => upper.checked_sub(lower).and_then(|last| last.checked_add(1)),
        _ => solved_extent(facts, iname)?,
    };
    match extent {
        Some(extent) => Ok(Expr::int(extent)),
        None => group_extent(facts, iname).map_err(|_| ScheduleError::LocalSize { iname: iname.clone(), axis }),
    }
}

/// How many values an iname has from the one of work item 0 on, for any values of the parameters.
fn solved_extent(facts: &Facts<'_>, iname: &Name) -> Result<Option<i64>, ScheduleError> {
    let domain = alone(&facts.forest, iname)?.join(&facts.kernel.assumptions)?;
    let Ok(base) = axis_base(&facts.forest, iname) else { return Ok(None) };
    let item = Name::from("_item");
    let from_base = Affine::name(iname.clone()).sub(&base)?;
    let items = domain.image(&[(item.clone(), from_base)])?;
    let bounds = items.project_out(items.params())?.bounds(&item)?;
    let last = bounds.upper.iter().filter_map(|bound| bound.affine.as_constant()?.checked_div_euclid(bound.divisor)).min();
    Ok(last.and_then(|last| last.checked_add(1)))
}

/// The sizes that the kernel that an instruction calls needs, in names of the caller.
fn callee_sizes(program: &Program, instruction: &Instruction) -> Result<Sizes, ScheduleError> {
    let Some((kernel, args)) = callee(program, instruction) else { return Ok(Sizes::default()) };
    if callee_axes(program, instruction).is_empty() {
        return Ok(Sizes::default());
    }
    let facts = Facts::of(kernel);
    let sizes = group_and_local_sizes(program, &facts, kernel.instructions.iter().map(|inner| &**inner))?;
    let given: BTreeMap<Name, Expr> =
        kernel_args(kernel).inputs.into_iter().zip(args).map(|(place, arg)| (kernel.arguments[place].name.clone(), arg.clone())).collect();
    let translate = |size: &Expr| match size.variables().into_iter().find(|name| !given.contains_key(name)) {
        None => Ok(size.substitute(&given)),
        Some(name) => Err(ScheduleError::CalleeSize { kernel: kernel.name.clone(), size: size.to_string(), name }),
    };
    let groups = sizes.groups.iter().map(translate).collect::<Result<_, _>>()?;
    let group_size = sizes.group_size.iter().map(translate).collect::<Result<_, _>>()?;
    Ok(Sizes { groups, group_size })
}
