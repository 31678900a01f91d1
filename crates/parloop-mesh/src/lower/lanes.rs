//! Batches of elements in the lanes of vectors: the kernel is called for each lane in a loop that compilers vectorise, since it writes only
//! to an array of the batch. What it left is kept afterwards, lane by lane, in the order of the elements.

use parloop_loop::Name;
use parloop_loop::syntax::{Expr, Instruction, SyncScope};

use super::LANES;
use super::keep::{and, combined, sum_of};
use super::piece::Piece;
use super::spot::Spot;
use super::stage::{Body, Call, Walk};
use crate::shape::{PartShape, Shape};

/// The instructions that keep what batches leave.
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

impl Body<'_> {
    /// Runs whole batches.
    pub fn in_lanes(&self, compute: &Spot, keep: &Spot) -> Piece {
        let params = self.shape.params.iter().enumerate().filter(|(_, param)| param.access.writes());
        let arrays = params.map(|(number, param)| Piece::default().private(&batch(number), self.shape.dtype(number), &[param.size, LANES]));
        let written = self.shape.parts.iter().enumerate().filter(|(_, part)| part.access.writes());
        let kept = written.map(|(index, part)| self.hold(index, part, compute).and(self.keep_lane(index, part, keep)));
        self.stage(Call::lane(compute)).and(Piece::all(arrays.chain(kept)))
    }

    /// One number of the array of the batch.
    fn held(&self, param: usize, walk: &Walk, lane: &str) -> Expr {
        Expr::from(&batch(param)).at([walk.place.clone(), Expr::var(lane)])
    }

    /// Puts what the kernel left in a lane into the array of the batch.
    fn hold(&self, index: usize, part: &PartShape, compute: &Spot) -> Piece {
        let walk = self.walk(index, part, "h");
        let call = Call::lane(compute);
        let instruction =
            Instruction::assign(held(index), self.held(part.param, &walk, "pl_v"), call.number(part.param, walk.place.clone()))
                .after([call.id()])
                .within(compute.inames.iter().chain(&walk.inames).cloned());
        walk.loops.then(instruction)
    }

    /// Keeps what the batch has of a lane.
    fn keep_lane(&self, index: usize, part: &PartShape, keep: &Spot) -> Piece {
        let walk = self.walk(index, part, "y");
        let (there, before): (Expr, Vec<Name>) = match part.is_reduced() {
            true => (Expr::from(&sum_of(index)).at([walk.number.clone()]), vec![sum_of(index)]),
            false => (self.public(keep, part, &walk), self.earlier(index, |other| other.overlaps(part)).map(kept).collect()),
        };
        let value = combined(part.access, there.clone(), self.held(part.param, &walk, "pl_u"));
        let instruction = Instruction::assign(kept(index), there, value)
            .after([held(index)].into_iter().chain(keep.ready.iter().cloned()).chain(before))
            .within(keep.inames.iter().chain(&walk.inames).cloned())
            .without_barriers("pl_*", SyncScope::Global)
            .when(and(self.leads_somewhere(keep, index, part, &walk), self.is_own(keep, part, &walk)));
        walk.loops.then_planned(instruction)
    }
}
