//! Statements: declarations of vectors, assignments to them, and control flow that is the same for all lanes.

use std::collections::HashMap;

use tree_sitter::Node;

use super::names::is_constant;
use super::{Kind, Refusal, Variable, Writer, field, is_const, parts};

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

/// Types of integers.
const INTEGERS: [&str; 14] = [
    "int",
    "char",
    "bool",
    "_Bool",
    "size_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "ptrdiff_t",
];

impl<'t> Writer<'t> {
    pub(super) fn statement(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        self.deeper(|writer| match node.kind() {
            "compound_statement" => writer.block(node),
            "declaration" => writer.declaration(node),
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
                self.declaration(start)?.trim_end().to_owned()
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
                self.expression(argument)?.uniform()?;
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
        match self.variable(self.text_of(target)) {
            Some(Variable::SameParam) => Err("it changes a parameter that all lanes share"),
            _ => Ok(self.text_of(target)),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let (left, operator) = (field(node, "left")?, self.text_of(field(node, "operator")?));
        if !matches!(left.kind(), "identifier" | "subscript_expression") {
            return Err("it has a statement that is not known for vectors");
        }
        let target = self.check_target(left)?;
        let right = self.expression(field(node, "right")?)?;
        self.assign(target, right.kind);
        let left = self.expression(left)?;
        if left.kind == Kind::Same {
            return Ok(format!("{} {operator} {}", left.text, right.uniform()?));
        }
        if !matches!(operator, "=" | "+=" | "-=" | "*=" | "/=") {
            return Err("it has an operation that is not known for vectors");
        }
        Ok(format!("{} {operator} {}", left.text, right.vector()?))
    }

    fn declaration(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        let ty = self.text_of(field(node, "type")?).split_whitespace().collect::<Vec<_>>().join(" ");
        let words = self.text[node.start_byte()..field(node, "declarator")?.start_byte()].split_whitespace().collect::<Vec<_>>();
        let is_integer = ty.split(' ').all(|word| INTEGERS.contains(&word) || matches!(word, "long" | "short" | "unsigned" | "signed"));
        let is_known = |word: &&str| matches!(*word, "const" | "static") || ty.split(' ').any(|part| part == *word);
        if !words.iter().all(is_known) || !(is_integer || ty == "double") {
            return Err("it declares a variable of a type that is not known for vectors");
        }
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
            self.declare(name, if is_integer { Variable::Same } else { Variable::Number { axes } })?;
            if declared.value.is_some() && same.is_none() {
                self.assign(name, Kind::Vector);
            }
            let is_vector = !is_integer && self.vectors.contains(name);
            // What is never assigned to needs no copy in each call.
            let is_table = axes > 0 && !self.changed.contains(name) && declared.value.is_some_and(is_constant);
            let head = match (is_vector, is_table) {
                (true, _) => "pl_vector".to_owned(),
                (false, true) => format!("static const {ty}"),
                (false, false) => head.clone(),
            };
            let value = match (declared.value, same, is_vector) {
                (None, ..) => String::new(),
                (Some(value), _, true) => format!(" = {}", self.vector_value(value)?),
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

    /// What a vector, or an array of them, begins with.
    fn vector_value(&mut self, node: Node<'_>) -> Result<String, Refusal> {
        self.deeper(|writer| {
            if node.kind() != "initializer_list" {
                return writer.expression(node)?.vector();
            }
            let items = parts(node).into_iter().map(|item| writer.vector_value(item)).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("{{{}}}", items.join(", ")))
        })
    }
}
