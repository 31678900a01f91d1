//! The nest of loops: which loop is inside which, decided by the instructions that run in them, by bounds, and by the user's priorities.
//!
//! An iname is one loop. So for any two loops the instructions of one contain those of the other, or they share none; inclusion decides
//! which is outside, and only loops around the same instructions leave a choice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_ir::syntax::{InameTag, Instruction};
use parloop_isl::Name;

use super::error::{ComputedOutside, SequenceError};
use crate::facts::{Facts, Placement};

/// A loop of the nest; the first is the root, which is not a loop.
#[derive(Debug)]
pub struct LoopNode<'k> {
    /// `None` only for the root.
    pub iname: Option<&'k Name>,
    /// The loop that it is in.
    pub parent: usize,
    /// How many loops it is in.
    pub depth: usize,
    /// The instruction that needs it.
    first: usize,
}

/// Loops, and the loop that each instruction is in.
#[derive(Debug)]
pub struct Nest<'k> {
    pub loops: Vec<LoopNode<'k>>,
    /// The innermost loop of each instruction.
    pub place: Vec<usize>,
    /// The loop of each iname that has one.
    pub of_iname: HashMap<&'k Name, usize>,
}

impl Nest<'_> {
    /// Whether `outer` is `inner` or a loop around it.
    pub fn is_around(&self, outer: usize, mut inner: usize) -> bool {
        while self.loops[inner].depth > self.loops[outer].depth {
            inner = self.loops[inner].parent;
        }
        inner == outer
    }
}

/// Finds the nest.
pub fn nest<'k>(facts: &Facts<'k>) -> Result<Nest<'k>, SequenceError> {
    let nests = sequential_inames(facts)?;
    let mut members: HashMap<&'k Name, Vec<usize>> = HashMap::new();
    for (at, inames) in nests.iter().enumerate() {
        for iname in inames {
            members.entry(iname).or_default().push(at);
        }
    }
    let rank = rank(facts, &members)?;
    let mut nest = Nest {
        loops: vec![LoopNode { iname: None, parent: 0, depth: 0, first: 0 }],
        place: Vec::with_capacity(nests.len()),
        of_iname: HashMap::new(),
    };
    for (at, mut inames) in nests.into_iter().enumerate() {
        inames.sort_by_key(|iname| rank[iname]);
        let mut place = 0;
        for &iname in &inames {
            place = match nest.of_iname.get(iname) {
                Some(&known) if nest.loops[known].parent == place => known,
                Some(&known) => return Err(two_places(facts, &nest, known, at, inames)),
                None => {
                    let depth = nest.loops[place].depth + 1;
                    nest.loops.push(LoopNode { iname: Some(iname), parent: place, depth, first: at });
                    nest.of_iname.insert(iname, nest.loops.len() - 1);
                    nest.loops.len() - 1
                }
            };
        }
        nest.place.push(place);
    }
    // If the user's priorities are only hints, impossible ones are ignored.
    if !facts.kernel.options.is_lenient() {
        check_priorities(facts, &nest)?;
    }
    check_bounds(facts, &nest)?;
    Ok(nest)
}

fn sequential_inames<'k>(facts: &Facts<'k>) -> Result<Vec<Vec<&'k Name>>, SequenceError> {
    let of = |instruction: &'k parloop_ir::syntax::Instruction| {
        let mut inames = Vec::new();
        for iname in &instruction.within_inames {
            match facts.placement.get(iname) {
                Some(Placement::Loop) => inames.push(iname),
                Some(_) => {}
                None => return Err(SequenceError::UnknownIname { instruction: instruction.id.clone(), iname: iname.clone() }),
            }
        }
        Ok(inames)
    };
    facts.kernel.instructions.iter().map(|instruction| of(instruction)).collect()
}

fn two_places(facts: &Facts<'_>, nest: &Nest<'_>, known: usize, second: usize, second_nest: Vec<&Name>) -> SequenceError {
    let first = nest.loops[known].first;
    let mut first_nest = Vec::new();
    let mut place = nest.place[first];
    while let Some(iname) = nest.loops[place].iname {
        first_nest.push(iname.clone());
        place = nest.loops[place].parent;
    }
    first_nest.reverse();
    let iname = nest.loops[known].iname.cloned().unwrap_or_else(|| "".into());
    let second_nest: Vec<Name> = second_nest.into_iter().cloned().collect();
    let [one, other] = [first, second].map(|index| &*facts.kernel.instructions[index]);
    let outside = computed_outside(facts, one, (other, &second_nest), &iname)
        .or_else(|| computed_outside(facts, other, (one, &first_nest), &iname))
        .map(Box::new);
    SequenceError::Nesting { iname, first: one.id.clone(), first_nest, second: other.id.clone(), second_nest, outside }
}

/// A temporary that `writer` computes for `reader`, outside loops that the reader has around the iname.
fn computed_outside(
    facts: &Facts<'_>,
    writer: &Instruction,
    (reader, nest): (&Instruction, &[Name]),
    iname: &Name,
) -> Option<ComputedOutside> {
    let read = reader.reads();
    let temporary = writer.writes().into_iter().find(|name| facts.kernel.temporaries.contains_key(name) && read.contains(name))?;
    let around = nest.iter().take_while(|name| *name != iname).filter(|name| !writer.within_inames.contains(*name));
    let loops: Vec<Name> = around.cloned().collect();
    (!loops.is_empty()).then(|| ComputedOutside { temporary, writer: writer.id.clone(), reader: reader.id.clone(), loops })
}

