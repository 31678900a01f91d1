//! Loops opened around as few instructions as possible: `ilp` and `vec` inames, whose values run concurrently.
//!
//! All values finish an instruction before the next one starts. Neighbours share a loop only if no value uses results of another.

use std::collections::BTreeSet;

use parloop_isl::Name;

use super::Node;
use super::error::SequenceError;
use crate::dependence::Dependences;
use crate::facts::{Facts, Placement};

/// The nodes of a body with those loops put around runs of instructions.
pub(super) fn wrap(facts: &Facts<'_>, nodes: Vec<Node>) -> Result<Vec<Node>, SequenceError> {
    if !facts.placement.values().any(|placement| *placement == Placement::Innermost) {
        return Ok(nodes);
    }
    let dependences = Dependences::of(facts);
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
            let mut is_joined = inames == run_inames;
            for &other in &run {
                is_joined = is_joined && dependences.are_separate(other, at, &inames)?;
            }
            if !is_joined {
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
    Ok(wrapped)
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
