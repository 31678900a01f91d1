//! Batches of elements in the lanes of vectors. A kernel that has a form for vectors is called once for a batch, on arrays with the numbers of
//! all its elements. Others are called for each lane in a loop that compilers vectorise if they can, since it writes only to an array of
//! the batch. What the kernel left is kept afterwards: lane by lane, in the order of the elements, or number by number.

use parloop_kernel::LaneParam;
use parloop_loop::syntax::{CallInstruction, Expr, InameTag, Instruction, InstructionKind, SyncScope};
use parloop_loop::{Affine, Name};

use super::frame::{Lanes, Writeback};
use super::names::Array;
use super::pairs::{are_paired, is_fetched_by_lane};
use super::piece::{Piece, range};
use super::scope::Scope;
use super::stage::{Body, Call, Walk};
use super::writeback::{and, combined, sum_of};
use crate::kernel::CALLABLE_IN_LANES;
use crate::shape::{PartShape, Shape};

/// Lanes of up to this many numbers of a batch are fetched without a loop: compilers then put them together in registers. What is stored number by
/// number and read as a vector has to wait until it is in the cache.
const GATHERED: usize = 40;

/// How the loop over lanes is run that fetches what the form of a kernel for vectors takes.
pub(super) fn lane_tags(shape: &Shape) -> Option<(Name, InameTag)> {
    let is_single = |part: &&PartShape| is_fetched_by_lane(shape, part) && !are_paired(shape, part);
    let numbers: usize = shape.parts.iter().filter(is_single).map(|part| part.size(shape)).sum();
    (numbers <= GATHERED).then(|| ("pl_v".into(), InameTag::Unroll))
}

/// The instructions that write what batches leave.
pub(super) fn lane_writes(shape: &Shape) -> Vec<Name> {
    let written = shape.parts.iter().enumerate().filter(|(_, part)| part.access.writes());
    written.map(|(index, _)| kept(index)).collect()
}

fn kept(index: usize) -> Name {
    format!("pl_y{index}").into()
}

/// The instruction that holds a part.
fn held(index: usize) -> Name {
    format!("pl_h{index}").into()
}

/// The array of the batch for a parameter.
fn batch(param: usize) -> Name {
    format!("pl_b{param}").into()
}

/// The instruction that fetches a part for all lanes.
fn fetched_lanes(index: usize) -> Name {
    format!("pl_q{index}").into()
}

/// The loops around a batch.
fn around(compute: &Scope) -> Vec<Name> {
    compute.inames.iter().filter(|iname| iname.as_str() != "pl_v").cloned().collect()
}

