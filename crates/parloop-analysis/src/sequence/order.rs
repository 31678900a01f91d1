//! The order of loops and instructions in each body: dependencies, lifted to the common body, sorted topologically. Ties are broken by
//! priority, then by the order written.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use parloop_ir::syntax::InstructionKind;
use parloop_isl::Name;

use super::error::SequenceError;
use super::nest::Nest;
use super::{Node, innermost};
use crate::facts::{Facts, Placement};

/// Loops by their number in the nest, then instructions.
type Item = usize;

/// Ordering edges in one body, each with a pair of instructions as the reason.
#[derive(Default)]
struct Edges {
    after: HashMap<Item, Vec<Item>>,
    reason: HashMap<(Item, Item), (usize, usize)>,
}

struct Order<'f, 'k> {
    facts: &'f Facts<'k>,
    nest: &'f Nest<'k>,
    parent: Vec<Item>,
    depth: Vec<usize>,
    /// The items of each loop's body, in the order written.
    children: Vec<Vec<Item>>,
    /// The largest priority, and the first position, of an instruction in it.
    key: Vec<(i32, Reverse<usize>)>,
    edges: Edges,
    groups: Groups<'k>,
}

/// The tree of loops, instructions and barriers that are instructions.
pub fn order<'k>(facts: &Facts<'k>, nest: &Nest<'k>) -> Result<Vec<Node>, SequenceError> {
    let mut order = Order::new(facts, nest);
    order.add_dependencies()?;
    order.add_bounds()?;
    order.emit(0)
}

impl<'f, 'k> Order<'f, 'k> {
    fn new(facts: &'f Facts<'k>, nest: &'f Nest<'k>) -> Order<'f, 'k> {
        let loops = nest.loops.len();
        let instructions = &facts.kernel.instructions;
        let mut parent: Vec<Item> = nest.loops.iter().map(|node| node.parent).collect();
        let mut depth: Vec<usize> = nest.loops.iter().map(|node| node.depth).collect();
        let mut key = vec![(i32::MIN, Reverse(usize::MAX)); loops];
        let mut children = vec![Vec::new(); loops];
        for (at, &place) in nest.place.iter().enumerate() {
            parent.push(place);
            depth.push(nest.loops[place].depth + 1);
            key.push((instructions[at].priority, Reverse(at)));
            children[place].push(loops + at);
            let mut around = place;
            loop {
                let known = &mut key[around];
                *known = (known.0.max(instructions[at].priority), known.1.max(Reverse(at)));
                if around == 0 {
                    break;
                }
                around = nest.loops[around].parent;
            }
        }
        for (inner, node) in nest.loops.iter().enumerate().skip(1) {
            children[node.parent].push(inner);
        }
        let groups = Groups::of(facts);
        Order { facts, nest, parent, depth, children, key, edges: Edges::default(), groups }
    }

    fn add_dependencies(&mut self) -> Result<(), SequenceError> {
        let loops = self.nest.loops.len();
        for (at, instruction) in self.facts.kernel.instructions.iter().enumerate() {
            for dependency in &instruction.depends_on {
                let Some(&before) = self.facts.position.get(dependency) else {
                    return Err(SequenceError::UnknownDependency { instruction: instruction.id.clone(), dependency: dependency.clone() });
                };
                if before == at {
                    return Err(SequenceError::DependencyCycle { instructions: vec![dependency.clone()] });
                }
                self.add_edge(loops + before, loops + at, (before, at));
            }
        }
        Ok(())
    }

    /// Variables in the bounds of a loop must be written before it.
    fn add_bounds(&mut self) -> Result<(), SequenceError> {
        let loops = self.nest.loops.len();
        for (place, node) in self.nest.loops.iter().enumerate() {
            let Some(iname) = node.iname else { continue };
            for variable in self.facts.bound_names(iname) {
                let Some(temporary) = self.facts.kernel.temporaries.get(variable) else { continue };
                let writers = self.facts.writers.get(variable).map_or(&[][..], Vec::as_slice);
                if writers.is_empty() && temporary.initializer.is_none() {
                    return Err(SequenceError::BoundUndefined { iname: iname.clone(), variable: variable.clone() });
                }
                for &writer in writers {
                    if self.nest.is_around(place, self.nest.place[writer]) {
                        let instruction = self.facts.kernel.instructions[writer].id.clone();
                        return Err(SequenceError::BoundWritten { iname: iname.clone(), variable: variable.clone(), instruction });
                    }
                    let inside = self.key[place].1.0;
                    self.add_edge(loops + writer, place, (writer, inside));
                }
            }
        }
        Ok(())
    }

