//! Finds loops that can be fused: the unweighted fusion of Kennedy and McKinley. The loops of each group that is found are fused by
//! [`rename_inames_in_batch`](super::rename_inames_in_batch).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::substitution::{ExpandSubstError, expand_subst};
use parloop_ir::syntax::{Expr, InameTag, Instruction, LoopKernel};
use parloop_isl::{IslError, Name};

use super::replace::{self, InameError};

/// Why fusion groups cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoopFusionError {
    /// Two candidates are nested.
    #[error("`{first}` and `{second}` are nested around instruction `{instruction}`, so they cannot be fused")]
    Nested {
        /// An iname.
        first: Name,
        /// Another one.
        second: Name,
        /// An instruction that is within both.
        instruction: Name,
    },
    /// Loops and reductions at the same time.
    #[error("`{reduction}` is a reduction iname and `{within}` is a loop; fuse reductions and loops separately")]
    Mixed {
        /// The iname of a reduction.
        reduction: Name,
        /// The iname of a loop.
        within: Name,
    },
    /// The loops form a dependency cycle.
    #[error("the loops {} form a dependency cycle, so none of them can come first", inames.iter().map(|iname| format!("`{iname}`")).collect::<Vec<_>>().join(", "))]
    Cycle {
        /// The inames.
        inames: Vec<Name>,
    },
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// The substitution rules cannot be expanded.
    #[error(transparent)]
    Expand(#[from] ExpandSubstError),
}

impl From<IslError> for LoopFusionError {
    fn from(error: IslError) -> LoopFusionError {
        LoopFusionError::Iname(error.into())
    }
}

/// Groups the candidates into as few loops as dependencies and memory accesses allow, greedily from the first. Each group has a name made
/// of `prefix`. Loops are in one group if they are inside the same loops, no other loop must run between them, and no value is used in an
/// iteration before the one that computes it. Candidates of one concurrent tag are one group.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::{get_kennedy_unweighted_fusion_candidates, rename_inames_in_batch}};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i,j<n}").instructions("a[i] = 1\nb[j] = a[j]").build_kernel()?;
/// let groups = get_kennedy_unweighted_fusion_candidates(&kernel, &["i".into(), "j".into()].into(), "ifused")?;
/// let kernel = rename_inames_in_batch(&kernel, &groups)?;
/// assert_eq!(kernel.instructions[1].rhs()[0].to_string(), "a[ifused]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, candidates are nested, mix loops and reductions, or form a dependency cycle.
pub fn get_kennedy_unweighted_fusion_candidates(
    kernel: &LoopKernel,
    candidates: &BTreeSet<Name>,
    prefix: &str,
) -> Result<BTreeMap<Name, Vec<Name>>, LoopFusionError> {
    candidates.iter().try_for_each(|iname| replace::known(kernel, iname))?;
    let expanded = expand_subst(kernel, &Query::All)?;
    check_kinds(&expanded, candidates)?;
    let mut names = UniqueNames::of_variables(kernel);
    let mut groups = BTreeMap::new();
    let (concurrent, sequential): (Vec<&Name>, Vec<&Name>) = candidates.iter().partition(|iname| concurrent_tag(kernel, iname).is_some());
    let mut by_tag: BTreeMap<&InameTag, Vec<Name>> = BTreeMap::new();
    for iname in concurrent {
        if let Some(tag) = concurrent_tag(kernel, iname) {
            by_tag.entry(tag).or_default().push(iname.clone());
        }
    }
    groups.extend(by_tag.into_values().map(|inames| (names.make(prefix), inames)));

    let nests = Nests::of(&expanded);
    nests.check(&sequential)?;
    let mut by_outer: BTreeMap<BTreeSet<Name>, BTreeSet<Name>> = BTreeMap::new();
    for iname in sequential {
        by_outer.entry(nests.outer(iname)).or_default().insert(iname.clone());
    }
    for (outer, inames) in by_outer {
        let mut graph = LoopGraph::of(&expanded, &inames, &outer)?;
        while let Some(group) = graph.take_group()? {
            groups.insert(names.make(prefix), group);
        }
    }
    Ok(groups)
}

fn concurrent_tag<'a>(kernel: &'a LoopKernel, iname: &str) -> Option<&'a InameTag> {
    kernel.inames.get(iname)?.tags.iter().find(|tag| tag.is_concurrent())
}

fn check_kinds(kernel: &LoopKernel, candidates: &BTreeSet<Name>) -> Result<(), LoopFusionError> {
    let reduced =
        kernel.instructions.iter().find_map(|instruction| instruction.reduction_inames().intersection(candidates).next().cloned());
    let within = kernel.instructions.iter().find_map(|instruction| instruction.within_inames.intersection(candidates).next().cloned());
    match (reduced, within) {
        (Some(reduction), Some(within)) => Err(LoopFusionError::Mixed { reduction, within }),
        _ => Ok(()),
    }
}

/// The sets of sequential inames that something is done within: an instruction, or what a reduction takes.
struct Nests<'a> {
    paths: Vec<(BTreeSet<Name>, &'a Name)>,
}

