//! Whether two loops can run as one: whether the later one would then touch memory before an earlier iteration of the other is done with it.

use std::collections::BTreeSet;

use parloop_ir::affine::to_affine;
use parloop_ir::domain::Forest;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

/// What is asked about accesses of a kernel's memory inside of some loops.
pub(super) struct Conflicts<'a> {
    kernel: &'a LoopKernel,
    outer: &'a BTreeSet<Name>,
}

impl<'a> Conflicts<'a> {
    pub fn of(kernel: &'a LoopKernel, outer: &'a BTreeSet<Name>) -> Conflicts<'a> {
        Conflicts { kernel, outer }
    }

    /// Whether one of the variables is accessed by an iteration of the early loop that comes after one of the late loop which accesses the
    /// same place. Yes when it cannot be told.
    pub fn run_backwards(
        &self,
        (early, early_iname): (&Instruction, &Name),
        (late, late_iname): (&Instruction, &Name),
        variables: &[Name],
    ) -> Result<bool, IslError> {
        let both = self.points(early, "early")?.join(&self.points(late, "late")?)?;
        let (early_value, late_value) = (Affine::name(self.mark(early_iname, "early")), Affine::name(self.mark(late_iname, "late")));
        let backwards = Constraint::not_negative(early_value.sub(&late_value)?.sub(&Affine::constant(1))?);
        for variable in variables {
            let (Some(ones), Some(others)) = (self.accesses(early, variable), self.accesses(late, variable)) else { return Ok(true) };
            for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
                if one.len() != other.len() {
                    return Ok(true);
                }
                let mut constraints = vec![backwards.clone()];
                for (left, right) in one.iter().zip(other) {
                    constraints.push(Constraint::zero(self.marked(left, "early").sub(&self.marked(right, "late"))?));
                }
                if !both.constrain(&constraints)?.is_empty()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The indices of each access of a variable; `None` if one is not affine in inames and parameters, or is none of single elements.
    fn accesses(&self, instruction: &Instruction, variable: &Name) -> Option<Vec<Vec<Affine>>> {
        let mut found = Some(Vec::new());
        instruction.exprs().into_iter().for_each(|expr| collect(expr, variable, &mut found));
        let computed = |affine: &Affine| affine.names().iter().any(|name| self.kernel.temporaries.contains_key(name));
        found.filter(|accesses| !accesses.iter().flatten().any(computed))
    }

    /// The points of an instruction, reductions included, with marked names for all inames that are not outside of both loops.
    fn points(&self, instruction: &Instruction, side: &str) -> Result<Set, IslError> {
        let reduced = instruction.reduction_inames();
        let points = Forest::of(self.kernel).domain_of(instruction.within_inames.iter().chain(&reduced))?.join(&self.kernel.assumptions)?;
        Ok(points.rename(&|name| Some(self.mark(name, side))))
    }

    fn marked(&self, affine: &Affine, side: &str) -> Affine {
        affine.rename(&|name| Some(self.mark(name, side)))
    }

    fn mark(&self, name: &Name, side: &str) -> Name {
        if self.kernel.inames.contains_key(name) && !self.outer.contains(name) { format!("{name}'{side}").into() } else { name.clone() }
    }
}

fn collect(expr: &Expr, variable: &Name, found: &mut Option<Vec<Vec<Affine>>>) {
    let is_it = |expr: &Expr| matches!(expr, Expr::Variable(name) if name == variable);
    let indices: &[Expr] = match expr {
        Expr::Variable(_) if is_it(expr) => &[],
        Expr::Subscript(array, indices) if is_it(array) => {
            indices.iter().for_each(|index| collect(index, variable, found));
            indices
        }
        Expr::LinearSubscript(array, _) if is_it(array) => return *found = None,
        Expr::SubArray(part) if part.array == *variable => return *found = None,
        _ => return expr.children().into_iter().for_each(|child| collect(child, variable, found)),
    };
    let affine: Option<Vec<Affine>> = indices.iter().map(to_affine).collect();
    match (affine, found.as_mut()) {
        (Some(affine), Some(list)) => list.push(affine),
        _ => *found = None,
    }
}
