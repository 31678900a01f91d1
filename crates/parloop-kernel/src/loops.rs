//! `VECTORIZE_OVER` loops: their counts, and what stands inside them. A `return;` ends its iteration there, on every target: in plain C it would end the part
//! of the loop that a thread or a work item does. A loop inside another is refused.

mod reader;

use std::ops::Range;

use tree_sitter::Node;

use crate::count::Count;
use crate::ctype::words;
use crate::edit::{Edit, Mistake};
use crate::mask::{LoopEnd, LoopMark, Masked};
use crate::scan::{PieceKind, Pieces, without_comments};
use crate::signature::Param;

/// The changes that the loops of a text need. They are found by its words: braces may stand in branches of the preprocessor, and a
/// function that the parser cannot read has loops as well.
pub(crate) fn check_loops(root: Node, masked: &Masked) -> Result<Vec<Edit>, Mistake> {
    let mut edits = Vec::new();
    let mut loops = masked.loops.iter().peekable();
    while let Some(mark) = loops.next() {
        let next = loops.peek().map_or(masked.text.len(), |next| next.at);
        let end = masked.ends.get(masked.ends.partition_point(|end| end.at < mark.body)).filter(|end| end.at < next);
        match end {
            Some(end) => edits.extend(ended_iterations(root, masked, mark, *end)?),
            // A macro may hold both ends of the loop; its arguments may hold the body.
            None if mark.count.is_empty() => refuse_returns(masked, mark.at..mark.body)?,
            None if next < masked.text.len() && parent_function(root, mark.at) == parent_function(root, next) => {
                let has_branches = Pieces::of(&masked.text[mark.body..next]).any(|piece| piece.kind == PieceKind::Directive);
                let reason = if has_branches {
                    "VECTORIZE_OVER is nested inside another, or each is in a branch of the preprocessor; write the inner loop as a plain `for`, \
                     or one VECTORIZE_OVER for all branches"
                } else {
                    "VECTORIZE_OVER is nested inside another; write the inner loop as a plain `for`"
                };
                let reason = reason.into();
                return Err(Mistake { at: next, reason });
            }
            None if !masked.may_hide_loops && !masked.macros.hide_loops() => {
                return Err(Mistake { at: mark.at, reason: "this VECTORIZE_OVER has no END_VECTORIZE".into() });
            }
            None => {}
        }
    }
    Ok(edits)
}

/// Makes each `return;` of a loop's body end its iteration.
fn ended_iterations(root: Node, masked: &Masked, mark: &LoopMark, end: LoopEnd) -> Result<Vec<Edit>, Mistake> {
    let body = mark.body..end.at;
    refuse_hidden_returns(masked, body.clone())?;
    let label = mark.body;
    let mut edits = Vec::new();
    let mut pieces = Pieces::of(&masked.text);
    pieces.skip_to(body.start);
    let mut depth = 0usize;
    while let Some(piece) = pieces.next().filter(|piece| piece.range.start < body.end) {
        match (piece.kind, &masked.text[piece.range.clone()]) {
            (PieceKind::Sign, b"(") => depth += 1,
            (PieceKind::Sign, b")") => depth = depth.saturating_sub(1),
            (PieceKind::Word, b"return") => {
                let at = piece.range.start;
                // A function inside of the loop, of which C++ has some, returns for itself.
                if parent_function(root, at) != parent_function(root, mark.at) {
                    continue;
                }
                let mut rest = pieces;
                let is_alone = rest.token().is_some_and(|next| masked.text[next.range.start] == b';');
                match (is_alone, depth) {
                    (true, 0) => {
                        edits.push(Edit { at, remove: "return".len(), insert: format!("goto parloop_next_{label}").into() });
                    }
                    (_, 0) if !returns_nothing(root, at, masked) => {}
                    (_, 0) => {
                        let reason = "this `return` is followed by more than `;`, so it would end more than one iteration of \
                                      VECTORIZE_OVER; write `return;`";
                        return Err(Mistake { at, reason: reason.into() });
                    }
                    _ => return Err(return_as_argument(at)),
                }
            }
            _ => {}
        }
    }
    if !edits.is_empty() && !end.is_bare {
        let reason = "the macro that ends this VECTORIZE_OVER has code before END_VECTORIZE, which a `return` inside the loop would not \
                      skip; write END_VECTORIZE by itself";
        return Err(Mistake { at: end.at, reason: reason.into() });
    }
    if !edits.is_empty() {
        // The label is outside the block, so that no declaration is jumped over.
        edits.push(Edit { at: body.start, remove: 0, insert: " {".into() });
        edits.push(Edit { at: body.end, remove: 0, insert: format!("}} parloop_next_{label}: ; ").into() });
    }
    Ok(edits)
}

