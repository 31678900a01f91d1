//! Tokens of isl's notation, each with its position in the text.

use super::Reader;
use crate::error::Result;

/// A word or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Number(i64),
    Word(&'t str),
    Sign(&'static str),
    End,
}

/// A token, and where it is in the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spanned<'t> {
    pub token: Token<'t>,
    pub start: usize,
    pub end: usize,
}

/// Longer signs first, each with the sign that it stands for.
const SIGNS: &[(&str, &str)] = &[
    ("->", "->"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "="),
    ("!=", "!="),
    ("&&", "and"),
    ("||", "or"),
    ("∧", "and"),
    ("∨", "or"),
    ("¬", "not"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("!", "not"),
    ("{", "{"),
    ("}", "}"),
    ("[", "["),
    ("]", "]"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    (";", ";"),
    (":", ":"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "mod"),
];

/// Keywords; they are not names.
const KEYWORDS: &[&str] = &["and", "or", "not", "exists", "mod", "floor", "ceil", "floord", "ceild", "min", "max", "true", "false"];

/// All tokens, with `End` as the last; brackets are in pairs.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let token = if first.is_ascii_digit() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            at += digits;
            let number = rest[..digits].parse().map_err(|_| Reader::error(text, start, "this number does not fit into 64 bits".into()))?;
            Token::Number(number)
        } else if first.is_alphabetic() || first == '_' {
            at += rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
            word(&text[start..at])
        } else if let Some((sign, meaning)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            at += sign.len();
            Token::Sign(meaning)
        } else {
            return Err(Reader::error(text, start, format!("unexpected character `{first}`")));
        };
        tokens.push(Spanned { token, start, end: at });
    }
    tokens.push(Spanned { token: Token::End, start: text.len(), end: text.len() });
    check_brackets(text, &tokens)?;
    Ok(tokens)
}

fn word(text: &str) -> Token<'_> {
    match KEYWORDS.iter().find(|keyword| **keyword == text) {
        Some(keyword) => Token::Sign(keyword),
        None => Token::Word(text),
    }
}

fn check_brackets(text: &str, tokens: &[Spanned<'_>]) -> Result<()> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    for spanned in tokens {
        let Token::Sign(sign) = spanned.token else { continue };
        match sign {
            "(" | "[" | "{" => open.push((sign, spanned.start)),
            ")" | "]" | "}" => {
                let partner = match sign {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                match open.pop() {
                    Some((opened, _)) if opened == partner => {}
                    Some((opened, at)) => {
                        return Err(Reader::error(text, at, format!("`{opened}` is closed by `{sign}`")));
                    }
                    None => return Err(Reader::error(text, spanned.start, format!("`{sign}` closes a bracket that was not opened"))),
                }
            }
            _ => {}
        }
    }
    match open.pop() {
        Some((opened, at)) => Err(Reader::error(text, at, format!("`{opened}` is not closed"))),
        None => Ok(()),
    }
}
