//! `expand_subst`: calls of substitution rules become what they stand for. Also here: finding such calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::Name;

use crate::matching::Query;
use crate::syntax::{Expr, LoopKernel, SubstitutionRule};

/// Why calls of rules cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandSubstError {
    /// A call has too many arguments, or too few.
    #[error("substitution rule `{rule}` takes {takes} arguments, but is called with {given} in `{instruction}`")]
    WrongArguments {
        /// The rule.
        rule: Name,
        /// How many it takes.
        takes: usize,
        /// How many it got.
        given: usize,
        /// The instruction, or the rule, that calls it.
        instruction: Name,
    },
    /// A rule that calls itself, perhaps through others.
    #[error("substitution rule `{rule}` calls itself: {}; write one of them without the others", cycle(.through))]
    CallsItself {
        /// The rule.
        rule: Name,
        /// The rules in between, the first one first.
        through: Vec<Name>,
    },
}

fn cycle(through: &[Name]) -> String {
    through.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(" → ")
}

/// Expands all calls of substitution rules in the instructions that `within` selects; rules that nobody calls any more are gone.
///
/// # Errors
/// When a call does not fit its rule, or a rule calls itself.
pub fn expand_subst(kernel: &LoopKernel, within: &Query) -> Result<LoopKernel, ExpandSubstError> {
    if kernel.substitutions.is_empty() {
        return Ok(kernel.clone());
    }
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        if !within.matches(kernel, instruction) {
            continue;
        }
        let expand = &mut |expr: &Expr| expand_calls(expr, &kernel.substitutions, &instruction.id, &|_| true);
        *instruction = Arc::new(instruction.try_map_exprs(expand)?);
    }
    let used = used_rules(&result);
    result.substitutions.retain(|name, _| used.contains(name));
    Ok(result)
}

/// The expression with calls of those rules that `chosen` names expanded, in what they stand for too.
///
/// # Errors
/// As [`expand_subst`]; `place` is named in the errors.
pub fn expand_calls(
    expr: &Expr,
    rules: &BTreeMap<Name, SubstitutionRule>,
    place: &Name,
    chosen: &dyn Fn(&Name) -> bool,
) -> Result<Expr, ExpandSubstError> {
    if rules.is_empty() {
        return Ok(expr.clone());
    }
    Expansion { rules, place, chosen }.expand(expr, &mut Vec::new())
}

/// The rule that the expression calls, with its arguments: `f(x)`, or plain `f`.
pub fn rule_call<'a>(expr: &'a Expr, rules: &'a BTreeMap<Name, SubstitutionRule>) -> Option<(&'a SubstitutionRule, &'a [Expr])> {
    match expr {
        Expr::Call(call) if !call.resolved && call.keywords.is_empty() => Some((rules.get(&call.function)?, &call.args)),
        Expr::Variable(name) => Some((rules.get(name)?, &[])),
        _ => None,
    }
}

/// The rules that an expression calls, directly or through other rules.
pub fn called_rules(expr: &Expr, rules: &BTreeMap<Name, SubstitutionRule>) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    collect_called(expr, rules, &mut found);
    found
}

fn collect_called(expr: &Expr, rules: &BTreeMap<Name, SubstitutionRule>, found: &mut BTreeSet<Name>) {
    expr.visit(&mut |inner| {
        if let Some((rule, _)) = rule_call(inner, rules)
            && found.insert(rule.name.clone())
        {
            collect_called(&rule.body, rules, found);
        }
    });
}

/// The rules that instructions call, directly or through other rules.
pub fn used_rules(kernel: &LoopKernel) -> BTreeSet<Name> {
    let mut used = BTreeSet::new();
    for expr in kernel.instructions.iter().flat_map(|instruction| instruction.exprs()) {
        collect_called(expr, &kernel.substitutions, &mut used);
    }
    used
}

struct Expansion<'a> {
    rules: &'a BTreeMap<Name, SubstitutionRule>,
    place: &'a Name,
    chosen: &'a dyn Fn(&Name) -> bool,
}

impl Expansion<'_> {
    fn expand(&self, expr: &Expr, open: &mut Vec<Name>) -> Result<Expr, ExpandSubstError> {
        let Some((rule, args)) = rule_call(expr, self.rules).filter(|(rule, _)| (self.chosen)(&rule.name)) else {
            return expr.try_map_children(&mut |child| self.expand(child, open));
        };
        let place = open.last().unwrap_or(self.place);
        if args.len() != rule.parameters.len() {
            let (rule_name, takes) = (rule.name.clone(), rule.parameters.len());
            return Err(ExpandSubstError::WrongArguments { rule: rule_name, takes, given: args.len(), instruction: place.clone() });
        }
        if let Some(start) = open.iter().position(|name| *name == rule.name) {
            let mut through = open[start..].to_vec();
            through.push(rule.name.clone());
            return Err(ExpandSubstError::CallsItself { rule: rule.name.clone(), through });
        }
        // Arguments are expanded outside of the rule, where a call of the same rule is no recursion.
        let args: Vec<Expr> = args.iter().map(|arg| self.expand(arg, open)).collect::<Result<_, _>>()?;
        open.push(rule.name.clone());
        let body = self.expand(&rule.body, open);
        open.pop();
        let by = rule.parameters.iter().cloned().zip(args).collect();
        Ok(body?.substitute(&by))
    }
}
