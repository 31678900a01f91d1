//! The calls of a rule in a kernel: finding those whose values can be computed ahead, and putting stored values in their place.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::affine::to_affine;
use parloop_ir::matching::Query;
use parloop_ir::substitution::{ExpandSubstError, called_rules, expand_calls, rule_call};
use parloop_ir::syntax::{ArgumentKind, Expr, Instruction, LoopKernel};
use parloop_isl::{Affine, Name};

/// A kernel whose instructions call the rule themselves, not through other rules.
pub(super) fn call_directly(kernel: &LoopKernel, rule: &Name, within: &Query) -> Result<LoopKernel, ExpandSubstError> {
    let rules = &kernel.substitutions;
    let callers: BTreeSet<Name> =
        rules.values().filter(|other| called_rules(&other.body, rules).contains(rule)).map(|other| other.name.clone()).collect();
    let mut result = kernel.clone();
    if callers.is_empty() {
        return Ok(result);
    }
    for instruction in &mut result.instructions {
        if within.matches(kernel, instruction) {
            let expand = &mut |expr: &Expr| expand_calls(expr, rules, &instruction.id, &|name| callers.contains(name));
            *instruction = Arc::new(instruction.try_map_exprs(expand)?);
        }
    }
    Ok(result)
}

/// The arguments as affine expressions of inames and parameters, if all are.
pub(crate) fn affine_arguments(kernel: &LoopKernel, args: &[Expr]) -> Option<Vec<Affine>> {
    args.iter()
        .map(|arg| {
            let place = Name::from("an argument");
            let expanded = expand_calls(arg, &kernel.substitutions, &place, &|_| true).ok()?;
            to_affine(&expanded).filter(|affine| affine.names().iter().all(|name| is_fixed(kernel, name)))
        })
        .collect()
}

/// Whether a name has one value while the loops around stand still: inames, numbers passed to the kernel, and parameters of domains.
fn is_fixed(kernel: &LoopKernel, name: &Name) -> bool {
    kernel.inames.contains_key(name)
        || match kernel.arguments.iter().find(|argument| argument.name == *name) {
            Some(argument) => argument.kind == ArgumentKind::Value,
            None => !kernel.temporaries.contains_key(name),
        }
}

/// The arguments of all calls of the rule in the selected instructions, as far as they are affine; each once.
pub(super) fn affine_calls(kernel: &LoopKernel, rule: &Name, within: &Query) -> Vec<Vec<Affine>> {
    let mut found: Vec<Vec<Affine>> = Vec::new();
    for instruction in kernel.instructions.iter().filter(|instruction| within.matches(kernel, instruction)) {
        for call in calls_in(kernel, instruction, rule) {
            if !found.contains(&call) {
                found.push(call);
            }
        }
    }
    found
}

/// The arguments of the calls of the rule in one instruction, as far as they are affine; each once.
pub(super) fn calls_in(kernel: &LoopKernel, instruction: &Instruction, rule: &Name) -> Vec<Vec<Affine>> {
    let mut found: Vec<Vec<Affine>> = Vec::new();
    for expr in instruction.exprs() {
        expr.visit(&mut |inner| {
            if let Some((called, args)) = rule_call(inner, &kernel.substitutions)
                && called.name == *rule
                && let Some(affine) = affine_arguments(kernel, args)
                && affine.len() == called.parameters.len()
                && !found.contains(&affine)
            {
                found.push(affine);
            }
        });
    }
    found
}

/// The ids of the instructions in which `stored` gives something for a call of the rule, with that in its place in all of them.
pub(super) fn replace_calls(
    kernel: &mut LoopKernel,
    rule: &Name,
    within: &Query,
    stored: &dyn Fn(&[Affine]) -> Option<Expr>,
) -> BTreeSet<Name> {
    let before = kernel.clone();
    let mut users = BTreeSet::new();
    for instruction in &mut kernel.instructions {
        if !within.matches(&before, instruction) {
            continue;
        }
        let mut found = false;
        let changed = instruction.map_exprs(&mut |expr| {
            expr.rewrite(&mut |inner| {
                let (called, args) = rule_call(inner, &before.substitutions)?;
                let value = (called.name == *rule).then(|| stored(&affine_arguments(&before, args)?)).flatten()?;
                found = true;
                Some(value)
            })
        });
        if found {
            users.insert(changed.id.clone());
            *instruction = Arc::new(changed);
        }
    }
    users
}
