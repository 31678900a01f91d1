//! Values that are live across launches: private and local temporaries are saved to global memory at the end of the launch that writes them
//! and reloaded at the beginning of those that need them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::facts::Facts;
use parloop_ir::affine::to_affine;
use parloop_ir::fold::as_int;
use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, CompareOp, Expr, Iname, InameTag, Instruction, Layout, LoopKernel, Shape, Temporary};
use parloop_isl::{Affine, Constraint, Name, Set};

use super::error::ScheduleError;
use super::sizes::{Sizes, group_and_local_sizes};
use super::{Launch, Node, ScheduleItem};

/// Adds saves and reloads to the kernel and its launches.
pub(crate) fn keep(
    program: &Program,
    facts: &Facts<'_>,
    launches: &mut [Launch],
    steps: &[ScheduleItem],
) -> Result<Option<LoopKernel>, ScheduleError> {
    if launches.len() < 2 {
        return Ok(None);
    }
    let mut after = vec![BTreeSet::new(); launches.len()];
    reachable(steps, &mut after);
    let uses: Vec<Uses> = launches.iter().map(|launch| Uses::of(facts, &launch.body)).collect();
    let mut keeper = Keeper::new(program, facts, launches)?;
    let kept: BTreeSet<&Name> = uses.iter().flat_map(|uses| uses.written.iter()).filter(|name| is_lost(facts, name)).collect();
    for temporary in kept {
        let needs: Vec<bool> = (0..launches.len())
            .map(|at| {
                uses[at].needed.contains(temporary)
                    && (0..launches.len()).any(|from| after[from].contains(&at) && uses[from].written.contains(temporary))
            })
            .collect();
        for at in 0..launches.len() {
            if needs[at] {
                keeper.claim(temporary, at)?;
                keeper.reload(temporary, at, &mut launches[at])?;
            }
            if uses[at].written.contains(temporary) && after[at].iter().any(|&later| needs[later]) {
                keeper.claim(temporary, at)?;
                keeper.save(temporary, at, &mut launches[at])?;
            }
        }
    }
    Ok(keeper.finish())
}

