//! The libraries cuFFT and hipFFT, which have the same functions under different names.

use std::ffi::c_int;
use std::path::PathBuf;

use libloading::Library;

use crate::error::{DeviceError, Result};
use crate::gpu::calls::{find, function_table};
use crate::library::open_first;

function_table! {
    /// The functions of an FFT library. A plan's handle is an `int` in cuFFT and a pointer in hipFFT: both are passed as 64 bits, of which
    /// the first reads and writes the lower half.
    FftCalls, FftCallNames {
        create: fn(*mut u64) -> c_int,
        make: fn(u64, c_int, *mut i64, *mut i64, i64, i64, *mut i64, i64, i64, c_int, i64, *mut usize) -> c_int,
        set_stream: fn(u64, u64) -> c_int,
        run_single: fn(u64, u64, u64, c_int) -> c_int,
        run_double: fn(u64, u64, u64, c_int) -> c_int,
        destroy: fn(u64) -> c_int,
    }
}

/// What is particular to one FFT library.
pub(crate) struct FftFlavour {
    /// Its name in errors.
    pub(crate) name: &'static str,
    pub(crate) names: FftCallNames,
    /// How to get it.
    pub(crate) hint: &'static str,
}

/// An FFT library that is loaded, forever.
pub(crate) struct FftLibrary {
    pub(super) calls: FftCalls,
    pub(super) _library: Option<Library>,
}

impl FftLibrary {
    /// Opens the first of `candidates`, which are paths and names of that library.
    pub(crate) fn open(flavour: &FftFlavour, candidates: &[PathBuf]) -> Result<FftLibrary> {
        let missing = |tried, hint: &str| DeviceError::LibraryMissing { name: flavour.name, tried, hint: hint.to_owned() };
        let (library, path) = open_first(candidates).map_err(|tried| {
            let all = || candidates.iter().map(|path| path.display().to_string()).collect();
            missing(if tried.is_empty() { all() } else { tried }, flavour.hint)
        })?;
        // SAFETY: a library of that name has these functions.
        let calls = unsafe { FftCalls::load(&flavour.names, |name| find(&library, name)) };
        let calls = calls.map_err(|function| {
            missing(vec![path.display().to_string()], &format!("it has no function `{function}`; install another version of it"))
        })?;
        Ok(FftLibrary { calls, _library: Some(library) })
    }
}