    fn add_edge(&mut self, mut before: Item, mut after: Item, reason: (usize, usize)) {
        while self.depth[before] > self.depth[after] {
            before = self.parent[before];
        }
        while self.depth[after] > self.depth[before] {
            after = self.parent[after];
        }
        while self.parent[before] != self.parent[after] {
            before = self.parent[before];
            after = self.parent[after];
        }
        if before != after && self.edges.reason.insert((before, after), reason).is_none() {
            self.edges.after.entry(before).or_default().push(after);
        }
    }

    fn emit(&mut self, body: usize) -> Result<Vec<Node>, SequenceError> {
        let items = std::mem::take(&mut self.children[body]);
        let mut waits: HashMap<Item, usize> = items.iter().map(|&item| (item, 0)).collect();
        for item in &items {
            for after in self.edges.after.get(item).into_iter().flatten() {
                *waits.entry(*after).or_default() += 1;
            }
        }
        let mut ready: BinaryHeap<((i32, Reverse<usize>), Item)> =
            items.iter().filter(|item| waits[item] == 0).map(|&item| (self.key[item], item)).collect();
        let mut nodes = Vec::with_capacity(items.len());
        let mut done = 0;
        while let Some(item) = self.next(&mut ready)? {
            done += 1;
            waits.remove(&item);
            nodes.push(self.emit_item(item)?);
            for &after in self.edges.after.get(&item).into_iter().flatten() {
                let count = waits.get_mut(&after).expect("invariant: edges stay in one body");
                *count -= 1;
                if *count == 0 {
                    ready.push((self.key[after], after));
                }
            }
        }
        if done < items.len() {
            return Err(self.cycle(&waits));
        }
        innermost::wrap(self.facts, nodes)
    }

    fn emit_item(&mut self, item: Item) -> Result<Node, SequenceError> {
        let loops = self.nest.loops.len();
        if item < loops {
            let iname = self.nest.loops[item].iname.cloned().expect("invariant: the root is in no body");
            return Ok(Node::Loop { iname, body: self.emit(item)? });
        }
        let instruction = &self.facts.kernel.instructions[item - loops];
        self.groups.done(item - loops, self.facts);
        let InstructionKind::Barrier { scope, memory } = instruction.kind else { return Ok(Node::Run(instruction.id.clone())) };
        if !instruction.predicates.is_empty() {
            return Err(SequenceError::ConditionalBarrier { barrier: instruction.id.clone() });
        }
        let inside = instruction.within_inames.iter().find(|iname| self.facts.placement(iname) == Placement::Innermost);
        match inside {
            Some(iname) => Err(SequenceError::BarrierInside { barrier: instruction.id.clone(), iname: iname.clone() }),
            None => Ok(Node::Barrier { scope, memory }),
        }
    }

    /// The best ready item; if groups conflict, the best that no partially executed group forbids.
    fn next(&self, ready: &mut BinaryHeap<((i32, Reverse<usize>), Item)>) -> Result<Option<Item>, SequenceError> {
        if !self.groups.matter {
            return Ok(ready.pop().map(|(_, item)| item));
        }
        let mut put_back = Vec::new();
        let mut best: Option<(u8, (i32, Reverse<usize>), Item)> = None;
        while let Some((key, item)) = ready.pop() {
            let standing = self.standing(item);
            if standing > 0 && best.is_none_or(|known| (standing, key) > (known.0, known.1)) {
                best = Some((standing, key, item));
            }
            put_back.push((key, item));
        }
        match best {
            Some((_, _, chosen)) => {
                ready.extend(put_back.into_iter().filter(|&(_, item)| item != chosen));
                Ok(Some(chosen))
            }
            None => match put_back.first() {
                None => Ok(None),
                Some(&(_, item)) => {
                    let (instruction, group) = self.conflict(item);
                    Err(SequenceError::GroupConflict { instruction, group })
                }
            },
        }
    }

