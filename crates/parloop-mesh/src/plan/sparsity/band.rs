//! Rows by bands: each thread finds the elements that lead to its rows, and then row by row the columns that these lead to.

use std::ops::Range;

use super::distinct::Distinct;
use super::pair::Pair;
use super::threads;
use crate::plan::PlanError;

/// How many elements are passed over at a time where they lead to no row of a band.
const RUN: usize = 1024;

/// About how many elements of a pair are looked at to cut the rows.
const SAMPLE: usize = 1 << 14;

/// Cuts the rows into at most `count` bands of about equal work.
pub(super) fn cut(pairs: &[Pair], rows: usize, count: usize) -> Vec<Range<usize>> {
    if count == 1 {
        return std::iter::once(0..rows).collect();
    }
    // Work by cells of rows: rows themselves, and the pairs of targets in them.
    let cells = rows.min(1 << 12);
    let first_row = |cell: usize| (cell as u64 * rows as u64 / cells as u64) as usize;
    let mut work: Vec<u64> = (0..cells).map(|cell| (first_row(cell + 1) - first_row(cell)) as u64).collect();
    let mut targets = Vec::new();
    for pair in pairs {
        let step = pair.count().div_ceil(SAMPLE).max(1);
        for place in (0..pair.count()).step_by(step) {
            targets.clear();
            pair.rows.read(place..place + 1, &mut targets);
            for &target in targets.iter().filter(|&&target| target >= 0) {
                let cell = (target as u64 * cells as u64 / rows as u64) as usize;
                work[cell] += (step * (1 + pair.columns.size().arity)) as u64;
            }
        }
    }
    let all: u64 = work.iter().sum();
    let mut bands = Vec::with_capacity(count);
    let (mut done, mut start) = (0u64, 0);
    for (cell, work) in work.iter().enumerate() {
        done += work;
        if u128::from(done) * count as u128 >= u128::from(all) * (bands.len() as u128 + 1) {
            let end = first_row(cell + 1);
            bands.push(start..end);
            start = end;
        }
    }
    bands
}

/// For each run of elements of each pair, the range of rows that it leads to, where there are several bands.
pub(super) fn spans(pairs: &[Pair], bands: usize) -> Result<Vec<Vec<Range<usize>>>, PlanError> {
    if bands < 2 {
        return Ok(vec![Vec::new(); pairs.len()]);
    }
    let of_pair = |pair: &Pair| {
        let runs = pair.count().div_ceil(RUN);
        let parts: Vec<Range<usize>> = (0..bands).map(|part| runs * part / bands..runs * (part + 1) / bands).collect();
        let of_part = |part: Range<usize>| -> Vec<Range<usize>> {
            part.map(|run| pair.rows.span(run * RUN..(run * RUN + RUN).min(pair.count()))).collect()
        };
        Ok(threads::each(parts, of_part)?.concat())
    };
    pairs.iter().map(of_pair).collect()
}

/// The rows of a band: `columns[starts[r]..starts[r + 1]]`, counted from its first row.
pub(super) struct Band {
    pub starts: Vec<i64>,
    pub columns: Vec<i32>,
}

impl Band {
    pub(super) fn rows(&self) -> usize {
        self.starts.len() - 1
    }
}

/// What all bands are made of.
pub(super) struct Plan<'a> {
    pub pairs: &'a [Pair<'a>],
    /// As [`spans`] has them.
    pub spans: &'a [Vec<Range<usize>>],
    /// How many columns there are.
    pub width: usize,
    /// How many rows have a block on the diagonal for certain.
    pub diagonal: usize,
}

impl Plan<'_> {
    pub(super) fn band(&self, rows: Range<usize>) -> Band {
        let sorted: Vec<Sorted> = self.pairs.iter().zip(self.spans).map(|(pair, spans)| Sorted::new(pair, spans, &rows)).collect();
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0i64);
        // Most pairs of targets are met more than once. What is too much takes no memory until it is given back.
        let met: usize = sorted.iter().map(|sorted| sorted.places.len() * sorted.pair.columns.size().arity).sum();
        let mut columns = Vec::with_capacity(met / 2 + starts.capacity());
        let mut found = Distinct::new();
        for (number, row) in rows.enumerate() {
            let met: usize = sorted.iter().map(|sorted| sorted.row(number).len() * sorted.pair.columns.size().arity).sum();
            found.clear((met + 1).min(self.width));
            for sorted in &sorted {
                sorted.pair.columns.collect(sorted.row(number), &mut found);
            }
            if row < self.diagonal {
                found.add(|adding| adding.insert(row as i32));
            }
            columns.extend_from_slice(found.sorted());
            starts.push(columns.len() as i64);
        }
        columns.shrink_to_fit();
        Band { starts, columns }
    }
}

/// The places of a pair by the rows of a band that they lead to.
struct Sorted<'a> {
    pair: &'a Pair<'a>,
    /// Where each row starts; one more than there are rows.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl<'a> Sorted<'a> {
    fn new(pair: &'a Pair<'a>, spans: &[Range<usize>], band: &Range<usize>) -> Self {
        let whole = 0..pair.count();
        let near: Vec<Range<usize>> = match spans {
            [] => std::iter::once(whole).collect(),
            spans => {
                let meets = |span: &Range<usize>| span.start < band.end && band.start < span.end;
                let run = |number: usize| number * RUN..(number * RUN + RUN).min(pair.count());
                spans.iter().enumerate().filter(|(_, span)| meets(span)).map(|(number, _)| run(number)).collect()
            }
        };
        let mut starts = vec![0u32; band.len() + 1];
        for places in &near {
            pair.rows.tally(places.clone(), band.start, &mut starts[1..]);
        }
        for row in 0..band.len() {
            starts[row + 1] += starts[row];
        }
        let mut places = vec![0u32; starts[band.len()] as usize];
        for near in near {
            pair.rows.sort(near, band.start, &mut starts[..band.len()], &mut places);
        }
        // Each start has moved to the end of its row, which is the start of the next.
        starts.copy_within(0..band.len(), 1);
        starts[0] = 0;
        Self { pair, starts, places }
    }

    fn row(&self, number: usize) -> &[u32] {
        &self.places[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}
