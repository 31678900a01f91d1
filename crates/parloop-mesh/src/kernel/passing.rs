//! How the arguments of a loop go to the arrays of a loop kernel: along which axes, and whether they fit.

use parloop_loop::syntax::{Argument, ArgumentKind, Expr, Layout, Literal, LoopKernel, Type};

use super::matching::{by_value, described};
use crate::Result;
use crate::declare::arg::Arg;
use crate::error::MeshError;

/// Compares each array of a loop kernel with its argument: axes, type, and what is written.
pub fn check(kernel: &LoopKernel, args: &[Arg], gets_layer: bool) -> Result<()> {
    let (name, given) = (|| kernel.name.to_string(), args.len() + usize::from(gets_layer));
    if kernel.arguments.len() != given {
        return Err(MeshError::Count { kernel: name(), takes: kernel.arguments.len(), given });
    }
    if let Some(last) = kernel.arguments.last().filter(|last| gets_layer && !matches!(last.kind, ArgumentKind::Value)) {
        let (declared, name_of) = (last.to_string(), last.name.to_string());
        let (given, advice) = ("the layer number".to_owned(), "declare a value");
        return Err(MeshError::Parameter { kernel: name(), index: args.len(), name: name_of, declared, given, advice });
    }
    for (index, (argument, arg)) in kernel.arguments.iter().zip(args).enumerate() {
        let wrong = |advice: &'static str| {
            let (declared, name_of) = (argument.to_string(), argument.name.to_string());
            Err(MeshError::Parameter { kernel: name(), index, name: name_of, declared, given: described(arg), advice })
        };
        match &argument.kind {
            ArgumentKind::Array { layout, .. } if axes(layout, &arg.axes()).is_none() => {
                return wrong("its axes must be those of the map and the data, or one axis for all numbers");
            }
            ArgumentKind::Array { .. } => {}
            ArgumentKind::Value => {
                if let Err(advice) = by_value(arg) {
                    return wrong(advice);
                }
            }
            _ => return wrong("declare an array"),
        }
        if argument.ty.as_ref().is_some_and(|ty| *ty != Type::Scalar(arg.dtype())) {
            return wrong("both must have the same element type");
        }
        if !arg.access().writes() && is_written(kernel, argument) {
            return wrong("the kernel writes it; pass it with an access that writes");
        }
    }
    Ok(())
}

fn is_written(kernel: &LoopKernel, argument: &Argument) -> bool {
    kernel.instructions.iter().any(|instruction| instruction.writes().contains(&argument.name))
}

/// The lengths of the axes along which a kernel takes numbers that have these axes; `None` where they do not fit.
pub fn axes(layout: &Layout, plain: &[usize]) -> Option<Vec<usize>> {
    let all = plain.iter().fold(1usize, |all, &length| all.saturating_mul(length));
    let known = layout.lengths().map(|lengths| lengths.iter().map(constant).collect::<Option<Vec<usize>>>());
    match (known.flatten(), layout.axis_count()) {
        (Some(lengths), _) => (!lengths.is_empty() && is_cut_alike(&lengths, plain)).then_some(lengths),
        (None, None) => Some(plain.to_vec()),
        (None, Some(axes)) if axes == plain.len() => Some(plain.to_vec()),
        (None, Some(1)) => Some(vec![all]),
        (None, Some(_)) => None,
    }
}

/// Whether both have as many numbers, and one has all borders between axes that the other has: then no number has another place.
fn is_cut_alike(one: &[usize], other: &[usize]) -> bool {
    let borders = |lengths: &[usize]| -> Option<Vec<usize>> {
        lengths.iter().scan(1usize, |before, &length| Some((*before).checked_mul(length).inspect(|all| *before = *all))).collect()
    };
    let (Some(one), Some(other)) = (borders(one), borders(other)) else { return false };
    let has = |all: &[usize], some: &[usize]| some.iter().all(|border| *border == 1 || all.contains(border));
    one.last() == other.last() && (has(&one, &other) || has(&other, &one))
}

fn constant(length: &Expr) -> Option<usize> {
    match length {
        Expr::Literal(Literal::Int(length, _)) => usize::try_from(*length).ok(),
        _ => None,
    }
}
