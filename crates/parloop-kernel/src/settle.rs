//! Conditions of the preprocessor that the arguments of the compiler decide, by `-DNAME` and `-UNAME`. What they leave out is blanked in
//! place for the parser, so that it reads what is compiled. All other conditions stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::mask::{comment_len, directive_len, is_word, literal_len};

/// The text without what is not compiled, with every other byte in its place.
pub(crate) fn settle<'a>(text: &'a str, arguments: &[String]) -> Cow<'a, str> {
    let mut known = decided_by(arguments);
    if known.is_empty() {
        return Cow::Borrowed(text);
    }
    let directives = directives(text);
    for directive in &directives {
        if let ("define" | "undef", rest) = directive.words(text) {
            known.remove(rest.split(|c: char| !is_name(c)).next().unwrap_or_default());
        }
    }
    let mut settler = Settler { text, out: text.as_bytes().to_vec(), known, open: Vec::new() };
    directives.into_iter().for_each(|directive| settler.step(directive));
    if let Some(from) = settler.open.iter().find_map(|block| block.dead) {
        settler.blank(from..text.len());
    }
    // Whole lines were blanked, and words of ASCII exchanged.
    String::from_utf8(settler.out).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The names that arguments define, or say that nobody does.
fn decided_by(arguments: &[String]) -> HashMap<&str, bool> {
    let mut known = HashMap::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (rest, is_defined) = match (argument.strip_prefix("-D"), argument.strip_prefix("-U")) {
            (Some(rest), _) => (rest, true),
            (_, Some(rest)) => (rest, false),
            _ => continue,
        };
        let name = if rest.is_empty() { arguments.next().map(String::as_str) } else { Some(rest) };
        known.extend(name.map(|name| (name.split('=').next().unwrap_or(name), is_defined)));
    }
    known
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where a directive stands.
struct Directive(Range<usize>);

impl Directive {
    /// Its word, and what follows without comments at the end.
    fn words<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        let line = text[self.0.clone()].trim_start_matches('#').trim_start();
        let end = line.find(|c: char| !is_name(c)).unwrap_or(line.len());
        let rest = &line[end..];
        let end = rest.find("//").into_iter().chain(rest.find("/*")).min().unwrap_or(rest.len());
        (&line[..line.len() - rest.len()], rest[..end].trim())
    }
}

fn directives(text: &str) -> Vec<Directive> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut line_is_blank) = (Vec::new(), 0, true);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let next = match rest[0] {
            b'\n' => {
                line_is_blank = true;
                at += 1;
                continue;
            }
            b'#' if line_is_blank => {
                found.push(Directive(at..at + directive_len(rest)));
                at + directive_len(rest)
            }
            b'/' if rest.starts_with(b"//") => at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => at + comment_len(rest),
            quote @ (b'"' | b'\'') => at + literal_len(rest, quote),
            byte if is_word(byte) => at + rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len()),
            _ => at + 1,
        };
        line_is_blank &= rest[0].is_ascii_whitespace();
        at = next.max(at + 1);
    }
    found
}

struct Settler<'a> {
    text: &'a str,
    out: Vec<u8>,
    known: HashMap<&'a str, bool>,
    open: Vec<Block>,
}

/// A group of `#if` to `#endif`.
struct Block {
    /// Whether a branch so far is compiled; `None` where that is not known.
    is_taken: Option<bool>,
    /// Where the branch at hand begins, if it is not compiled.
    dead: Option<usize>,
}

impl<'a> Settler<'a> {
    fn step(&mut self, directive: Directive) {
        let (word, rest) = directive.words(self.text);
        let Range { start, end } = directive.0;
        let is_dead = |open: &[Block]| open.iter().any(|block| block.dead.is_some());
        match word {
            "if" | "ifdef" | "ifndef" => {
                // Inside of what is not compiled, everything is blanked at its end.
                let is_taken = if is_dead(&self.open) { None } else { self.value(word, rest) };
                if is_taken.is_some() {
                    self.blank(start..end);
                }
                self.open.push(Block { is_taken, dead: (is_taken == Some(false)).then_some(end) });
            }
            "elif" | "else" => {
                let Some(block) = self.open.pop() else { return };
                let Some(is_taken) = block.is_taken else { return self.open.push(block) };
                if let Some(from) = block.dead {
                    self.blank(from..start);
                }
                let value = match word {
                    _ if is_taken => Some(false),
                    "else" => Some(true),
                    _ => self.value("if", rest),
                };
                match value {
                    Some(value) => {
                        self.blank(start..end);
                        self.open.push(Block { is_taken: Some(is_taken || value), dead: (!value).then_some(end) });
                    }
                    None => {
                        // What comes before it is gone, so that it is the first condition.
                        let at = start + self.text[start..end].find(word).unwrap_or(0);
                        self.out[at..at + word.len()].copy_from_slice(b"if  ");
                        self.open.push(Block { is_taken: None, dead: None });
                    }
                }
            }
            "endif" => {
                let Some(block) = self.open.pop() else { return };
                if let Some(from) = block.dead {
                    self.blank(from..start);
                }
                if block.is_taken.is_some() {
                    self.blank(start..end);
                }
            }
            _ => {}
        }
    }

