//! Rewriting of every expression of a kernel: those of its instructions, and of its substitution rules as far as the changed instructions
//! use them. A rule that instructions inside and outside a query share is copied first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::substitution::{ExpandSubstError, expand_calls};
use parloop_ir::syntax::{Call, Expr, Instruction, LoopKernel, SubstitutionRule};
use parloop_isl::Name;

/// The scope of a transformation: the instructions that it changes.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    inside: Vec<bool>,
}

impl Scope {
    /// Those that a query finds.
    pub fn of(kernel: &LoopKernel, within: &Query) -> Scope {
        Scope { inside: kernel.instructions.iter().map(|instruction| within.matches(kernel, instruction)).collect() }
    }

    /// All instructions.
    pub fn whole(kernel: &LoopKernel) -> Scope {
        Scope { inside: vec![true; kernel.instructions.len()] }
    }

    /// Whether no instruction of a kernel that has some is inside.
    pub fn is_empty(&self) -> bool {
        !self.inside.is_empty() && !self.inside.contains(&true)
    }

    /// Whether every instruction is inside.
    pub fn is_whole(&self) -> bool {
        !self.inside.contains(&false)
    }

    /// Those inside for which a test holds.
    pub fn narrow(&self, kernel: &LoopKernel, test: &dyn Fn(&Instruction) -> bool) -> Scope {
        let pairs = kernel.instructions.iter().zip(&self.inside);
        Scope { inside: pairs.map(|(instruction, inside)| *inside && test(instruction)).collect() }
    }

    /// The instructions inside (`true`) or outside it.
    pub fn instructions<'a>(&'a self, kernel: &'a LoopKernel, inside: bool) -> impl Iterator<Item = &'a Arc<Instruction>> + Clone {
        kernel.instructions.iter().zip(&self.inside).filter(move |(_, is_inside)| **is_inside == inside).map(|(instruction, _)| instruction)
    }

    /// The instructions, those inside changed.
    pub fn map<E>(&self, kernel: &LoopKernel, change: &mut InstructionChange<'_, E>) -> Result<Vec<Arc<Instruction>>, E> {
        let pairs = kernel.instructions.iter().zip(&self.inside);
        pairs.map(|(instruction, inside)| if *inside { change(instruction) } else { Ok(instruction.clone()) }).collect()
    }
}

/// What is done to an instruction.
pub(crate) type InstructionChange<'a, E> = dyn FnMut(&Arc<Instruction>) -> Result<Arc<Instruction>, E> + 'a;

/// What is done to an expression whose children are changed already. The names are those that stand for something else here: the
/// parameters of the rule that the expression is part of.
pub(crate) type Change<'a, E> = dyn FnMut(Expr, &[Name]) -> Result<Expr, E> + 'a;

/// The kernel with every expression of the instructions in scope changed, from the leaves up, and those of the rules that they use.
pub(crate) fn rewrite<E>(kernel: &LoopKernel, scope: &Scope, change: &mut Change<'_, E>) -> Result<LoopKernel, E> {
    let rules = change_rules(kernel, scope, change)?;
    let instructions = scope.map(kernel, &mut |instruction| {
        let changed = instruction.try_map_exprs(&mut |expr| from_leaves(expr, &[], change).map(|expr| redirect(&expr, &rules.copies)))?;
        Ok(if changed == **instruction { instruction.clone() } else { Arc::new(changed) })
    })?;
    Ok(LoopKernel { instructions, substitutions: rules.all, ..kernel.clone() })
}

/// An expression changed from the leaves up; variables of the given names are left alone.
fn from_leaves<E>(expr: &Expr, shadowed: &[Name], change: &mut Change<'_, E>) -> Result<Expr, E> {
    match expr {
        Expr::Variable(name) if shadowed.contains(name) => Ok(expr.clone()),
        _ => {
            let inner = expr.try_map_children(&mut |child| from_leaves(child, shadowed, change))?;
            change(inner, shadowed)
        }
    }
}

/// The rules after a change, and which copy is used instead of a rule by what is changed.
struct ChangedRules {
    all: BTreeMap<Name, SubstitutionRule>,
    copies: BTreeMap<Name, Name>,
}

