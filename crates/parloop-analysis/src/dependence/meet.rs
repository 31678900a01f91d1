//! Where barriers are needed: whether two instructions on different work items can access the same element of shared memory.

use std::collections::BTreeSet;

use parloop_ir::syntax::{MemoryKind, SyncScope};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::element_access::{self, ElementAccess};
use super::order_loss::push_equal;
use super::pair::{Pair, Side};
use super::{Dependences, Placement, time};
use crate::access::Update;

/// Two instructions in the order in which they run, and the loops that they are both in.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The instruction that runs first.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// The loops around both whose iteration is the same for both.
    pub same: &'a [Name],
    /// The loop in which the second runs in a later iteration.
    pub later: Option<&'a Name>,
}

impl<'k> Dependences<'_, 'k> {
    /// The shared memory that an instruction accesses.
    pub fn shared_storages(&self, instruction: usize) -> impl Iterator<Item = &Name> {
        self.touched[instruction]
            .iter()
            .filter(|key| self.touches[*key].iter().any(|touch| element_access::shared_memory(self.facts, &touch.root).is_some()))
    }

    /// Whether there are axes along which work items of that scope differ.
    pub fn has_axes(&self, scope: SyncScope) -> bool {
        self.axes.iter().any(|axis| differs(*axis, scope))
    }

    /// Which memory the storage is in.
    pub fn memory(&self, storage: &Name) -> MemoryKind {
        let root = self.touches.get(storage).and_then(|touches| touches.first()).map(|touch| &touch.root);
        root.and_then(|root| element_access::shared_memory(self.facts, root)).unwrap_or(MemoryKind::Global)
    }

    /// A variable of `storage` in which both instructions can access the same element from different work items, with at least one write.
    /// The scope selects the work items: those of a group, or those of different groups.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn meeting(&self, turn: Turn<'_>, storage: &Name, scope: SyncScope) -> Result<Option<Name>, IslError> {
        if (scope == SyncScope::Global && self.memory(storage) == MemoryKind::Local) || self.is_excused(turn, storage, scope) {
            return Ok(None);
        }
        for first in self.touches_of(turn.first, storage) {
            for second in self.touches_of(turn.second, storage) {
                let is_relevant = (first.access.write || second.access.write)
                    && !first.access.is_beside(&second.access)
                    && !Update::commute(&first.access, &second.access);
                if is_relevant && self.can_meet(first, second, turn, scope)? {
                    return Ok(Some(second.access.name.clone()));
                }
            }
        }
        Ok(None)
    }

    /// A variable of the storage in which two instructions can access the same element at all, with at least one write.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn overlapping(&self, first: usize, second: usize, storage: &Name) -> Result<Option<Name>, IslError> {
        for one in self.touches_of(first, storage) {
            for other in self.touches_of(second, storage) {
                let is_relevant = (one.access.write || other.access.write)
                    && !one.access.is_beside(&other.access)
                    && !Update::commute(&one.access, &other.access);
                let are_fields = one.access.name != other.access.name && one.access.name.contains('.') && other.access.name.contains('.');
                if !is_relevant || are_fields {
                    continue;
                }
                let pair = Pair::new(self, one, other);
                if !pair.is_apart()? && !pair.touching()?.is_empty()? {
                    return Ok(Some(other.access.name.clone()));
                }
            }
        }
        Ok(None)
    }

    /// The accesses of an instruction to a storage, and to the fields of an object.
    fn touches_of(&self, instruction: usize, storage: &Name) -> impl Iterator<Item = &ElementAccess<'k>> {
        let fields = format!("{storage}.");
        let keys = self.touched[instruction].iter().filter(move |key| *key == storage || key.starts_with(&fields));
        keys.flat_map(|key| &self.touches[key]).filter(move |touch| touch.at == instruction)
    }

    /// `nosync` says that no barrier is needed.
    fn is_excused(&self, turn: Turn<'_>, storage: &Name, scope: SyncScope) -> bool {
        let instructions = &self.facts.kernel.instructions;
        let says = |one: usize, other: usize| {
            instructions[one].nosync.iter().any(|(id, excused)| {
                let by_memory = self.memory(storage) == MemoryKind::Global && *excused == SyncScope::Global;
                *id == instructions[other].id && (*excused == SyncScope::Any || *excused == scope || by_memory)
            })
        };
        says(turn.first, turn.second) || says(turn.second, turn.first)
    }

    fn can_meet(&self, first: &ElementAccess<'k>, second: &ElementAccess<'k>, turn: Turn<'_>, scope: SyncScope) -> Result<bool, IslError> {
        // Within one iteration no barrier can separate the instances of one instruction; `check_order` handles those.
        if turn.first == turn.second && turn.later.is_none() {
            return Ok(false);
        }
        let mut pair = Pair::new(self, first, second);
        pair.same.extend(turn.same.iter().cloned());
        if scope == SyncScope::Local {
            pair.same.extend(self.same_groups(turn));
        }
        if pair.is_apart()? {
            return Ok(false);
        }
        let mut known = Vec::new();
        if let Some(later) = turn.later {
            let by = super::order_loss::difference(&pair, later)?.sub(&Affine::constant(1))?;
            match by.as_constant() {
                Some(by) if by < 0 => return Ok(false),
                Some(_) => {}
                None => known.push(Constraint::not_negative(by)),
            }
        }
        let mut apart = Vec::new();
        for axis in &self.axes {
            let by = self.item_or_any(&pair, Side::Second, *axis)?.sub(&self.item_or_any(&pair, Side::First, *axis)?)?;
            if differs(*axis, scope) {
                for sign in [1, -1] {
                    let one = by.scale(sign)?.sub(&Affine::constant(1))?;
                    if one.as_constant().is_none_or(|by| by >= 0) {
                        apart.push(Constraint::not_negative(one));
                    }
                }
            } else if scope == SyncScope::Local {
                push_equal(&mut known, by);
            }
        }
        if apart.is_empty() {
            return Ok(false);
        }
        let touching = pair.touching()?.constrain(&known)?;
        if turn.first == turn.second && !pair.is_exact() && self.is_promised(&pair, &touching, &apart)? {
            return Ok(false);
        }
        for other in self.others(&pair)? {
            let touching = touching.constrain(&other)?;
            for apart in &apart {
                if !touching.constrain(std::slice::from_ref(apart))?.is_empty()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether iterations of a loop do not determine the order of data-dependent accesses: as created, instances of later iterations also
    /// ran before those of earlier ones, so no barrier can restore their order, and the user must ensure that they do not conflict.
    fn is_promised(&self, pair: &Pair<'_, '_, '_>, touching: &Set, apart: &[Constraint]) -> Result<bool, IslError> {
        let [time] = &self.facts.kernel.instructions[pair.first.at].origin.times[..] else { return Ok(true) };
        for earlier in time::compare(pair, (Side::Second, &time.steps), (Side::First, &time.steps))?.earlier {
            let backwards = touching.constrain(&earlier)?;
            for apart in apart {
                if !backwards.constrain(std::slice::from_ref(apart))?.is_empty()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// When the two are different instances: always for two instructions; instances of one ran at different times.
    fn others(&self, pair: &Pair<'_, '_, '_>) -> Result<Vec<Vec<Constraint>>, IslError> {
        let instruction = &self.facts.kernel.instructions[pair.first.at];
        let [time] = &instruction.origin.times[..] else { return Ok(vec![Vec::new()]) };
        let repeats = |iname: &Name| !time.names().contains(iname);
        if pair.first.at != pair.second.at || !time.given.is_empty() || instruction.within_inames.iter().any(repeats) {
            return Ok(vec![Vec::new()]);
        }
        let mut others = time::compare(pair, (Side::First, &time.steps), (Side::Second, &time.steps))?.earlier;
        others.extend(time::compare(pair, (Side::Second, &time.steps), (Side::First, &time.steps))?.earlier);
        Ok(others)
    }

    /// The inames along group axes in which both instructions run: work items of one group have the same values.
    fn same_groups(&self, turn: Turn<'_>) -> BTreeSet<Name> {
        let groups = self.axes.iter().filter(|axis| matches!(axis, Placement::Group(_)));
        groups
            .filter_map(|axis| self.along(turn.first, *axis).filter(|iname| self.along(turn.second, *axis) == Some(iname)).cloned())
            .collect()
    }

    /// The number of the work item, or group, of one side along an axis; any, if the instruction does not run along it.
    fn item_or_any(&self, pair: &Pair<'_, '_, '_>, side: Side, axis: Placement) -> Result<Affine, IslError> {
        let any = || Affine::name(format!("{axis:?}@{side:?}"));
        Ok(pair.item(side, axis)?.unwrap_or_else(any))
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
