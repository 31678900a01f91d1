//! Sums and products of integers have the type of what they are assigned to, where that is a wider one: `sum(j, j)` of 32-bit indices does
//! not fit them.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Assignment, Expr, Instruction, InstructionKind, LoopKernel, Reduction, ReductionOp};
use parloop_isl::Name;

use super::type_of;

/// The kernel with a conversion of what is summed to the type of the sum, where that is wider: in those instructions, or in all. `None` if
/// there is no such sum. What has no type yet stays as it is.
pub fn wide_sums(program: &Program, kernel: &LoopKernel, only: Option<&BTreeSet<Name>>) -> Option<LoopKernel> {
    let integer = |expr: &Expr| type_of(program, kernel, expr).ok()?.scalar().filter(|dtype| dtype.is_integer());
    let mut widened = kernel.clone();
    let mut is_any = false;
    for instruction in &mut widened.instructions {
        let InstructionKind::Assign(assignment) = &instruction.kind else { continue };
        if instruction.reduction_inames().is_empty() || only.is_some_and(|only| !only.contains(&instruction.id)) {
            continue;
        }
        let Some(wide) = integer(&assignment.lhs).filter(|dtype| dtype.size() > 1) else { continue };
        let rhs = widen(&assignment.rhs, wide, &integer);
        if rhs != assignment.rhs {
            let assignment = Assignment { rhs, ..assignment.clone() };
            *instruction = Arc::new(Instruction { kind: InstructionKind::Assign(assignment), ..(**instruction).clone() });
            is_any = true;
        }
    }
    is_any.then_some(widened)
}

fn widen(expr: &Expr, wide: DType, integer: &dyn Fn(&Expr) -> Option<DType>) -> Expr {
    expr.rewrite(&mut |part| match part {
        // An index does not get wider by what is assigned.
        Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::Compare(..) => Some(part.clone()),
        Expr::Reduction(reduction) if matches!(reduction.op, ReductionOp::Sum | ReductionOp::Product) => {
            let operands = reduction.operands.iter().map(|operand| {
                let inside = widen(operand, wide, integer);
                match integer(operand) {
                    Some(narrow) if narrow.size() < wide.size() => Expr::Cast(wide.into(), Arc::new(inside)),
                    _ => inside,
                }
            });
            Some(Expr::Reduction(Arc::new(Reduction { operands: operands.collect(), ..(**reduction).clone() })))
        }
        _ => None,
    })
}
