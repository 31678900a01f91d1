//! Rust source as tokens with their lines. Comments are dropped, and so is everything inside of literals.

/// A word, a number, `::` or one other character; `""` stands for a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub line: usize,
}

pub fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (len, text) = match first {
            _ if first.is_whitespace() => (first.len_utf8(), None),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), None),
            '/' if rest.starts_with("/*") => (block_comment(rest), None),
            '"' => (plain_literal(rest, '"'), Some("\"\"")),
            '\'' => match quoted_character(rest) {
                Some(len) => (len, Some("\"\"")),
                None => (1 + word(&rest[1..]), None),
            },
            'r' | 'b' | 'c' if let Some(len) = prefixed_literal(rest) => (len, Some("\"\"")),
            'r' if rest.starts_with("r#") && is_word(&rest[2..]) => {
                let len = 2 + word(&rest[2..]);
                (len, Some(&rest[2..len]))
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let len = word(rest);
                (len, Some(&rest[..len]))
            }
            ':' if rest.starts_with("::") => (2, Some("::")),
            _ => (first.len_utf8(), Some(&rest[..first.len_utf8()])),
        };
        found.extend(text.map(|text| Token { text, line }));
        line += rest[..len].matches('\n').count();
        at += len;
    }
    found
}

fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a literal that begins and ends with `quote`, in which a backslash takes the next character with it.
fn plain_literal(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// `'x'` and `'\n'`, but not the lifetime `'x`.
fn quoted_character(rest: &str) -> Option<usize> {
    let mut characters = rest.chars().skip(1);
    let first = characters.next()?;
    (first == '\\' || characters.next() == Some('\'')).then(|| plain_literal(rest, '\''))
}

/// `b"…"`, `b'…'`, `c"…"`, `r"…"`, `r#"…"#`, `br#"…"#` and the like.
fn prefixed_literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let after = &rest[prefix.len()..];
    if !prefix.ends_with('r') {
        let quote = after.chars().next().filter(|c| *c == '"' || (*c == '\'' && prefix == "b"))?;
        return Some(prefix.len() + plain_literal(after, quote));
    }
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inside = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(prefix.len() + hashes + 1 + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_the_inside_of_literals_are_no_tokens() {
        assert_eq!(texts("a // b\n/* c /* d */ e */ f /// g\n//! h"), ["a", "f"]);
        assert_eq!(
            texts(r##"x("a\"b", r#"c"d"#, b"e", '"', 'f', '\'', b'g') h"##).join(" "),
            r#"x ( "" , "" , "" , "" , "" , "" , "" ) h"#
        );
    }

    #[test]
    fn lifetimes_are_not_taken_for_characters() {
        assert_eq!(texts("fn f<'a>(x: &'a str, y: &'static T) {}").join(" "), "fn f < > ( x : & str , y : & T ) { }");
    }

    #[test]
    fn words_keep_their_lines() {
        let lines: Vec<_> = tokens("use a::b;\n\"\n\n\" r#type\n").iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(lines, [("use", 1), ("a", 1), ("::", 1), ("b", 1), (";", 1), ("\"\"", 2), ("type", 4)]);
    }
}
