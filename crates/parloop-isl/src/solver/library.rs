//! Finds and opens libisl: once per process, on first use.

use std::env;
use std::error::Error as _;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;
use once_cell::race::OnceBox;

use super::api::Api;
use crate::error::{IslError, Result};

// Neither has a lock: a child that is forked while another thread held one would wait for it forever.
static API: OnceBox<(Api, PathBuf)> = OnceBox::new();
static FOLDERS: OnceBox<Folder> = OnceBox::new();

/// A folder to search, and those after it.
struct Folder {
    path: PathBuf,
    next: OnceBox<Folder>,
}

/// The file names of libisl, best-known interfaces first.
const NAMES: &[&str] = if cfg!(target_os = "macos") {
    &["libisl.23.dylib", "libisl.dylib", "/opt/homebrew/lib/libisl.dylib", "/usr/local/lib/libisl.dylib", "/opt/local/lib/libisl.dylib"]
} else {
    &["libisl.so.23", "libisl.so", "libisl.so.22", "libisl.so.24", "libisl.so.21", "libisl.so.19"]
};

/// Adds a folder to search for libisl: one that contains the library, or a Python `site-packages` folder with islpy.
///
/// The wheels of islpy carry isl inside their extension module, which can be opened only in a process that runs Python; a program without
/// Python needs a system libisl.
pub fn add_library_folder(path: impl Into<PathBuf>) {
    let mut added = Box::new(Folder { path: path.into(), next: OnceBox::new() });
    let mut end = &FOLDERS;
    loop {
        while let Some(folder) = end.get() {
            if folder.path == added.path {
                return;
            }
            end = &folder.next;
        }
        match end.set(added) {
            Ok(()) => return,
            // Another thread added one.
            Err(mine) => added = mine,
        }
    }
}

/// The file that libisl was opened from. Opens it if necessary.
///
/// # Errors
/// [`IslError::Missing`].
pub fn library_file() -> Result<PathBuf> {
    let name = &opened()?.1;
    Ok(if name.is_absolute() { name.clone() } else { mapped(name).unwrap_or_else(|| name.clone()) })
}

/// The path of a loaded library of that name, as far as the system reports it.
fn mapped(name: &Path) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let start = name.file_name()?.to_string_lossy().into_owned();
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    files.into_iter().find(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&start)))
}

/// The opened library.
pub(super) fn api() -> Result<&'static Api> {
    Ok(&opened()?.0)
}

/// The library and the name by which it was opened. A failure is not remembered: a folder may be added, or a package installed, before the
/// next question.
fn opened() -> Result<&'static (Api, PathBuf)> {
    if let Some(opened) = API.get() {
        return Ok(opened);
    }
    let found = find()?;
    Ok(API.get_or_init(|| Box::new(found)))
}

fn find() -> Result<(Api, PathBuf)> {
    if let Some(path) = env::var_os("PARLOOP_ISL").filter(|path| !path.is_empty()) {
        let opened = open(&path).map(|api| (api, PathBuf::from(&path)));
        return opened.map_err(|reason| IslError::Missing { reason: format!("PARLOOP_ISL is `{}`, but {reason}", path.display()) });
    }
    let mut reasons = Vec::new();
    let named = NAMES.iter().map(PathBuf::from);
    for candidate in named.chain(files_in_folders()) {
        match open(candidate.as_os_str()) {
            Ok(api) => return Ok((api, candidate)),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(IslError::Missing { reason: reasons.join("; ") })
}

fn open(path: &OsStr) -> std::result::Result<Api, String> {
    // SAFETY: opening isl, or the module of islpy, runs initialisers without side effects.
    let library = unsafe { Library::new(path) };
    library.and_then(Api::of).map_err(|error| match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    })
}

/// Libraries in the given folders and in the virtual environment: `libisl*` itself, and the libraries of islpy.
fn files_in_folders() -> Vec<PathBuf> {
    let given = std::iter::successors(FOLDERS.get(), |folder| folder.next.get());
    let mut folders: Vec<PathBuf> = given.map(|folder| folder.path.clone()).collect();
    if let Some(environment) = env::var_os("VIRTUAL_ENV") {
        let lib = Path::new(&environment).join("lib");
        folders.extend(entries(&lib).into_iter().map(|python| python.join("site-packages")).filter(|path| path.is_dir()));
    }
    let mut files = Vec::new();
    for folder in folders {
        for (inner, prefix) in
            [("", "libisl"), ("islpy.libs", "libisl"), ("islpy/.dylibs", "libisl"), ("islpy", "libisl"), ("islpy", "_isl")]
        {
            files.extend(entries(&folder.join(inner)).into_iter().filter(|path| is_library(path, prefix)));
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn is_library(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with(prefix) && (name.contains(".so") || name.ends_with(".dylib"))
}
