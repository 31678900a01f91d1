//! What is done with what the kernel left: it is looked at, written, added, gathered by a row, or combined over all elements.

use parloop_device::DType;
use parloop_loop::Name;
use parloop_loop::syntax::{Atomicity, Expr, Instruction, ReductionOp, SyncScope};

use super::frame::Target;
use super::names::{Array, Number};
use super::piece::{Piece, UNROLLED, linear};
use super::scope::Scope;
use super::stage::{Body, Call, Walk};
use super::{Apart, Form, Machine, unwritten};
use crate::access::Access;
use crate::shape::{PartShape, Shape};

impl Body<'_> {
    /// Where a number was not written, an index that tells which is outside of an array of one number.
    pub fn look(&self, index: usize, part: &PartShape) -> Piece {
        let (trial, real) = (Call::trial(&self.frame.body), Call::real(&self.frame.body));
        let walk = self.walk(index, part, "x");
        let left_alone = trial
            .number(part.param, walk.place.clone())
            .equals(trial.unwritten())
            .and(real.number(part.param, walk.place.clone()).equals(real.unwritten()));
        let which = Expr::from(self.shape.params[part.param].size) * self.frame.body.element.clone() + walk.place.clone() + 1;
        let marks = unwritten(index);
        let mark = Expr::from(&marks).at([Expr::choose(left_alone, which, Expr::int(0))]);
        let instruction = Instruction::assign(format!("pl_x{index}"), mark, Expr::int(0))
            .after([real.id(), trial.id()])
            .within(self.frame.body.inames.iter().chain(&walk.inames).cloned());
        walk.loops.private(&marks, DType::I32, &[1]).then(instruction)
    }

    /// Keeps what the kernel left in an argument.
    pub fn write_back(&self, index: usize, part: &PartShape) -> Piece {
        if part.is_reduced() {
            return self.reduce(index, part);
        }
        let own = |condition: Option<Expr>, atomic: bool| self.put(index, part, condition, atomic);
        match (self.form, &self.frame.target) {
            (Form::Targets { maps, writes_direct, .. }, Some(target)) => match part.map() {
                Some(map) if maps.contains(&map) => self.collect(index, part, maps, target),
                None if *writes_direct => own(Some(target.slot.clone().equals(0)), false),
                _ => Piece::default(),
            },
            (Form::Elements { apart: Apart::Shared, .. }, _) if part.can_meet() => self.share(index, part),
            (Form::Elements { apart, .. }, _) => {
                let walk = self.walk(index, part, "s");
                let condition = match (apart, part.map()) {
                    (Apart::Mask, _) => self.is_own(&self.frame.body, part, &walk),
                    (Apart::Last, Some(map)) if part.last_decides() => Some(self.is_last(map, &walk)),
                    _ => None,
                };
                own(condition, *apart == Apart::Atomic && part.can_meet())
            }
            (Form::Targets { .. }, None) => unreachable!("invariant: the frame of targets has one"),
        }
    }

    /// Whether the part that runs an element owns what it writes there.
    pub fn is_own(&self, scope: &Scope, part: &PartShape, walk: &Walk) -> Option<Expr> {
        let slot = match part.map() {
            Some(map) => match self.shape.first_slot(&self.shape.meeting_maps(), map) {
                0 => walk.slot.clone(),
                first => walk.slot.clone() + first,
            },
            None => Expr::int(0),
        };
        scope.mask.as_ref().map(|mask| mask.has(slot))
    }

    /// Whether no later element, and no later column of this one, leads to the same row.
    fn is_last(&self, map: usize, walk: &Walk) -> Expr {
        let scope = &self.frame.body;
        let entry = Expr::from(self.shape.maps[map].slots) * scope.element.clone() + walk.slot.clone();
        Expr::from(&Array::Last(map).name()).at([self.target(scope, map, walk)]).equals(entry)
    }

    /// Writes the private array to the table.
    fn put(&self, index: usize, part: &PartShape, condition: Option<Expr>, atomic: bool) -> Piece {
        let walk = self.walk(index, part, "s");
        let scope = &self.frame.body;
        let real = Call::real(scope);
        let public = self.public(scope, part, &walk);
        let value = combined(part.access, public.clone(), real.number(part.param, walk.place.clone()));
        let condition = and(self.leads_somewhere(scope, index, part, &walk), condition);
        let earlier = self.earlier(index, |other| other.overlaps(part)).map(written);
        let instruction = Instruction::assign(written(index), public, value)
            .after(std::iter::once(real.id()).chain(earlier))
            .within(scope.inames.iter().chain(&walk.inames).cloned())
            .without_barriers("pl_*", SyncScope::Global)
            .when(condition)
            .atomic(atomic.then_some(Atomicity::Update));
        walk.loops.then_planned(instruction)
    }

    /// Whether the block at hand is stored, and has the row and the column at hand, where it may not.
    pub fn leads_somewhere(&self, scope: &Scope, index: usize, part: &PartShape, walk: &Walk) -> Option<Expr> {
        let is_stored = part.map().filter(|_| part.drops).map(|map| self.target(scope, map, walk).at_least(0));
        and(is_stored, self.is_kept(scope, index, part, walk))
    }

    /// Whether an element has the row and the column at hand of a matrix, where single ones are dropped.
    pub fn is_kept(&self, scope: &Scope, index: usize, part: &PartShape, walk: &Walk) -> Option<Expr> {
        let [rows, _] = part.block.filter(|_| part.drops_singles)?.shape();
        let kept = |place: Expr| Expr::from(&Array::Kept(index).name()).at([scope.element.clone(), place]).equals(1);
        Some(kept(walk.row.clone()).and(kept(Expr::from(rows) + walk.column.clone())))
    }

    /// Earlier arguments that are written, of a kind: what is written twice is written in order.
    pub fn earlier(&self, index: usize, which: impl Fn(&PartShape) -> bool) -> impl Iterator<Item = usize> {
        let before = self.shape.parts[..index].iter().enumerate();
        before.filter(move |(_, other)| other.access.writes() && which(other)).map(|(other, _)| other)
    }

    /// The row at hand takes what the element has for it.
    fn collect(&self, index: usize, part: &PartShape, maps: &[usize], target: &Target) -> Piece {
        let Some(map) = part.map() else { return Piece::default() };
        let first = self.shape.first_slot(maps, map);
        let alike: Vec<usize> = (0..self.shape.parts.len())
            .filter(|&other| self.shape.parts[other].is_alike(part) && self.shape.parts[other].can_meet())
            .collect();
        // Arguments of the same numbers share what is collected: the first has it.
        let to = alike[0];
        let walk = self.walk(index, part, "s");
        let sum = Expr::from(&sum_of(to)).at([numbers_alone(&walk, part)]);
        let value = combined(part.access, sum.clone(), Call::real(&self.frame.body).number(part.param, walk.place.clone()));
        let is_here = target.slot.clone().equals(Expr::from(first) + walk.slot.clone());
        let is_here = and(Some(is_here.clone()), self.is_kept(&self.frame.body, index, part, &walk)).unwrap_or(is_here);
        let before = alike.iter().filter(|&&other| other < index).map(|&other| taken(other));
        let take = Instruction::assign(taken(index), sum.clone(), Expr::choose(is_here, value, sum))
            .after([Call::real(&self.frame.body).id(), sum_of(to)].into_iter().chain(before))
            .within(self.frame.body.inames.iter().chain(&walk.inames).cloned());
        let take = walk.loops.then(take);
        if to != index {
            return take;
        }
        let [start, end] = ["a", "z"].map(|purpose| Name::from(format!("pl_d{index}{purpose}")));
        let entry = |iname: &Name| {
            let number = if part.first == 0 { Expr::from(iname) } else { Expr::from(iname) + part.first };
            Expr::from(&Array::Table(part.table).name()).at([target.row.clone(), number])
        };
        let around = |iname: &Name| self.frame.outer.iter().cloned().chain([iname.clone()]).collect::<Vec<_>>();
        let unroll = part.count <= UNROLLED;
        let begin = Piece::default()
            .loop_over(&start, part.count, unroll)
            .loop_over(&end, part.count, unroll)
            .private(&sum_of(index), part.dtype, &[part.count])
            .then(
                Instruction::assign(sum_of(index), Expr::from(&sum_of(index)).at([Expr::from(&start)]), entry(&start))
                    .after([target.ready.clone()])
                    .within(around(&start))
                    .without_barriers("pl_*", SyncScope::Global),
            );
        begin.and(take).then_planned(
            Instruction::assign(written(index), entry(&end), Expr::from(&sum_of(index)).at([Expr::from(&end)]))
                .after(alike.into_iter().map(taken))
                .within(around(&end))
                .without_barriers("pl_*", SyncScope::Global),
        )
    }

    /// What a group has of a number that is combined over all elements.
    fn reduce(&self, index: usize, part: &PartShape) -> Piece {
        let [start, turn, end] = ["a", "s", "z"].map(|purpose| Name::from(format!("pl_d{index}{purpose}")));
        let unroll = part.count <= UNROLLED;
        // A sum over work items has barriers, which need a loop.
        let unroll_end = unroll && self.machine == Machine::Threads;
        let sum = |iname: &Name| Expr::from(&sum_of(index)).at([Expr::from(iname)]);
        let within = |around: &[Name], iname: &Name| around.iter().cloned().chain([iname.clone()]).collect::<Vec<_>>();
        let there = Expr::from(&Array::Table(part.table).name()).at([Expr::from(&start)]);
        let begin = if part.access == Access::Inc { Expr::int(0) } else { there };
        let left = Call::real(&self.frame.body).number(part.param, linear(part.start, &[(1, &turn)]));
        let masked = self.frame.body.mask.as_ref().map(|mask| mask.has(Expr::int(0)));
        let (all, whose) = match self.machine {
            Machine::Threads => (sum(&end), self.frame.outer.clone()),
            Machine::Gpu => (sum(&end).reduced(operation(part.access), "pl_l"), vec!["pl_g".into()]),
        };
        let here = Expr::from(&Array::Partial(index).name()).at([Expr::from(&Number::First.name()) + "pl_g", Expr::from(&end)]);
        Piece::default()
            .take(Array::Partial(index), part.dtype, Some(part.count))
            .loop_over(&start, part.count, unroll)
            .loop_over(&turn, part.count, unroll)
            .loop_over(&end, part.count, unroll_end)
            .private(&sum_of(index), part.dtype, &[part.count])
            .then(Instruction::assign(sum_of(index), sum(&start), begin).after(NONE).within(within(&self.frame.outer, &start)))
            .then(
                Instruction::assign(taken(index), sum(&turn), combined(part.access, sum(&turn), left))
                    .after([Call::real(&self.frame.body).id(), sum_of(index)])
                    .within(within(&self.frame.body.inames, &turn))
                    .when(masked),
            )
            .then_planned(Instruction::assign(written(index), here, all).after([taken(index)]).within(within(&whose, &end)))
    }
}

