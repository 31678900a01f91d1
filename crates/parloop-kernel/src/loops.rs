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
use crate::scan::{PieceKind, Pieces};
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
        if let Some((body, end)) = around
            && node.kind() == "return_statement"
            && node.named_child_count() == 0
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
/// `helpers` are the functions with loops that are no kernels.
pub(crate) fn read_loops(
    masked: &Masked,
    body: Range<usize>,
    params: &[Param],
    fixed: impl Fn(usize) -> bool,
    helpers: &[String],
) -> (Vec<Count>, bool) {
    let text = String::from_utf8_lossy(&masked.text[body.clone()]);
    let hides_changes = words(&text).iter().any(|word| masked.macros.get(word).is_some_and(|hidden| hidden.changes));
    let marks: Vec<&LoopMark> = masked.loops.iter().filter(|mark| body.contains(&mark.at)).collect();
    let known = |mark: &&LoopMark| {
        let count = Count::parse(&mark.count, params);
        let is_changed = |index: usize| hides_changes || !fixed(index) || changes(&text, &params[index].name) > 0;
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
    let calls_loops = helpers.iter().any(|helper| words(&text).contains(helper));
    (loops, (all_known || one_text && one_value) && !calls_loops)
}

/// How often a function's body may give `name` a value: by assignment, through its address, or by a declaration of that name.
fn changes(body: &str, name: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let changed = |at: usize| {
        let (before, after) = (body[..at].trim_end(), body[at + name.len()..].trim_start());
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
    fn a_return_in_a_macro_is_refused_and_one_of_a_lambda_is_its_own() {
        let text = "#define SKIP(c) if (c) return\nGPUKERN void f(double *x, int n) { VECTORIZE_OVER(i, n) SKIP(i == 3); x[i] = 1; END_VECTORIZE }";
        let error = parsed(text, Language::C).unwrap_err().to_string();
        assert!(error.contains("the macro `SKIP` has a `return`"), "{error}");
        let lambda = "auto g = [&](int k) { if (k == 3) return; x[k] = 5; };";
        let text = format!("GPUKERN void f(double *x, const int n) {{ VECTORIZE_OVER(i, n) {lambda} g(i); END_VECTORIZE }}");
        assert!(parsed(&text, Language::Cpp).unwrap().text.contains(lambda));
    }
}