/// Outer loops have smaller ranks: ordered by the number of instructions in them, then, around the same instructions, by priorities and
/// bounds, then loops before unrolled ones, then as declared.
fn rank<'k>(facts: &Facts<'k>, members: &HashMap<&'k Name, Vec<usize>>) -> Result<HashMap<&'k Name, usize>, SequenceError> {
    let mut classes: BTreeMap<(std::cmp::Reverse<usize>, &[usize]), Vec<&'k Name>> = BTreeMap::new();
    for (iname, instructions) in members {
        classes.entry((std::cmp::Reverse(instructions.len()), instructions)).or_default().push(iname);
    }
    let class_of: HashMap<&Name, usize> =
        classes.values().enumerate().flat_map(|(class, inames)| inames.iter().map(move |&iname| (iname, class))).collect();
    let mut inside: Inside<'k> = HashMap::new();
    let mut add = |outer: &'k Name, inner: &'k Name| {
        if outer != inner && class_of.contains_key(outer) && class_of.get(outer) == class_of.get(inner) {
            inside.entry(outer).or_default().push(inner);
        }
    };
    for domain in &facts.kernel.domains {
        for outer in domain.params() {
            domain.dims().iter().for_each(|inner| add(outer, inner));
        }
    }
    let by_bounds = facts.kernel.options.is_lenient().then(|| inside.clone());
    let mut add = |outer: &'k Name, inner: &'k Name| {
        if outer != inner && class_of.contains_key(outer) && class_of.get(outer) == class_of.get(inner) {
            inside.entry(outer).or_default().push(inner);
        }
    };
    for chain in &facts.kernel.priorities {
        for (at, outer) in chain.iter().enumerate() {
            chain[at + 1..].iter().for_each(|inner| add(outer, inner));
        }
    }
    let mut rank = HashMap::new();
    for mut inames in classes.into_values() {
        inames.sort_by_key(|iname| (is_unrolled(facts, iname), facts.declared.get(*iname)));
        let sorted = match (sort_class(inames.clone(), &inside), &by_bounds) {
            (Err(_), Some(by_bounds)) => sort_class(inames, by_bounds)?,
            (sorted, _) => sorted?,
        };
        for iname in sorted {
            let next = rank.len();
            rank.insert(iname, next);
        }
    }
    Ok(rank)
}

/// For each loop, the loops that must be inside it.
type Inside<'k> = HashMap<&'k Name, Vec<&'k Name>>;

fn is_unrolled(facts: &Facts<'_>, iname: &str) -> bool {
    facts.kernel.inames.get(iname).is_some_and(|iname| iname.tags.contains(&InameTag::Unroll))
}

/// Repeatedly takes the first that is inside none of the rest.
fn sort_class<'k>(mut rest: Vec<&'k Name>, inside: &Inside<'k>) -> Result<Vec<&'k Name>, SequenceError> {
    if inside.is_empty() {
        return Ok(rest);
    }
    let mut waits: HashMap<&Name, usize> = HashMap::new();
    for outer in &rest {
        for inner in inside.get(outer).into_iter().flatten() {
            *waits.entry(inner).or_default() += 1;
        }
    }
    let mut sorted = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let Some(at) = rest.iter().position(|iname| waits.get(*iname).is_none_or(|&count| count == 0)) else {
            return Err(SequenceError::PriorityCycle { inames: rest.into_iter().cloned().collect() });
        };
        let outer = rest.remove(at);
        for inner in inside.get(outer).into_iter().flatten() {
            if let Some(count) = waits.get_mut(*inner) {
                *count -= 1;
            }
        }
        sorted.push(outer);
    }
    Ok(sorted)
}

fn check_priorities(facts: &Facts<'_>, nest: &Nest<'_>) -> Result<(), SequenceError> {
    for chain in &facts.kernel.priorities {
        let loops: Vec<usize> = chain.iter().filter_map(|iname| nest.of_iname.get(iname).copied()).collect();
        for (at, &outer) in loops.iter().enumerate() {
            for &inner in &loops[at + 1..] {
                if outer != inner && nest.is_around(inner, outer) {
                    let name = |place: usize| nest.loops[place].iname.cloned().expect("invariant: only the root has no iname");
                    let alone = nest.place.iter().position(|&place| nest.is_around(inner, place) && !nest.is_around(outer, place));
                    let instruction = alone.map_or_else(|| "".into(), |at| facts.kernel.instructions[at].id.clone());
                    return Err(SequenceError::Priority { outer: name(outer), inner: name(inner), instruction });
                }
            }
        }
    }
    Ok(())
}

/// The inames in the bounds of a loop must be loops around it, or not loops at all.
fn check_bounds(facts: &Facts<'_>, nest: &Nest<'_>) -> Result<(), SequenceError> {
    for (at, node) in nest.loops.iter().enumerate() {
        let Some(iname) = node.iname else { continue };
        for bound in facts.bound_names(iname) {
            let fits = match facts.placement.get(bound) {
                None => true,
                Some(Placement::Loop) => nest.of_iname.get(bound).is_some_and(|&outer| nest.is_around(outer, at)),
                Some(Placement::Innermost) => false,
                Some(_) => facts.kernel.instructions[node.first].within_inames.contains(bound),
            };
            if !fits {
                let is_without = |within: &BTreeSet<Name>| within.contains(iname) && !within.contains(bound);
                let without = facts.kernel.instructions.iter().find(|each| is_without(&each.within_inames));
                let instruction = without.unwrap_or(&facts.kernel.instructions[node.first]).id.clone();
                return Err(SequenceError::BoundOutside { iname: iname.clone(), bound: bound.clone(), instruction });
            }
        }
    }
    Ok(())
}
