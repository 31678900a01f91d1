//! `a$load[i]`, `f$left(x)`: names with a user-defined tag. The tag names one use; kernels do not keep it.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::syntax::{Call, Expr, SubArray};
use parloop_isl::Name;

use super::error::{CreateError, Warning};
use super::making::Making;

/// Removes tags from names, with a warning for each.
pub(super) fn drop_tags(making: &mut Making) -> Result<(), CreateError> {
    let mut dropped = BTreeSet::new();
    for instruction in &mut making.kernel.instructions {
        if instruction.exprs().into_iter().any(is_tagged) {
            *instruction = Arc::new(instruction.map_exprs(&mut |expr| untagged(expr, &mut dropped)));
        }
    }
    for rule in making.rules.iter_mut().filter(|rule| is_tagged(&rule.body)) {
        rule.body = untagged(&rule.body, &mut dropped);
    }
    for name in dropped {
        making.warn(Warning::TagDropped { name });
    }
    Ok(())
}

fn is_tagged(expr: &Expr) -> bool {
    expr.any(&mut |inner| match inner {
        Expr::Variable(name) => name.contains('$'),
        Expr::Call(call) => call.function.contains('$'),
        Expr::SubArray(part) => part.array.contains('$'),
        _ => false,
    })
}

fn untagged(expr: &Expr, dropped: &mut BTreeSet<Name>) -> Expr {
    let mut bare = |name: &Name| match name.split_once('$') {
        Some((bare, _)) => {
            dropped.insert(name.clone());
            Name::from(bare)
        }
        None => name.clone(),
    };
    let expr = match expr {
        Expr::Variable(name) => return Expr::Variable(bare(name)),
        Expr::Call(call) => Expr::Call(Arc::new(Call { function: bare(&call.function), ..(**call).clone() })),
        Expr::SubArray(part) => Expr::SubArray(Arc::new(SubArray { array: bare(&part.array), ..(**part).clone() })),
        other => other.clone(),
    };
    expr.map_children(&mut |child| untagged(child, dropped))
}
