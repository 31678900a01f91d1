//! `max(alpha, a[i])` reads like a reduction over `alpha`. Where that is not an iname, it is the larger of two values.

use std::collections::BTreeSet;

use parloop_isl::Name;

use crate::syntax::{Expr, ReductionOp};

/// Turns each `min` and `max` whose first argument is not an iname into one of values.
pub fn settled(expr: &Expr, inames: &BTreeSet<Name>) -> Expr {
    expr.rewrite(&mut |inner| match inner {
        Expr::Reduction(reduction) if is_extreme(inner, inames) => {
            let values = [Expr::var(&reduction.inames[0]), settled(&reduction.operands[0], inames)].into();
            Some(if reduction.op == ReductionOp::Max { Expr::Max(values) } else { Expr::Min(values) })
        }
        _ => None,
    })
}

/// A reduction over a name must use it; a misspelt iname stays a reduction and is reported as one.
pub fn is_extreme(expr: &Expr, inames: &BTreeSet<Name>) -> bool {
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
