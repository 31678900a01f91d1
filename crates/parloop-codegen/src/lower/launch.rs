//! Functions: parameters, variables, hardware axes, and a body for each launch of a schedule and for each kernel that is called.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use parloop_analysis::dependence::Doubt;
use parloop_ir::affine::to_affine;
use parloop_ir::fold::as_int;
use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, ClassSource, Expr, Preamble, Target, Type};
use parloop_isl::{Affine, Constraint, ConstraintKind, Name};

use super::array::Copies;
use super::bounds::{host_limits, limit_facts};
use super::cpu::{self, Item, first_loop_axis, group_axis, local_axis};
use super::data::{self, Data};
use super::domains::Domains;
use super::nest::MOST_COPIES;
use super::scope::Scope;
use super::shadow::Shadow;
use super::shared::{Schedules, Shared};
use super::tree::{Axis, Function, FunctionKind, Op, ParamSource, Statement, Value, ValueKind, constant, mentions, value_param};
use super::{GlobalTemporary, LaunchCode, LowerError, Lowered, number, reserved};
use crate::schedule::{Launch, Schedule};

/// Builds the tree of an entry point and of everything it calls.
///
/// `schedules` has one for the entry and for each kernel that is called, by its name among the program's callables.
///
/// In checked mode on a CPU, accesses of the entry point to the variables of `doubts` are watched.
///
/// # Errors
/// If something cannot be expressed in the target's language.
pub fn lower(
    program: &Program,
    entry: &Name,
    schedules: &Schedules,
    doubts: &BTreeSet<Doubt>,
    target: Target,
) -> Result<Lowered, LowerError> {
    let schedule = schedules.get(entry).ok_or_else(|| LowerError::NotScheduled { kernel: entry.clone() })?;
    let mut shared = Shared { shadow: Shadow::of(&schedule.kernel, doubts, target), ..Shared::default() };
    reserved::check(&schedule.kernel, target)?;
    let mut launches = Vec::new();
    let mut globals: Vec<GlobalTemporary> = Vec::new();
    for launch in &schedule.launches {
        let function = function(program, schedules, schedule, launch, target, &mut shared)?;
        for global in data::globals(&schedule.kernel, &function.params, target)? {
            if globals.iter().all(|known| known.name != global.name) {
                globals.push(global);
            }
        }
        launches.push(LaunchCode {
            function: function.name.clone(),
            params: function.params.clone(),
            groups: launch.groups.clone(),
            group_size: launch.group_size.clone(),
        });
        if target == Target::Ispc && !launch.groups.is_empty() {
            shared.functions.extend(as_task(program, schedules, schedule, launch, function)?);
        } else {
            shared.functions.push(function);
        }
    }
    let shadow = shared.shadow.as_ref().map(|shadow| {
        let (functions, code) = shadow.functions(&schedule.kernel.name);
        shared.functions.extend(functions);
        code
    });
    shared.preambles.extend(schedule.kernel.preambles.iter().cloned());
    // SAFETY: whoever gave the functions of the class vouched for them.
    let of_class = |source: ClassSource| unsafe { Preamble::new(format!("class {}", source.class()), source.text()) };
    let preambles = shared.classes.into_iter().map(of_class).chain(shared.preambles).collect();
    let (tables, functions, check_sites, language) = (shared.tables, shared.functions, shared.sites, shared.language);
    let records = shared.records;
    Ok(Lowered { target, language, preambles, records, tables, functions, launches, globals, check_sites, shadow })
}

/// For a language that launches tasks itself: the task, and the function that launches it.
fn as_task(
    program: &Program,
    schedules: &Schedules,
    schedule: &Schedule,
    launch: &Launch,
    function: Function,
) -> Result<[Function; 2], LowerError> {
    let mut none = Shared::default();
    let kernel = &schedule.kernel;
    let mut scope = scope(program, schedules, schedule, Target::Ispc, &mut none)?;
    let data = Data::of(kernel, Target::Ispc, scope.shared)?;
    scope.numbers.extend(data.numbers);
    let groups = launch.groups.iter().map(|size| scope.index(size)).collect::<Result<Vec<_>, _>>()?;
    let task: Name = format!("{}_task", function.name).into();
    let args = function.params.iter().map(|param| param.name.clone()).collect();
    let body = vec![Statement::Launch { function: task.clone(), groups, args }];
    let size = known_sizes(launch);
    let caller = Function { name: function.name.clone(), kind: FunctionKind::Launched(Vec::new()), params: function.params.clone(), body };
    Ok([Function { name: task, kind: FunctionKind::Task(size), ..function }, caller])
}