impl<'a> Nests<'a> {
    fn of(kernel: &'a LoopKernel) -> Nests<'a> {
        let mut paths = Vec::new();
        for instruction in &kernel.instructions {
            let within: BTreeSet<Name> =
                instruction.within_inames.iter().filter(|iname| concurrent_tag(kernel, iname).is_none()).cloned().collect();
            instruction.exprs().into_iter().for_each(|expr| reduction_paths(expr, &within, &instruction.id, &mut paths));
            paths.push((within, &instruction.id));
        }
        Nests { paths }
    }

    /// The inames outside one: everything within that one is within them, and something else is too.
    fn outer(&self, iname: &Name) -> BTreeSet<Name> {
        let mut with = self.paths.iter().filter(|(path, _)| path.contains(iname)).map(|(path, _)| path);
        let mut shared = with.next().cloned().unwrap_or_default();
        with.for_each(|path| shared.retain(|other| path.contains(other)));
        shared.retain(|other| self.paths.iter().any(|(path, _)| path.contains(other) && !path.contains(iname)));
        shared
    }

    fn check(&self, candidates: &[&Name]) -> Result<(), LoopFusionError> {
        for (path, instruction) in &self.paths {
            let mut inside = candidates.iter().filter(|iname| path.contains(**iname));
            if let (Some(first), Some(second)) = (inside.next(), inside.next()) {
                let instruction = (*instruction).clone();
                return Err(LoopFusionError::Nested { first: (*first).clone(), second: (*second).clone(), instruction });
            }
        }
        Ok(())
    }
}

fn reduction_paths<'a>(expr: &Expr, outer: &BTreeSet<Name>, id: &'a Name, paths: &mut Vec<(BTreeSet<Name>, &'a Name)>) {
    match expr {
        Expr::Reduction(reduction) => {
            let inside: BTreeSet<Name> = outer.iter().chain(&reduction.inames).cloned().collect();
            reduction.operands.iter().for_each(|operand| reduction_paths(operand, &inside, id, paths));
            paths.push((inside, id));
        }
        _ => expr.children().into_iter().for_each(|child| reduction_paths(child, outer, id, paths)),
    }
}

/// What runs, as a whole, inside the outer loops.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// A loop that may be fused.
    Candidate(Name),
    /// Other loops that share inames, by one of these.
    Nest(Name),
    /// An instruction outside these.
    Instruction(Name),
}

/// Which candidates come before which others, and whether they may still be one loop.
struct LoopGraph {
    /// For each loop those after it; whether they can be fused.
    after: BTreeMap<Name, BTreeMap<Name, bool>>,
}

impl LoopGraph {
    fn of(kernel: &LoopKernel, candidates: &BTreeSet<Name>, outer: &BTreeSet<Name>) -> Result<LoopGraph, LoopFusionError> {
        let uses = |instruction: &Instruction| -> BTreeSet<Name> {
            instruction.within_inames.iter().cloned().chain(instruction.reduction_inames()).collect()
        };
        let inside: Vec<&Arc<Instruction>> = kernel.instructions.iter().filter(|instruction| outer.is_subset(&uses(instruction))).collect();
        let nodes = nodes(kernel, &inside, candidates, outer);
        let mut next: BTreeMap<&Node, BTreeSet<&Node>> = BTreeMap::new();
        for instruction in &inside {
            for (before, node) in instruction.depends_on.iter().filter_map(|id| nodes.get(id)).flatten().flat_map(|before| {
                nodes[&instruction.id].iter().map(move |node| (before, node)) //
            }) {
                if before != node {
                    next.entry(before).or_default().insert(node);
                }
            }
        }
        let mut graph = LoopGraph { after: candidates.iter().map(|iname| (iname.clone(), BTreeMap::new())).collect() };
        for iname in candidates {
            graph.follow(iname, &next);
        }
        graph.add_memory(kernel, &inside, candidates, outer)?;
        Ok(graph)
    }

    /// Adds the loops that come after one: directly, or after something that is not a candidate and must run between them.
    fn follow(&mut self, iname: &Name, next: &BTreeMap<&Node, BTreeSet<&Node>>) {
        let start = Node::Candidate(iname.clone());
        let mut seen = BTreeSet::new();
        let mut open: Vec<(&Node, bool)> = next.get(&start).into_iter().flatten().map(|node| (*node, true)).collect();
        while let Some((node, fusible)) = open.pop() {
            match node {
                Node::Candidate(later) if later != iname => self.add(iname, later, fusible),
                Node::Candidate(_) => {}
                _ if seen.insert(node) => open.extend(next.get(node).into_iter().flatten().map(|node| (*node, false))),
                _ => {}
            }
        }
    }

    fn add(&mut self, before: &Name, later: &Name, fusible: bool) {
        let entry = self.after.entry(before.clone()).or_default().entry(later.clone()).or_insert(true);
        *entry &= fusible;
    }