const NONE: [Name; 0] = [];

/// Both conditions, or the one that is there; the first guards the second.
pub(super) fn and(first: Option<Expr>, second: Option<Expr>) -> Option<Expr> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.and(second)),
        (first, second) => first.or(second),
    }
}

/// The instruction that writes an argument.
pub(super) fn written(index: usize) -> Name {
    format!("pl_w{index}").into()
}

/// The instruction that takes what an element has for a sum.
fn taken(index: usize) -> Name {
    format!("pl_k{index}").into()
}

/// What is collected for an argument, and the instruction that begins it.
pub(super) fn sum_of(index: usize) -> Name {
    format!("pl_a{index}").into()
}

/// Which number of a row, without the first of the argument.
fn numbers_alone(walk: &Walk, part: &PartShape) -> Expr {
    if part.first == 0 { walk.number.clone() } else { walk.number.clone() - part.first }
}

/// Arrays that say who writes last.
pub(super) fn last_writers(shape: &Shape) -> Piece {
    shape.last_deciding_maps().into_iter().fold(Piece::default(), |piece, map| piece.take(Array::Last(map), shape.offsets, None))
}

/// What is kept of the value that is there and the value that the kernel left.
pub(super) fn combined(access: Access, there: Expr, left: Expr) -> Expr {
    match access {
        Access::Inc => there + left,
        Access::Min => there.min(left),
        Access::Max => there.max(left),
        Access::Read | Access::Write | Access::Rw => left,
    }
}

/// The reduction of loop kernels that combines.
pub(super) fn operation(access: Access) -> ReductionOp {
    match access {
        Access::Min => ReductionOp::Min,
        Access::Max => ReductionOp::Max,
        _ => ReductionOp::Sum,
    }
}
