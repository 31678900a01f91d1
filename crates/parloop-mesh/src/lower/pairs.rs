//! Rows of two and more numbers for the lanes of a batch: numbers next to each other are read two at a time and put in order in registers, which takes half
//! of the loads and a third of the shuffles of numbers that are read one by one.

use parloop_loop::Name;
use parloop_loop::callable::CFunction;
use parloop_loop::syntax::{CallInstruction, Expr, Instruction, InstructionKind, SyncScope};

use super::LANES;
use super::frame::BatchPlaces;
use super::names::Array;
use super::piece::{Piece, UNROLLED};
use super::stage::Body;
use crate::access::Access;
use crate::shape::{PartShape, Reach, Shape};
use crate::storage::Layout;

/// What the function that reads pairs is called in loop kernels.
pub(super) const PAIRS: &str = "pl_pairs";

/// The function that reads pairs.
pub(super) fn function() -> CFunction {
    // SAFETY: the calls below pass rows of two numbers, one for each lane, and take the two rows of lanes.
    unsafe { CFunction::pairs_of_rows() }
}

/// Whether each lane fetches numbers of its own.
pub(super) fn is_fetched_by_lane(shape: &Shape, part: &PartShape) -> bool {
    part.access != Access::Inc && part.reach != Reach::Global && !shape.params[part.param].in_place
}

/// Whether numbers of a part are read in pairs.
pub(super) fn are_paired(shape: &Shape, part: &PartShape) -> bool {
    is_fetched_by_lane(shape, part) && part.block.is_none() && part.layout == Layout::Rows && part.count > 1 && part.size(shape) <= UNROLLED
}

impl Body<'_> {
    /// Fetches a part for all lanes into the array of the batch: in pairs, and the last number of rows of an odd number of them one by one.
    pub fn fetch_pairs(&self, index: usize, part: &PartShape, batch: &Name, places: &BatchPlaces) -> Piece {
        let slots = part.map().map_or(1, |map| self.shape.maps[map].slots);
        let [pair, lane] = ["p", "l"].map(|axis| Name::from(format!("pl_z{index}{axis}")));
        let mut piece = Piece::default().loop_over(&pair, 2, false).loop_over(&lane, LANES, false);
        let scopes: Vec<_> = (0..LANES).map(|lane| places.scope(lane)).collect();
        let of_batch = |instruction: Instruction| {
            instruction.after(places.ready.clone()).within(places.inames.clone()).without_barriers("pl_*", SyncScope::Global)
        };
        for slot in 0..slots {
            for number in (0..part.count).step_by(2) {
                let step = self.step(part, slot, number);
                if number + 1 == part.count {
                    for (lane, scope) in scopes.iter().enumerate() {
                        let there = Expr::from(batch).at([step.place.clone(), Expr::from(lane)]);
                        let fetched = Instruction::assign(format!("pl_q{index}_{slot}_{lane}"), there, self.public(scope, part, &step));
                        piece = piece.then(of_batch(fetched));
                    }
                    continue;
                }
                let row = |scope| {
                    let (row, number) = (self.row(scope, part, &step), step.number.clone() + &pair);
                    Expr::sub_array(vec![pair.clone()], Array::Table(part.table).name(), [row, number])
                };
                let there =
                    Expr::sub_array(vec![pair.clone(), lane.clone()], batch.clone(), [step.place.clone() + &pair, Expr::from(&lane)]);
                let rhs = Expr::call(PAIRS, scopes.iter().map(row));
                let call = CallInstruction { lhs: vec![there], rhs, declares: vec![None] };
                piece = piece.then(of_batch(Instruction::bare(format!("pl_q{index}_{slot}_{number}p"), InstructionKind::Call(call))));
            }
        }
        piece
    }
}
