//! `inline_callable_kernel`: replaces calls to a kernel by its instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::callable::{CallableError, CallableKernel, InferError, extent, kernel_args, same_place};
use parloop_ir::fold;
use parloop_ir::functions::scope;
use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::program::{Program, called_by, reachable};
use parloop_ir::syntax::{
    Argument, ArgumentKind, CInstruction, Call, Expr, Iname, InameTag, Instruction, InstructionKind, Layout, Literal, LoopKernel, Origin,
    Reduction, SubArray, SyncScope, Temporary, TimeStep,
};
use parloop_isl::{Affine, IslError, Name, Set};

use super::merge::kernel_names;
use super::remove_unused_inames::remove_unused_inames;
use super::replace::InameError;

/// Why a kernel cannot be inlined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InlineError {
    /// No kernel has that name.
    #[error("the program has no kernel `{name}`{near}")]
    NoKernel {
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// The kernel calls itself.
    #[error("kernel `{kernel}` calls itself, so it cannot be inlined")]
    Recursive {
        /// The kernel.
        kernel: Name,
    },
    /// An argument is used in a way that part of the caller's array does not support.
    #[error(
        "argument `{argument}` of kernel `{kernel}` is used as `{used}`, which is not possible for the part `{part}` that the caller passes"
    )]
    Use {
        /// The kernel.
        kernel: Name,
        /// Its argument.
        argument: Name,
        /// How it is used.
        used: String,
        /// What is passed.
        part: String,
    },
    /// The array part that is passed has fewer elements than the kernel declares.
    #[error(
        "argument `{argument}` of kernel `{kernel}` has {declared} elements along axis {axis}, but the part `{part}` that the caller passes has \
         {found}; pass a longer part"
    )]
    ShortPart {
        /// The kernel.
        kernel: Name,
        /// Its argument.
        argument: Name,
        /// The axis, counted from 0.
        axis: usize,
        /// How long it is declared.
        declared: String,
        /// What is passed.
        part: String,
        /// How long that is.
        found: String,
    },
    /// The call does not match.
    #[error(transparent)]
    Callable(#[from] CallableError),
    /// The part of an array that is passed is not bounded.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// Inames that are not needed any more.
    #[error(transparent)]
    Iname(#[from] InameError),
    /// The solver.
    #[error(transparent)]
    Solver(#[from] IslError),
}

/// Replaces all calls to a kernel by its instructions; kernels that are no longer called are removed. The instructions keep the predicates
/// of the call, and run after what the call depends on and before what depends on it.
///
/// ```
/// use parloop_loop::create::KernelBuilder;
/// use parloop_loop::transform::{inline_callable_kernel, merge};
/// let twice = KernelBuilder::new().name("twice").domain("{[i]: 0<=i<4}").instructions("y[i] = 2*x[i]").build_function()?;
/// let caller = KernelBuilder::new().domain("{[i]: 0<=i<4}").instructions("[i]: b[i] = twice([i]: a[3-i])").build()?;
/// let inlined = inline_callable_kernel(&merge([&caller, &twice])?, "twice")?;
/// assert!(inlined.entry().unwrap().to_string().contains("b[twice_i] = 2*a[3 - twice_i]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`InlineError`].
pub fn inline_callable_kernel(program: &Program, name: &str) -> Result<Program, InlineError> {
    let program = scope(program)?;
    let is_meant = |entry: &Name| {
        *entry == *name || program.callables.get(entry).is_some_and(|callable| *callable.name() == *name && callable.types().is_some())
    };
    let known = program
        .kernel(name)
        .or_else(|| program.callables.iter().find(|(entry, _)| is_meant(entry)).and_then(|(_, callable)| callable.kernel()));
    if known.is_none() {
        return Err(InlineError::NoKernel { near: Near::of(name, kernel_names(&program)), name: name.into() });
    }
    let mut inlined = program.clone();
    for (entry, callable) in &program.callables {
        if let Some(caller) = callable.kernel()
            && called_by(caller).iter().any(is_meant)
        {
            if is_meant(entry) {
                return Err(InlineError::Recursive { kernel: name.into() });
            }
            inlined.callables.insert(entry.clone(), callable.with_kernel(inline_into(caller, &program, &is_meant)?));
        }
    }
    let still_called: BTreeSet<Name> = inlined.callables.values().filter_map(|callable| callable.kernel()).flat_map(called_by).collect();
    inlined.callables.retain(|entry, _| !is_meant(entry) || inlined.entrypoints.contains(entry) || still_called.contains(entry));
    Ok(inlined)
}

/// Inlines the called kernels that cannot stay functions: with a global barrier, which ends the launch, or with inames along hardware axes,
/// which are part of the launch.
///
/// # Errors
/// As [`inline_callable_kernel`], and kernels that call themselves.
pub fn inline_parallel_callees(program: &Program) -> Result<Program, InlineError> {
    let mut program = scope(program)?;
    loop {
        let order = reachable(&program).map_err(InferError::from)?;
        let called: BTreeSet<Name> = order.iter().filter_map(|name| program.kernel(name)).flat_map(called_by).collect();
        // Callees come first, so that what an inlined kernel brings is seen in its caller.
        match order.iter().find(|name| called.contains(*name) && program.kernel(name).is_some_and(needs_launch)) {
            Some(name) => program = inline_callable_kernel(&program, &name.clone())?,
            None => return Ok(program),
        }
    }
}

/// Whether a kernel can only be (part of) a launch.
fn needs_launch(kernel: &LoopKernel) -> bool {
    let ends_launch =
        |instruction: &Arc<Instruction>| matches!(instruction.kind, InstructionKind::Barrier { scope: SyncScope::Global, .. });
    let is_parallel = |iname: &Iname| iname.tags.iter().any(InameTag::is_parallel);
    kernel.instructions.iter().any(ends_launch) || kernel.inames.values().any(is_parallel)
}

/// The caller with each call of the meant entries replaced.
fn inline_into(caller: &LoopKernel, program: &Program, is_meant: &dyn Fn(&Name) -> bool) -> Result<LoopKernel, InlineError> {
    let mut kernel = caller.clone();
    let mut swept = BTreeSet::new();
    for instruction in &caller.instructions {
        let Some((lhs, call)) = as_call(instruction).filter(|(_, call)| call.resolved && is_meant(&call.function)) else {
            if let Some(function) = instruction.exprs().into_iter().find_map(|expr| called_inside(expr, is_meant)) {
                return Err(CallableError::KernelInExpression { function }.into());
            }
            continue;
        };
        let Some(callee) = program.kernel(&call.function) else { continue };
        swept.extend(instruction.sub_array_inames());
        kernel = Inlining::new(&kernel, callee, lhs, call)?.inline(instruction)?;
    }
    let swept: Vec<Name> = swept.into_iter().filter(|iname| kernel.inames.contains_key(iname)).collect();
    Ok(remove_unused_inames(&kernel, Some(&swept))?)
}

/// What is called, and where the results go, if the instruction is a call and nothing else.
fn as_call(instruction: &Instruction) -> Option<(&[Expr], &Call)> {
    match &instruction.kind {
        InstructionKind::Call(inner) => match &inner.rhs {
            Expr::Call(call) => Some((&inner.lhs, call)),
            _ => None,
        },
        InstructionKind::Assign(assignment) if assignment.atomic.is_none() => match &assignment.rhs {
            Expr::Call(call) => Some((std::slice::from_ref(&assignment.lhs), call)),
            _ => None,
        },
        _ => None,
    }
}

fn called_inside(expr: &Expr, is_meant: &dyn Fn(&Name) -> bool) -> Option<Name> {
    let mut found = None;
    expr.visit(&mut |expr| {
        if let Expr::Call(call) = expr
            && call.resolved
            && is_meant(&call.function)
        {
            found = Some(call.function.clone());
        }
    });
    found
}

/// An array of the caller's that stands for an argument: its indices, in which `inames` stand for the indices of the argument.
#[derive(Clone, Debug)]
struct Passed {
    array: Expr,
    inames: Vec<Name>,
    /// The first value of each iname.
    starts: Vec<Expr>,
    indices: Vec<Expr>,
    whole: Expr,
}

/// One call that is being replaced.
struct Inlining<'a> {
    caller: &'a LoopKernel,
    callee: &'a LoopKernel,
    /// Inames, temporaries and rules of the callee, as the caller calls them.
    names: BTreeMap<Name, Name>,
    ids: UniqueNames,
    arrays: BTreeMap<Name, Passed>,
    /// Numbers that are passed.
    values: BTreeMap<Name, Expr>,
    /// Numbers that bounds depend on and that are not an affine expression: temporaries of the caller hold them.
    held: Vec<(Name, Name, Expr)>,
}

impl<'a> Inlining<'a> {
    fn new(caller: &'a LoopKernel, callee: &'a LoopKernel, lhs: &[Expr], call: &Call) -> Result<Inlining<'a>, InlineError> {
        let places = kernel_args(callee);
        let mut args: Vec<Option<&Expr>> = call.args.iter().map(Some).collect();
        args.resize(args.len().max(places.inputs.len()), None);
        for (name, value) in &call.keywords {
            if let Some(input) = places.inputs.iter().position(|place| callee.arguments[*place].name == *name) {
                args[input] = Some(value);
            }
        }
        CallableKernel::of(callee.clone()).check_call(args.iter().flatten().count().max(call.args.len()), lhs.len())?;
        let mut names = UniqueNames::of_variables(caller);
        let own = callee.inames.keys().chain(callee.temporaries.keys()).chain(callee.substitutions.keys());
        let names_there: BTreeMap<Name, Name> = own.map(|name| (name.clone(), names.make(&format!("{}_{name}", callee.name)))).collect();
        let ids = UniqueNames::of_instructions(caller);
        let (arrays, values, held) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut this = Inlining { caller, callee, names: names_there, ids, arrays, values, held };
        let given = places.inputs.iter().zip(args.into_iter().flatten());
        for (place, passed) in given.chain(places.outputs.iter().zip(lhs)) {
            this.pass(*place, passed, &mut names)?;
        }
        this.check_lengths()?;
        Ok(this)
    }

    /// That no part is shorter than the argument that it is passed for: in the callee's place, its accesses are to the whole array.
    fn check_lengths(&self) -> Result<(), InlineError> {
        for argument in &self.callee.arguments {
            let ArgumentKind::Array { layout, .. } = &argument.kind else { continue };
            let (Some(lengths), Some(passed)) = (layout.lengths(), self.arrays.get(&argument.name)) else { continue };
            let Expr::SubArray(part) = &passed.whole else { continue };
            for (axis, (declared, iname)) in lengths.iter().zip(&part.inames).enumerate() {
                let found = extent(self.caller, iname, &part.array)?.length;
                let needed = declared.substitute(&self.values);
                let missing = to_affine(&needed).zip(to_affine(&found)).and_then(|(needed, found)| needed.sub(&found).ok());
                if missing.and_then(|missing| missing.as_constant()).is_some_and(|missing| missing > 0) {
                    return Err(InlineError::ShortPart {
                        kernel: self.callee.name.clone(),
                        argument: argument.name.clone(),
                        axis,
                        declared: declared.to_string(),
                        part: passed.whole.to_string(),
                        found: found.to_string(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Notes what stands for an argument.
    fn pass(&mut self, place: usize, passed: &Expr, names: &mut UniqueNames) -> Result<(), InlineError> {
        let argument = &self.callee.arguments[place];
        let bounds = |domain: &Set| domain.has_param(&argument.name);
        match (&argument.kind, passed) {
            (ArgumentKind::Array { .. }, passed) => {
                let part = self.passed_array(passed)?;
                if let Some(given) = self.arrays.get(&argument.name)
                    && !same_place(self.caller, &given.whole, passed)?
                {
                    return Err(CallableError::InPlace {
                        function: self.callee.name.clone(),
                        parameter: argument.name.clone(),
                        given: given.whole.to_string(),
                        taken: passed.to_string(),
                    }
                    .into());
                }
                self.arrays.insert(argument.name.clone(), part);
            }
            (_, passed) if to_affine(passed).is_none() && (self.callee.domains.iter().any(bounds) || bounds(&self.callee.assumptions)) => {
                let holder = names.make(&format!("{}_{}", self.callee.name, argument.name));
                self.values.insert(argument.name.clone(), Expr::Variable(holder.clone()));
                self.held.push((argument.name.clone(), holder, passed.clone()));
            }
            (_, passed) => drop(self.values.insert(argument.name.clone(), self.converted(argument, passed))),
        }
        Ok(())
    }

    /// A number that is passed, as the type that the argument is declared with; bounds want it as it is.
    fn converted(&self, argument: &Argument, passed: &Expr) -> Expr {
        let Some(declared) = &argument.ty else { return passed.clone() };
        let is_integer = declared.scalar().is_some_and(DType::is_integer);
        let same = match passed {
            Expr::Literal(Literal::Int(..)) => is_integer,
            Expr::Variable(name) if self.caller.inames.contains_key(name) => is_integer,
            Expr::Variable(name) => {
                let argument = self.caller.arguments.iter().find(|known| known.name == *name).and_then(|known| known.ty.as_ref());
                argument.or_else(|| self.caller.temporaries.get(name)?.ty.as_ref()).is_none_or(|ty| ty == declared)
            }
            other => is_integer && to_affine(other).is_some(),
        };
        if same { passed.clone() } else { Expr::Cast(declared.clone(), Arc::new(passed.clone())) }
    }

    fn passed_array(&self, passed: &Expr) -> Result<Passed, InlineError> {
        let whole = passed.clone();
        match passed {
            Expr::SubArray(part) => {
                let starts = part
                    .inames
                    .iter()
                    .map(|iname| Ok(extent(self.caller, iname, &part.array)?.start))
                    .collect::<Result<_, InlineError>>()?;
                let array = Expr::Variable(part.array.clone());
                Ok(Passed { array, inames: part.inames.clone(), starts, indices: part.indices.clone(), whole })
            }
            Expr::Subscript(array, indices) => {
                Ok(Passed { array: (**array).clone(), inames: Vec::new(), starts: Vec::new(), indices: indices.to_vec(), whole })
            }
            other => Ok(Passed { array: other.clone(), inames: Vec::new(), starts: Vec::new(), indices: Vec::new(), whole }),
        }
    }

    /// The caller with the callee's instructions in place of the call.
    fn inline(mut self, call: &Instruction) -> Result<LoopKernel, InlineError> {
        let mut kernel = self.caller.clone();
        self.add_names(&mut kernel, call)?;
        let prefix = self.callee.name.clone();
        let new_ids: BTreeMap<Name, Name> = self
            .callee
            .instructions
            .iter()
            .map(|instruction| (instruction.id.clone(), self.ids.make(&format!("{prefix}_{}", instruction.id))))
            .collect();
        let start = Instruction { id: self.ids.make(&format!("{prefix}_start")), kind: InstructionKind::Nop, ..call.clone() };
        let mut first = vec![start.clone()];
        first.extend(self.hold(call, &start));
        let before: BTreeSet<Name> = first.iter().map(|instruction| instruction.id.clone()).collect();
        let mut body = Vec::with_capacity(self.callee.instructions.len());
        for instruction in &self.callee.instructions {
            body.push(Arc::new(self.instruction(instruction, call, &new_ids, &before)?));
        }
        let end = Instruction {
            kind: InstructionKind::Nop,
            depends_on: new_ids.values().chain(&before).cloned().collect(),
            depends_on_is_final: true,
            ..call.clone()
        };
        let place = kernel.instructions.iter().position(|instruction| instruction.id == call.id).unwrap_or(0);
        let whole = first.into_iter().map(Arc::new).chain(body).chain([Arc::new(end)]);
        kernel.instructions.splice(place..=place, whole);
        kernel.phase = kernel.phase.min(self.callee.phase);
        Ok(kernel)
    }

    /// Assignments of numbers that bounds depend on, behind `start`.
    fn hold(&mut self, call: &Instruction, start: &Instruction) -> Vec<Instruction> {
        let held = std::mem::take(&mut self.held);
        let assign = |(_, holder, value): &(Name, Name, Expr)| {
            let id = self.ids.make(&format!("{holder}_hold"));
            let assigned = Instruction::assign(id, Expr::Variable(holder.clone()), value.clone());
            Instruction {
                depends_on: BTreeSet::from([start.id.clone()]),
                within_inames: call.within_inames.clone(),
                predicates: call.predicates.clone(),
                tags: call.tags.clone(),
                origin: Arc::new(Origin {
                    times: call.origin.times.iter().map(|time| time.then([TimeStep::At(-1)])).collect(),
                    ..Origin::default()
                }),
                ..assigned
            }
        };
        held.iter().map(assign).collect()
    }

    /// Adds the callee's domains, inames, temporaries, rules, assumptions, priorities and preambles.
    fn add_names(&self, kernel: &mut LoopKernel, call: &Instruction) -> Result<(), InlineError> {
        for domain in &self.callee.domains {
            kernel.domains.push(self.set(domain)?);
        }
        let of_caller = |name: &Name| !kernel.inames.contains_key(name) && !self.held.iter().any(|(_, holder, _)| holder == name);
        let assumed = self.set(&self.callee.assumptions)?;
        let inside: Vec<Name> = assumed.params().iter().filter(|name| !of_caller(name)).cloned().collect();
        let assumed = if inside.is_empty() { assumed } else { assumed.project_out(&inside)? };
        // Where the call is not made, nothing is assumed.
        if call.predicates.is_empty() {
            kernel.assumptions = kernel.assumptions.join(&assumed)?;
        }
        for (iname, facts) in &self.callee.inames {
            kernel.inames.insert(self.names[iname].clone(), facts.clone());
        }
        for temporary in self.callee.temporaries.values() {
            let name = self.names[&temporary.name].clone();
            let layout = self.layout(&temporary.layout)?;
            let base_storage = temporary.base_storage.as_ref().map(|storage| Name::from(format!("{}_{storage}", self.callee.name)));
            kernel.temporaries.insert(name.clone(), Temporary { name, layout, base_storage, ..temporary.clone() });
        }
        for (argument, holder, _) in &self.held {
            let declared = self.callee.arguments.iter().find(|known| known.name == *argument).and_then(|known| known.ty.clone());
            let ty = declared.or(Some(kernel.index_type.into()));
            kernel.temporaries.insert(holder.clone(), number(holder, ty));
        }
        for rule in self.callee.substitutions.values() {
            let mut rule = rule.clone();
            let parameters = rule.parameters.clone();
            rule.body = self.without(&parameters, |this| this.expr(&rule.body))?;
            rule.name = self.names[&rule.name].clone();
            kernel.substitutions.insert(rule.name.clone(), rule);
        }
        let chain = |chain: &Vec<Name>| chain.iter().map(|iname| self.names.get(iname).unwrap_or(iname).clone()).collect();
        kernel.priorities.extend(self.callee.priorities.iter().map(chain));
        kernel.preambles.extend(self.callee.preambles.iter().cloned());
        Ok(())
    }

    /// A set of the callee's in the caller's names.
    fn set(&self, set: &Set) -> Result<Set, InlineError> {
        // Arguments first get unique names, since the passed expressions may use the same names.
        let apart = |name: &Name| Name::from(format!("pl_passed_{name}"));
        let mut set = set.rename(&|name| match self.values.contains_key(name) {
            true => Some(apart(name)),
            false => self.names.get(name).cloned(),
        })?;
        for (argument, value) in &self.values {
            let value: Option<Affine> = to_affine(value);
            if let Some(value) = value
                && set.has_param(&apart(argument))
            {
                set = set.substitute(&apart(argument), &value)?;
            }
        }
        Ok(set)
    }

    fn layout(&self, layout: &Layout) -> Result<Layout, InlineError> {
        use parloop_ir::syntax::{DimTag, Offset, Shape, Stride};
        let mut layout = layout.clone();
        if let Shape::Known(lengths) = &mut layout.shape {
            for length in lengths {
                *length = self.expr(length)?;
            }
        }
        for tag in &mut layout.dim_tags {
            if let DimTag::Stride(Stride::Fixed(stride)) = tag {
                *stride = self.expr(stride)?;
            }
        }
        if let Offset::Given(offset) = &mut layout.offset {
            *offset = self.expr(offset)?;
        }
        Ok(layout)
    }

    /// An instruction of the callee's as one of the caller's.
    fn instruction(
        &self,
        instruction: &Instruction,
        call: &Instruction,
        ids: &BTreeMap<Name, Name>,
        before: &BTreeSet<Name>,
    ) -> Result<Instruction, InlineError> {
        let mut mapped = instruction.try_map_exprs(&mut |expr| self.expr(expr))?;
        if let InstructionKind::C(code) = &mut mapped.kind {
            code.reads = self.reads(code)?;
        }
        let id = |name: &Name| ids.get(name).unwrap_or(name).clone();
        let iname = |name: &Name| self.names.get(name).unwrap_or(name).clone();
        let label = |name: &Name| Name::from(format!("{}_{name}", self.callee.name));
        Ok(Instruction {
            id: id(&instruction.id),
            depends_on: instruction.depends_on.iter().map(id).chain(before.iter().cloned()).collect(),
            depends_on_is_final: true,
            nosync: instruction.nosync.iter().map(|(other, scope)| (id(other), *scope)).collect(),
            groups: instruction.groups.iter().map(label).chain(call.groups.iter().cloned()).collect(),
            conflicts: instruction.conflicts.iter().map(label).chain(call.conflicts.iter().cloned()).collect(),
            within_inames: instruction.within_inames.iter().map(iname).chain(call.within_inames.iter().cloned()).collect(),
            predicates: mapped.predicates.iter().chain(&call.predicates).cloned().collect(),
            tags: instruction.tags.iter().chain(&call.tags).cloned().collect(),
            origin: Arc::new(self.origin(instruction, call)),
            ..mapped
        })
    }

    /// When an instruction of the callee's ran: at its own time, at that of the call.
    fn origin(&self, instruction: &Instruction, call: &Instruction) -> Origin {
        let own: Vec<Name> = self.callee.inames.keys().map(|iname| self.names[iname].clone()).collect();
        let mut by = self.values.clone();
        by.extend(self.callee.inames.keys().map(|iname| (iname.clone(), Expr::Variable(self.names[iname].clone()))));
        let origin = instruction.origin.substitute(&by, &own).rename_variables(&self.names);
        let times = call.origin.times.iter().flat_map(|around| {
            origin.times.iter().map(|inside| {
                let mut time = around.then(inside.steps.iter().cloned());
                time.given.extend(inside.given.iter().cloned());
                time
            })
        });
        let around = |steps: &Vec<TimeStep>| {
            let loops = call.within_inames.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone())));
            loops.chain(steps.iter().cloned()).collect()
        };
        Origin {
            times: times.collect(),
            of: origin.of.iter().map(|(name, steps)| (name.clone(), around(steps))).collect(),
            copies: origin.copies_with(&Name::clone, &|steps| around(&steps.to_vec())),
            commutes: origin.commutes,
            lexical: call.origin.lexical.iter().chain(&origin.lexical).cloned().collect(),
        }
    }

    /// What text in C reads, in the caller's names.
    fn reads(&self, code: &CInstruction) -> Result<BTreeSet<Name>, InlineError> {
        let mut reads = BTreeSet::new();
        for name in &code.reads {
            match (self.arrays.get(name), self.values.get(name)) {
                (Some(passed), _) => reads.extend(passed.array.variables()),
                (_, Some(value)) => reads.extend(value.variables()),
                _ => drop(reads.insert(self.names.get(name).unwrap_or(name).clone())),
            }
        }
        Ok(reads)
    }

    /// An expression of the callee's in the caller's names.
    fn expr(&self, expr: &Expr) -> Result<Expr, InlineError> {
        match expr {
            Expr::Variable(name) => match (self.values.get(name), self.arrays.get(name)) {
                (Some(value), _) => Ok(value.clone()),
                (_, Some(passed)) => self.element(name, passed, &[], expr),
                _ => Ok(Expr::Variable(self.names.get(name).unwrap_or(name).clone())),
            },
            Expr::Subscript(aggregate, indices) => match &**aggregate {
                Expr::Variable(name) if self.arrays.contains_key(name) => {
                    let indices = indices.iter().map(|index| self.expr(index)).collect::<Result<Vec<Expr>, _>>()?;
                    self.element(name, &self.arrays[name], &indices, expr)
                }
                _ => expr.try_map_children(&mut |child| self.expr(child)),
            },
            Expr::LinearSubscript(aggregate, _) => match aggregate.written_name().and_then(|name| Some((name, self.arrays.get(name)?))) {
                Some((name, passed)) => Err(self.misuse(name, passed, expr)),
                None => expr.try_map_children(&mut |child| self.expr(child)),
            },
            Expr::SubArray(part) => self.sub_array(part, expr),
            Expr::Reduction(reduction) => {
                let inames = reduction.inames.iter().map(|iname| self.names.get(iname).unwrap_or(iname).clone()).collect();
                let operands = reduction.operands.iter().map(|operand| self.expr(operand)).collect::<Result<_, _>>()?;
                Ok(Expr::Reduction(Arc::new(Reduction { inames, operands, ..(**reduction).clone() })))
            }
            Expr::Call(call) if !call.resolved && self.callee.substitutions.contains_key(&call.function) => {
                let args = call.args.iter().map(|arg| self.expr(arg)).collect::<Result<_, _>>()?;
                Ok(Expr::Call(Arc::new(Call { function: self.names[&call.function].clone(), args, ..(**call).clone() })))
            }
            _ => expr.try_map_children(&mut |child| self.expr(child)),
        }
    }

    /// `argument[indices]` as an element of what is passed for it.
    fn element(&self, argument: &Name, passed: &Passed, indices: &[Expr], used: &Expr) -> Result<Expr, InlineError> {
        if indices.len() != passed.inames.len() {
            return Err(self.misuse(argument, passed, used));
        }
        let at = passed.inames.iter().zip(&passed.starts).zip(indices);
        let at: BTreeMap<Name, Expr> = at.map(|((iname, start), index)| (iname.clone(), fold::add(start.clone(), index.clone()))).collect();
        let shifted = passed.starts.iter().any(|start| *start != Expr::int(0));
        let plain = |index: Expr| if shifted { to_affine(&index).map_or(index, |affine| from_affine(&affine)) } else { index };
        let indices: Vec<Expr> = passed.indices.iter().map(|index| plain(index.substitute(&at))).collect();
        if indices.is_empty() { Ok(passed.array.clone()) } else { Ok(Expr::Subscript(Arc::new(passed.array.clone()), indices.into())) }
    }

    /// A part of an argument, or of a temporary, that the callee passes on.
    fn sub_array(&self, part: &SubArray, whole: &Expr) -> Result<Expr, InlineError> {
        let inames = part.inames.iter().map(|iname| self.names.get(iname).unwrap_or(iname).clone()).collect();
        let indices = part.indices.iter().map(|index| self.expr(index)).collect::<Result<Vec<Expr>, _>>()?;
        let Some(passed) = self.arrays.get(&part.array) else {
            let array = self.names.get(&part.array).unwrap_or(&part.array).clone();
            return Ok(Expr::SubArray(Arc::new(SubArray { inames, array, indices })));
        };
        match self.element(&part.array, passed, &indices, whole)? {
            Expr::Subscript(array, indices) => match &*array {
                Expr::Variable(array) => Ok(Expr::SubArray(Arc::new(SubArray { inames, array: array.clone(), indices: indices.to_vec() }))),
                _ => Err(self.misuse(&part.array, passed, whole)),
            },
            Expr::Variable(array) => Ok(Expr::SubArray(Arc::new(SubArray { inames, array, indices: Vec::new() }))),
            _ => Err(self.misuse(&part.array, passed, whole)),
        }
    }

    fn misuse(&self, argument: &Name, passed: &Passed, used: &Expr) -> InlineError {
        InlineError::Use {
            kernel: self.callee.name.clone(),
            argument: argument.clone(),
            used: used.to_string(),
            part: passed.whole.to_string(),
        }
    }

    /// With some names meaning themselves: parameters of rules.
    fn without<T>(&self, names: &[Name], work: impl FnOnce(&Inlining<'_>) -> T) -> T {
        let keep = |name: &Name| !names.contains(name);
        let inner = Inlining {
            caller: self.caller,
            callee: self.callee,
            names: self.names.iter().filter(|(name, _)| keep(name)).map(|(from, to)| (from.clone(), to.clone())).collect(),
            ids: UniqueNames::default(),
            arrays: (self.arrays.iter().filter(|(name, _)| keep(name))).map(|(name, passed)| (name.clone(), passed.clone())).collect(),
            values: self.values.iter().filter(|(name, _)| keep(name)).map(|(name, value)| (name.clone(), value.clone())).collect(),
            held: Vec::new(),
        };
        work(&inner)
    }
}

/// A number of the kernel's own.
fn number(name: &Name, ty: Option<parloop_ir::syntax::Type>) -> Temporary {
    Temporary {
        name: name.clone(),
        ty,
        layout: Layout::scalar(),
        space: None,
        initializer: None,
        read_only: false,
        base_storage: None,
        tags: BTreeSet::new(),
    }
}
