//! Layouts in which different indices may refer to the same memory: explicit strides that are not known to be injective.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::affine::to_affine;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{ArgumentKind, BinaryOp, DimTag, Expr, Layout, Literal, Stride};
use parloop_isl::{Affine, Constraint, Name};

use crate::facts::Facts;

/// The axes of a variable, if elements with different indices may share memory.
pub(super) fn shared_axes(facts: &Facts<'_>, name: &Name) -> Option<Vec<Axis>> {
    let layout: &Layout = match (facts.kernel.temporaries.get(name), facts.arguments.get(name).map(|argument| &argument.kind)) {
        (Some(temporary), _) => &temporary.layout,
        (None, Some(ArgumentKind::Array { layout, .. })) => layout,
        _ => return None,
    };
    let is_given = |tag: &DimTag| matches!(tag, DimTag::Stride(Stride::Fixed(_)));
    // Strides that a call determines are checked in the call.
    if !layout.dim_tags.iter().any(is_given) || layout.dim_tags.contains(&DimTag::Stride(Stride::Auto)) {
        return None;
    }
    let (axes, lengths) = (layout.axes(name).ok()?, layout.lengths()?);
    let strides: Vec<(&Expr, &Expr)> = (axes.iter().zip(lengths))
        .filter_map(|(axis, length)| match axis {
            Axis::Stride(stride) => Some((stride, length)),
            Axis::Separate | Axis::Vector => None,
        })
        .collect();
    (!is_nested(facts, &strides)).then_some(axes)
}

/// Whether elements of a variable with different indices may share memory.
pub fn elements_may_share_memory(facts: &Facts<'_>, name: &Name) -> bool {
    shared_axes(facts, name).is_some()
}

/// Whether elements of a variable that some instruction writes share memory through constant strides, so that a write to one changes
/// another.
pub fn elements_share_memory(facts: &Facts<'_>, name: &Name) -> bool {
    let is_number =
        |axis: &Axis| !matches!(axis, Axis::Stride(stride) if to_affine(stride).is_none_or(|stride| stride.as_constant().is_none()));
    facts.writers.contains_key(name) && shared_axes(facts, name).is_some_and(|axes| axes.iter().all(is_number))
}

/// Whether each stride is larger than the extent of the smaller ones.
fn is_nested(facts: &Facts<'_>, strides: &[(&Expr, &Expr)]) -> bool {
    let lengths: Vec<Sum> = strides.iter().filter_map(|(_, length)| Sum::of(length)).collect();
    let axes: Option<Vec<(Sum, Sum)>> =
        strides.iter().map(|(stride, length)| Some((Sum::of(stride)?.with_sign(), Sum::of(length)?))).collect();
    let Some(axes) = axes else { return false };
    let order =
        Sizes { facts, names: lengths.iter().flat_map(Sum::names).collect(), lengths: strides.iter().map(|(_, length)| *length).collect() };
    order.go_beyond(&Sum::number(1), &axes.iter().collect::<Vec<_>>())
}

/// What is known about sizes if there are elements: lengths are positive, and their parameters are not negative.
struct Sizes<'a, 'k> {
    facts: &'a Facts<'k>,
    names: BTreeSet<Name>,
    lengths: Vec<&'a Expr>,
}

impl Sizes<'_, '_> {
    /// Whether the strides, in some order, are each at least the extent of those before.
    fn go_beyond(&self, reach: &Sum, rest: &[&(Sum, Sum)]) -> bool {
        rest.is_empty()
            || (0..rest.len()).any(|next| {
                let (stride, length) = rest[next];
                let others: Vec<&(Sum, Sum)> = rest.iter().enumerate().filter(|(at, _)| *at != next).map(|(_, axis)| *axis).collect();
                // The stride of an axis with one element is irrelevant.
                let is_one = length.is_number(1);
                let goes = is_one || self.is_at_least(stride, reach);
                let further = if is_one { Some(reach.clone()) } else { stride.times(length) };
                goes && further.is_some_and(|further| self.go_beyond(&further, &others))
            })
    }