fn return_as_argument(at: usize) -> Mistake {
    let reason = "this `return` is an argument of a macro inside VECTORIZE_OVER, where a `return` ends one iteration; write it outside the \
                  macro";
    Mistake { at, reason: reason.into() }
}

fn refuse_returns(masked: &Masked, part: Range<usize>) -> Result<(), Mistake> {
    let mut words = Pieces::of(&masked.text[part.clone()]).filter(|piece| piece.kind == PieceKind::Word);
    let found = words.find(|word| &masked.text[part.start + word.range.start..part.start + word.range.end] == b"return");
    found.map_or(Ok(()), |word| Err(return_as_argument(part.start + word.range.start)))
}

/// Where the innermost function or lambda around a place begins, if the parser found one.
fn parent_function(root: Node, at: usize) -> Option<usize> {
    function_around(root, at).map(|function| function.start_byte())
}

fn function_around(root: Node, at: usize) -> Option<Node> {
    let innermost = root.descendant_for_byte_range(at, at + 1)?;
    std::iter::successors(Some(innermost), Node::parent).find(|node| matches!(node.kind(), "function_definition" | "lambda_expression"))
}

fn returns_nothing(root: Node, at: usize, masked: &Masked) -> bool {
    let Some(function) = function_around(root, at) else { return true };
    let ty = function.child_by_field_name("type").map(|ty| String::from_utf8_lossy(&masked.text[ty.byte_range()]));
    ty.is_some_and(|ty| ty.trim() == "void")
        && function.child_by_field_name("declarator").is_some_and(|inner| inner.kind() == "function_declarator")
}

/// A `return` in a macro would end more than its iteration on some targets, and cannot be changed for this loop alone.
fn refuse_hidden_returns(masked: &Masked, body: Range<usize>) -> Result<(), Mistake> {
    for piece in Pieces::of(&masked.text[body.clone()]).filter(|piece| piece.kind == PieceKind::Word) {
        let at = body.start + piece.range.start;
        let word = String::from_utf8_lossy(&masked.text[at..body.start + piece.range.end]);
        if masked.macros.get(&word).is_some_and(|hidden| hidden.returns) {
            let reason = format!(
                "the macro `{word}` has a `return` and is used inside VECTORIZE_OVER, where a `return` ends one iteration; write the \
                 `return` itself there"
            );
            return Err(Mistake { at, reason });
        }
    }
    Ok(())
}

/// Refuses what has a loop of its own inside of a loop: a work item does its part of both, and not each iteration of one for each of the other.
pub(crate) fn refuse_inner_loops(masked: &Masked, has_loop: impl Fn(&str) -> bool) -> Result<(), Mistake> {
    for mark in &masked.loops {
        let Some(end) = masked.ends.get(masked.ends.partition_point(|end| end.at < mark.body)) else { continue };
        let mut words = Pieces::of(&masked.text[mark.body..end.at]).filter(|piece| piece.kind == PieceKind::Word);
        let text = |word: &Range<usize>| String::from_utf8_lossy(&masked.text[mark.body + word.start..mark.body + word.end]).into_owned();
        if let Some(word) = words.find(|word| has_loop(&text(&word.range))) {
            let reason =
                format!("`{}` has a VECTORIZE_OVER and is used inside another; write the inner loop as a plain `for`", text(&word.range));
            return Err(Mistake { at: mark.body + word.range.start, reason });
        }
    }
    Ok(())
}

