//! Values of loops as created that are no affine expressions of the inames of today, as `chunk_iname` makes them: the solver sees each as
//! an integer of its own, so that equal ones are still known to be equal.

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, LoopKernel, Time, TimeStep};
use parloop_isl::{Affine, Name};

/// Such values of a kernel, with names for them.
pub(super) struct Opaque {
    values: Vec<(Expr, Name)>,
}

impl Opaque {
    /// Those in the times of the kernel's instructions.
    pub fn of(kernel: &LoopKernel) -> Opaque {
        let mut values: Vec<(Expr, Name)> = Vec::new();
        let times = kernel.instructions.iter().flat_map(|instruction| &instruction.origin.times);
        for step in times.flat_map(|Time { steps, .. }| steps) {
            if let TimeStep::Loop(value) = step
                && !matches!(value, Expr::Variable(_))
                && to_affine(value).is_none()
                && !values.iter().any(|(known, _)| known == value)
            {
                values.push((value.clone(), format!("({value})").into()));
            }
        }
        Opaque { values }
    }

    /// Whether a name stands for such a value.
    pub fn is_name(name: &str) -> bool {
        name.starts_with('(')
    }

    /// An expression as an affine one, in which such values are names.
    pub fn affine(&self, expr: &Expr) -> Option<Affine> {
        if self.values.is_empty() {
            return to_affine(expr);
        }
        let named = |inner: &Expr| self.values.iter().find(|(value, _)| value == inner).map(|(_, name)| Expr::Variable(name.clone()));
        to_affine(&expr.rewrite(&mut |inner| named(inner)))
    }
}
