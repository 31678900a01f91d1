//! `register_function_lookup`, `register_callable`, `register_callable_kernel` and their older names: functions of the user.

use std::sync::Arc;

use parloop_ir::callable::{Callable, CallableError, CallableKernel, FunctionLookup};
use parloop_ir::functions::scope;
use parloop_ir::names::Near;
use parloop_ir::program::{Program, kernel_exprs};
use parloop_ir::syntax::{Call, Expr, InstructionKind, LoopKernel, Target};
use parloop_isl::Name;

/// Why a function cannot be registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is that of another function.
    #[error("`{name}` is already a different function of the program; choose another name, or allow it to be replaced")]
    Taken {
        /// The name.
        name: Name,
    },
    /// Programs for two targets.
    #[error("programs for {first} and {second} cannot be merged; set one target for both")]
    Targets {
        /// The one.
        first: Target,
        /// The other.
        second: Target,
    },
    /// No kernel has that name.
    #[error("the program has no kernel `{name}`{near}")]
    NoKernel {
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// A call does not match, or a look-up fails.
    #[error(transparent)]
    Callable(#[from] CallableError),
}

/// Adds a look-up, which takes precedence over all others; names that it knows are resolved immediately, including those of built-in
/// functions.
///
/// # Errors
/// Whatever keeps the look-up from answering.
pub fn register_function_lookup(program: &Program, lookup: Arc<dyn FunctionLookup>) -> Result<Program, RegisterError> {
    let mut registered = program.clone();
    for (name, callable) in &program.callables {
        if callable.is_builtin()
            && callable.types().is_none()
            && let Some(found) = lookup.find(program.target, name)?
        {
            registered.callables.insert(name.clone(), found);
        }
    }
    registered.lookups.push(lookup);
    Ok(scope(&registered)?)
}

/// [`register_function_lookup`] by its older name.
///
/// # Errors
/// As [`register_function_lookup`].
pub fn register_function_scoper(program: &Program, lookup: Arc<dyn FunctionLookup>) -> Result<Program, RegisterError> {
    register_function_lookup(program, lookup)
}

/// Adds a look-up by name and types, which is used only when types are known. Nothing is resolved until then. Deprecated in favour of
/// [`register_function_lookup`].
pub fn register_function_mangler(program: &Program, mangler: Arc<dyn FunctionLookup>) -> Program {
    let mut registered = program.clone();
    registered.lookups.push(mangler);
    registered
}

/// Registers a function under a name. A built-in function of that name is replaced; another one only if `replace`.
///
/// ```
/// use std::sync::Arc;
/// use parloop_device::DType;
/// use parloop_loop::callable::ScalarFunction;
/// use parloop_loop::create::KernelBuilder;
/// use parloop_loop::transform::register_callable;
/// let program = KernelBuilder::new().domain("{[i]: 0<=i<4}").instructions("y[i] = gauss(x[i])").build()?;
/// // SAFETY: the code is not run.
/// let gauss = unsafe { ScalarFunction::new("gauss").version([DType::F64.into()], [DType::F64.into()], "my_gauss") };
/// let program = register_callable(&program, "gauss", Arc::new(gauss), false)?;
/// assert!(program.callables.contains_key("gauss"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RegisterError::Taken`].
pub fn register_callable(program: &Program, name: &str, callable: Arc<dyn Callable>, replace: bool) -> Result<Program, RegisterError> {
    if let Some(known) = program.callables.get(name)
        && !replace
        && !known.is_builtin()
        && !known.is_same(&*callable)
    {
        return Err(RegisterError::Taken { name: name.into() });
    }
    let callable = match callable.kernel() {
        Some(kernel) if kernel.name != *name => callable.with_kernel(LoopKernel { name: name.into(), ..kernel.clone() }),
        _ => callable,
    };
    let mut registered = program.clone();
    registered.callables.insert(name.into(), callable);
    Ok(scope(&registered)?)
}

/// Registers a kernel for calls to `name`. Each such call must have as many arguments and results as the kernel.
///
/// # Errors
/// [`RegisterError::Taken`], and calls that do not match.
pub fn register_callable_kernel(program: &Program, name: &str, callee: &LoopKernel) -> Result<Program, RegisterError> {
    let kernel = CallableKernel::of(LoopKernel { name: name.into(), ..callee.clone() });
    for caller in program.callables.values().filter_map(|callable| callable.kernel()) {
        check_calls(caller, name, &kernel)?;
    }
    register_callable(program, name, Arc::new(kernel), false)
}

fn check_calls(caller: &LoopKernel, name: &str, callee: &CallableKernel) -> Result<(), CallableError> {
    let mut direct = 0;
    for instruction in &caller.instructions {
        let (results, rhs) = match &instruction.kind {
            InstructionKind::Assign(assignment) => (1, &assignment.rhs),
            InstructionKind::Call(call) => (call.lhs.len(), &call.rhs),
            _ => continue,
        };
        if let Expr::Call(call) = rhs
            && call.function == *name
        {
            direct += 1;
            callee.check_call(argument_count(call), results)?;
        }
    }
    let mut all = 0;
    for expr in kernel_exprs(caller) {
        expr.visit(&mut |expr| all += usize::from(matches!(expr, Expr::Call(call) if call.function == *name)));
    }
    if all > direct {
        return Err(CallableError::KernelInExpression { function: name.into() });
    }
    Ok(())
}

fn argument_count(call: &Call) -> usize {
    call.args.len() + call.keywords.len()
}
