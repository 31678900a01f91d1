//! Whether work items can meet: whether two instructions, run by different work items, can touch the same place in memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{AddressSpace, ArgumentKind, MemoryKind, SyncScope};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::access::{Access, accesses, is_parameter};
use super::facts::{Facts, Placement};
use crate::axis::axis_base;

/// Two instructions in the order in which they run, and the loops that they are both in.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The position of the one that runs first.
    pub first: usize,
    /// The position of the other.
    pub second: usize,
    /// The loops around both whose turn is the same for both.
    pub same: &'a [Name],
    /// The loop of which the second runs in a later turn.
    pub later: Option<&'a Name>,
}

/// An access with affine indices; an index that is not affine is `None` and may be anything.
struct Touch<'k> {
    access: Access<'k>,
    indices: Option<Vec<Option<Affine>>>,
}

/// Questions about the work items of one kernel.
pub struct Races<'f, 'k> {
    facts: &'f Facts<'k>,
    /// The accesses of each instruction to memory that work items share and that some instruction writes, by storage.
    touches: Vec<BTreeMap<Name, Vec<Touch<'k>>>>,
    axes: BTreeSet<Placement>,
    /// What work item 0 of an axis has, by iname, once it was asked for.
    bases: RefCell<HashMap<Name, Affine>>,
}

impl<'f, 'k> Races<'f, 'k> {
    /// Of memory that work items share.
    pub fn of(facts: &'f Facts<'k>) -> Races<'f, 'k> {
        Races::among(facts, &|name| memory(facts, name).is_some())
    }

    /// Of private memory too.
    pub fn with_private(facts: &'f Facts<'k>) -> Races<'f, 'k> {
        Races::among(facts, &|_| true)
    }

    fn among(facts: &'f Facts<'k>, is_wanted: &dyn Fn(&Name) -> bool) -> Races<'f, 'k> {
        let storage_of = |name: &Name| storage(facts, name);
        let written: BTreeSet<Name> = facts.writers.keys().map(storage_of).collect();
        let touches = facts.kernel.instructions.iter().map(|instruction| {
            let mut by_storage: BTreeMap<Name, Vec<Touch<'k>>> = BTreeMap::new();
            for access in accesses(instruction) {
                let root = root(&access.name);
                let storage = storage_of(&root);
                if !written.contains(&storage) || !is_wanted(&root) {
                    continue;
                }
                let key = if root == access.name { storage } else { access.name.clone() };
                let indices = access.indices.map(|indices| indices.iter().map(|index| usable(facts, to_affine(index))).collect());
                by_storage.entry(key).or_default().push(Touch { access, indices });
            }
            by_storage
        });
        let axes = facts.kernel.instructions.iter().flat_map(|instruction| &instruction.within_inames);
        let axes: BTreeSet<Placement> = axes.map(|iname| facts.placement(iname)).filter(|placement| placement.is_parallel()).collect();
        Races { facts, touches: touches.collect(), axes, bases: RefCell::default() }
    }

    /// The shared memory that an instruction touches.
    pub fn storages(&self, instruction: usize) -> impl Iterator<Item = &Name> {
        self.touches[instruction].keys()
    }

    /// Whether there are axes along which work items of that scope differ.
    pub fn has_axes(&self, scope: SyncScope) -> bool {
        self.axes.iter().any(|axis| differs(*axis, scope))
    }

    /// Which memory the storage is in.
    pub fn memory(&self, storage: &Name) -> MemoryKind {
        memory(self.facts, &root(storage)).unwrap_or(MemoryKind::Global)
    }

    /// A variable of `storage` that different work items can touch at the same place in both instructions, at least one of which writes. The
    /// scope says which work items: those of a group, or those of different groups.
    pub fn meeting(&self, pair: Pair<'_>, storage: &Name, scope: SyncScope) -> Result<Option<Name>, IslError> {
        if scope == SyncScope::Global && self.memory(storage) == MemoryKind::Local {
            return Ok(None);
        }
        if self.is_excused(pair, storage, scope) {
            return Ok(None);
        }
        let none = Vec::new();
        let first = self.touches[pair.first].get(storage).unwrap_or(&none);
        let second = self.touches[pair.second].get(storage).unwrap_or(&none);
        for a in first {
            for b in second {
                let relevant = (a.access.write || b.access.write) && !(a.access.atomic && b.access.atomic);
                if relevant && self.can_meet(a, b, pair, scope)? {
                    return Ok(Some(b.access.name.clone()));
                }
            }
        }
        Ok(None)
    }

