//! `to_batched`: runs a kernel for each of several batches of data.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::sequence::created;
use parloop_ir::affine::to_affine;
use parloop_ir::fold;
use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::{
    AddressSpace, Argument, ArgumentKind, DimTag, Expr, Iname, Instruction, InstructionKind, Layout, LoopKernel, Shape, Stride,
};
use parloop_isl::{Affine, Constraint, Name, Set};

use super::layouts::in_layout;

/// Batches: how many, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    /// How many: a number, or a parameter.
    pub count: Expr,
    /// The arguments that differ between batches.
    pub varying: BTreeSet<Name>,
    /// The prefix of the iname's name.
    pub prefix: Name,
}

impl Batches {
    /// This many batches of these arguments.
    pub fn of(count: Expr, varying: impl IntoIterator<Item = impl Into<Name>>) -> Batches {
        Batches { count, varying: varying.into_iter().map(Into::into).collect(), prefix: "ibatch".into() }
    }
}

/// Why a kernel cannot be batched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToBatchedError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no argument `{argument}`{near}")]
    UnknownArgument {
        /// The kernel.
        kernel: Name,
        /// The name.
        argument: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// The number of batches is not an affine expression.
    #[error("the number of batches is `{count}`, which is neither a number nor a parameter")]
    Count {
        /// The number.
        count: String,
    },
    /// A batched argument bounds loops or shapes, or is not an array of known shape.
    #[error("`{name}` cannot be different for each batch: {reason}")]
    Varying {
        /// The argument or temporary.
        name: Name,
        /// Why not.
        reason: &'static str,
    },
}

/// Runs the kernel for each of several batches: arguments that vary get a first axis of that length, and so do temporaries that depend on
/// them. Each batch keeps the current order of the kernel.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::syntax::Expr;
/// use parloop_loop::transform::{Batches, to_batched};
/// let program = make_kernel("{[i]: 0<=i<10}", "y[i] = c*x[i]")?;
/// let kernel = to_batched(program.entry().unwrap(), &Batches::of(Expr::var("nbatches"), ["x", "y"]))?;
/// assert_eq!(kernel.instructions[0].kind.to_string(), "y[ibatch, i] = c*x[ibatch, i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ToBatchedError`].
pub fn to_batched(kernel: &LoopKernel, batches: &Batches) -> Result<LoopKernel, ToBatchedError> {
    for argument in &batches.varying {
        if !kernel.arguments.iter().any(|known| known.name == *argument) {
            let near = Near::of(argument, kernel.arguments.iter().map(|known| &known.name));
            return Err(ToBatchedError::UnknownArgument { kernel: kernel.name.clone(), argument: argument.clone(), near });
        }
    }
    let count = to_affine(&batches.count).ok_or_else(|| ToBatchedError::Count { count: batches.count.to_string() })?;
    let iname = UniqueNames::of_variables(kernel).make(&batches.prefix);
    let varying = varying(kernel, &batches.varying);
    check(kernel, &varying)?;
    let mut result = kernel.clone();
    for parameter in count.names() {
        if !result.arguments.iter().any(|known| known.name == parameter) {
            let argument = Argument {
                name: parameter,
                ty: Some(kernel.index_type.into()),
                kind: ArgumentKind::Value,
                is_input: None,
                is_output: None,
                tags: BTreeSet::new(),
            };
            result.arguments.push(argument);
        }
    }
    for argument in result.arguments.iter_mut().filter(|argument| varying.contains(&argument.name)) {
        argument.kind = match &argument.kind {
            ArgumentKind::Array { space, layout, alignment } => {
                ArgumentKind::Array { space: *space, layout: with_axis(layout, &batches.count), alignment: *alignment }
            }
            _ => ArgumentKind::Array { space: AddressSpace::Global, layout: with_axis(&Layout::scalar(), &batches.count), alignment: None },
        };
    }
    for temporary in result.temporaries.values_mut().filter(|temporary| varying.contains(&temporary.name)) {
        temporary.layout = with_axis(&temporary.layout, &batches.count);
    }
    for instruction in &mut result.instructions {
        if touches(instruction, &varying) {
            let mut batched = instruction.map_exprs(&mut |expr| batch(expr, &varying, &iname));
            batched.within_inames.insert(iname.clone());
            *instruction = Arc::new(batched);
        }
    }
    for rule in result.substitutions.values_mut() {
        rule.body = batch(&rule.body, &varying, &iname);
    }
    let value = Affine::name(iname.clone());
    let below = count.sub(&value).and_then(|room| room.sub(&Affine::constant(1)));
    let below = below.map_err(|_| ToBatchedError::Count { count: batches.count.to_string() })?;
    let constraints = vec![Constraint::not_negative(value), Constraint::not_negative(below)];
    result.domains.insert(0, Set::bounded(std::slice::from_ref(&iname), constraints));
    result.inames.insert(iname, Iname::default());
    Ok(created(result))
}

