//! The user's kernel and what it gets: rows are fetched into private arrays, and the kernel is called on them.

use std::iter;

use parloop_device::DType;
use parloop_loop::Name;
use parloop_loop::syntax::{CallInstruction, Expr, Instruction, InstructionKind, SyncScope};

use super::frame::Frame;
use super::level;
use super::names::Array;
use super::piece::{Piece, UNROLLED, linear};
use super::scope::Scope;
use super::{Form, Machine, Visits};
use crate::access::Access;
use crate::kernel::CALLABLE;
use crate::shape::{Around, MapShape, MoveShape, PartShape, Reach, Shape};

/// What the parts of a body are made from.
pub(super) struct Body<'a> {
    pub shape: &'a Shape,
    pub form: &'a Form,
    pub machine: Machine,
    pub frame: &'a Frame,
    /// Along which axes the kernel takes each argument.
    pub axes: &'a [Vec<usize>],
    /// What the kernel must write is looked at.
    pub checked: bool,
    /// Batches are passed to the form of the kernel for vectors.
    pub in_vectors: bool,
}

/// One of the calls of the user's kernel: where it stands, and what its private arrays, the instructions that fill them, inames and the call
/// itself are named.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub scope: &'a Scope,
    names: &'static CallNames,
}

struct CallNames {
    private: &'static str,
    fetch: &'static str,
    purpose: &'static str,
    id: &'static str,
    /// What the numbers that it must write are before the call, in checked mode.
    unwritten: i64,
}

