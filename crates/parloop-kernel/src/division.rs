//! Refuses integers that are divided by a literal zero: on a CPU that ends the process. Floating-point numbers may be.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use crate::ctype::INTEGERS;
use crate::edit::Mistake;

/// Deeper expressions are not looked into.
const DEEPEST: usize = 100;

/// The first integer that is divided by a literal zero in a function.
pub(crate) fn check_divisions(root: Node, text: &[u8]) -> Result<(), Mistake> {
    if !may_divide_by_zero(text) {
        return Ok(());
    }
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.kind() == "function_definition" {
            let function = Function { text, integers: HashMap::new(), others: HashSet::new() }.read(node);
            function.check(node)?;
            continue;
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    Ok(())
}

/// Whether a zero follows an operator that divides: few texts need to be walked.
pub(crate) fn may_divide_by_zero(text: &[u8]) -> bool {
    let follows = |at: usize| text[at + 1..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'(' | b'=')) == Some(&b'0');
    text.iter().enumerate().any(|(at, byte)| matches!(byte, b'/' | b'%') && follows(at))
}

/// What a function declares, its parameters among it.
struct Function<'a> {
    text: &'a [u8],
    /// Integers, and arrays of them, with the number of indices that lead to one.
    integers: HashMap<&'a [u8], usize>,
    /// Names of anything else.
    others: HashSet<&'a [u8]>,
}

impl<'a> Function<'a> {
    fn read(mut self, function: Node) -> Function<'a> {
        let mut open = vec![function];
        while let Some(node) = open.pop() {
            if matches!(node.kind(), "parameter_declaration" | "declaration") {
                self.declare(node);
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
        self
    }

    fn declare(&mut self, node: Node) {
        let is_integer = node.child_by_field_name("type").is_some_and(|ty| self.is_integer_type(ty));
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let (mut inner, mut depth) = (declarator, 0);
            while let Some(next) = inner.child_by_field_name("declarator") {
                depth += usize::from(matches!(inner.kind(), "pointer_declarator" | "array_declarator"));
                inner = next;
            }
            let name = &self.text[inner.byte_range()];
            if is_integer && self.integers.get(name).is_none_or(|&known| known == depth) {
                self.integers.insert(name, depth);
            } else {
                self.others.insert(name);
            }
        }
    }

    fn is_integer_type(&self, ty: Node) -> bool {
        let text = String::from_utf8_lossy(&self.text[ty.byte_range()]).into_owned();
        text.split_whitespace().all(|word| INTEGERS.contains(&word) || matches!(word, "const" | "volatile"))
    }

    fn check(&self, function: Node) -> Result<(), Mistake> {
        let mut open = vec![function];
        while let Some(node) = open.pop() {
            let sides = [node.child_by_field_name("left"), node.child_by_field_name("right"), node.child_by_field_name("operator")];
            if let [Some(left), Some(right), Some(operator)] = sides
                && matches!(&self.text[operator.byte_range()], b"/" | b"%" | b"/=" | b"%=")
                && self.is_zero(right)
                && self.is_integer(left, 0, DEEPEST)
            {
                return Err(Mistake { at: operator.start_byte(), reason: "an integer is divided by zero".into() });
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
        Ok(())
    }

    /// Whether it is a literal such as `0`, `0x0` or `(0UL)`.
    fn is_zero(&self, node: Node) -> bool {
        match node.kind() {
            "parenthesized_expression" => node.named_child(0).is_some_and(|inner| self.is_zero(inner)),
            "number_literal" => {
                let text = self.text[node.byte_range()].to_ascii_lowercase();
                let digits = text.strip_prefix(b"0x").unwrap_or(&text);
                let end = digits.iter().rposition(|byte| !matches!(byte, b'u' | b'l')).map_or(0, |last| last + 1);
                end > 0 && digits[..end].iter().all(|byte| *byte == b'0')
            }
            _ => false,
        }
    }

    /// Whether it is certainly an integer, behind that many indices.
    fn is_integer(&self, node: Node, indices: usize, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let field = |name: &str, indices: usize| node.child_by_field_name(name).is_some_and(|part| self.is_integer(part, indices, depth));
        match node.kind() {
            "parenthesized_expression" => node.named_child(0).is_some_and(|inner| self.is_integer(inner, indices, depth)),
            "identifier" => {
                let name = &self.text[node.byte_range()];
                self.integers.get(name) == Some(&indices) && !self.others.contains(name)
            }
            "subscript_expression" => field("argument", indices + 1),
            "number_literal" => self.text[node.byte_range()].iter().all(u8::is_ascii_digit),
            "unary_expression" => field("argument", 0),
            "binary_expression" => field("left", 0) && field("right", 0),
            _ => false,
        }
    }
}