    /// Whether a condition holds, if the arguments decide it.
    fn value(&self, word: &str, condition: &str) -> Option<bool> {
        match word {
            "ifdef" => self.known.get(condition).copied(),
            "ifndef" => self.known.get(condition).map(|defined| !defined),
            _ if condition.contains("||") => {
                let parts: Vec<Option<bool>> = condition.split("||").map(|part| self.part(part)).collect();
                if parts.contains(&Some(true)) { Some(true) } else { parts.iter().all(|part| *part == Some(false)).then_some(false) }
            }
            _ => {
                let parts: Vec<Option<bool>> = condition.split("&&").map(|part| self.part(part)).collect();
                if parts.contains(&Some(false)) { Some(false) } else { parts.iter().all(|part| *part == Some(true)).then_some(true) }
            }
        }
    }

    /// `defined(NAME)`, or its contrary.
    fn part(&self, text: &str) -> Option<bool> {
        let text = text.trim();
        let (text, is_negated) = text.strip_prefix('!').map_or((text, false), |rest| (rest.trim_start(), true));
        let name = text.strip_prefix("defined")?.trim();
        let name = name.strip_prefix('(').map_or(Some(name), |inner| inner.strip_suffix(')'))?.trim();
        self.known.get(name).map(|defined| defined != &is_negated)
    }

    fn blank(&mut self, range: Range<usize>) {
        self.out[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settled(text: &str) -> String {
        let arguments = ["-DCPU".into(), "-O2".into(), "-U".into(), "GPU".into(), "-DN=3".into()];
        let found = settle(text, &arguments);
        assert_eq!(found.len(), text.len());
        found.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_arguments_decide_is_settled_and_the_rest_stays() {
        assert_eq!(settled("a\n#ifdef CPU // here\nb\n#else\nc\n#endif\nd"), "a\nb\nd");
        assert_eq!(settled("a\n#ifdef GPU\nb {\n#else\nc {\n#endif\nd"), "a\nc {\nd");
        assert_eq!(settled("#ifndef GPU\nb\n#endif\n#if defined(GPU) || defined(CPU)\nc\n#endif"), "b\nc");
        assert_eq!(settled("#if defined(CPU) && !defined(GPU)\nb\n#elif X\nc\n#endif"), "b");
        assert_eq!(settled("#if defined(CPU) && defined(X)\nb\n#endif"), "#if defined(CPU) && defined(X)\nb\n#endif");
        assert_eq!(settled("#if defined(GPU) && defined(X)\nb\n#endif\nc"), "c");
        assert_eq!(settled("#ifdef X\n#ifdef GPU\na\n#endif\nb\n#else\nc\n#endif"), "#ifdef X\nb\n#else\nc\n#endif");
        assert_eq!(settled("#ifdef GPU\n#ifdef X\na\n#else\nb\n#endif\n#else\nc\n#endif"), "c");
        assert_eq!(settled("#ifdef GPU\na\n#elif X > 1\nb\n#else\nc\n#endif"), "#if   X > 1\nb\n#else\nc\n#endif");
        assert_eq!(settled("#if N > 2\na\n#endif"), "#if N > 2\na\n#endif");
        assert_eq!(settled("/*\n#ifdef GPU\n*/ a\n\"#endif\""), "/*\n#ifdef GPU\n*/ a\n\"#endif\"");
    }

    #[test]
    fn names_that_the_source_defines_are_left_to_the_compiler() {
        let text = "#ifdef CPU\na\n#endif\n#undef CPU";
        assert_eq!(settled(text), text);
        let text = "#ifndef GPU\n#define GPU 1\n#endif";
        assert_eq!(settled(text), text);
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_its_lines(text in "(#ifdef |#else|#elif |#endif|#if defined|CPU|GPU|[(\"'/*\\\\\n aé!&|]){0,60}") {
            let found = settle(&text, &["-DCPU".into(), "-UGPU".into()]);
            prop_assert_eq!(found.len(), text.len());
            prop_assert_eq!(found.lines().count(), text.lines().count());
        }
    }
}
