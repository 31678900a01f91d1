//! A global barrier ends a launch: the tree is split into launches there, and loops around a barrier run on the host.

use parloop_analysis::facts::Facts;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{ArgumentKind, SyncScope};
use parloop_isl::Name;

use super::error::ScheduleError;
use super::{Launch, Node, ScheduleItem};

/// The launches of a tree (without sizes), and what the host does.
pub(crate) fn split(facts: &Facts<'_>, body: Vec<Node>) -> Result<(Vec<Launch>, Vec<ScheduleItem>), ScheduleError> {
    let mut cut = Cut { facts, names: UniqueNames::of([]), launches: Vec::new() };
    let steps = cut.body(body, &mut Vec::new())?;
    Ok((cut.launches, steps))
}

struct Cut<'f, 'k> {
    facts: &'f Facts<'k>,
    names: UniqueNames,
    launches: Vec<Launch>,
}

impl Cut<'_, '_> {
    fn body(&mut self, nodes: Vec<Node>, loops: &mut Vec<Name>) -> Result<Vec<ScheduleItem>, ScheduleError> {
        let mut steps = Vec::new();
        let mut chunk = Vec::new();
        for node in nodes {
            match node {
                Node::Barrier { scope: SyncScope::Global, .. } => self.close(&mut chunk, loops, &mut steps),
                Node::Loop { iname, body } if has_global_barrier(&body) => {
                    self.close(&mut chunk, loops, &mut steps);
                    self.check_host_loop(&iname, loops)?;
                    loops.push(iname.clone());
                    let body = self.body(body, loops)?;
                    loops.pop();
                    steps.push(ScheduleItem::Loop { iname, body });
                }
                node => chunk.push(node),
            }
        }
        if !chunk.is_empty() || (loops.is_empty() && self.launches.is_empty()) {
            self.close_always(chunk, loops, &mut steps);
        }
        Ok(steps)
    }

    fn close(&mut self, chunk: &mut Vec<Node>, loops: &[Name], steps: &mut Vec<ScheduleItem>) {
        // Barriers alone do nothing.
        if chunk.iter().any(|node| !matches!(node, Node::Barrier { .. })) {
            self.close_always(std::mem::take(chunk), loops, steps);
        }
        chunk.clear();
    }

    fn close_always(&mut self, body: Vec<Node>, loops: &[Name], steps: &mut Vec<ScheduleItem>) {
        let name = self.names.make(&self.facts.kernel.name);
        steps.push(ScheduleItem::Launch(self.launches.len()));
        self.launches.push(Launch { name, body, groups: Vec::new(), group_size: Vec::new(), host_inames: loops.to_vec() });
    }

    /// The host knows parameters and the loops that it runs itself.
    fn check_host_loop(&self, iname: &Name, loops: &[Name]) -> Result<(), ScheduleError> {
        let is_value = |name: &Name| self.facts.arguments.get(name).is_none_or(|argument| argument.kind == ArgumentKind::Value);
        let unknown = self.facts.bound_names(iname).iter().find(|name| {
            let is_known = loops.contains(name) || (!self.facts.placement.contains_key(name) && is_value(name));
            !is_known || self.facts.kernel.temporaries.contains_key(*name)
        });
        match unknown {
            Some(bound) => Err(ScheduleError::HostLoop { iname: iname.clone(), bound: bound.clone() }),
            None => Ok(()),
        }
    }
}

fn has_global_barrier(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Barrier { scope, .. } => *scope == SyncScope::Global,
        Node::Loop { body, .. } => has_global_barrier(body),
        Node::Run(_) => false,
    })
}
