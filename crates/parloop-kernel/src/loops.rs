//! `VECTORIZE_OVER` loops: their counts, and what stands inside them. A `return;` ends its iteration there, on every target: in plain C it would end the part
//! of the loop that a thread or a work item does. A loop inside another is refused.

mod reader;

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use crate::count::Count;
use crate::ctype::words;
use crate::edit::{Edit, Mistake};
use crate::mask::{LoopMark, Masked};
use crate::scan::{PieceKind, Pieces, without_comments};
use crate::signature::Param;

/// The changes that a function's loops need.
pub(crate) fn check_loops(function: Node, masked: &Masked) -> Result<Vec<Edit>, Mistake> {
    let inside: HashMap<usize, &LoopMark> =
        masked.loops.iter().filter(|mark| function.byte_range().contains(&mark.at)).map(|mark| (mark.at, mark)).collect();
    let mut edits = Vec::new();
    let mut labelled = Vec::new();
    let mut open = if inside.is_empty() { vec![] } else { vec![(function, None)] };
    while let Some((node, around)) = open.pop() {
        let mark = inside.get(&node.start_byte()).filter(|_| node.kind() == "compound_statement");
        let around = match (mark, around) {
            (Some(_), Some(_)) => {
                let reason = "VECTORIZE_OVER stands inside another; write the inner loop as a plain `for`".into();
                return Err(Mistake { at: node.start_byte(), reason });
            }
            (Some(mark), None) => {
                refuse_hidden_returns(masked, node.byte_range())?;
                Some((mark.body, node.end_byte()))
            }
            (None, around) => around,
        };
        if around.is_some() && node.kind() == "return_statement" && has_value(node) && returns_nothing(function, masked) {
            let reason =
                "this `return` has more than its word, so that it would end more than one iteration of VECTORIZE_OVER; write `return;`"
                    .into();
            return Err(Mistake { at: node.start_byte(), reason });
        }
        if let Some((body, end)) = around
            && node.kind() == "return_statement"
            && !has_value(node)
        {
            edits.push(Edit { at: node.start_byte(), remove: "return".len(), insert: format!("goto parloop_next_{body}").into() });
            if !labelled.contains(&body) {
                labelled.push(body);
                // The label is outside the block, so that no declaration is jumped over.
                edits.push(Edit { at: body, remove: 0, insert: " {".into() });
                edits.push(Edit { at: end - 1, remove: 0, insert: format!("}} parloop_next_{body}: ; ").into() });
            }
        }
        // A function inside of the loop, of which C++ has some, returns for itself.
        let around = around.filter(|_| node.kind() != "lambda_expression");
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor).map(|child| (child, around)));
    }
    Ok(edits)
}

/// Whether a `return` is followed by anything but comments.
fn has_value(node: Node) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| child.kind() != "comment")
}

fn returns_nothing(function: Node, masked: &Masked) -> bool {
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
                "the macro `{word}` has a `return`, and is used inside VECTORIZE_OVER, where a `return` ends one iteration; write the \
                 `return` itself there"
            );
            return Err(Mistake { at, reason });
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
            && marks.iter().all(|mark| words(&mark.count).iter().all(|word| changes(&text, word) < 2));
    (loops, all_known || one_text && one_value)
}

/// How often a function's body may give `name` a value: by assignment, through its address, or by a declaration of that name.
fn changes(body: &str, name: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let changed = |at: usize| {
        let (mut before, mut after) = (body[..at].trim_end(), body[at + name.len()..].trim_start());
        // `(n) = 1`, but not the argument of `f(n)`.
        while let (Some(outer), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
            if outer.trim_end().ends_with(is_word) && !["int", "long", "return"].iter().any(|word| outer.trim_end().ends_with(word)) {
                break;
            }
            (before, after) = (outer.trim_end(), rest.trim_start());
        }
        let whole = !body[..at].ends_with(is_word) && !body[at + name.len()..].starts_with(is_word);
        let assigned = after.starts_with('=') && !after.starts_with("==");
        let updated = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"].iter().any(|sign| after.starts_with(sign));
        let stepped = before.ends_with("++") || before.ends_with("--");
        let address = before.ends_with('&') && !before.ends_with("&&");
        let declared = after.starts_with([';', ',', '[']) && before.ends_with(is_word) && !before.ends_with("return");
        whole && (assigned || updated || stepped || address || declared)
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
    fn counts_that_are_changed_in_any_spelling_are_left_open() {
        for change in ["(n) = 10;", "n /* c */ = 10;", "g(&(n));", "int (n) = 10;", "n \\\n = 10;"] {
            let text = format!("GPUKERN void f(double *x, int n) {{ {change} VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }}");
            assert_eq!(parsed(&text, Language::C).unwrap().functions[0].loops, [Count::Unknown], "{change}");
        }
        let defined = "GPUKERN void f(double *x, int n) {\n#define n 10\nVECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }";
        assert_eq!(parsed(defined, Language::C).unwrap().functions[0].loops, [Count::Unknown]);
        for harmless in ["g(n);", "if (n) g(1);", "int m = (n) + 1;", "// n = 10\n"] {
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
