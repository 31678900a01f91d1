//! Types of expressions in kernels whose names and calls have types, for passes after inference.

use std::collections::HashMap;

use parloop_ir::callable::{ArgId, ArgTypes, CallableError, InferError, Inference, Reason};
use parloop_ir::functions::{known_names, symbol};
use parloop_ir::names::Near;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Argument, ArgumentKind, Call, Expr, LoopKernel, Target, Type};
use parloop_isl::Name;

use super::rules::{self, Environment};

/// The type of an expression of a kernel that is typed; for many expressions keep a [`TypeReader`].
///
/// # Errors
/// [`InferError`] for names and calls that have no type, and for invalid operations.
pub fn type_of(program: &Program, kernel: &LoopKernel, expr: &Expr) -> Result<Type, InferError> {
    TypeReader::new(program, kernel).type_of(expr)
}

/// The type of an expression, if it is known and does not depend on the context: literals have no type of their own.
pub fn strong_type_of(program: &Program, kernel: &LoopKernel, expr: &Expr) -> Option<Type> {
    rules::strong_value(&mut TypeReader::new(program, kernel), expr).ok()?
}

/// Computes the types of one kernel's expressions.
#[derive(Debug)]
pub struct TypeReader<'a> {
    program: &'a Program,
    kernel: &'a LoopKernel,
    /// Types that were declared, or computed before.
    known: HashMap<Name, Type>,
    /// How many rules are being expanded.
    depth: usize,
}

/// The result of [`variables_of`](parloop_ir::callable::variables_of) for one name.
fn variable_of(kernel: &LoopKernel, name: &Name) -> Option<Option<Type>> {
    let index = || Some(Some(Type::Scalar(kernel.index_type)));
    if kernel.inames.contains_key(name) {
        return index();
    }
    if let Some(temporary) = kernel.temporaries.get(name) {
        return Some(temporary.ty.clone());
    }
    if let Some(argument) = kernel.arguments.iter().find(|argument| argument.name == *name) {
        return Some(argument.ty.clone());
    }
    let is_hidden = |argument: &Argument| match &argument.kind {
        ArgumentKind::Array { layout, .. } => layout.hidden_parameters(&argument.name).iter().any(|(hidden, _)| hidden == name),
        _ => false,
    };
    if kernel.domains.iter().any(|domain| domain.has_param(name)) || kernel.arguments.iter().any(is_hidden) {
        return index();
    }
    None
}

impl<'a> TypeReader<'a> {
    /// For the expressions of that kernel.
    pub fn new(program: &'a Program, kernel: &'a LoopKernel) -> TypeReader<'a> {
        TypeReader { program, kernel, known: HashMap::new(), depth: 0 }
    }

    /// Sets the type of a name, which need not be in the kernel.
    pub fn declare(&mut self, name: Name, ty: Type) {
        self.known.insert(name, ty);
    }

    /// The type of one value.
    ///
    /// # Errors
    /// As [`type_of`].
    pub fn type_of(&mut self, expr: &Expr) -> Result<Type, InferError> {
        rules::value(self, expr)?.ok_or_else(|| InferError::NoValue {
            expr: expr.to_string(),
            kernel: self.kernel.name.clone(),
            hint: "it has no type; infer the types first",
        })
    }

    /// The types of a call or reduction that may have several results.
    ///
    /// # Errors
    /// As [`type_of`].
    pub fn types_of(&mut self, expr: &Expr) -> Result<Vec<Type>, InferError> {
        rules::several(self, expr)?.ok_or_else(|| InferError::NoValue {
            expr: expr.to_string(),
            kernel: self.kernel.name.clone(),
            hint: "it has no type; infer the types first",
        })
    }
}

impl Environment for TypeReader<'_> {
    fn kernel(&self) -> &LoopKernel {
        self.kernel
    }

    fn variable(&mut self, name: &Name) -> Result<Option<Type>, InferError> {
        if let Some(ty) = self.known.get(name) {
            return Ok(Some(ty.clone()));
        }
        match variable_of(self.kernel, name) {
            Some(Some(ty)) => {
                self.known.insert(name.clone(), ty.clone());
                return Ok(Some(ty));
            }
            Some(None) => {
                let reason = Reason::NotWritten;
                return Err(InferError::Undetermined { name: name.clone(), kernel: self.kernel.name.clone(), reason });
            }
            None => {}
        }
        match symbol(self.program, self.program.target, name)? {
            Some(symbol) => Ok(Some(symbol.ty)),
            None => Err(InferError::UnknownName { name: name.clone(), kernel: self.kernel.name.clone() }),
        }
    }

    fn call(&mut self, call: &Call) -> Result<Option<Vec<Type>>, InferError> {
        let callable = call.resolved.then(|| self.program.callables.get(&call.function)).flatten();
        let callable = callable.ok_or_else(|| unknown_function(self.program, self.kernel, &call.function))?;
        if callable.types().is_some() || callable.kernel().is_some() {
            return Ok(callable.types().map(results));
        }
        // Not specialised yet, because only some types are known: the function decides.
        let mut types = ArgTypes::new();
        for (place, arg) in call.args.iter().enumerate() {
            if let Some(ty) = rules::value(self, arg)? {
                types.insert(ArgId::argument(place), ty);
            }
        }
        let typed = callable.with_types(&types, &mut Alone(self.program.target.unwrap_or(Target::C)))?;
        Ok(typed.types().map(results).filter(|types| !types.is_empty()))
    }

    fn rule_depth(&mut self) -> &mut usize {
        &mut self.depth
    }
}

/// Services for functions that are not kernels.
struct Alone(Target);

impl Inference for Alone {
    fn target(&self) -> Target {
        self.0
    }

    fn kernel_types(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        Ok(kernel.clone())
    }

    fn kernel_descriptors(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        Ok(kernel.clone())
    }
}

/// The types of the results among those of a call.
pub(super) fn results(types: &ArgTypes) -> Vec<Type> {
    (0..).map_while(|place| types.get(&ArgId::result(place)).cloned()).collect()
}

/// The error for an unknown function, with similar names.
pub(super) fn unknown_function(program: &Program, kernel: &LoopKernel, function: &Name) -> InferError {
    let near = Near::of(function, &known_names(program));
    InferError::UnknownFunction { function: function.clone(), kernel: kernel.name.clone(), near }
}
