//! The order of instruction instances, by the simplest sound rule; it shares nothing with the scheduler.
//!
//! Instructions that share a sequential iname are in one loop over it; the loop and what is beside it are sorted by dependencies.
//! Parallel inames are innermost loops around each single instruction, as if all work items waited for each other after each.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::domain::Forest;
use parloop_ir::syntax::{InameTag, Instruction, LoopKernel};
use parloop_isl::{Bounds, Name, Set};

use super::error::InterpretError;

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// From the smallest of the lower limits to the largest of the upper ones; each instruction asks for itself whether it has the point.
    Loop { iname: Name, bounds: Vec<Bounds>, body: Vec<Node> },
    /// The instruction of that number, where its domain has the point.
    Run(usize),
}

pub(super) struct Planner<'k> {
    pub(super) kernel: &'k LoopKernel,
    pub(super) forest: Forest<'k>,
    /// For each instruction the points of its inames.
    pub(super) domains: Vec<Set>,
    /// For each instruction those that come before it.
    before: Vec<BTreeSet<usize>>,
}

impl<'k> Planner<'k> {
    pub(super) fn of(kernel: &'k LoopKernel) -> Result<Planner<'k>, InterpretError> {
        let forest = Forest::of(kernel);
        let domains =
            kernel.instructions.iter().map(|instruction| points(&forest, &instruction.within_inames)).collect::<Result<Vec<_>, _>>()?;
        let place = |id: &Name| kernel.instructions.iter().position(|instruction| instruction.id == *id);
        let before = kernel.instructions.iter().enumerate().map(|(own, instruction)| {
            let mut before: BTreeSet<usize> = instruction.depends_on.iter().filter_map(place).collect();
            // Loops begin when their limits are known.
            let computed = domains[own].params().iter().filter(|param| kernel.temporaries.contains_key(*param));
            let limits: Vec<&Name> = computed.collect();
            let writes_limit = |other: &Arc<Instruction>| limits.iter().any(|limit| other.writes().contains(*limit));
            before.extend(kernel.instructions.iter().enumerate().filter(|(_, other)| writes_limit(other)).map(|(place, _)| place));
            before.remove(&own);
            before
        });
        let before = before.collect();
        Ok(Planner { kernel, forest, domains, before })
    }

    pub(super) fn plan(&self) -> Result<Vec<Node>, InterpretError> {
        let all: Vec<usize> = (0..self.kernel.instructions.len()).collect();
        self.body(&all, &mut Vec::new())
    }

    /// The loops and instructions inside the loops `around`.
    fn body(&self, members: &[usize], around: &mut Vec<Name>) -> Result<Vec<Node>, InterpretError> {
        let mut nodes = Vec::new();
        for group in self.sorted(self.groups(members, around))? {
            let open = self.open(group[0], around);
            if open.is_empty() && group.len() == 1 {
                nodes.push(Node::Run(group[0]));
                continue;
            }
            let shared: BTreeSet<Name> = group.iter().skip(1).fold(open, |shared, &member| &shared & &self.open(member, around));
            let iname = self.outermost(&shared).ok_or_else(|| InterpretError::NoNest { instructions: self.ids(&group) })?;
            let bounds = group.iter().map(|&member| self.bounds(member, &iname, around)).collect::<Result<Vec<_>, _>>()?;
            around.push(iname.clone());
            let body = self.body(&group, around)?;
            around.pop();
            nodes.push(Node::Loop { iname, bounds, body });
        }
        Ok(nodes)
    }

    /// The sequential inames of an instruction that are not around it; if there are none, the parallel ones.
    fn open(&self, member: usize, around: &[Name]) -> BTreeSet<Name> {
        let rest = self.kernel.instructions[member].within_inames.iter().filter(|iname| !around.contains(*iname));
        let (parallel, sequential): (BTreeSet<Name>, BTreeSet<Name>) = rest.cloned().partition(|iname| self.axis(iname).is_some());
        if sequential.is_empty() { parallel } else { sequential }
    }

    /// The axis that an iname runs along, if it is parallel.
    pub(super) fn axis(&self, iname: &str) -> Option<&'k InameTag> {
        self.kernel.inames.get(iname)?.tags.iter().find(|tag| tag.is_parallel())
    }

