//! Conditions of the preprocessor that the arguments of the compiler decide, by `-DNAME` and `-UNAME`. What they leave out is blanked in
//! place for the parser, so that it reads what is compiled. All other conditions stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::scan::{PieceKind, Pieces, without_comments};

/// A text without what is not compiled.
pub(crate) struct Settled<'a> {
    /// Every byte that is left stands in its place.
    pub(crate) text: Cow<'a, str>,
    /// The names that decided, and whether they are defined.
    pub(crate) decided: Vec<(String, bool)>,
}

pub(crate) fn settle<'a>(text: &'a str, arguments: &[String]) -> Settled<'a> {
    let as_it_is = || Settled { text: Cow::Borrowed(text), decided: Vec::new() };
    let mut known = decided_by(arguments);
    if known.is_empty() || text.lines().any(|line| ["%:", "??="].iter().any(|sign| line.trim_start().starts_with(sign))) {
        return as_it_is();
    }
    let directives = directives(text);
    for directive in &directives {
        let (word, rest) = directive.words(text);
        match &*word {
            "define" | "undef" => _ = known.remove(rest.split(|c: char| !is_name(c)).next().unwrap_or_default()),
            "elifdef" | "elifndef" => return as_it_is(),
            _ => {}
        }
    }
    let mut settler = Settler { text, out: text.as_bytes().to_vec(), known, open: Vec::new() };
    directives.into_iter().for_each(|directive| settler.step(directive));
    if let Some(from) = settler.open.iter().find_map(|block| block.dead) {
        settler.blank(from..text.len());
    }
    if settler.out == text.as_bytes() {
        return as_it_is();
    }
    let mut decided: Vec<(String, bool)> = settler.known.iter().map(|(name, defined)| ((*name).to_owned(), *defined)).collect();
    decided.sort_unstable();
    // Whole lines were blanked, and words of ASCII exchanged.
    String::from_utf8(settler.out).map_or_else(|_| as_it_is(), |text| Settled { text: Cow::Owned(text), decided })
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
    /// Its word, and what follows: without comments, in one line.
    fn words(&self, text: &str) -> (String, String) {
        let line = without_comments(&text[self.0.clone()]);
        let line = line.trim_start_matches('#').trim();
        let end = line.find(|c: char| !is_name(c)).unwrap_or(line.len());
        (line[..end].to_owned(), line[end..].trim().to_owned())
    }
}

fn directives(text: &str) -> Vec<Directive> {
    Pieces::of(text.as_bytes()).filter(|piece| piece.kind == PieceKind::Directive).map(|piece| Directive(piece.range)).collect()
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
        let (word, rest) = (&*word, &*rest);
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
            _ => {
                let mut reader = Condition { rest: condition, known: &self.known };
                reader.any().filter(|_| reader.rest.is_empty())?
            }
        }
    }

    fn blank(&mut self, range: Range<usize>) {
        self.out[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
}

/// Reads a condition of `defined(NAME)`, `!`, `&&`, `||` and parentheses. Where it has anything else there is no result, since what a macro
/// stands for may change the meaning of all of it; the value inside is `None` where names are not known.
struct Condition<'a> {
    rest: &'a str,
    known: &'a HashMap<&'a str, bool>,
}

impl<'a> Condition<'a> {
    fn any(&mut self) -> Option<Option<bool>> {
        let mut value = self.all()?;
        while self.takes("||") {
            let other = self.all()?;
            value = if value == Some(true) || other == Some(true) { Some(true) } else { value.and(other) };
        }
        Some(value)
    }

    fn all(&mut self) -> Option<Option<bool>> {
        let mut value = self.part()?;
        while self.takes("&&") {
            let other = self.part()?;
            value = if value == Some(false) || other == Some(false) { Some(false) } else { value.and(other) };
        }
        Some(value)
    }

    fn part(&mut self) -> Option<Option<bool>> {
        if self.takes("!") {
            return Some(self.part()?.map(|value| !value));
        }
        if self.takes("(") {
            let value = self.any()?;
            return self.takes(")").then_some(value);
        }
        if self.name()? != "defined" {
            return None;
        }
        let is_inside = self.takes("(");
        let name = self.name()?;
        let value = self.known.get(name).copied();
        (!is_inside || self.takes(")")).then_some(value)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        self.rest = after.trim_start();
        (!name.is_empty()).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settled(text: &str) -> String {
        let arguments = ["-DCPU".into(), "-O2".into(), "-U".into(), "GPU".into(), "-DN=3".into()];
        let found = settle(text, &arguments).text;
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

    #[test]
    fn conditions_are_read_as_compilers_read_them_or_not_at_all() {
        let value = |condition: &str| settled(&format!("#if {condition}\nyes\n#else\nno\n#endif"));
        for (condition, expected) in [
            ("!(defined(GPU) || defined(CPU))", "no"),
            ("(defined(GPU) || defined(CPU)) && !defined GPU", "yes"),
            ("defined(CPU) /* c */ && defined(GPU)", "no"),
            ("defined(CPU) \\\n && defined(GPU)", "no"),
            ("! ! defined(CPU)", "yes"),
        ] {
            assert_eq!(value(condition), expected, "{condition}");
        }
        for condition in ["(X || defined(CPU) || Y) && Z", "0 == (0 || defined(CPU) || 0)", "defined(CPU) && 1 ? 0 : 1", "defined(CPU", "X"]
        {
            assert_eq!(value(condition), format!("#if {condition}\nyes\n#else\nno\n#endif"));
        }
    }

    #[test]
    fn directives_are_seen_however_they_are_written() {
        let rests = ["#undef /* c */ CPU", "/* c */ #undef CPU", "#undef \\\n CPU", "%:undef CPU", "#ifdef X\n#elifdef CPU\n#endif"];
        for rest in rests {
            let text = format!("{rest}\n#ifdef CPU\na\n#endif");
            assert_eq!(settled(&text), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_its_lines(text in "(#ifdef |#else|#elif |#endif|#if defined|CPU|GPU|[(\"'/*\\\\\n aé!&|]){0,60}") {
            let found = settle(&text, &["-DCPU".into(), "-UGPU".into()]).text;
            prop_assert_eq!(found.len(), text.len());
            prop_assert_eq!(found.lines().count(), text.lines().count());
        }
    }
}
