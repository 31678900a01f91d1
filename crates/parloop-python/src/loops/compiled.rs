//! What a program was compiled to, for a context and for types.

use parloop_kernel as ker;
use parloop_loop::Name;
use parloop_loop::run::Executable;
use parloop_loop::syntax::{LoopKernel, Program, Type};

/// A kernel compiled for a context and for types.
pub struct Compiled {
    pub context: ker::Context,
    pub entry: Name,
    /// Whether the call asked for checked mode.
    pub checked: Option<bool>,
    /// The types of arguments that have none in the program.
    pub types: Vec<(usize, Type)>,
    pub executable: Executable,
    pub returns_dict: bool,
}

impl Compiled {
    pub fn entry(&self) -> &Name {
        &self.entry
    }

    /// Whether it is that kernel on that context, in that mode.
    pub fn is_for(&self, entry: &Name, context: &ker::Context, checked: Option<bool>) -> bool {
        self.entry == *entry && self.checked == checked && self.context.is_same(context)
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
