//! Which elements are visited, in which loops: the part of a loop kernel around the user's kernel.

use parloop_device::DType;
use parloop_loop::syntax::{Expr, InameTag, Instruction};
use parloop_loop::{Affine, Name, Set};

use super::level::{self, Columns};
use super::names::{Array, Number};
use super::piece::{Piece, affine, bounded, linear, range};
use super::scope::{Mask, Scope, entry, known, name};
use super::{Apart, BLOCK, Batches, COLUMN_NUMBERS, EACH, Form, LANES, Machine};
use crate::shape::Shape;

/// The loops around the body.
#[derive(Debug)]
pub(super) struct Frame {
    pub piece: Piece,
    /// Where the body stands.
    pub body: Scope,
    /// The inames around what is done once for each group or row.
    pub outer: Vec<Name>,
    /// How elements are run in batches, if they are.
    pub lanes: Option<Lanes>,
    /// The row that gathers, and the slot of the element that leads to it.
    pub target: Option<Target>,
}

/// Batches of elements in the lanes of vectors.
#[derive(Debug)]
pub(super) struct Lanes {
    /// Where a lane is computed, in the loop `pl_v`.
    pub compute: Scope,
    pub writeback: Writeback,
    /// How many lanes a batch has at most.
    pub count: usize,
    /// Where the lanes of a batch are in a flat set.
    pub places: Option<BatchPlaces>,
}

/// Where the lanes of a batch are, outside of the loop over them.
#[derive(Debug)]
pub(super) struct BatchPlaces {
    /// The loops around a batch.
    pub inames: Vec<Name>,
    /// The instructions after which the batch is known.
    pub ready: Vec<Name>,
    listed: bool,
}

impl BatchPlaces {
    /// The element in a lane.
    pub fn scope(&self, lane: usize) -> Scope {
        let place = Expr::var("pl_lo") + Expr::from(LANES) * "pl_b" + lane;
        let element = if self.listed { entry(Array::List, place.clone()) } else { place.clone() };
        Scope { inames: self.inames.clone(), ready: self.ready.clone(), element, place, mask: None, level: None }
    }
}

/// How what a batch left is kept.
pub(super) enum Writeback {
    /// Lane by lane in one loop, `pl_u`.
    InOrder(Box<Scope>),
    /// Number by number, each in a loop over all lanes, which is given: lanes one after another lead to rows one after another, so that
    /// compilers keep them by vectors.
    BySlots(Box<dyn Fn(&Name) -> Scope>),
}

impl std::fmt::Debug for Writeback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Writeback::InOrder(scope) => f.debug_tuple("InOrder").field(scope).finish(),
            Writeback::BySlots(_) => f.write_str("BySlots"),
        }
    }
}

/// The row that gathers.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub row: Expr,
    /// The instruction after which it is known.
    pub ready: Name,
    pub slot: Expr,
}

/// The frame of a form. `lane_writes`: the instructions that write what batches leave.
pub(super) fn frame(shape: &Shape, form: &Form, machine: Machine, lane_writes: &[Name]) -> Frame {
    match (form, machine) {
        (Form::Elements { visits, apart, batches }, Machine::Threads) => {
            let groups = Groups { shape, listed: visits.is_listed(), masked: *apart == Apart::Mask };
            if *batches == Batches::Single { groups.frame() } else { groups.batches(lane_writes) }
        }
        (Form::Elements { visits, .. }, Machine::Gpu) => match shape.parts.iter().any(|part| part.is_reduced()) {
            true => several_each(shape, visits.is_listed()),
            false => items(shape, visits.is_listed()),
        },
        (Form::Targets { maps, listed, .. }, _) => targets(shape, maps, *listed),
    }
}

fn names<const N: usize>(names: [&str; N]) -> Vec<Name> {
    names.map(Name::from).to_vec()
}

/// Groups of elements, each from a bound to another, that threads take.
struct Groups<'a> {
    shape: &'a Shape,
    listed: bool,
    masked: bool,
}

