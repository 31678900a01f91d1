//! Rows by bands: each thread finds the columns of the rows of one.

use std::ops::Range;

use super::pair::Pair;

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
