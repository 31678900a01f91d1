//! The work items of a group as loops, for targets that run a group on one thread.
//!
//! Between two barriers each work item may run by itself, so the steps between them are in loops over the local axes, the first axis
//! innermost. A sequential loop without barriers goes around the innermost of them where memory is then read in order. A private value that
//! lives longer than the loop over its work items becomes an array over them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parloop_ir::layout::Axis as LayoutAxis;
use parloop_ir::syntax::{AddressSpace, ArgumentKind, Expr, InameTag, Instruction, InstructionKind, LoopKernel, MemoryKind, Target};
use parloop_ir::{affine, fold};
use parloop_isl::Name;

use crate::schedule::Node;

/// A step of a function that is lowered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// The body for each value of the iname.
    Loop { iname: Name, body: Vec<Item> },
    /// The body for each work item along a local axis: for the values of the iname, or for all.
    Axis { axis: u8, iname: Option<Name>, innermost: bool, body: Vec<Item> },
    /// An instruction.
    Run(Name),
    /// All work items wait.
    Barrier(MemoryKind),
    /// All work items waited: where they are loops, which shadow memory is told of.
    Passed,
}

/// The steps of a schedule for targets whose work items are not loops.
pub(super) fn as_scheduled(nodes: &[Node]) -> Vec<Item> {
    let item = |node: &Node| match node {
        Node::Loop { iname, body } => Item::Loop { iname: iname.clone(), body: as_scheduled(body) },
        Node::Run(id) => Item::Run(id.clone()),
        Node::Barrier { memory, .. } => Item::Barrier(*memory),
    };
    nodes.iter().map(item).collect()
}

/// Steps with the local axes as loops, and the private temporaries that hold a value for each work item along some axes.
pub(super) struct Arranged {
    pub(super) items: Vec<Item>,
    pub(super) widened: BTreeMap<Name, Vec<u8>>,
}

/// Which local axes an instruction or a temporary depends on.
type Axes = BTreeSet<u8>;

struct Arranger<'a> {
    kernel: &'a LoopKernel,
    instructions: HashMap<&'a Name, &'a Arc<Instruction>>,
    /// The local axes of each instruction: its own, and those of the private values that it uses.
    axes: HashMap<Name, Axes>,
    /// The local axes of each private value: those of all that write it.
    of_data: HashMap<Name, Axes>,
    /// The inames of each axis in the launch.
    inames: BTreeMap<u8, BTreeSet<Name>>,
    /// The lengths of the axes, where they are numbers.
    sizes: &'a [Option<u64>],
    /// The first axis that is a loop; those before it are lanes.
    first: u8,
    /// Whether barriers are marked.
    marks: bool,
}

/// The first local axis that is a loop on a target, if it has any such.
pub(super) fn first_loop_axis(target: Target) -> Option<u8> {
    match target {
        Target::C => Some(0),
        Target::Ispc => Some(1),
        Target::OpenCl | Target::Cuda | Target::Hip => None,
    }
}

/// Turns the local axes of a launch, from `first` on, into loops; with `marks` where barriers were. `sizes` are the lengths of axes that are
/// numbers.
pub(super) fn arrange(
    kernel: &LoopKernel,
    nodes: &[Node],
    instructions: &HashMap<&Name, &Arc<Instruction>>,
    sizes: &[Option<u64>],
    first: u8,
    marks: bool,
) -> Arranged {
    let mut arranger = Arranger {
        kernel,
        instructions: instructions.clone(),
        axes: HashMap::new(),
        of_data: HashMap::new(),
        inames: BTreeMap::new(),
        sizes,
        first,
        marks,
    };
    let ids = run_ids(nodes);
    arranger.find_axes(&ids);
    let order: Vec<u8> = arranger.inames.keys().rev().copied().collect();
    let items = arranger.segments(nodes, &order);
    let widened = arranger.widened(&items);
    Arranged { items, widened }
}

fn run_ids(nodes: &[Node]) -> Vec<&Name> {
    nodes
        .iter()
        .flat_map(|node| match node {
            Node::Loop { body, .. } => run_ids(body),
            Node::Run(id) => vec![id],
            Node::Barrier { .. } => Vec::new(),
        })
        .collect()
}

fn has_barrier(node: &Node) -> bool {
    match node {
        Node::Loop { body, .. } => body.iter().any(has_barrier),
        Node::Run(_) => false,
        Node::Barrier { .. } => true,
    }
}

