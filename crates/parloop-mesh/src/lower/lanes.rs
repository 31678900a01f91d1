//! Batches of elements in the lanes of vectors: the kernel is called for each lane in a loop that compilers vectorise, since it writes only
//! to an array of the batch. What it left is kept afterwards: lane by lane, in the order of the elements, or number by number.

use parloop_loop::syntax::{Expr, Instruction, SyncScope};
use parloop_loop::{Affine, Name};

use super::frame::{Keep, Lanes};
use super::keep::{and, combined, sum_of};
use super::piece::{Piece, range};
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
    pub fn in_lanes(&self, lanes: &Lanes) -> Piece {
        let params = self.shape.params.iter().enumerate().filter(|(_, param)| param.access.writes());
        let arrays =
            params.map(|(number, param)| Piece::default().private(&batch(number), self.shape.dtype(number), &[param.size, lanes.count]));
        let written = self.shape.parts.iter().enumerate().filter(|(_, part)| part.access.writes());
        let kept = written.map(|(index, part)| self.hold(index, part, &lanes.compute).and(self.keep_lanes(index, part, &lanes.keep)));
        self.stage(Call::lane(&lanes.compute)).and(Piece::all(arrays.chain(kept)))
    }

    /// One number of the array of the batch.
    fn held(&self, param: usize, walk: &Walk, lane: &Name) -> Expr {
        Expr::from(&batch(param)).at([walk.place.clone(), Expr::from(lane)])
    }

    /// Puts what the kernel left in a lane into the array of the batch.
    fn hold(&self, index: usize, part: &PartShape, compute: &Spot) -> Piece {
        let walk = self.walk(index, part, "h");
        let call = Call::lane(compute);
        let instruction =
            Instruction::assign(held(index), self.held(part.param, &walk, &"pl_v".into()), call.number(part.param, walk.place.clone()))
                .after([call.id()])
                .within(compute.inames.iter().chain(&walk.inames).cloned());
        walk.loops.then(instruction)
    }

    /// Keeps what the batch has of a part.
    fn keep_lanes(&self, index: usize, part: &PartShape, keep: &Keep) -> Piece {
        match keep {
            Keep::InOrder(spot) => self.keep_in(index, part, spot, &"pl_u".into()).0,
            Keep::BySlots(spot) => {
                let lane = Name::from(format!("pl_u{index}"));
                let (mut piece, inames) = self.keep_in(index, part, &spot(&lane), &lane);
                piece.domains.push(range(&lane, Affine::constant(0), Affine::name("pl_size")));
                piece.priorities.push(inames.into_iter().chain([lane]).collect());
                piece
            }
        }
    }

    /// Keeps what the batch has of a part in a loop over lanes, and the loops over its numbers.
    fn keep_in(&self, index: usize, part: &PartShape, keep: &Spot, lane: &Name) -> (Piece, Vec<Name>) {
        let walk = self.walk(index, part, "y");
        let (there, before): (Expr, Vec<Name>) = match part.is_reduced() {
            true => (Expr::from(&sum_of(index)).at([walk.number.clone()]), vec![sum_of(index)]),
            false => (self.public(keep, part, &walk), self.earlier(index, |other| other.overlaps(part)).map(kept).collect()),
        };
        let value = combined(part.access, there.clone(), self.held(part.param, &walk, lane));
        let instruction = Instruction::assign(kept(index), there, value)
            .after([held(index)].into_iter().chain(keep.ready.iter().cloned()).chain(before))
            .within(keep.inames.iter().chain(&walk.inames).cloned())
            .without_barriers("pl_*", SyncScope::Global)
            .when(and(self.leads_somewhere(keep, index, part, &walk), self.is_own(keep, part, &walk)));
        (walk.loops.then_planned(instruction), walk.inames)
    }
}
