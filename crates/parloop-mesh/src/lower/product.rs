//! The loop kernel of a product of a matrix with data: each row gathers what its blocks have for it.

use parloop_device::DType;
use parloop_loop::create::Data;
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Expr, InameTag, Instruction, KernelOptions, ReductionOp};
use parloop_loop::{Affine, Name};

use super::names::{Array, Number};
use super::piece::{Lowered, Piece, affine, bounded, linear, range, tagged};
use super::scope::known;
use super::{BLOCK, Machine};
use crate::storage::Layout;

/// What is multiplied: table 0 has the blocks of the matrix, table 1 what it is multiplied with, table 2 gets the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    pub dtype: DType,
    /// Rows and columns of a block, as they are stored.
    pub block: (usize, usize),
    /// The matrix is turned: starts and columns are those of its columns, and the blocks of a column are found through a list.
    pub transposed: bool,
    /// How the data and the product lie in memory.
    pub layouts: [Layout; 2],
    pub machine: Machine,
    pub index: DType,
}

/// The loop kernel.
///
/// # Errors
/// What the loop compiler says.
pub fn product(what: &Product) -> Result<Lowered, LoopError> {
    let [group, turn, number, part, at, left] = ["g", "k", "d", "e", "j", "l"].map(Name::from);
    let (height, width) = what.block;
    let (from, to) = if what.transposed { (height, width) } else { (width, height) };
    // On a CPU rows are a loop of their own: another one around it would need registers that are not available.
    let row = match what.machine {
        Machine::Threads => Expr::from(&group),
        Machine::Gpu => linear(0, &[(BLOCK, &group), (1, &turn)]),
    };
    let mut piece = Piece::default()
        .take(Array::Table(0), what.dtype, Some(height * width))
        .take(Array::Starts, DType::I32, None)
        .take(Array::List, DType::I32, None)
        .take_number(Number::Count, what.index)
        .loop_over(&number, to, to <= 8);
    piece = table(piece, 1, from, what.layouts[0], what);
    piece = table(piece, 2, to, what.layouts[1], what);
    if what.transposed {
        piece = piece.take(Array::Entries, DType::I32, None);
    }
    let block = |at: Expr| if what.transposed { Expr::from(&Array::Entries.name()).at([at]) } else { at };
    let entry = match what.transposed {
        false => linear(0, &[(width, &number), (1, &part)]),
        true => linear(0, &[(width, &part), (1, &number)]),
    };
    let entry = |single: bool| match (single, what.transposed) {
        (false, _) => entry.clone(),
        (true, false) => linear(0, &[(width, &number)]),
        (true, true) => Expr::from(&number),
    };
    let column = |at: Expr| Expr::from(&Array::List.name()).at([at]);
    let term = |at: Expr, part: Expr, entry: Expr| {
        Expr::from(&Array::Table(0).name()).at([block(at.clone()), entry]) * Expr::from(&Array::Table(1).name()).at([column(at), part])
    };
    let single = |at: Expr| term(at, Expr::int(0), entry(true));
    // A sum of numbers waits for the one before. On a CPU four are added to each other first, so that it waits a quarter as often; those that
    // are left over come one by one.
    let in_fours = from == 1 && what.machine == Machine::Threads;
    let sum = if in_fours {
        let first = Expr::var("lo") + Expr::from(4usize) * &at;
        let term = |place: usize| single(first.clone() + place);
        let four = (term(0) + term(1)) + (term(2) + term(3));
        piece.domains.push(range(&left, Affine::name("end"), Affine::name("hi")));
        four.reduced(ReductionOp::Sum, at.clone()) + single(Expr::from(&left)).reduced(ReductionOp::Sum, left)
    } else if from == 1 {
        single(Expr::from(&at)).reduced(ReductionOp::Sum, at.clone())
    } else {
        piece = piece.loop_over(&part, from, false);
        term(Expr::from(&at), Expr::from(&part), entry(false)).reduced(ReductionOp::Sum, part).reduced(ReductionOp::Sum, at.clone())
    };
    piece.domains.push(match in_fours {
        true => range(&at, Affine::constant(0), Affine::name("fours")),
        false => range(&at, Affine::name("lo"), Affine::name("hi")),
    });
    let count = Affine::name(Number::Count.name());
    match what.machine {
        Machine::Threads => piece.domains.push(range(&group, Affine::constant(0), count)),
        Machine::Gpu => {
            let place = affine(&[(BLOCK as i64, &group), (1, &turn)]);
            let items = [
                (Affine::constant(0), Affine::name(turn.clone()), 0),
                (Affine::name(turn.clone()), Affine::constant(BLOCK as i64), 1),
                (Affine::constant(0), place.clone(), 0),
                (place, count, 1),
            ];
            piece.domains.push(bounded(&[&group, &turn], &items));
            piece.tags.push((turn.clone(), InameTag::Local(0)));
        }
    }
    piece.tags.push((group.clone(), InameTag::Group(0)));
    let around = match what.machine {
        Machine::Threads => vec![group],
        Machine::Gpu => vec![group, turn],
    };
    let start = |name: &str, place: Expr| {
        let none: [Name; 0] = [];
        let value = Expr::from(&Array::Starts.name()).at([place]);
        Instruction::assign(name, Expr::var(name), value).declaring(what.index).after(none).within(around.clone())
    };
    let result = Expr::from(&Array::Table(2).name()).at([row.clone(), Expr::from(&number)]);
    piece = piece.then(start("lo", row.clone())).then(start("hi", row + 1));
    if in_fours {
        let fours = (Expr::var("hi") - "lo").floor_divide(4usize);
        piece = piece
            .then(known("fours", what.index, fours).after(["lo", "hi"]).within(around.clone()))
            .then(known("end", what.index, Expr::var("lo") + Expr::from(4usize) * "fours").after(["lo", "fours"]).within(around.clone()));
    }
    let piece = piece.then_planned(
        Instruction::assign("w", result, sum)
            .after(if in_fours { vec!["fours", "end"] } else { vec!["lo", "hi"] })
            .within(around.iter().cloned().chain([number.clone()])),
    );
    let (lowered, tags) = piece.build("product".to_owned(), what.index, KernelOptions::default())?;
    Ok(Lowered { program: tagged(lowered.program, &tags)?, ..lowered })
}

/// Rows of numbers, as they lie in memory.
fn table(piece: Piece, table: usize, row: usize, layout: Layout, what: &Product) -> Piece {
    let rows = Number::Rows(table);
    match layout {
        Layout::Rows => piece.take(Array::Table(table), what.dtype, Some(row)),
        Layout::Columns => {
            let data = Data::global(Array::Table(table).name().as_str()).dtype(what.dtype).unknown_shape();
            piece.take_data(Array::Table(table), data, [Expr::int(1), Expr::from(&rows.name())]).take_number(rows, what.index)
        }
    }
}
