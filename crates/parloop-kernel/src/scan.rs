//! The pieces of a text in C: comments, directives of the preprocessor, literals, words and signs. Everybody who looks for something in a
//! source goes over these, so that nothing is found in a comment or in a string.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Space,
    Comment,
    /// From its `#` to the end of the line that neither a backslash nor a comment continues.
    Directive,
    /// A string, a raw one of C++ too, or a character.
    Literal,
    /// A name, a keyword or a number.
    Word,
    /// Any other byte.
    Sign,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    pub(crate) range: Range<usize>,
}

/// Goes over the pieces of a text.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether directives are pieces; otherwise what they are made of is.
    has_directives: bool,
    line_is_blank: bool,
    /// The word that ends where the next piece begins.
    word: (usize, usize),
    /// Where a sign that separates the digits of a number ends.
    separator: Option<usize>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Pieces<'a> {
        Pieces { text, at: 0, has_directives: true, line_is_blank: true, word: (0, 0), separator: None }
    }

    /// The same, but what directives are made of are pieces too.
    pub(crate) fn inside(text: &'a [u8]) -> Pieces<'a> {
        Pieces { has_directives: false, ..Pieces::of(text) }
    }

    /// Goes on at a later place.
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.at = self.at.max(at);
    }

    /// The next piece that is not a space or a comment.
    pub(crate) fn token(&mut self) -> Option<Piece> {
        self.find(|piece| !matches!(piece.kind, PieceKind::Space | PieceKind::Comment))
    }

    fn measure(&self, rest: &[u8]) -> (PieceKind, usize) {
        let run = |is_in: fn(u8) -> bool| rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len());
        let (start, end) = self.word;
        let follows_word = end == self.at && end > start;
        match rest[0] {
            byte if byte.is_ascii_whitespace() => (PieceKind::Space, run(|byte| byte.is_ascii_whitespace())),
            b'#' if self.line_is_blank && self.has_directives => (PieceKind::Directive, directive_len(rest)),
            b'/' if rest.starts_with(b"//") => (PieceKind::Comment, line_len(rest)),
            b'/' if rest.starts_with(b"/*") => (PieceKind::Comment, comment_len(rest)),
            // It separates the digits of a number in C++.
            b'\'' if follows_word && self.text[start].is_ascii_digit() && rest.get(1).is_some_and(u8::is_ascii_hexdigit) => {
                (PieceKind::Sign, 1)
            }
            quote @ (b'"' | b'\'') => {
                let raw = follows_word && matches!(&self.text[start..end], b"R" | b"LR" | b"uR" | b"UR" | b"u8R");
                let len = if raw && quote == b'"' { raw_len(rest) } else { None };
                (PieceKind::Literal, len.unwrap_or_else(|| literal_len(rest, quote)))
            }
            byte if is_word(byte) => (PieceKind::Word, run(is_word)),
            _ => (PieceKind::Sign, 1),
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (kind, len) = self.measure(rest);
        let range = self.at..self.at + len.max(1);
        self.at = range.end;
        if kind == PieceKind::Sign && rest[0] == b'\'' {
            self.separator = Some(range.end);
        }
        match kind {
            PieceKind::Space => self.line_is_blank |= rest[..len].contains(&b'\n'),
            PieceKind::Comment => {}
            PieceKind::Word => {
                // Digits behind a separator belong to the number before it.
                let is_continued = self.separator == Some(range.start);
                self.word = (if is_continued { self.word.0 } else { range.start }, range.end);
                self.line_is_blank = false;
            }
            PieceKind::Directive | PieceKind::Literal | PieceKind::Sign => self.line_is_blank = false,
        }
        Some(Piece { kind, range })
    }
}

/// The words of a text outside of comments and literals, and its macros.
#[derive(Default)]
pub(crate) struct Scanned {
    pub(crate) words: Vec<Range<usize>>,
    /// Where each macro's name and its whole definition stand.
    pub(crate) macros: Vec<(Range<usize>, Range<usize>)>,
}

impl Scanned {
    pub(crate) fn of(text: &str) -> Scanned {
        let mut scanned = Scanned::default();
        for piece in Pieces::of(text.as_bytes()) {
            let range = piece.range;
            match piece.kind {
                PieceKind::Word => scanned.words.push(range),
                PieceKind::Directive => {
                    let words = Pieces::inside(&text.as_bytes()[range.clone()]).filter(|piece| piece.kind == PieceKind::Word);
                    let words: Vec<Range<usize>> = words.map(|word| range.start + word.range.start..range.start + word.range.end).collect();
                    if let [define, name, ..] = &words[..]
                        && &text[define.clone()] == "define"
                    {
                        scanned.macros.push((name.clone(), name.end..range.end));
                    }
                    scanned.words.extend(words);
                }
                _ => {}
            }
        }
        scanned
    }

    pub(crate) fn words_in(&self, range: Range<usize>) -> &[Range<usize>] {
        let place = |at: usize| self.words.partition_point(|word| word.start < at);
        &self.words[place(range.start)..place(range.end).max(place(range.start))]
    }
}

