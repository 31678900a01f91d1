//! Loops that are opened around as few instructions as can be: `ilp` and `vec` inames, whose values run at once.
//!
//! All values finish an instruction before the next one starts. Neighbours share a loop only where each value uses nothing of another's.

use std::collections::{BTreeSet, HashMap};

use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::syntax::{Expr, InstructionKind};
use parloop_isl::Name;

use super::Node;

/// The nodes of a body with those loops put around runs of instructions.
pub(super) fn wrap(facts: &Facts<'_>, nodes: Vec<Node>) -> Vec<Node> {
    if !facts.placement.values().any(|placement| *placement == Placement::Innermost) {
        return nodes;
    }
    let mut wrapped: Vec<Node> = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    let mut run_inames: BTreeSet<&Name> = BTreeSet::new();
    for node in nodes {
        let at = match &node {
            Node::Run(id) => facts.position.get(id).copied(),
            _ => None,
        };
        let inames = at.map_or_else(BTreeSet::new, |at| innermost_inames(facts, at));
        if let Some(at) = at
            && !inames.is_empty()
        {
            if inames != run_inames || !run.iter().all(|&other| are_separate(facts, other, at, &inames)) {
                close(facts, &mut run, &run_inames, &mut wrapped);
                run_inames = inames;
            }
            run.push(at);
        } else {
            close(facts, &mut run, &run_inames, &mut wrapped);
            wrapped.push(node);
        }
    }
    close(facts, &mut run, &run_inames, &mut wrapped);
    wrapped
}

fn innermost_inames<'k>(facts: &Facts<'k>, at: usize) -> BTreeSet<&'k Name> {
    facts.kernel.instructions[at].within_inames.iter().filter(|iname| facts.placement(iname) == Placement::Innermost).collect()
}

fn close(facts: &Facts<'_>, run: &mut Vec<usize>, inames: &BTreeSet<&Name>, wrapped: &mut Vec<Node>) {
    if run.is_empty() {
        return;
    }
    let mut order: Vec<&&Name> = inames.iter().collect();
    order.sort_by_key(|iname| std::cmp::Reverse(facts.declared.get(**iname)));
    let mut body: Vec<Node> = run.drain(..).map(|at| Node::Run(facts.kernel.instructions[at].id.clone())).collect();
    for iname in order {
        body = vec![Node::Loop { iname: (*iname).clone(), body }];
    }
    wrapped.append(&mut body);
}

/// Whether all accesses of both to a variable that one of them writes have the same indices, with each of the inames in them.
fn are_separate(facts: &Facts<'_>, first: usize, second: usize, inames: &BTreeSet<&Name>) -> bool {
    let names: Vec<&Name> = facts.writes[first]
        .iter()
        .filter(|name| facts.reads[second].contains(*name) || facts.writes[second].contains(*name))
        .chain(facts.writes[second].iter().filter(|name| facts.reads[first].contains(*name)))
        .collect();
    if names.is_empty() {
        return true;
    }
    let instructions = [first, second].map(|at| &facts.kernel.instructions[at]);
    if instructions.iter().any(|instruction| matches!(instruction.kind, InstructionKind::C(_))) {
        return false;
    }
    let mut uses: HashMap<&Name, BTreeSet<&Expr>> = HashMap::new();
    for expr in instructions.iter().flat_map(|instruction| instruction.exprs()) {
        collect_uses(expr, &names, &mut uses);
    }
    uses.values().all(|found| {
        let only = found.iter().next().filter(|_| found.len() == 1);
        only.is_some_and(|expr| {
            let variables = expr.variables();
            matches!(expr, Expr::Subscript(..)) && inames.iter().all(|iname| variables.contains(*iname))
        })
    })
}

fn collect_uses<'e>(expr: &'e Expr, names: &[&'e Name], uses: &mut HashMap<&'e Name, BTreeSet<&'e Expr>>) {
    let aggregate = match expr {
        Expr::Variable(name) => Some(name),
        Expr::Subscript(aggregate, _) => match &**aggregate {
            Expr::Variable(name) => Some(name),
            _ => None,
        },
        Expr::SubArray(part) => Some(&part.array),
        _ => None,
    };
    if let Some(name) = aggregate
        && names.contains(&name)
    {
        uses.entry(name).or_default().insert(expr);
    }
    let skip = usize::from(aggregate.is_some() && matches!(expr, Expr::Subscript(..)));
    for child in expr.children().into_iter().skip(skip) {
        collect_uses(child, names, uses);
    }
}
