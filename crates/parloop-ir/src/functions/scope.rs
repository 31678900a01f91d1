//! Resolving names of functions: the user's registrations, then the target's functions, then the library's.

use std::sync::Arc;

use parloop_isl::Name;

use super::{TargetFunction, library, target};
use crate::callable::{Callable, CallableError};
use crate::program::{Program, kernel_exprs};
use crate::syntax::{Call, Expr, Instruction, LoopKernel, Target};

/// The callable of that name for a program: the user's look-ups, the last one first, then the target's own, then the library's. Entries of
/// the program are not considered.
///
/// # Errors
/// Any error of the look-up.
pub fn find(program: &Program, target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
    for lookup in program.lookups.iter().rev() {
        if let Some(found) = lookup.find(target, name)? {
            return Ok(Some(found));
        }
    }
    if let Some(found) = TargetFunction::find(target, name) {
        return Ok(Some(Arc::new(found)));
    }
    Ok(library::find(name))
}

/// Resolves every call with a known name, and adds an entry for each called function. Unknown names stay unchanged: they are an error only
/// when code is generated.
///
/// # Errors
/// Any error of the look-up.
pub fn scope(program: &Program) -> Result<Program, CallableError> {
    scope_for(program, program.target)
}

/// [`scope`] for a target that the program does not have to name.
pub fn scope_for(program: &Program, target: Option<Target>) -> Result<Program, CallableError> {
    let mut scoped = program.clone();
    for (entry, callable) in &program.callables {
        if let Some(kernel) = callable.kernel()
            && let Some(kernel) = scope_kernel(kernel, &mut scoped, target)?
        {
            scoped.callables.insert(entry.clone(), callable.with_kernel(kernel));
        }
    }
    Ok(scoped)
}

/// Resolves the known calls of a kernel; `None` if nothing changes. Functions that are found become entries of `program`.
fn scope_kernel(kernel: &LoopKernel, program: &mut Program, target: Option<Target>) -> Result<Option<LoopKernel>, CallableError> {
    let mut unresolved = Vec::new();
    for expr in kernel_exprs(kernel) {
        expr.visit(&mut |expr| {
            if let Expr::Call(call) = expr
                && !call.resolved
                && !kernel.substitutions.contains_key(&call.function)
                && !unresolved.contains(&call.function)
            {
                unresolved.push(call.function.clone());
            }
        });
    }
    let mut known = Vec::new();
    for name in unresolved {
        if !program.callables.contains_key(&name) {
            match find(program, target, &name)? {
                Some(found) => drop(program.callables.insert(name.clone(), found)),
                None => continue,
            }
        }
        known.push(name);
    }
    Ok((!known.is_empty())
        .then(|| rename_calls(kernel, &|call| (!call.resolved && known.contains(&call.function)).then(|| call.function.clone()))))
}

/// Resolves calls to the entries that `entry` names; `None` leaves a call unchanged.
fn rename_calls(kernel: &LoopKernel, entry: &dyn Fn(&Call) -> Option<Name>) -> LoopKernel {
    let mut kernel = kernel.clone();
    for instruction in &mut kernel.instructions {
        if instruction.exprs().into_iter().any(has_call) {
            let renamed: Instruction = instruction.map_exprs(&mut |expr| rename_in(expr, entry));
            *instruction = Arc::new(renamed);
        }
    }
    for rule in kernel.substitutions.values_mut() {
        rule.body = rename_in(&rule.body, entry);
    }
    kernel
}

fn has_call(expr: &Expr) -> bool {
    expr.any(&mut |expr| matches!(expr, Expr::Call(_)))
}

fn rename_in(expr: &Expr, entry: &dyn Fn(&Call) -> Option<Name>) -> Expr {
    let inside = expr.map_children(&mut |child| rename_in(child, entry));
    match (expr, &inside) {
        (Expr::Call(before), Expr::Call(call)) => match entry(before) {
            Some(function) => Expr::Call(Arc::new(Call { function, resolved: true, ..(**call).clone() })),
            None => inside,
        },
        _ => inside,
    }
}

/// The names of all functions that a program may call, for messages.
pub fn known_names(program: &Program) -> Vec<Name> {
    let builtin = target::names().chain(library::NAMES.iter().copied()).map(Name::from);
    let own = program.callables.iter().filter(|(_, callable)| callable.types().is_none()).map(|(name, _)| name.clone());
    builtin.chain(own).collect()
}
