//! What the macros of a source hide from a reader of its functions: loops, a `return`, changes of a variable.

use std::collections::{HashMap, HashSet};

use crate::scan::{PieceKind, Pieces, Scanned};

/// What stands behind the name of a macro, itself or by other macros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// How many loops begin in it, and how many end; `None` if that depends on which of several definitions is compiled.
    pub(crate) loops: Option<(usize, usize)>,
    /// Whether it is the end of a loop and nothing more.
    pub(crate) is_bare_end: bool,
    /// Whether a `VECTORIZE_OVER` is in it, in one definition at least.
    pub(crate) has_loop: bool,
    pub(crate) returns: bool,
    /// Whether it may give a variable a value.
    pub(crate) changes: bool,
}

/// The macros of a source.
#[derive(Debug, Default)]
pub(crate) struct Macros {
    hiding: HashMap<String, Hidden>,
    names: HashSet<String>,
    /// Whether some put names together, or are made of others too deep to follow, so that what they stand for is not known.
    pub(crate) may_hide_loops: bool,
}

/// Macros that are made of others deeper than this are taken for ones that hide nothing more.
const DEEPEST: usize = 256;

impl Macros {
    /// Those of a text, and those that arguments of the compiler define.
    pub(crate) fn of(text: &str, arguments: &[String]) -> Macros {
        // A name may be continued in the next line.
        let text = text.replace("\\\r\n", "").replace("\\\n", "");
        let scanned = Scanned::of(&text);
        let mut definitions: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let given = match argument.strip_prefix("-D") {
                Some("") => arguments.next().map(String::as_str),
                given => given,
            };
            if let Some(given) = given {
                let end = given.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(given.len());
                definitions.entry(&given[..end]).or_default().push(given[end..].split_once('=').map_or("", |(_, value)| value));
            }
        }
        for (name, definition) in &scanned.macros {
            definitions.entry(&text[name.clone()]).or_default().push(&text[definition.clone()]);
        }
        let mut known: HashMap<&str, Hidden> = HashMap::new();
        // A macro hides what those in it hide.
        let mut is_settled = false;
        for _ in 0..DEEPEST {
            let found: HashMap<&str, Hidden> = definitions.iter().map(|(name, texts)| (*name, hidden(texts, &known))).collect();
            is_settled = found == known;
            if is_settled {
                break;
            }
            known = found;
        }
        let may_hide_loops = !is_settled || definitions.values().flatten().any(|text| text.contains("##"));
        let hides = |hidden: &Hidden| hidden.has_loop || hidden.loops != Some((0, 0)) || hidden.returns || hidden.changes;
        let hiding = known.iter().filter(|(_, hidden)| hides(hidden)).map(|(name, hidden)| ((*name).to_owned(), *hidden)).collect();
        Macros { hiding, names: definitions.into_keys().map(str::to_owned).collect(), may_hide_loops }
    }

    /// `None` if the word is not a macro that hides something.
    pub(crate) fn get(&self, word: &str) -> Option<Hidden> {
        if self.hiding.is_empty() { None } else { self.hiding.get(word).copied() }
    }

    /// Whether one begins or ends a loop.
    pub(crate) fn hide_loops(&self) -> bool {
        self.hiding.values().any(|hidden| hidden.loops != Some((0, 0)))
    }

    /// Whether the word is a macro.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.names.contains(word)
    }
}

/// What definitions of one macro hide, of which one is compiled.
fn hidden(definitions: &[&str], known: &HashMap<&str, Hidden>) -> Hidden {
    let mut all: Option<Hidden> = None;
    for definition in definitions {
        let own = hidden_in(definition, known);
        all = Some(match all {
            None => own,
            Some(all) => Hidden {
                loops: all.loops.filter(|_| all.loops == own.loops),
                is_bare_end: all.is_bare_end && own.is_bare_end,
                has_loop: all.has_loop || own.has_loop,
                returns: all.returns || own.returns,
                changes: all.changes || own.changes,
            },
        });
    }
    all.unwrap_or_default()
}

