//! Whether a schedule keeps the order of every two instances that depend on each other.

use std::collections::BTreeSet;

use parloop_ir::syntax::{AddressSpace, Expr, Time, TimeStep};
use parloop_isl::{Constraint, IslError, Name, Set};

use super::element_access::{self, ElementAccess};
use super::local::Reach;
use super::order_loss::{OrderLoss, agree, differ, difference, push_equal, push_if_possible};
use super::pair::{Pair, Side, same_turn};
use super::path::{Path, Paths};
use super::violation::{Cause, Doubt, Violation};
use super::{Dependences, Placement, time};
use crate::access::Update;

/// The result of checking a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// An order that is provably lost.
    pub violation: Option<Violation>,
    /// Orders that may be lost, depending on the data.
    pub doubts: BTreeSet<Doubt>,
}

impl<'k> Dependences<'_, 'k> {
    /// Compares the schedule with the kernel as created. Instructions that satisfy the predicate race with themselves on purpose.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn check_order(&self, paths: &Paths, may_race: &dyn Fn(&Name) -> bool) -> Result<Outcome, IslError> {
        let mut outcome = Outcome::default();
        // Memory may be shared even where the order is unchanged.
        for touches in self.touches.values() {
            outcome.violation = self.clash(touches, paths)?;
            if outcome.violation.is_some() {
                return Ok(outcome);
            }
        }
        if self.is_as_created(paths) {
            return Ok(outcome);
        }
        for (key, own) in &self.touches {
            let mut related: Vec<&ElementAccess<'k>> = own.iter().collect();
            if let Some(whole) = key.split_once('.').and_then(|(object, _)| self.touches.get(object)) {
                related.extend(whole);
            }
            let mut reach: Option<Reach> = None;
            for (place, one) in own.iter().enumerate() {
                for other in &related[place..] {
                    let is_relevant = (one.access.write || other.access.write)
                        && !one.access.is_beside(&other.access)
                        && !Update::commute(&one.access, &other.access);
                    if !is_relevant || (one.at == other.at && may_race(&self.facts.kernel.instructions[one.at].id)) {
                        continue;
                    }
                    let directions: &[(&ElementAccess<'k>, &ElementAccess<'k>)] =
                        if std::ptr::eq(one, *other) { &[(one, one)] } else { &[(one, other), (other, one)] };
                    for (first, second) in directions {
                        self.check_pair(first, second, own, paths, &mut reach, &mut outcome)?;
                        if outcome.violation.is_some() {
                            return Ok(outcome);
                        }
                    }
                }
            }
        }
        Ok(outcome)
    }

    fn check_pair(
        &self,
        first: &ElementAccess<'k>,
        second: &ElementAccess<'k>,
        all: &[ElementAccess<'k>],
        paths: &Paths,
        reach: &mut Option<Reach>,
        outcome: &mut Outcome,
    ) -> Result<(), IslError> {
        let instructions = &self.facts.kernel.instructions;
        let origin = |touch: &ElementAccess<'k>| &instructions[touch.at].origin;
        let (early, late) = (origin(first).times_for(&first.root), origin(second).times_for(&first.root));
        let turns = origin(first).copied_between(origin(second), &first.root);
        if let Some(turns) = turns {
            outcome.violation = self.check_copy(first, second, turns, paths)?;
            if outcome.violation.is_some() {
                return Ok(());
            }
        }
        // Cases that checked mode cannot decide at run time are errors here: copies of work items, and instances that stand for others.
        let is_shared = element_access::space(self.facts, &first.root) != AddressSpace::Private;
        // It treats all atomic updates as commuting.
        let is_decidable = is_shared
            && !(first.access.atomic && second.access.atomic)
            && [&early, &late].iter().all(|times| matches!(&times[..], [time] if time.is_own()));
        for (early, late) in early.iter().flat_map(|early| late.iter().map(move |late| (early, late))) {
            let mut pair = Pair::new(self, first, second);
            pair.times = Some((early, late));
            pair.turns = turns;
            if first.access.write && !second.access.write {
                pair.same.extend(self.repeated(first.at, second.at, early));
            }
            // Values of a temporary that no other iteration sees: only accesses of one iteration are ordered. Checked first, since most
            // temporaries are of this kind and then need few solver queries.
            let is_temporary = self.facts.kernel.temporaries.contains_key(&first.root);
            let known = match reach {
                Some(known) => *known,
                None if is_temporary => *reach.insert(self.reach(all, paths)?),
                None => Reach::Everything,
            };
            let depth = match known {
                Reach::Turn(depth) => depth,
                Reach::Everything => 0,
                Reach::Undefined => continue,
            };
            pair.same.extend(same_turn(self, &early.steps, &late.steps, depth));
            let Some((set, cause, is_exact)) = self.broken(&pair, early, late, paths, depth, &|_| true)? else { continue };
            if is_exact && pair.is_exact() {
                outcome.violation = Some(Violation::of(&pair, &set, cause)?);
                return Ok(());
            }
            if !is_decidable {
                outcome.violation = Some(Violation::of(&pair, &set, cause)?);
                return Ok(());
            }
            if is_exact && let (Some(one), Some(other)) = (first.where_nothing_wraps(), second.where_nothing_wraps()) {
                let exact = Pair { first: &one, second: &other, same: pair.same.clone(), ..pair };
                if let Some((set, cause, true)) = self.broken(&exact, early, late, paths, depth, &|_| true)? {
                    outcome.violation = Some(Violation::of(&exact, &set, cause)?);
                    return Ok(());
                }
            }
            if is_exact && let Some((set, cause)) = self.surely_broken(&mut pair, (early, late), paths, depth)? {
                outcome.violation = Some(Violation::of(&pair, &set, cause)?);
                return Ok(());
            }
            // Lanes run as one instruction, in checked mode too, and it sees each copy of a variable alone.
            let is_unseen = |cause: &Cause| match cause {
                Cause::Unordered(iname) => self.facts.placement(iname) == Placement::Innermost,
                Cause::Copies(_) => true,
                _ => false,
            };
            if let Some((set, cause, _)) = self.broken(&pair, early, late, paths, depth, &is_unseen)? {
                outcome.violation = Some(Violation::of(&pair, &set, cause)?);
                return Ok(());
            }
            let iname = match cause {
                Cause::Unordered(iname) | Cause::Backwards(iname) | Cause::Copies(iname) => Some(iname),
                Cause::Placed | Cause::Shared(_) => None,
            };
            let id = |touch: &ElementAccess<'_>| instructions[touch.at].id.clone();
            outcome.doubts.insert(Doubt { variable: first.access.name.clone(), first: id(first), second: id(second), iname, turn: depth });
        }
        Ok(())
    }

    /// Whether a copy is filled before it is stored in each iteration of the loops around it.
    fn check_copy(
        &self,
        first: &ElementAccess<'k>,
        second: &ElementAccess<'k>,
        (early, late): (&[TimeStep], &[TimeStep]),
        paths: &Paths,
    ) -> Result<Option<Violation>, IslError> {
        let depth = early.len().saturating_sub(1);
        let (early, late) = (Time::of(early.to_vec()), Time::of(late.to_vec()));
        let mut pair = Pair::new(self, first, second);
        pair.times = Some((&early, &late));
        pair.same.extend(same_turn(self, &early.steps, &late.steps, depth));
        let broken = self.broken(&pair, &early, &late, paths, depth, &|_| true)?;
        broken.map(|(set, cause, _)| Violation::of(&pair, &set, cause)).transpose()
    }

    /// Instances that lose their order for any data: those whose indices are the same expression of the same inames.
    fn surely_broken(
        &self,
        pair: &mut Pair<'_, '_, '_>,
        (early, late): (&Time, &Time),
        paths: &Paths,
        depth: usize,
    ) -> Result<Option<(Set, Cause)>, IslError> {
        let Some(inames) = self.same_place(pair) else { return Ok(None) };
        pair.same.extend(inames);
        Ok(self.broken(pair, early, late, paths, depth, &|_| true)?.map(|(set, cause, _)| (set, cause)))
    }

    /// The inames whose equal values ensure that both accesses touch the same element, even if the data decides which.
    fn same_place(&self, pair: &Pair<'_, '_, '_>) -> Option<BTreeSet<Name>> {
        let (first, second) = (pair.first, pair.second);
        let (one, other) = (first.access.indices?, second.access.indices?);
        if first.by_place
            || first.access.name != second.access.name
            || !first.open.is_empty()
            || !second.open.is_empty()
            || one.len() != other.len()
        {
            return None;
        }
        let mut inames = BTreeSet::new();
        let known = |touch: &ElementAccess<'_>, axis: usize| touch.indices.as_ref().is_some_and(|indices| indices[axis].is_some());
        for axis in 0..one.len() {
            if known(first, axis) && known(second, axis) {
                continue;
            }
            let names = one[axis].variables();
            if one[axis] != other[axis] || names.iter().any(|name| self.facts.writers.contains_key(name)) {
                return None;
            }
            inames.extend(names.into_iter().filter(|name| self.facts.kernel.inames.contains_key(name)));
        }
        Some(inames)
    }

    /// The inames along which an instruction repeats itself and in which another one also runs: the other one needs the result for its own
    /// value.
    pub(super) fn repeated(&self, first: usize, second: usize, time: &Time) -> Vec<Name> {
        let within = |at: usize| &self.facts.kernel.instructions[at].within_inames;
        let (known, used) = (time.names(), self.facts.kernel.instructions[first].reads());
        let is_repeated = |iname: &&Name| !known.contains(*iname) && !used.contains(*iname);
        within(first).intersection(within(second)).filter(is_repeated).cloned().collect()
    }

    /// Instances of which the first ran before the second as created, whose leading steps agree, and which lose their order for one of the
    /// given causes; and whether the times are exact.
    fn broken(
        &self,
        pair: &Pair<'_, '_, '_>,
        early: &Time,
        late: &Time,
        paths: &Paths,
        depth: usize,
        is_asked: &dyn Fn(&Cause) -> bool,
    ) -> Result<Option<(Set, Cause, bool)>, IslError> {
        if pair.is_apart()? {
            return Ok(None);
        }
        let mut ways = self.ways(pair, paths)?;
        ways.retain(|(_, cause)| is_asked(cause));
        if ways.is_empty() {
            return Ok(None);
        }
        let time::Comparison { mut earlier, equal, is_exact } =
            time::compare(pair, (Side::First, &early.steps), (Side::Second, &late.steps))?;
        // An instance reads before it writes.
        if !pair.first.access.write && pair.second.access.write {
            earlier.extend(equal);
        }
        if earlier.is_empty() {
            return Ok(None);
        }
        let Some(agreeing) = agree(pair, &early.steps, &late.steps, depth)? else { return Ok(None) };
        let touching = pair.touching()?.constrain(&agreeing)?;
        if touching.is_empty()? {
            return Ok(None);
        }
        let among = match pair.turns {
            Some((one, other)) => differ(pair, one, other)?,
            None => vec![Vec::new()],
        };
        for (earlier, among) in earlier.iter().flat_map(|earlier| among.iter().map(move |among| (earlier, among))) {
            let ordered = touching.constrain(earlier)?.constrain(among)?;
            for (way, cause) in &ways {
                let lost = ordered.constrain(way)?;
                if !lost.is_empty()? {
                    return Ok(Some((lost, cause.clone(), is_exact)));
                }
            }
        }
        Ok(None)
    }

    /// The ways in which the first instance may not run before the second.
    fn ways(&self, pair: &Pair<'_, '_, '_>, paths: &Paths) -> Result<Vec<OrderLoss>, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let instruction = &instructions[pair.first.at];
        let (Some(first), Some(second)) = (paths.get(&instruction.id), paths.get(&instructions[pair.second.at].id)) else {
            return Ok(Vec::new());
        };
        let is_own = pair.first.at == pair.second.at;
        let commutes = [pair.first.at, pair.second.at].iter().all(|&at| instructions[at].origin.commutes.contains(&pair.first.root));
        let mut ways: Vec<OrderLoss> = Vec::new();
        let mut equal = self.same_copy(pair)?;
        for iname in first.shared(second) {
            let later = difference(pair, iname)?;
            let is_ordered = self.facts.placement(iname) == Placement::Loop;
            if is_ordered && !commutes {
                push_if_possible(&mut ways, &equal, &[later.scale(-1)?], || Cause::Backwards(iname.clone()))?;
            } else if !is_ordered {
                push_if_possible(&mut ways, &equal, &[later.clone(), later.scale(-1)?], || Cause::Unordered(iname.clone()))?;
            }
            push_equal(&mut equal, later);
        }
        if is_own {
            let parallel = instruction.within_inames.iter().filter(|iname| self.facts.placement(iname).is_parallel());
            for iname in parallel {
                let later = difference(pair, iname)?;
                push_if_possible(&mut ways, &equal, &[later.clone(), later.scale(-1)?], || Cause::Unordered(iname.clone()))?;
                push_equal(&mut equal, later);
            }
        } else if !first.is_before(second) {
            ways.push((equal, Cause::Placed));
        }
        if pair.first.access.write && !pair.second.access.write {
            self.add_copies(pair, &mut ways)?;
        }
        Ok(ways)
    }

    /// The axes along which work items have copies of a variable.
    pub(super) fn copy_axes(&self, variable: &Name) -> impl Iterator<Item = Placement> + '_ {
        let space = element_access::space(self.facts, variable);
        self.axes.iter().copied().filter(move |axis| match space {
            AddressSpace::Private => true,
            AddressSpace::Local => matches!(axis, Placement::Group(_)),
            AddressSpace::Global | AddressSpace::Constant => false,
        })
    }

    /// The constraints under which both instances access the same copy of the variable.
    pub(super) fn same_copy(&self, pair: &Pair<'_, '_, '_>) -> Result<Vec<Constraint>, IslError> {
        let mut same = Vec::new();
        for axis in self.copy_axes(&pair.first.root) {
            if let (Some(one), Some(other)) = (pair.item(Side::First, axis)?, pair.item(Side::Second, axis)?) {
                push_equal(&mut same, other.sub(&one)?);
            }
        }
        Ok(same)
    }

    /// A value in the copy of one work item that another one reads.
    fn add_copies(&self, pair: &Pair<'_, '_, '_>, ways: &mut Vec<OrderLoss>) -> Result<(), IslError> {
        for axis in self.copy_axes(&pair.first.root) {
            let Some(iname) = self.along(pair.first.at, axis) else { continue };
            let cause = || Cause::Copies(iname.clone());
            match (pair.item(Side::First, axis)?, pair.item(Side::Second, axis)?) {
                (Some(one), Some(other)) => {
                    let later = other.sub(&one)?;
                    push_if_possible(ways, &[], &[later.clone(), later.scale(-1)?], cause)?;
                }
                // Every work item reads its own copy, and only one of them has the value.
                (Some(_), None) if self.facts.constant_length(iname) != Some(1) => ways.push((Vec::new(), cause())),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the schedule obviously has the order of the kernel as created, without queries.
    fn is_as_created(&self, paths: &Paths) -> bool {
        let instructions = &self.facts.kernel.instructions;
        let mut before: Option<(&[TimeStep], &Path)> = None;
        for id in paths.order() {
            let (Some(&at), Some(path)) = (self.facts.position.get(id), paths.get(id)) else { return false };
            let instruction = &instructions[at];
            let [Time { steps, given }] = &instruction.origin.times[..] else { return false };
            let loops: Vec<&Name> = path.inames().collect();
            let is_plain = given.is_empty() && instruction.origin.of.is_empty() && loops.len() == instruction.within_inames.len();
            let created = steps.iter().filter_map(|step| match step {
                TimeStep::At(_) => None,
                TimeStep::Loop(value) => Some(value),
            });
            let is_same = created.clone().count() == loops.len()
                && created.zip(&loops).all(|(value, iname)| matches!(value, Expr::Variable(name) if name == *iname));
            let is_plain_loop = |iname: &&Name| self.facts.placement(iname) == Placement::Loop;
            if !is_plain || !is_same || !loops.iter().all(is_plain_loop) {
                return false;
            }
            if let Some((earlier, other)) = before
                && !is_next(earlier, other, steps, path)
            {
                return false;
            }
            before = Some((steps, path));
        }
        true
    }
}

/// Whether an instruction comes after another both as created and in the schedule, at the same depth.
fn is_next(earlier: &[TimeStep], before: &Path, later: &[TimeStep], path: &Path) -> bool {
    let depth = before.shared(path).count();
    let parted = earlier.iter().zip(later).position(|(one, other)| one != other);
    match parted.map(|place| (place, &earlier[place], &later[place])) {
        Some((place, TimeStep::At(one), TimeStep::At(other))) => {
            let loops = earlier[..place].iter().filter(|step| matches!(step, TimeStep::Loop(_))).count();
            one < other && loops == depth
        }
        _ => false,
    }
}
