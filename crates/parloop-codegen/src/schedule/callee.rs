//! Hardware axes that called kernels use themselves: the launch must have them too.

use std::collections::BTreeSet;

use parloop_analysis::facts::Placement;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Instruction, InstructionKind, LoopKernel};

/// The kernel that an instruction calls, and what it is called with.
pub(super) fn callee<'p>(program: &'p Program, instruction: &'p Instruction) -> Option<(&'p LoopKernel, &'p [Expr])> {
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
