//! Transformations as lines: `split_iname i 16 outer_tag=g.0`, `add_prefetch a [k_inner, i_inner]`, `tag_inames {i: g.0, j: l.1}`.

use std::ops::Range;

use parloop_isl::Name;

use super::error::{Mistake, ParseError};
use super::lex::quoted;
use crate::step::{StepValue, TransformStep};

/// The maximum nesting depth of lists.
const MAX_DEPTH: usize = 20;

/// Parses a transformation with its arguments: words, numbers, `"strings"`, `[lists]`, `{keys: values}`, and `name=value`.
///
/// ```
/// let step = parloop_loop::parse::step("split_iname i 16 outer_tag=g.0")?;
/// assert_eq!(step.to_string(), "split_iname i 16 outer_tag=g.0");
/// # Ok::<(), parloop_loop::parse::ParseError>(())
/// ```
///
/// # Errors
/// Reports what was expected and what was found, with a caret.
pub fn step(text: &str) -> Result<TransformStep, ParseError> {
    step_within(text, 0..text.len())
}

/// [`step`] in a part of a text.
///
/// # Errors
/// As [`step`], with the position in the whole text.
pub fn step_within(text: &str, within: Range<usize>) -> Result<TransformStep, ParseError> {
    let mut reader = Reader { text, at: within.start, end: within.end };
    reader.skip_spaces();
    let name = reader.word(SPECIAL);
    if name.is_empty() {
        return Err(reader.expected("the name of a transformation"));
    }
    let mut step = TransformStep { name: name.into(), args: Vec::new(), keywords: Vec::new() };
    loop {
        reader.skip_spaces();
        if reader.at == reader.end {
            return Ok(step);
        }
        let start = reader.at;
        let word = reader.word(SPECIAL);
        if !word.is_empty() && reader.accept('=') {
            let name = Name::from(word);
            let value = reader.value(0, SPECIAL)?;
            step.keywords.push((name, value));
        } else {
            reader.at = start;
            if !step.keywords.is_empty() {
                return Err(reader.expected("a keyword argument, since the one before it is a keyword argument"));
            }
            step.args.push(reader.value(0, SPECIAL)?);
        }
    }
}

/// What ends a word.
const SPECIAL: &str = "[]{}\",='";
/// What ends a word between braces.
pub(crate) const SPECIAL_IN_MAP: &str = "[]{}\",=':";

struct Reader<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next word, which may be empty.
    fn word(&mut self, special: &str) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c: char| c.is_whitespace() || special.contains(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn accept(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn expected(&self, expected: &str) -> ParseError {
        let (found, length) = match self.rest().chars().next() {
            Some(c) => (format!("`{c}`"), c.len_utf8()),
            None => ("the end of the line".to_owned(), 0),
        };
        ParseError::at(self.text, self.at..self.at + length, Mistake::Expected { expected: expected.to_owned(), found })
    }

    fn value(&mut self, depth: usize, special: &str) -> Result<StepValue, ParseError> {
        if depth == MAX_DEPTH {
            return Err(ParseError::at(self.text, self.at..self.at + 1, Mistake::TooDeep { limit: MAX_DEPTH }));
        }
        self.skip_spaces();
        if self.rest().starts_with(['"', '\'']) {
            let (content, end) = quoted(self.text, self.at..self.end)?;
            self.at = end;
            return Ok(StepValue::Text(content));
        }
        if self.accept('[') {
            return self.list(depth);
        }
        if self.accept('{') {
            return self.map(depth);
        }
        match self.word(special) {
            "" => Err(self.expected("a value")),
            word => Ok(plain(word)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<StepValue, ParseError> {
        let mut items = Vec::new();
        loop {
            self.skip_spaces();
            if self.accept(']') {
                return Ok(StepValue::List(items));
            }
            items.push(self.value(depth + 1, SPECIAL)?);
            self.skip_spaces();
            if !self.accept(',') && !self.rest().starts_with(']') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<StepValue, ParseError> {
        let mut entries = Vec::new();
        loop {
            self.skip_spaces();
            if self.accept('}') {
                return Ok(StepValue::Map(entries));
            }
            let key = self.value(depth + 1, SPECIAL_IN_MAP)?;
            self.skip_spaces();
            if !self.accept(':') {
                return Err(self.expected("`:` and a value"));
            }
            entries.push((key, self.value(depth + 1, SPECIAL)?));
            self.skip_spaces();
            if !self.accept(',') && !self.rest().starts_with('}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }
}

/// The value of an unquoted word.
pub(crate) fn plain(word: &str) -> StepValue {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let begins_with_digit = digits.starts_with(|c: char| c.is_ascii_digit());
    match word {
        "None" => StepValue::None,
        "True" => StepValue::Bool(true),
        "False" => StepValue::Bool(false),
        _ if begins_with_digit => match (word.parse(), word.parse::<f64>()) {
            (Ok(value), _) => StepValue::Int(value),
            (_, Ok(value)) if value.is_finite() => StepValue::Float(value),
            _ => StepValue::Text(word.to_owned()),
        },
        _ => StepValue::Text(word.to_owned()),
    }
}
