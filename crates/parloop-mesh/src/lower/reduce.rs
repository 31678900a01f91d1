//! The second step of a reduction: what all groups have, combined with the number before the loop.

use parloop_device::DType;
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Expr, InameTag, Instruction, KernelOptions};
use parloop_loop::{Affine, Name};

use super::Machine;
use super::names::{Array, Number};
use super::piece::{Lowered, Piece, affine, bounded, linear, range, tagged};
use super::writeback::{combined, operation};
use crate::shape::PartShape;

/// Work items that combine on a GPU.
const ITEMS: usize = 256;

/// The loop kernel that combines the rows of partial sums 0 into table 0, in a fixed order.
///
/// # Errors
/// What the loop compiler says.
pub fn combine(part: &PartShape, machine: Machine) -> Result<Lowered, LoopError> {
    let [number, turn, item] = ["d", "k", "l"].map(Name::from);
    let (count, operation) = (Affine::name(Number::Count.name()), operation(part.access));
    let there = Expr::from(&Array::Table(0).name()).at([Expr::from(&number)]);
    let of_group = |row: Expr| Expr::from(&Array::Partial(0).name()).at([row, Expr::from(&number)]);
    let mut piece = Piece::default()
        .take(Array::Table(0), part.dtype, None)
        .take(Array::Partial(0), part.dtype, Some(part.count))
        .take_number(Number::Count, DType::I32)
        .loop_over(&number, part.count, false);
    let sum = match machine {
        Machine::Threads => {
            piece.domains.push(range(&turn, Affine::constant(0), count));
            of_group(Expr::from(&turn)).reduced(operation, turn)
        }
        Machine::Gpu => {
            let limits = [(Affine::constant(0), Affine::name(turn.clone()), 0), (affine(&[(ITEMS as i64, &turn), (1, &item)]), count, 1)];
            piece = piece.loop_over(&item, ITEMS, false);
            piece.domains.push(bounded(&[&turn], &limits));
            piece.tags.push((item.clone(), InameTag::Local(0)));
            of_group(linear(0, &[(ITEMS, &turn), (1, &item)])).reduced(operation.clone(), turn).reduced(operation, item)
        }
    };
    let value = combined(part.access, there.clone(), sum);
    let piece = piece.then_planned(Instruction::assign("w", there, value).after([] as [Name; 0]).within([number]));
    let (lowered, tags) = piece.build("combine".to_owned(), DType::I32, KernelOptions::default())?;
    Ok(Lowered { program: tagged(lowered.program, &tags)?, ..lowered })
}
