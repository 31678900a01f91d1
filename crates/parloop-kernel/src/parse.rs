//! From joined source to signatures (with tree-sitter), and the qualifiers that each target needs added to plain C.

use std::collections::BTreeSet;
use std::ops::Range;

use parloop_device::{DeviceKind, Language};
use tree_sitter::Node;

use crate::count::Count;
use crate::ctype::{TypeNames, words};
use crate::definition::{Definition, definition};
use crate::division::check_divisions;
use crate::edit::{Edit, LineMap, Mistake, apply};
use crate::error::Result;
use crate::grammar::{tree, tree_of};
use crate::loops::{check_loops, read_loops, refuse_inner_loops};
use crate::mask::{Mark, MarkKind, Masked, mask};
use crate::prelude::Needs;
use crate::record::{DeclaredFunction, pass_record, users};
use crate::reserved::is_reserved;
use crate::scan::{Scanned, without_comments};
use crate::settle::settle;
use crate::signature::{Param, Signature};
use crate::source::Joined;

/// What the source of a program says.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// Every function defined in the source whose parameters can be passed from outside.
    pub(crate) functions: Vec<Signature>,
    /// The other functions, and why they cannot be called.
    pub(crate) refused: Vec<(String, Mistake)>,
    /// The source with the target's qualifiers added; no line moves.
    pub(crate) text: String,
    pub(crate) needs: Needs,
    /// Functions that are compiled under another name.
    pub(crate) renamed: BTreeSet<String>,
    /// The names that arguments of the compiler define, or do not, where that decided what was read.
    pub(crate) decided: Vec<(String, bool)>,
}

/// How a source is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect<'a> {
    pub(crate) target: DeviceKind,
    pub(crate) language: Language,
    /// Names of types that are pointers to opaque structs.
    pub(crate) classes: &'a [String],
    /// Whether checks are compiled in.
    pub(crate) checked: bool,
    /// Further arguments for the compiler, which may define names.
    pub(crate) arguments: &'a [String],
    /// Functions that are looked for by themselves where the text around them cannot be read.
    pub(crate) wanted: &'a [&'a str],
}

pub(crate) fn parse(joined: &Joined, dialect: Dialect) -> Result<Parsed> {
    let Dialect { target, language, classes, checked, arguments, wanted } = dialect;
    let Joined { text: joined, api } = joined;
    let settled = settle(joined, arguments);
    let masked = mask(&settled.text, arguments);
    let tree = tree(&masked.text, language);
    let mut reader = Reader {
        joined,
        masked: &masked,
        target,
        language,
        classes,
        api,
        typedefs: TypeNames::given(arguments),
        functions: Vec::new(),
        refused: Vec::new(),
        renamed: BTreeSet::new(),
        declared: Vec::new(),
        conditional: false,
        loop_helpers: Vec::new(),
        edits: Vec::new(),
        one_space: arguments.iter().any(|argument| argument == ONE_SPACE),
        locals: String::new(),
        confirmations: String::new(),
        templates: BTreeSet::new(),
        depth: 0,
        error: None,
    };
    reader.scope(tree.root_node(), 0);
    if tree.root_node().has_error() {
        wanted.iter().for_each(|name| reader.look_for(name));
    }
    reader.refuse_versions();
    match check_loops(tree.root_node(), &masked) {
        Ok(edits) => reader.edits.extend(edits),
        Err(mistake) => reader.error = reader.error.take().or(Some(mistake)),
    }
    if let Err(mistake) = check_divisions(tree.root_node(), &masked.text) {
        reader.error.get_or_insert(mistake);
    }
    if let Some(at) = masked.split_word {
        reader.error.get_or_insert(Mistake { at, reason: "a backslash splits a word across two lines; write it on one line".into() });
    }
    if let Some(error) = reader.error {
        return Err(error.at_file_line(joined));
    }
    let Reader { mut functions, refused, renamed, declared, mut edits, loop_helpers, .. } = reader;
    if !loop_helpers.is_empty() {
        // Loops of a helper are cut by the count that they have there.
        let users = users(joined, &Scanned::of(joined), &declared, &loop_helpers);
        functions.iter_mut().filter(|function| users.contains(&function.name)).for_each(|function| function.loops_align = false);
        refuse_inner_loops(&masked, |word| users.contains(word) || loop_helpers.iter().any(|helper| helper == word))
            .map_err(|mistake| mistake.at_file_line(joined))?;
    }
    if target == DeviceKind::OpenCl {
        // There `long` has 64 bits, and `long long` 128 or none.
        let seconds = masked.marks.iter().filter(|mark| mark.kind == MarkKind::SecondLong);
        edits.extend(seconds.map(|mark| Edit { at: mark.at, remove: "long".len(), insert: "".into() }));
    }
    if target == DeviceKind::OpenCl && checked {
        let (changes, receivers) = pass_record(joined, &declared);
        edits.extend(changes);
        functions.iter_mut().for_each(|function| function.is_recorded = receivers.contains(&function.name));
    }
    let places = LineMap::of(joined);
    for function in &mut functions {
        function.line = places.place(function.line).1;
    }
    let text = apply(joined, edits);
    let known = functions.iter().filter(|function| function.is_kernel).flat_map(|function| &function.loops);
    let strides = known.filter(|count| **count != Count::Unknown).count() < masked.loops.len() || masked.may_hide_loops;
    let shadow = checked && target == DeviceKind::Cpu && joined.contains("PARLOOP_TOUCH");
    Ok(Parsed {
        functions,
        refused,
        text,
        needs: Needs { atomics: masked.uses_atomics, strides, checked, shadow },
        renamed,
        decided: settled.decided,
    })
}