    /// Instructions that share sequential inames, directly or through others; all others alone.
    fn groups(&self, members: &[usize], around: &[Name]) -> Vec<Vec<usize>> {
        let mut groups: Vec<(BTreeSet<Name>, Vec<usize>)> = Vec::new();
        for &member in members {
            let mut inames = self.open(member, around);
            inames.retain(|iname| self.axis(iname).is_none());
            let mut joined = vec![member];
            groups.retain(|(others, group)| {
                let apart = inames.is_disjoint(others);
                if !apart {
                    inames.extend(others.iter().cloned());
                    joined.extend(group);
                }
                apart
            });
            joined.sort_unstable();
            groups.push((inames, joined));
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The groups, each after those it depends on; of several the one of higher priority, then the one written first.
    fn sorted(&self, mut rest: Vec<Vec<usize>>) -> Result<Vec<Vec<usize>>, InterpretError> {
        let urgency =
            |group: &Vec<usize>| (-group.iter().map(|&member| self.kernel.instructions[member].priority).max().unwrap_or(0), group[0]);
        rest.sort_by_key(urgency);
        let mut sorted = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let waits = |group: &Vec<usize>| {
                let inside = |needed: &usize| group.contains(needed);
                let open = |needed: &usize| !inside(needed) && rest.iter().any(|other| other.contains(needed));
                group.iter().any(|&member| self.before[member].iter().any(open))
            };
            let Some(next) = rest.iter().position(|group| !waits(group)) else {
                return Err(InterpretError::Circle { instructions: self.ids(&rest.concat()) });
            };
            sorted.push(rest.remove(next));
        }
        Ok(sorted)
    }

    /// The iname whose loop no priority and no limit wants inside another's; of several the first in the domains.
    fn outermost(&self, shared: &BTreeSet<Name>) -> Option<Name> {
        let later = |iname: &Name, other: &Name| {
            let home = self.forest.home(iname);
            let leans = home.is_some_and(|home| self.kernel.domains[home].has_param(other));
            let place = |chain: &[Name], name: &Name| chain.iter().position(|member| member == name);
            leans
                || self
                    .kernel
                    .priorities
                    .iter()
                    .any(|chain| matches!((place(chain, other), place(chain, iname)), (Some(a), Some(b)) if a < b))
        };
        let mut declared = self.kernel.domains.iter().flat_map(|domain| domain.dims()).filter(|dim| shared.contains(*dim));
        declared.find(|&iname| !shared.iter().any(|other| other != iname && later(iname, other))).cloned()
    }

    fn bounds(&self, member: usize, iname: &Name, around: &[Name]) -> Result<Bounds, InterpretError> {
        let outer: Vec<Name> = around.iter().filter(|name| self.domains[member].has_dim(name)).cloned().collect();
        let bounds = self.domains[member].to_params(&outer).project_onto(std::slice::from_ref(iname))?.bounds(iname)?;
        match bounds.lower.is_empty() || bounds.upper.is_empty() {
            true => Err(InterpretError::Unbounded { iname: iname.clone() }),
            false => Ok(bounds),
        }
    }

    fn ids(&self, members: &[usize]) -> Vec<Name> {
        members.iter().map(|&member| self.kernel.instructions[member].id.clone()).collect()
    }
}

/// The points of those inames.
pub(super) fn points(forest: &Forest<'_>, inames: &BTreeSet<Name>) -> Result<Set, InterpretError> {
    let order: Vec<Name> = inames.iter().cloned().collect();
    Ok(forest.domain_of(inames)?.project_onto(&order)?)
}
