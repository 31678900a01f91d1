//! What a function does with its names, before it is written anew: which are assigned to, and which begin with constants.

use std::collections::HashSet;

use tree_sitter::Node;

/// Whether numbers alone are in an expression.
pub(super) fn is_constant(node: Node<'_>) -> bool {
    let mut constant = true;
    for_each(node, &mut |part| {
        constant &= matches!(
            part.kind(),
            "number_literal" | "initializer_list" | "unary_expression" | "binary_expression" | "parenthesized_expression" | "comment"
        ) || !part.is_named();
    });
    constant
}

/// The names that are assigned to, or incremented.
pub(super) fn changed_names<'t>(body: Node<'_>, text: &'t str) -> HashSet<&'t str> {
    let mut names = HashSet::new();
    for_each(body, &mut |node| {
        let field = match node.kind() {
            "assignment_expression" => "left",
            "update_expression" => "argument",
            _ => return,
        };
        if let Some(target) = node.child_by_field_name(field) {
            for_each(target, &mut |part| {
                if part.kind() == "identifier" {
                    names.insert(&text[part.byte_range()]);
                }
            });
        }
    });
    names
}

/// Visits a node and all below it, the outer ones first.
pub(super) fn for_each<'t>(node: Node<'t>, visit: &mut impl FnMut(Node<'t>)) {
    let mut cursor = node.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            // The cursor does not leave the node that it began with.
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
