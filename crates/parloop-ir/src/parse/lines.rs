//! Splits a text of instructions into statements: comments are blanked out, and a statement continues while a bracket is open.

use std::ops::Range;

use super::error::{Mistake, ParseError};
use super::lex::quoted;

/// One statement.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its byte range, without surrounding spaces.
    pub span: Range<usize>,
    /// The part before its options.
    pub head: Range<usize>,
    /// The part between the braces of its options.
    pub options: Option<Range<usize>>,
    /// The part after its options.
    pub tail: Range<usize>,
}

/// A text of instructions with comments replaced by spaces, so that positions are unchanged, and its statements.
pub(super) struct Lines {
    pub clean: String,
    pub lines: Vec<Line>,
}

pub(super) fn lines(text: &str) -> Result<Lines, ParseError> {
    let mut clean = text.to_owned();
    let mut lines = Vec::new();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut braces: Option<Range<usize>> = None;
    let (mut start, mut at) = (0, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'#' => {
                let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
                clean.replace_range(at..end, &" ".repeat(end - at));
                at = end;
                continue;
            }
            b'"' | b'\'' => {
                at = quoted(text, at..text.len())?.1;
                continue;
            }
            b'(' | b'[' | b'{' => open.push((byte, at)),
            b')' | b']' | b'}' => {
                let start = close(text, &mut open, at)?;
                if byte == b'}' && open.is_empty() && braces.is_none() {
                    braces = Some(start..at + 1);
                }
            }
            b'\n' if open.is_empty() => {
                lines.extend(line(&clean, start..at, braces.take()));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if let Some(&(byte, at)) = open.last() {
        let mistake = Mistake::Unclosed { open: char::from(byte).to_string(), close: char::from(closing(byte)).to_string() };
        return Err(ParseError::at(text, at..at + 1, mistake));
    }
    lines.extend(line(&clean, start..text.len(), braces));
    Ok(Lines { clean, lines })
}

/// Closes the innermost bracket with the byte there, and returns where it was opened.
fn close(text: &str, open: &mut Vec<(u8, usize)>, at: usize) -> Result<usize, ParseError> {
    let byte = text.as_bytes()[at];
    match open.pop() {
        Some((opening, start)) if closing(opening) == byte => Ok(start),
        Some((opening, start)) => {
            let mistake = Mistake::Unclosed { open: char::from(opening).to_string(), close: char::from(closing(opening)).to_string() };
            Err(ParseError::at(text, start..start + 1, mistake))
        }
        None => Err(ParseError::at(text, at..at + 1, Mistake::Unopened { close: char::from(byte).to_string() })),
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

fn line(clean: &str, within: Range<usize>, braces: Option<Range<usize>>) -> Option<Line> {
    let span = trimmed(clean, within);
    if span.is_empty() {
        return None;
    }
    Some(match braces {
        Some(braces) => Line {
            head: trimmed(clean, span.start..braces.start),
            options: Some(braces.start + 1..braces.end - 1),
            tail: trimmed(clean, braces.end..span.end),
            span,
        },
        None => Line { head: span.clone(), options: None, tail: span.end..span.end, span },
    })
}

/// The range without surrounding spaces.
pub fn trimmed(text: &str, within: Range<usize>) -> Range<usize> {
    let part = &text[within.clone()];
    let start = within.start + (part.len() - part.trim_start().len());
    start..start.max(within.start + part.trim_end().len())
}

/// The trimmed parts between separators outside brackets and quotes. The brackets of the text must match.
pub(super) fn split(text: &str, within: Range<usize>, separator: u8) -> Result<Vec<Range<usize>>, ParseError> {
    let mut parts = Vec::new();
    let mut depth = 0usize;
    let (mut start, mut at) = (within.start, within.start);
    while at < within.end {
        match text.as_bytes()[at] {
            b'"' | b'\'' => {
                at = quoted(text, at..within.end)?.1;
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            byte if byte == separator && depth == 0 => {
                parts.push(trimmed(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(trimmed(text, start..within.end));
    Ok(parts)
}

/// The position of the first such byte outside quotes.
pub(super) fn find(text: &str, within: Range<usize>, wanted: u8) -> Result<Option<usize>, ParseError> {
    let mut at = within.start;
    while at < within.end {
        match text.as_bytes()[at] {
            b'"' | b'\'' => at = quoted(text, at..within.end)?.1,
            byte if byte == wanted => return Ok(Some(at)),
            _ => at += 1,
        }
    }
    Ok(None)
}