/// The function of a launch.
fn function(
    program: &Program,
    schedules: &Schedules,
    schedule: &Schedule,
    launch: &Launch,
    target: Target,
    shared: &mut Shared,
) -> Result<Function, LowerError> {
    let kernel = &schedule.kernel;
    let mut scope = scope(program, schedules, schedule, target, shared)?;
    scope.group_size.clone_from(&launch.group_size);
    let mut data = Data::of(kernel, target, scope.shared)?;
    scope.arrays.extend(std::mem::take(&mut data.arrays));
    scope.numbers.extend(std::mem::take(&mut data.numbers));
    scope.find_lengths();
    scope.shadow.clone_from(&scope.shared.shadow);
    for (depth, iname) in launch.host_inames.iter().enumerate() {
        scope.host_iname(iname, &launch.host_inames[..depth])?;
    }
    if target == Target::Ispc && known_sizes(launch).contains(&None) {
        let what = "the length of an iname on a local axis is only known when the kernel is called; split the iname or fix its parameters"
            .to_owned();
        return Err(LowerError::Unsupported { target, what });
    }
    let items = scope.arrange(launch)?;
    let body = scope.parallel(launch, &items, &data)?;
    let mut params = data::argument_params(kernel, true)?;
    params.extend(data::hidden_params(kernel, &body));
    params.extend(data::temporary_params(kernel, &body)?);
    for iname in &launch.host_inames {
        params.push(value_param(iname, kernel.index_type.into(), ParamSource::HostIname(iname.clone())));
    }
    Ok(Function { name: launch.name.clone(), kind: FunctionKind::Launched(known_sizes(launch)), params, body })
}

/// The group size along each axis, where it is a number.
fn known_sizes(launch: &Launch) -> Vec<Option<u64>> {
    launch.group_size.iter().map(|size| u64::try_from(as_int(size)?).ok()).collect()
}

/// Makes the function of a kernel that is called, and of those that it calls.
pub(super) fn called_function(
    program: &Program,
    schedules: &Schedules,
    callable: &Name,
    name: &Name,
    target: Target,
    shared: &mut Shared,
) -> Result<(), LowerError> {
    if !shared.called.insert(callable.clone()) {
        return Ok(());
    }
    let schedule = schedules.get(callable).ok_or_else(|| LowerError::NotScheduled { kernel: callable.clone() })?;
    let [launch] = schedule.launches.as_slice() else {
        let what = format!("kernel `{callable}` has a global barrier, so another kernel cannot call it; inline it");
        return Err(LowerError::Unsupported { target, what });
    };
    let kernel = &schedule.kernel;
    reserved::check(kernel, target)?;
    if matches!(target, Target::C | Target::Ispc) && !launch.group_size.is_empty() {
        let what = format!("the called kernel `{callable}` has parallel inames; inline it, or untag them");
        return Err(LowerError::Unsupported { target, what });
    }
    let mut scope = scope(program, schedules, schedule, target, shared)?;
    scope.group_size.clone_from(&launch.group_size);
    let mut data = Data::of(kernel, target, scope.shared)?;
    scope.arrays.extend(std::mem::take(&mut data.arrays));
    scope.numbers.extend(std::mem::take(&mut data.numbers));
    let items = cpu::as_scheduled(&launch.body);
    let body = scope.parallel(launch, &items, &data)?;
    let params = data::argument_params(kernel, false)?;
    shared.preambles.extend(kernel.preambles.iter().cloned());
    shared.functions.push(Function { name: name.clone(), kind: FunctionKind::Called, params, body });
    Ok(())
}

