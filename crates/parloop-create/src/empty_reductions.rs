//! A reduction of one value over no inames is that value.

use std::sync::Arc;

use parloop_ir::syntax::Expr;

use super::error::CreateError;
use super::making::Making;

/// Replaces reductions over no inames by their operand, in all instructions and rules.
pub(super) fn resolve(making: &mut Making) -> Result<(), CreateError> {
    for instruction in &mut making.kernel.instructions {
        if instruction.exprs().into_iter().any(|expr| expr.any(&mut |inner| only_operand(inner).is_some())) {
            *instruction = Arc::new(instruction.map_exprs(&mut without));
        }
    }
    for rule in &mut making.rules {
        rule.body = without(&rule.body);
    }
    Ok(())
}

fn only_operand(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Reduction(reduction) if reduction.inames.is_empty() => match &reduction.operands[..] {
            [operand] => Some(operand),
            _ => None,
        },
        _ => None,
    }
}

fn without(expr: &Expr) -> Expr {
    match only_operand(expr) {
        Some(operand) => without(operand),
        None => expr.map_children(&mut without),
    }
}