/// The text with its lines joined where a backslash says so, and a space for each comment in it.
pub(crate) fn without_comments(text: &str) -> String {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut out = String::with_capacity(text.len());
    for piece in Pieces::inside(text.as_bytes()) {
        match &text[piece.range] {
            comment if piece.kind == PieceKind::Comment => out.push_str(if comment.starts_with("/*") { " " } else { "" }),
            other => out.push_str(other),
        }
    }
    out
}

/// Where the next sign or word is, behind spaces, comments and continued lines.
pub(crate) fn next_sign(text: &str, from: usize) -> Option<usize> {
    let mut pieces = Pieces::inside(text.as_bytes());
    pieces.skip_to(from);
    pieces.find_map(|piece| {
        let is_passed = matches!(piece.kind, PieceKind::Space | PieceKind::Comment) || text.as_bytes()[piece.range.start] == b'\\';
        (!is_passed).then_some(piece.range.start)
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// How long a line is that a backslash at its end continues.
fn line_len(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = rest[at..].iter().position(|&byte| byte == b'\n') {
        if !rest[at..at + end].trim_ascii_end().ends_with(b"\\") {
            return at + end;
        }
        at += end + 1;
    }
    rest.len()
}

fn directive_len(rest: &[u8]) -> usize {
    let (mut line, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at] {
            b'\n' if !rest[line..at].trim_ascii_end().ends_with(b"\\") => return at,
            b'\n' => (line, at) = (at + 1, at + 1),
            b'/' if rest[at..].starts_with(b"/*") => at += comment_len(&rest[at..]),
            b'/' if rest[at..].starts_with(b"//") => return at + line_len(&rest[at..]),
            quote @ (b'"' | b'\'') => at += literal_len(&rest[at..], quote),
            _ => at += 1,
        }
    }
    rest.len()
}

fn comment_len(rest: &[u8]) -> usize {
    rest[2..].windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
}

/// It ends with its line at the latest.
fn literal_len(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of `"name(…)name"`; `None` where it does not begin or does not end so.
fn raw_len(rest: &[u8]) -> Option<usize> {
    let name = rest[1..].iter().take(17).position(|&byte| byte == b'(')?;
    let end = [b")", &rest[1..=name], b"\""].concat();
    rest[name + 2..].windows(end.len()).position(|part| part == end).map(|at| name + 2 + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<(PieceKind, &str)> {
        Pieces::of(text.as_bytes()).filter(|piece| piece.kind != PieceKind::Space).map(|piece| (piece.kind, &text[piece.range])).collect()
    }

    #[test]
    fn comments_literals_and_directives_are_told_apart() {
        use PieceKind::{Comment, Directive, Literal, Sign, Word};
        assert_eq!(
            pieces("a /* #x */ #y\n/* c */ # define K \\\n  1\n\"//\" 'x' // e"),
            [
                (Word, "a"),
                (Comment, "/* #x */"),
                (Sign, "#"),
                (Word, "y"),
                (Comment, "/* c */"),
                (Directive, "# define K \\\n  1"),
                (Literal, "\"//\""),
                (Literal, "'x'"),
                (Comment, "// e"),
            ]
        );
        assert_eq!(pieces("1'000 L'a'"), [(Word, "1"), (Sign, "'"), (Word, "000"), (Word, "L"), (Literal, "'a'")]);
        assert_eq!(pieces("0x1'f'f;").iter().map(|(_, text)| *text).collect::<Vec<_>>(), ["0x1", "'", "f", "'", "f", ";"]);
    }

    #[test]
    fn comments_and_directives_go_on_where_c_says_so() {
        use PieceKind::{Comment, Directive, Word};
        assert_eq!(pieces("// a \\\n b\nc"), [(Comment, "// a \\\n b"), (Word, "c")]);
        assert_eq!(pieces("#define A 1 /* one\n two */ 2\nc"), [(Directive, "#define A 1 /* one\n two */ 2"), (Word, "c")]);
        assert_eq!(pieces("#define A \\\n\nc"), [(Directive, "#define A \\\n"), (Word, "c")]);
        assert_eq!(pieces("#define A \"/*\" // b \\\n d\nc"), [(Directive, "#define A \"/*\" // b \\\n d"), (Word, "c")]);
    }

    #[test]
    fn a_raw_string_ends_where_it_says() {
        use PieceKind::{Literal, Sign, Word};
        assert_eq!(
            pieces("R\"x(\n#if A\n)\" )x\"; R\"(\" y"),
            [(Word, "R"), (Literal, "\"x(\n#if A\n)\" )x\""), (Sign, ";"), (Word, "R"), (Literal, "\"(\""), (Word, "y")]
        );
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_text_in_order(text in "(R\"|#|//|/\\*|\\*/|[\"'\\\\\n (){};a1é]){0,40}") {
            for pieces in [Pieces::of(text.as_bytes()), Pieces::inside(text.as_bytes())] {
                let mut at = 0;
                for piece in pieces {
                    prop_assert_eq!(piece.range.start, at);
                    at = piece.range.end;
                }
                prop_assert_eq!(at, text.len());
            }
        }
    }
}
