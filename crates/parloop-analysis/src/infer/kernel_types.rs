//! The types of one kernel: types are inferred group by group in dependency order, then every call is specialised for its argument types.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::callable::{ArgId, ArgTypes, Callable, CallableError, InferError, Reason, TypeName, kernel_args, variables_of};
use parloop_ir::functions::symbol;
use parloop_ir::substitution::{called_rules, expand_calls, rule_call};
use parloop_ir::syntax::{
    ArgumentKind, Assignment, Call, CallInstruction, Expr, Instruction, InstructionKind, LoopKernel, Phase, Shape, Type,
};
use parloop_isl::Name;

use super::order::components;
use super::reader::{results, unknown_function};
use super::rules::{self, Environment};
use super::session::{Mode, Session};

/// The inference of one kernel.
pub(super) struct KernelTypes<'s, 'a> {
    session: &'s mut Session<'a>,
    kernel: LoopKernel,
    variables: HashMap<Name, Option<Type>>,
    /// Names whose types are being inferred together: they may be unknown where they depend on each other.
    group: BTreeSet<Name>,
    /// A name outside the group without a type, found by the last query.
    missing: Option<Name>,
    rule_depth: usize,
}

impl<'s, 'a> KernelTypes<'s, 'a> {
    pub(super) fn infer(session: &'s mut Session<'a>, kernel: &LoopKernel) -> Result<LoopKernel, InferError> {
        let kernel = if session.mode == Mode::Specialise { expand_calling_rules(kernel)? } else { kernel.clone() };
        let variables = variables_of(&kernel);
        let mut this = KernelTypes { session, kernel, variables, group: BTreeSet::new(), missing: None, rule_depth: 0 };
        this.take_index_types()?;
        let reasons = this.find_types()?;
        if this.session.mode == Mode::Specialise {
            this.check_unknown_functions()?;
            if let Some((name, reason)) = reasons.into_iter().next() {
                return Err(InferError::Undetermined { name, kernel: this.kernel.name.clone(), reason });
            }
        }
        this.finish()
    }

    /// Sizes without a type have the index type: parameters of domains, and numbers in shapes. Limits that the kernel computes have 64 bits
    /// where what they are computed from does: cut to fewer, they would be other limits.
    fn take_index_types(&mut self) -> Result<(), InferError> {
        let mut sizes: BTreeSet<Name> = self.kernel.domains.iter().flat_map(|domain| domain.params().iter().cloned()).collect();
        let arrays = self.kernel.arguments.iter().filter_map(|argument| match &argument.kind {
            ArgumentKind::Array { layout, .. } => Some(layout),
            _ => None,
        });
        for layout in arrays.chain(self.kernel.temporaries.values().map(|temporary| &temporary.layout)) {
            if let Shape::Known(lengths) = &layout.shape {
                sizes.extend(lengths.iter().flat_map(Expr::variables));
            }
        }
        let mut limits = Vec::new();
        for name in sizes {
            if let Some(ty @ None) = self.variables.get_mut(&name) {
                *ty = Some(Type::Scalar(self.kernel.index_type));
                if self.kernel.temporaries.contains_key(&name) {
                    limits.push(name);
                }
            }
        }
        self.widen(&limits)?;
        if let Some(default) = self.kernel.default_type {
            let written: BTreeSet<Name> = self.kernel.instructions.iter().flat_map(|instruction| instruction.writes()).collect();
            for argument in &self.kernel.arguments {
                if let Some(ty @ None) = self.variables.get_mut(&argument.name)
                    && !written.contains(&argument.name)
                {
                    *ty = Some(default.into());
                }
            }
        }
        Ok(())
    }

