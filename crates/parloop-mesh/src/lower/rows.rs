//! Rows of a table on a GPU, gathered side by side and put back.

use parloop_device::DType;
use parloop_loop::create::Data;
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Expr, Instruction, KernelOptions};

use super::BLOCK;
use super::frame::{block, on_blocks};
use super::names::{Array, Number};
use super::piece::{Lowered, Piece, linear, tagged};
use super::scope::{entry, known, name};
use crate::storage::Layout;

/// Which way rows are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowMove {
    /// The rows of table 0 that the list names become those of table 1, one after another.
    Gather,
    /// The rows of table 0 that the list names become those of table 1.
    Scatter,
}

/// A row as words without a meaning: every type of number is moved as it is, and few kernels serve all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowWords {
    word: DType,
    /// Pieces of a row that do not lie side by side.
    pieces: usize,
    /// The words of a piece.
    width: usize,
}

impl RowWords {
    /// Those of rows of this many numbers of a type in a layout.
    pub fn new(dtype: DType, count: usize, layout: Layout) -> RowWords {
        let (pieces, bytes) = match layout {
            Layout::Rows => (1, count * dtype.size()),
            Layout::Columns => (count, dtype.size()),
        };
        let word = [DType::U64, DType::U32, DType::U16].into_iter().find(|word| bytes % word.size() == 0).unwrap_or(DType::U8);
        RowWords { word, pieces, width: bytes / word.size() }
    }
}

/// Pieces of up to this many words are moved without a loop.
const UNROLLED: usize = 16;

/// The loop kernel that moves rows, by a work item each.
///
/// # Errors
/// What the loop compiler says.
pub fn move_rows(what: RowMove, words: RowWords, index: DType) -> Result<Lowered, LoopError> {
    let RowWords { word, pieces, width } = words;
    let [group, item, piece_of, word_of] = ["pl_g", "pl_l", "pl_p", "pl_w"].map(name);
    let place = linear(0, &[(BLOCK, &group), (1, &item)]);
    let at = |table: usize, row: Expr| Expr::from(&Array::Table(table).name()).at([row, Expr::from(&piece_of), Expr::from(&word_of)]);
    let (in_table, beside) = (at(0, Expr::var("pl_r")), at(1, place.clone()));
    let (to, from) = match what {
        RowMove::Gather => (beside, in_table),
        RowMove::Scatter => (in_table, beside),
    };
    let rows = Expr::from(&Number::Rows(0).name());
    let between = if pieces == 1 { Expr::from(width) } else { rows * width };
    let words_of = |table: usize| Data::global(Array::Table(table).name().as_str()).dtype(word).unknown_shape();
    let mut piece = on_blocks()
        .take_data(Array::Table(0), words_of(0), [Expr::from(width), between, Expr::int(1)])
        .take_data(Array::Table(1), words_of(1), [Expr::from(pieces * width), Expr::from(width), Expr::int(1)])
        .take(Array::List, DType::I32, None)
        .take_number(Number::Count, index)
        .loop_over(&piece_of, pieces, pieces <= UNROLLED)
        .loop_over(&word_of, width, width <= UNROLLED);
    if pieces > 1 {
        piece = piece.take_number(Number::Rows(0), index);
    }
    piece.domains.push(block(&group, &item));
    let of_row = known("pl_r", index, entry(Array::List, place)).after([] as [&str; 0]).within([group.clone(), item.clone()]);
    let moved = Instruction::assign("pl_moved", to, from).after(["pl_r"]).within([group, item, piece_of, word_of]);
    let piece: Piece = piece.then(of_row).then_planned(moved);
    let kernel = match what {
        RowMove::Gather => "gather_rows",
        RowMove::Scatter => "scatter_rows",
    };
    let (lowered, tags) = piece.build(kernel.to_owned(), index, KernelOptions::default())?;
    Ok(Lowered { program: tagged(lowered.program, &tags)?, ..lowered })
}
