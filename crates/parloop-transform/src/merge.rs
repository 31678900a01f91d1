//! `merge` combines several programs; `with_entrypoints` selects the kernels that are called from outside.

use parloop_ir::functions::scope;
use parloop_ir::names::Near;
use parloop_ir::program::Program;
use parloop_isl::Name;

use super::register::RegisterError;

/// Merges programs into one with the kernels and functions of all. Equal functions are shared; a user's function in one program overrides
/// the target's in the others. Calls that one program could not resolve may find kernels of the others.
///
/// ```
/// use parloop_loop::create::KernelBuilder;
/// use parloop_loop::transform::merge;
/// let twice = KernelBuilder::new().name("twice").domain("{[i]: 0<=i<4}").instructions("y[i] = 2*x[i]").build_function()?;
/// let caller = KernelBuilder::new().domain("{[i]: 0<=i<4}").instructions("[i]: b[i] = twice([i]: a[i])").build()?;
/// let program = merge([&caller, &twice])?;
/// assert_eq!(program.entrypoints.len(), 1);
/// assert!(program.kernel("twice").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RegisterError::Taken`] for two different functions of one name, [`RegisterError::Targets`] for two targets.
pub fn merge<'a>(programs: impl IntoIterator<Item = &'a Program>) -> Result<Program, RegisterError> {
    let mut programs = programs.into_iter();
    let Some(first) = programs.next() else { return Ok(Program::empty()) };
    let mut merged = first.clone();
    for program in programs {
        match (merged.target, program.target) {
            (Some(first), Some(second)) if first != second => return Err(RegisterError::Targets { first, second }),
            (ours, theirs) => merged.target = ours.or(theirs),
        }
        for (name, callable) in &program.callables {
            match merged.callables.get(name) {
                Some(known) if known.is_same(&**callable) || callable.is_builtin() => continue,
                Some(known) if !known.is_builtin() => return Err(RegisterError::Taken { name: name.clone() }),
                _ => drop(merged.callables.insert(name.clone(), callable.clone())),
            }
        }
        merged.entrypoints.extend(program.entrypoints.iter().cloned());
        let further = program.lookups.iter().filter(|lookup| !first.lookups.contains(lookup)).cloned();
        merged.lookups.extend(further.collect::<Vec<_>>());
    }
    Ok(scope(&merged)?)
}

/// Makes exactly those kernels the entry points.
///
/// # Errors
/// [`RegisterError::NoKernel`].
pub fn with_entrypoints(program: &Program, names: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, RegisterError> {
    let mut changed = Program { entrypoints: Default::default(), ..program.clone() };
    for name in names {
        let name = name.into();
        if program.kernel(&name).is_none() {
            return Err(RegisterError::NoKernel { near: Near::of(&name, kernel_names(program)), name });
        }
        changed.entrypoints.insert(name);
    }
    Ok(changed)
}

/// The names of the kernels of a program.
pub(super) fn kernel_names(program: &Program) -> impl Iterator<Item = &Name> {
    program.callables.iter().filter(|(_, callable)| callable.kernel().is_some()).map(|(name, _)| name)
}
