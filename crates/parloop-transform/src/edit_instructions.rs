//! Selecting and editing instructions: `find_instructions`, `map_instructions`, `set_instruction_priority`, `tag_instructions`,
//! `add_inames_to_insn`, `remove_inames_from_insn`.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use parloop_analysis::access::accesses;
use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::matching::Query;
use parloop_ir::substitution::ExpandSubstError;
use parloop_ir::syntax::{Expr, Instruction, InstructionKind, LoopKernel, Origin, primed};
use parloop_isl::Name;

use super::replace::{self, InameError};
use super::rewrite::{self, Scope};

/// The instructions that a query selects, in order.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, parse, transform::find_instructions};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1 {id=one}\nb[i] = 2 {id=two}").build_kernel()?;
/// let found = find_instructions(&kernel, &parse::query("writes:b")?);
/// assert_eq!(found[0].id, "two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find_instructions<'a>(kernel: &'a LoopKernel, query: &Query) -> Vec<&'a Arc<Instruction>> {
    kernel.instructions.iter().filter(|instruction| query.matches(kernel, instruction)).collect()
}

/// Changes each instruction that a query selects.
pub fn map_instructions(kernel: &LoopKernel, query: &Query, change: &dyn Fn(&Instruction) -> Instruction) -> LoopKernel {
    let changed = Scope::of(kernel, query).map(kernel, &mut |instruction| Ok::<_, Infallible>(Arc::new(change(instruction))));
    match changed {
        Ok(instructions) => LoopKernel { instructions, ..kernel.clone() },
    }
}

/// Sets the priority of instructions: higher ones go first where the dependencies leave a choice.
pub fn set_instruction_priority(kernel: &LoopKernel, query: &Query, priority: i32) -> LoopKernel {
    map_instructions(kernel, query, &|instruction| Instruction { priority, ..instruction.clone() })
}

/// Adds a tag to instructions.
pub fn tag_instructions(kernel: &LoopKernel, tag: &Name, query: &Query) -> LoopKernel {
    map_instructions(kernel, query, &|instruction| {
        let mut tagged = instruction.clone();
        tagged.tags.insert(tag.clone());
        tagged
    })
}

