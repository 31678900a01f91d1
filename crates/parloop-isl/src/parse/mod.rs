//! Parses isl's notation for sets and relations: `[n] -> { [i, j] : 0 <= i, j < n }`.
//!
//! Text becomes pieces directly; only variables bound by `exists` need the solver.

mod expression;
mod formula;
mod token;

use std::collections::BTreeSet;

use self::token::{Spanned, Token, tokens};
use crate::affine::Affine;
use crate::constraint::{Constraint, Piece};
use crate::error::{IslError, Result};
use crate::name::Name;
use crate::relation::Relation;
use crate::set::Set;

/// The maximum nesting depth of brackets, `not`, `-` and `exists`.
const MAX_DEPTH: usize = 100;

/// The maximum number of pieces, or of cases of an expression.
const MAX_PIECES: usize = 1024;

impl Set {
    /// Parses isl's notation. The leading `[n] -> ` is optional: every name that is not a dimension or bound by `exists` is a parameter.
    ///
    /// Text with comparisons, `and`, `or`, `floor` and `mod` is converted directly; libisl is needed only for `not`, `exists`, `min`, `max`
    /// and divisions outside `floor`.
    ///
    /// # Errors
    /// [`IslError::Syntax`] with the position; [`IslError::Missing`].
    pub fn parse(text: &str) -> Result<Set> {
        let read = read(text, false)?;
        printable(Set::from_raw(read.params, read.dims, read.pieces))
    }
}

impl Relation {
    /// Parses isl's notation for maps.
    ///
    /// # Errors
    /// [`IslError::Syntax`] with the position.
    pub fn parse(text: &str) -> Result<Relation> {
        let read = read(text, true)?;
        let (inputs, outputs) = (read.dims[..read.inputs].to_vec(), read.dims[read.inputs..].to_vec());
        Ok(Relation::of(inputs, outputs, printable(Set::from_raw(read.params, read.dims, read.pieces))?))
    }
}

/// The set, unless it contains `i64::MIN`, whose magnitude does not fit: its text could not be parsed back.
fn printable(set: Set) -> Result<Set> {
    let has_it = |affine: &Affine| affine.constant_term() == i64::MIN || affine.terms().any(|(_, coefficient)| coefficient == i64::MIN);
    match set.pieces().iter().flatten().find(|constraint| has_it(&constraint.affine)) {
        Some(constraint) => Err(IslError::Overflow { what: constraint.to_string() }),
        None => Ok(set),
    }
}

/// The parsed text. The inputs of a relation are the first dimensions.
struct Read {
    params: Vec<Name>,
    dims: Vec<Name>,
    inputs: usize,
    pieces: Vec<Piece>,
}

/// A position in the tokens of a text.
struct Reader<'t> {
    text: &'t str,
    tokens: Vec<Spanned<'t>>,
    at: usize,
    depth: usize,
    /// Names bound by enclosing `exists`, innermost last, with their unique names.
    bound: Vec<(&'t str, Name)>,
    /// How many names were bound so far.
    bound_so_far: usize,
}

fn read(text: &str, is_relation: bool) -> Result<Read> {
    let mut reader = Reader { text, tokens: tokens(text)?, at: 0, depth: 0, bound: Vec::new(), bound_so_far: 0 };
    let read = reader.whole(is_relation)?;
    match reader.token() {
        Token::End => Ok(read),
        _ => Err(reader.unexpected("the end of the text, since the set is complete")),
    }
}

impl<'t> Reader<'t> {
    fn whole(&mut self, is_relation: bool) -> Result<Read> {
        let mut params = Vec::new();
        if self.token() == Token::Sign("[") {
            params = self.names("a parameter")?;
            self.expect("->", "`->` and `{` after the parameters")?;
        }
        self.expect("{", "`{`: a set is written `{[i]: 0 <= i < n}`")?;
        let mut read: Option<Read> = None;
        while self.token() != Token::Sign("}") {
            let start = self.here();
            let part = self.part(is_relation, &params)?;
            match &mut read {
                None => read = Some(part),
                Some(read) if read.dims == part.dims && read.inputs == part.inputs => read.pieces.extend(part.pieces),
                Some(_) => return Err(Reader::error(self.text, start, "all parts of a set must have the same dimensions".into())),
            }
            if self.token() == Token::Sign("}") {
                break;
            }
            self.expect(";", "`;` or `}`")?;
        }
        let end = self.here();
        self.expect("}", "`}`")?;
        match read {
            Some(read) => Ok(Read { params, ..read }),
            None => Err(Reader::error(self.text, end, "missing dimensions: write `{[i]: …}`, or `{:}` for none".into())),
        }
    }

