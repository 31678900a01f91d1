//! Sums and products of integers have the type of their destination if it is wider: `sum(j, j)` of 32-bit indices does not fit them.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Assignment, Expr, Instruction, InstructionKind, LoopKernel, Reduction, ReductionOp, Temporary};
use parloop_isl::Name;

use super::type_of;

/// The tag of temporaries that hold sums or products of reductions: their type is inferred as that of the reduction would be, possibly
/// after they are created.
pub const SUM_TAG: &str = "pl_sum";

/// Converts the terms of sums to the type of the sum where it is wider, in those instructions or in all. `None` if there is no such sum.
/// Expressions without a type stay unchanged.
pub fn wide_sums(program: &Program, kernel: &LoopKernel, only: Option<&BTreeSet<Name>>) -> Option<LoopKernel> {
    let mut widened = kernel.clone();
    let mut is_any = widen_temporaries(program, &mut widened);
    let kernel = &widened.clone();
    let integer = |expr: &Expr| type_of(program, kernel, expr).ok()?.scalar().filter(|dtype| dtype.is_integer());
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

/// Gives temporaries that hold sums the type of their destination, from last to first.
fn widen_temporaries(program: &Program, kernel: &mut LoopKernel) -> bool {
    let is_sum = |temporary: &&Temporary| temporary.tags.contains(SUM_TAG);
    let sums: Vec<Name> = kernel.temporaries.values().filter(is_sum).map(|temporary| temporary.name.clone()).collect();
    let mut is_any = false;
    loop {
        let integer = |expr: &Expr| type_of(program, kernel, expr).ok()?.scalar().filter(|dtype| dtype.is_integer());
        let wider = sums.iter().find_map(|name| {
            let own = kernel.temporaries.get(name)?.ty.as_ref()?.scalar().filter(|dtype| dtype.is_integer())?;
            let users = kernel.instructions.iter().filter_map(|user| match &user.kind {
                InstructionKind::Assign(assignment) if assignment.lhs.written_name() != Some(name) && adds_to(&assignment.rhs, name) => {
                    integer(&assignment.lhs)
                }
                _ => None,
            });
            let widest = users.max_by_key(|dtype| dtype.size()).filter(|dtype| dtype.size() > own.size())?;
            Some((name, widest))
        });
        let Some((name, widest)) = wider else { return is_any };
        if let Some(temporary) = kernel.temporaries.get_mut(name) {
            temporary.ty = Some(widest.into());
        }
        is_any = true;
    }
}

/// Whether a variable is part of the value, not only of an index or a comparison in it.
fn adds_to(value: &Expr, name: &Name) -> bool {
    match value {
        Expr::Subscript(..) | Expr::LinearSubscript(..) => value.written_name() == Some(name),
        Expr::Compare(..) => false,
        Expr::Variable(variable) => variable == name,
        _ => value.children().into_iter().any(|child| adds_to(child, name)),
    }
}

fn widen(expr: &Expr, wide: DType, integer: &dyn Fn(&Expr) -> Option<DType>) -> Expr {
    expr.rewrite(&mut |part| match part {
        // The destination does not widen an index.
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