impl Body<'_> {
    /// Runs whole batches.
    pub fn in_lanes(&self, lanes: &Lanes) -> Piece {
        if self.in_vectors { self.by_vectors(lanes) } else { self.by_calls(lanes) }
    }

    /// Calls the kernel once for a batch.
    fn by_vectors(&self, lanes: &Lanes) -> Piece {
        let params = || self.shape.params.iter().enumerate();
        let arrays = params().filter(|(_, param)| !param.in_place).map(|(number, param)| {
            let lengths: &[usize] = match self.shape.lane_param(number) {
                LaneParam::Each(_) => &[param.size, lanes.count],
                LaneParam::Same(_) => &[param.size],
            };
            Piece::default().private(&batch(number), self.shape.dtype(number), lengths)
        });
        let parts = || self.shape.parts.iter().enumerate();
        let staged = || parts().filter(|(_, part)| !self.shape.params[part.param].in_place);
        let fetched: Vec<Piece> = staged().map(|(index, part)| self.fetch_lanes(index, part, lanes)).collect();
        let known: Vec<Name> = fetched.iter().flat_map(|piece| &piece.instructions).map(|instruction| instruction.id.clone()).collect();
        let (mut call, mut given, mut results) = (Piece::default(), Vec::new(), Vec::new());
        for (number, param) in params() {
            let (loops, whole) = self.whole_batch(number, lanes.count);
            call = call.and(loops);
            results.extend(param.access.writes().then(|| whole.clone()));
            given.push(whole);
        }
        let declares = vec![None; results.len()];
        let kind = InstructionKind::Call(CallInstruction { lhs: results, rhs: Expr::call(CALLABLE_IN_LANES, given), declares });
        let call = call.then(Instruction::bare(Call::lane(&lanes.compute).id(), kind).after(known).within(around(&lanes.compute)));
        let kept = parts().filter(|(_, part)| part.access.writes()).map(|(index, part)| self.write_lanes(index, part, &lanes.writeback));
        Piece::all(arrays.chain(fetched)).and(call).and(Piece::all(kept))
    }

    /// Fills what a part has of the array of the batch.
    fn fetch_lanes(&self, index: usize, part: &PartShape, lanes: &Lanes) -> Piece {
        let compute = &lanes.compute;
        if let Some(places) = lanes.places.as_ref().filter(|_| are_paired(self.shape, part)) {
            return self.fetch_pairs(index, part, &batch(part.param), places);
        }
        let walk = self.walk(index, part, "l");
        let array = Expr::from(&batch(part.param));
        let (there, after, inames) = match self.shape.lane_param(part.param) {
            LaneParam::Each(_) => (array.at([walk.place.clone(), Expr::var("pl_v")]), compute.ready.clone(), compute.inames.clone()),
            LaneParam::Same(_) => (array.at([walk.place.clone()]), Vec::new(), around(compute)),
        };
        let fetched = Instruction::assign(fetched_lanes(index), there, self.fetched(part, compute, &walk))
            .after(after)
            .within(inames.into_iter().chain(walk.inames.iter().cloned()))
            .without_barriers("pl_*", SyncScope::Global);
        walk.loops.then(fetched)
    }

    /// What the kernel gets for a parameter, for the whole batch.
    fn whole_batch(&self, number: usize, count: usize) -> (Piece, Expr) {
        let param = &self.shape.params[number];
        if self.axes[number].is_empty() {
            return (Piece::default(), Expr::from(&batch(number)).at([Expr::int(0)]));
        }
        let lengths: &[usize] = match self.shape.lane_param(number) {
            LaneParam::Each(_) => &[param.size, count],
            LaneParam::Same(_) => &[param.size],
        };
        let inames: Vec<Name> = (0..lengths.len()).map(|axis| format!("pl_z{number}b_{axis}").into()).collect();
        let loops = inames.iter().zip(lengths).fold(Piece::default(), |loops, (iname, &length)| loops.loop_over(iname, length, false));
        let array = if param.in_place { Array::Table(self.shape.parts_of(number)[0].table).name() } else { batch(number) };
        let place: Vec<Expr> = inames.iter().map(Expr::from).collect();
        (loops, Expr::sub_array(inames, array, place))
    }

    /// Calls the kernel for each lane.
    fn by_calls(&self, lanes: &Lanes) -> Piece {
        let params = self.shape.params.iter().enumerate().filter(|(_, param)| param.access.writes());
        let arrays =
            params.map(|(number, param)| Piece::default().private(&batch(number), self.shape.dtype(number), &[param.size, lanes.count]));
        let written = self.shape.parts.iter().enumerate().filter(|(_, part)| part.access.writes());
        let kept = written.map(|(index, part)| self.hold(index, part, &lanes.compute).and(self.write_lanes(index, part, &lanes.writeback)));
        self.stage(Call::lane(&lanes.compute)).and(Piece::all(arrays.chain(kept)))
    }

    /// One number of the array of the batch.
    fn held(&self, param: usize, walk: &Walk, lane: &Name) -> Expr {
        Expr::from(&batch(param)).at([walk.place.clone(), Expr::from(lane)])
    }

    /// Puts what the kernel left in a lane into the array of the batch.
    fn hold(&self, index: usize, part: &PartShape, compute: &Scope) -> Piece {
        let walk = self.walk(index, part, "h");
        let call = Call::lane(compute);
        let instruction =
            Instruction::assign(held(index), self.held(part.param, &walk, &"pl_v".into()), call.number(part.param, walk.place.clone()))
                .after([call.id()])
                .within(compute.inames.iter().chain(&walk.inames).cloned());
        walk.loops.then(instruction)
    }

    /// Keeps what the batch has of a part.
    fn write_lanes(&self, index: usize, part: &PartShape, writeback: &Writeback) -> Piece {
        match writeback {
            Writeback::InOrder(scope) => self.write_in(index, part, scope, &"pl_u".into()).0,
            Writeback::BySlots(scope) => {
                let lane = Name::from(format!("pl_u{index}"));
                let (mut piece, inames) = self.write_in(index, part, &scope(&lane), &lane);
                piece.domains.push(range(&lane, Affine::constant(0), Affine::name("pl_size")));
                piece.priorities.push(inames.into_iter().chain([lane]).collect());
                piece
            }
        }
    }

    /// Keeps what the batch has of a part in a loop over lanes, and the loops over its numbers.
    fn write_in(&self, index: usize, part: &PartShape, scope: &Scope, lane: &Name) -> (Piece, Vec<Name>) {
        let walk = self.walk(index, part, "y");
        let (there, before): (Expr, Vec<Name>) = match part.is_reduced() {
            true => (Expr::from(&sum_of(index)).at([walk.number.clone()]), vec![sum_of(index)]),
            false => (self.public(scope, part, &walk), self.earlier(index, |other| other.overlaps(part)).map(kept).collect()),
        };
        let value = combined(part.access, there.clone(), self.held(part.param, &walk, lane));
        let left = if self.in_vectors { Call::lane(scope).id() } else { held(index) };
        let instruction = Instruction::assign(kept(index), there, value)
            .after([left].into_iter().chain(scope.ready.iter().cloned()).chain(before))
            .within(scope.inames.iter().chain(&walk.inames).cloned())
            .without_barriers("pl_*", SyncScope::Global)
            .when(and(self.leads_somewhere(scope, index, part, &walk), self.is_own(scope, part, &walk)));
        (walk.loops.then_planned(instruction), walk.inames)
    }
}
