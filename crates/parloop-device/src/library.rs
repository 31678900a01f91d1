//! Native libraries opened at run time: where to look for one, and the message when it is missing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use libloading::Library;

use crate::forked::Lock;
use crate::loader;

static EXTRA_FOLDERS: Lock<Vec<PathBuf>> = Lock::new(Vec::new());

/// Adds folders of Python packages in which wheels may have put libraries (`nvidia/cuda_nvrtc/lib`, …) and compilers.
pub fn add_package_folders(folders: impl IntoIterator<Item = PathBuf>) {
    let mut extra = EXTRA_FOLDERS.lock_or(Vec::new);
    for folder in folders {
        if !extra.contains(&folder) {
            extra.push(folder);
        }
    }
}

/// The folders of Python packages: those added, then those of an active virtual environment.
pub fn package_folders() -> Vec<PathBuf> {
    let mut folders = EXTRA_FOLDERS.lock_or(Vec::new).clone();
    if let Some(environment) = std::env::var_os("VIRTUAL_ENV")
        && let Ok(versions) = std::fs::read_dir(Path::new(&environment).join("lib"))
    {
        folders.extend(versions.flatten().map(|entry| entry.path().join("site-packages")).filter(|path| path.is_dir()));
    }
    folders
}

/// Opens the first of `candidates` (paths, or names for the system's own search) that can be opened.
///
/// # Errors
/// All the candidates, each with the reason if it is a file that exists but does not load.
pub(crate) fn open_first(candidates: &[PathBuf]) -> Result<(Library, PathBuf), Vec<String>> {
    let mut tried = Vec::new();
    let _turn = loader::turn();
    for candidate in candidates {
        if candidate.is_absolute() && !candidate.exists() {
            continue;
        }
        // SAFETY: these are drivers and compilers named by the system or the user; loading one runs its own initialisers only.
        match unsafe { Library::new(candidate) } {
            Ok(library) => return Ok((library, candidate.clone())),
            Err(error) if candidate.is_absolute() => tried.push(format!("{} ({error})", candidate.display())),
            Err(_) => tried.push(candidate.display().to_string()),
        }
    }
    Err(tried)
}

/// The path in environment variable `name`, if it is set and not empty.
pub(crate) fn path_from_env(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from)
}

/// Whether a library whose file name begins with `name` is loaded from one of the system's own folders.
///
/// Debian builds PoCL and AMD's comgr on one shared LLVM, into which each brings its own clang. Loaded into one process, the second
/// ends it, so whoever is about to be second asks first.
pub(crate) fn is_loaded_from_system(name: &str) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..]))).any(|path| {
        let is_system = path.starts_with("/usr/lib") || path.starts_with("/lib");
        is_system && path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_libraries_are_seen() {
        assert!(is_loaded_from_system("libc.so"));
        assert!(!is_loaded_from_system("libclang-of-nobody"));
    }
}
