//! The tokenizer: numbers, names, quoted strings and symbols, each with its byte range.

use std::ops::Range;

use super::error::{Mistake, ParseError};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number with its suffix: `1.5f`.
    Number,
    /// A name or a keyword.
    Name,
    /// A quoted string, without quotes and escapes.
    Text(String),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// A token and its byte range in the text.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Longer symbols come before their prefixes.
const SYMBOLS: [&str; 29] = [
    "**", "//", "==", "!=", "<=", ">=", "<<", ">>", ":=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "(", ")", "[", "]", ",", ".", ":",
    "=", "<", ">", "@",
];

/// The tokens in those bytes of the text, and [`Kind::End`].
pub(crate) fn lex(text: &str, within: Range<usize>) -> Result<Vec<Token>, ParseError> {
    let bytes = &text.as_bytes()[..within.end];
    let mut tokens = Vec::with_capacity(within.len() / 2 + 1);
    let mut at = within.start;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'0'..=b'9' => {
                at = number_end(bytes, at);
                Kind::Number
            }
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at = number_end(bytes, at);
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                at = skip(bytes, at, is_name_byte);
                Kind::Name
            }
            b'\'' | b'"' => {
                let (content, end) = quoted(text, at..within.end)?;
                at = end;
                Kind::Text(content)
            }
            _ => match SYMBOLS.into_iter().find(|symbol| bytes[at..].starts_with(symbol.as_bytes())) {
                Some(symbol) => {
                    at += symbol.len();
                    Kind::Symbol(symbol)
                }
                None => {
                    let character = text[start..].chars().next().unwrap_or(' ');
                    return Err(ParseError::at(text, start..start + character.len_utf8(), Mistake::Character { character }));
                }
            },
        };
        tokens.push(Token { kind, span: start..at });
    }
    tokens.push(Token { kind: Kind::End, span: within.end..within.end });
    Ok(tokens)
}

/// Whether the byte may be part of a name.
pub(crate) fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// Whether the text is a name and not a keyword.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| is_name_byte(&byte)) && !text.as_bytes()[0].is_ascii_digit() && !is_word(text)
}

/// Whether the name is a keyword of expressions.
pub(crate) fn is_word(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "if" | "else" | "True" | "False")
}

fn skip(bytes: &[u8], from: usize, test: impl Fn(&u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|byte| test(byte)).count()
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    if bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X')) {
        return skip(bytes, start, is_name_byte);
    }
    let mut at = skip(bytes, start, u8::is_ascii_digit);
    if bytes.get(at) == Some(&b'.') {
        at = skip(bytes, at + 1, u8::is_ascii_digit);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let digits = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(digits).is_some_and(u8::is_ascii_digit) {
            at = skip(bytes, digits, u8::is_ascii_digit);
        }
    }
    skip(bytes, at, is_name_byte)
}

/// The content of the quoted string that begins there, and the byte after its closing quote. A backslash makes the next character literal,
/// except that `\n` is a line break; three quotes `"""` close with three.
pub fn quoted(text: &str, within: Range<usize>) -> Result<(String, usize), ParseError> {
    let rest = &text[within.clone()];
    let quote = if rest.starts_with("\"\"\"") {
        "\"\"\""
    } else if rest.starts_with('"') {
        "\""
    } else {
        "'"
    };
    let mut content = String::new();
    let mut at = quote.len();
    while let Some(character) = rest[at..].chars().next() {
        if rest[at..].starts_with(quote) {
            return Ok((content, within.start + at + quote.len()));
        }
        at += character.len_utf8();
        match character {
            '\\' => {
                let Some(escaped) = rest[at..].chars().next() else { break };
                at += escaped.len_utf8();
                content.push(if escaped == 'n' { '\n' } else { escaped });
            }
            '\n' if quote.len() == 1 => break,
            _ => content.push(character),
        }
    }
    let quote_name = match quote {
        "'" => "`'`",
        "\"" => "`\"`",
        _ => "`\"\"\"`",
    };
    Err(ParseError::at(text, within.start..within.start + quote.len(), Mistake::UnclosedText { quote: quote_name }))
}
