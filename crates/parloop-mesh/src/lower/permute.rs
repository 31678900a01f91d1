//! Copies of tables whose rows lie in another order.

use parloop_device::DType;
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Expr, InameTag, Instruction, KernelOptions};
use parloop_loop::{Affine, Name};

use super::names::{Array, Number};
use super::piece::{Lowered, Piece, affine, bounded, linear, tagged};

/// What is done with each row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// It becomes zeros.
    Clear,
    /// It becomes the row of the other table that the list says.
    Copy,
    /// It gets that row added.
    Add,
}

/// Rows that a thread takes at a time.
const ROWS: usize = 4096;

/// Rows of up to this many numbers are copied without a loop.
const UNROLLED: usize = 16;

/// The loop kernel that does it with the rows of table 0; the other is table 1.
///
/// # Errors
/// What the loop compiler says.
pub fn permute(what: Permute, dtype: DType, row: usize, index: DType) -> Result<Lowered, LoopError> {
    let [group, turn, number] = ["g", "k", "d"].map(Name::from);
    let count = Affine::name(Number::Count.name());
    let table = |table: usize, row: Expr| Expr::from(&Array::Table(table).name()).at([row, Expr::from(&number)]);
    let place = linear(0, &[(ROWS, &group), (1, &turn)]);
    let here = table(0, place.clone());
    let there = table(1, Expr::from(&Array::List.name()).at([place]));
    let value = match what {
        Permute::Clear => Expr::int(0),
        Permute::Copy => there,
        Permute::Add => here.clone() + there,
    };
    let mut piece = Piece::default()
        .take(Array::Table(0), dtype, Some(row))
        .take_number(Number::Count, index)
        .loop_over(&number, row, row <= UNROLLED)
        .then_planned(Instruction::assign("w", here, value).within([group.clone(), turn.clone(), number.clone()]));
    if what != Permute::Clear {
        piece = piece.take(Array::Table(1), dtype, Some(row)).take(Array::List, DType::I32, None);
    }
    piece.tags.push((group.clone(), InameTag::Group(0)));
    let first = affine(&[(ROWS as i64, &group)]);
    let groups = [(Affine::constant(0), Affine::name(group.clone()), 0), (first, count.clone(), 1)];
    let turns = [
        (Affine::constant(0), Affine::name(turn.clone()), 0),
        (Affine::name(turn.clone()), Affine::constant(ROWS as i64), 1),
        (affine(&[(ROWS as i64, &group), (1, &turn)]), count, 1),
    ];
    piece.domains.extend([bounded(&[&group], &groups), bounded(&[&turn], &turns)]);
    let (lowered, tags) = piece.build("permute".to_owned(), index, KernelOptions::default())?;
    Ok(Lowered { program: tagged(lowered.program, &tags)?, ..lowered })
}
