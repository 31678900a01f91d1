//! Checks of a kernel as created: names are declared, inames exist, destinations can be written, arrays have as many indices as axes.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::functions::is_constant;
use parloop_ir::names::Near;
use parloop_ir::syntax::{ArgumentKind, Expr, Instruction, InstructionKind, Layout, LoopKernel, Shape};
use parloop_isl::Name;

use super::arguments::layout_names;
use super::error::{CreateError, NameKind, Warning};
use super::making::Making;

/// Every name that is used is declared.
pub(super) fn check_names(making: &mut Making) -> Result<(), CreateError> {
    let kinds = making.kinds();
    if let Some((name, second)) = duplicated(&making.kernel) {
        return Err(CreateError::NameTwice { first: NameKind::Iname, second, name });
    }
    // If arguments are inferred from names, every name is declared.
    if making.guess {
        return Ok(());
    }
    let declared: BTreeSet<&Name> = kinds.iter().filter(|(_, kind)| **kind != NameKind::Parameter).map(|(name, _)| name).collect();
    let unknown = |name: &Name| !declared.contains(name) && !making.fixed.contains_key(name);
    let near = |name: &Name| Near::of(name, declared.iter().copied());
    for instruction in making.expanded()? {
        if let Some(name) = instruction.writes().into_iter().find(unknown) {
            return Err(CreateError::UndeclaredDestination { instruction: instruction.id.clone(), near: near(&name), name });
        }
        if let Some(name) = instruction.reads().into_iter().find(|name| unknown(name) && !is_constant(name)) {
            return Err(CreateError::UndefinedName { instruction: instruction.id.clone(), near: near(&name), name });
        }
    }
    for (array, layout) in layouts(&making.kernel) {
        if let Some(name) = layout_names(layout).into_iter().find(|name| unknown(name) && !kinds.contains_key(name)) {
            let array = array.clone();
            return Err(CreateError::UndefinedInLayout { array, near: near(&name), name });
        }
    }
    // A kernel that will be fused with another can get its parameters from there.
    let missing: Vec<Name> =
        kinds.iter().filter(|(name, kind)| **kind == NameKind::Parameter && unknown(name)).map(|(name, _)| name.clone()).collect();
    for name in missing {
        making.warn(Warning::UndeclaredParameter { name });
    }
    Ok(())
}

/// Names that are inames and something else too.
fn duplicated(kernel: &LoopKernel) -> Option<(Name, NameKind)> {
    let arguments = kernel.arguments.iter().map(|argument| (&argument.name, NameKind::Argument));
    let temporaries = kernel.temporaries.keys().map(|name| (name, NameKind::Temporary));
    let rules = kernel.substitutions.keys().map(|name| (name, NameKind::Substitution));
    let mut others = arguments.chain(temporaries).chain(rules);
    others.find(|(name, _)| kernel.inames.contains_key(*name)).map(|(name, kind)| (name.clone(), kind))
}

/// The layouts of all arrays.
pub(super) fn layouts(kernel: &LoopKernel) -> impl Iterator<Item = (&Name, &Layout)> {
    let arguments = kernel.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Array { layout, .. } => Some((&argument.name, layout)),
        _ => None,
    });
    arguments.chain(kernel.temporaries.values().map(|temporary| (&temporary.name, &temporary.layout)))
}

/// Every iname that is used is in a domain.
pub(super) fn check_inames(making: &mut Making) -> Result<(), CreateError> {
    let inames = &making.kernel.inames;
    let missing = |used: &BTreeSet<Name>| used.iter().find(|iname| !inames.contains_key(*iname)).cloned();
    let near = |iname: &Name| Near::of(iname, inames.keys());
    for instruction in making.expanded()? {
        let id = || instruction.id.clone();
        if let Some(iname) = missing(&instruction.within_inames) {
            return Err(CreateError::UnknownIname { instruction: id(), near: near(&iname), iname });
        }
        if let Some(iname) = missing(&instruction.reduction_inames()) {
            return Err(CreateError::UnknownReductionIname { instruction: id(), near: near(&iname), iname });
        }
        if let Some(iname) = missing(&instruction.sub_array_inames()) {
            return Err(CreateError::UnknownSweepIname { instruction: id(), near: near(&iname), iname });
        }
    }
    for chain in &making.kernel.priorities {
        if let Some(iname) = chain.iter().find(|iname| !inames.contains_key(*iname)) {
            return Err(CreateError::UnknownPriorityIname { near: near(iname), iname: iname.clone() });
        }
    }
    Ok(())
}

/// Destinations can be written.
pub(super) fn check_writes(making: &mut Making) -> Result<(), CreateError> {
    let kinds = making.kinds();
    for instruction in &making.kernel.instructions {
        let id = || instruction.id.clone();
        for lhs in instruction.lhs() {
            let Some(name) = lhs.written_name() else {
                return Err(CreateError::BadLeftSide { instruction: id(), lhs: lhs.clone() });
            };
            match kinds.get(name) {
                Some(NameKind::Argument | NameKind::Temporary) => {}
                Some(&kind) => return Err(CreateError::BadDestination { instruction: id(), name: name.clone(), kind }),
                None => {
                    let near = Near::of(name, kinds.keys());
                    return Err(CreateError::UndeclaredDestination { instruction: id(), name: name.clone(), near });
                }
            }
        }
    }
    check_loop_bounds(making)
}