/// Why inames cannot be added to instructions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddInamesError {
    /// The iname may have no values, so the instruction would not run.
    #[error("`{iname}` has no values for {}, so it decides whether instruction `{instruction}` runs there; assume that it has some", values_of(.point))]
    Empty {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
        /// Values of parameters and inames for which it has none.
        point: BTreeMap<Name, i64>,
    },
    /// Repeating the instruction may change the result, depending on the data.
    #[error(
        "instruction `{instruction}` updates what it reads, conditionally, atomically, or in a way that depends on the data, so it cannot be repeated for each value of `{iname}`"
    )]
    NotRepeatable {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// The instruction reduces over the iname.
    #[error(
        "instruction `{instruction}` reduces over `{iname}`, so it cannot run for each of its values; use make_reduction_inames_unique first"
    )]
    Reduced {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// A call does not match its rule.
    #[error(transparent)]
    Rules(#[from] ExpandSubstError),
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
}

fn values_of(point: &BTreeMap<Name, i64>) -> String {
    let values: Vec<String> = point.iter().map(|(name, value)| format!("`{name} = {value}`")).collect();
    values.join(", ")
}

/// Adds inames to instructions, which then run for each of their values.
///
/// # Errors
/// If there is no such iname, or one that may have no values.
pub fn add_inames_to_insn(kernel: &LoopKernel, inames: &[Name], query: &Query) -> Result<LoopKernel, AddInamesError> {
    inames.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let instructions = Scope::of(kernel, query).map(kernel, &mut |instruction| {
        let mut inside = (**instruction).clone();
        for iname in inames {
            if rewrite::inames_used_by(kernel, std::iter::once(instruction)).contains(iname) && !inside.within_inames.contains(iname) {
                return Err(AddInamesError::Reduced { instruction: inside.id.clone(), iname: iname.clone() });
            }
            if !is_repeatable(kernel, &*rewrite::without_rules(kernel, instruction)?) {
                return Err(AddInamesError::NotRepeatable { instruction: inside.id.clone(), iname: iname.clone() });
            }
            check_values(kernel, &inside.id, &inside.within_inames, iname)?;
            inside.within_inames.insert(iname.clone());
        }
        Ok::<_, AddInamesError>(Arc::new(inside))
    })?;
    Ok(LoopKernel { instructions, ..kernel.clone() })
}

/// Whether an instruction reads nothing that it writes, or does so always, in an order and at known places: then the order of its instances
/// says what it is done again for. Atomic updates have none, and neither have those of an accumulator.
fn is_repeatable(kernel: &LoopKernel, instruction: &Instruction) -> bool {
    let accesses = accesses(kernel, instruction);
    let is_conditional = accesses.iter().any(|access| !access.conditions.is_empty());
    let is_atomic = matches!(&instruction.kind, InstructionKind::Assign(assignment) if assignment.atomic.is_some());
    let (reads, writes) = (instruction.reads(), instruction.writes());
    let is_in_any_order = writes.iter().any(|name| instruction.origin.commutes.contains(name));
    let is_anywhere = accesses.iter().filter(|access| reads.contains(&access.name) && writes.contains(&access.name)).any(|access| {
        let mut indices = access.indices.into_iter().flatten();
        indices.any(|index| to_affine(index).is_none())
    });
    !(is_conditional || is_atomic || is_in_any_order || is_anywhere) || reads.is_disjoint(&writes)
}

/// An instruction that runs for each value of an iname must run at least once.
pub(crate) fn check_values(kernel: &LoopKernel, instruction: &Name, within: &BTreeSet<Name>, iname: &Name) -> Result<(), AddInamesError> {
    let mut within = within.clone();
    let points = kernel.domain_of(&within).and_then(|points| points.join(&kernel.assumptions)).map_err(InameError::from)?;
    within.insert(iname.clone());
    let missing = kernel.domain_of(&within).and_then(|inside| {
        let inside = inside.add_dims(points.dims()).project_onto(points.dims())?;
        points.subtract(&inside.reorder_dims(points.dims()))?.sample()
    });
    match missing.map_err(InameError::from)? {
        None => Ok(()),
        Some(point) => Err(AddInamesError::Empty { instruction: instruction.clone(), iname: iname.clone(), point }),
    }
}

/// Why inames cannot be removed from instructions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveInamesError {
    /// The instruction does not run in the iname.
    #[error("instruction `{instruction}` does not run in `{iname}`")]
    NotWithin {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// The instruction uses the iname.
    #[error("instruction `{instruction}` uses `{iname}`, so it must run in it")]
    Used {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// The iname may have no values, but the instruction would still run.
    #[error(transparent)]
    Values(#[from] AddInamesError),
    /// Each value of the iname continues from the result of the one before.
    #[error("instruction `{instruction}` reads `{variable}`, which it also writes, so it must run for each value of its inames")]
    Accumulates {
        /// The instruction.
        instruction: Name,
        /// The variable.
        variable: Name,
    },
    /// The variable may have another value in between.
    #[error("instruction `{instruction}` is not the only one that writes `{variable}`, so it must run for each value of its inames")]
    Shared {
        /// The instruction.
        instruction: Name,
        /// The variable.
        variable: Name,
    },
    /// A call does not match its rule.
    #[error(transparent)]
    Rules(#[from] ExpandSubstError),
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
}

/// The origin of an instruction that runs once for all values of some inames: it reads what it read for each of them, and writes when it
/// did for the first of them.
fn done_once(kernel: &LoopKernel, instruction: &Arc<Instruction>, inames: &[Name]) -> Result<Origin, RemoveInamesError> {
    let mut first = BTreeMap::new();
    for iname in inames {
        let domain = kernel.domain_of(&[iname.clone()].into()).map_err(InameError::from)?;
        let others: Vec<Name> = domain.dims().iter().filter(|dim| *dim != iname).cloned().collect();
        let least = domain.to_params(&others).static_min(iname, &kernel.assumptions).map_err(InameError::from)?;
        first.insert(iname.clone(), from_affine(&least));
    }
    let mut origin = (*instruction.origin).clone();
    let reads = rewrite::without_rules(kernel, instruction)?.reads();
    for variable in instruction.writes() {
        if reads.contains(&variable) {
            return Err(RemoveInamesError::Accumulates { instruction: instruction.id.clone(), variable });
        }
        let is_other = |other: &&Arc<Instruction>| other.id != instruction.id && other.writes().contains(&variable);
        if kernel.instructions.iter().any(|other| is_other(&other)) {
            return Err(RemoveInamesError::Shared { instruction: instruction.id.clone(), variable });
        }
        if let [time] = &origin.times_for(&variable)[..] {
            origin.of.insert(variable, time.map(&|expr| expr.substitute(&first)).steps);
        }
    }
    let others = inames.iter().map(|iname| (iname.clone(), Expr::Variable(primed(iname)))).collect();
    origin.times = origin.times.iter().map(|time| time.map(&|expr| expr.substitute(&others))).collect();
    Ok(origin)
}

/// Removes unused inames from instructions, which then run once, not for each value.
///
/// # Errors
/// If there is no such iname, or a selected instruction does not run in it, uses it, or reads what it writes.
pub fn remove_inames_from_insn(kernel: &LoopKernel, inames: &[Name], query: &Query) -> Result<LoopKernel, RemoveInamesError> {
    inames.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let instructions = Scope::of(kernel, query).map(kernel, &mut |instruction| {
        let mut outside = (**instruction).clone();
        let reads = rewrite::without_rules(kernel, instruction)?.reads();
        for iname in inames {
            let (instruction, iname) = (instruction.id.clone(), iname.clone());
            if !outside.within_inames.remove(&iname) {
                return Err(RemoveInamesError::NotWithin { instruction, iname });
            }
            if reads.contains(&iname) {
                return Err(RemoveInamesError::Used { instruction, iname });
            }
        }
        outside.origin = Arc::new(done_once(kernel, instruction, inames)?);
        let rest = &instruction.within_inames - &inames.iter().cloned().collect();
        for iname in inames.iter().filter(|iname| instruction.within_inames.contains(*iname)) {
            check_values(kernel, &instruction.id, &rest, iname)?;
        }
        Ok(Arc::new(outside))
    })?;
    Ok(LoopKernel { instructions, ..kernel.clone() })
}