/// The counts of the loops in a function's body, and whether CPU threads can share them out alike.
///
/// `fixed` says whether a parameter is changed by nothing that its body does not show: in C++ a reference may change what is not `const`.
pub(crate) fn read_loops(masked: &Masked, body: Range<usize>, params: &[Param], fixed: impl Fn(usize) -> bool) -> (Vec<Count>, bool) {
    let text = without_comments(&String::from_utf8_lossy(&masked.text[body.clone()]));
    let hides_changes = words(&text).iter().any(|word| masked.macros.get(word).is_some_and(|hidden| hidden.changes));
    let marks: Vec<&LoopMark> = masked.loops.iter().filter(|mark| body.contains(&mark.at)).collect();
    let known = |mark: &&LoopMark| {
        let count = Count::parse(&mark.count, params);
        let is_changed = |index: usize| {
            hides_changes || masked.macros.has(&params[index].name) || !fixed(index) || changes(&text, &params[index].name) > 0
        };
        if count.params().any(is_changed) { Count::Unknown } else { count }
    };
    let loops: Vec<Count> = marks.iter().map(known).collect();
    let all_known = !loops.contains(&Count::Unknown);
    // One text has one value, unless it names what is set more than once.
    let one_text = marks.windows(2).all(|pair| pair[0].count == pair[1].count);
    let is_hidden = |mark: &&LoopMark| mark.count.is_empty();
    let one_value = marks.len() < 2
        || !hides_changes
            && !marks.iter().any(is_hidden)
            && marks.iter().all(|mark| !reads_memory(&mark.count) && words(&mark.count).iter().all(|word| changes(&text, word) < 2));
    (loops, all_known || one_text && one_value)
}

/// Whether a count is read from memory, so that the same text may have another value later.
fn reads_memory(count: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let leads = count.match_indices('*').any(|(at, _)| {
        let before = count[..at].trim_end();
        !(before.ends_with(is_word) || before.ends_with(')'))
    });
    leads || count.contains('[')
}

/// How often a function's body may give `name` a value: by assignment, through its address, or by a declaration of that name.
fn changes(body: &str, name: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has_enum = words(body).iter().any(|word| word == "enum");
    let changed = |at: usize| {
        let (mut before, mut after) = (body[..at].trim_end(), body[at + name.len()..].trim_start());
        // `(n) = 1`, but not the argument of `f(n)`.
        while let (Some(outer), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
            if outer.trim_end().ends_with(is_word) && !["int", "long", "return"].iter().any(|word| outer.trim_end().ends_with(word)) {
                break;
            }
            (before, after) = (outer.trim_end(), rest.trim_start());
        }
        // Operators may be arguments of a macro: `SET(n, =, 1)`.
        let after = after
            .strip_prefix(',')
            .map(str::trim_start)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_punctuation()))
            .unwrap_or(after);
        let whole = !body[..at].ends_with(is_word) && !body[at + name.len()..].starts_with(is_word);
        let assigned = after.starts_with('=') && !after.starts_with("==");
        let updated = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"].iter().any(|sign| after.starts_with(sign));
        let stepped = before.ends_with("++") || before.ends_with("--");
        let address = before.ends_with('&') && !before.ends_with("&&");
        let declared = after.starts_with([';', ',', '[']) && before.ends_with(is_word) && !before.ends_with("return");
        let listed = has_enum && before.ends_with([',', '{']) && after.starts_with([',', '}']);
        whole && (assigned || updated || stepped || address || declared || listed)
    };
    body.match_indices(name).filter(|(at, _)| changed(*at)).count()
}

#[cfg(test)]
mod tests {
    use parloop_device::{DeviceKind, Language};

    use crate::count::Count;
    use crate::parse::{Dialect, Parsed, parse};
    use crate::source::Joined;

    fn parsed(text: &str, language: Language) -> crate::error::Result<Parsed> {
        let dialect = Dialect { target: DeviceKind::Cuda, language, classes: &[], checked: false, arguments: &[], wanted: &[] };
        parse(&Joined::from(text), dialect)
    }

