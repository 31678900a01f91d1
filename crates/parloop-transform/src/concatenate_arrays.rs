//! `concatenate_arrays`: joins temporaries into one array.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::fold;
use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::{DimTag, Expr, Layout, LoopKernel, Shape, Stride, Temporary};
use parloop_isl::Name;

use super::arrays::type_of_temporary;

/// Why arrays cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConcatenateArraysError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no temporary `{array}`{near}")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        array: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// The name of the result is in use.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another one")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
    /// Two arrays differ in more than the length of the axis.
    #[error("`{first}` and `{second}` differ in their {what}; only arrays of the same kind can be joined")]
    Differ {
        /// An array.
        first: Name,
        /// Another.
        second: Name,
        /// In what.
        what: &'static str,
    },
    /// An array that has no such axis, or whose shape is not known.
    #[error("`{array}` has no axis {axis} of known length")]
    NoAxis {
        /// The array.
        array: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// The types are unknown and may differ.
    #[error("the type of `{array}` is unknown; declare it, since one type would be inferred for the joined array")]
    UnknownType {
        /// The array.
        array: Name,
    },
    /// One of them is prefetched.
    #[error("`{instruction}` uses `{first}` and `{second}`, one of which is prefetched or precomputed; join the arrays first")]
    Ahead {
        /// The instruction.
        instruction: Name,
        /// An array.
        first: Name,
        /// Another.
        second: Name,
    },
    /// A use without indices, or initial values.
    #[error("`{array}` is used {how}, so it cannot be joined with another array")]
    Whole {
        /// The array.
        array: Name,
        /// How.
        how: &'static str,
    },
}

/// Joins temporaries along an axis into one array.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::concatenate_arrays;
/// let program = make_kernel("{[i]: 0<=i<10}", "<float64>a[i] = x[i] {id=a}\n<float64>b[i] = y[i] {id=b}\nz[i] = a[i] + b[i] {dep=a:b}")?;
/// let kernel = concatenate_arrays(program.entry().unwrap(), &["a".into(), "b".into()], &"c".into(), 0)?;
/// assert_eq!(kernel.instructions[2].kind.to_string(), "z[i] = c[i] + c[i + 10]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ConcatenateArraysError`].
pub fn concatenate_arrays(kernel: &LoopKernel, arrays: &[Name], new: &Name, axis: usize) -> Result<LoopKernel, ConcatenateArraysError> {
    let mut found: Vec<&Temporary> = Vec::with_capacity(arrays.len());
    for array in arrays {
        let Some(temporary) = kernel.temporaries.get(array) else {
            let near = Near::of(array, kernel.temporaries.keys());
            return Err(ConcatenateArraysError::UnknownTemporary { kernel: kernel.name.clone(), array: array.clone(), near });
        };
        found.push(temporary);
    }
    let Some(first) = found.first() else { return Ok(kernel.clone()) };
    if !arrays.contains(new) && !UniqueNames::of_variables(kernel).take(new) {
        return Err(ConcatenateArraysError::Taken { kernel: kernel.name.clone(), name: new.clone() });
    }
    let lengths = |temporary: &Temporary| match &temporary.layout.shape {
        Shape::Known(lengths) if axis < lengths.len() => Ok(lengths.clone()),
        _ => Err(ConcatenateArraysError::NoAxis { array: temporary.name.clone(), axis }),
    };
    let ty = type_of_temporary(kernel, &first.name);
    // loopy infers one type for what is joined.
    if ty.is_none() && !kernel.options.is_lenient() {
        return Err(ConcatenateArraysError::UnknownType { array: first.name.clone() });
    }
    let mut shape = lengths(first)?;
    let mut end = Expr::int(0);
    let mut starts = Vec::with_capacity(found.len());
    for temporary in &found {
        let own = lengths(temporary)?;
        let differ = |what| ConcatenateArraysError::Differ { first: first.name.clone(), second: temporary.name.clone(), what };
        let own_type = type_of_temporary(kernel, &temporary.name);
        if own_type != ty {
            return Err(differ("types"));
        }
        if temporary.layout.dim_tags.iter().any(|tag| matches!(tag, DimTag::Stride(Stride::Fixed(_)))) {
            return Err(ConcatenateArraysError::Whole { array: temporary.name.clone(), how: "with explicit strides" });
        }
        if (temporary.space, &temporary.base_storage) != (first.space, &first.base_storage) || temporary.base_storage.is_some() {
            return Err(differ("memory"));
        }
        let rest =
            |lengths: &[Expr]| lengths.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, each)| each.clone()).collect::<Vec<_>>();
        if rest(&own) != rest(&shape) || (!temporary.layout.dim_tags.is_empty() && temporary.layout.dim_tags != first.layout.dim_tags) {
            return Err(differ("other axes"));
        }
        if temporary.initializer.is_some() {
            return Err(ConcatenateArraysError::Whole { array: temporary.name.clone(), how: "with initial values" });
        }
        starts.push((temporary.name.clone(), end.clone()));
        end = plain(fold::add(end, own[axis].clone()));
    }
    shape[axis] = end;
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        *instruction = Arc::new(instruction.try_map_exprs(&mut |expr| moved(expr, &starts, new, axis))?);
    }
    for rule in result.substitutions.values_mut() {
        rule.body = moved(&rule.body, &starts, new, axis)?;
    }
    let layout = Layout { shape: Shape::Known(shape), ..first.layout.clone() };
    let joined = Temporary { name: new.clone(), ty, layout, ..(*first).clone() };
    result.temporaries.retain(|name, _| !arrays.contains(name));
    result.temporaries.insert(new.clone(), joined);
    // When they were touched is known by their names.
    for instruction in &mut result.instructions {
        check_times(kernel, &instruction.id, arrays)?;
        let renamed = arrays.iter().map(|array| (array.clone(), new.clone())).collect();
        let origin = instruction.origin.rename_variables(&renamed);
        Arc::make_mut(instruction).origin = Arc::new(origin);
    }
    Ok(result)
}

