//! Reductions that one work item does alone: `acc = start`, `acc = acc + e` for each point, then `acc` in the place of the reduction.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::ReduceError;
use crate::names::UniqueNames;
use crate::syntax::{AddressSpace, Expr, Instruction, InstructionKind, Layout, LoopKernel, Reduction, Temporary, UnaryOp};

/// The type of an expression of the kernel, or why it has none.
pub(super) type TypeOf<'a> = dyn Fn(&LoopKernel, &Expr) -> Result<DType, String> + 'a;

/// Realises every reduction of a kernel whose types are known, one point after the other.
///
/// A reduction in a branch of `a if c else b` is done where the branch is taken. One inside another becomes part of its update.
///
/// # Errors
/// [`ReduceError`]; the kernel is as it was.
pub fn realize_sequential(kernel: &LoopKernel, type_of: &TypeOf<'_>) -> Result<LoopKernel, ReduceError> {
    let mut realizer = Realizer {
        names: UniqueNames::of_variables(kernel),
        ids: UniqueNames::of_instructions(kernel),
        kernel: kernel.clone(),
        type_of,
        added: Vec::new(),
    };
    let mut done = Vec::with_capacity(kernel.instructions.len());
    for instruction in &kernel.instructions {
        if instruction.exprs().into_iter().all(|expr| !has_reduction(expr)) {
            done.push(instruction.clone());
            continue;
        }
        let mut work = VecDeque::from([(**instruction).clone()]);
        while let Some(instruction) = work.pop_front() {
            let realized = realizer.instruction(instruction)?;
            // Updates may hold inner reductions; they come before what uses them.
            for added in realizer.added.drain(..) {
                match added.exprs().into_iter().any(has_reduction) {
                    true => work.push_back(added),
                    false => done.push(Arc::new(added)),
                }
            }
            done.push(Arc::new(realized));
        }
    }
    realizer.kernel.instructions = done;
    Ok(realizer.kernel)
}

fn has_reduction(expr: &Expr) -> bool {
    expr.any(&mut |inside| matches!(inside, Expr::Reduction(_)))
}

struct Realizer<'a> {
    kernel: LoopKernel,
    names: UniqueNames,
    ids: UniqueNames,
    type_of: &'a TypeOf<'a>,
    /// Instructions made for the one at hand.
    added: Vec<Instruction>,
}

/// Where a reduction stands.
struct Place<'a> {
    instruction: &'a Instruction,
    /// What holds where its value is needed, beside the instruction's own predicates.
    conditions: BTreeSet<Expr>,
}