/// What is different for each batch: what was said, and temporaries that are made of it.
fn varying(kernel: &LoopKernel, said: &BTreeSet<Name>) -> BTreeSet<Name> {
    let mut varying = said.clone();
    loop {
        let before = varying.len();
        // A rule stands for what it is made of.
        let rules: Vec<Name> = kernel
            .substitutions
            .values()
            .filter(|rule| !rule.body.variables().is_disjoint(&varying))
            .map(|rule| rule.name.clone())
            .collect();
        let mut seen = varying.clone();
        seen.extend(rules);
        for instruction in kernel.instructions.iter().filter(|instruction| touches(instruction, &seen)) {
            varying.extend(instruction.writes().into_iter().filter(|name| kernel.temporaries.contains_key(name)));
        }
        if varying.len() == before {
            return varying;
        }
    }
}

fn touches(instruction: &Instruction, names: &BTreeSet<Name>) -> bool {
    !instruction.reads().is_disjoint(names) || !instruction.writes().is_disjoint(names)
}

fn check(kernel: &LoopKernel, varying: &BTreeSet<Name>) -> Result<(), ToBatchedError> {
    let refuse = |name: &Name, reason| Err(ToBatchedError::Varying { name: name.clone(), reason });
    for domain in &kernel.domains {
        if let Some(name) = domain.params().iter().find(|param| varying.contains(*param)) {
            return refuse(name, "it bounds a loop");
        }
    }
    let layouts = kernel.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Array { layout, .. } => Some((&argument.name, layout)),
        _ => None,
    });
    for (name, layout) in layouts.chain(kernel.temporaries.values().map(|temporary| (&temporary.name, &temporary.layout))) {
        let mut used = BTreeSet::new();
        in_layout(layout, &|expr| expr.clone()).lengths().into_iter().flatten().for_each(|length| used.extend(length.variables()));
        if let Some(size) = used.intersection(varying).next() {
            return refuse(size, "it is the length of an axis");
        }
        let is_plain = layout.dim_tags.iter().all(|tag| matches!(tag, DimTag::Stride(Stride::Nested { .. })));
        if varying.contains(name) && (!is_plain || layout.lengths().is_none()) {
            return refuse(name, "its shape is unknown, or its strides are explicit");
        }
    }
    if let Some(temporary) = kernel.temporaries.values().find(|each| varying.contains(&each.name) && each.initializer.is_some()) {
        return refuse(&temporary.name, "it has initial values");
    }
    let is_c = |instruction: &&Arc<Instruction>| matches!(instruction.kind, InstructionKind::C(_)) && touches(instruction, varying);
    if let Some(instruction) = kernel.instructions.iter().find(is_c) {
        return refuse(&instruction.id, "C code uses data that varies");
    }
    Ok(())
}

/// The layout with a first axis, which varies slowest.
fn with_axis(layout: &Layout, count: &Expr) -> Layout {
    let lengths = layout.lengths().unwrap_or_default();
    let mut tags = if layout.dim_tags.is_empty() && !layout.fortran_order { Vec::new() } else { layout.tags(lengths.len()) };
    if !tags.is_empty() {
        tags.insert(0, DimTag::Stride(Stride::Nested { level: lengths.len(), pad_to: 1 }));
    }
    let shape = Shape::Known(std::iter::once(fold::add(Expr::int(0), count.clone())).chain(lengths.iter().cloned()).collect());
    let axis_names = layout.axis_names.as_ref().map(|names| std::iter::once("batch".into()).chain(names.iter().cloned()).collect());
    Layout { shape, dim_tags: tags, axis_names, ..layout.clone() }
}

fn batch(expr: &Expr, varying: &BTreeSet<Name>, iname: &Name) -> Expr {
    match expr {
        Expr::Variable(name) if varying.contains(name) => Expr::subscript(name, [Expr::var(iname)]),
        Expr::Subscript(aggregate, indices) => match &**aggregate {
            Expr::Variable(name) if varying.contains(name) => {
                let rest = indices.iter().map(|index| batch(index, varying, iname));
                Expr::subscript(name, std::iter::once(Expr::var(iname)).chain(rest).collect::<Vec<_>>())
            }
            _ => expr.map_children(&mut |child| batch(child, varying, iname)),
        },
        Expr::SubArray(part) if varying.contains(&part.array) => {
            let rest = part.indices.iter().map(|index| batch(index, varying, iname));
            let indices = std::iter::once(Expr::var(iname)).chain(rest).collect();
            Expr::SubArray(Arc::new(parloop_ir::syntax::SubArray { indices, ..(**part).clone() }))
        }
        _ => expr.map_children(&mut |child| batch(child, varying, iname)),
    }
}
