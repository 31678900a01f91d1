//! Queries for transformations: may loops be fused, may lanes share a loop, may a value be computed later.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, Time, TimeStep, primed, without_primes};
use parloop_isl::{Affine, Constraint, IslError, Name};

use super::element_access::ElementAccess;
use super::order_loss::{difference, push_if_possible};
use super::pair::{Pair, Side};
use super::violation::Cause;
use super::{Dependences, time};

/// A value that is computed again where it is used, instead of once where it was assigned.
pub struct Mover<'a> {
    /// The assignment.
    pub definition: usize,
    /// The instruction that uses the value.
    pub user: usize,
    /// The inames of the assignment's indices, mapped to the indices of one use.
    pub indices: &'a BTreeMap<Name, Expr>,
}

impl<'k> Dependences<'_, 'k> {
    /// Pairs of accesses of two instructions to one storage, with at least one write.
    fn pairs<'s>(&'s self, first: usize, second: usize) -> impl Iterator<Item = Pair<'s, 's, 'k>> + 's {
        let keys = self.touched[first].iter().filter(move |key| self.touched[second].contains(*key));
        keys.flat_map(move |key| {
            let of = move |at: usize| self.touches[key].iter().filter(move |touch| touch.at == at);
            of(first).flat_map(move |one| of(second).map(move |other| (one, other)))
        })
        .filter(|(one, other)| one.access.write || other.access.write)
        .map(|(one, other)| Pair::new(self, one, other))
    }

    /// Whether an iteration of the early loop has a larger value than one of the late loop that accesses the same element, for equal values
    /// of the loops around both: fused, they would run in the wrong order. True if undecided.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn run_backwards(
        &self,
        (early, early_iname): (usize, &Name),
        (late, late_iname): (usize, &Name),
        outer: &BTreeSet<Name>,
    ) -> Result<bool, IslError> {
        for mut pair in self.pairs(early, late) {
            pair.same.extend(outer.iter().cloned());
            if pair.is_apart()? {
                continue;
            }
            let by = Affine::name(pair.marked(Side::First, early_iname)).sub(&Affine::name(pair.marked(Side::Second, late_iname)))?;
            let backwards = Constraint::not_negative(by.sub(&Affine::constant(1))?);
            if !pair.touching()?.constrain(&[backwards])?.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether no value of the inames accesses what another value writes in the other instruction, in one iteration of all other loops.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn are_separate(&self, first: usize, second: usize, lanes: &BTreeSet<&Name>) -> Result<bool, IslError> {
        let within = |at: usize| &self.facts.kernel.instructions[at].within_inames;
        let around: BTreeSet<Name> = within(first).intersection(within(second)).filter(|iname| !lanes.contains(*iname)).cloned().collect();
        for mut pair in self.pairs(first, second) {
            pair.same.extend(around.iter().cloned());
            if pair.is_apart()? {
                continue;
            }
            let mut ways = Vec::new();
            for lane in lanes {
                let later = difference(&pair, lane)?;
                push_if_possible(&mut ways, &[], &[later.clone(), later.scale(-1)?], || Cause::Unordered((*lane).clone()))?;
            }
            if ways.is_empty() {
                continue;
            }
            let touching = pair.touching()?;
            for (way, _) in ways {
                if !touching.constrain(&way)?.is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// A point of the use at which the definition has not assigned the value yet; `None` if there is none, or if undecided.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn uncovered(&self, mover: &Mover<'_>) -> Result<Option<BTreeMap<Name, i64>>, IslError> {
        let kernel = self.facts.kernel;
        let (definition, user) = (&kernel.instructions[mover.definition], &kernel.instructions[mover.user]);
        let mut indices = BTreeMap::new();
        for (name, index) in mover.indices {
            let Some(index) = to_affine(index).filter(|index| index.names().iter().all(|name| !kernel.temporaries.contains_key(name)))
            else {
                return Ok(None);
            };
            indices.insert(name.clone(), index);
        }
        let inames: BTreeSet<Name> = user
            .within_inames
            .iter()
            .cloned()
            .chain(indices.values().flat_map(Affine::names).filter(|name| kernel.inames.contains_key(name)))
            .collect();
        let used = self.facts.domain(&inames)?.join(&kernel.assumptions)?;
        // The points of the definition, with its indices as in the use; its other inames are those of the use, or arbitrary.
        let mut assigned = self.facts.domain(&definition.within_inames)?;
        for name in indices.keys() {
            assigned = assigned.rename(&|known| (known == name).then(|| format!("{name}@").into()))?;
        }
        for (name, index) in &indices {
            let marked = Name::from(format!("{name}@"));
            if assigned.has_dim(&marked) || assigned.has_param(&marked) {
                assigned = assigned.substitute(&marked, index)?;
            }
        }
        let others: Vec<Name> = assigned.dims().iter().filter(|dim| !used.has_dim(dim)).cloned().collect();
        let assigned = assigned.project_out(&others)?;
        let missing = used.clone().subtract(&assigned.add_dims(used.dims()).reorder_dims(used.dims()))?;
        match missing.is_empty()? {
            true => Ok(None),
            false => super::violation::small(&missing)?.sample(),
        }
    }

    /// An instruction that writes an input of the value, or the variable itself, between the assignment and the use.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn changed_between(&self, mover: &Mover<'_>) -> Result<Option<(Name, usize)>, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let definition = &instructions[mover.definition];
        let any_writer = || {
            let reads = definition.reads();
            let found = self.facts.writers.iter().find(|(name, _)| reads.contains(*name));
            Ok(found.and_then(|(name, writers)| Some((name.clone(), *writers.first()?))))
        };
        let (defined, used) = (&definition.origin.times, &instructions[mover.user].origin.times);
        if defined.is_empty() || used.is_empty() {
            return any_writer();
        }
        for (key, touches) in &self.touches {
            let written = touches.iter().filter(|touch| touch.access.write);
            for read in touches.iter().filter(|touch| touch.at == mover.definition) {
                let virtual_read = self.moved(read, mover);
                for write in written.clone().filter(|write| !(read.access.write && write.at == mover.definition)) {
                    for (defined, used) in defined.iter().flat_map(|defined| used.iter().map(move |used| (defined, used))) {
                        let moved = defined.map(&|value| value.substitute(mover.indices));
                        for own in &instructions[write.at].origin.times {
                            if self.is_amid(write, &virtual_read, own, &moved, used)? {
                                return Ok(Some((key.clone(), write.at)));
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether a write comes after a time of the assignment and before the use.
    fn is_amid(
        &self,
        write: &ElementAccess<'k>,
        read: &ElementAccess<'k>,
        own: &Time,
        defined: &Time,
        used: &Time,
    ) -> Result<bool, IslError> {
        let mut pair = Pair::new(self, write, read);
        pair.times = Some((own, used));
        if pair.is_apart()? {
            return Ok(false);
        }
        let before_use = time::compare(&pair, (Side::First, &own.steps), (Side::Second, &used.steps))?;
        let after = time::compare(&pair, (Side::Second, &defined.steps), (Side::First, &own.steps))?;
        let touching = pair.touching()?;
        for (one, other) in before_use.earlier.iter().flat_map(|one| after.earlier.iter().map(move |other| (one, other))) {
            let between: Vec<Constraint> = one.iter().chain(other).cloned().collect();
            if !touching.constrain(&between)?.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A write that comes after some of the instances that an instruction stands for and before others, where all of them read the same
    /// element: wherever the instruction runs, one of them gets a different value.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn without_place(&self, at: usize) -> Result<Option<(Name, usize)>, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let times = &instructions[at].origin.times;
        for (key, touches) in &self.touches {
            for read in touches.iter().filter(|touch| touch.at == at && !touch.access.write) {
                for write in touches.iter().filter(|touch| touch.at != at && touch.access.write) {
                    if comes_first(&instructions[write.at].origin.of, &instructions[at].origin.of, key) {
                        continue;
                    }
                    for (before, after) in times.iter().flat_map(|one| times.iter().map(move |other| (one, other))) {
                        for own in &instructions[write.at].origin.times {
                            if self.is_between(write, read, own, before, after)? {
                                return Ok(Some((key.clone(), write.at)));
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// A write that changes what a reduction reads, at the same point, from one value of an enclosing iname to a later one.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn changed_along(&self, (at, read): (usize, &BTreeSet<Name>), sweep: &Name, reduced: &Name) -> Result<Option<usize>, IslError> {
        let instructions = &self.facts.kernel.instructions;
        let earlier = |name: &Name| (name.clone(), Expr::Variable(primed(name)));
        let by: BTreeMap<Name, Expr> = [earlier(sweep), earlier(reduced)].into();
        for touches in self.touches.values() {
            for read in touches.iter().filter(|touch| touch.at == at && !touch.access.write && read.contains(&touch.root)) {
                for write in touches.iter().filter(|touch| touch.access.write) {
                    let (times, own) = (instructions[at].origin.times_for(&read.root), instructions[write.at].origin.times_for(&read.root));
                    let mut may_change = own.is_empty() || !matches!(&times[..], [time] if time.is_own());
                    for (after, own) in times.iter().flat_map(|after| own.iter().map(move |own| (after, own))) {
                        // The same point of the reduction, for another value of the iname.
                        let mut before = after.map(&|value| value.substitute(&by));
                        before.given.push((Expr::Variable(primed(reduced)), Expr::Variable(reduced.clone())));
                        may_change = may_change || self.is_between(write, read, own, &before, after)?;
                    }
                    if may_change {
                        return Ok(Some(write.at));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether a write comes after one of the instances that a read stands for and before another.
    fn is_between(
        &self,
        write: &ElementAccess<'k>,
        read: &ElementAccess<'k>,
        own: &Time,
        before: &Time,
        after: &Time,
    ) -> Result<bool, IslError> {
        // The two instances have separate names.
        let again = |expr: &Expr| {
            let names = expr.variables().into_iter().filter(|name| without_primes(name).1 > 0);
            expr.substitute(&names.map(|name| (name.clone(), Expr::Variable(primed(&name)))).collect())
        };
        let after = after.map(&again);
        let mut both = before.clone();
        both.given.extend(after.given.iter().cloned());
        let values = after.steps.iter().filter_map(|step| match step {
            TimeStep::At(_) => None,
            TimeStep::Loop(value) => Some((value.clone(), value.clone())),
        });
        both.given.extend(values);
        let mut pair = Pair::new(self, write, read);
        pair.times = Some((own, &both));
        if pair.is_apart()? {
            return Ok(false);
        }
        let mut first = time::compare(&pair, (Side::Second, &before.steps), (Side::First, &own.steps))?;
        first.earlier.extend(first.equal);
        let second = time::compare(&pair, (Side::First, &own.steps), (Side::Second, &after.steps))?;
        if first.earlier.is_empty() || second.earlier.is_empty() {
            return Ok(false);
        }
        let touching = pair.touching()?;
        for (one, other) in first.earlier.iter().flat_map(|one| second.earlier.iter().map(move |other| (one, other))) {
            let between: Vec<Constraint> = one.iter().chain(other).cloned().collect();
            if !touching.constrain(&between)?.is_empty()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An access of the definition, made at the use.
    fn moved(&self, touch: &ElementAccess<'k>, mover: &Mover<'_>) -> ElementAccess<'k> {
        let kernel = self.facts.kernel;
        let by: BTreeMap<&Name, Option<Affine>> = mover.indices.iter().map(|(name, index)| (name, to_affine(index))).collect();
        let put = |index: &Affine| {
            let mut result = index.clone();
            let mut marks = BTreeMap::new();
            for (name, value) in &by {
                if result.mentions(name) {
                    let mark = Name::from(format!("{name}@"));
                    result = result.substitute(name, &Affine::name(mark.clone())).ok()?;
                    marks.insert(mark, value.clone()?);
                }
            }
            for (mark, value) in marks {
                result = result.substitute(&mark, &value).ok()?;
            }
            Some(result).filter(|index| index.names().iter().all(|name| !kernel.temporaries.contains_key(name)))
        };
        let indices = touch.indices.as_ref().map(|indices| indices.iter().map(|index| index.as_ref().and_then(put)).collect());
        ElementAccess { at: mover.user, indices, constraints: Vec::new(), unwrapped: None, ..touch.clone() }
    }
}

/// Whether the first of two instructions accesses a variable before the second in each iteration of the same loops, according to their
/// times.
fn comes_first(first: &BTreeMap<Name, Vec<TimeStep>>, second: &BTreeMap<Name, Vec<TimeStep>>, variable: &Name) -> bool {
    let (Some(first), Some(second)) = (first.get(variable), second.get(variable)) else { return false };
    match (first.split_last(), second.split_last()) {
        (Some((TimeStep::At(one), around)), Some((TimeStep::At(other), loops))) => around == loops && one < other,
        _ => false,
    }
}
