//! The files `tests/kernels/*.loop`: what each expects after its lines `---- what`. With `PARLOOP_BLESS=1` what is found is written into
//! the files, to be reviewed as a diff.
//!
//! `c`, `opencl`, `cuda`, `hip`, `ispc` are code; `kernel` is the kernel after the transformations, `schedule` its order; each with
//! `before` in front for the kernel without transformations. `error` is the message of the first stage that fails, with `c` as target.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use parloop_loop::file::{Expected, LoopFile};
use parloop_loop::parse::ParseError;
use parloop_loop::prelude::*;
use parloop_loop::syntax::{Program, Target};

/// A file of ours, whose C code is right.
fn parsed(head: &str) -> Result<LoopFile, ParseError> {
    // SAFETY: it is in this repository.
    if head.contains("... c ") { unsafe { LoopFile::parse_trusted(head) } } else { LoopFile::parse(head) }
}

/// What is found for a line `---- what`.
fn found(head: &str, what: &str) -> Result<String, String> {
    let (before, what) = match what.strip_prefix("before ") {
        Some(rest) => (true, rest),
        None => (false, what),
    };
    let program = || -> Result<Program, String> {
        let file = parsed(head).map_err(|error| error.to_string())?;
        let program = if before { file.untransformed() } else { file.program() };
        program.map_err(|error| error.to_string())
    };
    let generated = |target: Target| -> Result<_, String> { program()?.generate(target).map_err(|error| error.to_string()) };
    let targets = [Target::C, Target::OpenCl, Target::Cuda, Target::Hip, Target::Ispc];
    match what {
        "kernel" => program()?.callables.values().filter_map(|callable| callable.kernel()).map(|kernel| Ok(kernel.to_string())).collect(),
        "schedule" => Ok(generated(Target::C)?.schedule.to_string()),
        "error" => match generated(Target::C) {
            Ok(_) => Err("expected an error, but there is none".to_owned()),
            Err(message) => Ok(message),
        },
        _ => match targets.into_iter().find(|target| target.to_string() == what) {
            Some(target) => Ok(generated(target)?.code.text),
            None => Err(format!("`---- {what}` is not known")),
        },
    }
}

fn with_newline(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The differences of one file; with `bless` it is rewritten instead.
fn check(path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (head, expected) = LoopFile::split(&text);
    if expected.is_empty() {
        return Err("nothing is expected: end the file with lines such as `---- c`".to_owned());
    }
    let mut blessed = head.to_owned();
    let mut differences = String::new();
    for Expected { what, text } in &expected {
        let result = found(head, what).map(with_newline);
        let _ = match &result {
            Ok(found) => write!(blessed, "---- {what}\n{found}"),
            Err(_) => write!(blessed, "---- {what}\n{text}"),
        };
        match result {
            Ok(found) if found == *text => {}
            Ok(found) if !bless => {
                let _ = write!(differences, "---- {what}: expected\n{text}---- {what}: found\n{found}");
            }
            Ok(_) => {}
            Err(message) => {
                let _ = writeln!(differences, "---- {what}: {message}");
            }
        }
    }
    if bless && blessed != text {
        std::fs::write(path, blessed).map_err(|error| error.to_string())?;
    }
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// The files, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "loop"));
    files.sort();
    assert!(!files.is_empty(), "no files in {}", folder.display());
    files
}

/// The programs of all files that expect no error, before and after their transformations, by name.
pub fn programs() -> Vec<(String, Program)> {
    let mut all = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, expected) = LoopFile::split(&text);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if expected.iter().any(|expected| expected.what.ends_with("error")) {
            continue;
        }
        let file = parsed(head).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Its call has other axes than the function, until it is packed.
        if name != "pack_and_unpack_args_for_call" {
            all.push((format!("{name} (before)"), file.untransformed().unwrap_or_else(|error| panic!("{name}: {error}"))));
        }
        all.push((name.clone(), file.program().unwrap_or_else(|error| panic!("{name}: {error}"))));
    }
    all
}

#[test]
fn every_kernel_file_gives_what_it_expects() {
    let files = files();
    let bless = std::env::var_os("PARLOOP_BLESS").is_some_and(|value| value == "1");
    let failed: Vec<String> =
        files.iter().filter_map(|path| check(path, bless).err().map(|differences| format!("{}\n{differences}", path.display()))).collect();
    assert!(failed.is_empty(), "{} of {} files:\n{}", failed.len(), files.len(), failed.join("\n"));
}