fn hidden_in(definition: &str, known: &HashMap<&str, Hidden>) -> Hidden {
    let bytes = definition.as_bytes();
    let mut found = Hidden { loops: Some((0, 0)), ..Hidden::default() };
    let mut pieces = Pieces::inside(bytes);
    if let (Some(word), None) = (pieces.token(), pieces.token()) {
        let word = &definition[word.range];
        found.is_bare_end = word == "END_VECTORIZE" || known.get(word).is_some_and(|inner| inner.is_bare_end);
    }
    for piece in Pieces::inside(bytes) {
        match (piece.kind, &definition[piece.range.clone()]) {
            (PieceKind::Word, "VECTORIZE_OVER") => {
                found.has_loop = true;
                found.loops = found.loops.map(|(begin, end)| (begin + 1, end));
            }
            (PieceKind::Word, "END_VECTORIZE") => found.loops = found.loops.map(|(begin, end)| (begin, end + 1)),
            (PieceKind::Word, "return") => found.returns = true,
            (PieceKind::Word, word) => {
                if let Some(inner) = known.get(word) {
                    let both = found.loops.zip(inner.loops);
                    found.loops = both.map(|((begin, end), (more, less))| (begin.saturating_add(more), end.saturating_add(less)));
                    found.has_loop |= inner.has_loop;
                    found.returns |= inner.returns;
                    found.changes |= inner.changes;
                }
            }
            (PieceKind::Sign, "=") => {
                let before = piece.range.start.checked_sub(1).map(|at| bytes[at]);
                // `<<=` and `>>=` change, `<=` and `>=` compare.
                let is_shift = matches!(piece.range.start.checked_sub(2).map(|at| &bytes[at..at + 2]), Some(b"<<" | b">>"));
                let compares = matches!(before, Some(b'=' | b'!' | b'<' | b'>')) && !is_shift || bytes.get(piece.range.end) == Some(&b'=');
                found.changes |= !compares;
            }
            (PieceKind::Sign, "+" | "-") => found.changes |= bytes.get(piece.range.end) == Some(&bytes[piece.range.start]),
            (PieceKind::Sign, "&") => {
                let is_and =
                    bytes.get(piece.range.end) == Some(&b'&') || piece.range.start.checked_sub(1).map(|at| bytes[at]) == Some(b'&');
                found.changes |= !is_and;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_hide_what_they_and_those_in_them_are_made_of() {
        let text = "#define LOOP(i, n) VECTORIZE_OVER(i, n)\n#define INNER END_VECTORIZE\n#define END INNER\n#define SKIP(c) if (c) return\n\
                    #define TWICE(v) v *= 2\n#define SAME(a, b) ((a) == (b) && (a) <= 3) // x = 1\n#define STEP(a) ++a\n#define A B\n#define B A\n\
                    #define BOTH(n) LOOP(i, n) f(i); END\n#ifdef X\n#define SOME LOOP(i, 3)\n#else\n#define SOME {\n#endif\n#define TO(a) f(&a)\n";
        let macros = Macros::of(text, &["-DSET=n=10".into(), "-D".into(), "SKIPPED=return".into()]);
        assert!(macros.get("SET").unwrap().changes && macros.get("SKIPPED").unwrap().returns);
        assert!(!macros.may_hide_loops && Macros::of("#define CAT(a, b) a ## b", &[]).may_hide_loops);
        assert_eq!(macros.get("LOOP").unwrap().loops, Some((1, 0)));
        assert_eq!(macros.get("END").unwrap().loops, Some((0, 1)));
        assert_eq!(macros.get("BOTH").unwrap().loops, Some((1, 1)));
        let some = macros.get("SOME").unwrap();
        assert!(some.loops.is_none() && some.has_loop);
        assert!(macros.get("SKIP").unwrap().returns && !macros.get("SKIP").unwrap().changes);
        for changes in ["TWICE", "STEP", "TO"] {
            assert!(macros.get(changes).unwrap().changes, "{changes}");
        }
        for harmless in ["SAME", "A", "B", "C"] {
            assert_eq!(macros.get(harmless), None, "{harmless}");
        }
    }
}
