//! Cycles among the modules that stand side by side in one folder, with the lines that close them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::path::PathBuf;

use crate::modules::{Import, ModulePath};

/// Modules of one parent that import each other, directly or through others.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The module that holds them; the root of the crate has an empty path.
    pub parent: ModulePath,
    /// All modules that reach each other.
    pub modules: Vec<String>,
    /// The shortest way around: who imports whom, and where.
    pub around: Vec<(String, String, PathBuf, usize)>,
}

type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Import>>;

/// The imports between children of the same module, by that module: each import is one of exactly one level. What a module and its own
/// children have with each other is of none.
pub fn levels(imports: &[Import]) -> BTreeMap<&[String], Edges<'_>> {
    let mut levels: BTreeMap<&[String], Edges> = BTreeMap::new();
    for import in imports {
        let shared = import.from.iter().zip(&import.to).take_while(|(from, to)| from == to).count();
        let (Some(from), Some(to)) = (import.from.get(shared), import.to.get(shared)) else { continue };
        levels.entry(&import.from[..shared]).or_default().entry(from).or_default().entry(to).or_insert(import);
    }
    levels
}

/// Every cycle of every level.
pub fn cycles(imports: &[Import]) -> Vec<Cycle> {
    let mut found = Vec::new();
    for (parent, edges) in levels(imports) {
        let mut seen = BTreeSet::new();
        for &module in edges.keys() {
            if seen.contains(module) {
                continue;
            }
            let reached = reach(&edges, module);
            let modules: Vec<&str> = reached.iter().copied().filter(|other| reach(&edges, other).contains(module)).collect();
            seen.extend(modules.iter().copied());
            if modules.is_empty() {
                continue;
            }
            let around = modules.iter().map(|module| way_back(&edges, module)).min_by_key(Vec::len).expect("each of them is on a cycle");
            let around = around.iter().map(|import| {
                let name = |path: &ModulePath| path[parent.len()].clone();
                (name(&import.from), name(&import.to), import.file.clone(), import.line)
            });
            let modules = modules.into_iter().map(str::to_owned).collect();
            found.push(Cycle { parent: parent.to_vec(), modules, around: around.collect() });
        }
    }
    found
}

/// What can be reached from a module by one import or more.
fn reach<'a>(edges: &Edges<'a>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for &next in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

/// The shortest way from a module to itself.
fn way_back<'a>(edges: &Edges<'a>, start: &'a str) -> Vec<&'a Import> {
    let mut came: BTreeMap<&str, (&str, &Import)> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(module) = open.pop_front() {
        for (&next, &import) in edges.get(module).into_iter().flatten() {
            if came.contains_key(next) {
                continue;
            }
            came.insert(next, (module, import));
            open.push_back(next);
        }
        if came.contains_key(start) {
            break;
        }
    }
    let mut way = Vec::new();
    let mut module = start;
    while let Some(&(before, import)) = came.get(module) {
        way.insert(0, import);
        module = before;
        if module == start {
            break;
        }
    }
    way
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent: String = self.parent.iter().map(|name| format!("::{name}")).collect();
        writeln!(f, "{} modules of crate{parent} import each other: {}", self.modules.len(), self.modules.join(", "))?;
        for (from, to, file, line) in &self.around {
            writeln!(f, "    {from} → {to}    {}:{line}", file.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::modules::Crate;

    fn cycles_of(files: &[(&str, &str)]) -> Vec<Cycle> {
        let text_of = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
        cycles(&Crate::read(Path::new("src/lib.rs"), &text_of).imports())
    }

    #[test]
    fn a_cycle_is_found_with_the_lines_that_close_it() {
        let found = cycles_of(&[
            ("src/lib.rs", "mod a; mod b; mod c; mod d;"),
            ("src/a.rs", "use crate::b::B;"),
            ("src/b/mod.rs", "mod inner; pub struct B;"),
            ("src/b/inner.rs", "\nfn f() { crate::c::f() }"),
            ("src/c.rs", "pub fn f() { use crate::{a, d}; }"),
            ("src/d.rs", "pub struct D;"),
        ]);
        let [cycle] = &found[..] else { panic!("one cycle is there: {found:?}") };
        let expected = "3 modules of crate import each other: a, b, c\n    a → b    src/a.rs:1\n    b → c    src/b/inner.rs:2\n    c → a    src/c.rs:1\n";
        assert_eq!(cycle.to_string(), expected);
    }

    #[test]
    fn cycles_inside_folders_are_found_and_parents_do_not_count() {
        let found = cycles_of(&[
            ("src/lib.rs", "mod a; pub struct Root;"),
            ("src/a.rs", "mod x; mod y; use x::X; pub struct A; use crate::Root;"),
            ("src/a/x.rs", "use super::{A, y::Y};"),
            ("src/a/y.rs", "use crate::a::x;"),
        ]);
        let [cycle] = &found[..] else { panic!("one cycle is there: {found:?}") };
        assert_eq!((cycle.parent.join("::").as_str(), &cycle.modules.join(" ")[..]), ("a", "x y"));
    }
}
