//! `max(alpha, a[i])` reads like a reduction over `alpha`. Where that is not an iname, it is the larger of two values.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::parse::{is_extreme, settled};
use parloop_isl::Name;

use super::error::CreateError;
use super::making::Making;

/// Distinguishes values from inames in `min` and `max`, in all instructions and rules.
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
