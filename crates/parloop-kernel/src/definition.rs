//! Finds one function's definition in a text that the parser could not read as a whole.

use std::ops::Range;

use crate::scan::{PieceKind, Pieces};

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
    let mut pieces = Pieces::of(text);
    let mut start = 0;
    while let Some(token) = pieces.token() {
        match &text[token.range.clone()] {
            [b';' | b'{' | b'}'] => start = token.range.end,
            _ if token.kind == PieceKind::Directive => start = token.range.end,
            word if word == name.as_bytes() => {
                let mut ahead = pieces;
                let parameters = pair(&mut ahead, text, b'(', b')');
                let open = parameters.and_then(|_| Pieces::token(&mut ahead.clone())).filter(|token| text[token.range.start] == b'{');
                if let Some(open) = open {
                    let end = pair(&mut ahead, text, b'{', b'}').map_or(text.len(), |close| close + 1);
                    return Some(Definition { start, body: open.range.start..end });
                }
            }
            _ => {}
        }
    }
    None
}

/// Goes over a pair of these signs and what it holds, if it is next; where it ends.
fn pair(pieces: &mut Pieces, text: &[u8], open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    while let Some(token) = pieces.token() {
        match text[token.range.start] {
            sign if sign == open => depth += 1,
            sign if sign == close && depth > 1 => depth -= 1,
            sign if sign == close && depth == 1 => return Some(token.range.start),
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
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
