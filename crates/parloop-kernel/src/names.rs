//! The names that a source gives to types and numbers, by `typedef`, `using`, `#define` and constants, as they come.

use tree_sitter::Node;

use crate::ctype::DefinitionKind;
use crate::parse::{Reader, find};

impl Reader<'_> {
    pub(crate) fn typedef(&mut self, node: Node) {
        let Some(ty) = node.child_by_field_name("type").map(|ty| self.text(ty)) else { return };
        let place = if self.conditional { DefinitionKind::Conditional } else { DefinitionKind::Certain };
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            // A name for a pointer or an array is not a name for a number.
            let (name, ty) = match declarator.kind() {
                "type_identifier" => (Some(declarator), ty.as_str()),
                _ => (find(declarator, "type_identifier"), ""),
            };
            if let Some(name) = name.map(|name| self.text(name)) {
                self.typedefs.add(name, ty, place);
            }
        }
    }

    /// `using real = double;`
    pub(crate) fn alias(&mut self, node: Node) {
        let (Some(name), Some(ty)) = (node.child_by_field_name("name"), node.child_by_field_name("type")) else { return };
        let place = if self.conditional { DefinitionKind::Conditional } else { DefinitionKind::Certain };
        // A name for a pointer or an array is not a name for a number.
        let ty = if ty.child_by_field_name("declarator").is_some() { String::new() } else { self.text(ty) };
        self.typedefs.add(self.text(name), &ty, place);
    }

    pub(crate) fn define(&mut self, node: Node) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.text(name)) else { return };
        let ty = node.child_by_field_name("value").map(|value| self.text(value)).unwrap_or_default();
        // In `#ifndef NAME`, `#define NAME` the name may have another meaning.
        let is_default = node.parent().and_then(|outer| outer.child_by_field_name("name")).is_some_and(|outer| self.text(outer) == name);
        let place = if self.conditional || is_default { DefinitionKind::Conditional } else { DefinitionKind::Certain };
        self.typedefs.add_macro(name, &ty, place);
    }

    /// `#undef NAME`
    pub(crate) fn undefine(&mut self, node: Node) {
        let part = |name: &str| node.child_by_field_name(name).map(|part| self.text(part));
        if let (Some("#undef"), Some(name)) = (part("directive").as_deref().map(str::trim), part("argument"))
            && !self.conditional
        {
            self.typedefs.remove(name.trim());
        }
    }

    /// A template is a function that a call may mean instead of another one.
    pub(crate) fn template(&mut self, node: Node) {
        let mut cursor = node.walk();
        let functions =
            node.children(&mut cursor).filter_map(|child| find(child.child_by_field_name("declarator")?, "function_declarator"));
        let names: Vec<String> =
            functions.filter_map(|function| function.child_by_field_name("declarator")).map(|name| self.text(name)).collect();
        self.templates.extend(names);
    }

    /// `constexpr int dim = 2;`, which may be the length of an array in C++.
    pub(crate) fn constant(&mut self, node: Node) {
        let mut cursor = node.walk();
        let mut qualifiers = node.children(&mut cursor).filter(|child| child.kind() == "type_qualifier");
        let declared = node.child_by_field_name("declarator").filter(|declarator| declarator.kind() == "init_declarator");
        let (Some(declared), true) = (declared, qualifiers.any(|word| matches!(&*self.text(word), "const" | "constexpr"))) else { return };
        let part = |name: &str, kind: &str| declared.child_by_field_name(name).filter(|part| part.kind() == kind);
        if let (Some(name), Some(value)) = (part("declarator", "identifier"), part("value", "number_literal")) {
            let place = if self.conditional { DefinitionKind::Conditional } else { DefinitionKind::Certain };
            self.typedefs.add(self.text(name), &self.text(value), place);
        }
    }
}