    /// Adds what accesses of the same memory ask for.
    fn add_memory(
        &mut self,
        kernel: &LoopKernel,
        inside: &[&Arc<Instruction>],
        candidates: &BTreeSet<Name>,
        outer: &BTreeSet<Name>,
    ) -> Result<(), LoopFusionError> {
        let order: BTreeMap<Name, usize> = self.order()?.into_iter().enumerate().map(|(place, iname)| (iname, place)).collect();
        let facts = Facts::of(kernel);
        let dependences = Dependences::of(&facts);
        for writer in inside {
            let written = writer.writes();
            for other in inside.iter().filter(|other| other.id != writer.id) {
                if !written.iter().any(|name| other.reads().contains(name) || other.writes().contains(name)) {
                    continue;
                }
                for first in candidates.iter().filter(|iname| writer.within_inames.contains(*iname)) {
                    for second in candidates.iter().filter(|iname| *iname != first && other.within_inames.contains(*iname)) {
                        let forwards = order[first] < order[second];
                        let ((early, early_iname), (late, late_iname)) =
                            if forwards { ((writer, first), (other, second)) } else { ((other, second), (writer, first)) };
                        let (early, late) = (facts.position[&early.id], facts.position[&late.id]);
                        let backwards = dependences.run_backwards((early, early_iname), (late, late_iname), outer)?;
                        self.add(early_iname, late_iname, !backwards);
                    }
                }
            }
        }
        Ok(())
    }

    /// The loops in an order that the dependencies allow.
    fn order(&self) -> Result<Vec<Name>, LoopFusionError> {
        let mut rest = LoopGraph { after: self.after.clone() };
        let mut order = Vec::new();
        while !rest.after.is_empty() {
            let first = rest.without_predecessors()?.remove(0);
            rest.after.remove(&first);
            order.push(first);
        }
        Ok(order)
    }

    fn without_predecessors(&self) -> Result<Vec<Name>, LoopFusionError> {
        let later: BTreeSet<&Name> = self.after.values().flat_map(BTreeMap::keys).collect();
        let first: Vec<Name> = self.after.keys().filter(|iname| !later.contains(iname)).cloned().collect();
        if first.is_empty() {
            return Err(LoopFusionError::Cycle { inames: self.after.keys().cloned().collect() });
        }
        Ok(first)
    }

    /// Takes out as many loops as can become one that comes before all others.
    fn take_group(&mut self) -> Result<Option<Vec<Name>>, LoopFusionError> {
        if self.after.is_empty() {
            return Ok(None);
        }
        let mut queue: VecDeque<Name> = self.without_predecessors()?.into();
        let (mut fused, mut apart) = (BTreeSet::new(), BTreeSet::new());
        while let Some(iname) = queue.pop_front() {
            let waits = self.after.iter().any(|(before, later)| later.contains_key(&iname) && !fused.contains(before));
            if waits || apart.contains(&iname) || !fused.insert(iname.clone()) {
                continue;
            }
            for (later, fusible) in &self.after[&iname] {
                if *fusible {
                    queue.push_back(later.clone());
                } else {
                    apart.insert(later.clone());
                }
            }
        }
        self.after.retain(|iname, _| !fused.contains(iname));
        Ok(Some(fused.into_iter().collect()))
    }
}

/// The nodes that each instruction is part of.
fn nodes(
    kernel: &LoopKernel,
    inside: &[&Arc<Instruction>],
    candidates: &BTreeSet<Name>,
    outer: &BTreeSet<Name>,
) -> BTreeMap<Name, Vec<Node>> {
    let own = |instruction: &Instruction| -> Vec<Name> {
        let loops = instruction.within_inames.iter().filter(|iname| !outer.contains(*iname) && concurrent_tag(kernel, iname).is_none());
        loops.cloned().collect()
    };
    let used = |instruction: &Instruction| -> Vec<Name> {
        let all: BTreeSet<Name> = instruction.within_inames.iter().cloned().chain(instruction.reduction_inames()).collect();
        all.intersection(candidates).cloned().collect()
    };
    // Inames of one instruction are in one nest; each is represented by the least of its nest.
    let mut least: BTreeMap<Name, Name> = BTreeMap::new();
    fn find(least: &BTreeMap<Name, Name>, iname: &Name) -> Name {
        let mut current = iname.clone();
        while let Some(next) = least.get(&current).filter(|next| **next != current) {
            current = next.clone();
        }
        current
    }
    for instruction in inside.iter().filter(|instruction| used(instruction).is_empty()) {
        for pair in own(instruction).windows(2) {
            let (a, b) = (find(&least, &pair[0]), find(&least, &pair[1]));
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            least.insert(high, low);
        }
    }
    let node = |instruction: &Instruction| match (used(instruction), own(instruction).first()) {
        (candidates, _) if !candidates.is_empty() => candidates.into_iter().map(Node::Candidate).collect(),
        (_, Some(iname)) => vec![Node::Nest(find(&least, iname))],
        _ => vec![Node::Instruction(instruction.id.clone())],
    };
    inside.iter().map(|instruction| (instruction.id.clone(), node(instruction))).collect()
}
