//! What stands inside `VECTORIZE_OVER` loops. A `return;` ends its iteration there, on every target: in plain C it would end the part
//! of the loop that a thread or a work item does. A loop inside another is refused.

use std::collections::HashMap;

use tree_sitter::Node;

use crate::mask::LoopMark;
use crate::parse::{Edit, Mistake};

/// The changes that a function's loops need.
pub(crate) fn check_loops(function: Node, loops: &[LoopMark]) -> Result<Vec<Edit>, Mistake> {
    let inside: HashMap<usize, &LoopMark> =
        loops.iter().filter(|mark| function.byte_range().contains(&mark.at)).map(|mark| (mark.at, mark)).collect();
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
            (Some(mark), None) => Some((mark.body, node.end_byte())),
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
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor).map(|child| (child, around)));
    }
    Ok(edits)
}
