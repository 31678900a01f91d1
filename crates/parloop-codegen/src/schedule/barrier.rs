//! Barriers: inserted where work items would otherwise conflict in memory, at the outermost level that still separates them.
//!
//! The tree is walked from the inside out. Each body tracks the instructions since the last barrier; if the next one can conflict with one
//! of them, a barrier comes first. In a loop, the end of an iteration is followed by the beginning of the next.

use std::collections::{BTreeMap, BTreeSet};

use parloop_analysis::dependence::{Dependences, Turn};
use parloop_analysis::facts::{Facts, Placement};

use parloop_ir::syntax::{MemoryKind, SyncScope};
use parloop_isl::Name;

use super::Node;
use super::error::ScheduleError;

/// The barriers to insert, and whether that is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub scope: SyncScope,
    /// A missing barrier is an error.
    pub only_check: bool,
}

/// The body with barriers put in; `loops` are around it.
pub(crate) fn insert(
    facts: &Facts<'_>,
    dependences: &Dependences<'_, '_>,
    pass: Pass,
    body: Vec<Node>,
    loops: &[Name],
) -> Result<Vec<Node>, ScheduleError> {
    if !dependences.has_axes(pass.scope) {
        return Ok(body);
    }
    let mut loops = loops.to_vec();
    Walk { facts, dependences, pass }.body(body, &mut loops, false)
}

struct Walk<'a, 'f, 'k> {
    facts: &'a Facts<'k>,
    dependences: &'a Dependences<'f, 'k>,
    pass: Pass,
}

/// The instructions that touched a storage since the last barrier, in order.
type Sources = BTreeMap<Name, Vec<usize>>;

impl Walk<'_, '_, '_> {
    fn body(&self, nodes: Vec<Node>, loops: &mut Vec<Name>, is_loop: bool) -> Result<Vec<Node>, ScheduleError> {
        let mut inner = Vec::with_capacity(nodes.len());
        for node in nodes {
            inner.push(match node {
                Node::Loop { iname, body } if self.facts.placement(&iname) == Placement::Loop => {
                    loops.push(iname.clone());
                    let body = self.body(body, loops, true)?;
                    loops.pop();
                    Node::Loop { iname, body }
                }
                node => node,
            });
        }
        let nodes = self.level(inner, Sources::new(), loops, None)?;
        match loops.split_last() {
            Some((iname, outer)) if is_loop => {
                let mut tail = Sources::new();
                for reach in self.reaching_end(&nodes) {
                    self.add(&mut tail, reach);
                }
                if tail.is_empty() { Ok(nodes) } else { self.level(nodes, tail, outer, Some(iname)) }
            }
            _ => Ok(nodes),
        }
    }

    /// Walks one body. With `later` the sources are from the previous iteration, and those of this iteration are already separated.
    fn level(&self, nodes: Vec<Node>, mut sources: Sources, same: &[Name], later: Option<&Name>) -> Result<Vec<Node>, ScheduleError> {
        let mut result: Vec<Node> = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node {
                Node::Barrier { scope, memory } => {
                    if separates(*scope, self.pass.scope) {
                        self.forget(&mut sources, *scope, *memory);
                    }
                }
                Node::Run(_) | Node::Loop { .. } => {
                    for memory in self.needed(&node, &sources, same, later)? {
                        self.put(&mut result, memory);
                        self.forget(&mut sources, self.pass.scope, memory);
                    }
                    if later.is_none() {
                        for reach in self.reaching_end(std::slice::from_ref(&node)) {
                            self.add(&mut sources, reach);
                        }
                    }
                }
            }
            result.push(node);
        }
        Ok(result)
    }

    /// Which memory must be synchronised before the node.
    fn needed(&self, node: &Node, sources: &Sources, same: &[Name], later: Option<&Name>) -> Result<BTreeSet<MemoryKind>, ScheduleError> {
        let mut needed = BTreeSet::new();
        for reach in self.reached_from_start(std::slice::from_ref(node)) {
            let second = reach.at;
            for storage in self.storages(reach) {
                let memory = self.dependences.memory(storage);
                if needed.contains(&memory) || needed.contains(&MemoryKind::Global) {
                    continue;
                }
                for &first in sources.get(storage).into_iter().flatten() {
                    let turn = Turn { first, second, same, later };
                    if let Some(variable) = self.dependences.meeting(turn, storage, self.pass.scope)? {
                        if self.pass.only_check {
                            let id = |at: usize| self.facts.kernel.instructions[at].id.clone();
                            return Err(ScheduleError::MissingBarrier { first: id(first), second: id(second), variable });
                        }
                        needed.insert(memory);
                        break;
                    }
                }
            }
        }
        // A barrier for global memory is also one for local memory.
        if needed.contains(&MemoryKind::Global) {
            needed.remove(&MemoryKind::Local);
        }
        Ok(needed)
    }

    fn put(&self, result: &mut Vec<Node>, memory: MemoryKind) {
        if let Some(Node::Barrier { scope, memory: known }) = result.last_mut()
            && *scope == self.pass.scope
        {
            *known = memory.max(*known);
            return;
        }
        result.push(Node::Barrier { scope: self.pass.scope, memory });
    }

    fn add(&self, sources: &mut Sources, reach: Reach) {
        for storage in self.storages(reach) {
            sources.entry(storage.clone()).or_default().push(reach.at);
        }
    }

    fn forget(&self, sources: &mut Sources, scope: SyncScope, memory: MemoryKind) {
        if scope == SyncScope::Global || memory == MemoryKind::Global {
            sources.clear();
        } else {
            sources.retain(|storage, _| self.dependences.memory(storage) != MemoryKind::Local);
        }
    }

    /// The instructions after the last barrier. One inside a loop does not separate those before the loop, which may have no iterations.
    fn reaching_end(&self, nodes: &[Node]) -> Vec<Reach> {
        let mut found = Vec::new();
        self.reach(&mut nodes.iter().rev(), true, false, &mut found);
        found
    }

    /// The instructions before the first barrier.
    fn reached_from_start(&self, nodes: &[Node]) -> Vec<Reach> {
        let mut found = Vec::new();
        self.reach(&mut nodes.iter(), false, false, &mut found);
        found
    }

    fn reach(&self, nodes: &mut dyn Iterator<Item = &Node>, backwards: bool, mut only_global: bool, found: &mut Vec<Reach>) {
        for node in nodes {
            match node {
                Node::Run(id) => {
                    if let Some(&at) = self.facts.position.get(id)
                        && self.dependences.shared_storages(at).next().is_some()
                    {
                        found.push(Reach { at, only_global });
                    }
                }
                Node::Loop { body, .. } if backwards => self.reach(&mut body.iter().rev(), true, only_global, found),
                Node::Loop { body, .. } => self.reach(&mut body.iter(), false, only_global, found),
                Node::Barrier { scope, memory } if separates(*scope, self.pass.scope) => {
                    if *scope == SyncScope::Global || *memory == MemoryKind::Global {
                        break;
                    }
                    only_global = true;
                }
                Node::Barrier { .. } => {}
            }
        }
    }

    /// The memory of an instruction in which no barrier stops it.
    fn storages(&self, reach: Reach) -> impl Iterator<Item = &Name> {
        self.dependences
            .shared_storages(reach.at)
            .filter(move |storage| !reach.only_global || self.dependences.memory(storage) == MemoryKind::Global)
    }
}

