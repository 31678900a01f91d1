//! Batches of elements in the lanes of vectors: the kernel is called for each lane in a loop that compilers vectorise, since it writes only
//! to an array of the batch. What it left is kept afterwards, lane by lane, in the order of the elements.

use parloop_loop::Name;
use parloop_loop::syntax::{Expr, Instruction, SyncScope};

use super::LANES;
use super::frame::Spot;
use super::keep::{and, combined, sum_of};
use super::piece::Piece;
use super::stage::{Body, Call, Walk};
use crate::shape::{ArgShape, Shape};

/// The instructions that keep what batches leave.
pub(super) fn lane_writes(shape: &Shape) -> Vec<Name> {
    let written = shape.args.iter().enumerate().filter(|(_, arg)| arg.access.writes());
    written.map(|(index, _)| kept(index)).collect()
}

fn kept(index: usize) -> Name {
    format!("pl_y{index}").into()
}

fn held(index: usize) -> Name {
    format!("pl_h{index}").into()
}

impl Body<'_> {
    /// Runs whole batches.
    pub fn in_lanes(&self, compute: &Spot, keep: &Spot) -> Piece {
        let written = self.shape.args.iter().enumerate().filter(|(_, arg)| arg.access.writes());
        let kept = written.map(|(index, arg)| self.hold(index, arg, compute).and(self.keep_lane(index, arg, keep)));
        self.stage(Call::lane(compute)).and(Piece::all(kept))
    }

    /// One number of the array of the batch.
    fn held(&self, index: usize, walk: &Walk, lane: &str) -> Expr {
        Expr::from(&held(index)).at([walk.place.clone(), Expr::var(lane)])
    }

    /// Puts what the kernel left in a lane into the array of the batch.
    fn hold(&self, index: usize, arg: &ArgShape, compute: &Spot) -> Piece {
        let walk = self.walk(index, arg, "h");
        let call = Call::lane(compute);
        let instruction = Instruction::assign(held(index), self.held(index, &walk, "pl_v"), call.number(index, &walk))
            .after([call.id()])
            .within(compute.inames.iter().chain(&walk.inames).cloned());
        walk.loops.private(&held(index), arg.dtype, &[arg.size(self.shape), LANES]).then(instruction)
    }

    /// Keeps what the batch has of a lane.
    fn keep_lane(&self, index: usize, arg: &ArgShape, keep: &Spot) -> Piece {
        let walk = self.walk(index, arg, "y");
        let (there, before): (Expr, Vec<Name>) = match arg.is_reduced() {
            true => (Expr::from(&sum_of(index)).at([walk.number.clone()]), vec![sum_of(index)]),
            false => (self.public(keep, arg, &walk), self.earlier(index, |other| other.overlaps(arg)).map(kept).collect()),
        };
        let value = combined(arg.access, there.clone(), self.held(index, &walk, "pl_u"));
        let instruction = Instruction::assign(kept(index), there, value)
            .after([held(index)].into_iter().chain(keep.ready.iter().cloned()).chain(before))
            .within(keep.inames.iter().chain(&walk.inames).cloned())
            .without_barriers("pl_*", SyncScope::Global)
            .when(and(self.leads_somewhere(keep, arg, &walk), self.is_own(keep, arg, &walk)));
        walk.loops.then_planned(instruction)
    }
}