/// A temporary that bounds a loop has one value.
fn check_loop_bounds(making: &Making) -> Result<(), CreateError> {
    let kernel = &making.kernel;
    let bounds: BTreeSet<&Name> =
        kernel.domains.iter().flat_map(|domain| domain.params()).filter(|param| kernel.temporaries.contains_key(*param)).collect();
    if bounds.is_empty() {
        return Ok(());
    }
    let writers = making.writers();
    for name in bounds {
        let found = writers.get(name).map_or(&[][..], Vec::as_slice);
        let given = kernel.temporaries.get(name).is_some_and(|temporary| temporary.initializer.is_some());
        if found.len() != 1 && !(found.is_empty() && given) {
            let writers = found.iter().map(|&index| kernel.instructions[index].id.clone()).collect();
            return Err(CreateError::LoopBoundWriters { name: name.clone(), writers });
        }
    }
    Ok(())
}

/// Arrays have as many indices as axes; no instruction reduces over an iname that it is within; every iname is used.
pub(super) fn check_uses(making: &mut Making) -> Result<(), CreateError> {
    let axes: BTreeMap<&Name, Option<usize>> = making
        .kernel
        .arguments
        .iter()
        .map(|argument| match &argument.kind {
            ArgumentKind::Array { layout, .. } => (&argument.name, axis_count(layout)),
            ArgumentKind::Value => (&argument.name, Some(0)),
            ArgumentKind::Object | ArgumentKind::Image(_) => (&argument.name, None),
        })
        .chain(making.kernel.temporaries.values().map(|temporary| (&temporary.name, axis_count(&temporary.layout))))
        .collect();
    let expanded = making.expanded()?;
    for instruction in &expanded {
        if let Some(iname) = instruction.reduction_inames().intersection(&instruction.within_inames).next() {
            return Err(CreateError::ReducesOverOwn { instruction: instruction.id.clone(), iname: iname.clone() });
        }
        if let Some(iname) = instruction.exprs().into_iter().find_map(|expr| reduced_again(expr, &[])) {
            return Err(CreateError::ReducesOverOwn { instruction: instruction.id.clone(), iname });
        }
        let check = IndexCheck { axes: &axes, instruction };
        for expr in instruction.exprs() {
            let bare_is_fine = matches!(instruction.kind, InstructionKind::C(_) | InstructionKind::Call(_));
            check.visit(expr, bare_is_fine)?;
        }
    }
    warn_of_unused_inames(making, &expanded);
    Ok(())
}

/// An iname over which a reduction inside another one over it runs too.
fn reduced_again(expr: &Expr, around: &[Name]) -> Option<Name> {
    let Expr::Reduction(reduction) = expr else { return expr.children().into_iter().find_map(|child| reduced_again(child, around)) };
    let again = reduction.inames.iter().find(|iname| around.contains(iname)).cloned();
    let inside = [around, &reduction.inames].concat();
    again.or_else(|| expr.children().into_iter().find_map(|child| reduced_again(child, &inside)))
}

fn axis_count(layout: &Layout) -> Option<usize> {
    match &layout.shape {
        Shape::Known(lengths) => Some(lengths.len()),
        _ => None,
    }
}

struct IndexCheck<'a> {
    axes: &'a BTreeMap<&'a Name, Option<usize>>,
    instruction: &'a Instruction,
}

impl IndexCheck<'_> {
    /// `in_call`: whether a whole array is allowed here.
    fn visit(&self, expr: &Expr, in_call: bool) -> Result<(), CreateError> {
        match expr {
            Expr::Variable(name) => match self.axes.get(name) {
                Some(&Some(axes)) if axes > 0 && !in_call => {
                    Err(CreateError::NoIndices { name: name.clone(), axes, instruction: self.instruction.id.clone() })
                }
                _ => Ok(()),
            },
            Expr::Subscript(array, indices) => {
                if let Expr::Variable(name) = &**array {
                    self.count(name, indices.len(), expr)?;
                } else {
                    self.visit(array, true)?;
                }
                indices.iter().try_for_each(|index| self.visit(index, false))
            }
            Expr::LinearSubscript(array, index) => {
                self.visit(array, true)?;
                self.visit(index, false)
            }
            Expr::SubArray(part) => {
                self.count(&part.array, part.indices.len(), expr)?;
                part.indices.iter().try_for_each(|index| self.visit(index, false))
            }
            Expr::Lookup(aggregate, _) => self.visit(aggregate, true),
            Expr::Call(_) => expr.children().into_iter().try_for_each(|child| self.visit(child, true)),
            _ => expr.children().into_iter().try_for_each(|child| self.visit(child, false)),
        }
    }

    fn count(&self, name: &Name, found: usize, access: &Expr) -> Result<(), CreateError> {
        match self.axes.get(name) {
            Some(&Some(axes)) if axes != found => {
                let (name, instruction, access) = (name.clone(), self.instruction.id.clone(), access.clone());
                Err(CreateError::IndexCount { name, axes, found, instruction, access })
            }
            _ => Ok(()),
        }
    }
}

fn warn_of_unused_inames(making: &mut Making, expanded: &[std::sync::Arc<Instruction>]) {
    let mut used: BTreeSet<Name> = BTreeSet::new();
    for instruction in expanded {
        used.extend(instruction.within_inames.iter().cloned());
        used.extend(instruction.reduction_inames());
        used.extend(instruction.sub_array_inames());
    }
    let unused: Vec<Name> = making.kernel.inames.keys().filter(|iname| !used.contains(*iname)).cloned().collect();
    for iname in unused {
        making.warn(Warning::UnusedIname { iname });
    }
}