    /// A variable of which different work items write the same place in one instruction, if the indices say so.
    pub fn colliding(&self, pair: Pair<'_>, scope: SyncScope) -> Result<Option<Name>, IslError> {
        for (storage, touches) in &self.touches[pair.first] {
            if scope == SyncScope::Global && self.memory(storage) == MemoryKind::Local {
                continue;
            }
            for (at, a) in touches.iter().enumerate().filter(|(_, touch)| touch.access.write) {
                for b in touches[at..].iter().filter(|touch| touch.access.write) {
                    if self.can_meet(a, b, pair, scope)? {
                        return Ok(Some(a.access.name.clone()));
                    }
                }
            }
        }
        Ok(None)
    }

    /// A variable of the storage of which two instructions can touch the same place at all, at least one of them writing.
    pub fn overlapping(&self, first: usize, second: usize, storage: &Name) -> Result<Option<Name>, IslError> {
        let pair = Pair { first, second, same: &[], later: None };
        let none = Vec::new();
        let touches = |at: usize| {
            let fields = format!("{storage}.");
            let own = self.touches[at].get(storage).unwrap_or(&none).iter();
            own.chain(self.touches[at].iter().filter(move |(key, _)| key.starts_with(&fields)).flat_map(|(_, touches)| touches))
        };
        for a in touches(first) {
            for b in touches(second) {
                if (a.access.write || b.access.write) && !(a.access.atomic && b.access.atomic) && self.can_overlap(a, b, pair)? {
                    return Ok(Some(b.access.name.clone()));
                }
            }
        }
        Ok(None)
    }

    fn can_overlap(&self, a: &Touch<'k>, b: &Touch<'k>, pair: Pair<'_>) -> Result<bool, IslError> {
        let fields = |touch: &Touch<'_>| touch.access.name.contains('.');
        if a.access.name != b.access.name {
            return Ok(!(fields(a) && fields(b)));
        }
        let (Some(left), Some(right)) = (&a.indices, &b.indices) else { return Ok(true) };
        let indices: Vec<(&Affine, &Affine)> = left.iter().zip(right).filter_map(|(x, y)| Some((x.as_ref()?, y.as_ref()?))).collect();
        if indices.is_empty() || left.len() != right.len() || indices.iter().all(|(x, y)| x == y) {
            return Ok(true);
        }
        let differ = |x: &Affine, y: &Affine| matches!((x.as_constant(), y.as_constant()), (Some(x), Some(y)) if x != y);
        if indices.iter().any(|(x, y)| differ(x, y)) {
            return Ok(false);
        }
        Ok(!self.together(a, b, &indices, pair)?.is_empty()?)
    }

    /// `nosync` says that no barrier is needed.
    fn is_excused(&self, pair: Pair<'_>, storage: &Name, scope: SyncScope) -> bool {
        let instructions = &self.facts.kernel.instructions;
        let says = |one: usize, other: usize| {
            instructions[one].nosync.iter().any(|(id, excused)| {
                let by_memory = self.memory(storage) == MemoryKind::Global && *excused == SyncScope::Global;
                *id == instructions[other].id && (*excused == SyncScope::Any || *excused == scope || by_memory)
            })
        };
        says(pair.first, pair.second) || says(pair.second, pair.first)
    }

    fn can_meet(&self, a: &Touch<'k>, b: &Touch<'k>, pair: Pair<'_>, scope: SyncScope) -> Result<bool, IslError> {
        // What one instruction does through indices that only its data knows is the user's promise: it would be a race within one turn too.
        let known = |touch: &Touch<'_>| touch.indices.as_ref().is_some_and(|indices| indices.iter().all(Option::is_some));
        if pair.first == pair.second && !(known(a) && known(b)) {
            return Ok(false);
        }
        let (Some(left), Some(right)) = (&a.indices, &b.indices) else { return Ok(true) };
        if a.access.name != b.access.name || left.len() != right.len() {
            return Ok(true);
        }
        let indices: Vec<(&Affine, &Affine)> = left.iter().zip(right).filter_map(|(x, y)| Some((x.as_ref()?, y.as_ref()?))).collect();
        let differ = |x: &Affine, y: &Affine| matches!((x.as_constant(), y.as_constant()), (Some(x), Some(y)) if x != y);
        if indices.iter().any(|(x, y)| differ(x, y)) || self.is_own(&indices, pair, scope)? {
            return Ok(false);
        }
        self.solve(a, b, &indices, pair, scope)
    }