    fn is_at_least(&self, large: &Sum, small: &Sum) -> bool {
        let Some(difference) = small.times(&Sum::number(-1)).and_then(|minus| large.plus(&minus)) else { return false };
        let is_size = |factors: &Vec<Name>| factors.iter().all(|name| self.names.contains(name));
        if difference.terms.iter().all(|(factors, by)| *by >= 0 && is_size(factors)) {
            return true;
        }
        self.solved(&difference).unwrap_or(false)
    }

    /// Whether the solver knows that a sum is not negative.
    fn solved(&self, sum: &Sum) -> Option<bool> {
        let mut known = Vec::new();
        for length in &self.lengths {
            known.push(Constraint::not_negative(to_affine(length)?.sub(&Affine::constant(1)).ok()?));
        }
        let negative = sum.affine()?.scale(-1).ok()?.sub(&Affine::constant(1)).ok()?;
        known.push(Constraint::not_negative(negative));
        self.facts.kernel.assumptions.constrain(&known).ok()?.is_empty().ok()
    }
}

/// A sum of products of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    terms: BTreeMap<Vec<Name>, i64>,
}

impl Sum {
    fn number(value: i64) -> Sum {
        Sum { terms: [(Vec::new(), value)].into_iter().filter(|(_, value)| *value != 0).collect() }
    }

    fn of(expr: &Expr) -> Option<Sum> {
        match expr {
            Expr::Literal(Literal::Int(value, _)) => Some(Sum::number(i64::try_from(*value).ok()?)),
            Expr::Variable(name) => Some(Sum { terms: [(vec![name.clone()], 1)].into() }),
            Expr::Unary(parloop_ir::syntax::UnaryOp::Negate, operand) => Sum::of(operand)?.times(&Sum::number(-1)),
            Expr::Binary(BinaryOp::Add, left, right) => Sum::of(left)?.plus(&Sum::of(right)?),
            Expr::Binary(BinaryOp::Subtract, left, right) => Sum::of(left)?.plus(&Sum::of(right)?.times(&Sum::number(-1))?),
            Expr::Binary(BinaryOp::Multiply, left, right) => Sum::of(left)?.times(&Sum::of(right)?),
            _ => None,
        }
    }

    fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.clone();
        for (factors, by) in &other.terms {
            let term = sum.terms.entry(factors.clone()).or_default();
            *term = term.checked_add(*by)?;
        }
        sum.terms.retain(|_, by| *by != 0);
        Some(sum)
    }

    fn times(&self, other: &Sum) -> Option<Sum> {
        let mut product = Sum::default();
        for ((one, by), (two, times)) in self.terms.iter().flat_map(|term| other.terms.iter().map(move |other| (term, other))) {
            let mut factors = [&one[..], two].concat();
            factors.sort_unstable();
            product = product.plus(&Sum { terms: [(factors, by.checked_mul(*times)?)].into() })?;
        }
        Some(product)
    }

    /// The absolute value of a stride.
    fn with_sign(self) -> Sum {
        match self.terms.values().all(|by| *by <= 0) {
            true => self.times(&Sum::number(-1)).unwrap_or(self),
            false => self,
        }
    }

    fn is_number(&self, value: i64) -> bool {
        *self == Sum::number(value)
    }

    fn names(&self) -> Vec<Name> {
        self.terms.keys().flatten().cloned().collect()
    }

    fn affine(&self) -> Option<Affine> {
        let mut sum = Affine::constant(0);
        for (factors, by) in &self.terms {
            let term = match &factors[..] {
                [] => Affine::constant(*by),
                [name] => Affine::name(name.clone()).scale(*by).ok()?,
                _ => return None,
            };
            sum = sum.add(&term).ok()?;
        }
        Some(sum)
    }
}