impl<'a> Arranger<'a> {
    /// The iname along a local axis that an instruction is within.
    fn iname_of(&self, id: &Name, axis: u8) -> Option<Name> {
        let within = &self.instructions.get(id)?.within_inames;
        let found = within.iter().find(|iname| local_axis(self.kernel, iname) == Some(axis));
        match (found, self.inames.get(&axis)) {
            (Some(iname), _) => Some(iname.clone()),
            // What is done for all work items is done for those of the only iname.
            (None, Some(inames)) if inames.len() == 1 => inames.first().cloned(),
            _ => None,
        }
    }

    fn find_axes(&mut self, ids: &[&Name]) {
        for id in ids {
            let Some(instruction) = self.instructions.get(id) else { continue };
            let mut axes = Axes::new();
            for iname in &instruction.within_inames {
                if let Some(axis) = local_axis(self.kernel, iname).filter(|&axis| axis >= self.first) {
                    axes.insert(axis);
                    self.inames.entry(axis).or_default().insert(iname.clone());
                }
            }
            self.axes.insert((*id).clone(), axes);
        }
        // A private value has the axes of all that write it, and gives them to all that use it.
        let mut used: HashMap<&Name, Vec<&Name>> = HashMap::new();
        for id in ids {
            for name in self.private_names(id) {
                used.entry(name).or_default().push(id);
            }
        }
        let mut of_data: HashMap<Name, Axes> = HashMap::new();
        loop {
            let mut changed = false;
            for id in ids {
                let Some(instruction) = self.instructions.get(id) else { continue };
                let axes = self.axes.get(*id).cloned().unwrap_or_default();
                for name in instruction.writes() {
                    if used.contains_key(&name) {
                        let data = of_data.entry(name).or_default();
                        let before = data.len();
                        data.extend(&axes);
                        changed |= data.len() != before;
                    }
                }
            }
            for (name, ids) in &used {
                let Some(data) = of_data.get(*name) else { continue };
                for id in ids {
                    let axes = self.axes.entry((*id).clone()).or_default();
                    let before = axes.len();
                    axes.extend(data);
                    changed |= axes.len() != before;
                }
            }
            if !changed {
                break;
            }
        }
        self.of_data = of_data;
    }