impl Realizer<'_> {
    fn instruction(&mut self, instruction: Instruction) -> Result<Instruction, ReduceError> {
        let mut after = instruction.depends_on.clone();
        let realized = match &instruction.kind {
            InstructionKind::Call(call) => match &call.rhs {
                Expr::Reduction(reduction) => {
                    let place = Place { instruction: &instruction, conditions: BTreeSet::new() };
                    let (results, updates) = self.reduction(reduction, &place)?;
                    after.extend(updates);
                    return Ok(self.assign_results(&instruction, results, after));
                }
                _ => instruction.try_map_exprs(&mut |expr| self.top(expr, &instruction, &mut after))?,
            },
            _ => instruction.try_map_exprs(&mut |expr| self.top(expr, &instruction, &mut after))?,
        };
        Ok(Instruction { depends_on: after, ..realized })
    }

    /// `a, b = acc_a, acc_b`: one assignment for each result; the last keeps the instruction's id and waits for the others.
    fn assign_results(&mut self, instruction: &Instruction, results: Vec<Expr>, mut after: BTreeSet<Name>) -> Instruction {
        let lhs: Vec<Expr> = instruction.lhs().into_iter().cloned().collect();
        let last = lhs.len() - 1;
        for (lhs, result) in lhs.iter().zip(&results).take(last) {
            let id = self.ids.make(&format!("{}_result", instruction.id));
            let assign = Instruction::assign(id.clone(), lhs.clone(), result.clone());
            self.added.push(Instruction { kind: assign.kind, id: id.clone(), depends_on: after.clone(), ..instruction.clone() });
            after.insert(id);
        }
        let kind = Instruction::assign(instruction.id.clone(), lhs[last].clone(), results[last].clone()).kind;
        Instruction { kind, depends_on: after, ..instruction.clone() }
    }

    fn top(&mut self, expr: &Expr, instruction: &Instruction, after: &mut BTreeSet<Name>) -> Result<Expr, ReduceError> {
        if !has_reduction(expr) {
            return Ok(expr.clone());
        }
        self.expr(expr, &Place { instruction, conditions: BTreeSet::new() }, after)
    }

    fn expr(&mut self, expr: &Expr, place: &Place<'_>, after: &mut BTreeSet<Name>) -> Result<Expr, ReduceError> {
        match expr {
            Expr::Reduction(reduction) => {
                let (mut results, updates) = self.reduction(reduction, place)?;
                if results.len() != 1 {
                    let (instruction, op) = (place.instruction.id.clone(), reduction.op.clone());
                    return Err(ReduceError::SeveralResults { instruction, op, results: results.len() });
                }
                after.extend(updates);
                Ok(results.remove(0))
            }
            Expr::If(parts) => {
                let condition = self.expr(&parts[0], place, after)?;
                let yes = place.where_holds(condition.clone());
                let no = place.where_holds(Expr::Unary(UnaryOp::Not, Arc::new(condition.clone())));
                Ok(Expr::choose(condition, self.expr(&parts[1], &yes, after)?, self.expr(&parts[2], &no, after)?))
            }
            _ => expr.try_map_children(&mut |child| self.expr(child, place, after)),
        }
    }

    /// Makes accumulators, their start and their update; gives them and the ids of what must be done before they are used.
    fn reduction(&mut self, reduction: &Reduction, place: &Place<'_>) -> Result<(Vec<Expr>, Vec<Name>), ReduceError> {
        let instruction = place.instruction;
        let op = &reduction.op;
        if reduction.operands.len() != op.arity() {
            let (expected, found) = (op.arity(), reduction.operands.len());
            return Err(ReduceError::WrongArity { instruction: instruction.id.clone(), op: op.clone(), expected, found });
        }
        let inames = reduction.inames.iter().map(Name::as_str).collect::<Vec<_>>().join("_");
        let operand_types =
            reduction.operands.iter().map(|operand| self.number_type(operand, instruction)).collect::<Result<Vec<_>, _>>()?;
        let types = op.result_types(&operand_types);
        let accumulators: Vec<Expr> = types.iter().map(|&dtype| self.temporary(&format!("acc_{inames}"), dtype)).collect();

        let predicates: BTreeSet<Expr> = instruction.predicates.union(&place.conditions).cloned().collect();
        let outer = Instruction { predicates, nosync: instruction.nosync.clone(), ..instruction.clone() };
        let start = self.assignments(&accumulators, &op.neutral(&types)?, &format!("{}_{inames}_init", instruction.id), &outer);

        let mut within = instruction.within_inames.clone();
        within.extend(reduction.inames.iter().cloned());
        let mut inner = Instruction { within_inames: within, ..outer };
        inner.depends_on.extend(start);
        let base = format!("{}_{inames}_update", instruction.id);
        let updates = match op.arity() {
            1 => self.assignments(&accumulators, &op.combine(&accumulators, &reduction.operands)?, &base, &inner),
            _ => {
                // Each value is computed from all the others as they were: through names of their own.
                let values: Vec<Expr> = operand_types.iter().map(|&dtype| self.temporary(&format!("val_{inames}"), dtype)).collect();
                let read = self.assignments(&values, &reduction.operands, &format!("{base}_value"), &inner);
                inner.depends_on.extend(read);
                let combined: Vec<Expr> = types.iter().map(|&dtype| self.temporary(&format!("next_{inames}"), dtype)).collect();
                let made = self.assignments(&combined, &op.combine(&accumulators, &values)?, &format!("{base}_next"), &inner);
                inner.depends_on.extend(made);
                self.assignments(&accumulators, &combined, &base, &inner)
            }
        };
        Ok((accumulators, updates))
    }

    /// `lhs = rhs` for each pair, otherwise as `like`.
    fn assignments(&mut self, lhs: &[Expr], rhs: &[Expr], id: &str, like: &Instruction) -> Vec<Name> {
        let mut made = Vec::with_capacity(lhs.len());
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            let id = self.ids.make(id);
            let kind = Instruction::assign(id.clone(), lhs.clone(), rhs.clone()).kind;
            self.added.push(Instruction { id: id.clone(), kind, priority: like.priority, ..like.clone() });
            made.push(id);
        }
        made
    }

    fn temporary(&mut self, base: &str, dtype: DType) -> Expr {
        let name = self.names.make(base);
        let temporary = Temporary {
            name: name.clone(),
            ty: Some(dtype.into()),
            layout: Layout::scalar(),
            space: Some(AddressSpace::Private),
            initializer: None,
            read_only: false,
            base_storage: None,
            tags: BTreeSet::new(),
        };
        self.kernel.temporaries.insert(name.clone(), temporary);
        Expr::Variable(name)
    }

    fn number_type(&self, operand: &Expr, instruction: &Instruction) -> Result<DType, ReduceError> {
        (self.type_of)(&self.kernel, operand).map_err(|reason| ReduceError::Untyped {
            instruction: instruction.id.clone(),
            operand: format!("{operand:?}"),
            reason,
        })
    }
}

impl Place<'_> {
    fn where_holds(&self, condition: Expr) -> Place<'_> {
        let mut conditions = self.conditions.clone();
        conditions.insert(condition);
        Place { instruction: self.instruction, conditions }
    }
}
