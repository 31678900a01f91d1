//! Errors in text with their position: the line, with a caret below.

use std::fmt;
use std::ops::Range;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// Unexpected text.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What was expected.
        expected: String,
        /// What does.
        found: String,
    },
    /// Unexpected character.
    #[error("unexpected character `{character}`")]
    Character {
        /// It.
        character: char,
    },
    /// A string without a closing quote.
    #[error("the string has no closing {quote}")]
    UnclosedText {
        /// The quote.
        quote: &'static str,
    },
    /// An invalid number.
    #[error("`{text}` is not a number: {reason}")]
    Number {
        /// As written.
        text: String,
        /// Why not.
        reason: String,
    },
    /// Brackets or operators are nested too deeply.
    #[error("the expression is nested more than {limit} levels deep; move part of it into a temporary or a substitution rule")]
    TooDeep {
        /// The maximum depth.
        limit: usize,
    },
    /// Unknown type.
    #[error("`{name}` is not a type{}: use a NumPy name such as `float32` or `int64`", suggest(.nearest))]
    Type {
        /// As written.
        name: String,
        /// A similar name.
        nearest: Option<String>,
    },
    /// Fields that do not make a record.
    #[error("{reason}")]
    Record {
        /// Why.
        reason: String,
    },
    /// A built-in function with too many or too few arguments.
    #[error("`{function}` takes {expected}, but is given {found}")]
    Arguments {
        /// Its name.
        function: String,
        /// What it takes.
        expected: String,
        /// What it is given.
        found: String,
    },
    /// A left side that cannot be assigned.
    #[error("cannot assign to `{found}`: the left side must be a variable, an element `a[i]`, a part `[i]: a[i]` or a field `p.x`")]
    LeftSide {
        /// As written.
        found: String,
    },
    /// Several left sides, or none, and a right side that is not a call.
    #[error("{count} need a single call, or a single reduction such as `argmax`, on the right side, but `{found}` is neither")]
    NotACall {
        /// How many left sides there are, in words.
        count: &'static str,
        /// The right side.
        found: String,
    },
    /// Unknown option.
    #[error("unknown option `{name}`{}", suggest(.nearest))]
    Option {
        /// As written.
        name: String,
        /// A similar option.
        nearest: Option<String>,
    },
    /// An option with an invalid value.
    #[error("option `{option}` takes {expected}, found `{found}`")]
    OptionValue {
        /// The option.
        option: String,
        /// What it takes.
        expected: &'static str,
        /// As written.
        found: String,
    },
    /// A misplaced option.
    #[error("option `{option}` cannot be given {place}")]
    OptionPlace {
        /// The option.
        option: String,
        /// Where it was.
        place: &'static str,
    },
    /// An unclosed bracket or block.
    #[error("`{open}` has no closing `{close}`")]
    Unclosed {
        /// What opens it.
        open: String,
        /// What would close it.
        close: String,
    },
    /// An unmatched closing bracket or end of a block.
    #[error("unmatched `{close}`")]
    Unopened {
        /// As written.
        close: String,
    },
    /// `else` or `elif` without an `if`.
    #[error("`{word}` needs an `if` block around it, but the innermost block is {inside}")]
    NoIf {
        /// As written.
        word: &'static str,
        /// The innermost block.
        inside: &'static str,
    },
    /// A name that is given twice.
    #[error("{what} `{name}` already exists")]
    Twice {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

fn suggest(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// An error in a text, with its position.
///
/// ```
/// let error = parloop_loop::parse::expression("a[i + ]").unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 7: expected an expression, found `]`\n  a[i + ]\n        ^");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub mistake: Box<Mistake>,
    /// The range of bytes in the text.
    pub span: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The number of characters to mark, at least 1.
    pub length: usize,
    /// The line.
    pub text: String,
}

impl ParseError {
    /// An error at those bytes of the text.
    pub fn at(text: &str, span: Range<usize>, mistake: Mistake) -> ParseError {
        let start = floor_boundary(text, span.start);
        let end = floor_boundary(text, span.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let shown = text[line_start..line_end].trim_end();
        ParseError {
            mistake: Box::new(mistake),
            span,
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end.min(line_end)].chars().count().max(1),
            text: shown.to_owned(),
        }
    }

    /// The same error in a larger text, in which the original text begins at that byte.
    pub fn within(self, text: &str, offset: usize) -> ParseError {
        let span = self.span.start + offset..self.span.end + offset;
        ParseError::at(text, span, *self.mistake)
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.mistake)?;
        // Tabs are kept so that the caret stays aligned.
        let before: String = self.text.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let pad = (self.column - 1).saturating_sub(before.chars().count());
        write!(f, "  {}\n  {before}{}{}", self.text, " ".repeat(pad), "^".repeat(self.length))
    }
}

impl std::error::Error for ParseError {}

/// The candidate most similar to a name, if it differs little or one is a prefix of the other.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let begins = |a: &str, b: &str| b.len() >= 3 && a.starts_with(b);
    candidates
        .into_iter()
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|&(edits, candidate)| edits <= limit || begins(name, candidate) || begins(candidate, name))
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// The edit distance between two names. Very long names are far from all others.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
