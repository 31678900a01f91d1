//! Finds one function's definition in a text that the parser could not read as a whole.

use std::ops::Range;

use crate::mask::{comment_len, directive_len, is_word, literal_len};

/// Where a function is defined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Where what says its type begins.
    pub(crate) start: usize,
    /// From the opening brace to the closing one, or to the end of the text.
    pub(crate) body: Range<usize>,
}

/// The first definition of `name`: its name, parameters in parentheses, and a brace.
pub(crate) fn definition(text: &[u8], name: &str) -> Option<Definition> {
    let mut tokens = Tokens { text, at: 0, line_is_blank: true };
    let mut start = 0;
    while let Some(token) = tokens.next() {
        match &text[token.clone()] {
            [b';' | b'{' | b'}'] => start = token.end,
            [b'#', ..] => start = token.end,
            word if word == name.as_bytes() => {
                let mut ahead = Tokens { text, ..tokens };
                let parameters = ahead.pair(b'(', b')');
                let open = parameters.and_then(|_| ahead.peek()).filter(|token| text[token.start] == b'{');
                if let Some(open) = open {
                    let end = ahead.pair(b'{', b'}').map_or(text.len(), |close| close + 1);
                    return Some(Definition { start, body: open.start..end });
                }
            }
            _ => {}
        }
    }
    None
}

/// The words, signs and directives of a text, without comments.
#[derive(Clone, Copy)]
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    line_is_blank: bool,
}

impl Tokens<'_> {
    fn peek(&self) -> Option<Range<usize>> {
        Tokens { ..*self }.next()
    }

    /// Goes over a pair of these signs and what it holds, if it is next; where it ends.
    fn pair(&mut self, open: u8, close: u8) -> Option<usize> {
        let (text, mut depth) = (self.text, 0usize);
        for token in self {
            match text[token.start] {
                sign if sign == open => depth += 1,
                sign if sign == close && depth > 1 => depth -= 1,
                sign if sign == close && depth == 1 => return Some(token.start),
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }
}

impl Iterator for Tokens<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let (start, rest) = (self.at, self.text.get(self.at..).filter(|rest| !rest.is_empty())?);
            let len = match rest[0] {
                b'#' if self.line_is_blank => directive_len(rest),
                b'/' if rest.starts_with(b"//") => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
                b'/' if rest.starts_with(b"/*") => comment_len(rest),
                quote @ (b'"' | b'\'') => literal_len(rest, quote),
                byte if is_word(byte) => rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len()),
                _ => 1,
            };
            let is_comment = rest[0] == b'/' && len > 1;
            self.at += len.max(1);
            self.line_is_blank = rest[0] == b'\n' || self.line_is_blank && (rest[0].is_ascii_whitespace() || is_comment);
            if !rest[0].is_ascii_whitespace() && !is_comment {
                return Some(start..self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_definition_is_told_from_calls_and_prototypes() {
        let text = "void f(int n);\n// f(x) {\n#define G f(1) {\nint g(void) { return f(2); }\nvoid f(int (*n)(void)) /* here */ { if (n) { } }\nint x;";
        let found = definition(text.as_bytes(), "f").unwrap();
        assert_eq!(text[found.start..found.body.end].trim(), "void f(int (*n)(void)) /* here */ { if (n) { } }");
        assert_eq!(&text[found.body], "{ if (n) { } }");
        assert_eq!(definition(text.as_bytes(), "n"), None);
        assert_eq!(definition(b"void f(void) {", "f").unwrap().body, 13..14);
    }

    proptest! {
        #[test]
        fn any_text_is_searched_without_a_panic(text in "(f|void|[(){};\"'/*#\\\\\n é]){0,40}") {
            let _ = definition(text.as_bytes(), "f");
        }
    }
}
