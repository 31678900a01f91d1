//! Queries for instructions: `id:init* and not (writes:a or tag:input)`.

use std::ops::Range;

use super::error::{Mistake, ParseError, nearest};
use crate::matching::{Glob, Query};

/// The maximum nesting depth of brackets and `not`s, and the maximum length of a chain of `and` and `or`.
const MAX_DEPTH: usize = 100;
const MAX_TERMS: usize = 1000;

const FIELDS: [&str; 6] = ["id", "tag", "writes", "reads", "iname", "in_kernel"];

/// Parses a query: `id:`, `tag:`, `writes:`, `reads:`, `iname:` and `in_kernel:` with patterns, `and`, `or`, `not` and parentheses. An
/// empty text means every instruction.
///
/// ```
/// use parloop_loop::parse::query;
/// assert_eq!(query("id:a* and not (writes:b or tag:c)")?.to_string(), "id:a* and not (writes:b or tag:c)");
/// # Ok::<(), parloop_loop::parse::ParseError>(())
/// ```
///
/// # Errors
/// Reports what was expected and what was found, with a caret.
pub fn query(text: &str) -> Result<Query, ParseError> {
    query_within(text, 0..text.len())
}

/// Parses the query in those bytes of a text.
pub(super) fn query_within(text: &str, within: Range<usize>) -> Result<Query, ParseError> {
    if text[within.clone()].trim().is_empty() {
        return Ok(Query::All);
    }
    let mut reader = Reader { text, at: within.start, end: within.end, depth: 0, terms: 0 };
    let query = reader.any_of()?;
    match reader.word() {
        (_, "") => Ok(query),
        _ => Err(reader.expected("`and`, `or` or the end")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    depth: usize,
    terms: usize,
}

impl<'t> Reader<'t> {
    /// The next word: a bracket, or everything up to a space or a bracket; empty at the end.
    fn word(&self) -> (usize, &'t str) {
        let rest = &self.text[self.at..self.end];
        let word = rest.trim_start();
        let start = self.at + rest.len() - word.len();
        let length = match word.find(|c: char| c.is_whitespace() || c == '(' || c == ')') {
            Some(0) => 1,
            Some(end) => end,
            None => word.len(),
        };
        (start, &word[..length])
    }

    fn accept(&mut self, expected: &str) -> bool {
        let (start, word) = self.word();
        let found = word == expected;
        if found {
            self.at = start + word.len();
        }
        found
    }

    fn expected(&self, expected: &str) -> ParseError {
        let (start, word) = self.word();
        let found = if word.is_empty() { "the end".to_owned() } else { format!("`{word}`") };
        ParseError::at(self.text, start..start + word.len(), Mistake::Expected { expected: expected.to_owned(), found })
    }

    fn any_of(&mut self) -> Result<Query, ParseError> {
        let mut left = self.all_of()?;
        while self.accept("or") {
            left = Query::Or(Box::new(left), Box::new(self.all_of()?));
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Query, ParseError> {
        let mut left = self.term()?;
        while self.accept("and") {
            left = Query::And(Box::new(left), Box::new(self.term()?));
        }
        Ok(left)
    }

    fn term(&mut self) -> Result<Query, ParseError> {
        let (start, word) = self.word();
        self.terms += 1;
        if self.depth == MAX_DEPTH || self.terms > MAX_TERMS {
            let limit = if self.depth == MAX_DEPTH { MAX_DEPTH } else { MAX_TERMS };
            let mistake = Mistake::Other(format!("the query is too long or nested too deeply: at most {limit}"));
            return Err(ParseError::at(self.text, start..start + word.len(), mistake));
        }
        self.depth += 1;
        let query = match word {
            "not" => {
                self.at = start + word.len();
                Query::Not(Box::new(self.term()?))
            }
            "(" => {
                self.at = start + word.len();
                let inner = self.any_of()?;
                if !self.accept(")") {
                    return Err(self.expected("`)`"));
                }
                inner
            }
            "all" => {
                self.at = start + word.len();
                Query::All
            }
            _ => self.field(start, word)?,
        };
        self.depth -= 1;
        Ok(query)
    }

    /// `id:a*`.
    fn field(&mut self, start: usize, word: &str) -> Result<Query, ParseError> {
        let Some((field, pattern)) = word.split_once(':') else {
            return Err(self.expected("`not`, `(` or a term such as `id:a*`"));
        };
        let make: fn(Glob) -> Query = match field {
            "id" => Query::Id,
            "tag" => Query::Tag,
            "writes" => Query::Writes,
            "reads" => Query::Reads,
            "iname" => Query::Iname,
            "in_kernel" => Query::InKernel,
            _ => {
                let hint = nearest(field, FIELDS).map(|near| format!(" (did you mean `{near}:`?)")).unwrap_or_default();
                let mistake = Mistake::Other(format!(
                    "queries have no field `{field}:`{hint}; the fields are {}",
                    FIELDS.map(|name| format!("`{name}:`")).join(", ")
                ));
                return Err(ParseError::at(self.text, start..start + field.len(), mistake));
            }
        };
        if pattern.is_empty() || pattern.contains([':', ',', '=']) {
            self.at = start + field.len() + 1;
            return Err(self.expected("a name or a pattern with `*` and `?`"));
        }
        self.at = start + word.len();
        Ok(make(Glob::new(pattern)))
    }
}
