//! Hardware axes that called kernels use themselves: the launch must have them too.

use std::collections::{BTreeMap, BTreeSet};

use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::callable::kernel_args;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Instruction, InstructionKind, LoopKernel};
use parloop_isl::Name;

use super::error::ScheduleError;
use super::sizes::{Sizes, group_and_local_sizes};

/// The kernel that an instruction calls, and what it is called with.
fn callee<'p>(program: &'p Program, instruction: &'p Instruction) -> Option<(&'p LoopKernel, &'p [Expr])> {
    let InstructionKind::Call(call) = &instruction.kind else { return None };
    let Expr::Call(call) = &call.rhs else { return None };
    Some((program.callables.get(&call.function)?.kernel()?, &call.args))
}

/// The hardware axes of the kernel that an instruction calls, and of those that this one calls.
pub(crate) fn callee_axes(program: &Program, instruction: &Instruction) -> BTreeSet<Placement> {
    let Some((kernel, _)) = callee(program, instruction) else { return BTreeSet::new() };
    let own = kernel.inames.values().map(|iname| Placement::of(&iname.tags)).filter(|placement| placement.is_parallel());
    own.chain(kernel.instructions.iter().flat_map(|inner| callee_axes(program, inner))).collect()
}

/// The sizes that the kernel that an instruction calls needs, in names of the caller.
pub(super) fn callee_sizes(program: &Program, instruction: &Instruction) -> Result<Sizes, ScheduleError> {
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
    Ok(Sizes { groups, group_size: sizes.group_size })
}