    /// The private temporaries that an instruction uses, among them those that are limits of the loops around it.
    fn private_names(&self, id: &Name) -> Vec<&'a Name> {
        let Some(instruction) = self.instructions.get(id) else { return Vec::new() };
        let mut names: BTreeSet<Name> = instruction.reads().into_iter().chain(instruction.writes()).collect();
        names.extend(instruction.within_inames.iter().flat_map(|iname| self.limits(iname)).cloned());
        self.private(&names)
    }

    /// The parameters of the limits of a loop.
    fn limits(&self, iname: &Name) -> &'a [Name] {
        self.kernel.domains.iter().find(|domain| domain.has_dim(iname)).map_or(&[], |domain| domain.params())
    }

    /// Those that are private temporaries.
    fn private<'n>(&self, names: impl IntoIterator<Item = &'n Name>) -> Vec<&'a Name> {
        names
            .into_iter()
            .filter_map(|name| self.kernel.temporaries.get_key_value(name))
            .filter(|(_, temporary)| matches!(temporary.space, Some(AddressSpace::Private) | None) && !temporary.read_only)
            .map(|(name, _)| name)
            .collect()
    }

    /// Steps cut at barriers, each part in loops over the axes.
    fn segments(&self, nodes: &[Node], order: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut part: Vec<&Node> = Vec::new();
        for node in nodes {
            match node {
                Node::Barrier { .. } => {
                    items.extend(self.place(&std::mem::take(&mut part), order));
                    items.extend(self.marks.then_some(Item::Passed));
                }
                Node::Loop { iname, body } if has_barrier(node) => {
                    items.extend(self.place(&std::mem::take(&mut part), order));
                    items.push(Item::Loop { iname: iname.clone(), body: self.segments(body, order) });
                }
                _ => part.push(node),
            }
        }
        items.extend(self.place(&part, order));
        items
    }

    /// Steps without barriers in loops over the axes, the outermost first.
    fn place(&self, nodes: &[&Node], order: &[u8]) -> Vec<Item> {
        let Some((&axis, inner)) = order.split_first() else { return nodes.iter().map(|node| self.plain(node)).collect() };
        let mut items = Vec::new();
        let mut run: Vec<&Node> = Vec::new();
        let mut run_iname: Option<Name> = None;
        let finish = |run: &mut Vec<&Node>, iname: &Option<Name>, items: &mut Vec<Item>| {
            if !run.is_empty() {
                let body = self.place(&std::mem::take(run), inner);
                items.push(Item::Axis { axis, iname: iname.clone(), innermost: inner.is_empty(), body });
            }
        };
        for node in nodes {
            match self.use_of(node, axis) {
                Use::All(iname) if !(inner.is_empty() && self.goes_around(node, axis, iname.as_ref())) => {
                    if iname != run_iname {
                        finish(&mut run, &run_iname, &mut items);
                        run_iname = iname;
                    }
                    run.push(node);
                }
                Use::None => {
                    finish(&mut run, &run_iname, &mut items);
                    items.extend(self.place(&[node], inner));
                }
                _ => {
                    finish(&mut run, &run_iname, &mut items);
                    if let Node::Loop { iname, body } = node {
                        let body: Vec<&Node> = body.iter().collect();
                        items.push(Item::Loop { iname: iname.clone(), body: self.place(&body, order) });
                    }
                }
            }
        }
        finish(&mut run, &run_iname, &mut items);
        items
    }

    fn plain(&self, node: &Node) -> Item {
        match node {
            Node::Loop { iname, body } => Item::Loop { iname: iname.clone(), body: body.iter().map(|node| self.plain(node)).collect() },
            Node::Run(id) => Item::Run(id.clone()),
            Node::Barrier { memory, .. } => Item::Barrier(*memory),
        }
    }

    fn use_of(&self, node: &Node, axis: u8) -> Use {
        let ids = run_ids(std::slice::from_ref(node));
        let mut uses: BTreeSet<Option<Option<Name>>> = BTreeSet::new();
        for id in ids {
            let is_used = self.axes.get(id).is_some_and(|axes| axes.contains(&axis));
            uses.insert(is_used.then(|| self.iname_of(id, axis)));
        }
        match uses.len() {
            0 => Use::None,
            1 => uses.into_iter().next().flatten().map_or(Use::None, Use::All),
            _ => Use::Mixed,
        }
    }

    /// Whether a sequential loop is better run around the innermost axis than inside it: its bounds do not depend on the work item, and
    /// neighbouring work items use neighbouring memory.
    fn goes_around(&self, node: &Node, axis: u8, iname: Option<&Name>) -> bool {
        let (Node::Loop { iname: sequential, .. }, Some(item)) = (node, iname) else { return false };
        // Each private value in it becomes an array over the work items.
        if self.sizes.get(usize::from(axis)) == Some(&None) {
            return false;
        }
        let loops = loop_inames(node);
        let depends = self.kernel.domains.iter().any(|domain| {
            let of_both = |affine: &parloop_isl::Affine| affine.mentions(item) && loops.iter().any(|name| affine.mentions(name));
            domain.pieces().iter().flatten().any(|constraint| of_both(&constraint.affine))
        });
        let data_bound = self
            .kernel
            .domains
            .iter()
            .filter(|domain| domain.has_dim(sequential))
            .any(|domain| domain.params().iter().any(|param| self.kernel.temporaries.contains_key(param)));
        if depends || data_bound {
            return false;
        }
        let (mut near, mut far) = (0, 0);
        for id in run_ids(std::slice::from_ref(node)) {
            let Some(instruction) = self.instructions.get(id) else { continue };
            if !matches!(&instruction.kind, InstructionKind::Assign(assignment) if assignment.atomic.is_none()) {
                return false;
            }
            for expr in instruction.exprs() {
                expr.visit(&mut |inner| match self.distance(inner, axis, item) {
                    Some(1) => near += 1,
                    Some(0) | None => {}
                    Some(_) => far += 1,
                });
            }
        }
        near > far
    }

    /// How far apart in memory neighbouring work items access an array: 0 for the same element, `None` for what is not an access.
    fn distance(&self, expr: &Expr, axis: u8, item: &Name) -> Option<i64> {
        let name = match expr {
            Expr::Variable(name) => {
                let private = self.kernel.temporaries.get(name)?.space != Some(AddressSpace::Local);
                return private.then_some(i64::from(axis == 0));
            }
            Expr::Subscript(array, _) => array.written_name()?,
            _ => return None,
        };
        let Expr::Subscript(_, indices) = expr else { return None };
        let layout = match self.kernel.temporaries.get(name) {
            Some(temporary) if temporary.space == Some(AddressSpace::Private) => return None,
            Some(temporary) => &temporary.layout,
            None => match &self.kernel.arguments.iter().find(|argument| argument.name == *name)?.kind {
                ArgumentKind::Array { layout, .. } => layout,
                _ => return None,
            },
        };
        let axes = layout.axes(name).ok()?;
        let mut distance = 0i64;
        for (index, axis) in indices.iter().zip(axes) {
            if !index.variables().contains(item) {
                continue;
            }
            let coefficient = affine::to_affine(index).map_or(i64::MAX, |affine| affine.coefficient(item));
            let stride = match axis {
                LayoutAxis::Stride(stride) => fold::as_int(&stride).unwrap_or(i64::MAX),
                _ => 1,
            };
            distance = distance.saturating_add(coefficient.saturating_mul(stride).saturating_abs());
        }
        Some(distance)
    }

    /// The private temporaries whose values outlive the loop over an axis in which they are made.
    fn widened(&self, items: &[Item]) -> BTreeMap<Name, Vec<u8>> {
        let mut accesses: BTreeMap<&Name, Vec<Access>> = BTreeMap::new();
        self.collect(items, &mut Vec::new(), &mut 0, &mut accesses);
        let mut widened = BTreeMap::new();
        for (name, accesses) in accesses {
            let axes: Axes = accesses.iter().flat_map(|access| access.path.iter().filter_map(|step| step.axis)).collect();
            // What is written for all work items at once is the same for each.
            let differs = |axis: u8| self.of_data.get(name).is_some_and(|axes| axes.contains(&axis));
            let over: Vec<u8> = axes.into_iter().rev().filter(|&axis| differs(axis) && outlives(axis, &accesses)).collect();
            if !over.is_empty() {
                widened.insert(name.clone(), over);
            }
        }
        widened
    }

    fn collect(&self, items: &[Item], path: &mut Vec<PathStep>, next: &mut usize, found: &mut BTreeMap<&'a Name, Vec<Access>>) {
        for item in items {
            *next += 1;
            match item {
                Item::Barrier(_) | Item::Passed => {}
                Item::Loop { iname, body } => {
                    for name in self.private(self.limits(iname)) {
                        found.entry(name).or_default().push(Access { path: path.clone(), defines: false });
                    }
                    path.push(PathStep { number: *next, axis: None });
                    self.collect(body, path, next, found);
                    path.pop();
                }
                Item::Axis { axis, body, .. } => {
                    path.push(PathStep { number: *next, axis: Some(*axis) });
                    self.collect(body, path, next, found);
                    path.pop();
                }
                Item::Run(id) => {
                    for name in self.private_names(id) {
                        let defines = self.instructions.get(id).is_some_and(|instruction| defines(instruction, name));
                        found.entry(name).or_default().push(Access { path: path.clone(), defines });
                    }
                }
            }
        }
    }
}