    /// Gives those of the variables 64 bits that would have them by their values alone.
    fn widen(&mut self, limits: &[Name]) -> Result<(), InferError> {
        let is_wide = |ty: &Option<Type>| matches!(ty, Some(Type::Scalar(DType::I64 | DType::U64)));
        if limits.is_empty() || self.kernel.index_type.size() == 8 || !self.variables.values().any(is_wide) {
            return Ok(());
        }
        let mut variables = self.variables.clone();
        self.variables.extend(limits.iter().map(|name| (name.clone(), None)));
        self.find_types()?;
        for name in limits.iter().filter(|name| self.variables.get(*name).is_some_and(is_wide)) {
            variables.insert(name.clone(), Some(DType::I64.into()));
        }
        self.variables = variables;
        Ok(())
    }

    /// Infers the types of all unknown names; returns the remaining ones with the reason.
    fn find_types(&mut self) -> Result<BTreeMap<Name, Reason>, InferError> {
        let mut unknown: Vec<Name> = self.variables.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| name.clone()).collect();
        unknown.sort();
        if unknown.is_empty() {
            return Ok(BTreeMap::new());
        }
        let place: HashMap<Name, usize> = unknown.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let mut writers: Vec<Vec<Arc<Instruction>>> = vec![Vec::new(); unknown.len()];
        let mut depends: Vec<Vec<usize>> = vec![Vec::new(); unknown.len()];
        for instruction in &self.kernel.instructions {
            let written: Vec<usize> = instruction.writes().iter().filter_map(|name| place.get(name).copied()).collect();
            if written.is_empty() {
                continue;
            }
            let reads: Vec<usize> = self.names_read(instruction).iter().filter_map(|name| place.get(name).copied()).collect();
            for name in written {
                writers[name].push(instruction.clone());
                depends[name].extend(&reads);
            }
        }
        let mut reasons = BTreeMap::new();
        for component in components(&depends) {
            self.group = component.iter().map(|&name| unknown[name].clone()).collect();
            for (name, reason) in self.find_group(&component, &unknown, &writers)? {
                reasons.insert(name, reason);
            }
        }
        self.group.clear();
        Ok(reasons)
    }

    /// The variables that the type of an instruction's result may depend on, including those in rules.
    fn names_read(&self, instruction: &Instruction) -> BTreeSet<Name> {
        let mut reads = BTreeSet::new();
        for expr in instruction.rhs() {
            reads.extend(expr.variables());
            for rule in called_rules(expr, &self.kernel.substitutions) {
                reads.extend(self.kernel.substitutions[&rule].body.variables());
            }
        }
        reads
    }

    /// Infers the types of names that depend on each other, by iterating to a fixed point.
    fn find_group(
        &mut self,
        group: &[usize],
        unknown: &[Name],
        writers: &[Vec<Arc<Instruction>>],
    ) -> Result<Vec<(Name, Reason)>, InferError> {
        if group.iter().all(|&place| writers[place].iter().all(|writer| self.only_feeds_itself(writer))) {
            return Ok(group.iter().map(|&place| (unknown[place].clone(), reason(&writers[place]))).collect());
        }
        // A type can be widened only a few times.
        for _ in 0..=2 * group.len() + 8 {
            let mut changed = false;
            for &place in group {
                let name = &unknown[place];
                let found = self.written_type(name, &writers[place])?;
                if let Some(missing) = self.missing.take() {
                    return Ok(group.iter().map(|&place| (unknown[place].clone(), Reason::MadeOf(missing.clone()))).collect());
                }
                if found.is_some() && self.variables.get(name) != Some(&found) {
                    self.variables.insert(name.clone(), found);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let left = group.iter().filter(|&&place| self.variables.get(&unknown[place]) == Some(&None));
        Ok(left.map(|&place| (unknown[place].clone(), reason(&writers[place]))).collect())
    }

    /// Whether the value an instruction writes uses only the group's names and literals, which do not determine their types:
    /// `x[i] = 2*x[i]`.
    fn only_feeds_itself(&self, writer: &Instruction) -> bool {
        // loopy takes the types of inames and literals.
        if self.kernel.options.loopy_arithmetic {
            return false;
        }
        let (InstructionKind::Assign(Assignment { rhs, .. }) | InstructionKind::Call(CallInstruction { rhs, .. })) = &writer.kind else {
            return true;
        };
        let reads = rhs.variables();
        let is_data = |name: &Name| !self.kernel.inames.contains_key(name) && !self.group.contains(name);
        reads.iter().any(|name| self.group.contains(name))
            && !reads.iter().any(is_data)
            && !rhs.any(&mut |inner| matches!(inner, Expr::Call(_) | Expr::Cast(..) | Expr::Compare(..)))
    }

    /// The common type of all values written to a name.
    fn written_type(&mut self, name: &Name, writers: &[Arc<Instruction>]) -> Result<Option<Type>, InferError> {
        let mut common = None;
        for instruction in writers {
            for (lhs, ty) in self.written_by(instruction)? {
                if lhs.written_name() == Some(name) && is_plain(lhs) {
                    common = rules::join(self, lhs, common, ty)?;
                }
            }
            if self.missing.is_some() {
                return Ok(None);
            }
        }
        Ok(common)
    }

    /// What an instruction writes, with the types of the values.
    fn written_by<'i>(&mut self, instruction: &'i Instruction) -> Result<Vec<(&'i Expr, Option<Type>)>, InferError> {
        match &instruction.kind {
            InstructionKind::Assign(Assignment { lhs, rhs, .. }) => Ok(vec![(lhs, rules::value(self, rhs)?)]),
            InstructionKind::Call(CallInstruction { lhs, rhs, .. }) => {
                let types = match rhs {
                    Expr::Call(call) if rule_call(rhs, &self.kernel.substitutions).is_none() => self.call_types(call, lhs)?,
                    rhs => rules::several(self, rhs)?,
                };
                let types = types.unwrap_or_default();
                Ok(lhs.iter().enumerate().map(|(place, lhs)| (lhs, types.get(place).cloned())).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The types of a call: those of its arguments and, for kernels, of the destinations of its results.
    fn argument_types(&mut self, call: &Call, lhs: &[Expr]) -> Result<ArgTypes, InferError> {
        let mut types = ArgTypes::new();
        for (place, arg) in call.args.iter().enumerate() {
            if let Some(ty) = self.argument_type(arg)? {
                types.insert(ArgId::argument(place), ty);
            }
        }
        for (name, arg) in &call.keywords {
            if let Some(ty) = self.argument_type(arg)? {
                types.insert(ArgId::Keyword(name.clone()), ty);
            }
        }
        if self.session.entries.get(&call.function).is_some_and(|callable| callable.kernel().is_some()) {
            for (place, lhs) in lhs.iter().enumerate() {
                let written = lhs.written_name().filter(|_| is_plain(lhs));
                if let Some(Some(ty)) = written.and_then(|name| self.variables.get(name)) {
                    types.insert(ArgId::result(place), ty.clone());
                }
            }
        }
        Ok(types)
    }

    /// Strings have no type, but may be arguments.
    fn argument_type(&mut self, arg: &Expr) -> Result<Option<Type>, InferError> {
        match arg {
            Expr::Literal(parloop_ir::syntax::Literal::Text(_)) => Ok(None),
            arg => rules::value(self, arg),
        }
    }

    fn call_types(&mut self, call: &Call, lhs: &[Expr]) -> Result<Option<Vec<Type>>, InferError> {
        let types = self.argument_types(call, lhs)?;
        if call.resolved {
            return self.session.probe(&call.function, types);
        }
        let Some(args) = positional(call, &types) else { return Ok(None) };
        match self.find_typed(&call.function, &args)? {
            Some(callable) => {
                let typed = callable.with_types(&types, self.session)?;
                Ok(typed.types().map(results).filter(|types| !types.is_empty()))
            }
            None if self.session.lenient => {
                self.missing.get_or_insert_with(|| call.function.clone());
                Ok(None)
            }
            None => Err(unknown_function(self.session.program, &self.kernel, &call.function)),
        }
    }

    /// The callable from look-ups by name and types.
    fn find_typed(&self, function: &Name, args: &[Type]) -> Result<Option<Arc<dyn Callable>>, InferError> {
        for lookup in self.session.program.lookups.iter().rev() {
            if let Some(found) = lookup.find_typed(self.session.target, function, args)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Checks that each function is known, at least to a look-up by types; done first, since nothing else is known about its results.
    fn check_unknown_functions(&mut self) -> Result<(), InferError> {
        let mut unresolved: Vec<Arc<Call>> = Vec::new();
        for instruction in &self.kernel.instructions {
            for expr in instruction.exprs() {
                expr.visit(&mut |expr| {
                    if let Expr::Call(call) = expr
                        && !call.resolved
                        && rule_call(expr, &self.kernel.substitutions).is_none()
                    {
                        unresolved.push(call.clone());
                    }
                });
            }
        }
        for call in unresolved {
            let types = self.argument_types(&call, &[]);
            self.missing = None;
            let args = types.ok().and_then(|types| positional(&call, &types));
            let found = args.map(|args| self.find_typed(&call.function, &args)).transpose()?.flatten();
            if found.is_none() {
                return Err(unknown_function(self.session.program, &self.kernel, &call.function));
            }
        }
        Ok(())
    }

    /// The kernel with the inferred types and, if requested, its calls specialised.
    fn finish(mut self) -> Result<LoopKernel, InferError> {
        let mut kernel = self.kernel.clone();
        for argument in &mut kernel.arguments {
            if argument.ty.is_none() {
                argument.ty = self.variables.get(&argument.name).cloned().flatten();
            }
        }
        for temporary in kernel.temporaries.values_mut() {
            if temporary.ty.is_none() {
                temporary.ty = self.variables.get(&temporary.name).cloned().flatten();
            }
        }
        if self.session.mode == Mode::Specialise {
            for instruction in &mut kernel.instructions {
                *instruction = Arc::new(self.specialise_instruction(instruction)?);
            }
            kernel.phase = kernel.phase.max(Phase::Typed);
        }
        Ok(kernel)
    }

    fn specialise_instruction(&mut self, instruction: &Instruction) -> Result<Instruction, InferError> {
        let whole;
        let instruction = match self.as_kernel_call(instruction) {
            Some(call) => {
                whole = call;
                &whole
            }
            None => instruction,
        };
        let changed = match &instruction.kind {
            InstructionKind::Call(call) => {
                let rhs = match &call.rhs {
                    Expr::Call(inner) => self.specialise_call(inner, &call.lhs)?,
                    rhs => self.specialise(rhs)?,
                };
                let lhs = call.lhs.iter().map(|lhs| self.specialise(lhs)).collect::<Result<_, _>>()?;
                let kind = InstructionKind::Call(CallInstruction { lhs, rhs, declares: call.declares.clone() });
                let predicates = instruction.predicates.iter().map(|predicate| self.specialise(predicate)).collect::<Result<_, _>>()?;
                Instruction { kind, predicates, ..instruction.clone() }
            }
            _ => instruction.try_map_exprs(&mut |expr| self.specialise(expr))?,
        };
        // Invalid operations in expressions that nothing depends on.
        for expr in changed.rhs() {
            self.check(expr)?;
        }
        for predicate in &changed.predicates {
            rules::condition(self, predicate)?;
        }
        self.check_destinations(&changed)?;
        Ok(changed)
    }

    /// Checks that destinations can hold what is stored: vectors and records are not numbers. No target updates them atomically.
    fn check_destinations(&mut self, instruction: &Instruction) -> Result<(), InferError> {
        for (lhs, from) in self.written_by(instruction)? {
            let (Some(to), Some(from)) = (rules::value(self, lhs)?, from) else { continue };
            let (kernel, lhs) = (self.kernel.name.clone(), lhs.to_string());
            let is_atomic = matches!(&instruction.kind, InstructionKind::Assign(assignment) if assignment.atomic.is_some());
            if is_atomic && (to.has_components() || self.is_component(instruction)) {
                let problem = "cannot be updated atomically; use an array of numbers";
                return Err(InferError::Components { expr: lhs, kernel, ty: TypeName(to).to_string(), problem });
            }
            if !rules::converts(&from, &to) {
                return Err(InferError::NoConversion { lhs, kernel, to: TypeName(to).to_string(), from: TypeName(from).to_string() });
            }
        }
        Ok(())
    }

    /// Whether an instruction writes to a component of a vector or record.
    fn is_component(&mut self, instruction: &Instruction) -> bool {
        let InstructionKind::Assign(Assignment { lhs: Expr::Lookup(aggregate, _), .. }) = &instruction.kind else { return false };
        matches!(rules::value(self, aggregate), Ok(Some(ty)) if ty.has_components())
    }

    /// `a = f(x)` with a kernel `f`, as a call instruction that writes `a`.
    fn as_kernel_call(&self, instruction: &Instruction) -> Option<Instruction> {
        let InstructionKind::Assign(Assignment { lhs, rhs: rhs @ Expr::Call(call), atomic: None, declares }) = &instruction.kind else {
            return None;
        };
        let is_kernel = call.resolved && self.session.entries.get(&call.function)?.kernel().is_some();
        let kind = CallInstruction { lhs: vec![lhs.clone()], rhs: rhs.clone(), declares: vec![declares.clone()] };
        is_kernel.then(|| Instruction { kind: InstructionKind::Call(kind), ..instruction.clone() })
    }

    fn check(&mut self, expr: &Expr) -> Result<(), InferError> {
        rules::several(self, expr).map(drop)
    }

    /// The expression with an entry for each call in it.
    fn specialise(&mut self, expr: &Expr) -> Result<Expr, InferError> {
        match expr {
            Expr::Literal(_) | Expr::Variable(_) => Ok(expr.clone()),
            Expr::Call(call) if rule_call(expr, &self.kernel.substitutions).is_none() => self.specialise_call(call, &[]),
            _ => expr.try_map_children(&mut |child| self.specialise(child)),
        }
    }

    fn specialise_call(&mut self, call: &Call, lhs: &[Expr]) -> Result<Expr, InferError> {
        let types = self.argument_types(call, lhs)?;
        let args = call.args.iter().map(|arg| self.specialise(arg)).collect::<Result<Vec<Expr>, _>>()?;
        let keywords =
            call.keywords.iter().map(|(name, arg)| Ok((name.clone(), self.specialise(arg)?))).collect::<Result<Vec<_>, InferError>>()?;
        let known = if call.resolved { self.session.entries.get(&call.function).cloned() } else { None };
        let callable = match known {
            Some(callable) => callable,
            None => {
                let args = positional(call, &types).unwrap_or_default();
                let found = self.find_typed(&call.function, &args)?;
                found.ok_or_else(|| unknown_function(self.session.program, &self.kernel, &call.function))?
            }
        };
        let typed = callable.with_types(&types, self.session)?;
        let (args, keywords) = match typed.kernel() {
            Some(callee) if !keywords.is_empty() => (by_position(callee, typed.name(), args, keywords)?, Vec::new()),
            _ => (args, keywords),
        };
        let function = self.session.entries.add(&call.function, typed);
        Ok(Expr::Call(Arc::new(Call { function, resolved: true, args, keywords })))
    }
}

impl Environment for KernelTypes<'_, '_> {
    fn kernel(&self) -> &LoopKernel {
        &self.kernel
    }

    fn variable(&mut self, name: &Name) -> Result<Option<Type>, InferError> {
        match self.variables.get(name) {
            Some(Some(ty)) => return Ok(Some(ty.clone())),
            Some(None) => {
                if !self.group.contains(name) {
                    self.missing.get_or_insert_with(|| name.clone());
                }
                return Ok(None);
            }
            None => {}
        }
        match symbol(self.session.program, Some(self.session.target), name)? {
            Some(symbol) => Ok(Some(symbol.ty)),
            None => Err(InferError::UnknownName { name: name.clone(), kernel: self.kernel.name.clone() }),
        }
    }

    fn call(&mut self, call: &Call) -> Result<Option<Vec<Type>>, InferError> {
        self.call_types(call, &[])
    }

    fn rule_depth(&mut self) -> &mut usize {
        &mut self.rule_depth
    }
}

/// Whether a left side is a variable or its elements, not a field of it.
fn is_plain(lhs: &Expr) -> bool {
    match lhs {
        Expr::Variable(_) | Expr::SubArray(_) => true,
        Expr::Subscript(aggregate, _) | Expr::LinearSubscript(aggregate, _) => matches!(**aggregate, Expr::Variable(_)),
        _ => false,
    }
}

fn reason(writers: &[Arc<Instruction>]) -> Reason {
    match writers {
        [] => Reason::NotWritten,
        writers if writers.iter().all(|instruction| matches!(instruction.kind, InstructionKind::C(_))) => Reason::OnlyC,
        _ => Reason::OnlyItself,
    }
}

/// The types of all positional arguments, if all are known and there are no keyword arguments.
fn positional(call: &Call, types: &ArgTypes) -> Option<Vec<Type>> {
    if !call.keywords.is_empty() {
        return None;
    }
    (0..call.args.len()).map(|place| types.get(&ArgId::argument(place)).cloned()).collect()
}

/// The arguments of a call to a kernel in order, with keyword arguments in their positions.
fn by_position(callee: &LoopKernel, function: &Name, args: Vec<Expr>, keywords: Vec<(Name, Expr)>) -> Result<Vec<Expr>, InferError> {
    let places = kernel_args(callee);
    let misfit = |reason: String| InferError::from(CallableError::Misfit { function: function.clone(), reason });
    let mut slots: Vec<Option<Expr>> = args.into_iter().map(Some).collect();
    slots.resize(slots.len().max(places.inputs.len()), None);
    for (name, value) in keywords {
        let input = places.inputs.iter().position(|place| callee.arguments[*place].name == name);
        match input.and_then(|input| slots.get_mut(input)) {
            Some(slot @ None) => *slot = Some(value),
            Some(Some(_)) => return Err(misfit(format!("argument `{name}` is given twice"))),
            None => return Err(misfit(format!("it has no argument `{name}`"))),
        }
    }
    let given = slots.iter().flatten().count();
    slots.into_iter().collect::<Option<Vec<Expr>>>().ok_or_else(|| {
        CallableError::ArgumentCount { function: function.clone(), takes: places.inputs.len().to_string(), found: given }.into()
    })
}

/// Expands the rules that call functions: one rule may be used with several types.
fn expand_calling_rules(kernel: &LoopKernel) -> Result<LoopKernel, InferError> {
    if kernel.substitutions.is_empty() {
        return Ok(kernel.clone());
    }
    let calls = |body: &Expr| body.any(&mut |expr| matches!(expr, Expr::Call(_)) && rule_call(expr, &kernel.substitutions).is_none());
    let calling: BTreeSet<&Name> = (kernel.substitutions.values())
        .filter(|rule| {
            calls(&rule.body)
                || called_rules(&rule.body, &kernel.substitutions).iter().any(|inner| calls(&kernel.substitutions[inner].body))
        })
        .map(|rule| &rule.name)
        .collect();
    if calling.is_empty() {
        return Ok(kernel.clone());
    }
    let mut expanded = kernel.clone();
    for instruction in &mut expanded.instructions {
        let id = instruction.id.clone();
        let expand = &mut |expr: &Expr| expand_calls(expr, &kernel.substitutions, &id, &|rule| calling.contains(rule));
        *instruction = Arc::new(instruction.try_map_exprs(expand)?);
    }
    expanded.substitutions.retain(|name, _| !calling.contains(name));
    Ok(expanded)
}