fn scope<'a>(
    program: &'a Program,
    schedules: &'a Schedules,
    schedule: &'a Schedule,
    target: Target,
    shared: &'a mut Shared,
) -> Result<Scope<'a>, LowerError> {
    let kernel = &schedule.kernel;
    let mut domains = Domains::of(kernel);
    let data_inames = domains.data_inames()?;
    let assumptions = match kernel.assumptions.pieces() {
        [piece] => piece.clone(),
        _ => Vec::new(),
    };
    Ok(Scope {
        program,
        schedules,
        kernel,
        target,
        instructions: kernel.instructions.iter().map(|instruction| (&instruction.id, instruction)).collect(),
        domains,
        data_inames,
        arrays: HashMap::new(),
        numbers: HashMap::new(),
        inames: HashMap::new(),
        active: BTreeSet::new(),
        not_negative: not_negative(&assumptions),
        facts: assumptions,
        axis_index: BTreeMap::new(),
        group_size: Vec::new(),
        names: UniqueNames::of_variables(kernel),
        hoisted: Vec::new(),
        conditional: 0,
        copies: 1,
        copied: None,
        open_loops: Vec::new(),
        instruction: kernel.name.clone(),
        guarded: &schedule.guarded,
        shadow: None,
        group: None,
        shared,
    })
}

/// The names that constraints say are not negative.
fn not_negative(constraints: &[Constraint]) -> HashSet<Name> {
    let says = |constraint: &Constraint| {
        let mut terms = constraint.affine.terms();
        let (Some((parloop_isl::Atom::Name(name), 1..)), None) = (terms.next(), terms.next()) else { return None };
        let holds = constraint.kind == ConstraintKind::NotNegative || constraint.kind == ConstraintKind::Zero;
        (holds && constraint.affine.constant_term() <= 0).then(|| name.clone())
    };
    constraints.iter().filter_map(says).collect()
}

