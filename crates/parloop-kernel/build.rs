//! Gives the code that reads sources a name of its own, `PARLOOP_READER`: what was read by other code is not taken from the cache, though
//! the version may be the same.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let (own, out) = (PathBuf::from(variable("CARGO_MANIFEST_DIR")), PathBuf::from(variable("OUT_DIR")));
    let mut files = Vec::new();
    // The types of numbers are in the layer below, and versions of the parsers in the lock file, where there is one.
    for folder in [own.join("src"), own.join("../parloop-device/src")] {
        collect(&folder, &mut files);
    }
    files.extend(
        [own.as_path(), &out].iter().filter_map(|place| place.ancestors().map(|up| up.join("Cargo.lock")).find(|file| file.is_file())),
    );
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        file.file_name().hash(&mut hasher);
        fs::read(file).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=PARLOOP_READER={:016x}", hasher.finish());
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    println!("cargo::rerun-if-changed={}", folder.display());
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