    /// 0: a partially executed group forbids it; 1: it is a loop with instructions both in such a group and in conflict with it; 2: it has
    /// no conflicts; 3: it also helps to finish a group.
    fn standing(&self, item: Item) -> u8 {
        let inside = self.instructions_in(item);
        let helps = inside.iter().any(|&at| self.groups.is_half_done(&self.facts.kernel.instructions[at].groups));
        let forbidden = inside.iter().any(|&at| self.groups.is_half_done(&self.facts.kernel.instructions[at].conflicts));
        match (forbidden, helps) {
            (true, true) => 1,
            (true, false) => 0,
            (false, false) => 2,
            (false, true) => 3,
        }
    }

    fn conflict(&self, item: Item) -> (Name, Name) {
        for at in self.instructions_in(item) {
            let instruction = &self.facts.kernel.instructions[at];
            if let Some(group) = instruction.conflicts.iter().find(|group| self.groups.half_done.contains(*group)) {
                return (instruction.id.clone(), group.clone());
            }
        }
        unreachable!("invariant: an item that is forbidden has an instruction that conflicts")
    }

    fn instructions_in(&self, item: Item) -> Vec<usize> {
        let loops = self.nest.loops.len();
        if item >= loops {
            return vec![item - loops];
        }
        (0..self.nest.place.len()).filter(|&at| self.nest.is_around(item, self.nest.place[at])).collect()
    }

    /// The error for items that wait for each other.
    fn cycle(&self, waits: &HashMap<Item, usize>) -> SequenceError {
        let mut before: HashMap<Item, Item> = HashMap::new();
        let mut waiting: Vec<Item> = waits.keys().copied().collect();
        waiting.sort_unstable();
        for &item in &waiting {
            for after in self.edges.after.get(&item).into_iter().flatten() {
                before.entry(*after).or_insert(item);
            }
        }
        // Each waiting item has a waiting predecessor, so walking back finds a cycle.
        let mut seen = Vec::new();
        let mut item =
            *waiting.iter().find(|item| before.contains_key(item)).expect("invariant: items are left only where edges go around");
        while !seen.contains(&item) {
            seen.push(item);
            item = before[&item];
        }
        let circle = &seen[seen.iter().position(|&each| each == item).unwrap_or(0)..];
        let id = |at: usize| self.facts.kernel.instructions[at].id.clone();
        let reasons: Vec<(usize, usize)> =
            (0..circle.len()).map(|at| self.edges.reason[&(circle[(at + 1) % circle.len()], circle[at])]).collect();
        let loops: Vec<Name> = circle.iter().filter_map(|&item| self.nest.loops.get(item)?.iname.cloned()).collect();
        if loops.is_empty() {
            return SequenceError::DependencyCycle { instructions: reasons.iter().map(|&(_, after)| id(after)).collect() };
        }
        let (first, second) = (reasons[0], reasons[1 % reasons.len()]);
        SequenceError::LoopCycle {
            loops,
            first: id(first.1),
            first_dependency: id(first.0),
            second: id(second.1),
            second_dependency: id(second.0),
        }
    }
}

/// The progress of groups.
struct Groups<'k> {
    /// Whether there are any conflicts.
    matter: bool,
    left: HashMap<&'k Name, usize>,
    half_done: BTreeSet<Name>,
}

impl<'k> Groups<'k> {
    fn of(facts: &Facts<'k>) -> Groups<'k> {
        let matter = facts.kernel.instructions.iter().any(|instruction| !instruction.conflicts.is_empty());
        let mut left = HashMap::new();
        if matter {
            for group in facts.kernel.instructions.iter().flat_map(|instruction| &instruction.groups) {
                *left.entry(group).or_default() += 1;
            }
        }
        Groups { matter, left, half_done: BTreeSet::new() }
    }

    fn done(&mut self, at: usize, facts: &Facts<'k>) {
        if !self.matter {
            return;
        }
        for group in &facts.kernel.instructions[at].groups {
            let left = self.left.get_mut(group).expect("invariant: each group was counted");
            *left -= 1;
            if *left == 0 {
                self.half_done.remove(group);
            } else {
                self.half_done.insert(group.clone());
            }
        }
    }

    fn is_half_done(&self, groups: &BTreeSet<Name>) -> bool {
        groups.iter().any(|group| self.half_done.contains(group))
    }
}
