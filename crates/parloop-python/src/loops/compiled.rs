//! What a program was compiled to, for a context and for types.

use parloop_kernel as ker;
use parloop_loop::Name;
use parloop_loop::run::Executable;
use parloop_loop::syntax::{LoopKernel, Program, Type};

/// A kernel compiled for a context and for types.
pub struct Compiled {
    context: ker::Context,
    entry: Name,
    /// The types of arguments that have none in the program.
    types: Vec<(usize, Type)>,
    executable: Executable,
    pub returns_dict: bool,
}

impl Compiled {
    pub fn new(context: &ker::Context, entry: &Name, types: Vec<(usize, Type)>, executable: Executable, returns_dict: bool) -> Compiled {
        Compiled { context: context.clone(), entry: entry.clone(), types, executable, returns_dict }
    }

    pub fn entry(&self) -> &Name {
        &self.entry
    }

    pub fn context(&self) -> &ker::Context {
        &self.context
    }

    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    pub fn types(&self) -> &[(usize, Type)] {
        &self.types
    }
}

pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The program with those types for arguments of a kernel.
pub fn with_types(program: &Program, kernel: &LoopKernel, types: &[(usize, Type)]) -> Program {
    let mut kernel = kernel.clone();
    for (index, ty) in types {
        kernel.arguments[*index].ty = Some(ty.clone());
    }
    program.with_kernel(kernel)
}