impl Scope<'_> {
    /// For an iname of a host loop, only what the host ensures holds here.
    fn host_iname(&mut self, iname: &Name, around: &[Name]) -> Result<(), LowerError> {
        self.facts.extend(limit_facts(iname, &host_limits(self.kernel, iname, around)?)?);
        self.active.insert(iname.clone());
        self.numbers.insert(iname.clone(), self.kernel.index_type.into());
        Ok(())
    }

    fn arrange(&mut self, launch: &Launch) -> Result<Vec<Item>, LowerError> {
        self.copy_for_concurrent_inames(launch)?;
        let Some(first) = first_loop_axis(self.target).filter(|_| !launch.group_size.is_empty()) else {
            return Ok(cpu::as_scheduled(&launch.body));
        };
        let sizes = known_sizes(launch);
        let arranged = cpu::arrange(self.kernel, &launch.body, &self.instructions, &sizes, first, self.shadow.is_some());
        for (name, axes) in arranged.widened {
            let Some(array) = self.arrays.get_mut(&name) else { continue };
            for axis in axes {
                let Some(length) = sizes.get(usize::from(axis)).copied().unwrap_or(Some(1)) else {
                    let what = format!(
                        "`{name}` needs a copy for each work item along l.{axis}, but their number `{}` is only known when the kernel is called; \
                         split the iname or fix its parameters",
                        launch.group_size[usize::from(axis)]
                    );
                    return Err(LowerError::Unsupported { target: self.target, what });
                };
                array.widened.push((Copies::Axis(axis), length));
            }
        }
        Ok(arranged.items)
    }

    /// Private temporaries that are only used within an iname whose values run concurrently (`ilp`, `vec`) get a copy for each value.
    fn copy_for_concurrent_inames(&mut self, launch: &Launch) -> Result<(), LowerError> {
        let runs_at_once = |iname: &Name| {
            let tags = self.kernel.inames.get(iname).map(|iname| &iname.tags);
            tags.is_some_and(|tags| tags.iter().any(|tag| tag.is_concurrent() && !tag.is_parallel()))
        };
        let mut found: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for id in launch.instructions() {
            let Some(instruction) = self.instructions.get(id) else { continue };
            for name in instruction.reads().into_iter().chain(instruction.writes()) {
                let Some(temporary) = self.kernel.temporaries.get(&name) else { continue };
                if temporary.space.is_some_and(|space| space != AddressSpace::Private) || temporary.read_only {
                    continue;
                }
                let mut within: BTreeSet<Name> = instruction.within_inames.iter().filter(|iname| runs_at_once(iname)).cloned().collect();
                let indexed: BTreeSet<Name> = instruction.exprs().into_iter().flat_map(|expr| index_names(expr, &name)).collect();
                within.retain(|iname| !indexed.contains(iname));
                match found.get_mut(&name) {
                    None => drop(found.insert(name, within)),
                    Some(known) => known.retain(|iname| within.contains(iname)),
                }
            }
        }
        for (name, inames) in found {
            for iname in inames {
                let Some((least, most)) = self.constant_range(&iname, &BTreeSet::new())? else { continue };
                let values = i128::from(most) - i128::from(least) + 1;
                if values > MOST_COPIES.into() {
                    let tags = self.kernel.inames.get(&iname).into_iter().flat_map(|iname| &iname.tags);
                    let how = tags.map(ToString::to_string).collect::<Vec<_>>().join(", ");
                    return Err(self.too_many_copies(&iname, &how, values, values));
                }
                if let Some(array) = self.arrays.get_mut(&name) {
                    array.widened.push((Copies::Iname(iname, least), u64::try_from(values).unwrap_or(1).max(1)));
                }
            }
        }
        Ok(())
    }

    /// The body of a function: variables, hardware axes, steps.
    fn parallel(&mut self, launch: &Launch, items: &[Item], data: &Data) -> Result<Vec<Statement>, LowerError> {
        let ids = launch.instructions();
        let mut within: BTreeSet<Name> = BTreeSet::new();
        for id in ids {
            within.extend(self.instructions.get(id).into_iter().flat_map(|instruction| instruction.within_inames.iter().cloned()));
        }
        let group = self.names.make("group");
        let mut indices = Vec::new();
        let by_axis = |axis: &dyn Fn(&Name) -> Option<u8>| {
            let mut found: Vec<(u8, Name)> = within.iter().filter_map(|iname| Some((axis(iname)?, iname.clone()))).collect();
            found.sort();
            found
        };
        let on_cpu = self.target == Target::C;
        if on_cpu && !launch.groups.is_empty() {
            self.group = Some(group.clone());
        }
        for (axis, iname) in by_axis(&|iname| group_axis(self.kernel, iname)) {
            let index = if on_cpu { self.group_index(&group, axis, launch)? } else { self.hardware(Axis::Group(axis)) };
            let sole = within.iter().filter(|other| group_axis(self.kernel, other) == Some(axis)).count() == 1;
            let size = launch.groups.get(usize::from(axis)).and_then(to_affine);
            indices.push(self.hardware_iname(&iname, index, size, sole)?);
        }
        let hardware_axes = 0..first_loop_axis(self.target).unwrap_or(u8::MAX);
        for (axis, iname) in by_axis(&|iname| local_axis(self.kernel, iname).filter(|axis| hardware_axes.contains(axis))) {
            let size = launch.group_size.get(usize::from(axis)).and_then(as_int).map(Affine::constant);
            let index = self.hardware(Axis::Local(axis));
            indices.push(self.hardware_iname(&iname, index, size, false)?);
        }
        let mut body = self.items(items)?;
        data.declare(self, &mut body)?;
        let used: Vec<Statement> = indices.into_iter().filter(|statement| declared_is_used(statement, &body)).collect();
        body.splice(0..0, used);
        if !on_cpu || launch.groups.is_empty() {
            return Ok(body);
        }
        let count = self.group_count(launch)?;
        Ok(vec![Statement::Groups { name: group, count, body }])
    }

    fn hardware(&self, axis: Axis) -> Value {
        // The hardware's own type is another one on each target, and may have no sign.
        match self.kernel.index_type {
            dtype if dtype.size() == 8 => number::cast(Value::new(parloop_device::DType::I32, ValueKind::Axis(axis)), &dtype.into()),
            dtype => Value::new(dtype, ValueKind::Axis(axis)),
        }
    }

    /// A size, 64 bits wide.
    fn wide_size(&mut self, size: &Expr) -> Result<Value, LowerError> {
        Ok(number::Typed::strong(self.index(size)?).to(&parloop_device::DType::I64.into()))
    }

    /// Brings an iname into scope that the hardware counts from 0 to before `size`.
    fn hardware_iname(&mut self, iname: &Name, index: Value, size: Option<Affine>, sole: bool) -> Result<Statement, LowerError> {
        let least = self.least(iname)?;
        let ty: Type = self.kernel.index_type.into();
        let value = Affine::name(iname.clone());
        if sole
            && let Ok(range) = self.range(iname, &BTreeSet::new())
            && let ([lower], [upper], Some(size)) = (range.lower.as_slice(), range.upper.as_slice(), &size)
            && lower.divisor == 1
            && lower.affine == least
            && Affine::floor(&upper.affine, upper.divisor)?.sub(&least)?.add(&Affine::constant(1))?.sub(size)?.as_constant() == Some(0)
        {
            // The launch has just as many groups as the iname has values.
            self.facts.extend(range.facts);
        }
        self.facts.push(Constraint::not_negative(value.sub(&least)?));
        if let Some(size) = size {
            self.facts.push(Constraint::not_negative(least.add(&size)?.sub(&value)?.sub(&Affine::constant(1))?));
        }
        let first = self.affine(&least)?;
        let first = number::Typed::strong(first).to(&ty);
        if self.is_not_negative(&first) {
            self.not_negative.insert(iname.clone());
        }
        let value = number::binary(Op::Add, index, first);
        self.inames.insert(iname.clone(), Value::name(ty.clone(), iname.clone()));
        self.active.insert(iname.clone());
        Ok(constant(iname, &ty, value))
    }

    /// How many groups there are, 64 bits wide.
    fn group_count(&mut self, launch: &Launch) -> Result<Value, LowerError> {
        let wide: Type = parloop_device::DType::I64.into();
        let mut count = number::int(&wide, 1);
        for size in &launch.groups {
            let size = self.wide_size(size)?;
            count = number::binary(Op::Multiply, count, size);
        }
        Ok(count)
    }

    /// The index along one axis, of the linear index of a group.
    fn group_index(&mut self, group: &Name, axis: u8, launch: &Launch) -> Result<Value, LowerError> {
        let wide: Type = parloop_device::DType::I64.into();
        let mut index = Value::name(wide.clone(), group.clone());
        let mut inner = number::int(&wide, 1);
        for size in launch.groups.iter().take(usize::from(axis)) {
            let size = self.wide_size(size)?;
            inner = number::binary(Op::Multiply, inner, size);
        }
        if inner.as_int() != Some(1) {
            index = number::binary(Op::Divide, index, inner);
        }
        if usize::from(axis) + 1 < launch.groups.len() {
            let size = self.wide_size(&launch.groups[usize::from(axis)])?;
            index = number::binary(Op::Remainder, index, size);
        }
        Ok(number::cast(index, &self.kernel.index_type.into()))
    }
}

/// The names in the indices of an array.
fn index_names(expr: &Expr, array: &Name) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    expr.visit(&mut |inner| match inner {
        Expr::Subscript(aggregate, indices) if **aggregate == Expr::Variable(array.clone()) => {
            found.extend(indices.iter().flat_map(Expr::variables));
        }
        Expr::SubArray(part) if part.array == *array => found.extend(part.indices.iter().flat_map(Expr::variables)),
        _ => {}
    });
    found
}

fn declared_is_used(statement: &Statement, body: &[Statement]) -> bool {
    match statement {
        Statement::Declare(declaration) => body.iter().any(|inner| mentions(inner, &declaration.name)),
        _ => true,
    }
}
