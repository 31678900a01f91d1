//! Where in an extruded set a visit is: its column and its layer, and what is known of the column.

use parloop_device::DType;
use parloop_loop::syntax::{Expr, Instruction};
use parloop_loop::{Affine, Name};

use super::names::{Array, Number, Tall};
use super::piece::{Piece, UNROLLED, range};
use super::scope::{Level, Scope, entry, entry_of_column, known, name};
use crate::shape::{LayerShape, MapShape, Shape};

/// What a loop kernel takes to find columns and layers.
pub(super) fn data(shape: &Shape) -> Piece {
    let mut piece = Piece::default();
    match shape.layers {
        None => {}
        Some(LayerShape { varied: true, .. }) => {
            piece = piece.take(Array::Columns, DType::I32, None).take(Array::Heights, DType::I32, Some(Tall::COUNT));
        }
        Some(LayerShape { varied: false, .. }) => {
            for number in [Number::Visits, Number::Bottom, Number::Cells] {
                piece = piece.take_number(number, shape.index);
            }
        }
    }
    piece
}

/// Finds the column and the layer of a visit from its number. `lane` tells several visits apart.
pub(super) fn found(shape: &Shape, lane: &str, scope: Scope) -> (Piece, Scope) {
    let Some(layers) = shape.layers else { return (Piece::default(), scope) };
    let [column, layer, number, each] = ["column", "layer", "number", "each"].map(|what| name(&format!("pl_{what}{lane}")));
    let at = |instruction: Instruction, after: &[&Name]| {
        instruction.after(scope.ready.iter().chain(after.iter().copied()).cloned()).within(scope.inames.clone())
    };
    let (here, index) = (scope.element.clone(), shape.index);
    let piece = match layers.varied {
        true => {
            let shift = entry_of_column(Expr::from(&column), Tall::Shift);
            Piece::default()
                .then(at(known(column.as_str(), index, entry(Array::Columns, here.clone())), &[]))
                .then(at(known(layer.as_str(), index, here + shift), &[&column]))
        }
        false => {
            // Unsigned, so that the quotient needs no care for negative numbers.
            let visits = Expr::from(&Number::Visits.name());
            let above = here.clone() - Expr::from(&column) * visits.clone();
            Piece::default()
                .then(at(known(number.as_str(), DType::U32, here), &[]))
                .then(at(known(each.as_str(), DType::U32, visits), &[]))
                .then(at(known(column.as_str(), index, Expr::from(&number).floor_divide(Expr::from(&each))), &[&number, &each]))
                .then(at(known(layer.as_str(), index, Expr::from(&Number::Bottom.name()) + above), &[&column]))
        }
    };
    let ready = scope.ready.iter().cloned().chain([column.clone(), layer.clone()]).collect();
    let level = Level::new(layers, Expr::from(&column), Expr::from(&layer), false);
    (piece, Scope { ready, level: Some(level), ..scope })
}

/// Columns from that of one visit to that of another, where all columns are alike: maps are read once for each column.
pub(super) struct Columns {
    /// The loop over columns, and the rows of maps; in it `pl_low` and `pl_high` are the first visit of the column and the one behind the last.
    pub piece: Piece,
    /// The inames around what is done in a column.
    pub inames: Vec<Name>,
    /// The instructions after which the column is known.
    ready: Vec<Name>,
    layers: LayerShape,
    index: DType,
}

impl Columns {
    /// `around` is the loop around all of it, and `from` and `to` are known in it.
    pub fn new(shape: &Shape, layers: LayerShape, around: &Name, from: &str, to: &str) -> Columns {
        let column = name("pl_column");
        let (index, visits) = (shape.index, Expr::from(&Number::Visits.name()));
        let of_group = |instruction: Instruction| instruction.after([from, to]).within([around.clone()]);
        let inames = vec![around.clone(), column.clone()];
        let of_column = |instruction: Instruction| instruction.after([from, to]).within(inames.clone());
        let mut piece = Piece::default()
            .then(of_group(known("pl_left", index, Expr::var(from).floor_divide(visits.clone()))))
            .then(of_group(known("pl_right", index, (Expr::var(to) + visits.clone() - 1).floor_divide(visits.clone()))))
            .then(of_column(known("pl_low", index, (Expr::var(from) - before()).max(Expr::int(0)))))
            .then(of_column(known("pl_high", index, (Expr::var(to) - before()).min(visits))));
        piece.domains.push(range(&column, Affine::name("pl_left"), Affine::name("pl_right")));
        let mut ready = Vec::new();
        for (number, map) in shape.maps.iter().enumerate().filter(|(_, map)| has_row(map)) {
            let slot = Name::from(format!("pl_i{number}"));
            let fetched = Instruction::assign(
                row_of(number),
                Expr::from(&row_of(number)).at([Expr::from(&slot)]),
                fetch(map, number, Expr::from(&column), Expr::from(&slot)),
            );
            piece = piece
                .loop_over(&slot, map.arity, map.arity <= UNROLLED)
                .private(&row_of(number), DType::I32, &[map.arity])
                .then(fetched.after([] as [Name; 0]).within(inames.iter().cloned().chain([slot.clone()])));
            ready.push(row_of(number));
        }
        Columns { piece, inames, ready, layers, index }
    }

