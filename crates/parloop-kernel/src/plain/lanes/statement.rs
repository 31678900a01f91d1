//! Statements: declarations of vectors, assignments to them, and control flow that is the same for all lanes.

use std::collections::HashMap;

use tree_sitter::Node;

use super::expression::integer;
use super::names::is_constant;
use super::{Holder, Kind, MOST_VECTORS, Refusal, Scalar, Variable, Writer, field, is_const, parts, scalar_type};

/// What a declarator declares.
pub(super) struct Declared<'t> {
    pub name: Node<'t>,
    /// The lengths of its axes.
    lengths: Vec<Option<Node<'t>>>,
    pub value: Option<Node<'t>>,
}

/// What a declarator declares, unless it is a pointer or a function.
pub(super) fn declared(declarator: Node<'_>) -> Option<Declared<'_>> {
    let (mut node, value) = match declarator.kind() {
        "init_declarator" => (declarator.child_by_field_name("declarator")?, Some(declarator.child_by_field_name("value")?)),
        _ => (declarator, None),
    };
    let mut lengths = Vec::new();
    while node.kind() == "array_declarator" {
        lengths.push(node.child_by_field_name("size"));
        node = node.child_by_field_name("declarator")?;
    }
    lengths.reverse();
    (node.kind() == "identifier").then_some(Declared { name: node, lengths, value })
}

impl Declared<'_> {
    /// The lengths that stand there as numbers, or as products of numbers.
    pub(super) fn known_lengths(&self, text: &str) -> Vec<Option<u64>> {
        self.lengths.iter().map(|length| product((*length)?, text)).collect()
    }
}

/// The value of a number, or of a product of numbers.
fn product(node: Node<'_>, text: &str) -> Option<u64> {
    // Products lean to the left.
    let (mut rest, mut value) = (node, 1u64);
    while rest.kind() == "binary_expression" && &text[rest.child_by_field_name("operator")?.byte_range()] == "*" {
        value = value.checked_mul(integer(&text[rest.child_by_field_name("right")?.byte_range()])?)?;
        rest = rest.child_by_field_name("left")?;
    }
    value.checked_mul(integer(&text[rest.byte_range()])?)
}

impl<'t> Writer<'t> {
    pub(super) fn statement(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        self.deeper(|writer| match node.kind() {
            "compound_statement" => writer.block(node),
            "declaration" => writer.declaration(node, true),
            "expression_statement" => match parts(node)[..] {
                [] => Ok(";\n".to_owned()),
                [inner] => Ok(format!("{};\n", writer.effect(inner)?)),
                _ => Err("its text cannot be parsed"),
            },
            "for_statement" => writer.in_block(|writer| writer.for_loop(node)),
            "while_statement" => {
                let condition = writer.condition(node)?;
                Ok(format!("while ({condition}) {{\n{}}}\n", writer.inner(field(node, "body")?)?))
            }
            "if_statement" => writer.branch(node),
            "return_statement" if parts(node).is_empty() => Ok("return;\n".to_owned()),
            "break_statement" => Ok("break;\n".to_owned()),
            "continue_statement" => Ok("continue;\n".to_owned()),
            "comment" => Ok(String::new()),
            _ => Err("it has a statement that is not known for vectors"),
        })
    }

    /// What `write` writes, with names of its own.
    fn in_block<R>(&mut self, write: impl FnOnce(&mut Self) -> Result<R, Refusal>) -> Result<R, Refusal> {
        self.scope.push(HashMap::new());
        let written = write(self);
        self.scope.pop();
        written
    }

    fn block(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        self.in_block(|writer| {
            let mut body = String::from("{\n");
            for statement in parts(node) {
                body.push_str(&writer.statement(statement)?);
            }
            body.push_str("}\n");
            Ok(body)
        })
    }

    /// A statement that may declare names of its own.
    fn inner(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        self.in_block(|writer| writer.statement(node))
    }

    fn condition(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let condition = field(node, "condition")?;
        self.expression(condition)?.uniform()
    }

    fn for_loop(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let start = match node.child_by_field_name("initializer") {
            Some(start) if start.kind() == "declaration" => {
                let mut cursor = start.walk();
                if start.children_by_field_name("declarator", &mut cursor).count() != 1 {
                    return Err("a loop declares several variables");
                }
                self.declaration(start, false)?.trim_end().to_owned()
            }
            Some(start) => format!("{};", self.effect(start)?),
            None => ";".to_owned(),
        };
        let condition = match node.child_by_field_name("condition") {
            Some(_) => self.condition(node)?,
            None => String::new(),
        };
        let step = match node.child_by_field_name("update") {
            Some(step) => self.effect(step)?,
            None => String::new(),
        };
        let body = self.inner(field(node, "body")?)?;
        Ok(format!("for ({start} {condition}; {step}) {{\n{body}}}\n"))
    }

    fn branch(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let condition = self.condition(node)?;
        let then = self.inner(field(node, "consequence")?)?;
        let mut text = format!("if ({condition}) {{\n{then}}}\n");
        if let Some(otherwise) = node.child_by_field_name("alternative") {
            let otherwise =
                if otherwise.kind() == "else_clause" { *parts(otherwise).first().ok_or("its text cannot be parsed")? } else { otherwise };
            text.push_str(&format!("else {{\n{}}}\n", self.inner(otherwise)?));
        }
        Ok(text)
    }

    /// An expression that is there for what it does.
    fn effect(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        match node.kind() {
            "assignment_expression" => self.assignment(node),
            "update_expression" => {
                let argument = field(node, "argument")?;
                self.check_target(argument)?;
                self.target(argument)?.uniform()?;
                Ok(self.text_of(node).to_owned())
            }
            _ => Err("it has a statement that is not known for vectors"),
        }
    }