    #[test]
    fn loops_and_changes_in_macros_leave_the_count_open() {
        for text in [
            "#define TWICE(v) v *= 2\nGPUKERN void f(double *x, int n) { TWICE(n); VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }",
            "#define LOOP(i, n) VECTORIZE_OVER(i, n)\nGPUKERN void f(double *x, int n) { LOOP(i, n) x[i] += 1; END_VECTORIZE }",
            "#define ALL(x, n) VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE\nGPUKERN void f(double *x, int n) { ALL(x, n) }",
            "#define END END_VECTORIZE\n#define N 2 * n\nGPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, N) x[i] += 1; END }",
        ] {
            let parsed = parsed(text, Language::C).unwrap();
            assert_eq!(parsed.functions[0].loops, [Count::Unknown], "{text}");
            assert!(parsed.needs.strides, "{text}");
        }
        let text = "#define ONE 1\nGPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, n) x[i] += ONE; END_VECTORIZE }";
        assert_eq!(parsed(text, Language::C).unwrap().functions[0].loops, [Count::Param(1)]);
    }

    #[test]
    fn returns_with_comments_end_their_iteration_and_others_are_refused() {
        let kernel = |line: &str| {
            format!(
                "#define NOTHING\nGPUKERN void f(double *x, const int n) {{ VECTORIZE_OVER(i, n) if (i == 3) {line} x[i] = 1; END_VECTORIZE }}"
            )
        };
        assert!(parsed(&kernel("return /* done */;"), Language::C).unwrap().text.contains("goto parloop_next"));
        for line in ["return NOTHING;", "return (void)0;"] {
            let error = parsed(&kernel(line), Language::C).unwrap_err().to_string();
            assert!(error.contains("write `return;`"), "{error}");
        }
        // It ends the function, which runs once.
        let search = "int f(const double *x, const int n) { VECTORIZE_OVER(i, n) if (x[i] > 0) return i; END_VECTORIZE return -1; }";
        assert!(parsed(search, Language::C).is_ok());
    }