/// The argument by which all pointers of OpenCL are of one address space.
const ONE_SPACE: &str = "-DPARLOOP_ONE_SPACE";

/// Blocks of the preprocessor and of `extern "C"` around a function are fewer.
pub(crate) const DEEPEST_BLOCK: usize = 500;

pub(crate) struct Reader<'a> {
    pub(crate) joined: &'a str,
    pub(crate) masked: &'a Masked,
    pub(crate) target: DeviceKind,
    pub(crate) language: Language,
    pub(crate) classes: &'a [String],
    api: &'a [Range<usize>],
    pub(crate) typedefs: TypeNames,
    functions: Vec<Signature>,
    refused: Vec<(String, Mistake)>,
    renamed: BTreeSet<String>,
    declared: Vec<DeclaredFunction>,
    /// Whether the preprocessor decides if this is compiled at all.
    pub(crate) conditional: bool,
    /// Functions with loops that are not kernels.
    loop_helpers: Vec<String>,
    pub(crate) edits: Vec<Edit>,
    /// Whether pointers of OpenCL say no address space.
    pub(crate) one_space: bool,
    /// What the body of the kernel at hand begins with.
    pub(crate) locals: String,
    /// What shall stand behind the function at hand, so that a compiler confirms the types that were read.
    pub(crate) confirmations: String,
    /// Functions that are templates.
    pub(crate) templates: BTreeSet<String>,
    /// How many blocks are around what is read.
    depth: usize,
    error: Option<Mistake>,
}

