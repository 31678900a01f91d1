//! Makes plain C of portable C for the parser: our macros are blanked out in place, so that every byte offset stays, and what they
//! said is noted. So are the bodies of functions without loops and literal zeros as divisors, which nobody reads: they are most of a large source.

use std::ops::Range;

use crate::division::may_divide_by_zero;
use crate::macros::Macros;
use crate::scan::{Piece, PieceKind, Pieces, without_comments};

/// A macro word and where it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    /// Where it ends.
    pub(crate) end: usize,
    pub(crate) kind: MarkKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// `GPUKERN` or the target's own word for it.
    Kernel,
    /// `GPUFUN` or the target's own word for it.
    Function,
    /// `GPUGLMEM` or another address space.
    Space,
    /// `restrict`, `GPUCONST` and the like: of no consequence for the signature.
    Other,
    /// The second word of `long long`.
    SecondLong,
}

/// A `VECTORIZE_OVER` loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopMark {
    pub(crate) at: usize,
    /// Where the loop's body begins.
    pub(crate) body: usize,
    pub(crate) count: String,
}

/// Where a `VECTORIZE_OVER` loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopEnd {
    pub(crate) at: usize,
    /// Whether the end is all that stands there: a macro may do something before it.
    pub(crate) is_bare: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Masked {
    /// As long as the original; the same bytes except where macros stood.
    pub(crate) text: Vec<u8>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) loops: Vec<LoopMark>,
    pub(crate) ends: Vec<LoopEnd>,
    /// Where a backslash continues a word on the next line.
    pub(crate) split_word: Option<usize>,
    /// Whether `atomicAdd` is used anywhere.
    pub(crate) uses_atomics: bool,
    pub(crate) macros: Macros,
    /// Whether there may be loops that are not among these.
    pub(crate) may_hide_loops: bool,
}

/// `arguments` are those of the compiler, which may define macros.
pub(crate) fn mask(original: &str, arguments: &[String]) -> Masked {
    let bytes = original.as_bytes();
    let mut masked = Masked { text: bytes.to_vec(), macros: Macros::of(original, arguments), ..Masked::default() };
    let mut bodies = Bodies::default();
    let mut vectorized = 0;
    let mut pieces = Pieces::of(bytes);
    while let Some(Piece { kind, range: Range { start, end } }) = pieces.next() {
        match kind {
            PieceKind::Directive => {
                masked.uses_atomics |= original[start..end].contains("atomicAdd");
                bodies.directive(&bytes[start + 1..end]);
            }
            PieceKind::Word => {
                let loops = masked.loops.len();
                vectorized += usize::from(&original[start..end] == "VECTORIZE_OVER");
                pieces.skip_to(masked.word(original, start, end));
                if masked.loops.len() > loops {
                    bodies.keep();
                }
                bodies.last = bytes[start];
            }
            PieceKind::Sign => {
                if is_inside_word(bytes, start) {
                    masked.split_word.get_or_insert(start);
                }
                if let Some(body) = bodies.step(bytes[start], start)
                    && !may_divide_by_zero(&bytes[body.clone()])
                {
                    masked.blank(body.start, body.end);
                }
            }
            PieceKind::Space | PieceKind::Comment | PieceKind::Literal => {}
        }
    }
    masked.may_hide_loops = masked.macros.may_hide_loops || vectorized > masked.loops.len();
    masked
}

/// Whether a backslash stands between two lines of one word.
fn is_inside_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let rest = &bytes[at..];
    let next = rest.strip_prefix(b"\\\n").or_else(|| rest.strip_prefix(b"\\\r\n"));
    next.is_some_and(|next| is_word(next.first())) && is_word(bytes[..at].last())
}

impl Masked {
    /// The marks in a part of the text.
    pub(crate) fn marks_in(&self, range: Range<usize>) -> &[Mark] {
        let place = |at: usize| self.marks.partition_point(|mark| mark.at < at);
        &self.marks[place(range.start)..place(range.end).max(place(range.start))]
    }

    /// Handles the word at `start..end` and returns where to go on.
    fn word(&mut self, original: &str, start: usize, end: usize) -> usize {
        let kind = match &original[start..end] {
            "GPUKERN" | "__kernel" | "__global__" => MarkKind::Kernel,
            "GPUFUN" | "__device__" => MarkKind::Function,
            "GPUGLMEM" | "__global" | "__local" | "__constant" | "__private" => MarkKind::Space,
            "RESTRICT" | "GPUCONST" | "__restrict__" | "__restrict" | "__constant__" | "__forceinline__" => MarkKind::Other,
            "VECTORIZE_OVER" => return self.vectorize(original, start, end),
            // `__launch_bounds__(256)` between result and name would be read as a function.
            "__launch_bounds__" => {
                let end = original[end..].find(')').map_or(end, |at| end + at + 1);
                self.blank(start, end);
                return end;
            }
            "END_VECTORIZE" => {
                self.ends.push(LoopEnd { at: start, is_bare: true });
                self.blank(start, end);
                self.text[start] = b'}';
                return end;
            }
            "complex" | "_Complex" => return self.complex(original, start, end),
            "long" if original[..start].trim_end().ends_with("long") => {
                self.marks.push(Mark { at: start, end, kind: MarkKind::SecondLong });
                return end;
            }
            // Also `atomicAdd_f64` and the like, which headers may define.
            word if word.starts_with("atomicAdd") => {
                self.uses_atomics = true;
                return end;
            }
            word => return self.hidden(word, start, end),
        };
        self.marks.push(Mark { at: start, end, kind });
        self.blank(start, end);
        end
    }

