//! Positions in a joined source: where a byte came from, mistakes at one, and changes of the text that move no line.

use std::borrow::Cow;

use crate::error::KernelError;

/// A mistake at a byte of the joined text.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) at: usize,
    pub(crate) reason: String,
}

impl Mistake {
    pub(crate) fn at_file_line(self, joined: &str) -> KernelError {
        let row = joined[..self.at].matches('\n').count();
        let (file, line) = place_of(joined, row);
        KernelError::Source { file, line, reason: self.reason }
    }
}

/// The file and line that row `row` (from 0) of the joined text came from.
pub(crate) fn place_of(joined: &str, row: usize) -> (String, usize) {
    let (file, line) = LineMap::of(joined).place(row);
    (file.to_owned(), line)
}

/// Where the rows of a joined text came from.
pub(crate) struct LineMap<'a> {
    /// The rows of the `#line` marks, with the line and the file that each gives to the next row.
    marks: Vec<(usize, usize, &'a str)>,
}

impl<'a> LineMap<'a> {
    pub(crate) fn of(joined: &'a str) -> LineMap<'a> {
        let mark = |(row, line): (usize, &'a str)| {
            let (number, name) = line.strip_prefix("#line ")?.split_once(' ')?;
            Some((row, number.parse().ok()?, name.trim_matches('"')))
        };
        LineMap { marks: joined.lines().enumerate().filter_map(mark).collect() }
    }

    /// The file and line of row `row`, from 0.
    pub(crate) fn place(&self, row: usize) -> (&'a str, usize) {
        let after = self.marks.partition_point(|(mark, _, _)| *mark < row);
        match after.checked_sub(1).map(|before| self.marks[before]) {
            Some((mark, line, file)) => (file, usize::saturating_add(line, row - mark - 1)),
            None => ("", row + 1),
        }
    }
}

/// A change of the text: `remove` bytes at `at` give way to `insert`.
pub(crate) struct Edit {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: Cow<'static, str>,
}

/// The text with all changes made; of two that overlap the first counts.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at);
    let mut out = String::with_capacity(text.len() + 16 * edits.len());
    let mut done = 0;
    for edit in edits {
        if edit.at < done {
            continue;
        }
        out.push_str(&text[done..edit.at]);
        out.push_str(&edit.insert);
        done = edit.at + edit.remove;
    }
    out.push_str(&text[done..]);
    out
}
