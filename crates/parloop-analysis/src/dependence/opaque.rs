//! Values of loops as created that are not affine in the current inames, as from `chunk_iname`: the solver sees each as an opaque integer,
//! which is known to grow with its digits if a transformation declares it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, LoopKernel, TimeStep};
use parloop_isl::{Affine, Name};

/// Such values of a kernel, with names for them.
pub(super) struct Opaque {
    values: Vec<Value>,
}

struct Value {
    expr: Expr,
    name: Name,
    /// Its digits, most significant first; empty if unknown.
    digits: Vec<Expr>,
}

impl Opaque {
    /// The opaque values in the times of the kernel's instructions.
    pub fn of(kernel: &LoopKernel) -> Opaque {
        let mut values: Vec<Value> = Vec::new();
        for origin in kernel.instructions.iter().map(|instruction| &instruction.origin) {
            let steps = origin.times.iter().flat_map(|time| &time.steps).filter_map(|step| match step {
                TimeStep::At(_) | TimeStep::Loop(Expr::Variable(_)) => None,
                TimeStep::Loop(value) => Some(value),
            });
            for expr in steps {
                if to_affine(expr).is_none() && !values.iter().any(|known| known.expr == *expr) {
                    let digits = origin.lexical.iter().find(|(value, _)| value == expr).map(|(_, digits)| digits.clone());
                    values.push(Value { expr: expr.clone(), name: format!("({expr})").into(), digits: digits.unwrap_or_default() });
                }
            }
        }
        Opaque { values }
    }

    /// Whether a name stands for such a value.
    pub fn is_name(name: &str) -> bool {
        name.starts_with('(')
    }

    /// The digits of a value, if all its other inputs are known to be equal.
    pub fn digits(&self, value: &Affine, is_same: &dyn Fn(&Name) -> bool) -> Option<&[Expr]> {
        let name = value.as_name()?;
        let known = self.values.iter().find(|known| known.name == *name && !known.digits.is_empty())?;
        let digits: BTreeSet<Name> = known.digits.iter().flat_map(Expr::variables).collect();
        known.expr.variables().iter().all(|name| digits.contains(name) || is_same(name)).then_some(&known.digits[..])
    }

    /// An expression in which such values are names.
    pub fn named<'e>(&self, expr: &'e Expr) -> Cow<'e, Expr> {
        if self.values.is_empty() {
            return Cow::Borrowed(expr);
        }
        let named = |inner: &Expr| self.values.iter().find(|value| value.expr == *inner).map(|value| Expr::Variable(value.name.clone()));
        Cow::Owned(expr.rewrite(&mut |inner| named(inner)))
    }

    /// An expression as an affine one, in which such values are names.
    pub fn affine(&self, expr: &Expr) -> Option<Affine> {
        to_affine(&self.named(expr))
    }
}
