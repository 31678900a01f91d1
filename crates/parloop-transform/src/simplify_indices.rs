//! `simplify_indices`: removes divisions from array indices that the domains determine, such as `(16*o + i)//16` where `0 <= i < 16`.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::syntax::{Expr, LoopKernel, SubArray};
use parloop_isl::{Affine, Atom, Constraint, IslError, Name};

use super::precompute::domain_of;

/// Simplifies the indices of all arrays.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::simplify_indices;
/// let program = make_kernel("{[o, i]: 0<=o<n and 0<=i<16}", "b[(16*o + i)//16, (16*o + i) % 16] = 1")?;
/// let kernel = simplify_indices(program.entry().unwrap())?;
/// assert_eq!(kernel.instructions[0].lhs()[0].to_string(), "b[o, i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the solver fails.
pub fn simplify_indices(kernel: &LoopKernel) -> Result<LoopKernel, IslError> {
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        *instruction = Arc::new(instruction.try_map_exprs(&mut |expr| in_expr(kernel, expr))?);
    }
    Ok(result)
}

fn in_expr(kernel: &LoopKernel, expr: &Expr) -> Result<Expr, IslError> {
    let changed = expr.try_map_children(&mut |child| in_expr(kernel, child))?;
    let all = |indices: &[Expr]| indices.iter().map(|index| simplified(kernel, index)).collect::<Result<Vec<Expr>, IslError>>();
    Ok(match &changed {
        Expr::Subscript(array, indices) => Expr::Subscript(array.clone(), all(indices)?.into()),
        Expr::SubArray(part) => Expr::SubArray(Arc::new(SubArray { indices: all(&part.indices)?, ..(**part).clone() })),
        _ => changed,
    })
}

/// An index in its simplest form; as it is, if it is not affine or has no division.
pub(super) fn simplified(kernel: &LoopKernel, index: &Expr) -> Result<Expr, IslError> {
    let Some(affine) = to_affine(index).filter(|affine| affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(..)))) else {
        return Ok(index.clone());
    };
    let simple = without_floors(kernel, &affine)?;
    Ok(if simple == affine { index.clone() } else { from_affine(&simple) })
}

/// The expression with the number in place of each division that has one value on the domain of its inames.
fn without_floors(kernel: &LoopKernel, affine: &Affine) -> Result<Affine, IslError> {
    let mut sum = Affine::constant(affine.constant_term());
    for (atom, coefficient) in affine.terms() {
        let term = match atom {
            Atom::Name(name) => Affine::name(name.clone()),
            Atom::Floor(inner, divisor) => {
                let inner = without_floors(kernel, inner)?;
                match only_quotient(kernel, &inner, *divisor)? {
                    Some(quotient) => Affine::constant(quotient),
                    None => Affine::floor(&inner, *divisor)?,
                }
            }
        };
        sum = sum.add(&term.scale(coefficient)?)?;
    }
    Ok(sum)
}

/// The value of `floor(inner / divisor)`, if it is the same at all points.
fn only_quotient(kernel: &LoopKernel, inner: &Affine, divisor: i64) -> Result<Option<i64>, IslError> {
    let inames: Vec<Name> = inner.names().into_iter().filter(|name| kernel.inames.contains_key(name)).collect();
    let domain = domain_of(kernel, &inames)?;
    let taken: BTreeSet<&Name> = domain.dims().iter().chain(domain.params()).collect();
    let mut value = Name::from("value");
    while taken.contains(&value) {
        value = format!("{value}_").into();
    }
    let equal = Constraint::zero(Affine::name(value.clone()).sub(inner)?);
    let values = domain.add_dims(std::slice::from_ref(&value)).constrain(&[equal])?;
    let (smallest, largest) = (values.constant_min(&value, &kernel.assumptions)?, values.constant_max(&value, &kernel.assumptions)?);
    Ok(smallest.zip(largest).map(|(a, b)| (a.div_euclid(divisor), b.div_euclid(divisor))).filter(|(a, b)| a == b).map(|(a, _)| a))
}