/// The arrays that an instruction uses have one time in it.
fn check_times(kernel: &LoopKernel, id: &Name, arrays: &[Name]) -> Result<(), ConcatenateArraysError> {
    let Some(instruction) = kernel.instructions.iter().find(|instruction| instruction.id == *id) else { return Ok(()) };
    let used: BTreeSet<Name> = instruction.reads().union(&instruction.writes()).cloned().collect();
    let mut used = arrays.iter().filter(|array| used.contains(*array));
    let Some(first) = used.next() else { return Ok(()) };
    match used.find(|other| instruction.origin.times_for(other) != instruction.origin.times_for(first)) {
        None => Ok(()),
        Some(second) => Err(ConcatenateArraysError::Ahead { instruction: id.clone(), first: first.clone(), second: second.clone() }),
    }
}

fn plain(expr: Expr) -> Expr {
    to_affine(&expr).map_or(expr, |affine| from_affine(&affine))
}

fn moved(expr: &Expr, starts: &[(Name, Expr)], new: &Name, axis: usize) -> Result<Expr, ConcatenateArraysError> {
    let whole = |array: &Name, how| Err(ConcatenateArraysError::Whole { array: array.clone(), how });
    let start_of = |name: &Name| starts.iter().find(|(array, _)| array == name).map(|(_, start)| start);
    match expr {
        Expr::Subscript(aggregate, indices) => match &**aggregate {
            Expr::Variable(name) if start_of(name).is_some() => {
                let mut indices = indices.iter().map(|index| moved(index, starts, new, axis)).collect::<Result<Vec<Expr>, _>>()?;
                let Some(index) = indices.get_mut(axis) else { return whole(name, "with too few indices") };
                *index = plain(fold::add(start_of(name).cloned().unwrap_or_else(|| Expr::int(0)), index.clone()));
                Ok(Expr::subscript(new, indices))
            }
            _ => expr.try_map_children(&mut |child| moved(child, starts, new, axis)),
        },
        Expr::Variable(name) if start_of(name).is_some() => whole(name, "without indices"),
        Expr::SubArray(part) if start_of(&part.array).is_some() => whole(&part.array, "as an argument of a call"),
        Expr::LinearSubscript(aggregate, _) if aggregate.written_name().is_some_and(|name| start_of(name).is_some()) => {
            whole(aggregate.written_name().expect("invariant: it was just found"), "with a linear index")
        }
        _ => expr.try_map_children(&mut |child| moved(child, starts, new, axis)),
    }
}
