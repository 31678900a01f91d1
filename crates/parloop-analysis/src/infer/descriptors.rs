//! Descriptors: the shape, strides and memory that each call passes, so that callees use the layouts of their callers.

use std::sync::Arc;

use parloop_ir::callable::{ArgDescriptor, ArgDescriptors, ArgId, CallSite, CallableError, InferError, Inference, part};
use parloop_ir::program::Program;
use parloop_ir::substitution::rule_call;
use parloop_ir::syntax::{ArgumentKind, Call, CallInstruction, Expr, Instruction, InstructionKind, Layout, LoopKernel, Phase, Target};
use parloop_isl::Set;

use super::reader::unknown_function;
use super::specialise::Entries;

/// Adds descriptors to every call in the kernels that entry points reach: called kernels get the layouts of their arguments, in separate
/// entries. Types and the address spaces of temporaries must already be known.
///
/// # Errors
/// [`InferError`]: parts of arrays without fixed strides, calls whose arguments do not match.
pub fn descriptors(program: &Program, target: Target) -> Result<Program, InferError> {
    let mut session = Session { program, target, entries: Entries::of(program), depth: 0, is_conditional: false, assumed: Vec::new() };
    for entry in &program.entrypoints {
        if let (Some(callable), Some(kernel)) = (program.callables.get(entry), program.kernel(entry)) {
            let described = session.describe(kernel)?;
            session.entries.replace(entry, callable.with_kernel(described));
        }
    }
    Ok(Program { callables: session.entries.finish(), ..program.clone() })
}

struct Session<'a> {
    program: &'a Program,
    target: Target,
    entries: Entries,
    /// How many kernels are being described, each called by the one before.
    depth: usize,
    /// Whether the current instruction is conditional.
    is_conditional: bool,
    /// What the entry point must assume for the kernels that it calls.
    assumed: Vec<Set>,
}

impl Inference for Session<'_> {
    fn target(&self) -> Target {
        self.target
    }

    fn kernel_types(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        Ok(kernel.clone())
    }

    fn kernel_descriptors(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError> {
        self.describe(kernel).map_err(|error| CallableError::Inside { function: kernel.name.clone(), error: Box::new(error) })
    }

    fn assume(&mut self, condition: &Set) -> bool {
        // Calls from outside must satisfy what the entry point assumes, and nothing else.
        let is_entry = self.depth == 1 && !self.is_conditional;
        if is_entry {
            self.assumed.push(condition.clone());
        }
        is_entry
    }
}

