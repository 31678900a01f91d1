//! What a program was compiled to, for a context and for types.

use std::sync::Arc;

use parloop_kernel as ker;
use parloop_loop::Name;
use parloop_loop::prelude::*;
use parloop_loop::run::Executable;
use parloop_loop::syntax::{LoopKernel, Program, Type};
use pyo3::prelude::*;

use super::given::{Value, type_given};
use super::program::LoopProgram;
use crate::error::Result;

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

/// What the program was compiled to for these values; it is compiled where it was not.
pub fn compiled_for(
    py: Python<'_>,
    program: &LoopProgram,
    kernel: &LoopKernel,
    entry: &Name,
    context: &ker::Context,
    values: &[Value<'_>],
) -> Result<Arc<Compiled>> {
    let mut types = Vec::new();
    for (index, argument) in kernel.arguments.iter().enumerate() {
        if argument.ty.is_none()
            && let Some(ty) = type_given(&values[index])?
        {
            types.push((index, ty));
        }
    }
    let is_it = |known: &Arc<Compiled>| known.types == types && known.entry == *entry && known.context.is_same(context);
    if let Some(known) = lock(&program.compiled).iter().find(|known| is_it(known)) {
        return Ok(known.clone());
    }
    let typed = with_types(&program.inner, kernel, &types);
    let made = py.detach(|| {
        let generated = typed.generate_for(entry, context)?;
        Executable::compile(&generated, context)
    })?;
    let returns_dict = kernel.options.return_dict;
    let compiled = Arc::new(Compiled { context: context.clone(), entry: entry.clone(), types, executable: made, returns_dict });
    let mut all = lock(&program.compiled);
    all.insert(0, compiled.clone());
    // A program that is called on ever new queues does not keep them all.
    all.truncate(16);
    Ok(compiled)
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
