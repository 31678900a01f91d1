//! Temporaries whose values do not outlive an iteration of the loops around them: other iterations cannot conflict with them.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, Time, TimeStep};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::element_access::ElementAccess;
use super::opaque::Opaque;
use super::order_loss::{agree, difference, push_if_possible};
use super::pair::{Pair, Side, same_turn};
use super::path::Paths;
use super::violation::{Cause, Instance, Violation};
use super::{Dependences, Placement, time};
use crate::access::component_names;

/// How long the values of a variable live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Within one iteration: that many leading steps of all times are equal.
    Turn(usize),
    /// As long as the kernel runs.
    Everything,
    /// As created, the kernel reads it before it is written: that order is meaningless, and only dependencies decide.
    Undefined,
}

/// Whether a write produces the value of a read, ignoring data-dependent conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    /// Not known.
    No,
    /// At the same values of all inames, for any bounds.
    Plain,
    /// According to the solver, where bounds are known.
    Solved,
}

impl<'k> Dependences<'_, 'k> {
    /// How long the values of a variable live; these are all its accesses.
    pub(super) fn reach(&self, touches: &[ElementAccess<'k>], paths: &Paths) -> Result<Reach, IslError> {
        Ok(match self.local_depth(touches, paths)? {
            Some(depth) => Reach::Turn(depth),
            None if self.has_undefined_read(touches)? => Reach::Undefined,
            None => Reach::Everything,
        })
    }

    /// Whether, as created, some read of a temporary comes before every write of the element.
    fn has_undefined_read(&self, touches: &[ElementAccess<'k>]) -> Result<bool, IslError> {
        let is_plain = |touch: &ElementAccess<'_>| {
            self.facts.kernel.temporaries.get(&touch.root).is_some_and(|temporary| temporary.initializer.is_none())
        };
        if !touches.iter().all(is_plain) {
            return Ok(false);
        }
        for read in touches.iter().filter(|touch| !touch.access.write && touch.is_exact) {
            let mut undefined = self.meant(read)?;
            for write in touches.iter().filter(|touch| touch.access.write) {
                undefined = undefined.subtract(&self.defined_by(write, read, undefined.dims())?)?;
            }
            if !undefined.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The points at which a read happened as created: a read that was moved ahead may cover more than its uses need.
    fn meant(&self, read: &ElementAccess<'k>) -> Result<Set, IslError> {
        let dims: Vec<Name> = read.inames(self.facts).into_iter().collect();
        let mut meant = Set::empty(&[], &dims);
        for time in &self.facts.kernel.instructions[read.at].origin.times_for(&read.root) {
            let mut pair = Pair::new(self, read, read);
            pair.same.clear();
            pair.times = Some((time, time));
            let names: Vec<Name> = dims.iter().map(|dim| pair.marked(Side::First, dim)).collect();
            let points = pair.domain(Side::First)?.project_onto(&names)?;
            let own = |name: &Name| names.iter().position(|marked| marked == name).map(|place| dims[place].clone());
            meant = meant.union(&points.rename(&own)?)?;
        }
        Ok(meant)
    }

    /// The points of a read at which a write may have come first.
    fn defined_by(&self, write: &ElementAccess<'k>, read: &ElementAccess<'k>, dims: &[Name]) -> Result<Set, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let times = |touch: &ElementAccess<'k>| instructions[touch.at].origin.times_for(&write.root);
        let (early, late) = (times(write), times(read));
        let everywhere = || Set::universe(&[], dims);
        let mut defined = Set::empty(&[], dims);
        for (early, late) in early.iter().flat_map(|early| late.iter().map(move |late| (early, late))) {
            let mut pair = Pair::new(self, write, read);
            pair.same.clear();
            pair.times = Some((early, late));
            let comparison = time::compare(&pair, (Side::First, &early.steps), (Side::Second, &late.steps))?;
            let touching = pair.touching()?;
            // A value that is not an expression of inames and parameters may always be the needed one.
            let is_opaque = |constraint: &Constraint| constraint.affine.names().iter().any(|name| Opaque::is_name(name));
            let is_unknown = |param: &Name| Opaque::is_name(param) || Pair::is_marked(param);
            if !comparison.is_exact || comparison.earlier.iter().flatten().any(is_opaque) || touching.params().iter().any(is_unknown) {
                return Ok(everywhere());
            }
            let names: Vec<Name> = dims.iter().map(|dim| pair.marked(Side::Second, dim)).collect();
            for earlier in comparison.earlier {
                let points = touching.constrain(&earlier)?.project_onto(&names)?;
                let own = |name: &Name| names.iter().position(|marked| marked == name).map(|place| dims[place].clone());
                defined = defined.union(&points.rename(&own)?)?;
            }
        }
        if early.is_empty() || late.is_empty() { Ok(everywhere()) } else { Ok(defined) }
    }

    /// A variable whose values are overwritten by another one in the same memory, unless each iteration of the loops around both uses one
    /// after the other and sets it first.
    pub(super) fn clash(&self, touches: &[ElementAccess<'k>], paths: &Paths) -> Result<Option<Violation>, IslError> {
        let mut by_name: BTreeMap<&Name, Vec<&ElementAccess<'k>>> = BTreeMap::new();
        touches
            .iter()
            .filter(|touch| !touch.access.name.contains('.'))
            .for_each(|touch| by_name.entry(&touch.access.name).or_default().push(touch));
        let all: Vec<(&Name, Vec<&ElementAccess<'k>>)> = by_name.into_iter().collect();
        for (place, (_, one)) in all.iter().enumerate() {
            for (_, other) in &all[place + 1..] {
                let both: Vec<&ElementAccess<'k>> = one.iter().chain(other).copied().collect();
                let Some(turns) = self.turns(&both, paths) else { continue };
                let is_first = self.come_first(one, other, turns.len(), paths) || self.come_first(other, one, turns.len(), paths);
                if is_first && self.are_set_in_each_turn(one, &turns)? && self.are_set_in_each_turn(other, &turns)? {
                    continue;
                }
                let seen = |reads: &[&'_ ElementAccess<'k>], writes: &[&'_ ElementAccess<'k>]| -> Option<(usize, usize)> {
                    Some((reads.iter().position(|touch| !touch.access.write)?, writes.iter().position(|touch| touch.access.write)?))
                };
                let clash = seen(one, other).map(|(read, write)| (one[read], other[write]));
                let clash = clash.or_else(|| seen(other, one).map(|(read, write)| (other[read], one[write])));
                let Some((read, write)) = clash else { continue };
                let instance = |touch: &ElementAccess<'_>| Instance {
                    instruction: self.facts.kernel.instructions[touch.at].id.clone(),
                    inames: Vec::new(),
                    writes: touch.access.write,
                };
                return Ok(Some(Violation {
                    variable: read.access.name.clone(),
                    element: None,
                    first: instance(read),
                    second: instance(write),
                    cause: Cause::Shared(write.access.name.clone()),
                }));
            }
        }
        Ok(None)
    }

    /// The loops around all of the accesses.
    fn turns(&self, touches: &[&ElementAccess<'k>], paths: &Paths) -> Option<Vec<Name>> {
        let path = |touch: &ElementAccess<'k>| paths.get(&self.facts.kernel.instructions[touch.at].id);
        let first = path(touches.first()?)?;
        let mut turns: Vec<Name> = first.inames().cloned().collect();
        for touch in touches {
            turns.truncate(first.shared(path(touch)?).count());
        }
        Some(turns)
    }

    /// Whether all accesses of one come before all accesses of the other in the innermost body around both.
    fn come_first(&self, one: &[&ElementAccess<'k>], others: &[&ElementAccess<'k>], depth: usize, paths: &Paths) -> bool {
        let place = |touch: &&ElementAccess<'k>| {
            paths.get(&self.facts.kernel.instructions[touch.at].id).and_then(|path| path.stops.get(depth)).map(|stop| stop.0)
        };
        one.iter().filter_map(place).max() < others.iter().filter_map(place).min()
    }

    /// Whether each read sees a write of the same iteration.
    fn are_set_in_each_turn(&self, touches: &[&ElementAccess<'k>], turns: &[Name]) -> Result<bool, IslError> {
        let steps: Vec<TimeStep> = turns.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone()))).collect();
        for read in touches.iter().filter(|touch| !touch.access.write) {
            let mut is_set = false;
            let may_set =
                |write: &ElementAccess<'k>| write.access.write && write.is_exact && write.at != read.at && write.access.sets(&read.access);
            for write in touches.iter().filter(|touch| may_set(touch)) {
                is_set = is_set || self.covers(write, read, &steps)? != Cover::No;
            }
            if !is_set {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of leading steps for which, as created, each read of a temporary sees a write with equal steps, and the schedule keeps
    /// accesses with different steps apart. `None` if there is no such number.
    fn local_depth(&self, touches: &[ElementAccess<'k>], paths: &Paths) -> Result<Option<usize>, IslError> {
        let Some(first) = touches.first() else { return Ok(None) };
        let is_one = touches.iter().all(|touch| touch.access.name == first.access.name);
        let is_plain = self.facts.kernel.temporaries.get(&first.root).is_some_and(|temporary| temporary.initializer.is_none());
        if !is_one || !is_plain {
            return Ok(None);
        }
        let mut times = Vec::with_capacity(touches.len());
        for touch in touches {
            let Some(steps) = self.time_for(touch.at, &touch.root) else { return Ok(None) };
            times.push(steps);
        }
        let depth = times.iter().map(|steps| time::shared(&times[0], steps)).min().unwrap_or(0);
        let both: Vec<(&ElementAccess<'k>, &[TimeStep])> = touches.iter().zip(times.iter().map(Vec::as_slice)).collect();
        for &(read, steps) in both.iter().filter(|(touch, _)| !touch.access.write) {
            if !self.is_covered(read, steps, &both, (depth, &BTreeSet::new()))? {
                return Ok(None);
            }
        }
        Ok(self.is_kept_apart(&both, depth, paths)?.then_some(depth))
    }

    /// Whether the value of each read was written before, with equal leading steps and inames.
    pub(super) fn is_covered(
        &self,
        read: &ElementAccess<'k>,
        at: &[TimeStep],
        all: &[(&ElementAccess<'k>, &[TimeStep])],
        (depth, inames): (usize, &BTreeSet<Name>),
    ) -> Result<bool, IslError> {
        let is_timed = |iname: &Name| {
            let names =
                |steps: &[TimeStep]| steps.iter().any(|step| matches!(step, TimeStep::Loop(value) if value.variables().contains(iname)));
            all.iter().any(|(touch, steps)| touch.access.write && names(steps))
        };
        let mut halves: Vec<(&Expr, bool)> = Vec::new();
        // Components that are set one by one.
        let mut unset = self.components(read);
        for &(write, steps) in all.iter().filter(|(touch, _)| touch.access.write && touch.at != read.at) {
            let shared = time::shared(steps, at);
            if shared < depth || !is_before(steps, at, shared) {
                continue;
            }
            let turn = same_turn(self, at, at, shared);
            // Another value of the iname must not write in between.
            if inames.iter().any(|iname| !turn.contains(iname) && is_timed(iname)) {
                continue;
            }
            let further = inames.iter().filter(|iname| !turn.contains(*iname)).map(|iname| TimeStep::Loop(Expr::Variable(iname.clone())));
            let same: Vec<TimeStep> = at[..shared].iter().cloned().chain(further).collect();
            let cover = self.covers(write, read, &same)?;
            if cover == Cover::No {
                continue;
            }
            // Bounds that the kernel computes are the same for both if the loop is around both.
            let is_around = |iname: &Name| at[..shared].contains(&TimeStep::Loop(Expr::Variable(iname.clone())));
            if cover == Cover::Solved && !write.computed.iter().all(is_around) {
                continue;
            }
            let is_known = |name: &Name| cover == Cover::Plain || turn.contains(name) || !self.facts.kernel.inames.contains_key(name);
            let is_fixed = |condition: &Expr| self.stays(condition, (write.at, read.at), &is_known);
            // Conditions that the read has too hold where it happens.
            let open: Vec<(&Expr, bool)> = write
                .open
                .iter()
                .filter(|&&(condition, value)| !read.open.contains(&(condition, value)) || !is_fixed(condition))
                .copied()
                .collect();
            if !write.access.sets(&read.access) {
                unset.retain(|component| !open.is_empty() || write.access.component.as_ref() != Some(component));
                if unset.is_empty() && read.access.component.is_none() {
                    return Ok(true);
                }
                continue;
            }
            match open[..] {
                [] => return Ok(true),
                // A write under a condition and one under its negation form an unconditional write.
                [(condition, value)] if is_fixed(condition) => {
                    if halves.contains(&(condition, !value)) {
                        return Ok(true);
                    }
                    halves.push((condition, value));
                }
                _ => {}
            }
        }
        Ok(false)
    }

    /// The components of what is read, as accesses name them; one that no write sets where they are not known.
    fn components(&self, read: &ElementAccess<'k>) -> Vec<Name> {
        let kernel = self.facts.kernel;
        let argument = || self.facts.arguments.get(&read.root).and_then(|argument| argument.ty.as_ref());
        let ty = kernel.temporaries.get(&read.root).map_or_else(argument, |temporary| temporary.ty.as_ref());
        let names = ty.map(component_names).unwrap_or_default();
        if names.is_empty() { vec!["".into()] } else { names }
    }

    /// Whether a condition has the same value for two instructions of an iteration: its inames are known to be equal, and its other
    /// variables are set before both.
    fn stays(&self, condition: &Expr, (first, second): (usize, usize), is_known: &dyn Fn(&Name) -> bool) -> bool {
        let time = |at: usize, name: &Name| self.time_for(at, name);
        let is_set_before = |name: &Name, writer: usize| {
            let (Some(set), Some(one), Some(other)) = (time(writer, name), time(first, name), time(second, name)) else { return false };
            let shared = time::shared(&set, &one);
            let values = one[..shared].iter().filter_map(|step| match step {
                TimeStep::At(_) => None,
                TimeStep::Loop(value) => Some(value),
            });
            is_before(&set, &one, shared)
                && is_before(&set, &other, shared)
                && shared <= time::shared(&one, &other)
                && values.flat_map(Expr::variables).all(|name| is_known(&name))
        };
        condition.variables().iter().all(|name| {
            let shares_memory = self.facts.kernel.temporaries.get(name).is_some_and(|temporary| temporary.base_storage.is_some());
            let writers = self.facts.writers.get(name).map_or(&[][..], Vec::as_slice);
            is_known(name) && !shares_memory && writers.iter().all(|&writer| is_set_before(name, writer))
        })
    }

    /// When an instruction used a variable, if at a single time of its own.
    pub(super) fn time_for(&self, at: usize, variable: &Name) -> Option<Vec<TimeStep>> {
        match <[Time; 1]>::try_from(self.facts.kernel.instructions[at].origin.times_for(variable)) {
            Ok([time]) if time.given.is_empty() => Some(time.steps),
            _ => None,
        }
    }

    /// Whether each element that is read is written at equal values of some steps, ignoring data-dependent conditions.
    fn covers(&self, write: &ElementAccess<'k>, read: &ElementAccess<'k>, steps: &[TimeStep]) -> Result<Cover, IslError> {
        let (Some(to), Some((from, anywhere))) = (write.known_indices(), self.elements(read)?) else { return Ok(Cover::No) };
        let (outer, inner) = (write.inames(self.facts), read.inames(self.facts));
        let is_implied = write.constraints.iter().all(|constraint| read.constraints.contains(constraint));
        if anywhere.dims().is_empty() && to.iter().copied().eq(&from) && outer.is_subset(&inner) && is_implied {
            return Ok(Cover::Plain);
        }
        let mut functions: Vec<Option<Affine>> = Vec::new();
        for step in steps {
            if let TimeStep::Loop(value) = step {
                functions.push(self.opaque.affine(value).filter(|value| !value.names().iter().any(|name| Opaque::is_name(name))));
            }
        }
        let image =
            |touch: &ElementAccess<'k>, inames: &BTreeSet<Name>, indices: &[&Affine], among: &Set| -> Result<Option<Set>, IslError> {
                let domain = self.facts.domain(inames)?.join(&self.facts.kernel.assumptions)?.constrain(&touch.constraints)?.join(among)?;
                let values = functions.iter().cloned().chain(indices.iter().map(|&index| Some(index.clone())));
                let named: Option<Vec<(Name, Affine)>> =
                    values.enumerate().map(|(place, value)| Some((format!("value@{place}").into(), value?))).collect();
                named.map(|named| domain.image(&named)).transpose()
            };
        let from: Vec<&Affine> = from.iter().collect();
        match (image(read, &inner, &from, &anywhere)?, image(write, &outer, &to, &Set::universe(&[], &[]))?) {
            (Some(read), Some(written)) if read.is_subset(&written)? => Ok(Cover::Solved),
            _ => Ok(Cover::No),
        }
    }

    /// The indices of the elements that an access may touch: a data-dependent index may be anywhere in its axis. `None` if the length of
    /// the axis is unknown.
    fn elements(&self, touch: &ElementAccess<'k>) -> Result<Option<(Vec<Affine>, Set)>, IslError> {
        if let Some(known) = touch.known_indices() {
            return Ok(Some((known.into_iter().cloned().collect(), Set::universe(&[], &[]))));
        }
        let temporary = self.facts.kernel.temporaries.get(&touch.access.name);
        let Some(lengths) = temporary.and_then(|temporary| temporary.layout.lengths()).filter(|_| !touch.by_place) else { return Ok(None) };
        let mut indices = Vec::with_capacity(lengths.len());
        let (mut dims, mut bounds) = (Vec::new(), Vec::new());
        for (axis, length) in lengths.iter().enumerate() {
            let known = touch.indices.as_ref().and_then(|indices| indices.get(axis)?.clone());
            if let Some(known) = known {
                indices.push(known);
                continue;
            }
            let Some(length) = to_affine(length) else { return Ok(None) };
            let name = Name::from(format!("any@{axis}"));
            let index = Affine::name(name.clone());
            bounds.push(Constraint::not_negative(index.clone()));
            bounds.push(Constraint::not_negative(length.sub(&index)?.sub(&Affine::constant(1))?));
            indices.push(index);
            dims.push(name);
        }
        Ok(Some((indices, Set::bounded(&dims, bounds))))
    }

    /// Whether accesses with different leading steps are in different iterations of the schedule's loops or use separate copies, and reads
    /// are in the same iteration as the writes they see.
    fn is_kept_apart(&self, all: &[(&ElementAccess<'k>, &[TimeStep])], depth: usize, paths: &Paths) -> Result<bool, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let mut turns: Option<Vec<Name>> = None;
        for (touch, _) in all {
            let Some(path) = paths.get(&instructions[touch.at].id) else { return Ok(false) };
            let Some(first) = paths.get(&instructions[all[0].0.at].id) else { return Ok(false) };
            let shared: BTreeSet<&Name> = first.shared(path).collect();
            let is_turn = |iname: &Name| shared.contains(iname) && self.facts.placement(iname) == Placement::Loop;
            turns = Some(match turns {
                None => first.inames().filter(|iname| is_turn(iname)).cloned().collect(),
                Some(known) => known.into_iter().filter(|iname| is_turn(iname)).collect(),
            });
        }
        let turns = turns.unwrap_or_default();
        for (place, &(one, early)) in all.iter().enumerate() {
            for &(other, late) in &all[place..] {
                if !(one.access.write || other.access.write) {
                    continue;
                }
                if !self.is_separated(one, other, (early, late), depth, &turns)? {
                    return Ok(false);
                }
                for (write, read, from, to) in [(one, other, early, late), (other, one, late, early)] {
                    if write.access.write && !read.access.write && !self.is_together(write, read, (from, to), depth, &turns)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether accesses with different leading steps never touch the same element of the same copy in one iteration.
    fn is_separated(
        &self,
        one: &ElementAccess<'k>,
        other: &ElementAccess<'k>,
        (early, late): (&[TimeStep], &[TimeStep]),
        depth: usize,
        turns: &[Name],
    ) -> Result<bool, IslError> {
        // The simple case needs no solver: a step whose inames are all loops around the access has one value per iteration.
        let is_turn =
            |name: &Name| turns.contains(name) || !self.facts.kernel.inames.contains_key(name) || self.is_copy_iname(one, other, name);
        let names = early.iter().take(depth).filter_map(|step| match step {
            TimeStep::Loop(value) => Some(value.variables()),
            TimeStep::At(_) => None,
        });
        if early[..depth] == late[..depth] && names.flatten().all(|name| is_turn(&name)) {
            return Ok(true);
        }
        let pair = Pair::new(self, one, other);
        if pair.is_apart()? {
            return Ok(true);
        }
        let mut same = self.same_copy(&pair)?;
        for iname in turns {
            super::order_loss::push_equal(&mut same, difference(&pair, iname)?);
        }
        let mut ways = Vec::new();
        let mut equal: Vec<Constraint> = Vec::new();
        for (a, b) in early.iter().zip(late).take(depth) {
            let (TimeStep::Loop(a), TimeStep::Loop(b)) = (a, b) else { continue };
            let (Some(a), Some(b)) = (self.opaque.affine(a), self.opaque.affine(b)) else { return Ok(false) };
            let later = pair.difference(&a, &b)?;
            push_if_possible(&mut ways, &equal, &[later.clone(), later.scale(-1)?], || Cause::Placed)?;
            super::order_loss::push_equal(&mut equal, later);
        }
        is_never(&pair, &same, ways)
    }

    fn is_copy_iname(&self, one: &ElementAccess<'k>, other: &ElementAccess<'k>, name: &Name) -> bool {
        self.copy_axes(&one.root).any(|axis| self.along(one.at, axis) == Some(name) && self.along(other.at, axis) == Some(name))
    }

    /// Whether a read sees writes with equal leading steps only in its own iteration and copy.
    fn is_together(
        &self,
        write: &ElementAccess<'k>,
        read: &ElementAccess<'k>,
        (early, late): (&[TimeStep], &[TimeStep]),
        depth: usize,
        turns: &[Name],
    ) -> Result<bool, IslError> {
        let pair = Pair::new(self, write, read);
        if pair.is_apart()? {
            return Ok(true);
        }
        let Some(agreeing) = agree(&pair, early, late, depth)? else { return Ok(true) };
        let mut ways = Vec::new();
        let mut same = same_turn(self, early, late, depth);
        // An instruction that always repeats for each value of an iname also runs for the read's own value.
        if write.constraints.is_empty() && write.open.is_empty() {
            same.extend(self.repeated(write.at, read.at, &Time::of(early.to_vec())));
        }
        for iname in turns.iter().filter(|iname| !same.contains(*iname)) {
            let later = difference(&pair, iname)?;
            push_if_possible(&mut ways, &[], &[later.clone(), later.scale(-1)?], || Cause::Placed)?;
        }
        for axis in self.copy_axes(&write.root) {
            if let (Some(one), Some(other)) = (self.along(write.at, axis), self.along(read.at, axis))
                && one == other
                && same.contains(one)
            {
                continue;
            }
            match (pair.item(Side::First, axis)?, pair.item(Side::Second, axis)?) {
                (Some(one), Some(other)) => {
                    let later = other.sub(&one)?;
                    push_if_possible(&mut ways, &[], &[later.clone(), later.scale(-1)?], || Cause::Placed)?;
                }
                (Some(_), None) => ways.push((Vec::new(), Cause::Placed)),
                _ => {}
            }
        }
        if ways.is_empty() {
            return Ok(true);
        }
        let earlier = time::compare(&pair, (Side::First, early), (Side::Second, late))?.earlier;
        for earlier in earlier {
            let known: Vec<Constraint> = agreeing.iter().chain(&earlier).cloned().collect();
            if !is_never(&pair, &known, ways.clone())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether the first of two times that share some steps has the earlier position in the body after them.
fn is_before(first: &[TimeStep], second: &[TimeStep], shared: usize) -> bool {
    let place = |steps: &[TimeStep]| match steps.get(shared) {
        None => Some(0),
        Some(TimeStep::At(place)) => Some(*place),
        Some(TimeStep::Loop(_)) => None,
    };
    matches!((place(first), place(second)), (Some(one), Some(other)) if one < other)
}

fn is_never(pair: &Pair<'_, '_, '_>, known: &[Constraint], ways: Vec<super::order_loss::OrderLoss>) -> Result<bool, IslError> {
    if ways.is_empty() {
        return Ok(true);
    }
    let touching = pair.touching()?.constrain(known)?;
    for (way, _) in ways {
        if !touching.constrain(&way)?.is_empty()? {
            return Ok(false);
        }
    }
    Ok(true)
}