    /// The visits of a column one by one, from that of number `from`. Nothing is done before `after`.
    pub fn each(&self, from: &str, after: &[Name]) -> (Piece, Scope) {
        let place = name("pl_above");
        let mut piece = Piece::default();
        piece.domains.push(range(&place, Affine::name(from), Affine::name("pl_high")));
        let after: Vec<Name> = ["pl_low", from, "pl_high"].into_iter().map(Name::from).chain(after.iter().cloned()).collect();
        let (found, scope) = self.visit("", Expr::from(&place), &place, &after);
        (piece.and(found), scope)
    }

    /// The visit at a place of a column; `lane` tells several of them apart, and `iname` is the loop over them, in that of `self`.
    pub fn visit(&self, lane: &str, place: Expr, iname: &Name, after: &[Name]) -> (Piece, Scope) {
        let inames: Vec<Name> = self.inames.iter().cloned().chain([iname.clone()]).collect();
        let [element, layer] = ["e", "layer"].map(|what| name(&format!("pl_{what}{lane}")));
        let of_visit = |instruction: Instruction| instruction.after(after.to_vec()).within(inames.clone());
        let piece = Piece::default().then(of_visit(known(element.as_str(), self.index, before() + place.clone()))).then(of_visit(known(
            layer.as_str(),
            self.index,
            Expr::from(&Number::Bottom.name()) + place,
        )));
        let ready = [element.clone(), layer.clone()].into_iter().chain(self.ready.iter().cloned()).collect();
        (piece, self.scope(inames, ready, Expr::from(&element), Expr::from(&layer)))
    }

    /// The same with nothing that is known in the loop over visits, so that other loops can be around it.
    pub fn bare_visit(&self, place: Expr, iname: &Name, after: &[Name]) -> Scope {
        let inames = self.inames.iter().cloned().chain([iname.clone()]).collect();
        let ready = after.iter().chain(&self.ready).cloned().collect();
        self.scope(inames, ready, before() + place.clone(), Expr::from(&Number::Bottom.name()) + place)
    }

    fn scope(&self, inames: Vec<Name>, ready: Vec<Name>, element: Expr, layer: Expr) -> Scope {
        let level = Level::new(self.layers, Expr::var("pl_column"), layer, true);
        Scope { inames, ready, place: element.clone(), element, mask: None, level: Some(level) }
    }
}

/// How many visits are in front of those of the column at hand.
fn before() -> Expr {
    Expr::var("pl_column") * Expr::from(&Number::Visits.name())
}

/// Whether a map has a row for each column.
pub(super) fn has_row(map: &MapShape) -> bool {
    map.table.is_some() && !map.by_visit
}

/// The private array that holds the row of a map for the column at hand, and the instruction that fetches it.
pub(super) fn row_of(map: usize) -> Name {
    format!("pl_row{map}").into()
}

/// The value of a map for an element and a slot of a cell.
pub(super) fn fetch(map: &MapShape, number: usize, element: Expr, slot: Expr) -> Expr {
    let stored = |table: usize, row: Expr, column: Expr| Expr::from(&Array::Stored(table).name()).at([row, column]);
    let row = map.through.iter().fold(element, |row, &table| stored(table, row, Expr::int(0)));
    let column = if map.is_permuted { entry(Array::Order(number), slot) } else { slot };
    match map.table {
        Some(table) => stored(table, row, column),
        None if map.is_to_first => Expr::int(0),
        None => row,
    }
}
