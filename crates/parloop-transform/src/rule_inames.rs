//! Inames of their own for reductions in substitution rules that are called where the iname means something else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::names::UniqueNames;
use parloop_ir::substitution::{called_rules, rule_call};
use parloop_ir::syntax::{Expr, LoopKernel, Reduction, SubstitutionRule};
use parloop_isl::{IslError, Name};

use super::make_reduction_inames_unique::copy_iname;
use super::replace::InameError;

/// The kernel in which no rule reduces over an iname that a caller is within, reduces over around the call, or passes to it: such reductions
/// get copies of the iname. Where bounds of another iname depend on it, it stays; the rule cannot be expanded then.
///
/// # Errors
/// If the solver fails.
pub fn separate_rule_inames(kernel: &LoopKernel) -> Result<LoopKernel, IslError> {
    let rules = &kernel.substitutions;
    if !rules.values().any(|rule| !rule.body.reduction_inames().is_empty()) {
        return Ok(kernel.clone());
    }
    let mut found = RuleConflicts { kernel, shared: BTreeSet::new() };
    for instruction in &kernel.instructions {
        let mut around = instruction.within_inames.clone();
        instruction.exprs().into_iter().for_each(|expr| found.free(expr, &[], &mut around));
        instruction.exprs().into_iter().for_each(|expr| found.calls(expr, &around));
    }
    for rule in rules.values() {
        let mut around = BTreeSet::new();
        found.free(&rule.body, &rule.parameters, &mut around);
        found.calls(&rule.body, &around);
    }
    let mut names = UniqueNames::of_variables(kernel);
    let mut result = kernel.clone();
    for (owner, iname) in found.shared {
        let copy = names.make(&iname);
        match copy_iname(&mut result, &iname, &copy) {
            Ok(()) => {}
            Err(InameError::Isl(error)) => return Err(error),
            Err(_) => continue,
        }
        if let Some(rule) = result.substitutions.get_mut(&owner) {
            rule.body = rename_bound(&rule.body, &iname, &copy);
        }
    }
    Ok(result)
}

struct RuleConflicts<'k> {
    kernel: &'k LoopKernel,
    /// Rules and inames of their reductions that mean something else around a call.
    shared: BTreeSet<(Name, Name)>,
}

impl RuleConflicts<'_> {
    /// Adds the inames in an expression that no reduction of it binds.
    fn free(&self, expr: &Expr, bound: &[Name], found: &mut BTreeSet<Name>) {
        match expr {
            Expr::Variable(name) if self.kernel.inames.contains_key(name) && !bound.contains(name) => drop(found.insert(name.clone())),
            Expr::Reduction(reduction) => {
                let bound = [bound, &reduction.inames].concat();
                expr.children().into_iter().for_each(|child| self.free(child, &bound, found));
            }
            _ => expr.children().into_iter().for_each(|child| self.free(child, bound, found)),
        }
    }

    /// Compares the reductions of the rules that an expression calls with what is around the calls.
    fn calls(&mut self, expr: &Expr, around: &BTreeSet<Name>) {
        let rules = &self.kernel.substitutions;
        if let Some((rule, args)) = rule_call(expr, rules) {
            let mut around = around.clone();
            around.extend(args.iter().flat_map(|arg| reductions(arg, rules)).map(|(_, iname)| iname));
            let own = rule.body.reduction_inames().into_iter().map(|iname| (rule.name.clone(), iname));
            let all = own.chain(reductions(&rule.body, rules).into_iter().filter(|(owner, _)| !owner.is_empty()));
            self.shared.extend(all.filter(|(_, iname)| around.contains(iname)));
        }
        match expr {
            Expr::Reduction(reduction) => {
                let inside = around.iter().chain(&reduction.inames).cloned().collect();
                expr.children().into_iter().for_each(|child| self.calls(child, &inside));
            }
            _ => expr.children().into_iter().for_each(|child| self.calls(child, around)),
        }
    }
}

/// The inames over which an expression reduces, with the rule that does; no name for the expression itself.
fn reductions(expr: &Expr, rules: &BTreeMap<Name, SubstitutionRule>) -> BTreeSet<(Name, Name)> {
    let mut found: BTreeSet<(Name, Name)> = expr.reduction_inames().into_iter().map(|iname| (Name::from(""), iname)).collect();
    for called in called_rules(expr, rules) {
        found.extend(rules[&called].body.reduction_inames().into_iter().map(|iname| (called.clone(), iname)));
    }
    found
}

/// The expression with another iname in the reductions over one.
pub(crate) fn rename_bound(expr: &Expr, iname: &Name, copy: &Name) -> Expr {
    match expr {
        Expr::Reduction(reduction) if reduction.inames.contains(iname) => {
            let by = [(iname.clone(), Expr::Variable(copy.clone()))].into();
            let inames = reduction.inames.iter().map(|name| if name == iname { copy.clone() } else { name.clone() }).collect();
            let operands = reduction.operands.iter().map(|operand| rename_bound(operand, iname, copy).substitute(&by)).collect();
            Expr::Reduction(Arc::new(Reduction { inames, operands, ..(**reduction).clone() }))
        }
        _ => expr.map_children(&mut |child| rename_bound(child, iname, copy)),
    }
}
