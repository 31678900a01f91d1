//! The CPU backend: kernels compiled by the system compiler, run by our own threads. Memory is host memory, streams run in line.

mod compiler;
mod cpuinfo;
mod crew;
mod device;
mod elf;
mod event;
mod growable;
mod memory;
mod module;
mod pages;
mod pool;
mod region;
mod sharing;
mod slab;
mod stream;

use std::sync::Arc;

use crate::backend::{Compiler, RawDevice};
use crate::error::{CompileError, Result};
use crate::kind::Language;

pub use crate::identity::MAX_THREADS;
pub use compiler::WATCH_DIVISIONS;
pub use pages::vec_with_room;

pub(crate) fn open(threads: Option<usize>) -> Result<Arc<dyn RawDevice>> {
    Ok(Arc::new(device::CpuDevice::new(threads)?))
}

/// The system's C compiler: `$PARLOOP_CC`, `$CC`, cc, gcc, clang, or the zig of the Python package `ziglang`.
///
/// # Errors
/// [`CompileError::NoCompiler`].
pub fn compiler() -> Result<Arc<dyn Compiler>, CompileError> {
    compiler_of(Language::C)
}

/// The system's compiler of that language; for C++ `$PARLOOP_CXX`, `$CXX`, c++, g++, clang++, or the zig of the Python package `ziglang`.
///
/// # Errors
/// [`CompileError::NoCompiler`].
pub fn compiler_of(language: Language) -> Result<Arc<dyn Compiler>, CompileError> {
    Ok(Arc::new(compiler::SystemCompiler::find(language)?))
}
