//! The modules of a crate, the paths that each of them names, and the modules in which these are defined.
//!
//! What is there for tests or documentation alone does not count. Re-exports are followed, so that `crate::Device` leads to the module that has the type.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tokens::{Token, is_word, tokens};

/// The names from the root of a crate to one of its modules; the root has none.
pub type ModulePath = Vec<String>;

/// A module names something that another one defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub from: ModulePath,
    pub to: ModulePath,
    pub file: PathBuf,
    pub line: usize,
}

/// The source of a crate.
#[derive(Debug, Default)]
pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    /// Words that occur outside of tests and comments, with file and line.
    pub words: BTreeMap<String, Vec<(PathBuf, usize)>>,
}

#[derive(Debug, Default)]
struct Module {
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Macros that are items of the root.
    exported: BTreeSet<String>,
    /// Names that `use` brings into the module.
    names: BTreeMap<String, Named>,
    globs: Vec<Named>,
    /// Everything that is named, by `use` or in the middle of code.
    named: Vec<Named>,
}

/// A path as it is written.
#[derive(Clone, Debug)]
struct Named {
    path: Vec<String>,
    file: PathBuf,
    line: usize,
}

const ITEMS: [&str; 8] = ["struct", "enum", "union", "trait", "fn", "const", "static", "type"];

impl Crate {
    /// Reads a crate from the file of its root on, by way of `mod` declarations. `text_of` gives the text of a file, if there is one.
    pub fn read(root: &Path, text_of: &dyn Fn(&Path) -> Option<String>) -> Crate {
        let mut read = Crate::default();
        let folder = root.parent().expect("a source file is in a folder");
        let source = text_of(root).unwrap_or_else(|| panic!("there is no {}", root.display()));
        read.read_file(root, &source, folder, Vec::new(), text_of);
        read
    }

    /// `folder` is where the files of the module's children are.
    fn read_file(&mut self, file: &Path, source: &str, folder: &Path, path: ModulePath, text_of: &dyn Fn(&Path) -> Option<String>) {
        let tokens = without_tests(&tokens(source));
        for token in tokens.iter().filter(|token| is_word(token.text)) {
            self.words.entry(token.text.to_owned()).or_default().push((file.to_owned(), token.line));
        }
        let depth = path.len();
        for child in (Reader { tokens: &tokens, at: 0, file, modules: &mut self.modules }).module(path) {
            let (name, inside) = child[depth..].split_last().expect("a child has a name");
            let folder = inside.iter().fold(folder.to_owned(), |folder, module| folder.join(module));
            let candidates = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
            let found = candidates.iter().find_map(|candidate| Some((candidate, text_of(candidate)?)));
            let (found, source) = found.unwrap_or_else(|| panic!("{}: there is no file of module `{name}`", file.display()));
            self.read_file(found, &source, &folder.join(name), child.clone(), text_of);
        }
    }

    /// Everything that a module names and another one defines, in the order of files and lines.
    pub fn imports(&self) -> Vec<Import> {
        let mut found = Vec::new();
        for (from, module) in &self.modules {
            for named in &module.named {
                let Some(to) = self.resolve(from, &named.path, 0).filter(|to| to != from) else { continue };
                found.push(Import { from: from.clone(), to, file: named.file.clone(), line: named.line });
            }
        }
        found
    }

    /// The module that defines what `path`, as it is written in the module `from`, names; `None` for what is of other crates.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let mut module = from.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (module, rest) = (Vec::new(), &path[1..]),
            "self" | "super" => {}
            first if self.modules[from].children.contains(first) => {}
            first => {
                let named = self.modules[from].names.get(first).filter(|_| depth < 16)?;
                // `use name::Other` with the name of another crate names itself.
                if named.path.first().is_some_and(|other| other == first) {
                    return None;
                }
                let whole: Vec<_> = named.path.iter().chain(&path[1..]).cloned().collect();
                return self.resolve(from, &whole, depth + 1);
            }
        }
        while let Some((name, after)) = rest.split_first() {
            match name.as_str() {
                "self" => {}
                "super" => {
                    module.pop();
                }
                name => {
                    let here = self.modules.get(&module)?;
                    if here.children.contains(name) {
                        module.push(name.to_owned());
                    } else if here.items.contains(name) || depth >= 16 {
                        return Some(module);
                    } else if let Some(named) = here.names.get(name) {
                        let whole: Vec<_> = named.path.iter().chain(after).cloned().collect();
                        return self.resolve(&module, &whole, depth + 1);
                    } else {
                        let through = |glob: &Named| {
                            let to = self.resolve(&module, &glob.path, depth + 1)?;
                            let has = self.modules.get(&to)?;
                            (has.items.contains(name) || has.names.contains_key(name))
                                .then(|| self.resolve(&to, &to_self(rest), depth + 1))?
                        };
                        let exports = |(path, other): (&ModulePath, &Module)| other.exported.contains(name).then(|| path.clone());
                        let macros = || if module.is_empty() { self.modules.iter().find_map(exports) } else { None };
                        return here.globs.iter().find_map(through).or_else(macros).or(Some(module));
                    }
                }
            }
            rest = after;
        }
        Some(module)
    }
}