fn change_rules<E>(kernel: &LoopKernel, scope: &Scope, change: &mut Change<'_, E>) -> Result<ChangedRules, E> {
    let mut all = kernel.substitutions.clone();
    if all.is_empty() {
        return Ok(ChangedRules { all, copies: BTreeMap::new() });
    }
    let kept = rules_used_by(kernel, scope.instructions(kernel, false));
    let reached = rules_used_by(kernel, scope.instructions(kernel, true));
    let mut bodies = BTreeMap::new();
    for rule in kernel.substitutions.values().filter(|rule| reached.contains(&rule.name) || !kept.contains(&rule.name)) {
        bodies.insert(rule.name.clone(), from_leaves(&rule.body, &rule.parameters, change)?);
    }
    // Shared rules that change, or that use one that does.
    let mut shared: BTreeSet<Name> = bodies
        .iter()
        .filter(|(name, body)| kept.contains(*name) && kernel.substitutions[*name].body != **body)
        .map(|(name, _)| name.clone())
        .collect();
    loop {
        let users = bodies.keys().filter(|name| kept.contains(*name) && !shared.contains(*name));
        let more: Vec<Name> =
            users.filter(|name| !rules_in(&kernel.substitutions[*name].body, kernel).is_disjoint(&shared)).cloned().collect();
        if more.is_empty() {
            break;
        }
        shared.extend(more);
    }
    let mut names = UniqueNames::of_variables(kernel);
    let copies: BTreeMap<Name, Name> = shared.iter().map(|name| (name.clone(), names.make(name))).collect();
    for (name, body) in bodies {
        if kept.contains(&name) && !shared.contains(&name) {
            continue;
        }
        let target = copies.get(&name).unwrap_or(&name).clone();
        let rule = &kernel.substitutions[&name];
        let mut visible = copies.clone();
        rule.parameters.iter().for_each(|parameter| drop(visible.remove(parameter)));
        all.insert(target.clone(), SubstitutionRule { name: target, parameters: rule.parameters.clone(), body: redirect(&body, &visible) });
    }
    Ok(ChangedRules { all, copies })
}

/// With uses of rules replaced by uses of their copies.
fn redirect(expr: &Expr, copies: &BTreeMap<Name, Name>) -> Expr {
    if copies.is_empty() {
        return expr.clone();
    }
    let inner = expr.map_children(&mut |child| redirect(child, copies));
    match &inner {
        Expr::Variable(name) => copies.get(name).map_or(inner.clone(), |copy| Expr::Variable(copy.clone())),
        Expr::Call(call) => match copies.get(&call.function) {
            Some(copy) => Expr::Call(Arc::new(Call { function: copy.clone(), ..(**call).clone() })),
            None => inner,
        },
        _ => inner,
    }
}

/// The rules that an expression uses itself.
fn rules_in(expr: &Expr, kernel: &LoopKernel) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    expr.visit(&mut |part| {
        let name = match part {
            Expr::Variable(name) => name,
            Expr::Call(call) => &call.function,
            _ => return,
        };
        if kernel.substitutions.contains_key(name) {
            found.insert(name.clone());
        }
    });
    found
}

/// The rules that instructions use, directly or through other rules.
pub(crate) fn rules_used_by<'a>(kernel: &LoopKernel, instructions: impl Iterator<Item = &'a Arc<Instruction>>) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    if kernel.substitutions.is_empty() {
        return found;
    }
    let mut open: Vec<Name> = instructions.flat_map(|instruction| instruction.exprs()).flat_map(|expr| rules_in(expr, kernel)).collect();
    while let Some(name) = open.pop() {
        if let Some(rule) = kernel.substitutions.get(&name)
            && found.insert(name)
        {
            open.extend(rules_in(&rule.body, kernel));
        }
    }
    found
}

/// An instruction with what the rules that it calls stand for.
pub(crate) fn without_rules(kernel: &LoopKernel, instruction: &Arc<Instruction>) -> Result<Arc<Instruction>, ExpandSubstError> {
    if kernel.substitutions.is_empty() {
        return Ok(instruction.clone());
    }
    let expand = &mut |expr: &Expr| expand_calls(expr, &kernel.substitutions, &instruction.id, &|_| true);
    Ok(Arc::new(instruction.try_map_exprs(expand)?))
}

/// The inames that instructions use: those they are within, and those that their reductions and sub-arrays, or those of the rules they
/// use, run over.
pub(crate) fn inames_used_by<'a>(kernel: &LoopKernel, instructions: impl Iterator<Item = &'a Arc<Instruction>> + Clone) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    for instruction in instructions.clone() {
        found.extend(instruction.within_inames.iter().cloned());
        found.extend(instruction.reduction_inames());
        found.extend(instruction.sub_array_inames());
        // A rule may reduce over one of its parameters.
        for expr in instruction.exprs().into_iter().filter(|_| !kernel.substitutions.is_empty()) {
            found.extend(expr.variables().into_iter().filter(|name| kernel.inames.contains_key(name)));
        }
    }
    for rule in rules_used_by(kernel, instructions) {
        let body = &kernel.substitutions[&rule].body;
        found.extend(body.reduction_inames());
        found.extend(body.sub_array_inames());
        found.extend(body.variables().into_iter().filter(|name| kernel.inames.contains_key(name)));
    }
    found
}