/// An instruction with no barrier between it and a place.
#[derive(Clone, Copy, Debug)]
struct Reach {
    at: usize,
    /// A barrier for local memory is between.
    only_global: bool,
}

/// Whether a barrier of the one scope is one of the other too.
fn separates(barrier: SyncScope, wanted: SyncScope) -> bool {
    barrier == wanted || barrier == SyncScope::Global
}

/// Checks that all work items of a group reach each barrier: the loops around it have the same iterations for all.
pub(crate) fn check_uniform(facts: &Facts<'_>, nodes: &[Node], loops: &mut Vec<Name>) -> Result<(), ScheduleError> {
    for node in nodes {
        match node {
            Node::Run(_) => {}
            Node::Loop { iname, body } => {
                loops.push(iname.clone());
                check_uniform(facts, body, loops)?;
                loops.pop();
            }
            Node::Barrier { .. } => {
                for iname in &*loops {
                    let bound = facts.bound_names(iname).iter().find(|bound| differs_in_group(facts, bound, &mut BTreeSet::new()));
                    if let Some(bound) = bound {
                        return Err(ScheduleError::DivergentBarrier { iname: iname.clone(), bound: bound.clone() });
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether work items of one group can have different values of a private variable. Bounds that need local inames themselves do not matter:
/// the loop runs over all that any work item needs.
fn differs_in_group(facts: &Facts<'_>, variable: &Name, seen: &mut BTreeSet<Name>) -> bool {
    let Some(temporary) = facts.kernel.temporaries.get(variable) else { return false };
    let is_private = temporary.space.is_none_or(|space| space == parloop_ir::syntax::AddressSpace::Private);
    if !is_private || !seen.insert(variable.clone()) {
        return false;
    }
    let writers = facts.writers.get(variable).map_or(&[][..], Vec::as_slice);
    writers.iter().any(|&writer| {
        let is_local = |name: &Name| matches!(facts.placement.get(name), Some(Placement::Local(_) | Placement::LocalAuto));
        let limits = facts.kernel.instructions[writer].within_inames.iter().flat_map(|iname| facts.bound_names(iname));
        facts.reads[writer].iter().chain(limits).any(|name| is_local(name) || differs_in_group(facts, name, seen))
    })
}
