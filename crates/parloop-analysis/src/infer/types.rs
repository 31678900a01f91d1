//! Types of whole programs: of all names and calls in the kernels that entry points reach.

use parloop_ir::callable::{ArgTypes, CallableError, InferError, Inference, RecursiveCall};
use parloop_ir::functions::scope_for;
use parloop_ir::program::Program;
use parloop_ir::syntax::{LoopKernel, Target};

use super::kernel_types::KernelTypes;
use super::session::{Mode, Session};

/// Infers the types of all names in the kernels that entry points reach, and creates a specialised entry for each call.
///
/// ```
/// use parloop_loop::create::{Data, KernelBuilder};
/// use parloop_loop::{infer, syntax::Target};
/// let x = Data::global("x").dtype("float32").shape("n");
/// let program = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("y[i] = sin(x[i])").data(x).rest().build()?;
/// let typed = infer::types(&program, Target::C)?;
/// assert_eq!(typed.callables["sin_0"].name_in_target().unwrap(), "sinf");
/// # Ok::<(), parloop_loop::error::LoopError>(())
/// ```
///
/// # Errors
/// [`InferError`]: names without a type and the reason, unknown functions, calls that do not match.
pub fn types(program: &Program, target: Target) -> Result<Program, InferError> {
    let program = scope_for(program, Some(target))?;
    let mut session = Session::new(&program, target, Mode::Specialise);
    for entry in &program.entrypoints {
        let Some(callable) = program.callables.get(entry) else { continue };
        let typed = callable.with_types(&ArgTypes::new(), &mut session).map_err(unwrap_inside)?;
        session.entries.replace(entry, typed);
    }
    Ok(Program { callables: session.entries.finish(), target: Some(target), ..program })
}

/// Infers the types that can be found so far; names without a type and calls stay unchanged.
///
/// # Errors
/// As [`types`], but not for what has no type yet.
pub fn types_so_far(program: &Program, target: Target) -> Result<Program, InferError> {
    let program = scope_for(program, Some(target))?;
    let mut session = Session::new(&program, target, Mode::Probe);
    let mut found = program.clone();
    for entry in &program.entrypoints {
        if let Some(kernel) = program.kernel(entry) {
            let typed = session.kernel_types(kernel).map_err(unwrap_inside)?;
            found = found.with_kernel(typed);
        }
    }
    Ok(found)
}

/// An error in an entry point itself is not an error of a call.
fn unwrap_inside(error: CallableError) -> InferError {
    match error {
        CallableError::Inside { error, .. } => *error,
        error => error.into(),
    }
}

impl Inference for Session<'_> {
    fn target(&self) -> Target {
        self.target
    }

    fn kernel_types(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        let inside = |error: InferError| CallableError::Inside { function: kernel.name.clone(), error: Box::new(error) };
        if let Some(start) = self.path.iter().position(|name| *name == kernel.name) {
            let path = self.path[start..].iter().chain([&kernel.name]).cloned().collect();
            return Err(inside(RecursiveCall { kernel: kernel.name.clone(), path }.into()));
        }
        self.path.push(kernel.name.clone());
        let typed = KernelTypes::infer(self, kernel);
        self.path.pop();
        typed.map_err(inside)
    }

    fn kernel_descriptors(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        Ok(kernel.clone())
    }
}