    /// `[i, j = 2*i] : formula`.
    fn part(&mut self, is_relation: bool, params: &[Name]) -> Result<Read> {
        let mut dims = Vec::new();
        let mut given = Piece::new();
        let mut inputs = 0;
        let only_formula = self.token() == Token::Sign(":") && !is_relation;
        if !only_formula {
            self.tuple(params, &mut dims, &mut given)?;
        }
        if is_relation {
            inputs = dims.len();
            self.expect("->", "`->` and the outputs of the relation")?;
            self.tuple(params, &mut dims, &mut given)?;
        } else if self.token() == Token::Sign("->") {
            return Err(self.error_here("this is a relation between points; a set has dimensions on one side only".into()));
        }
        let mut pieces = vec![Piece::new()];
        if self.take(":") {
            if !matches!(self.token(), Token::Sign("}" | ";")) {
                pieces = self.formula()?;
            }
        } else if !matches!(self.token(), Token::Sign("}" | ";")) {
            return Err(self.unexpected("`:` before the conditions, or `}`"));
        }
        pieces.iter_mut().for_each(|piece| piece.extend(given.iter().cloned()));
        Ok(Read { params: Vec::new(), dims, inputs, pieces })
    }

    fn tuple(&mut self, params: &[Name], dims: &mut Vec<Name>, given: &mut Piece) -> Result<()> {
        self.expect("[", "`[` and the dimensions, as in `{[i, j]: …}`")?;
        while self.token() != Token::Sign("]") {
            let start = self.here();
            let Token::Word(word) = self.token() else {
                return Err(self.unexpected("a name: each dimension has one, and conditions on it go after the `:`"));
            };
            self.at += 1;
            let name = Name::from(word);
            if dims.contains(&name) || params.contains(&name) {
                return Err(Reader::error(self.text, start, format!("`{word}` is already a dimension or parameter")));
            }
            dims.push(name.clone());
            if self.take("=") {
                let value = self.single_affine()?;
                given.push(Constraint::zero(Affine::name(name).sub(&value)?));
            }
            self.comma_or("]")?;
        }
        self.expect("]", "`]`")
    }

    /// `[n, m]`.
    fn names(&mut self, what: &str) -> Result<Vec<Name>> {
        self.expect("[", "`[`")?;
        let mut names = Vec::new();
        let mut seen = BTreeSet::new();
        while self.token() != Token::Sign("]") {
            let Token::Word(word) = self.token() else {
                return Err(self.unexpected(&format!("the name of {what}")));
            };
            if !seen.insert(word) {
                return Err(self.error_here(format!("`{word}` is named twice")));
            }
            names.push(Name::from(word));
            self.at += 1;
            self.comma_or("]")?;
        }
        self.expect("]", "`]`")?;
        Ok(names)
    }

    fn comma_or(&mut self, end: &'static str) -> Result<()> {
        if self.token() == Token::Sign(end) { Ok(()) } else { self.expect(",", &format!("`,` or `{end}`")) }
    }

    fn token(&self) -> Token<'t> {
        self.tokens[self.at].token
    }

    /// Where the next token is.
    fn here(&self) -> usize {
        self.tokens[self.at].start
    }

    /// Where the last token ended.
    fn behind(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].end)
    }

    /// Consumes the sign if it is next.
    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.token(), Token::Sign(s) if s == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str, wanted: &str) -> Result<()> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_here(format!("brackets are nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn unexpected(&self, wanted: &str) -> IslError {
        let Spanned { token, start, end } = self.tokens[self.at];
        let found = match token {
            Token::End => "the text ends".to_string(),
            _ => format!("found `{}`", &self.text[start..end]),
        };
        Reader::error(self.text, start, format!("expected {wanted}; {found}"))
    }

    fn error_here(&self, reason: String) -> IslError {
        Reader::error(self.text, self.here(), reason)
    }

    /// An error with the line and column of a position in the text.
    fn error(text: &str, at: usize, reason: String) -> IslError {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        IslError::Syntax { reason, text: text[start..end].to_string(), at: text[start..at].chars().count() }
    }
}