    fn vectorize(&mut self, original: &str, start: usize, end: usize) -> usize {
        let mut pieces = Pieces::inside(original.as_bytes());
        pieces.skip_to(end);
        let (mut depth, mut comma) = (0usize, None);
        while let Some(token) = pieces.token() {
            match &original[token.range.clone()] {
                "(" => depth += 1,
                // A line may be continued before the parenthesis.
                "\\" if depth == 0 => {}
                _ if depth == 0 => return end,
                ")" if depth == 1 => {
                    let next = token.range.end;
                    let count = comma.map_or(String::new(), |comma: usize| without_comments(&original[comma + 1..token.range.start]));
                    self.loops.push(LoopMark { at: start, body: next, count: count.trim().to_owned() });
                    self.blank(start, next);
                    self.text[start] = b'{';
                    return next;
                }
                ")" => depth -= 1,
                "," if depth == 1 && comma.is_none() => comma = Some(token.range.start),
                _ => {}
            }
        }
        end
    }

    /// Handles the name of a macro that begins or ends a loop. How often that runs is not known.
    fn hidden(&mut self, word: &str, start: usize, end: usize) -> usize {
        let Some(hidden) = self.macros.get(word) else { return end };
        let sign = match hidden.loops {
            Some((1, 0)) => b'{',
            Some((0, 1)) => b'}',
            _ => b' ',
        };
        let arguments_end = self.arguments_end(end);
        let next = if sign == b' ' { end } else { arguments_end };
        if hidden.has_loop {
            self.loops.push(LoopMark { at: start, body: arguments_end, count: String::new() });
        }
        if sign == b'}' {
            self.ends.push(LoopEnd { at: start, is_bare: hidden.is_bare_end });
        }
        if sign != b' ' {
            self.blank(start, next);
            self.text[start] = sign;
        }
        next
    }

    /// Where the arguments of a macro end, if it has any.
    fn arguments_end(&self, from: usize) -> usize {
        let mut pieces = Pieces::inside(&self.text);
        pieces.skip_to(from);
        let mut depth = 0usize;
        while let Some(token) = pieces.token() {
            match self.text[token.range.start] {
                b'(' => depth += 1,
                _ if depth == 0 => return from,
                b')' if depth == 1 => return token.range.end,
                b')' => depth -= 1,
                _ => {}
            }
        }
        from
    }