enum Use {
    /// No instruction depends on the axis.
    None,
    /// All do, by that iname (or by none, for all work items).
    All(Option<Name>),
    /// Some do, or by different inames.
    Mixed,
}

#[derive(Clone, Copy, PartialEq)]
struct PathStep {
    number: usize,
    /// `None` for a sequential loop.
    axis: Option<u8>,
}

/// An access to a private temporary: the loops around it, and whether it gives it its value whatever that was.
struct Access {
    path: Vec<PathStep>,
    defines: bool,
}

/// Whether a value must be kept for each work item along an axis.
fn outlives(axis: u8, accesses: &[Access]) -> bool {
    let place = |access: &Access| access.path.iter().position(|step| step.axis == Some(axis)).map(|at| (at, access.path[at].number));
    let Some(first) = accesses.first().and_then(place) else { return true };
    if accesses.iter().any(|access| place(access) != Some(first)) {
        return true;
    }
    // Inside one loop over the axis: it may still be carried from one turn of a sequential loop around it to the next.
    let around = &accesses[0].path[..first.0];
    let carried = around.iter().any(|step| step.axis.is_none());
    let inside = &accesses[0].path[first.0..];
    carried && !(accesses[0].defines && inside.iter().all(|step| step.axis.is_some()))
}

fn defines(instruction: &Instruction, name: &Name) -> bool {
    match &instruction.kind {
        InstructionKind::Assign(assignment) => {
            assignment.lhs == Expr::Variable(name.clone())
                && assignment.atomic.is_none()
                && instruction.predicates.is_empty()
                && !assignment.rhs.variables().contains(name)
        }
        _ => false,
    }
}

fn loop_inames(node: &Node) -> Vec<&Name> {
    match node {
        Node::Loop { iname, body } => std::iter::once(iname).chain(body.iter().flat_map(loop_inames)).collect(),
        _ => Vec::new(),
    }
}

/// The local axis of an iname.
pub(super) fn local_axis(kernel: &LoopKernel, iname: &str) -> Option<u8> {
    kernel.inames.get(iname)?.tags.iter().find_map(|tag| match tag {
        InameTag::Local(axis) => Some(*axis),
        _ => None,
    })
}

/// The group axis of an iname.
pub(super) fn group_axis(kernel: &LoopKernel, iname: &str) -> Option<u8> {
    kernel.inames.get(iname)?.tags.iter().find_map(|tag| match tag {
        InameTag::Group(axis) => Some(*axis),
        _ => None,
    })
}
