//! Rules that a computed rule calls, and that depend on swept inames beside their arguments: at the place of the computation they mean the value
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::names::UniqueNames;
use parloop_ir::substitution::{ExpandSubstError, called_rules, expand_calls, used_rules};
use parloop_ir::syntax::{Call, Expr, LoopKernel, SubstitutionRule};
use parloop_isl::Name;

/// The body of a rule, calling rules that mean their value where the names are what `by` says. A rule without other users is changed,
/// others are copied.
pub(super) fn at_place(
    kernel: &mut LoopKernel,
    rule: &SubstitutionRule,
    by: &BTreeMap<Name, Expr>,
    names: &mut UniqueNames,
) -> Result<Expr, ExpandSubstError> {
    // Arguments are not seen inside other rules.
    let hidden: BTreeMap<Name, Expr> =
        by.iter().filter(|(name, _)| !rule.parameters.contains(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut changed: BTreeMap<Name, Name> = BTreeMap::new();
    let used = used_rules(kernel);
    for name in called_rules(&rule.body, &kernel.substitutions) {
        let called = &kernel.substitutions[&name];
        let whole = expand_calls(&called.body, &kernel.substitutions, &name, &|_| true)?;
        if whole.variables().iter().any(|inner| hidden.contains_key(inner) && !called.parameters.contains(inner)) {
            let new = if used.contains(&name) { names.make(&name) } else { name.clone() };
            changed.insert(name, new);
        }
    }
    for (name, new) in &changed {
        let called = kernel.substitutions[name].clone();
        let seen =
            hidden.iter().filter(|(inner, _)| !called.parameters.contains(inner)).map(|(inner, value)| (inner.clone(), value.clone()));
        let body = redirected(&called.body, &changed, &called.parameters.iter().collect()).substitute(&seen.collect());
        kernel.substitutions.insert(new.clone(), SubstitutionRule { name: new.clone(), parameters: called.parameters, body });
    }
    Ok(redirected(&rule.body, &changed, &rule.parameters.iter().collect()))
}

/// With calls of rules by their new names.
fn redirected(expr: &Expr, changed: &BTreeMap<Name, Name>, shadowed: &BTreeSet<&Name>) -> Expr {
    let inner = expr.map_children(&mut |child| redirected(child, changed, shadowed));
    match &inner {
        Expr::Variable(name) if !shadowed.contains(name) => Expr::Variable(changed.get(name).unwrap_or(name).clone()),
        Expr::Call(call) => match changed.get(&call.function) {
            Some(new) => Expr::Call(Arc::new(Call { function: new.clone(), ..(**call).clone() })),
            None => inner,
        },
        _ => inner,
    }
}
