//! Rows by strips: so few rows at a time that what is known about them stays in a near cache, where elements that follow one another lead to
//! rows and columns near each other.

use std::ops::Range;

use parloop_device::cpu::vec_with_room;

use super::band::Band;
use super::distinct::{self, Marks, Row, Table};
use super::pair::Pair;
use crate::plan::PlanError;
use crate::plan::threads;

/// How many elements are looked at together.
const RUN: usize = 512;

/// How many rows a strip has at least, and how many strips there are at most.
const ROWS: usize = 1 << 13;
const STRIPS: usize = 1 << 10;

/// How many columns are found before they are added to those of the band.
const FOUND: usize = 1 << 15;

/// What a run of elements leads to: ranges that have all of its rows and columns.
#[derive(Clone)]
pub(super) struct Span {
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The span of each run of elements of each pair.
pub(super) fn spans(pairs: &[Pair], threads: usize) -> Result<Vec<Vec<Span>>, PlanError> {
    let of_pair = |pair: &Pair| {
        let runs = pair.count().div_ceil(RUN);
        let parts: Vec<Range<usize>> = (0..threads).map(|part| runs * part / threads..runs * (part + 1) / threads).collect();
        let of_run = |number: usize| {
            let rows = pair.rows.span(run(pair, number));
            Span { columns: if pair.is_square() { rows.clone() } else { pair.columns.span(run(pair, number)) }, rows }
        };
        Ok(threads::each(parts, |part| part.map(of_run).collect::<Vec<Span>>())?.concat())
    };
    pairs.iter().map(of_pair).collect()
}

/// The elements of a run.
fn run(pair: &Pair, number: usize) -> Range<usize> {
    number * RUN..(number * RUN + RUN).min(pair.count())
}

/// What all bands are made of.
pub(super) struct Plan<'a> {
    pub pairs: &'a [Pair<'a>],
    /// As [`spans`] has them.
    pub spans: &'a [Vec<Span>],
    /// How many columns there are.
    pub width: usize,
    /// How many rows have a block on the diagonal for certain.
    pub diagonal: usize,
}

/// Some rows, and for each pair the runs of elements that lead to them.
struct Strip {
    rows: Range<usize>,
    near: Vec<Vec<usize>>,
}

impl Plan<'_> {
    /// The rows of a band.
    pub(super) fn band(&self, rows: Range<usize>) -> Band {
        let mut making = Making::new(self);
        making.band.starts.reserve(rows.len() + 1);
        making.band.starts.push(0);
        let (strips, count) = (self.strips(rows.clone()), rows.len());
        for (number, strip) in strips.iter().enumerate() {
            making.strip(strip);
            // Rows mostly have about as many columns as the first ones.
            if number == 0 && strips.len() > 1 {
                let found = &making.band.columns;
                if let Ok(mut columns) = vec_with_room((found.len() / strip.rows.len().max(1) + 1).saturating_mul(count)) {
                    columns.extend_from_slice(found);
                    making.band.columns = columns;
                }
            }
        }
        making.band.columns.shrink_to_fit();
        making.band
    }

    /// Cuts a band into strips; it is one strip where most elements would lead to several.
    fn strips(&self, rows: Range<usize>) -> Vec<Strip> {
        let each = rows.len().div_ceil(STRIPS).max(ROWS);
        let count = rows.len().div_ceil(each).max(1);
        let meets = |span: &&Span| span.rows.start < rows.end && rows.start < span.rows.end;
        let led_to = |span: &Span| {
            let (first, last) = (span.rows.start.max(rows.start), span.rows.end.min(rows.end) - 1);
            (first - rows.start) / each..(last - rows.start) / each + 1
        };
        let near = || self.spans.iter().flatten().filter(meets);
        let (runs, visits) = near().fold((0, 0), |(runs, visits), span| (runs + 1, visits + led_to(span).len()));
        if visits > 2 * runs + count {
            let near = |spans: &Vec<Span>| spans.iter().enumerate().filter(|(_, span)| meets(span)).map(|(number, _)| number).collect();
            return vec![Strip { near: self.spans.iter().map(near).collect(), rows }];
        }
        let strip = |number: usize| rows.start + number * each..(rows.start + number * each + each).min(rows.end);
        let mut strips: Vec<Strip> =
            (0..count).map(|number| Strip { rows: strip(number), near: vec![Vec::new(); self.pairs.len()] }).collect();
        for (pair, spans) in self.spans.iter().enumerate() {
            for (number, span) in spans.iter().enumerate().filter(|(_, span)| meets(span)) {
                for strip in &mut strips[led_to(span)] {
                    strip.near[pair].push(number);
                }
            }
        }
        strips
    }

    /// The columns that a strip can have.
    fn columns_of(&self, strip: &Strip) -> Range<usize> {
        let on_diagonal = strip.rows.start..strip.rows.end.min(self.diagonal);
        let spans = self.spans.iter().zip(&strip.near).flat_map(|(spans, near)| near.iter().map(|&number| spans[number].columns.clone()));
        let spans = spans.chain([on_diagonal]).filter(|span| !span.is_empty());
        spans.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or(0..0)
    }
}