    /// The name of what is assigned to. What all lanes share with the caller must not change: they run one vector after another.
    fn check_target(&self, node: Node<'_>) -> Result<&'t str, Refusal> {
        let mut target = node;
        while target.kind() == "subscript_expression" {
            target = field(target, "argument")?;
        }
        if target.kind() != "identifier" {
            return Err("it has a statement that is not known for vectors");
        }
        match self.variable(self.text_of(target)).map(|variable| variable.holder) {
            Some(Holder::Shared(_)) => Err("it changes what all lanes share"),
            Some(Holder::Lanes { constant: true }) => Err("it changes a constant"),
            _ => Ok(self.text_of(target)),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let (left, operator) = (field(node, "left")?, self.text_of(field(node, "operator")?));
        let target = self.check_target(left)?;
        let right = self.expression(field(node, "right")?)?;
        self.assign(target, right.kind);
        let left = self.target(left)?;
        if matches!(left.kind, Kind::Same(_)) {
            return Ok(format!("{} {operator} {}", left.text, right.uniform()?));
        }
        if !matches!(operator, "=" | "+=" | "-=" | "*=" | "/=") {
            return Err("it has an operation that is not known for vectors");
        }
        Ok(format!("{} {operator} {}", left.text, right.vector()?))
    }

    /// Declarations; not all of them may become tables.
    fn declaration(&mut self, node: Node<'_>, may_be_table: bool) -> Result<String, Refusal> {
        let ty = self.text_of(field(node, "type")?).split_whitespace().collect::<Vec<_>>().join(" ");
        let words = self.text[node.start_byte()..field(node, "declarator")?.start_byte()].split_whitespace().collect::<Vec<_>>();
        let is_known = |word: &&str| matches!(*word, "const" | "static") || ty.split(' ').any(|part| part == *word);
        let holder = match scalar_type(&ty) {
            Some(Scalar::Integer) if words.iter().all(is_known) => Holder::Integer,
            Some(Scalar::Double) if words.iter().all(is_known) => Holder::Double,
            _ => return Err("it declares a variable of a type that is not known for vectors"),
        };
        let (is_const, is_static) = (is_const(node, self.text), words.contains(&"static"));
        let head = if is_const { format!("{}const {ty}", if is_static { "static " } else { "" }) } else { ty.clone() };
        let mut text = String::new();
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            let declared = declared(declarator).ok_or("it declares a pointer or a function")?;
            let name = self.text_of(declared.name);
            let axes = declared.lengths.len();
            let same = match declared.value {
                Some(value) => self.uniform_value(value)?,
                None => None,
            };
            if is_static && !(is_const && same.is_some()) {
                return Err("it keeps values from one call to the next");
            }
            let mut lengths = String::new();
            for length in &declared.lengths {
                lengths.push_str(&match length {
                    Some(length) => format!("[{}]", self.expression(*length)?.uniform()?),
                    None => "[]".to_owned(),
                });
            }
            let known = declared.known_lengths(self.text);
            self.declare(name, Variable { holder, lengths: known.clone() })?;
            if declared.value.is_some() && same.is_none() {
                self.assign(name, Kind::Vector);
            }
            let is_vector = holder == Holder::Double && self.vectors.contains(name);
            if is_vector && axes > 0 {
                let count = known.iter().try_fold(1u64, |count, length| count.checked_mul((*length)?)).unwrap_or(u64::MAX);
                self.on_stack = self.on_stack.saturating_add(count);
                if self.on_stack > MOST_VECTORS {
                    return Err("its arrays are too long for vectors, or of a length that is not a number");
                }
            }
            // What is never assigned to needs no copy in each call.
            let is_table = may_be_table && axes > 0 && !self.changed.contains(name) && declared.value.is_some_and(is_constant);
            let head = match (is_vector, is_table) {
                (true, _) => "pl_vector".to_owned(),
                (false, true) => format!("static const {ty}"),
                (false, false) => head.clone(),
            };
            let value = match (declared.value, same, is_vector) {
                (None, ..) => String::new(),
                (Some(value), _, true) => format!(" = {}", self.vector_value(value, axes)?),
                (Some(_), Some(same), false) => format!(" = {same}"),
                (Some(_), None, false) => return Err("control flow, an index or an integer depends on a floating-point number"),
            };
            text.push_str(&format!("{head} {name}{lengths}{value};\n"));
        }
        Ok(text)
    }

    /// What a variable begins with, where that is the same in all lanes.
    fn uniform_value(&mut self, node: Node<'_>) -> Result<Option<String>, Refusal> {
        self.deeper(|writer| {
            if node.kind() != "initializer_list" {
                return Ok(writer.expression(node)?.uniform().ok());
            }
            let mut items = Vec::new();
            for item in parts(node) {
                match writer.uniform_value(item)? {
                    Some(item) => items.push(item),
                    None => return Ok(None),
                }
            }
            Ok(Some(format!("{{{}}}", items.join(", "))))
        })
    }

    /// What a vector, or an array of them with this many axes, begins with.
    fn vector_value(&mut self, node: Node<'_>, axes: usize) -> Result<String, Refusal> {
        self.deeper(|writer| match (node.kind(), axes, &parts(node)[..]) {
            // Braces around a vector would be around its lanes.
            ("initializer_list", 0, [only]) => writer.vector_value(*only, 0),
            ("initializer_list", 0, _) => Err("a number begins with a list"),
            ("initializer_list", _, items) => {
                let items = items.iter().map(|item| writer.vector_value(*item, axes - 1)).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("{{{}}}", items.join(", ")))
            }
            _ => writer.expression(node)?.vector(),
        })
    }
}