impl Groups<'_> {
    fn frame(&self) -> Frame {
        if let Some(columns) = self.columns() {
            let (visits, body) = columns.each("pl_low", &[]);
            let piece = self.bounds().and(columns.piece).and(visits);
            return Frame { piece, body, outer: names(["pl_g"]), lanes: None, target: None };
        }
        let around = names(["pl_g", "pl_k"]);
        let loops = range(&around[1], Affine::name("pl_lo"), Affine::name("pl_hi"));
        let (visit, body) = self.visit("", Expr::var("pl_k"), &around, &names(["pl_lo", "pl_hi"]));
        let mut piece = self.bounds();
        piece.domains.push(loops);
        Frame { piece: piece.and(visit), body, outer: names(["pl_g"]), lanes: None, target: None }
    }

    /// The columns of the groups, where visits follow one another in them.
    fn columns(&self) -> Option<Columns> {
        let layers = self.shape.layers.filter(|_| goes_by_columns(self.shape, self.listed))?;
        Some(Columns::new(self.shape, layers, &name("pl_g"), "pl_lo", "pl_hi"))
    }

    /// Where a group begins and ends.
    fn bounds(&self) -> Piece {
        let (group, index) = (name("pl_g"), self.shape.index);
        let mut piece = Piece::default().take(Array::Bounds, DType::I32, None);
        piece = piece.take_number(Number::First, index).take_number(Number::Groups, index);
        piece.domains.push(range(&group, Affine::constant(0), Affine::name(Number::Groups.name())));
        piece.tags.push((group.clone(), InameTag::Group(0)));
        if self.listed {
            piece = piece.take(Array::List, DType::I32, None);
        }
        if self.masked {
            piece = piece.take(Array::Masks, DType::U32, None);
        }
        let first = (Expr::from(&Number::First.name()) + &group) * 2;
        piece
            .then(known("pl_lo", index, entry(Array::Bounds, first.clone())).after(NONE).within([group.clone()]))
            .then(known("pl_hi", index, entry(Array::Bounds, first + 1)).after(NONE).within([group]))
    }

    /// The element at a place, and its mask; `lane` tells several of them apart.
    fn visit(&self, lane: &str, place: Expr, inames: &[Name], after: &[Name]) -> (Piece, Scope) {
        let (element, word) = (format!("pl_e{lane}"), format!("pl_m{lane}"));
        let found = if self.listed { entry(Array::List, place.clone()) } else { place.clone() };
        let around = |instruction: Instruction| instruction.after(after.to_vec()).within(inames.to_vec());
        let mut piece = Piece::default().then(around(known(&element, self.shape.index, found)));
        let mut scope = Scope {
            inames: inames.to_vec(),
            ready: vec![name(&element)],
            element: Expr::var(element.as_str()),
            place: place.clone(),
            mask: None,
            level: None,
        };
        if self.masked {
            let words = self.shape.mask_words();
            let one = words == 1;
            if one {
                piece = piece.then(around(known(&word, DType::U32, entry(Array::Masks, place.clone()))));
                scope.ready.push(name(&word));
            }
            scope.mask = Some(Mask { word: one.then(|| Expr::var(word.as_str())), place, words });
        }
        let (level, scope) = level::found(self.shape, lane, scope);
        (piece.and(level), scope)
    }

    /// Groups whose elements are run in batches, and those that are left one by one, after `lane_writes`.
    fn batches(&self, lane_writes: &[Name]) -> Frame {
        if let Some(columns) = self.columns().filter(|_| !self.masked) {
            return self.batches_of_columns(columns, lane_writes);
        }
        let index = self.shape.index;
        let (group, batch, last) = (name("pl_g"), name("pl_b"), name("pl_k"));
        let mut piece = self.bounds();
        let batches = (Expr::var("pl_hi") - "pl_lo").floor_divide(LANES);
        piece = piece.then(known("pl_batches", index, batches).after(["pl_lo", "pl_hi"]).within([group.clone()])).then(
            known("pl_mid", index, Expr::var("pl_lo") + Expr::from(LANES) * "pl_batches")
                .after(["pl_batches", "pl_lo"])
                .within([group.clone()]),
        );
        piece.domains.push(range(&last, Affine::name("pl_mid"), Affine::name("pl_hi")));
        piece.domains.push(range(&batch, Affine::constant(0), Affine::name("pl_batches")));
        let lanes = ["v", "u"].map(|lane| {
            let (iname, place) = (name(&format!("pl_{lane}")), format!("pl_c{lane}"));
            let inames = vec![group.clone(), batch.clone(), iname.clone()];
            let value = Expr::var("pl_lo") + Expr::from(LANES) * &batch + &iname;
            let mut found = Piece::default().loop_over(&iname, LANES, false);
            found = found.then(known(&place, index, value).after(["pl_batches", "pl_lo"]).within(inames.clone()));
            // Lanes are computed whole, and kept where their masks say.
            let groups = Groups { masked: self.masked && lane == "u", ..*self };
            let (visit, scope) = groups.visit(lane, Expr::var(place.as_str()), &inames, &[name(&place)]);
            (found.and(visit), scope)
        });
        // The elements that are left come last, as they do in order.
        let after: Vec<Name> = names(["pl_mid", "pl_hi"]).into_iter().chain(lane_writes.iter().cloned()).collect();
        let (visit, body) = self.visit("", Expr::from(&last), &[group.clone(), last.clone()], &after);
        let [(first, compute), (second, scope)] = lanes;
        let piece = piece.and(visit).and(first).and(second);
        let places = BatchPlaces { inames: vec![group.clone(), batch], ready: names(["pl_batches", "pl_lo"]), listed: self.listed };
        let lanes = Lanes { compute, writeback: Writeback::InOrder(Box::new(scope)), count: LANES, places: Some(places) };
        Frame { piece, body, outer: vec![group], lanes: Some(lanes), target: None }
    }

    /// Batches of visits that follow one another in a column, the last of which may be short; none is left for the body.
    fn batches_of_columns(&self, mut columns: Columns, lane_writes: &[Name]) -> Frame {
        let (index, batch, most) = (self.shape.index, name("pl_b"), column_lanes(self.shape));
        let around = std::mem::take(&mut columns.piece);
        let of_column = |instruction: Instruction| instruction.after(["pl_low", "pl_high"]).within(columns.inames.clone());
        let batches = (Expr::var("pl_high") - "pl_low" + (most - 1)).floor_divide(most);
        let mut piece = self.bounds().and(around);
        piece = piece.then(of_column(known("pl_batches", index, batches))).then(of_column(known("pl_mid", index, Expr::var("pl_high"))));
        piece.domains.push(range(&batch, Affine::constant(0), Affine::name("pl_batches")));
        let after: Vec<Name> = names(["pl_mid"]).into_iter().chain(lane_writes.iter().cloned()).collect();
        let (rest, body) = columns.each("pl_mid", &after);
        columns.inames.push(batch.clone());
        let of_batch = |instruction: Instruction| instruction.after(["pl_batches", "pl_low", "pl_high"]).within(columns.inames.clone());
        let base = Expr::var("pl_low") + Expr::from(most) * &batch;
        piece = piece.and(rest).then(of_batch(known("pl_base", index, base.clone()))).then(of_batch(known(
            "pl_size",
            index,
            (Expr::var("pl_high") - base).min(Expr::from(most)),
        )));
        let known_batch = names(["pl_base", "pl_size"]);
        let place = |iname: &Name| Expr::var("pl_base") + iname;
        let lane = name("pl_v");
        piece.domains.push(range(&lane, Affine::constant(0), Affine::name("pl_size")));
        let (found, compute) = columns.visit("v", place(&lane), &lane, &known_batch);
        piece = piece.and(found);
        // What the last of several visits leaves depends on their order.
        let writeback = match self.shape.parts.iter().any(|part| part.can_meet() && !part.access.is_reduction()) {
            true => {
                let lane = name("pl_u");
                piece.domains.push(range(&lane, Affine::constant(0), Affine::name("pl_size")));
                let (found, scope) = columns.visit("u", place(&lane), &lane, &known_batch);
                piece = piece.and(found);
                Writeback::InOrder(Box::new(scope))
            }
            false => Writeback::BySlots(Box::new(move |lane: &Name| columns.bare_visit(place(lane), lane, &known_batch))),
        };
        let lanes = Lanes { compute, writeback, count: most, places: None };
        Frame { piece, body, outer: names(["pl_g"]), lanes: Some(lanes), target: None }
    }
}

