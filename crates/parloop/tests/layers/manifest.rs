//! The dependencies of a crate, and the order of crates in the diagram of ARCHITECTURE.md.

use std::collections::BTreeSet;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// What the crate itself needs.
    pub dependencies: BTreeSet<String>,
    /// What its tests need.
    pub dev_dependencies: BTreeSet<String>,
}

impl Manifest {
    /// Reads a `Cargo.toml`, in which a dependency is a line of a section or a section of its own.
    pub fn parse(text: &str) -> Manifest {
        let mut manifest = Manifest::default();
        let mut section = String::new();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').to_owned();
                if let Some((before, name)) = section.rsplit_once('.') {
                    manifest.add(before, name);
                }
            } else if let Some((key, _)) = line.split_once('=') {
                let name = key.trim().split('.').next().unwrap_or_default();
                manifest.add(&section, name);
            }
        }
        manifest
    }

    fn add(&mut self, section: &str, name: &str) {
        let name = name.trim_matches('"').to_owned();
        match section.rsplit('.').next() {
            Some("dependencies" | "build-dependencies") => drop(self.dependencies.insert(name)),
            Some("dev-dependencies") => drop(self.dev_dependencies.insert(name)),
            _ => {}
        }
    }
}

/// The crates in the first diagram of a page, from top to bottom.
pub fn diagram(page: &str) -> Vec<String> {
    let block = page.split("```").nth(1).unwrap_or_default();
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    block.split("crates/").skip(1).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_in_every_form() {
        let text = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n# c = \"1\"\n[dependencies.d]\npath = \"../d\"\n\
                    [target.'cfg(unix)'.dependencies]\ne = { version = \"1\" }\n[dev-dependencies]\nf = \"1\"\n[lints]\nworkspace = true\n";
        let manifest = Manifest::parse(text);
        assert_eq!(manifest.dependencies.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "d", "e"]);
        assert_eq!(manifest.dev_dependencies.iter().map(String::as_str).collect::<Vec<_>>(), ["f"]);
    }

    #[test]
    fn the_diagram_is_read_from_top_to_bottom() {
        let page = "# A\n```\n top   crates/parloop-top: a  python/parloop\n  |  crates/parloop: b\n```\ncrates/elsewhere";
        assert_eq!(diagram(page), ["parloop-top", "parloop"]);
    }
}
