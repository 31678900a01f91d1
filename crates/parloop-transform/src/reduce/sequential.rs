//! Reductions that one work item does alone: `acc = start`, `acc = acc + e` for each point, then `acc` in place of the reduction.

use parloop_ir::syntax::{Expr, Instruction, Reduction, TimeStep};
use parloop_isl::Name;

use super::ReduceError;
use super::realize::{Order, Realized, Realizer};

impl Realizer<'_> {
    /// Over the inames `alone`; guard, inames and dependencies are those of `like`.
    pub(super) fn sequential(&mut self, reduction: &Reduction, alone: &[Name], like: &Instruction) -> Result<Realized, ReduceError> {
        let label = alone.iter().map(Name::as_str).collect::<Vec<_>>().join("_");
        let operand_types = self.operand_types(reduction, like)?;
        let types = operand_types.as_ref().map(|types| reduction.op.result_types(types));
        let accumulators = self.privates(&format!("acc_{label}"), types.as_deref(), reduction.op.arity());
        let start = reduction.op.neutral(types.as_deref())?;
        let order = Order::of(&accumulators, &like.within_inames);
        let first = order.at(0, &self.before_loops(like, alone));
        let started = self.assignments(&accumulators, &start, &format!("{}_{label}_init", like.id), &first);

        let mut inner = match reduction.op.has_order() {
            true => {
                let has_said = |chain: &Vec<Name>| chain.iter().filter(|iname| alone.contains(iname)).count() > 1;
                if alone.len() > 1 && !self.kernel.priorities.iter().any(has_said) {
                    self.kernel.priorities.insert(alone.to_vec());
                }
                let points: Vec<TimeStep> = alone.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone()))).collect();
                order.at_step(1, &points, like)
            }
            false => order.updating(&order.at(1, like)),
        };
        inner.within_inames.extend(alone.iter().cloned());
        inner.depends_on.extend(started);
        let after = self.update(reduction, &accumulators, &format!("{}_{label}_update", like.id), &inner)?;
        Ok(Realized { results: accumulators, after, within: None, times: order.times(2, &[]) })
    }

    /// `accumulators = accumulators ⊕ operands`, as `like` says.
    pub(super) fn update(
        &mut self,
        reduction: &Reduction,
        accumulators: &[Expr],
        id: &str,
        like: &Instruction,
    ) -> Result<Vec<Name>, ReduceError> {
        let op = &reduction.op;
        if op.arity() == 1 {
            return Ok(self.assignments(accumulators, &op.combine(accumulators, &reduction.operands)?, id, like));
        }
        // Each result is computed from all of them as they were: through names of their own.
        let operand_types = self.operand_types(reduction, like)?;
        let types = operand_types.as_ref().map(|types| op.result_types(types));
        let mut like = like.clone();
        let values = self.privates("value", operand_types.as_deref(), op.arity());
        let next = self.privates("next", types.as_deref(), op.arity());
        let order = Order::of(&[&values[..], &next].concat(), &like.within_inames);
        let read = self.assignments(&values, &reduction.operands, &format!("{id}_value"), &order.at(0, &like));
        like.depends_on.extend(read);
        let made = self.assignments(&next, &op.combine(accumulators, &values)?, &format!("{id}_next"), &order.at(1, &like));
        like.depends_on.extend(made);
        Ok(self.assignments(accumulators, &next, id, &order.at(2, &like)))
    }
}
