//! From a program to code: the list of passes, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::parloop_transform as transform;
use parloop_analysis::dependence::Doubt;
use parloop_analysis::infer;
use parloop_codegen::check::{Bounds, CallBound, CheckError};
use parloop_codegen::lower::{self, Code, Lowered};
use parloop_codegen::schedule::{self, Schedule, ScheduleError};
use parloop_codegen::{check, target};
use parloop_device::DType;
use parloop_ir::affine::from_affine;
use parloop_ir::fold;
use parloop_ir::program::{Program, reachable};
use parloop_ir::syntax::{Argument, ArgumentKind, Expr, LoopKernel, Target, Type};
use parloop_isl::{Bound, Name};
use parloop_transform::reduce::{self, Realization};

use crate::error::LoopError;

/// A kernel with its code.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program after all passes.
    pub program: Program,
    /// The kernel that is called, after all passes.
    pub kernel: LoopKernel,
    /// When each of its instructions is run.
    pub schedule: Schedule,
    /// The tree that the source was written from.
    pub lowered: Lowered,
    /// Its source, and how it is launched.
    pub code: Code,
    /// The target.
    pub target: Target,
    /// Orders of instances that may be lost, depending on the data.
    pub doubts: BTreeSet<Doubt>,
    /// Errors that the options of the kernel turn into warnings.
    pub warnings: Vec<CheckError>,
    /// Indices that each call compares with the lengths of arrays.
    pub bounds: Vec<CallBound>,
    /// The program that it was made of, with the kernel as its only entry point.
    source: Program,
}

type Pass = fn(&Program, Target) -> Result<Program, LoopError>;

/// The passes of every program before it is scheduled.
const PREPARE: &[Pass] = &[
    expand_rules,
    inline_parallel_callees,
    infer_types,
    cut_quotients,
    realize_reductions,
    assign_local_axes,
    find_address_spaces,
    privatize,
    open_temporaries,
    infer_descriptors,
];

/// Resolves all names, infers all types, realises all reductions, and gives every temporary an address space.
///
/// # Errors
/// The error of the first failing pass.
pub fn prepare(program: &Program, target: Target) -> Result<Program, LoopError> {
    PREPARE.iter().try_fold(program.clone(), |program, pass| pass(&program, target))
}

fn inline_parallel_callees(program: &Program, _: Target) -> Result<Program, LoopError> {
    Ok(transform::inline_parallel_callees(program)?)
}

fn expand_rules(program: &Program, _: Target) -> Result<Program, LoopError> {
    Ok(program.expand_rules()?)
}

fn infer_types(program: &Program, target: Target) -> Result<Program, LoopError> {
    Ok(infer::types(program, target)?)
}

fn cut_quotients(program: &Program, _: Target) -> Result<Program, LoopError> {
    each_kernel(program, |kernel| Ok(transform::cut_quotients(program, kernel)))
}

fn realize_reductions(program: &Program, target: Target) -> Result<Program, LoopError> {
    let program = &each_kernel(program, |kernel| Ok(infer::wide_sums(program, kernel, None)))?;
    let realized = each_kernel(program, |kernel| {
        let type_of = |kernel: &LoopKernel, expr: &Expr| infer::type_of(program, kernel, expr).map_err(|error| error.to_string());
        let has_any = kernel.instructions.iter().any(|instruction| !instruction.reduction_inames().is_empty());
        has_any.then(|| reduce::realize(kernel, &Realization::default(), &type_of)).transpose().map_err(LoopError::from)
    })?;
    // Accumulators, and calls that were inside reductions, get their types.
    if realized == *program { Ok(realized) } else { infer_types(&realized, target) }
}

fn assign_local_axes(program: &Program, _: Target) -> Result<Program, LoopError> {
    each_kernel(program, |kernel| Ok(Some(schedule::assign_automatic_axes(kernel)?)))
}

fn find_address_spaces(program: &Program, _: Target) -> Result<Program, LoopError> {
    each_kernel(program, |kernel| Ok(Some(infer::address_spaces(kernel)?)))
}

fn privatize(program: &Program, _: Target) -> Result<Program, LoopError> {
    each_kernel(program, |kernel| Ok(Some(transform::privatize_for_concurrent_inames(kernel)?)))
}

/// A called kernel gets its memory from its caller, so it is done to a kernel that is called from outside alone.
fn open_temporaries(program: &Program, _: Target) -> Result<Program, LoopError> {
    let Ok(entry) = program.only_entry() else { return Ok(program.clone()) };
    each_kernel(program, |kernel| Ok(if kernel.name == *entry { infer::open_temporaries(kernel) } else { None }))
}

fn infer_descriptors(program: &Program, target: Target) -> Result<Program, LoopError> {
    Ok(infer::descriptors(program, target)?)
}

/// With each kernel that is called, from outside or by another, changed.
fn each_kernel(program: &Program, change: impl Fn(&LoopKernel) -> Result<Option<LoopKernel>, LoopError>) -> Result<Program, LoopError> {
    let mut changed = program.clone();
    for name in reachable(program)? {
        let Some(callable) = program.callables.get(&name) else { continue };
        let Some(kernel) = callable.kernel() else { continue };
        if let Some(kernel) = change(kernel)? {
            changed.callables.insert(name, callable.with_kernel(kernel));
        }
    }
    Ok(changed)
}

