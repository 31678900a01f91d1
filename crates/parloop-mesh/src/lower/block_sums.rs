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

/// The sums of a map that are of this many entries.
#[derive(Clone, Copy)]
struct Sums {
    map: usize,
    width: usize,
}

impl Sums {
    fn of(map: usize) -> impl Iterator<Item = Sums> {
        BlockSums::WIDTHS.into_iter().map(move |width| Sums { map, width })
    }

    /// Something that is known of the block or of the sum at hand.
    fn known(self, what: &str) -> Name {
        format!("pl_sum_{what}{}_{}", self.map, self.width).into()
    }

    /// An entry of the sum at hand.
    fn entry(self, which: usize) -> Name {
        self.known(&format!("entry{which}_"))
    }

    fn row(self) -> Name {
        self.known("row")
    }

    /// The loops around what is done for a sum.
    fn around(self) -> [Name; 3] {
        ["pl_g".into(), self.known("item"), self.known("turn")]
    }
}

impl Body<'_> {
    /// The sums of a map, one for each work item at a time.
    pub fn find_sums(&self, map: usize) -> Piece {
        Piece::all(Sums::of(map).map(|sums| self.find_sums_of(sums)))
    }

    fn find_sums_of(&self, sums: Sums) -> Piece {
        let Sums { map, width } = sums;
        let (index, [group, item, turn]) = (self.shape.index, sums.around());
        let (low, high) = (sums.known("low"), sums.known("high"));
        let place = Expr::from(&low) + Expr::from(BLOCK) * &turn + &item;
        let of_block = |instruction: Instruction| instruction.after([] as [Name; 0]).within([group.clone()]);
        let of_sum = |instruction: Instruction| instruction.after([low.clone(), high.clone()]).within(sums.around());
        let [bounds, targets, entries] = [Array::SumBounds(map, width), Array::SumTargets(map, width), Array::SumEntries(map, width)];
        let begin = Expr::from(&Number::First.name()) + &group;
        let mut piece = Piece::default()
            .take(bounds, DType::I32, None)
            .take(targets, DType::I32, None)
            .take(entries, DType::U32, Some(width / 2))
            .then(of_block(known(low.as_str(), index, entry(bounds, begin.clone()))))
            .then(of_block(known(high.as_str(), index, entry(bounds, begin + 1))))
            .then(of_sum(known(sums.row().as_str(), index, entry(targets, place.clone()))));
        for pair in 0..width / 2 {
            let both = Expr::from(&entries.name()).at([place.clone(), Expr::from(pair)]);
            for (which, entry) in [both.clone() & Expr::int(0xffff), both >> Expr::int(16)].into_iter().enumerate() {
                piece = piece.then(of_sum(known(sums.entry(2 * pair + which).as_str(), index, entry)));
            }
        }
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
        let zero = Name::from(format!("pl_d{index}a"));
        let walk = self.walk(index, part, "s");
        let of_row = if part.first == 0 { walk.number.clone() } else { walk.number.clone() - part.first };
        let value = Call::real(scope).number(part.param, walk.place.clone());
        let value = match self.is_kept(scope, index, part, &walk) {
            Some(is_kept) => Expr::choose(is_kept, value, neutral(part.dtype)),
            None => value,
        };
        let here = Expr::var("pl_l") * BlockSums::stride(slots) + walk.slot.clone();
        let leave = Instruction::assign(left(index), shared_number(index, part, here, of_row), value)
            .after([Call::real(scope).id()])
            .within(scope.inames.iter().chain(&walk.inames).cloned());
        let nothing = shared_number(index, part, Expr::from(BlockSums::none(BLOCK, slots)), Expr::from(&zero));
        let leave_nothing = Instruction::assign(none(index), nothing, neutral(part.dtype))
            .after([] as [Name; 0])
            .within(scope.inames.iter().cloned().chain([zero.clone()]))
            .when(Some(Expr::var("pl_l").equals(0)));
        let array = Data::temporary(shared(index).as_str()).dtype(part.dtype).space(AddressSpace::Local);
        let mut piece = walk.loops.loop_over(&zero, part.count, part.count <= UNROLLED);
        piece.data.push(array.shape_of([Expr::from(shared_numbers(slots, part.count))]));
        let added = Piece::all(Sums::of(map).map(|sums| self.add_sums(index, part, sums)));
        piece.then_planned(leave).then_planned(leave_nothing).and(added)
    }

    /// Adds the sums of the block that are of one width to the rows.
    fn add_sums(&self, index: usize, part: &PartShape, sums: Sums) -> Piece {
        let number = Name::from(format!("pl_d{index}z{}", sums.width));
        let at = if part.first == 0 { Expr::from(&number) } else { Expr::from(&number) + part.first };
        let row = Expr::from(&Array::Table(part.table).name()).at([Expr::from(&sums.row()), at]);
        let entries: Vec<Name> = (0..sums.width).map(|which| sums.entry(which)).collect();
        let value = |entry: &Name| shared_number(index, part, Expr::from(entry), Expr::from(&number));
        let pairs = entries.chunks(2).map(|pair| pair.iter().map(value).reduce(|one, other| one + other).expect("invariant: not empty"));
        let sum = pairs.reduce(|one, other| one + other).expect("invariant: sums have entries");
        let needed = [left(index), none(index), sums.row()].into_iter().chain(entries.iter().cloned());
        // Arguments of the same data are added in any order, since each addition is atomic.
        let add = Instruction::assign(format!("{}_{}", written(index), sums.width), row.clone(), row + sum)
            .after(needed)
            .within(sums.around().into_iter().chain([number.clone()]))
            .without_barriers("pl_*", SyncScope::Global)
            .atomic(Some(Atomicity::Update));
        Piece::default().loop_over(&number, part.count, part.count <= UNROLLED).then_planned(add)
    }
}

/// One number of an entry of the block, in the memory that it shares.
fn shared_number(index: usize, part: &PartShape, entry: Expr, number: Expr) -> Expr {
    Expr::from(&shared(index)).at([entry * distance(part.count) + number])
}
