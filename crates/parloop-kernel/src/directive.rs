//! What directives of the preprocessor and comment marks ask of us.

/// A directive, by what it asks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Directive<'a> {
    Include {
        file: &'a str,
        system: bool,
    },
    /// `#pragma once`, which compilers know in headers of their own finding only.
    Once,
    /// `#if` and its like.
    If,
    /// `#else` and its like.
    Else,
    EndIf,
    Define(&'a str),
    Undefine(&'a str),
    Other,
}

impl Directive<'_> {
    /// Reads a directive in one line without comments.
    pub(crate) fn read(line: &str) -> Directive<'_> {
        let Some(line) = line.trim_start().strip_prefix('#').map(str::trim_start) else { return Directive::Other };
        let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
        let rest = line[end..].trim_start();
        let name = || rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let quoted = |open, close| rest.strip_prefix(open).and_then(|rest: &str| rest.split_once(close)).map(|(file, _)| file);
        match &line[..end] {
            "include" => match (quoted('"', '"'), quoted('<', '>')) {
                (Some(file), _) => Directive::Include { file, system: false },
                (_, Some(file)) => Directive::Include { file, system: true },
                _ => Directive::Other,
            },
            "pragma" if rest.split_whitespace().next() == Some("once") => Directive::Once,
            "if" | "ifdef" | "ifndef" => Directive::If,
            "else" | "elif" | "elifdef" | "elifndef" => Directive::Else,
            "endif" => Directive::EndIf,
            "define" => Directive::Define(name()),
            "undef" => Directive::Undefine(name()),
            _ => Directive::Other,
        }
    }
}

/// An older mark, which is a comment by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommentMark<'a> {
    IncludeFile { file: &'a str, contexts: &'a str },
    Vectorize { rest: &'a str },
    EndVectorize,
    OnlyFor { contexts: &'a str },
}

impl CommentMark<'_> {
    /// Reads a comment, from its `//` on.
    pub(crate) fn read(comment: &str) -> Option<CommentMark<'_>> {
        let mark = comment.strip_prefix("//")?;
        if let Some((file, contexts)) = mark.strip_prefix("include_file").and_then(|rest| rest.split_once("for_context")) {
            return Some(CommentMark::IncludeFile { file: file.trim(), contexts });
        }
        if let Some(rest) = mark.strip_prefix("vectorize_over") {
            return Some(CommentMark::Vectorize { rest });
        }
        if mark.starts_with("end_vectorize") {
            return Some(CommentMark::EndVectorize);
        }
        mark.strip_prefix("only_for_context").map(|contexts| CommentMark::OnlyFor { contexts })
    }

    /// Whether it stands for this code before it: the marks of a loop stand behind the head and the end of the same loop in plain C, or
    /// behind its index set to zero.
    pub(crate) fn replaces(&self, code: &str) -> bool {
        match self {
            CommentMark::Vectorize { rest } => {
                let head = code.strip_prefix("for").map(|rest| rest.trim_start().trim_end_matches('{').trim_end());
                let is_head = head.is_some_and(|head| head.starts_with('(') && closes_at_its_end(head));
                let set = code.trim_end_matches([';', ' ']).strip_suffix('0').and_then(|code| code.trim_end().strip_suffix('='));
                let is_zero = set.is_some_and(|set| set.split_whitespace().next_back() == rest.split_whitespace().next());
                code.is_empty() || is_head || is_zero
            }
            CommentMark::EndVectorize => matches!(code, "" | "}"),
            CommentMark::IncludeFile { .. } | CommentMark::OnlyFor { .. } => code.is_empty(),
        }
    }
}

/// Whether a text that begins with a parenthesis ends with the one that closes it.
fn closes_at_its_end(text: &str) -> bool {
    let mut depth = 0usize;
    let closing = text.char_indices().find_map(|(at, sign)| {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    });
    closing == Some(text.len() - 1)
}