/// Generates the code of a kernel of the program, and of everything it calls.
///
/// # Errors
/// The error of the first failing pass.
pub fn generate(program: &Program, entry: &str, target: Target) -> Result<Generated, LoopError> {
    let mut only = program.clone();
    only.entrypoints.retain(|name| name == entry);
    if only.entrypoints.is_empty() {
        return Err(LoopError::NoEntry { names: program.entrypoints.iter().cloned().collect() });
    }
    let program = prepare(&only, target)?;
    let mut schedules = BTreeMap::new();
    let (mut doubts, mut own, mut bounds, mut warnings) = (BTreeSet::new(), BTreeSet::new(), Vec::new(), Vec::new());
    for name in reachable(&program)? {
        if let Some(kernel) = program.callables.get(&name).and_then(|callable| callable.kernel()) {
            let Bounds { in_calls, in_kernel } = check::before_schedule(&program, kernel)?;
            let written = only.callables.get(&name).and_then(|callable| callable.kernel());
            let mut scheduled = schedule::schedule(&program, kernel).map_err(|error| match (error, written) {
                (ScheduleError::Sequence(error), Some(written)) => ScheduleError::Sequence(error.in_terms_of(written)),
                (error, _) => error,
            })?;
            scheduled.guarded = in_kernel;
            bounds.extend(in_calls);
            let found = check::after_schedule(&program, &scheduled)?;
            if name == *entry {
                own.clone_from(&found.doubts);
            }
            doubts.extend(found.doubts);
            warnings.extend(found.warnings);
            schedules.insert(name, scheduled);
        }
    }
    let entry = Name::from(entry);
    let lowered = lower::lower(&program, &entry, &schedules, &own, target)?;
    let code = target::write(&lowered)?;
    let schedule = schedules.remove(&entry).ok_or_else(|| LoopError::NoEntry { names: Vec::new() })?;
    Ok(Generated { kernel: schedule.kernel.clone(), program, schedule, lowered, code, target, source: only, doubts, warnings, bounds })
}

/// A program that can be regenerated with 64-bit indices.
#[derive(Clone, Debug)]
pub(crate) struct Wider {
    source: Program,
    /// The types that arguments have with narrower indices.
    types: BTreeMap<Name, Option<Type>>,
    target: Target,
}

impl Wider {
    pub(crate) fn generate(&self) -> Result<Generated, LoopError> {
        let entry = self.source.only_entry()?.clone();
        let mut program = self.source.clone();
        for (name, callable) in &self.source.callables {
            let Some(kernel) = callable.kernel() else { continue };
            let mut kernel = LoopKernel { index_type: DType::I64, ..kernel.clone() };
            if *name == entry {
                for argument in kernel.arguments.iter_mut().filter(|argument| argument.ty.is_none()) {
                    argument.ty = self.types.get(&argument.name).cloned().flatten();
                }
            }
            program.callables.insert(name.clone(), callable.with_kernel(kernel));
        }
        generate(&program, &entry, self.target)
    }
}

/// Code generation as a method of programs.
pub trait Generate {
    /// The code of its kernel.
    ///
    /// # Errors
    /// If code cannot be generated; see [`LoopError`].
    fn generate(&self, target: Target) -> Result<Generated, LoopError>;
}

impl Generate for Program {
    fn generate(&self, target: Target) -> Result<Generated, LoopError> {
        generate(self, self.only_entry()?, target)
    }
}

impl Generated {
    /// The code of the same kernel with 64-bit indices, for sizes that need them. Arrays keep their types, and so do numbers whose type the
    /// user gave; other sizes take the index type.
    ///
    /// # Errors
    /// The error of the first failing pass.
    pub fn widened(&self) -> Result<Generated, LoopError> {
        self.wider().generate()
    }

    /// What [`widened`](Self::widened) needs.
    pub(crate) fn wider(&self) -> Wider {
        let index: Type = self.kernel.index_type.into();
        let keeps_type = |argument: &&Argument| !(argument.kind == ArgumentKind::Value && argument.ty.as_ref() == Some(&index));
        let types = self.kernel.arguments.iter().filter(keeps_type).map(|argument| (argument.name.clone(), argument.ty.clone()));
        Wider { source: self.source.clone(), types: types.collect(), target: self.target }
    }

    /// The first and the last value of an iname that the host loops over, in terms of the parameters and of the host loops `around` it.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn host_bounds(&self, iname: &Name, around: &[Name]) -> Result<(Expr, Expr), LoopError> {
        let bounds = lower::host_limits(&self.kernel, iname, around)?;
        let first = |bound: &Bound| {
            let up = Expr::int(bound.divisor - 1);
            fold::floor_divide(fold::add(from_affine(&bound.affine), up), Expr::int(bound.divisor))
        };
        let last = |bound: &Bound| fold::floor_divide(from_affine(&bound.affine), Expr::int(bound.divisor));
        let lower: Vec<Expr> = bounds.lower.iter().map(first).collect();
        let upper: Vec<Expr> = bounds.upper.iter().map(last).collect();
        Ok((Expr::Max(Arc::from(lower)), Expr::Min(Arc::from(upper))))
    }
}