/// How many visits of a column a batch has at most.
fn column_lanes(shape: &Shape) -> usize {
    let numbers = shape.params.iter().filter(|param| param.access.writes()).map(|param| param.size).sum::<usize>();
    (COLUMN_NUMBERS / numbers.max(1)).clamp(LANES, 128).next_power_of_two()
}

/// Whether visits are run column by column, all of which are alike.
pub(super) fn goes_by_columns(shape: &Shape, listed: bool) -> bool {
    shape.layers.is_some_and(|layers| !layers.varied) && !listed
}

/// No instructions.
const NONE: [Name; 0] = [];

/// A work item for each element.
fn items(shape: &Shape, listed: bool) -> Frame {
    let (group, item) = (name("pl_g"), name("pl_l"));
    let inames = vec![group.clone(), item.clone()];
    let (mut piece, body) = on_items(shape, listed, linear(0, &[(BLOCK, &group), (1, &item)]), &inames);
    piece.domains.push(block(&group, &item));
    Frame { piece, body, outer: inames, lanes: None, target: None }
}

/// A work item for several elements, so that there are fewer sums to combine.
fn several_each(shape: &Shape, listed: bool) -> Frame {
    let (group, item, turn, count) = (name("pl_g"), name("pl_l"), name("pl_k"), Affine::name(Number::Count.name()));
    let size = BLOCK * EACH;
    let items = bounded(
        &[&group, &item],
        &[
            (Affine::constant(0), Affine::name(item.clone()), 0),
            (Affine::name(item.clone()), Affine::constant(BLOCK as i64), 1),
            (Affine::constant(0), Affine::name(group.clone()), 0),
            (affine(&[(size as i64, &group)]), count.clone(), 1),
        ],
    );
    let turns = bounded(
        &[&turn],
        &[
            (Affine::constant(0), Affine::name(turn.clone()), 0),
            (Affine::name(turn.clone()), Affine::constant(EACH as i64), 1),
            (affine(&[(size as i64, &group), (BLOCK as i64, &turn), (1, &item)]), count, 1),
        ],
    );
    let outer = vec![group.clone(), item.clone()];
    let inames = vec![group.clone(), item.clone(), turn.clone()];
    let (mut piece, body) = on_items(shape, listed, linear(0, &[(size, &group), (BLOCK, &turn), (1, &item)]), &inames);
    piece.domains.extend([items, turns]);
    Frame { piece, body, outer, lanes: None, target: None }
}