impl Session<'_> {
    fn describe(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, InferError> {
        let mut described = kernel.clone();
        self.depth += 1;
        for instruction in &mut described.instructions {
            if instruction.exprs().into_iter().any(|expr| expr.any(&mut |inner| matches!(inner, Expr::Call(_)))) {
                let before = std::mem::replace(&mut self.is_conditional, !instruction.predicates.is_empty());
                *instruction = Arc::new(self.instruction(kernel, instruction)?);
                self.is_conditional = before;
            }
        }
        self.depth -= 1;
        if self.depth == 0 {
            for condition in std::mem::take(&mut self.assumed) {
                described.assumptions = described.assumptions.join(&condition)?;
            }
        }
        described.phase = described.phase.max(Phase::Described);
        Ok(described)
    }

    fn instruction(&mut self, kernel: &LoopKernel, instruction: &Instruction) -> Result<Instruction, InferError> {
        let InstructionKind::Call(CallInstruction { lhs, rhs: Expr::Call(call), declares }) = &instruction.kind else {
            return instruction.try_map_exprs(&mut |expr| self.inside(kernel, expr));
        };
        let rhs = self.call(kernel, call, lhs)?;
        let lhs = lhs.iter().map(|lhs| self.inside(kernel, lhs)).collect::<Result<_, _>>()?;
        let predicates = instruction.predicates.iter().map(|predicate| self.inside(kernel, predicate)).collect::<Result<_, _>>()?;
        let kind = InstructionKind::Call(CallInstruction { lhs, rhs, declares: declares.clone() });
        Ok(Instruction { kind, predicates, ..instruction.clone() })
    }

    fn inside(&mut self, kernel: &LoopKernel, expr: &Expr) -> Result<Expr, InferError> {
        match expr {
            Expr::Call(call) if rule_call(expr, &kernel.substitutions).is_none() => self.call(kernel, call, &[]),
            _ => expr.try_map_children(&mut |child| self.inside(kernel, child)),
        }
    }

    fn call(&mut self, kernel: &LoopKernel, call: &Call, results: &[Expr]) -> Result<Expr, InferError> {
        let mut args = call.args.iter().map(|arg| self.inside(kernel, arg)).collect::<Result<Vec<Expr>, _>>()?;
        let callable = if call.resolved { self.entries.get(&call.function).cloned() } else { None };
        let callable = callable.ok_or_else(|| unknown_function(self.program, kernel, &call.function))?;
        if callable.descriptors().is_some() {
            // Described before: what it needs from its caller is already among the arguments.
            return Ok(Expr::Call(Arc::new(Call { args, ..call.clone() })));
        }
        let mut descriptors = ArgDescriptors::new();
        for (place, arg) in args.iter().enumerate() {
            descriptors.insert(ArgId::argument(place), descriptor(kernel, arg)?);
        }
        for (name, arg) in &call.keywords {
            descriptors.insert(ArgId::Keyword(name.clone()), descriptor(kernel, arg)?);
        }
        for (place, result) in results.iter().enumerate() {
            let descriptor = match callable.kernel() {
                Some(_) => result_descriptor(kernel, result)?,
                None => descriptor(kernel, result)?,
            };
            descriptors.insert(ArgId::result(place), descriptor);
        }
        let site = CallSite { target: self.target, kernel, args: &args, results };
        let described = callable.with_descriptors(&descriptors, &site, self)?;
        args.extend(described.added_arguments().iter().map(|name| Expr::Variable(name.clone())));
        let function = self.entries.add(&call.function, described);
        Ok(Expr::Call(Arc::new(Call { function, resolved: true, args, keywords: call.keywords.clone() })))
    }
}

/// What a callee must know about an argument or result.
fn descriptor(kernel: &LoopKernel, arg: &Expr) -> Result<ArgDescriptor, InferError> {
    match arg {
        Expr::SubArray(sub_array) => {
            let part = part(kernel, sub_array)?;
            Ok(ArgDescriptor::Array { space: part.space, layout: part.layout })
        }
        Expr::Variable(name) if is_array(kernel, name) => Err(InferError::NoValue {
            expr: name.to_string(),
            kernel: kernel.name.clone(),
            hint: "pass a part of the array, such as `[i]: a[i]` or `a[:]`",
        }),
        _ => Ok(ArgDescriptor::Value),
    }
}

/// What a called kernel must know about a result: a number is an array without axes.
fn result_descriptor(kernel: &LoopKernel, result: &Expr) -> Result<ArgDescriptor, InferError> {
    match (descriptor(kernel, result)?, result.written_name()) {
        (ArgDescriptor::Value, Some(name)) => {
            let space = match kernel.temporaries.get(name) {
                Some(temporary) => temporary.space,
                None => kernel.arguments.iter().find(|argument| argument.name == *name).and_then(|argument| match &argument.kind {
                    ArgumentKind::Array { space, .. } => Some(*space),
                    _ => None,
                }),
            };
            Ok(ArgDescriptor::Array { space, layout: Layout::scalar() })
        }
        (descriptor, _) => Ok(descriptor),
    }
}

fn is_array(kernel: &LoopKernel, name: &str) -> bool {
    let layout = match kernel.temporaries.get(name) {
        Some(temporary) => Some(&temporary.layout),
        None => kernel.arguments.iter().find(|argument| argument.name == *name).and_then(|argument| match &argument.kind {
            ArgumentKind::Array { layout, .. } => Some(layout),
            _ => None,
        }),
    };
    layout.is_some_and(|layout| layout.axis_count().is_some_and(|axes| axes > 0))
}
