//! `unprivatize_temporaries_with_inames`: removes the axes of temporaries that have a separate entry for each value of an iname.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::dependence::{Dependences, Violation, elements_may_share_memory};
use parloop_analysis::facts::Facts;
use parloop_ir::names::Near;
use parloop_ir::syntax::{Expr, Instruction, Layout, LoopKernel, Shape, TimeStep};
use parloop_isl::{IslError, Name};

/// Why axes cannot be removed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnprivatizeError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no temporary `{temporary}`{near}")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        temporary: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// A use whose entry is not that of the iname's value.
    #[error(
        "`{access}` in `{instruction}` is not the entry of `{iname}` along axis {} of `{temporary}`; all uses must have `{iname}` in that index",
        .axis + 1
    )]
    OtherEntry {
        /// The temporary.
        temporary: Name,
        /// The use.
        access: String,
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// A use outside the loop.
    #[error("`{instruction}` uses `{temporary}` but does not run in `{iname}`; values of other iterations would be lost")]
    Outside {
        /// The temporary.
        temporary: Name,
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// It is used without indices, or has initial values.
    #[error("temporary `{temporary}` is used {how}, so its axes cannot change")]
    Whole {
        /// The temporary.
        temporary: Name,
        /// How.
        how: &'static str,
    },
    /// Elements share memory, which other axes would separate.
    #[error("elements of temporary `{temporary}` share memory through its strides, so its axes cannot change; give it its own layout")]
    SharedElements {
        /// The temporary.
        temporary: Name,
    },
    /// Another value of an iname would overwrite what is read.
    #[error("temporary `{temporary}` needs an entry for each value of {}: with a shared entry, {}", names(.inames), .violation.instances())]
    Overwritten {
        /// The temporary.
        temporary: Name,
        /// The inames.
        inames: BTreeSet<Name>,
        /// Two instances, of which one would read what the other writes.
        violation: Box<Violation>,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

fn names(inames: &BTreeSet<Name>) -> String {
    inames.iter().map(|iname| format!("`{iname}`")).collect::<Vec<_>>().join(", ")
}

/// Removes the axes of the inames from temporaries: `t[i]` becomes `t`, if every use of the temporary has `i` there. It undoes
/// [`privatize_temporaries_with_inames`](super::privatize_temporaries_with_inames).
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::unprivatize_temporaries_with_inames;
/// let program = make_kernel("{[i]: 0<=i<16}", "<>t[i] = 2*a[i] {id=fill}\nb[i] = t[i] {dep=fill}")?;
/// let kernel = unprivatize_temporaries_with_inames(program.entry().unwrap(), &["i".into()].into(), None)?;
/// assert_eq!(kernel.instructions[1].kind.to_string(), "b[i] = t");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Unknown names, and uses of other entries than that of the iname's value.
pub fn unprivatize_temporaries_with_inames(
    kernel: &LoopKernel,
    inames: &BTreeSet<Name>,
    only: Option<&BTreeSet<Name>>,
) -> Result<LoopKernel, UnprivatizeError> {
    if let Some(temporary) = only.into_iter().flatten().find(|name| !kernel.temporaries.contains_key(*name)) {
        let near = Near::of(temporary, kernel.temporaries.keys());
        return Err(UnprivatizeError::UnknownTemporary { kernel: kernel.name.clone(), temporary: temporary.clone(), near });
    }
    let mut result = kernel.clone();
    let mut changed: BTreeMap<&Name, BTreeSet<Name>> = BTreeMap::new();
    let wanted = kernel.temporaries.values().filter(|temporary| only.is_none_or(|only| only.contains(&temporary.name)));
    for temporary in wanted {
        let uses = uses(kernel, &temporary.name);
        let axes = axes(&uses, inames);
        if axes.is_empty() {
            continue;
        }
        if temporary.initializer.is_some() {
            return Err(UnprivatizeError::Whole { temporary: temporary.name.clone(), how: "with initial values" });
        }
        check(kernel, &temporary.name, &uses, &axes)?;
        if elements_may_share_memory(&Facts::of(kernel), &temporary.name) {
            return Err(UnprivatizeError::SharedElements { temporary: temporary.name.clone() });
        }
        let Shape::Known(lengths) = &temporary.layout.shape else { continue };
        changed.insert(&temporary.name, axes.values().cloned().collect());
        let kept = lengths.iter().enumerate().filter(|(axis, _)| !axes.contains_key(axis)).map(|(_, length)| length.clone());
        let layout = Layout::c_order(Shape::Known(kept.collect()));
        result.temporaries.entry(temporary.name.clone()).and_modify(|changed| changed.layout = layout);
        for instruction in &mut result.instructions {
            *instruction = Arc::new(instruction.map_exprs(&mut |expr| without(expr, &temporary.name, &axes)));
        }
        for rule in result.substitutions.values_mut() {
            rule.body = without(&rule.body, &temporary.name, &axes);
        }
    }
    for (temporary, inames) in changed {
        // Where what is read was written for the same values of the inames, and nothing in between, one entry is enough as it is.
        let carried = Dependences::of(&Facts::of(&result)).carried(temporary, &inames)?;
        if let Some(violation) = carried
            && !one_turn_after_the_other(&mut result, temporary, &inames)
        {
            let (temporary, violation) = (temporary.clone(), Box::new(violation));
            return Err(UnprivatizeError::Overwritten { temporary, inames, violation });
        }
    }
    Ok(result)
}

/// Lets the one entry be used by one value of the inames after the other, whatever loops are around; whether that can be said of all uses.
fn one_turn_after_the_other(result: &mut LoopKernel, temporary: &Name, inames: &BTreeSet<Name>) -> bool {
    let mut changed = result.instructions.clone();
    for instruction in &mut changed {
        if !instruction.reads().contains(temporary) && !instruction.writes().contains(temporary) {
            continue;
        }
        let [time] = &instruction.origin.times_for(temporary)[..] else { return false };
        if !time.is_own() {
            return false;
        }
        let turns = inames.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone())));
        let steps = turns.chain(time.steps.iter().cloned()).collect();
        Arc::make_mut(&mut Arc::make_mut(instruction).origin).of.insert(temporary.clone(), steps);
    }
    result.instructions = changed;
    true
}