fn to_self(path: &[String]) -> Vec<String> {
    std::iter::once("self".to_owned()).chain(path.iter().cloned()).collect()
}

/// The tokens without items that are there for tests or documentation alone.
fn without_tests<'a>(all: &[Token<'a>]) -> Vec<Token<'a>> {
    let starts = |at: usize, words: &[&str]| words.iter().enumerate().all(|(i, word)| all.get(at + i).is_some_and(|t| t.text == *word));
    let mut kept = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let never_built = [&["test", ")"][..], &["all", "(", "test", ","], &["doc", ")"]];
        if starts(at, &["#", "[", "cfg", "("]) && never_built.iter().any(|condition| starts(at + 4, condition)) {
            at = end_of_item(all, at);
        } else {
            kept.push(all[at]);
            at += 1;
        }
    }
    kept
}

/// The place after the item, statement or field whose attributes begin at `at`.
fn end_of_item(all: &[Token], mut at: usize) -> usize {
    while all.get(at).is_some_and(|token| token.text == "#") {
        at = end_of_group(all, at + 1);
    }
    let to_semicolon =
        all[at..].iter().take_while(|t| t.text != "{" && t.text != ";").any(|t| matches!(t.text, "use" | "let" | "=" | "static"));
    while let Some(token) = all.get(at) {
        match token.text {
            ";" | "," => return at + 1,
            "}" => return at,
            "{" if !to_semicolon => return end_of_group(all, at),
            "{" | "(" | "[" => at = end_of_group(all, at),
            _ => at += 1,
        }
    }
    at
}

/// The place after the bracket that closes the one at `at`.
fn end_of_group(all: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = all.get(at) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Goes through the tokens of one file.
struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    file: &'a Path,
    modules: &'a mut BTreeMap<ModulePath, Module>,
}