    /// The iname of an instruction along an axis.
    fn along(&self, instruction: usize, axis: Placement) -> Option<&'k Name> {
        self.facts.kernel.instructions[instruction].within_inames.iter().find(|iname| self.facts.placement(iname) == axis)
    }

    fn base(&self, iname: &Name) -> Result<Affine, IslError> {
        if let Some(base) = self.bases.borrow().get(iname) {
            return Ok(base.clone());
        }
        let base = axis_base(&self.facts.forest, iname)?;
        self.bases.borrow_mut().insert(iname.clone(), base.clone());
        Ok(base)
    }

    /// The inames of both along an axis, if equal values mean the same work item.
    fn along_both(&self, pair: Pair<'_>, axis: Placement) -> Result<Option<(&'k Name, &'k Name)>, IslError> {
        let (Some(x), Some(y)) = (self.along(pair.first, axis), self.along(pair.second, axis)) else { return Ok(None) };
        Ok(if x == y || self.base(x)? == self.base(y)? { Some((x, y)) } else { None })
    }

    /// Whether equal indices say, read off without solving, that the work items are the same along every axis that tells them apart.
    fn is_own(&self, indices: &[(&Affine, &Affine)], pair: Pair<'_>, scope: SyncScope) -> Result<bool, IslError> {
        let mut fixed: BTreeSet<&Name> = pair.same.iter().collect();
        if scope == SyncScope::Local {
            for axis in self.axes.iter().filter(|axis| matches!(axis, Placement::Group(_))) {
                fixed.extend(self.along_both(pair, *axis)?.filter(|(x, y)| x == y).map(|(x, _)| x));
            }
        }
        let is_fixed = |name: &Name| fixed.contains(name) || is_parameter(self.facts.kernel, name);
        for axis in self.axes.iter().filter(|axis| differs(**axis, scope)) {
            let Some((x, y)) = self.along_both(pair, *axis)? else { return Ok(false) };
            let says = indices.iter().any(|(left, right)| {
                let coefficient = left.coefficient(x);
                let rest = |affine: &Affine, name: &Name| affine.sub(&Affine::name(name).scale(coefficient)?);
                let (Ok(left), Ok(right)) = (rest(left, x), rest(right, y)) else { return false };
                coefficient != 0 && left == right && left.names().iter().all(is_fixed)
            });
            if !says {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn side<'r>(&'r self, at: usize, pair: Pair<'r>, mark: &'static str) -> Side<'r, 'f, 'k> {
        Side { races: self, at, pair, mark }
    }

    /// The pairs of points at which both touch the same place.
    fn together(&self, a: &Touch<'k>, b: &Touch<'k>, indices: &[(&Affine, &Affine)], pair: Pair<'_>) -> Result<Set, IslError> {
        let first = self.side(pair.first, pair, "first");
        let second = self.side(pair.second, pair, "second");
        let mut constraints = Vec::new();
        for (x, y) in indices {
            constraints.push(Constraint::zero(x.rename(&|name| first.rename(name)).sub(&y.rename(&|name| second.rename(name)))?));
        }
        first.domain(a)?.join(&second.domain(b)?)?.constrain(&constraints)
    }

    fn solve(
        &self,
        a: &Touch<'k>,
        b: &Touch<'k>,
        indices: &[(&Affine, &Affine)],
        pair: Pair<'_>,
        scope: SyncScope,
    ) -> Result<bool, IslError> {
        let first = self.side(pair.first, pair, "first");
        let second = self.side(pair.second, pair, "second");
        let set = self.together(a, b, indices, pair)?;
        let mut constraints = Vec::new();
        if let Some(later) = pair.later {
            let turn = |side: &Side<'_, '_, '_>| Affine::name(side.marked(later));
            constraints.push(Constraint::not_negative(turn(&second).sub(&turn(&first))?.sub(&Affine::constant(1))?));
        }
        for axis in self.axes.iter().filter(|axis| scope == SyncScope::Local && matches!(axis, Placement::Group(_))) {
            constraints.push(Constraint::zero(first.id(*axis)?.sub(&second.id(*axis)?)?));
        }
        let set = set.constrain(&constraints)?;
        for axis in self.axes.iter().filter(|axis| differs(**axis, scope)) {
            let difference = first.id(*axis)?.sub(&second.id(*axis)?)?;
            // Of one access against itself the other way round is the same question.
            let signs: &[i64] = if std::ptr::eq(a, b) && pair.later.is_none() { &[1] } else { &[1, -1] };
            for &sign in signs {
                let apart = Constraint::not_negative(difference.scale(sign)?.sub(&Affine::constant(1))?);
                if !set.constrain(&[apart])?.is_empty()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Whether work items of that scope differ along the axis.
fn differs(axis: Placement, scope: SyncScope) -> bool {
    match axis {
        Placement::Local(_) | Placement::LocalAuto => scope == SyncScope::Local,
        Placement::Group(_) => scope == SyncScope::Global,
        _ => false,
    }
}

/// One of two instructions, with names of its own for what need not be the same for both.
struct Side<'r, 'f, 'k> {
    races: &'r Races<'f, 'k>,
    at: usize,
    pair: Pair<'r>,
    mark: &'static str,
}

impl Side<'_, '_, '_> {
    fn marked(&self, name: &Name) -> Name {
        format!("{name}__{}", self.mark).into()
    }

    fn rename(&self, name: &Name) -> Option<Name> {
        let facts = self.races.facts;
        let is_own = facts.placement.contains_key(name) || facts.kernel.temporaries.contains_key(name);
        (is_own && !self.pair.same.contains(name)).then(|| self.marked(name))
    }

    fn domain(&self, touch: &Touch<'_>) -> Result<Set, IslError> {
        let facts = self.races.facts;
        let inames = facts.kernel.instructions[self.at].within_inames.iter().chain(touch.access.swept);
        let mut constraints = Vec::new();
        for (condition, value) in &touch.access.conditions {
            super::access::constraints_of(condition, *value, &mut constraints);
        }
        constraints.retain(|each| each.affine.names().iter().all(|name| !facts.kernel.temporaries.contains_key(name)));
        let domain = facts.domain(inames)?.join(&facts.kernel.assumptions)?.constrain(&constraints)?;
        Ok(domain.rename(&|name| self.rename(name)))
    }

    /// The number of the work item, or group, along an axis; any, if the instruction is not spread over it.
    fn id(&self, axis: Placement) -> Result<Affine, IslError> {
        match self.races.along(self.at, axis) {
            Some(iname) => {
                let base = self.races.base(iname)?;
                let name = self.rename(iname).unwrap_or_else(|| iname.clone());
                Ok(Affine::name(name).sub(&base)?)
            }
            None => Ok(Affine::name(format!("axis_{axis:?}__{}", self.mark).replace(['(', ')'], "_"))),
        }
    }
}

/// The variable that a field belongs to.
fn root(name: &Name) -> Name {
    name.split_once('.').map_or_else(|| name.clone(), |(root, _)| root.into())
}

/// What memory the variable shares with others, by name.
fn storage(facts: &Facts<'_>, name: &Name) -> Name {
    let base = facts.kernel.temporaries.get(name).and_then(|temporary| temporary.base_storage.clone());
    base.unwrap_or_else(|| name.clone())
}

/// The memory of a variable that work items share.
fn memory(facts: &Facts<'_>, name: &Name) -> Option<MemoryKind> {
    let of_space = |space: AddressSpace| match space {
        AddressSpace::Local => Some(MemoryKind::Local),
        AddressSpace::Global => Some(MemoryKind::Global),
        AddressSpace::Private | AddressSpace::Constant => None,
    };
    if let Some(temporary) = facts.kernel.temporaries.get(name) {
        return of_space(temporary.space.unwrap_or(AddressSpace::Private));
    }
    match &facts.arguments.get(name)?.kind {
        ArgumentKind::Array { space, .. } => of_space(*space),
        ArgumentKind::Object | ArgumentKind::Image(_) => Some(MemoryKind::Global),
        ArgumentKind::Value => None,
    }
}

/// The index, if all names in it are inames or parameters.
fn usable(facts: &Facts<'_>, index: Option<Affine>) -> Option<Affine> {
    index.filter(|affine| affine.names().iter().all(|name| !facts.kernel.temporaries.contains_key(name)))
}
