//! `expand_subst`: replaces calls to substitution rules by the rules' bodies. Also finds such calls.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::Name;

use crate::matching::Query;
use crate::syntax::{Expr, LoopKernel, SubstitutionRule};

/// Why calls to rules cannot be expanded.
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
    #[error("substitution rule `{rule}` calls itself: {}; define one of them without the others", cycle(.through))]
    CallsItself {
        /// The rule.
        rule: Name,
        /// The rules on the path, in order.
        through: Vec<Name>,
    },
    /// An iname in an argument has another meaning in the rule.
    #[error(
        "substitution rule `{rule}` reduces over `{iname}`, but `{instruction}` calls it with an argument that depends on `{iname}`; reduce over \
         another iname in one of them"
    )]
    Captures {
        /// The rule.
        rule: Name,
        /// The iname.
        iname: Name,
        /// The instruction, or the rule, that calls it.
        instruction: Name,
    },
    /// Rules call each other too deeply.
    #[error(
        "substitution rules call each other more than {limit} levels deep in `{instruction}`; store intermediate values in temporaries"
    )]
    TooDeep {
        /// The instruction, or the rule, that calls them.
        instruction: Name,
        /// The maximum depth.
        limit: usize,
    },
    /// The expanded expression is nested too deeply.
    #[error(
        "substitution rule `{rule}` expands to an expression more than {limit} levels deep in `{instruction}`; store intermediate values in temporaries"
    )]
    TooHigh {
        /// The rule that is expanded when the limit is reached.
        rule: Name,
        /// The instruction, or the rule, that calls it.
        instruction: Name,
        /// The maximum number of levels.
        limit: usize,
    },
    /// The expanded expression is too large, for example where each rule calls another twice.
    #[error(
        "substitution rule `{rule}` expands to an expression with more than {limit} parts in `{instruction}`; store values that are used often in temporaries"
    )]
    TooLarge {
        /// The rule that is expanded when the limit is reached.
        rule: Name,
        /// The instruction, or the rule, that calls it.
        instruction: Name,
        /// The maximum number of parts.
        limit: usize,
    },
}

/// The maximum depth of rule calls.
const DEEPEST: usize = 100;
/// The maximum number of parts of an expanded expression.
const LARGEST: usize = 100_000;
/// The maximum number of parts that are visited to expand one expression.
const MOST_WORK: usize = 30 * LARGEST;
/// The maximum nesting depth of an expanded expression.
const HIGHEST: usize = 500;

fn cycle(through: &[Name]) -> String {
    through.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(" → ")
}

/// Expands all calls to substitution rules in the instructions that `within` selects; unused rules are removed.
///
/// # Errors
/// If a call does not match its rule, or a rule calls itself.
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

/// Expands calls to the rules that `chosen` selects, including those in the rules' bodies.
///
/// # Errors
/// As [`expand_subst`]; errors name `place`.
pub fn expand_calls(
    expr: &Expr,
    rules: &BTreeMap<Name, SubstitutionRule>,
    place: &Name,
    chosen: &dyn Fn(&Name) -> bool,
) -> Result<Expr, ExpandSubstError> {
    if rules.is_empty() {
        return Ok(expr.clone());
    }
    Expansion { rules, place, chosen, work: Cell::new(0), level: Cell::new(0) }.expand(expr, &mut Vec::new())
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
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        next.visit(&mut |inner| {
            if let Some((rule, _)) = rule_call(inner, rules)
                && found.insert(rule.name.clone())
            {
                open.push(&rules[&rule.name].body);
            }
        });
    }
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
    /// The number of parts visited.
    work: Cell<usize>,
    /// The depth of the current part in the expanded expression.
    level: Cell<usize>,
}

/// The number of parts of an expression after names are replaced by expressions of these sizes.
fn size_with(expr: &Expr, sizes: &BTreeMap<&Name, usize>) -> usize {
    let mut size = 0usize;
    expr.visit(&mut |part| {
        let added = if let Expr::Variable(name) = part { sizes.get(name).copied().unwrap_or(1) } else { 1 };
        size = size.saturating_add(added);
    });
    size
}

/// Whether a name is free in an expression.
fn is_free(expr: &Expr, name: &Name) -> bool {
    match expr {
        Expr::Variable(variable) => variable == name,
        Expr::Reduction(reduction) if reduction.inames.contains(name) => false,
        _ => expr.children().into_iter().any(|child| is_free(child, name)),
    }
}

/// The nesting depth of an expression.
fn height(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(height).max().unwrap_or(0)
}

impl Expansion<'_> {
    /// Fails if a rule expands to too large an expression.
    fn check_size(&self, rule: &SubstitutionRule, body: &Expr, args: &[Expr]) -> Result<(), ExpandSubstError> {
        let none = BTreeMap::new();
        let sizes = rule.parameters.iter().zip(args.iter().map(|arg| size_with(arg, &none))).collect();
        let size = size_with(body, &sizes);
        let work = self.work.get().saturating_add(size);
        self.work.set(work);
        let (rule_name, instruction) = (rule.name.clone(), self.place.clone());
        if height(body) + args.iter().map(height).max().unwrap_or(0) > HIGHEST {
            return Err(ExpandSubstError::TooHigh { rule: rule_name, instruction, limit: HIGHEST });
        }
        if size <= LARGEST && work <= MOST_WORK {
            return Ok(());
        }
        Err(ExpandSubstError::TooLarge { rule: rule_name, instruction, limit: LARGEST })
    }

    fn expand(&self, expr: &Expr, open: &mut Vec<Name>) -> Result<Expr, ExpandSubstError> {
        let level = self.level.get() + 1;
        if level > HIGHEST
            && let Some(rule) = open.last()
        {
            return Err(ExpandSubstError::TooHigh { rule: rule.clone(), instruction: self.place.clone(), limit: HIGHEST });
        }
        self.level.set(level);
        let expanded = self.expand_here(expr, open);
        self.level.set(level - 1);
        expanded
    }

    fn expand_here(&self, expr: &Expr, open: &mut Vec<Name>) -> Result<Expr, ExpandSubstError> {
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
        if open.len() >= DEEPEST {
            return Err(ExpandSubstError::TooDeep { instruction: self.place.clone(), limit: DEEPEST });
        }
        // Arguments are expanded outside the rule, where a call to the same rule is not recursion.
        let args: Vec<Expr> = args.iter().map(|arg| self.expand(arg, open)).collect::<Result<_, _>>()?;
        open.push(rule.name.clone());
        let body = self.expand(&rule.body, open);
        open.pop();
        let body = body?;
        self.check_size(rule, &body, &args)?;
        if !args.is_empty()
            && let Some(iname) = body.reduction_inames().into_iter().find(|iname| args.iter().any(|arg| is_free(arg, iname)))
        {
            return Err(ExpandSubstError::Captures { rule: rule.name.clone(), iname, instruction: self.place.clone() });
        }
        let by = rule.parameters.iter().cloned().zip(args).collect();
        Ok(body.substitute(&by))
    }
}