/// For each launch, those that can run after it.
fn reachable(steps: &[ScheduleItem], after: &mut [BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut before: BTreeSet<usize> = BTreeSet::new();
    for step in steps {
        let inside = match step {
            ScheduleItem::Launch(at) => BTreeSet::from([*at]),
            ScheduleItem::Loop { body, .. } => {
                let inside = reachable(body, after);
                inside.iter().for_each(|at| after[*at].extend(&inside));
                inside
            }
        };
        before.iter().for_each(|at| after[*at].extend(&inside));
        before.extend(inside);
    }
    before
}

/// Whether the variable's memory ends with the launch.
fn is_lost(facts: &Facts<'_>, name: &Name) -> bool {
    let temporary = facts.kernel.temporaries.get(name);
    temporary.is_some_and(|each| !matches!(each.space, Some(AddressSpace::Global | AddressSpace::Constant)) && each.initializer.is_none())
}

/// What one launch does to temporaries.
#[derive(Default)]
struct Uses {
    written: BTreeSet<Name>,
    /// Read, or written in part, before it is surely written.
    needed: BTreeSet<Name>,
    surely: BTreeSet<Name>,
}

impl Uses {
    fn of(facts: &Facts<'_>, nodes: &[Node]) -> Uses {
        let mut uses = Uses::default();
        uses.walk(facts, nodes);
        uses
    }

    fn walk(&mut self, facts: &Facts<'_>, nodes: &[Node]) {
        for node in nodes {
            match node {
                // A loop may have no iterations.
                Node::Loop { body, .. } => {
                    let known = self.surely.clone();
                    self.walk(facts, body);
                    self.surely = known;
                }
                Node::Barrier { .. } => {}
                Node::Run(id) => {
                    let Some(&at) = facts.position.get(id) else { continue };
                    let instruction = &facts.kernel.instructions[at];
                    let bounds = instruction.within_inames.iter().flat_map(|iname| facts.bound_names(iname));
                    for name in facts.reads[at].iter().chain(bounds) {
                        if !self.surely.contains(name) {
                            self.needed.insert(name.clone());
                        }
                    }
                    for name in &facts.writes[at] {
                        self.written.insert(name.clone());
                        let scalar = facts.kernel.temporaries.get(name).is_some_and(|each| each.layout.shape == Shape::Known(Vec::new()));
                        if scalar && instruction.predicates.is_empty() {
                            self.surely.insert(name.clone());
                        } else if !self.surely.contains(name) {
                            self.needed.insert(name.clone());
                        }
                    }
                }
            }
        }
    }
}

struct Keeper<'f, 'k> {
    facts: &'f Facts<'k>,
    sizes: Vec<Sizes>,
    launch_names: Vec<Name>,
    variables: UniqueNames,
    ids: UniqueNames,
    slots: BTreeMap<Name, (Name, usize)>,
    /// For memory that temporaries share, and each launch, which of them is kept.
    claimed: BTreeMap<(Name, usize), Name>,
    temporaries: Vec<Temporary>,
    instructions: Vec<Arc<Instruction>>,
    domains: Vec<Set>,
    inames: Vec<(Name, Iname)>,
}

impl<'f, 'k> Keeper<'f, 'k> {
    fn new(program: &Program, facts: &'f Facts<'k>, launches: &[Launch]) -> Result<Keeper<'f, 'k>, ScheduleError> {
        let sizes = launches.iter().map(|launch| {
            let ids = launch.instructions();
            let instructions = ids.into_iter().filter_map(|id| facts.position.get(id)).map(|&at| &*facts.kernel.instructions[at]);
            group_and_local_sizes(program, facts, instructions)
        });
        Ok(Keeper {
            facts,
            sizes: sizes.collect::<Result<_, _>>()?,
            launch_names: launches.iter().map(|launch| launch.name.clone()).collect(),
            variables: UniqueNames::of_variables(facts.kernel),
            ids: UniqueNames::of_instructions(facts.kernel),
            slots: BTreeMap::new(),
            claimed: BTreeMap::new(),
            temporaries: Vec::new(),
            instructions: Vec::new(),
            domains: Vec::new(),
            inames: Vec::new(),
        })
    }

    fn save(&mut self, temporary: &Name, at: usize, launch: &mut Launch) -> Result<(), ScheduleError> {
        let nodes = self.copy(temporary, at, launch, true)?;
        launch.body.extend(nodes);
        Ok(())
    }

    fn reload(&mut self, temporary: &Name, at: usize, launch: &mut Launch) -> Result<(), ScheduleError> {
        let nodes = self.copy(temporary, at, launch, false)?;
        launch.body.splice(0..0, nodes);
        Ok(())
    }

    /// Of temporaries that share memory, at most one is live across the end of a launch: its copy would overwrite the others.
    fn claim(&mut self, temporary: &Name, at: usize) -> Result<(), ScheduleError> {
        let Some(storage) = self.facts.kernel.temporaries.get(temporary).and_then(|each| each.base_storage.clone()) else { return Ok(()) };
        match self.claimed.insert((storage, at), temporary.clone()) {
            Some(other) if other != *temporary => Err(ScheduleError::NotKept {
                temporary: temporary.clone(),
                reason: "it shares its memory with another temporary that is live across the same barrier",
            }),
            _ => Ok(()),
        }
    }

    /// The name of the memory in which a temporary is kept; made when it is first asked for.
    fn slot(&mut self, temporary: &Temporary, at: usize) -> Result<Name, ScheduleError> {
        if let Some((slot, first)) = self.slots.get(&temporary.name) {
            if self.sizes[*first] != self.sizes[at] {
                let (first, second) = (self.launch_names[*first].clone(), self.launch_names[at].clone());
                return Err(ScheduleError::KeptAcrossSizes { temporary: temporary.name.clone(), first, second });
            }
            return Ok(slot.clone());
        }
        let Shape::Known(own) = &temporary.layout.shape else {
            return Err(ScheduleError::NotKept { temporary: temporary.name.clone(), reason: "its shape is unknown" });
        };
        let mut shape = self.sizes[at].groups.clone();
        if temporary.space != Some(AddressSpace::Local) {
            for size in &self.sizes[at].group_size {
                shape.push(items(&temporary.name, size)?);
            }
        }
        shape.extend(own.iter().cloned());
        let name = self.variables.make(&format!("{}_save_slot", temporary.name));
        self.temporaries.push(Temporary {
            name: name.clone(),
            ty: temporary.ty.clone(),
            layout: Layout::c_order(Shape::Known(shape)),
            space: Some(AddressSpace::Global),
            initializer: None,
            read_only: false,
            base_storage: None,
            tags: BTreeSet::new(),
        });
        self.slots.insert(temporary.name.clone(), (name.clone(), at));
        Ok(name)
    }

    /// One instruction that copies between a temporary and its slot, in loops over its axes.
    fn copy(&mut self, temporary: &Name, at: usize, launch: &Launch, is_save: bool) -> Result<Vec<Node>, ScheduleError> {
        let temporary = self.facts.kernel.temporaries.get(temporary).expect("invariant: only temporaries are kept");
        let slot = self.slot(temporary, at)?;
        let mut copy = Copy::new(&format!("{}_{}", temporary.name, if is_save { "save" } else { "reload" }));
        let sizes = self.sizes[at].clone();
        for (axis, groups) in (0u8..).zip(&sizes.groups) {
            let iname = copy.axis(self, &format!("g{axis}"), groups, Some(InameTag::Group(axis)));
            copy.slot_index.push(Expr::Variable(iname?));
        }
        let is_local = temporary.space == Some(AddressSpace::Local);
        let mut locals = Vec::new();
        for (axis, size) in (0u8..).zip(&sizes.group_size) {
            let size = items(&temporary.name, size)?;
            locals.push(copy.axis(self, &format!("l{axis}"), &size, Some(InameTag::Local(axis)))?);
        }
        if !is_local {
            copy.slot_index.extend(locals.iter().cloned().map(Expr::Variable));
        }
        let Shape::Known(shape) = &temporary.layout.shape else {
            return Err(ScheduleError::NotKept { temporary: temporary.name.clone(), reason: "its shape is unknown" });
        };
        // Local memory is shared: the first work item copies all of it. Spreading it over the group would be faster;
        // saves of local memory are rare.
        let predicates =
            locals.into_iter().filter(|_| is_local).map(|iname| Expr::compare(CompareOp::Equal, Expr::Variable(iname), Expr::int(0)));
        let predicates = predicates.collect();
        for (axis, length) in shape.iter().enumerate() {
            let iname = copy.axis(self, &format!("axis{axis}"), length, None)?;
            copy.index.push(Expr::Variable(iname));
        }
        Ok(copy.finish(self, temporary, &slot, &launch.host_inames, is_save, predicates))
    }

    fn finish(self) -> Option<LoopKernel> {
        if self.instructions.is_empty() {
            return None;
        }
        let mut kernel = self.facts.kernel.clone();
        kernel.instructions.extend(self.instructions);
        kernel.domains.extend(self.domains);
        kernel.inames.extend(self.inames);
        kernel.temporaries.extend(self.temporaries.into_iter().map(|temporary| (temporary.name.clone(), temporary)));
        Some(kernel)
    }
}

/// A save or reload that is being built.
struct Copy {
    id: String,
    inames: BTreeSet<Name>,
    loops: Vec<Name>,
    slot_index: Vec<Expr>,
    index: Vec<Expr>,
}

impl Copy {
    fn new(id: &str) -> Copy {
        Copy { id: id.to_owned(), inames: BTreeSet::new(), loops: Vec::new(), slot_index: Vec::new(), index: Vec::new() }
    }

    /// An iname from 0 to a length.
    fn axis(&mut self, keeper: &mut Keeper<'_, '_>, what: &str, length: &Expr, tag: Option<InameTag>) -> Result<Name, ScheduleError> {
        let iname = keeper.variables.make(&format!("{}_{what}", self.id));
        let below = |length: &Expr| {
            let affine = to_affine(length)
                .ok_or(ScheduleError::NotKept { temporary: self.id.as_str().into(), reason: "an extent is not affine" })?;
            Ok::<_, ScheduleError>(Constraint::not_negative(affine.sub(&Affine::name(&iname))?.sub(&Affine::constant(1))?))
        };
        let lower = Constraint::not_negative(Affine::name(&iname));
        let dims = [iname.clone()];
        let domain = match length {
            Expr::Max(lengths) => {
                let sets = lengths.iter().map(|length| Ok(Set::bounded(&dims, vec![lower.clone(), below(length)?])));
                let sets: Vec<Set> = sets.collect::<Result<_, ScheduleError>>()?;
                let mut sets = sets.into_iter();
                let first = sets.next().expect("invariant: a maximum is one of something");
                sets.try_fold(first, |all, set| all.union(&set))?
            }
            length => Set::bounded(&dims, vec![lower, below(length)?]),
        };
        if tag.is_none() {
            self.loops.push(iname.clone());
        }
        keeper.domains.push(domain);
        keeper.inames.push((iname.clone(), Iname { tags: tag.into_iter().collect(), ..Iname::default() }));
        self.inames.insert(iname.clone());
        Ok(iname)
    }

    fn finish(
        self,
        keeper: &mut Keeper<'_, '_>,
        temporary: &Temporary,
        slot: &Name,
        host_inames: &[Name],
        is_save: bool,
        predicates: BTreeSet<Expr>,
    ) -> Vec<Node> {
        let part = |name: &Name, indices: Vec<Expr>| if indices.is_empty() { Expr::var(name) } else { Expr::subscript(name, indices) };
        let here = part(&temporary.name, self.index.clone());
        let there = part(slot, self.slot_index.into_iter().chain(self.index).collect());
        let (lhs, rhs) = if is_save { (there, here) } else { (here, there) };
        let id = keeper.ids.make(&self.id);
        let mut instruction = Instruction::assign(&id, lhs, rhs);
        instruction.within_inames = self.inames;
        instruction.within_inames.extend(host_inames.iter().cloned());
        instruction.within_inames_is_final = true;
        instruction.predicates = predicates;
        keeper.instructions.push(Arc::new(instruction));
        let mut node = Node::Run(id);
        for iname in self.loops.into_iter().rev() {
            node = Node::Loop { iname, body: vec![node] };
        }
        vec![node]
    }
}

/// How many work items of a group along an axis have values to keep: a size that calls tell is 1 at least, but a work item without values does
/// nothing.
fn items(temporary: &Name, size: &Expr) -> Result<Expr, ScheduleError> {
    match size {
        Expr::Max(sizes) => match &sizes[..] {
            [one, told] if as_int(one) == Some(1) => Ok(told.clone()),
            _ => Err(ScheduleError::NotKept { temporary: temporary.clone(), reason: "several lengths decide the size of a work-group" }),
        },
        size => Ok(size.clone()),
    }
}