impl<'a> Call<'a> {
    /// The call whose results are kept.
    pub fn real(scope: &'a Scope) -> Call<'a> {
        Call { scope, names: &CallNames { private: "pl_t", fetch: "pl_f", purpose: "", id: "pl_call", unwritten: 1 } }
    }

    /// A call in front of it, whose results are only compared.
    pub fn trial(scope: &'a Scope) -> Call<'a> {
        Call { scope, names: &CallNames { private: "pl_u", fetch: "pl_v", purpose: "v", id: "pl_trial", unwritten: 0 } }
    }

    /// The call for one lane.
    pub fn lane(scope: &'a Scope) -> Call<'a> {
        Call { scope, names: &CallNames { private: "pl_p", fetch: "pl_q", purpose: "l", id: "pl_lanes", unwritten: 1 } }
    }

    pub fn id(self) -> Name {
        self.names.id.into()
    }

    /// What a number is before the call where the kernel must write it, in checked mode.
    pub fn unwritten(self) -> i64 {
        self.names.unwritten
    }

    /// The private array of a parameter.
    fn private(self, param: usize) -> Name {
        format!("{}{param}", self.names.private).into()
    }

    fn fetch(self, index: usize) -> Name {
        format!("{}{index}", self.names.fetch).into()
    }

    /// One number of the private array of a parameter.
    pub fn number(self, param: usize, place: Expr) -> Expr {
        Expr::from(&self.private(param)).at([place])
    }
}

/// A walk through the numbers that the kernel gets of an argument.
pub(super) struct Walk {
    /// Its loops.
    pub loops: Piece,
    pub inames: Vec<Name>,
    /// The slot of the row at hand, among those of all cells that a visit sees.
    pub slot: Expr,
    /// The slot among those of a cell, and which cell.
    of_cell: Expr,
    cell: Expr,
    /// The row and the column of what the kernel gets, of a matrix.
    pub row: Expr,
    pub column: Expr,
    /// Which number of the row.
    pub number: Expr,
    /// Where it is in what the kernel gets.
    pub place: Expr,
}

impl Body<'_> {
    /// A walk for one purpose.
    pub fn walk(&self, index: usize, part: &PartShape, purpose: &str) -> Walk {
        let axes = part.walk(self.shape);
        let inames: Vec<Name> = (0..axes.len()).map(|axis| format!("pl_d{index}{purpose}_{axis}").into()).collect();
        let unroll = part.size(self.shape) <= UNROLLED;
        let loops = inames.iter().zip(&axes).fold(Piece::default(), |loops, (iname, axis)| loops.loop_over(iname, axis.length, unroll));
        let along = |constant: usize, step: fn(&crate::shape::Axis) -> usize| {
            linear(constant, &axes.iter().map(step).zip(&inames).collect::<Vec<_>>())
        };
        let (number, place) = (along(part.first, |axis| axis.number), along(part.start, |axis| axis.place));
        let (of_cell, cell) = (along(0, |axis| axis.slot), along(0, |axis| axis.cell));
        let (row, column) = (along(0, |axis| axis.row), along(0, |axis| axis.column));
        let arity = part.map().map_or(1, |map| self.shape.maps[map].arity);
        let of_cells = axes.iter().map(|axis| axis.slot + arity * axis.cell);
        let slot = linear(0, &of_cells.zip(&inames).collect::<Vec<_>>());
        Walk { loops, inames, slot, of_cell, cell, row, column, number, place }
    }

    /// One step of a walk through what a flat set has: a number of the row that a slot leads to.
    pub fn step(&self, part: &PartShape, slot: usize, number: usize) -> Walk {
        let place = Expr::from(part.start + slot * part.count + number);
        let (slot, number, zero) = (Expr::from(slot), Expr::from(part.first + number), || Expr::int(0));
        Walk {
            loops: Piece::default(),
            inames: Vec::new(),
            of_cell: slot.clone(),
            slot,
            cell: zero(),
            row: zero(),
            column: zero(),
            number,
            place,
        }
    }

    /// One number of the table, for the element at hand.
    pub fn public(&self, scope: &Scope, part: &PartShape, walk: &Walk) -> Expr {
        let table = Expr::from(&Array::Table(part.table).name());
        match part.reach {
            Reach::Global => table.at([walk.number.clone()]),
            Reach::Direct | Reach::Through(_) => table.at([self.row(scope, part, walk), walk.number.clone()]),
        }
    }

    /// The row of the table, for the element at hand.
    pub fn row(&self, scope: &Scope, part: &PartShape, walk: &Walk) -> Expr {
        match part.reach {
            Reach::Direct => scope.level.as_ref().map_or(&scope.element, |level| &level.row).clone(),
            Reach::Through(map) => self.target(scope, map, walk),
            Reach::Global => Expr::int(0),
        }
    }

    /// The row that the slot at hand leads to.
    pub fn target(&self, scope: &Scope, number: usize, walk: &Walk) -> Expr {
        match self.checked {
            true => Expr::from(&targets_of(number)).at([walk.slot.clone()]),
            false => self.found_target(scope, number, &walk.slot, (&walk.of_cell, &walk.cell)),
        }
    }

    /// Finds the rows that all slots lead to, so that checks of what is there need not look for them each time.
    pub fn find_targets(&self) -> Piece {
        let scope = &self.frame.body;
        let of_map = |(number, map): (usize, &MapShape)| {
            let [slot, cell] = ["s", "c"].map(|what| Name::from(format!("pl_{what}{number}")));
            let place = linear(0, &[(map.arity, &cell), (1, &slot)]);
            let value = self.found_target(scope, number, &place, (&Expr::from(&slot), &Expr::from(&cell)));
            let found = Instruction::assign(targets_of(number), Expr::from(&targets_of(number)).at([place.clone()]), value)
                .after(scope.ready.clone())
                .within(scope.inames.iter().cloned().chain([cell.clone(), slot.clone()]));
            Piece::default()
                .loop_over(&cell, map.slots / map.arity, false)
                .loop_over(&slot, map.arity, false)
                .private(&targets_of(number), DType::I64, &[map.slots])
                .then(found)
        };
        Piece::all(self.shape.maps.iter().enumerate().map(of_map))
    }

    /// The row that a slot of a cell leads to.
    fn found_target(&self, scope: &Scope, number: usize, slot: &Expr, (of_cell, cell): (&Expr, &Expr)) -> Expr {
        if matches!(self.form, Form::Elements { visits: Visits::ListWithMaps, .. }) {
            return Expr::from(&Array::Map(number).name()).at([scope.place.clone(), slot.clone()]);
        }
        let map = &self.shape.maps[number];
        let Some(level) = scope.level.as_ref().filter(|_| !map.by_visit) else {
            return level::fetch(map, number, scope.element.clone(), slot.clone());
        };
        let lowest = match level.has_rows && level::has_row(map) {
            true => Expr::from(&level::row_of(number)).at([of_cell.clone()]),
            false => level::fetch(map, number, level.column.clone(), of_cell.clone()),
        };
        let offset = match map.moves {
            MoveShape::Not => return lowest,
            MoveShape::By(offset) => Expr::int(offset.into()),
            MoveShape::Listed => Expr::from(&Array::Offsets(number).name()).at([of_cell.clone()]),
        };
        let layer = level.layer.clone() + cell.clone();
        let moved = match map.around {
            None => layer,
            Some(Around::Plain) => layer % level.cells.clone(),
            Some(Around::Shifted) => {
                let quotient = Expr::from(&Array::Quotients(number).name()).at([of_cell.clone()]);
                (layer + quotient.clone()) % level.cells.clone() - quotient % level.cells.clone()
            }
        };
        lowest + offset * moved
    }

    /// Whether it is looked at what the kernel leaves unwritten.
    pub fn is_tried(&self) -> bool {
        self.checked && self.shape.parts.iter().any(must_be_written)
    }

    /// Fetches what the kernel gets copies of, and calls it.
    pub fn stage(&self, call: Call<'_>) -> Piece {
        let params = self.shape.params.iter().enumerate().filter(|(_, param)| !param.in_place);
        let parts = self.shape.parts.iter().enumerate().filter(|(_, part)| !self.shape.params[part.param].in_place);
        let arrays = params.map(|(number, param)| Piece::default().private(&call.private(number), self.shape.dtype(number), &[param.size]));
        let fetched = parts.map(|(index, part)| self.fetch(index, part, call));
        Piece::all(arrays.chain(fetched).chain(iter::once_with(|| self.call(call))))
    }

    /// Fills what a part has of the private array.
    fn fetch(&self, index: usize, part: &PartShape, call: Call<'_>) -> Piece {
        let walk = self.walk(index, part, call.names.purpose);
        let value = match part.access {
            Access::Write if self.is_tried() && part.block.is_none() => call.unwritten().into(),
            _ => self.fetched(part, call.scope, &walk),
        };
        let inames = call.scope.inames.iter().chain(&walk.inames).cloned();
        let fetched = Instruction::assign(call.fetch(index), call.number(part.param, walk.place.clone()), value)
            .after(call.scope.ready.clone())
            .within(inames)
            .without_barriers("pl_*", SyncScope::Global);
        walk.loops.then(fetched)
    }

    /// What a kernel finds in an argument: sums start at zero, all else is what is there.
    pub fn fetched(&self, part: &PartShape, scope: &Scope, walk: &Walk) -> Expr {
        match part.access {
            Access::Inc => neutral(part.dtype),
            // Blocks of a matrix may lead nowhere, and are zero at first.
            Access::Write if part.block.is_some() => Expr::int(0),
            _ => self.public(scope, part, walk),
        }
    }

    /// A call of the user's kernel.
    fn call(&self, call: Call<'_>) -> Piece {
        let (mut piece, mut given, mut results) = (Piece::default(), Vec::new(), Vec::new());
        for (number, param) in self.shape.params.iter().enumerate() {
            let (loops, whole) = self.whole(number, call);
            piece = piece.and(loops);
            if param.access.writes() {
                results.push(whole.clone());
            }
            given.push(whole);
        }
        let fetched = self.shape.parts.iter().enumerate().filter(|(_, part)| !self.shape.params[part.param].in_place);
        let after = call.scope.ready.iter().cloned().chain(fetched.map(|(index, _)| call.fetch(index)));
        let layer = call.scope.level.as_ref().filter(|_| self.shape.layers.is_some_and(|layers| layers.is_passed));
        given.extend(layer.map(|level| level.number.clone()));
        let declares = vec![None; results.len()];
        let kind = InstructionKind::Call(CallInstruction { lhs: results, rhs: Expr::call(CALLABLE, given), declares });
        piece.then(Instruction::bare(call.id(), kind).after(after).within(call.scope.inames.clone()))
    }

    /// A whole private array, or a table that is read in place, along the axes that the kernel has for it; its only number where it has none.
    fn whole(&self, number: usize, call: Call<'_>) -> (Piece, Expr) {
        let lengths = &self.axes[number];
        if lengths.is_empty() {
            return (Piece::default(), call.number(number, Expr::int(0)));
        }
        let inames: Vec<Name> = (0..lengths.len()).map(|axis| format!("pl_z{number}{}_{axis}", call.names.purpose).into()).collect();
        let loops = inames.iter().zip(lengths).fold(Piece::default(), |loops, (iname, &length)| loops.loop_over(iname, length, false));
        let mut steps = vec![1; lengths.len()];
        for axis in (1..lengths.len()).rev() {
            steps[axis - 1] = steps[axis] * lengths[axis];
        }
        let place = linear(0, &steps.into_iter().zip(&inames).collect::<Vec<_>>());
        let array = match self.shape.params[number].in_place {
            true => Array::Table(self.shape.parts_of(number)[0].table).name(),
            false => call.private(number),
        };
        (loops, Expr::sub_array(inames, array, [place]))
    }
}

/// The private array that holds the rows that the slots of a map lead to, and the instruction that finds them, where indices are checked.
pub(super) fn targets_of(map: usize) -> Name {
    format!("pl_to{map}").into()
}

/// Whether the kernel must write all of a part: what it leaves alone of a matrix is zero.
pub(super) fn must_be_written(part: &PartShape) -> bool {
    part.access == Access::Write && part.block.is_none()
}

/// What a kernel finds where it adds: compilers drop an addition to −0, but not one to +0, which changes −0.
pub(super) fn neutral(dtype: DType) -> Expr {
    if matches!(dtype, DType::F32 | DType::F64) { Expr::float(-0.0) } else { Expr::int(0) }
}
