//! `fuse_kernels`: fuses several kernels into one that does the same in sequence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::sequence::created;
use parloop_ir::affine::to_affine;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{
    Argument, ArgumentKind, CInstruction, Call, Expr, Instruction, InstructionKind, LoopKernel, Reduction, Shape, SubArray,
};
use parloop_isl::{IslError, Name};

use super::layouts::in_layout;

/// Data that goes from one kernel to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The variable.
    pub variable: Name,
    /// The kernel that writes it, by its place.
    pub from: usize,
    /// The kernel that uses it then.
    pub to: usize,
}

/// Why kernels cannot be fused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FuseKernelsError {
    /// Nothing to fuse.
    #[error("no kernels to fuse")]
    Nothing,
    /// A data flow from or to a kernel that does not exist.
    #[error("data flow of `{variable}` from kernel {from} to kernel {to}: there are only {kernels} kernels, counted from 0")]
    Place {
        /// The variable.
        variable: Name,
        /// The kernel that writes it.
        from: usize,
        /// The kernel that uses it.
        to: usize,
        /// How many there are.
        kernels: usize,
    },
    /// A data flow that is never written or never used.
    #[error("`{variable}` cannot carry data from kernel `{from}` to kernel `{to}`: the {side} does not {what} it")]
    NoFlow {
        /// The variable.
        variable: Name,
        /// The kernel that should write it.
        from: Name,
        /// The kernel that should use it.
        to: Name,
        /// `first` or `second`.
        side: &'static str,
        /// `write` or `use`.
        what: &'static str,
    },
    /// The data flow is cyclic.
    #[error("the data flow between these kernels is cyclic: {}; fuse fewer of them", .kernels.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))]
    Circle {
        /// The kernels.
        kernels: Vec<Name>,
    },
    /// The kernels use one name for different things.
    #[error("kernels `{first}` and `{second}` both have an argument `{argument}`, but differ in its {what}; rename it in one of them")]
    Differ {
        /// The argument.
        argument: Name,
        /// A kernel.
        first: Name,
        /// Another.
        second: Name,
        /// In what.
        what: &'static str,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Fuses kernels into one that does the same in sequence: in the given order, except where data flows from a later to an earlier one.
/// Arguments of the same name become one argument. Inames, temporaries, rules and instructions whose names collide are renamed, with the
/// suffixes if given. Instructions that use flowing data depend on those that write it; without data flow, kernels do not depend on each
/// other.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{Flow, fuse_kernels};
/// let first = make_kernel("{[i]: 0<=i<10}", "b[i] = 2*a[i]")?;
/// let second = make_kernel("{[i]: 0<=i<10}", "c[i] = b[i] + 1")?;
/// let kernels = [first.entry().unwrap(), second.entry().unwrap()];
/// let fused = fuse_kernels(&kernels, &[], &[Flow { variable: "b".into(), from: 0, to: 1 }])?;
/// assert_eq!(fused.instructions[1].kind.to_string(), "c[i_0] = b[i_0] + 1");
/// assert!(fused.instructions[1].depends_on.contains("insn"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FuseKernelsError`].
pub fn fuse_kernels(kernels: &[&LoopKernel], suffixes: &[Name], flows: &[Flow]) -> Result<LoopKernel, FuseKernelsError> {
    for Flow { variable, from, to } in flows {
        if *from.max(to) >= kernels.len() {
            return Err(FuseKernelsError::Place { variable: variable.clone(), from: *from, to: *to, kernels: kernels.len() });
        }
    }
    let order = order(kernels, flows)?;
    let (Some(&first), Some(name)) = (order.first(), kernels.first().map(|kernel| kernel.name.clone())) else {
        return Err(FuseKernelsError::Nothing);
    };
    // What kernels share are their arguments; everything else is their own.
    let shared: BTreeSet<Name> = kernels.iter().flat_map(|kernel| kernel.arguments.iter().map(|argument| argument.name.clone())).collect();
    let mut fused = LoopKernel { name, ..kernels[first].clone() };
    fused.arguments.clear();
    fused.instructions.clear();
    let mut taken = shared.clone();
    let mut ids = UniqueNames::default();
    let mut parts: Vec<LoopKernel> = vec![kernels[first].clone(); kernels.len()];
    for &place in &order {
        let part = apart(kernels[place], &mut taken, &mut ids, suffixes.get(place))?;
        parts[place] = part;
    }
    for (nth, &place) in order.iter().enumerate() {
        let mut part = parts[place].clone();
        for Flow { variable, from, .. } in flows.iter().filter(|flow| flow.to == place) {
            connect(&mut part, &parts[*from], variable, (kernels[*from], kernels[place]))?;
        }
        if nth == 0 {
            (fused.domains, fused.inames, fused.temporaries) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
            (fused.substitutions, fused.priorities) = (BTreeMap::new(), BTreeSet::new());
        }
        fused.domains.extend(part.domains);
        fused.inames.extend(part.inames);
        fused.temporaries.extend(part.temporaries);
        fused.substitutions.extend(part.substitutions);
        fused.priorities.extend(part.priorities);
        fused.preambles.extend(part.preambles);
        fused.instructions.extend(part.instructions);
        fused.phase = fused.phase.min(part.phase);
        fused.assumptions = fused.assumptions.join(&part.assumptions)?;
    }
    for (nth, kernel) in kernels.iter().enumerate() {
        for argument in &kernel.arguments {
            add_argument(&mut fused, kernels, nth, argument)?;
        }
    }
    // What flows from one kernel to another need not come from outside.
    for variable in flows.iter().map(|flow| &flow.variable) {
        let gets = |place: usize| flows.iter().any(|flow| flow.to == place && flow.variable == *variable);
        let needs = |(place, kernel): (usize, &&LoopKernel)| {
            let said = kernel.arguments.iter().find(|argument| argument.name == *variable).and_then(|argument| argument.is_input);
            let reads = || kernel.instructions.iter().any(|instruction| instruction.reads().contains(variable));
            !gets(place) && said.unwrap_or_else(reads)
        };
        let is_needed = kernels.iter().enumerate().any(needs);
        for argument in fused.arguments.iter_mut().filter(|argument| argument.name == *variable) {
            argument.is_input = Some(is_needed);
        }
    }
    Ok(created(fused))
}

/// The kernels so that data flows forwards.
fn order(kernels: &[&LoopKernel], flows: &[Flow]) -> Result<Vec<usize>, FuseKernelsError> {
    let mut left: Vec<usize> = (0..kernels.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |place: usize| flows.iter().any(|flow| flow.to == place && flow.from != place && left.contains(&flow.from));
        let Some(at) = left.iter().position(|&place| !waits(place)) else {
            return Err(FuseKernelsError::Circle { kernels: left.iter().map(|&place| kernels[place].name.clone()).collect() });
        };
        order.push(left.remove(at));
    }
    Ok(order)
}

/// A kernel whose own names are unique.
fn apart(
    kernel: &LoopKernel,
    taken: &mut BTreeSet<Name>,
    ids: &mut UniqueNames,
    suffix: Option<&Name>,
) -> Result<LoopKernel, FuseKernelsError> {
    let own = kernel.inames.keys().chain(kernel.temporaries.keys()).chain(kernel.substitutions.keys());
    let mut unique = UniqueNames::of(taken.iter().cloned());
    let mut names: BTreeMap<Name, Name> = BTreeMap::new();
    for name in own {
        let new = if unique.take(name) {
            name.clone()
        } else {
            unique.make(&suffix.map_or_else(|| name.to_string(), |suffix| format!("{name}{suffix}")))
        };
        taken.insert(new.clone());
        if new != *name {
            names.insert(name.clone(), new);
        }
    }
    let new_ids: BTreeMap<Name, Name> = kernel
        .instructions
        .iter()
        .map(|instruction| {
            let wanted = suffix.map_or_else(|| instruction.id.to_string(), |suffix| format!("{}{suffix}", instruction.id));
            let new = if ids.take(&instruction.id) { instruction.id.clone() } else { ids.make(&wanted) };
            (instruction.id.clone(), new)
        })
        .collect();
    let of = |name: &Name| names.get(name).unwrap_or(name).clone();
    let id = |name: &Name| new_ids.get(name).unwrap_or(name).clone();
    let mut part = kernel.clone();
    part.domains = kernel.domains.iter().map(|domain| domain.rename(&|name| names.get(name).cloned())).collect::<Result<_, _>>()?;
    part.inames = kernel.inames.iter().map(|(name, iname)| (of(name), iname.clone())).collect();
    part.priorities = kernel.priorities.iter().map(|chain| chain.iter().map(of).collect()).collect();
    part.temporaries = BTreeMap::new();
    for temporary in kernel.temporaries.values() {
        let mut temporary = temporary.clone();
        temporary.name = of(&temporary.name);
        temporary.layout = in_layout(&temporary.layout, &|expr| renamed(expr, &names));
        temporary.base_storage =
            temporary.base_storage.map(|storage| suffix.map_or_else(|| storage.clone(), |suffix| format!("{storage}{suffix}").into()));
        part.temporaries.insert(temporary.name.clone(), temporary);
    }
    part.substitutions = BTreeMap::new();
    for rule in kernel.substitutions.values() {
        let mut rule = rule.clone();
        let visible =
            names.iter().filter(|(name, _)| !rule.parameters.contains(name)).map(|(from, to)| (from.clone(), to.clone())).collect();
        rule.body = renamed(&rule.body, &visible);
        rule.name = of(&rule.name);
        part.substitutions.insert(rule.name.clone(), rule);
    }
    for instruction in &mut part.instructions {
        let mut mapped = instruction.map_exprs(&mut |expr| renamed(expr, &names));
        if let InstructionKind::C(CInstruction { reads, .. }) = &mut mapped.kind {
            *reads = reads.iter().map(of).collect();
        }
        *instruction = Arc::new(Instruction {
            id: id(&instruction.id),
            depends_on: instruction.depends_on.iter().map(id).collect(),
            nosync: instruction.nosync.iter().map(|(other, scope)| (id(other), *scope)).collect(),
            within_inames: instruction.within_inames.iter().map(of).collect(),
            origin: Arc::default(),
            ..mapped
        });
    }
    Ok(part)
}

fn renamed(expr: &Expr, names: &BTreeMap<Name, Name>) -> Expr {
    let of = |name: &Name| names.get(name).unwrap_or(name).clone();
    let inner = expr.map_children(&mut |child| renamed(child, names));
    match &inner {
        Expr::Variable(name) => Expr::Variable(of(name)),
        Expr::Reduction(reduction) => {
            Expr::Reduction(Arc::new(Reduction { inames: reduction.inames.iter().map(of).collect(), ..(**reduction).clone() }))
        }
        Expr::SubArray(part) => Expr::SubArray(Arc::new(SubArray {
            inames: part.inames.iter().map(of).collect(),
            array: of(&part.array),
            indices: part.indices.clone(),
        })),
        Expr::Call(call) if !call.resolved && names.contains_key(&call.function) => {
            Expr::Call(Arc::new(Call { function: of(&call.function), ..(**call).clone() }))
        }
        _ => inner,
    }
}

/// What uses the variable waits for those that write it.
fn connect(part: &mut LoopKernel, from: &LoopKernel, variable: &Name, kernels: (&LoopKernel, &LoopKernel)) -> Result<(), FuseKernelsError> {
    let none = |side, what| FuseKernelsError::NoFlow {
        variable: variable.clone(),
        from: kernels.0.name.clone(),
        to: kernels.1.name.clone(),
        side,
        what,
    };
    let writers: BTreeSet<Name> =
        from.instructions.iter().filter(|instruction| instruction.writes().contains(variable)).map(|writer| writer.id.clone()).collect();
    if writers.is_empty() {
        return Err(none("first", "write"));
    }
    let in_rules: BTreeSet<Name> = rules_with(part, variable);
    let mut used = false;
    for instruction in &mut part.instructions {
        let reads = instruction.reads();
        if reads.contains(variable)
            || instruction.writes().contains(variable)
            || !reads.is_disjoint(&in_rules)
            || calls(instruction, &in_rules)
        {
            Arc::make_mut(instruction).depends_on.extend(writers.iter().cloned());
            used = true;
        }
    }
    if used { Ok(()) } else { Err(none("second", "use")) }
}

/// The rules that use a variable, directly or through others.
fn rules_with(kernel: &LoopKernel, variable: &Name) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for rule in kernel.substitutions.values() {
            let uses = rule.body.any(&mut |part| match part {
                Expr::Variable(name) => name == variable || found.contains(name),
                Expr::Call(call) => found.contains(&call.function),
                _ => false,
            });
            if uses {
                found.insert(rule.name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn calls(instruction: &Instruction, rules: &BTreeSet<Name>) -> bool {
    instruction.exprs().into_iter().any(|expr| expr.any(&mut |part| matches!(part, Expr::Call(call) if rules.contains(&call.function))))
}

/// Adds an argument of a kernel, or joins it with the one of its name.
fn add_argument(fused: &mut LoopKernel, kernels: &[&LoopKernel], nth: usize, argument: &Argument) -> Result<(), FuseKernelsError> {
    let Some(known) = fused.arguments.iter_mut().find(|known| known.name == argument.name) else {
        fused.arguments.push(argument.clone());
        return Ok(());
    };
    let first = kernels.iter().find(|kernel| kernel.arguments.iter().any(|other| other.name == argument.name));
    let differ = |what| FuseKernelsError::Differ {
        argument: argument.name.clone(),
        first: first.map_or_else(|| "?".into(), |kernel| kernel.name.clone()),
        second: kernels[nth].name.clone(),
        what,
    };
    match (&known.ty, &argument.ty) {
        (Some(one), Some(other)) if one != other => return Err(differ("type")),
        (None, other) => known.ty.clone_from(other),
        _ => {}
    }
    match (&mut known.kind, &argument.kind) {
        (ArgumentKind::Array { layout, space, .. }, ArgumentKind::Array { layout: other, space: other_space, .. }) => {
            if space != other_space {
                return Err(differ("memory"));
            }
            match (&layout.shape, &other.shape) {
                (Shape::Known(one), Shape::Known(other)) if !same(one, other) => return Err(differ("shape")),
                (Shape::Known(_), _) => {}
                (_, _) => *layout = other.clone(),
            }
        }
        (one, other) if one != other => return Err(differ("kind")),
        _ => {}
    }
    let either = |one: Option<bool>, other: Option<bool>| match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    known.is_input = either(known.is_input, argument.is_input);
    known.is_output = either(known.is_output, argument.is_output);
    known.tags.extend(argument.tags.iter().cloned());
    Ok(())
}

/// Whether lengths are the same numbers.
fn same(one: &[Expr], other: &[Expr]) -> bool {
    let is_same = |(one, other): (&Expr, &Expr)| {
        one == other || matches!((to_affine(one), to_affine(other)), (Some(one), Some(other)) if one == other)
    };
    one.len() == other.len() && one.iter().zip(other).all(is_same)
}
