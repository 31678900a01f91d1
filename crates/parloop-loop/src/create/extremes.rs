//! `max(alpha, a[i])` reads like a reduction over `alpha`. Where that is no iname, it is the larger of two values.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_isl::Name;

use super::Making;
use super::error::CreateError;
use crate::syntax::{Expr, ReductionOp};

/// Tells values from inames in `min` and `max`, in all instructions and rules.
pub(super) fn settle_extremes(making: &mut Making) -> Result<(), CreateError> {
    let inames: BTreeSet<Name> = making.kernel.inames.keys().cloned().collect();
    for instruction in &mut making.kernel.instructions {
        if instruction.exprs().into_iter().any(|expr| expr.any(&mut |inner| is_extreme(inner, &inames))) {
            *instruction = Arc::new(instruction.map_exprs(&mut |expr| settled(expr, &inames)));
        }
    }
    for rule in &mut making.rules {
        // A parameter of a rule stands for a value, even under the name of an iname.
        let without: BTreeSet<Name> = inames.iter().filter(|iname| !rule.parameters.contains(iname)).cloned().collect();
        rule.body = settled(&rule.body, &without);
    }
    Ok(())
}

/// The expression with each `min` and `max` over what is no iname as one of values.
pub(super) fn settled(expr: &Expr, inames: &BTreeSet<Name>) -> Expr {
    expr.rewrite(&mut |inner| match inner {
        Expr::Reduction(reduction) if is_extreme(inner, inames) => {
            let values = [Expr::var(&reduction.inames[0]), settled(&reduction.operands[0], inames)].into();
            Some(if reduction.op == ReductionOp::Max { Expr::Max(values) } else { Expr::Min(values) })
        }
        _ => None,
    })
}

/// Who reduces over a name uses it; a misspelt iname stays a reduction, and is reported as one.
fn is_extreme(expr: &Expr, inames: &BTreeSet<Name>) -> bool {
    match expr {
        Expr::Reduction(reduction) if matches!(reduction.op, ReductionOp::Max | ReductionOp::Min) && !reduction.simultaneous => {
            match (reduction.inames.as_slice(), reduction.operands.as_slice()) {
                ([name], [operand]) => !inames.contains(name) && !operand.variables().contains(name),
                _ => false,
            }
        }
        _ => false,
    }
}