    /// `double complex`, in either order, becomes one word: the parser knows no complex types.
    fn complex(&mut self, original: &str, start: usize, end: usize) -> usize {
        let is_float = |word: &str| matches!(word, "double" | "float");
        let before = original[..start].trim_end_matches([' ', '\t']);
        let after = &original[end..];
        let gap = after.len() - after.trim_start_matches([' ', '\t']).len();
        let next = after[gap..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        if before.len() < start && is_float(before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()) {
            self.text[before.len()..start].fill(b'_');
        } else if gap > 0 && is_float(next) {
            self.text[end..end + gap].fill(b'_');
        }
        end
    }

    fn blank(&mut self, start: usize, end: usize) {
        self.text[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
}

/// Finds the bodies of functions: what braces hold that follow a closing parenthesis.
#[derive(Default)]
struct Bodies {
    /// The last byte that was not a space, comment or directive.
    last: u8,
    open: Option<Body>,
}

struct Body {
    start: usize,
    depth: usize,
    /// Whether somebody reads it: it has a loop, or the preprocessor decides where it ends.
    is_kept: bool,
    /// The conditions of the preprocessor around the place at hand.
    conditions: Vec<Condition>,
}

/// An `#if` in a body.
struct Condition {
    /// How deep in braces it stands.
    depth: usize,
    /// How deep its branches so far end.
    end: Option<usize>,
}

impl Body {
    /// The branch at hand ends; whether it ends as deep as those before.
    fn end_branch(&self, condition: &mut Condition) -> bool {
        *condition.end.get_or_insert(self.depth) == self.depth
    }

    /// Takes a directive in the body. Where each branch of a condition opens and closes alike, it does not decide where the body ends.
    fn directive(&mut self, text: &[u8]) {
        let text = text.trim_ascii_start();
        let word = &text[..text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len())];
        match (word, self.conditions.pop()) {
            (b"if" | b"ifdef" | b"ifndef", around) => {
                self.conditions.extend(around);
                self.conditions.push(Condition { depth: self.depth, end: None });
            }
            (b"else" | b"elif", Some(mut condition)) => {
                self.is_kept |= !self.end_branch(&mut condition);
                self.depth = condition.depth;
                self.conditions.push(condition);
            }
            (b"endif", Some(mut condition)) => {
                // Without an `#else`, the other branch is empty.
                condition.end.get_or_insert(condition.depth);
                self.is_kept |= !self.end_branch(&mut condition);
            }
            (b"else" | b"elif" | b"endif", None) => self.is_kept = true,
            (_, condition) => self.conditions.extend(condition),
        }
    }
}

impl Bodies {
    fn keep(&mut self) {
        if let Some(body) = &mut self.open {
            body.is_kept = true;
        }
    }

    fn directive(&mut self, text: &[u8]) {
        if let Some(body) = &mut self.open {
            body.directive(text);
        }
    }

    /// Takes a byte that is not a word, and gives the body that ends with it and is read by nobody.
    fn step(&mut self, byte: u8, at: usize) -> Option<Range<usize>> {
        let last = std::mem::replace(&mut self.last, byte);
        match (&mut self.open, byte) {
            (None, b'{') if last == b')' => self.open = Some(Body { start: at + 1, depth: 1, is_kept: false, conditions: Vec::new() }),
            (Some(body), b'{') => body.depth += 1,
            (Some(body), b'}') => {
                body.depth -= 1;
                if body.depth == 0 {
                    // One branch closes the body; what another does is not known.
                    body.is_kept |= !body.conditions.is_empty();
                    return self.open.take().filter(|body| !body.is_kept).map(|body| body.start..at);
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn macros_are_blanked_and_noted() {
        let text = "GPUKERN void f(GPUGLMEM double *x, int n) { VECTORIZE_OVER(i, g(n, 2)) x[i]=0; END_VECTORIZE }";
        let masked = mask(text, &[]);
        assert_eq!(
            String::from_utf8(masked.text).unwrap(),
            "        void f(         double *x, int n) { {                          x[i]=0; }             }"
        );
        assert_eq!(masked.marks, [Mark { at: 0, end: 7, kind: MarkKind::Kernel }, Mark { at: 15, end: 23, kind: MarkKind::Space }]);
        assert_eq!(masked.loops, [LoopMark { at: 44, body: 70, count: "g(n, 2)".into() }]);
    }

    #[test]
    fn bodies_without_loops_are_blanked_and_others_kept() {
        let blanked = |text: &str| String::from_utf8(mask(text, &[]).text).unwrap();
        assert_eq!(
            blanked("int f(int x) { if (x) { g(\"}\"); } /* } */\n return '}'; } int y;"),
            "int f(int x) {                           \n             } int y;"
        );
        for kept in [
            "struct S { int x; } s = { (1) };",
            "void f(int n) {\n#if A\n if (n) {\n#else\n\n#endif\n } }",
            "void f(int n) {\n#if A\n if (n) {\n#endif\n } }",
            "void f(int n) {\n#if A\n }\n#else\n g(); }\n#endif",
            "extern \"C\" { int x; }",
            "void f(void) { never ends",
        ] {
            assert_eq!(blanked(kept), kept);
        }
        let branches = "void f(int n) {\n#if A\n if (n) {\n#else\n {\n#endif\n } }";
        assert_eq!(blanked(branches), "void f(int n) {\n     \n         \n     \n  \n      \n   }");
        let in_extern = "extern \"C\" { int f(int x) { return x; } int g(void) { return 1; } }";
        assert_eq!(blanked(in_extern), "extern \"C\" { int f(int x) {           } int g(void) {           } }");
        let loops = "void f(int n) { VECTORIZE_OVER(i, n) g(); END_VECTORIZE }";
        assert_eq!(blanked(loops), "void f(int n) { {                    g(); }             }");
    }

    #[test]
    fn comments_strings_and_directives_are_left_alone() {
        let text = "// GPUKERN\n/* GPUFUN */ \"END_VECTORIZE\" 'G'\n#define K GPUKERN \\\n  GPUFUN\n";
        let masked = mask(text, &[]);
        assert_eq!(masked.text, text.as_bytes());
        assert!(masked.marks.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_its_lines(text in "(GPUKERN|VECTORIZE_OVER|END_VECTORIZE|[(),\"'/*#\\\\\n a-zé]){0,60}") {
            let masked = mask(&text, &[]);
            prop_assert_eq!(masked.text.len(), text.len());
            let breaks = |bytes: &[u8]| bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i).collect::<Vec<_>>();
            prop_assert_eq!(breaks(&masked.text), breaks(text.as_bytes()));
        }
    }
}