/// The uses of a temporary, with the instruction of each; `None` for those in rules.
fn uses<'k>(kernel: &'k LoopKernel, temporary: &Name) -> Vec<(Option<&'k Instruction>, &'k Expr)> {
    let mut found = Vec::new();
    let mut visit = |instruction: Option<&'k Instruction>, expr: &'k Expr| {
        expr.visit(&mut |part| match part {
            Expr::Subscript(aggregate, _) if **aggregate == Expr::var(temporary) => found.push((instruction, part)),
            Expr::SubArray(sub) if sub.array == *temporary => found.push((instruction, part)),
            _ => {}
        });
    };
    for instruction in &kernel.instructions {
        instruction.exprs().into_iter().for_each(|expr| visit(Some(instruction), expr));
    }
    kernel.substitutions.values().for_each(|rule| visit(None, &rule.body));
    found
}

/// The axes at which some use has one of the inames.
fn axes(uses: &[(Option<&Instruction>, &Expr)], inames: &BTreeSet<Name>) -> BTreeMap<usize, Name> {
    let mut axes = BTreeMap::new();
    for (_, access) in uses {
        let Expr::Subscript(_, indices) = access else { continue };
        for (axis, index) in indices.iter().enumerate() {
            if let Expr::Variable(name) = index
                && inames.contains(name)
            {
                axes.entry(axis).or_insert_with(|| name.clone());
            }
        }
    }
    axes
}

fn check(
    kernel: &LoopKernel,
    temporary: &Name,
    uses: &[(Option<&Instruction>, &Expr)],
    axes: &BTreeMap<usize, Name>,
) -> Result<(), UnprivatizeError> {
    for (instruction, access) in uses {
        let id = instruction.map_or_else(|| kernel.name.clone(), |instruction| instruction.id.clone());
        let Expr::Subscript(_, indices) = access else {
            return Err(UnprivatizeError::Whole { temporary: temporary.clone(), how: "as an argument of a call" });
        };
        for (&axis, iname) in axes {
            if indices.get(axis) != Some(&Expr::var(iname)) {
                let (temporary, access, iname) = (temporary.clone(), access.to_string(), iname.clone());
                return Err(UnprivatizeError::OtherEntry { temporary, access, instruction: id, iname, axis });
            }
            if instruction.is_none_or(|instruction| !instruction.within_inames.contains(iname)) {
                return Err(UnprivatizeError::Outside { temporary: temporary.clone(), instruction: id, iname: iname.clone() });
            }
        }
    }
    let indexed = uses.len();
    let mut named = 0;
    for instruction in &kernel.instructions {
        for expr in instruction.exprs() {
            expr.visit(&mut |part| named += usize::from(*part == Expr::var(temporary)));
        }
    }
    for rule in kernel.substitutions.values() {
        rule.body.visit(&mut |part| named += usize::from(*part == Expr::var(temporary)));
    }
    match named > indexed {
        true => Err(UnprivatizeError::Whole { temporary: temporary.clone(), how: "without indices" }),
        false => Ok(()),
    }
}

fn without(expr: &Expr, temporary: &Name, axes: &BTreeMap<usize, Name>) -> Expr {
    let inner = expr.map_children(&mut |child| without(child, temporary, axes));
    match &inner {
        Expr::Subscript(aggregate, indices) if **aggregate == Expr::var(temporary) => {
            let kept: Vec<Expr> =
                indices.iter().enumerate().filter(|(axis, _)| !axes.contains_key(axis)).map(|(_, index)| index.clone()).collect();
            if kept.is_empty() { Expr::var(temporary) } else { Expr::subscript(temporary, kept) }
        }
        _ => inner,
    }
}