    #[test]
    fn a_return_ends_its_iteration_wherever_braces_stand() {
        let skips = |body: &str| {
            let text = format!("GPUKERN void f(double *x, const int n) {{ VECTORIZE_OVER(i, n)\n{body}\nEND_VECTORIZE }}");
            let text = parsed(&text, Language::C).unwrap().text;
            assert!(!text.contains("return") && text.contains("parloop_next_"), "{text}");
        };
        skips("#ifdef A\nif (i) {\n#else\nif (i == 3) {\n#endif\nreturn; }");
        skips("#define Z /* a\n } */ 0\nif (i == Z) return;");
        skips("// C:\\dir\\\n }\nif (i) return;");
        let both = "#define START(i, n) VECTORIZE_OVER(i, n) END_VECTORIZE VECTORIZE_OVER(i, n)\n\
                    GPUKERN void f(double *x, int n) { START(i, n) if (i) return; x[i] = 1; END_VECTORIZE }";
        assert!(parsed(both, Language::C).unwrap().text.contains("START(i, n) { if (i) goto parloop_next"));
        let method =
            "GPUKERN void f(double *x, const int n) { VECTORIZE_OVER(i, n) struct S { void go() { return; } }; S().go(); END_VECTORIZE }";
        assert!(!parsed(method, Language::Cpp).unwrap().text.contains("goto"));
        for (text, told) in [
            (
                "#define WHEN(c, s) if (c) s\nGPUKERN void f(int n) { VECTORIZE_OVER(i, n) WHEN(i == 3, return;) END_VECTORIZE }",
                "is an argument of a macro",
            ),
            (
                "#define ALL(i, n, ...) VECTORIZE_OVER(i, n) __VA_ARGS__ END_VECTORIZE\nGPUKERN void f(int n) { ALL(i, n, if (i) return;) }",
                "is an argument of a macro",
            ),
            (
                "#define FIN x[i] += 1; END_VECTORIZE\nGPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, n) if (i) return; FIN }",
                "has code before END_VECTORIZE",
            ),
            ("GPUKERN void f(int n) { VECTORIZE_OVER(i, n) g(i); }", "this VECTORIZE_OVER has no END_VECTORIZE"),
            ("GPUKERN void f(int n) { VECTORIZE_OVER(i, n) if (i) ret\\\nurn; END_VECTORIZE }", "splits a word"),
        ] {
            let error = parsed(text, Language::C).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_loop_inside_another_is_refused_by_whatever_it_is_hidden() {
        let helper = "GPUFUN void h(double *x, int n) { VECTORIZE_OVER(j, n) x[j] += 1; END_VECTORIZE }";
        for text in [
            format!("{helper}\nGPUKERN void f(double *x, int n) {{ VECTORIZE_OVER(i, n) h(x, n); END_VECTORIZE }}"),
            format!("{helper}\n#define H h(x, n)\nGPUKERN void f(double *x, int n) {{ VECTORIZE_OVER(i, n) H; END_VECTORIZE }}"),
            "#define ALL VECTORIZE_OVER(j, n) x[j] += 1; END_VECTORIZE\n\
             GPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, n) ALL END_VECTORIZE }"
                .into(),
        ] {
            let error = parsed(&text, Language::C).unwrap_err().to_string();
            assert!(error.contains("inside another"), "{error}");
        }
    }

    #[test]
    fn counts_that_are_changed_in_any_spelling_are_left_open() {
        for change in ["(n) = 10;", "n /* c */ = 10;", "g(&(n));", "int (n) = 10;", "n \\\n = 10;", "OP(n, =, 10);", "enum { a, n };"] {
            let text = format!("GPUKERN void f(double *x, int n) {{ {change} VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }}");
            assert_eq!(parsed(&text, Language::C).unwrap().functions[0].loops, [Count::Unknown], "{change}");
        }
        let defined = "GPUKERN void f(double *x, int n) {\n#define n 10\nVECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }";
        assert_eq!(parsed(defined, Language::C).unwrap().functions[0].loops, [Count::Unknown]);
        for harmless in ["g(n);", "g(n, 1);", "int v[] = {1, n};", "if (n) g(1);", "int m = (n) + 1;", "// n = 10\n"] {
            let text = format!("GPUKERN void f(double *x, int n) {{ {harmless} VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }}");
            assert_eq!(parsed(&text, Language::C).unwrap().functions[0].loops, [Count::Param(1)], "{harmless}");
        }
    }

    #[test]
    fn loops_are_seen_behind_comments_and_missed_ones_do_with_any_grid() {
        for head in ["VECTORIZE_OVER /* ( */ (i, n)", "VECTORIZE_OVER(i, /* ) */ n)", "VECTORIZE_OVER \\\n(i, n)"] {
            let text = format!("GPUKERN void f(double *x, int n) {{ {head} x[i] = 1; END_VECTORIZE }}");
            assert_eq!(parsed(&text, Language::C).unwrap().functions[0].loops, [Count::Param(1)], "{head}");
        }
        for text in [
            "#define APPLY(f, i, n) f(i, n)\nGPUKERN void f(double *x, int n) { APPLY(VECTORIZE_OVER, i, n) x[i] = 1; } } }",
            "#define CAT(a, b) a ## b\nGPUKERN void f(double *x, int n) { CAT(VECTORIZE_, OVER)(i, n) x[i] = 1; } } }",
        ] {
            assert!(parsed(text, Language::C).unwrap().needs.strides, "{text}");
        }
    }

    #[test]
    fn loops_of_helpers_are_cut_alike_with_no_others() {
        let helper = "void one(double *x, int n) { VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }";
        let kernel = "GPUKERN void f(double *x, int n) { two(x, n); VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE }";
        for text in [
            format!("{helper}\nvoid two(double *x, int n) {{ one(x, 2 * n); }}\n{kernel}"),
            format!("void two(double *x, int n);\n{kernel}\n{}", helper.replace("one", "two")),
            format!("{helper}\n#define two(x, n) one(x, 2 * n)\n{kernel}"),
        ] {
            let functions = parsed(&text, Language::C).unwrap().functions;
            assert!(!functions.iter().find(|function| function.name == "f").unwrap().loops_align, "{text}");
        }
    }

    #[test]
    fn a_return_in_a_macro_is_refused_and_one_of_a_lambda_is_its_own() {
        let text = "#define SKIP(c) if (c) return\nGPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, n) SKIP(i == 3); x[i] = 1; END_VECTORIZE }";
        let error = parsed(text, Language::C).unwrap_err().to_string();
        assert!(error.contains("the macro `SKIP` has a `return`"), "{error}");
        let lambda = "auto g = [&](int k) { if (k == 3) return; x[k] = 5; };";
        let text = format!("GPUKERN void f(double *x, const int n) {{ VECTORIZE_OVER(i, n) {lambda} g(i); END_VECTORIZE }}");
        assert!(parsed(&text, Language::Cpp).unwrap().text.contains(lambda));
    }
}