/// A band that is being made, and room for what is known of a strip.
struct Making<'a> {
    plan: &'a Plan<'a>,
    band: Band,
    sorted: Vec<Sorted>,
    marks: Marks,
    table: Table,
    found: Vec<i32>,
}

impl<'a> Making<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        let band = Band { starts: Vec::new(), columns: Vec::new() };
        let sorted = plan.pairs.iter().map(|pair| Sorted { arity: pair.columns.size().arity, ..Sorted::default() }).collect();
        Making { plan, band, sorted, marks: Marks::new(), table: Table::new(), found: Vec::new() }
    }

    fn strip(&mut self, strip: &Strip) {
        for ((sorted, pair), near) in self.sorted.iter_mut().zip(self.plan.pairs).zip(&strip.near) {
            sorted.fill(pair, near, &strip.rows);
        }
        let columns = self.plan.columns_of(strip);
        let is_marked = columns.len() <= Marks::MOST;
        if is_marked {
            self.marks.cover(columns.start, columns.len());
        }
        let mut end = 0;
        for (number, row) in strip.rows.clone().enumerate() {
            let met = self.sorted.iter().map(|sorted| sorted.row(number).len() * sorted.arity);
            let most = (met.sum::<usize>() + 1).min(self.plan.width);
            if self.found.len() < end + most {
                self.band.columns.extend_from_slice(&self.found[..end]);
                end = 0;
                self.found.resize(FOUND.max(most), 0);
            }
            let found = &mut self.found[end..end + most];
            let count = match is_marked {
                true => {
                    let mut found = Row { seen: self.marks.of_row(row), found, count: 0 };
                    for (pair, sorted) in self.plan.pairs.iter().zip(&self.sorted) {
                        pair.columns.collect_marked(sorted.row(number), &mut found);
                    }
                    if row < self.plan.diagonal {
                        found.insert(row as i32);
                    }
                    found.count
                }
                false => {
                    let mut found = Row { seen: self.table.of_row(most), found, count: 0 };
                    for (pair, sorted) in self.plan.pairs.iter().zip(&self.sorted) {
                        pair.columns.collect_hashed(sorted.row(number), &mut found);
                    }
                    if row < self.plan.diagonal {
                        found.insert(row as i32);
                    }
                    found.count
                }
            };
            distinct::sort(&mut self.found[end..end + count]);
            end += count;
            self.band.starts.push((self.band.columns.len() + end) as i64);
        }
        self.band.columns.extend_from_slice(&self.found[..end]);
    }
}

/// The elements of a pair by the rows of a strip that they lead to.
#[derive(Default)]
struct Sorted {
    /// Where each row starts; one more than there are rows.
    starts: Vec<u32>,
    places: Vec<u32>,
    /// How many columns each leads to.
    arity: usize,
}

impl Sorted {
    fn fill(&mut self, pair: &Pair, near: &[usize], rows: &Range<usize>) {
        let starts = &mut self.starts;
        starts.clear();
        starts.resize(rows.len() + 1, 0);
        for &number in near {
            pair.rows.tally(run(pair, number), rows.start, &mut starts[1..]);
        }
        for row in 0..rows.len() {
            starts[row + 1] += starts[row];
        }
        // Every place is written below.
        self.places.resize(starts[rows.len()] as usize, 0);
        for &number in near {
            pair.rows.sort(run(pair, number), rows.start, &mut starts[..rows.len()], &mut self.places);
        }
        // Each start has moved to the end of its row, which is the start of the next.
        starts.copy_within(0..rows.len(), 1);
        starts[0] = 0;
    }

    fn row(&self, number: usize) -> &[u32] {
        &self.places[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}
