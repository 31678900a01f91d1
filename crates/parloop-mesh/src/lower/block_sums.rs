//! Sums in the memory that the work items of a block share: each leaves there what the kernel had for its rows, and once all have, the sums
//! of the plan are added to the rows, atomically.

use parloop_device::DType;
use parloop_loop::create::Data;
use parloop_loop::syntax::{AddressSpace, Atomicity, Expr, InameTag, Instruction, SyncScope};
use parloop_loop::{Affine, Name};

use super::BLOCK;
use super::names::{Array, Number};
use super::piece::{Piece, UNROLLED, affine, bounded, range};
use super::scope::{entry, known};
use super::stage::{Body, Call, neutral};
use super::writeback::written;
use crate::plan::BlockSums;
use crate::shape::PartShape;

/// How many numbers the entries of a block have, this many each. The distance between entries is odd, as that between the entries of
/// neighbouring elements is, so that work items write to different banks.
pub fn shared_numbers(slots: usize, count: usize) -> usize {
    (BlockSums::none(BLOCK, slots) + 1) * distance(count)
}

/// Whether 16 bits number the entries of a block of elements with this many slots.
pub fn can_number_entries(slots: usize) -> bool {
    BlockSums::none(BLOCK, slots) <= usize::from(u16::MAX)
}

fn distance(count: usize) -> usize {
    count | 1
}

/// The shared array of an argument.
fn shared(index: usize) -> Name {
    format!("pl_shared{index}").into()
}

/// The instruction that leaves there what an element has.
fn left(index: usize) -> Name {
    format!("pl_left{index}").into()
}

/// The instruction that writes the entry that stands for zero.
fn none(index: usize) -> Name {
    format!("pl_none{index}").into()
}

/// What is known of the sum at hand, for a map: its row and its two entries.
fn of_sum(what: &str, map: usize) -> Name {
    format!("pl_sum_{what}{map}").into()
}

/// The loops around what is done for a sum of a map.
fn around_sums(map: usize) -> [Name; 3] {
    ["pl_g".into(), format!("pl_item{map}").into(), format!("pl_turn{map}").into()]
}

impl Body<'_> {
    /// The sums of a map, one for each work item at a time.
    pub fn find_sums(&self, map: usize) -> Piece {
        let (index, [group, item, turn]) = (self.shape.index, around_sums(map));
        let [low, high, row, first, second] = ["low", "high", "row", "first", "second"].map(|what| of_sum(what, map));
        let place = Expr::from(&low) + Expr::from(BLOCK) * &turn + &item;
        let of_block = |instruction: Instruction| instruction.after([] as [Name; 0]).within([group.clone()]);
        let of_sum =
            |instruction: Instruction| instruction.after([low.clone(), high.clone()]).within([group.clone(), item.clone(), turn.clone()]);
        let begin = Expr::from(&Number::First.name()) + &group;
        let entry_of = |which: i64| Expr::from(&Array::SumEntries(map).name()).at([place.clone(), Expr::int(which)]);
        let mut piece = Piece::default()
            .take(Array::SumBounds(map), DType::I32, None)
            .take(Array::SumTargets(map), DType::I32, None)
            .take(Array::SumEntries(map), DType::U16, Some(2))
            .then(of_block(known(low.as_str(), index, entry(Array::SumBounds(map), begin.clone()))))
            .then(of_block(known(high.as_str(), index, entry(Array::SumBounds(map), begin + 1))))
            .then(of_sum(known(row.as_str(), index, entry(Array::SumTargets(map), place.clone()))))
            .then(of_sum(known(first.as_str(), index, entry_of(0))))
            .then(of_sum(known(second.as_str(), index, entry_of(1))));
        let at = affine(&[(1, &low), (BLOCK as i64, &turn), (1, &item)]);
        piece.domains.push(range(&item, Affine::constant(0), Affine::constant(BLOCK as i64)));
        piece.domains.push(bounded(&[&turn], &[(Affine::constant(0), Affine::name(turn.clone()), 0), (at, Affine::name(high), 1)]));
        piece.tags.push((item, InameTag::Local(0)));
        piece
    }

    /// Leaves what the kernel had for its rows where the block shares it, and adds the sums of the block to the rows.
    pub fn share(&self, index: usize, part: &PartShape) -> Piece {
        let Some(map) = part.map() else { return Piece::default() };
        let (scope, slots) = (&self.frame.body, self.shape.maps[map].slots);
        let [zero, number] = ["a", "z"].map(|purpose| Name::from(format!("pl_d{index}{purpose}")));
        let unroll = part.count <= UNROLLED;
        let walk = self.walk(index, part, "s");
        let of_row = if part.first == 0 { walk.number.clone() } else { walk.number.clone() - part.first };
        let value = Call::real(scope).number(part.param, walk.place.clone());
        let value = match self.is_kept(scope, index, part, &walk) {
            Some(is_kept) => Expr::choose(is_kept, value, neutral(part.dtype)),
            None => value,
        };
        let place = |entry: Expr, number: Expr| Expr::from(&shared(index)).at([entry * distance(part.count) + number]);
        let here = Expr::var("pl_l") * BlockSums::stride(slots) + walk.slot.clone();
        let leave = Instruction::assign(left(index), place(here, of_row), value)
            .after([Call::real(scope).id()])
            .within(scope.inames.iter().chain(&walk.inames).cloned());
        let nothing = place(Expr::from(BlockSums::none(BLOCK, slots)), Expr::from(&zero));
        let leave_nothing = Instruction::assign(none(index), nothing, neutral(part.dtype))
            .after([] as [Name; 0])
            .within(scope.inames.iter().cloned().chain([zero.clone()]))
            .when(Some(Expr::var("pl_l").equals(0)));
        let at = if part.first == 0 { Expr::from(&number) } else { Expr::from(&number) + part.first };
        let row = Expr::from(&Array::Table(part.table).name()).at([Expr::from(&of_sum("row", map)), at]);
        let sum = ["first", "second"]
            .map(|which| place(Expr::from(&of_sum(which, map)), Expr::from(&number)))
            .into_iter()
            .reduce(|first, second| first + second)
            .expect("invariant: there are two");
        let needed = [left(index), none(index)].into_iter().chain(["row", "first", "second"].map(|what| of_sum(what, map)));
        let earlier = self.earlier(index, |other| other.overlaps(part)).map(written);
        let add = Instruction::assign(written(index), row.clone(), row + sum)
            .after(needed.chain(earlier))
            .within(around_sums(map).into_iter().chain([number.clone()]))
            .without_barriers("pl_*", SyncScope::Global)
            .atomic(Some(Atomicity::Update));
        let array = Data::temporary(shared(index).as_str()).dtype(part.dtype).space(AddressSpace::Local);
        let mut piece = walk.loops.loop_over(&zero, part.count, unroll).loop_over(&number, part.count, unroll);
        piece.data.push(array.shape_of([Expr::from(shared_numbers(slots, part.count))]));
        piece.then_planned(leave).then_planned(leave_nothing).then_planned(add)
    }
}
