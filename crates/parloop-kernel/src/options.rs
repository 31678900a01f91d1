//! How a program is compiled.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use parloop_device::{Language, flag_from_env};

use crate::description::KernelDescription;
use crate::error::Result;

/// A rewrite of every source's text before any other processing.
pub type SourceHook = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Options of a compilation. The defaults suit most programs.
#[derive(Clone)]
pub struct CompileOptions {
    /// What the sources are written in.
    pub language: Language,
    /// Folders searched by `#include` for the user's headers.
    pub include_folders: Vec<PathBuf>,
    /// Further arguments for the target's compiler.
    pub arguments: Vec<String>,
    /// Descriptions that the source must agree with, and grids.
    pub kernels: Vec<KernelDescription>,
    /// Names which the sources use as types of parameters, and which are pointers to opaque structs
    /// (`typedef GPUGLMEM struct Cells_s *Cells;`): what is passed there is an object of that class.
    pub classes: Vec<String>,
    /// Compiles the code under `#ifdef PARLOOP_CHECKED`: `PARLOOP_CHECK(ok, site, index, limit)` is the truth of `ok`, and the
    /// first that is false in a launch makes the launch fail with [`KernelError::Check`](crate::KernelError::Check). Each launch is then waited for, and one
    /// launch of a program is done at a time; a program without a check pays nothing. The default is what the environment variable `PARLOOP_CHECKED` says.
    pub checked: bool,
    /// `PARLOOP_CHECK` works as in checked mode even without [`checked`](Self::checked); nothing else of it is compiled. For code that must not run
    /// without its checks.
    pub guarded: bool,
    /// What each site of `PARLOOP_CHECK` checks, in words: `Multipole.knl`.
    pub check_sites: Vec<String>,
    /// Changes each source's text first.
    pub source_hook: Option<SourceHook>,
    /// Where to write what the compiler is given.
    pub save_source_as: Option<PathBuf>,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            language: Language::C,
            include_folders: Vec::new(),
            arguments: Vec::new(),
            kernels: Vec::new(),
            classes: Vec::new(),
            checked: matches!(checked_by_environment(), Ok(true)),
            guarded: false,
            check_sites: Vec::new(),
            source_hook: None,
            save_source_as: None,
        }
    }
}

/// What the environment variable `PARLOOP_CHECKED` says: `1` turns checked mode on where the program does not say. What the program says,
/// yes or no, goes before the environment, and what it says for one call before what it says for a kernel. Everything that has a checked
/// mode asks here.
///
/// # Errors
/// [`DeviceError::Variable`](parloop_device::DeviceError::Variable) when it is neither 0 nor 1.
pub fn checked_by_environment() -> Result<bool> {
    Ok(flag_from_env("PARLOOP_CHECKED")?)
}

impl fmt::Debug for CompileOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileOptions")
            .field("language", &self.language)
            .field("include_folders", &self.include_folders)
            .field("arguments", &self.arguments)
            .field("kernels", &self.kernels)
            .field("classes", &self.classes)
            .field("checked", &self.checked)
            .field("guarded", &self.guarded)
            .field("check_sites", &self.check_sites)
            .field("source_hook", &self.source_hook.is_some())
            .field("save_source_as", &self.save_source_as)
            .finish()
    }
}

impl CompileOptions {
    /// The include folders, with those given as compiler arguments.
    pub(crate) fn all_include_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.include_folders.clone();
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            match ["-I", "-isystem", "-iquote"].iter().find_map(|flag| argument.strip_prefix(flag)) {
                Some("") => folders.extend(arguments.next().map(PathBuf::from)),
                Some(folder) => folders.push(folder.into()),
                None => {}
            }
        }
        folders
    }

    /// The contents of the files that compiler arguments name (`-include file.h`, `library.so`), as one hash.
    pub(crate) fn argument_files(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for argument in &self.arguments {
            if let Ok(content) = std::fs::read(argument) {
                hasher.update(blake3::hash(&content).as_bytes());
            }
        }
        hasher.finalize().into()
    }
}