impl Reader<'_> {
    /// Walks the file scope, into conditional blocks and `extern "C"`.
    /// `gap` is where the text before the first child begins: blanked macros are not part of any node.
    fn scope(&mut self, node: Node, gap: usize) {
        self.depth += 1;
        if self.depth > DEEPEST_BLOCK {
            let reason = format!("conditional blocks are nested more than {DEEPEST_BLOCK} deep (each `#elif` is one level); split them");
            self.error.get_or_insert(Mistake { at: node.start_byte(), reason });
        } else {
            self.children(node, gap);
        }
        self.depth -= 1;
    }

    fn children(&mut self, node: Node, gap: usize) {
        let mut previous_end = gap;
        let (decided, alternative) = (self.decided(node), node.child_by_field_name("alternative"));
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            // What is never compiled is not read.
            if decided == Some(Some(child) == alternative) {
                continue;
            }
            match child.kind() {
                "function_definition" => self.function(child, previous_end),
                "declaration" => self.declaration(child, previous_end),
                "type_definition" => self.typedef(child),
                "alias_declaration" => self.alias(child),
                "preproc_def" => self.define(child),
                "preproc_call" => self.undefine(child),
                "template_declaration" => self.template(child),
                kind if kind.starts_with("preproc_") => {
                    let outer = self.conditional;
                    let is_left = decided == Some(false) && child.kind() == "preproc_else";
                    self.conditional |= !(is_left || self.decided(child).is_some() || self.is_include_guard(child));
                    self.scope(child, child.start_byte());
                    self.conditional = outer;
                }
                "linkage_specification" | "declaration_list" => self.scope(child, child.start_byte()),
                _ => {}
            }
            previous_end = child.end_byte();
        }
    }

    /// Reads one function by itself, if it was not found: macros in front of it, or conditions that split braces, may have hidden it.
    fn look_for(&mut self, name: &str) {
        let is_known = self.functions.iter().any(|known| known.name == name) || self.refused.iter().any(|(known, _)| known == name);
        if is_known || self.error.is_some() {
            return;
        }
        let Some(Definition { start, body }) = definition(&self.masked.text, name) else { return };
        // As it is, or without what its body holds.
        let whole = vec![self.range(start..body.end)];
        let without_body = vec![self.range(start..body.start + 1), self.range(body.end - 1..body.end)];
        for parts in [whole, without_body] {
            let tree = tree_of(&parts, &self.masked.text, self.language);
            let Some(tree) = tree.filter(|tree| !tree.root_node().has_error()) else { continue };
            let mut cursor = tree.walk();
            if let Some(node) = tree.root_node().children(&mut cursor).find(|child| child.kind() == "function_definition") {
                return self.function(node, start);
            }
        }
    }

    /// A part of the text, as the parser wants it.
    fn range(&self, part: Range<usize>) -> tree_sitter::Range {
        let point = |at: usize| {
            let before = &self.masked.text[..at];
            let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            tree_sitter::Point { row: before.iter().filter(|&&byte| byte == b'\n').count(), column: at - line }
        };
        tree_sitter::Range { start_byte: part.start, end_byte: part.end, start_point: point(part.start), end_point: point(part.end) }
    }

    /// Whether what stands under `#if 0` or `#if 1` is compiled; `None` for other conditions.
    fn decided(&self, node: Node) -> Option<bool> {
        match self.text(node.child_by_field_name("condition")?).trim() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    /// Whether this is `#ifndef NAME`, `#define NAME` around a whole header.
    fn is_include_guard(&self, node: Node) -> bool {
        let name = |node: Node| node.child_by_field_name("name").map(|name| self.text(name));
        let mut cursor = node.walk();
        let defines = node.children(&mut cursor).find(|child| child.kind() == "preproc_def");
        node.kind() == "preproc_ifdef" && defines.is_some_and(|defined| name(defined) == name(node))
    }

    pub(crate) fn text(&self, node: Node) -> String {
        String::from_utf8_lossy(&self.masked.text[node.byte_range()]).into_owned()
    }

    fn has_mark(&self, kind: MarkKind, from: usize, to: usize) -> bool {
        self.masked.marks_in(from..to).iter().any(|mark| mark.kind == kind)
    }

    /// Constants and prototypes at file scope get the qualifiers of helpers.
    fn declaration(&mut self, node: Node, previous_end: usize) {
        if self.language == Language::Cpp {
            self.constant(node);
        }
        if self.target == DeviceKind::Cpu {
            return;
        }
        let Some(declarator) = node.child_by_field_name("declarator") else { return };
        let qualified = [MarkKind::Function, MarkKind::Space, MarkKind::Other];
        let is_kernel = self.has_mark(MarkKind::Kernel, previous_end, declarator.start_byte());
        if let Some(function) = find(declarator, "function_declarator") {
            self.declare(function, 0..0, is_kernel);
        }
        if is_kernel {
            return self.kernel_prototype(declarator);
        }
        if self.language == Language::Cpp {
            return;
        }
        if qualified.into_iter().any(|kind| self.has_mark(kind, previous_end, declarator.start_byte())) {
            return;
        }
        if find(declarator, "function_declarator").is_some() {
            self.edits.push(Edit { at: node.start_byte(), remove: 0, insert: "GPUFUN ".into() });
            return;
        }
        let mut cursor = node.walk();
        let is_const = node.children(&mut cursor).any(|child| child.kind() == "type_qualifier" && self.text(child) == "const");
        if is_const && find(declarator, "pointer_declarator").is_none() {
            self.edits.push(Edit { at: node.start_byte(), remove: 0, insert: "GPUCONST ".into() });
        }
    }

    /// Its parameters get the same qualifiers as those of the definition.
    fn kernel_prototype(&mut self, declarator: Node) {
        let Some(list) = find(declarator, "function_declarator").and_then(|function| function.child_by_field_name("parameters")) else {
            return;
        };
        let mut cursor = list.walk();
        let (mut previous_end, mut index) = (list.start_byte(), 0);
        for child in list.children(&mut cursor) {
            if child.kind() == "parameter_declaration" && !self.is_void_list(child) {
                // What is wrong with a parameter is told at the definition.
                let _ = self.param(child, "", index, Some(previous_end));
                index += 1;
            }
            previous_end = child.end_byte();
        }
        self.locals.clear();
    }

    fn function(&mut self, node: Node, previous_end: usize) {
        let Some(declarator) = node.child_by_field_name("declarator") else { return };
        let Some(function) = find(declarator, "function_declarator") else { return };
        let is_kernel = self.has_mark(MarkKind::Kernel, previous_end, function.start_byte());
        let is_helper = self.has_mark(MarkKind::Function, previous_end, function.start_byte());
        if is_kernel {
            self.give_c_linkage(node, previous_end..function.start_byte());
        }
        let is_static = self.qualify_function(node, is_kernel, is_helper);
        self.declare(function, node.child_by_field_name("body").map_or(0..0, |body| body.byte_range()), is_kernel);
        // A function that only some targets define may stand in for what the others have built in, and is called by that name.
        // In C++ it is one more overload.
        if let Some(name) = function.child_by_field_name("declarator").map(|name| self.text(name))
            && is_reserved(&name, self.target)
            && (is_kernel || !self.conditional && self.language == Language::C)
        {
            self.renamed.insert(name);
        }
        if !is_kernel && self.masked.loops.iter().any(|mark| node.byte_range().contains(&mark.at)) {
            self.loop_helpers.extend(function.child_by_field_name("declarator").map(|name| self.text(name)));
        }
        let is_api = self.api.iter().any(|part| part.contains(&node.start_byte()));
        self.confirmations.clear();
        let signature = self.signature(node, declarator, function, is_kernel);
        let confirmations = std::mem::take(&mut self.confirmations);
        if signature.is_ok() && !confirmations.is_empty() && (is_kernel || self.target == DeviceKind::Cpu) {
            self.edits.push(Edit { at: node.end_byte(), remove: 0, insert: confirmations.into() });
        }
        match signature {
            Ok(signature) => {
                let needs_description = is_api || !is_kernel && (is_helper || is_static);
                self.functions.push(Signature { needs_description, ..signature });
            }
            Err(mistake) if is_kernel && self.error.is_none() => self.error = Some(mistake),
            Err(mistake) => {
                self.refused.extend(function.child_by_field_name("declarator").map(|name| (self.text(name), mistake)));
            }
        }
    }

    /// Notes where a function's name and parameters stand.
    fn declare(&mut self, function: Node, body: Range<usize>, is_kernel: bool) {
        let (Some(name), Some(list)) = (function.child_by_field_name("declarator"), function.child_by_field_name("parameters")) else {
            return;
        };
        let first = list.named_children(&mut list.walk()).find(|child| child.kind() != "comment");
        let is_void = first.is_some_and(|first| self.is_void_list(first));
        let (list, first) = (list.byte_range(), first.map(|first| first.byte_range()));
        self.declared.push(DeclaredFunction { name: self.text(name), at: name.start_byte(), list, first, is_void, body, is_kernel });
    }

    /// Adds what the target needs, and says whether the function is static.
    /// A kernel is found by its name: CUDA's own word for one leaves out what GPUKERN says, that C++ shall not change the name.
    fn give_c_linkage(&mut self, node: Node, before: Range<usize>) {
        let has_linkage = std::iter::successors(node.parent(), Node::parent).any(|outer| outer.kind() == "linkage_specification");
        if has_linkage || !matches!(self.target, DeviceKind::Cuda | DeviceKind::Hip) {
            return;
        }
        let own_word = |mark: &&Mark| mark.kind == MarkKind::Kernel && self.joined[mark.at..].starts_with("__global__");
        if let Some(at) = self.masked.marks_in(before).iter().find(own_word).map(|mark| mark.at) {
            self.edits.push(Edit { at, remove: 0, insert: "extern \"C\" ".into() });
        }
    }

    fn qualify_function(&mut self, node: Node, is_kernel: bool, is_helper: bool) -> bool {
        let mut cursor = node.walk();
        let storage: Vec<Node> = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier").collect();
        let has = |word: &str| storage.iter().any(|child| self.text(*child) == word);
        let (is_static, is_inline) = (has("static"), has("inline") || has("__inline__"));
        if is_kernel || self.target == DeviceKind::Cpu && is_helper {
            // GPUFUN and GPUKERN say it already, or contradict it.
            let repeated = storage.iter().filter(|child| matches!(self.text(**child).as_str(), "static" | "inline"));
            let edits: Vec<Edit> =
                repeated.map(|child| Edit { at: child.start_byte(), remove: child.byte_range().len(), insert: "".into() }).collect();
            self.edits.extend(edits);
            return is_static;
        }
        if self.language == Language::Cpp {
            // Its `inline` needs no second definition, and compilers of GPUs take what has no qualifier for functions of the device.
            return is_static;
        }
        if is_inline && !is_static && matches!(self.target, DeviceKind::Cpu | DeviceKind::OpenCl) {
            self.edits.push(Edit { at: node.start_byte(), remove: 0, insert: "static ".into() });
        }
        if !is_helper && !matches!(self.target, DeviceKind::Cpu | DeviceKind::OpenCl) {
            self.edits.push(Edit { at: node.start_byte(), remove: 0, insert: "GPUFUN ".into() });
        }
        is_static
    }

    fn signature(&mut self, node: Node, declarator: Node, function: Node, is_kernel: bool) -> Result<Signature, Mistake> {
        let mistake = |at: Node, reason: String| Mistake { at: at.start_byte(), reason };
        let name_node = function.child_by_field_name("declarator").ok_or_else(|| mistake(function, "a function without a name".into()))?;
        let name = self.text(name_node);
        let list = function.child_by_field_name("parameters").ok_or_else(|| mistake(function, format!("`{name}` has no parameters")))?;
        let returns = self.returned(node, declarator, &name)?;
        if is_kernel && returns.is_some() && self.target != DeviceKind::Cpu {
            return Err(mistake(
                node,
                format!("kernel `{name}` returns a value, which is possible only on a CPU; write the result through a pointer"),
            ));
        }
        let (mut params, mut constants): (Vec<Param>, Vec<bool>) = (Vec::new(), Vec::new());
        let mut cursor = list.walk();
        let mut previous_end = list.start_byte();
        for child in list.children(&mut cursor) {
            match child.kind() {
                "parameter_declaration" if self.is_void_list(child) => {}
                "parameter_declaration" => {
                    let param = self.param(child, &name, params.len(), is_kernel.then_some(previous_end))?;
                    if params.iter().any(|other| other.name == param.name) {
                        return Err(mistake(child, format!("`{name}` has two parameters `{}`", param.name)));
                    }
                    constants.push(words(&without_comments(&self.text(child))).iter().any(|word| word == "const"));
                    params.push(param);
                }
                "optional_parameter_declaration" => {
                    let reason =
                        format!("`{name}` has a parameter with a default value, which calls from the host cannot use; remove the default");
                    return Err(mistake(child, reason));
                }
                "identifier" => {
                    let reason = format!("`{name}` declares parameters without types; write a type before each name");
                    return Err(mistake(child, reason));
                }
                "variadic_parameter" | "variadic_parameter_declaration" => {
                    return Err(mistake(child, format!("`{name}` takes a variable number of arguments")));
                }
                kind if kind.starts_with("preproc_") => {
                    return Err(mistake(
                        child,
                        format!("the parameters of `{name}` depend on preprocessor conditions; write two functions"),
                    ));
                }
                "ERROR" => return Err(mistake(child, format!("the parameters of `{name}` could not be read at `{}`", self.text(child)))),
                _ => {}
            }
            previous_end = child.end_byte();
        }
        let body = node.child_by_field_name("body").map_or(0..0, |body| body.byte_range());
        let insert = std::mem::take(&mut self.locals);
        if !insert.is_empty() && self.masked.text.get(body.start) == Some(&b'{') {
            self.edits.push(Edit { at: body.start + 1, remove: 0, insert: insert.into() });
        }
        let fixed = |index: usize| self.language == Language::C || constants.get(index).is_some_and(|constant| *constant);
        let (loops, loops_align) = read_loops(self.masked, body, &params, fixed);
        let line = name_node.start_position().row;
        Ok(Signature { loops, loops_align, name, params, returns, is_kernel, needs_description: false, is_recorded: false, line })
    }

    /// Refuses functions that have several versions, of which the preprocessor takes one, unless all are called alike.
    fn refuse_versions(&mut self) {
        let mut kept: Vec<Signature> = Vec::new();
        for function in std::mem::take(&mut self.functions) {
            let Some(first) = kept.iter().find(|first| first.name == function.name) else {
                kept.push(function);
                continue;
            };
            if first.is_called_like(&function) {
                continue;
            }
            let at = self.joined.split_inclusive('\n').take(function.line).map(str::len).sum();
            let reason = match self.language {
                Language::C => format!(
                    "`{}` is defined twice, as `{first}` and as `{function}`, and preprocessor conditions select one; give each its own name",
                    function.name
                ),
                Language::Cpp => format!(
                    "`{}` is overloaded, as `{first}` and as `{function}`; a function that is called from the host needs a unique name",
                    function.name
                ),
            };
            let mistake = Mistake { at, reason };
            if function.is_kernel || first.is_kernel {
                self.error.get_or_insert(mistake);
            } else {
                self.refused.insert(0, (function.name, mistake));
            }
        }
        for function in kept.iter().filter(|function| self.templates.contains(&function.name)) {
            let at = self.joined.split_inclusive('\n').take(function.line).map(str::len).sum();
            let reason = format!(
                "`{}` is overloaded, as `{function}` and as a template; a function that is called from the host needs a unique name",
                function.name
            );
            let mistake = Mistake { at, reason };
            if function.is_kernel {
                self.error.get_or_insert(mistake);
            } else {
                self.refused.insert(0, (function.name.clone(), mistake));
            }
        }
        kept.retain(|function| self.refused.iter().all(|(name, _)| *name != function.name));
        self.functions = kept;
    }

    /// `(void)` says that there are no parameters.
    fn is_void_list(&self, node: Node) -> bool {
        node.child_by_field_name("declarator").is_none() && words(&self.text(node)) == ["void"]
    }
}

/// The first node of that kind on the way down through the declarators.
pub(crate) fn find<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut node = node;
    loop {
        if node.kind() == kind {
            return Some(node);
        }
        node = node.child_by_field_name("declarator")?;
    }
}

#[cfg(test)]
mod tests;
