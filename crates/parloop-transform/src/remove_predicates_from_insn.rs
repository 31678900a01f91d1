//! `remove_predicates_from_insn`: removes conditions from instructions.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::syntax::{Expr, LoopKernel};

/// Removes conditions from the instructions that a query selects. The caller guarantees that they hold wherever the instructions run, or
/// that running elsewhere is harmless.
///
/// ```
/// use parloop_loop::{create::make_kernel, matching::Query, parse, transform::remove_predicates_from_insn};
/// let program = make_kernel("{[i]: 0<=i<10}", "a[i] = 1 {if=i >= 0}")?;
/// let condition = parse::expression("i >= 0")?;
/// let kernel = remove_predicates_from_insn(program.entry().unwrap(), &[condition].into(), &Query::All);
/// assert!(kernel.instructions[0].predicates.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_predicates_from_insn(kernel: &LoopKernel, predicates: &BTreeSet<Expr>, within: &Query) -> LoopKernel {
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        if within.matches(kernel, instruction) && !instruction.predicates.is_disjoint(predicates) {
            Arc::make_mut(instruction).predicates.retain(|predicate| !predicates.contains(predicate));
        }
    }
    result
}