impl Reader<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Reads up to the end of a module and gives the paths of children that have files of their own.
    fn module(&mut self, path: ModulePath) -> Vec<ModulePath> {
        let mut module = Module::default();
        let mut children = Vec::new();
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let (text, next, after) = (self.text(self.at), self.text(self.at + 1), self.text(self.at + 2));
            match text {
                "}" if depth == 0 => {
                    self.at += 1;
                    break;
                }
                "{" => depth += 1,
                "}" => depth -= 1,
                "mod" if is_word(next) && (after == ";" || after == "{") => {
                    let child: ModulePath = path.iter().cloned().chain([next.to_owned()]).collect();
                    module.children.insert(next.to_owned());
                    let in_a_file = after == ";";
                    self.at += 3;
                    if in_a_file {
                        children.push(child);
                    } else {
                        children.extend(self.module(child));
                    }
                    continue;
                }
                "use" => {
                    let line = self.tokens[self.at].line;
                    self.at += 1;
                    self.use_tree(&[], line, &mut module);
                    continue;
                }
                // A visibility: it says who may see an item, not what the item needs.
                "pub" if next == "(" => {
                    self.at = end_of_group(self.tokens, self.at + 1);
                    continue;
                }
                "macro_rules" if next == "!" => {
                    let is_exported = self.at >= 4 && self.text(self.at - 2) == "macro_export";
                    let name = after.to_owned();
                    if is_exported {
                        module.exported.insert(name);
                    } else {
                        module.items.insert(name);
                    }
                }
                item if depth == 0 && ITEMS.contains(&item) && is_word(next) => {
                    let name = next.to_owned();
                    module.items.insert(name);
                }
                first if is_word(first) && next == "::" && !matches!(self.text(self.at.wrapping_sub(1)), "::" | ".") => {
                    let (start, line) = (self.at, self.tokens[self.at].line);
                    while is_word(self.text(self.at)) && self.text(self.at + 1) == "::" {
                        self.at += 2;
                    }
                    let end = if is_word(self.text(self.at)) { self.at + 1 } else { self.at };
                    let words = self.tokens[start..end].iter().filter(|t| t.text != "::").map(|t| t.text.to_owned());
                    module.named.push(Named { path: words.collect(), file: self.file.to_owned(), line });
                    self.at = end;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.modules.insert(path, module);
        children
    }

    /// Reads one path of a `use` declaration with all that its braces hold.
    fn use_tree(&mut self, before: &[String], line: usize, module: &mut Module) {
        let mut path = before.to_vec();
        loop {
            let token_line = self.tokens.get(self.at).map_or(line, |token| token.line);
            match self.text(self.at) {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while self.at < self.tokens.len() && self.text(self.at) != "}" {
                        self.use_tree(&path, token_line, module);
                        if self.text(self.at) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    self.skip_semicolon();
                    return;
                }
                "*" => {
                    self.at += 1;
                    let named = Named { path, file: self.file.to_owned(), line: token_line };
                    module.globs.push(named.clone());
                    module.named.push(named);
                    self.skip_semicolon();
                    return;
                }
                "as" => {
                    let alias = self.text(self.at + 1).to_owned();
                    self.at += 2;
                    self.bring(alias, path, line, module);
                    return;
                }
                word if is_word(word) => {
                    path.push(word.to_owned());
                    self.at += 1;
                }
                _ => {
                    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                        path.pop();
                    }
                    let name = path.last().cloned().unwrap_or_default();
                    self.bring(name, path, line, module);
                    return;
                }
            }
        }
    }

    fn bring(&mut self, name: String, path: Vec<String>, line: usize, module: &mut Module) {
        let line = self.tokens.get(self.at - 1).map_or(line, |token| token.line);
        let named = Named { path, file: self.file.to_owned(), line };
        module.named.push(named.clone());
        module.names.insert(name, named);
        self.skip_semicolon();
    }

    fn skip_semicolon(&mut self) {
        if self.text(self.at) == ";" {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The imports of a crate of these files, as `from → to file:line`.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let text_of = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
        let show = |import: Import| {
            let (from, to) = (import.from.join("::"), import.to.join("::"));
            format!("{from} → {to} {}:{}", import.file.display(), import.line)
        };
        Crate::read(Path::new("src/lib.rs"), &text_of).imports().into_iter().map(show).filter(|import| !import.starts_with(' ')).collect()
    }

    #[test]
    fn nested_use_declarations_are_understood() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c; mod d;"),
            ("src/a.rs", "use crate::{\n    b::{self, B},\n    c::{x::*, C as D},\n};\nuse std::fmt::{self, Debug};"),
            ("src/b.rs", "pub struct B;"),
            ("src/c/mod.rs", "pub mod x; pub struct C;"),
            ("src/c/x.rs", "pub fn f() { let _ = crate::d::D::new(crate::b::B); }"),
            ("src/d.rs", "pub struct D;"),
        ];
        let found = imports(&files);
        assert_eq!(
            found,
            [
                "a → b src/a.rs:2",
                "a → b src/a.rs:2",
                "a → c::x src/a.rs:3",
                "a → c src/a.rs:3",
                "c::x → d src/c/x.rs:1",
                "c::x → b src/c/x.rs:1"
            ]
        );
    }

    #[test]
    fn self_and_super_are_resolved() {
        let files = [
            ("src/lib.rs", "mod a; mod b;"),
            ("src/a.rs", "mod x; mod y; pub use self::x::X; use super::b::B;"),
            ("src/a/x.rs", "pub struct X; fn f() -> super::y::Y { super::super::b::f() }"),
            ("src/a/y.rs", "pub struct Y; mod inner { use super::super::x::X; use super::Y; }"),
            ("src/b.rs", "pub struct B; pub fn f() {} pub(in crate::a) fn g() { y::h() }"),
        ];
        assert_eq!(
            imports(&files),
            [
                "a → a::x src/a.rs:1",
                "a → b src/a.rs:1",
                "a::x → a::y src/a/x.rs:1",
                "a::x → b src/a/x.rs:1",
                "a::y::inner → a::x src/a/y.rs:1",
                "a::y::inner → a::y src/a/y.rs:1"
            ]
        );
    }

    #[test]
    fn re_exports_lead_to_the_module_that_has_the_item() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c; mod d; pub use a::inner::Deep; pub use b::*; pub use other_crate::Complex;"),
            ("src/a.rs", "pub mod inner { pub struct Deep; }"),
            ("src/b.rs", "pub use crate::c::Far as Near; pub fn own() {}"),
            ("src/c.rs", "pub struct Far; #[macro_export] macro_rules! args { () => {} }"),
            (
                "src/d.rs",
                "use crate::{Complex, Deep, args};\nuse crate::Near;\nuse crate::own;\nuse crate as root;\nfn f(_: root::Deep) {}",
            ),
        ];
        let found: Vec<String> = imports(&files).into_iter().filter(|import| import.starts_with("d →")).collect();
        assert_eq!(
            found,
            [
                "d → a::inner src/d.rs:1",
                "d → c src/d.rs:1",
                "d → c src/d.rs:2",
                "d → b src/d.rs:3",
                "d →  src/d.rs:4",
                "d → a::inner src/d.rs:5"
            ]
        );
    }

    #[test]
    fn tests_comments_and_text_do_not_count() {
        let files = [
            ("src/lib.rs", "mod a; mod b;"),
            (
                "src/a.rs",
                "//! use crate::b::B;\n/// [`B`](crate::b::B)\npub struct A;\nconst T: &str = \"crate::b::B\";\n#[cfg(doc)]\nuse crate::b::B;\n\
                 #[cfg(test)]\nuse crate::b::{B, C};\n#[cfg(test)]\n#[allow(dead_code)]\nfn g() -> crate::b::B { crate::b::B }\n\
                 #[cfg(test)]\nmod tests { use crate::b::B; }\n#[cfg(test)]\nmod more;\n",
            ),
            ("src/a/more.rs", "use crate::b::B;"),
            ("src/b.rs", "use crate::a::A;"),
        ];
        assert_eq!(imports(&files), ["b → a src/b.rs:1"]);
    }
}