/// What both have in common: the element at a place of the launch.
fn on_items(shape: &Shape, listed: bool, place: Expr, inames: &[Name]) -> (Piece, Scope) {
    let place = Expr::from(&Number::Begin.name()) + place;
    let element = if listed { entry(Array::List, place.clone()) } else { place.clone() };
    let mut piece = on_blocks();
    for number in [Number::Begin, Number::Count, Number::First] {
        piece = piece.take_number(number, shape.index);
    }
    if listed {
        piece = piece.take(Array::List, DType::I32, None);
    }
    let piece = piece.then(known("pl_e", shape.index, element).after(NONE).within(inames.to_vec()));
    let scope = Scope { inames: inames.to_vec(), ready: names(["pl_e"]), element: Expr::var("pl_e"), place, mask: None, level: None };
    let (level, scope) = level::found(shape, "", scope);
    (piece.and(level), scope)
}

/// Blocks of work items.
pub(super) fn on_blocks() -> Piece {
    Piece { tags: vec![(name("pl_g"), InameTag::Group(0)), (name("pl_l"), InameTag::Local(0))], ..Piece::default() }
}

/// A work item for each row; it goes through the elements that lead to the row.
fn targets(shape: &Shape, maps: &[usize], listed: bool) -> Frame {
    let slots: usize = maps.iter().map(|&map| shape.maps[map].slots).sum();
    let (group, item, turn, index) = (name("pl_g"), name("pl_l"), name("pl_j"), shape.index);
    let outer = vec![group.clone(), item.clone()];
    let inames = vec![group.clone(), item.clone(), turn.clone()];
    let mut piece = on_blocks().take(Array::Starts, shape.offsets, None).take(Array::Entries, shape.offsets, None);
    piece = piece.take_number(Number::Count, index);
    if listed {
        piece = piece.take(Array::List, DType::I32, None);
    }
    piece.domains.extend([block(&group, &item), range(&turn, Affine::name("pl_lo"), Affine::name("pl_hi"))]);
    let at = linear(0, &[(BLOCK, &group), (1, &item)]);
    let row = if listed { entry(Array::List, at.clone()) } else { at.clone() };
    let of_row = |instruction: Instruction| instruction.after(NONE).within(outer.clone());
    let of_entry = |instruction: Instruction, after: &[&str]| instruction.after(after.iter().copied()).within(inames.clone());
    piece = piece
        .then(of_row(known("pl_r", index, row)))
        .then(of_row(known("pl_lo", index, entry(Array::Starts, at.clone()))))
        .then(of_row(known("pl_hi", index, entry(Array::Starts, at + 1))))
        .then(of_entry(known("pl_n", unsigned(shape.offsets), entry(Array::Entries, Expr::from(&turn))), &["pl_lo", "pl_hi"]))
        // Unsigned, so that the quotient needs no care for negative numbers.
        .then(of_entry(known("pl_e", index, Expr::var("pl_n").floor_divide(slots)), &["pl_n"]))
        .then(of_entry(known("pl_s", index, Expr::var("pl_n") % slots), &["pl_n"]));
    let (element, place) = (Expr::var("pl_e"), Expr::var("pl_e"));
    let (level, body) = level::found(shape, "", Scope { inames, ready: names(["pl_e", "pl_s"]), element, place, mask: None, level: None });
    let target = Target { row: Expr::var("pl_r"), ready: name("pl_r"), slot: Expr::var("pl_s") };
    Frame { piece: piece.and(level), body, outer, lanes: None, target: Some(target) }
}

/// The type without a sign that is as wide as an offset.
fn unsigned(offset: DType) -> DType {
    if offset == DType::I64 { DType::U64 } else { DType::U32 }
}

/// Blocks of work items for `pl_count` places.
pub(super) fn block(group: &Name, item: &Name) -> Set {
    let place = affine(&[(BLOCK as i64, group), (1, item)]);
    let limits = [
        (Affine::constant(0), Affine::name(item.clone()), 0),
        (Affine::name(item.clone()), Affine::constant(BLOCK as i64), 1),
        (Affine::constant(0), place.clone(), 0),
        (place, Affine::name(Number::Count.name()), 1),
    ];
    bounded(&[group, item], &limits)
}
