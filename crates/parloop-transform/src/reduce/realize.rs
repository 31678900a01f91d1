//! Goes through a kernel and realises its reductions, innermost last.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::{ReduceError, separate};
use crate::make_reduction_inames_unique::copy_iname;
use crate::rule_inames::rename_bound;
use parloop_analysis::infer::SUM_TAG;
use parloop_device::DType;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{
    AddressSpace, Expr, InameTag, Instruction, InstructionKind, Layout, LoopKernel, Reduction, ReductionOp, Shape, Temporary, TimeStep,
    Type, UnaryOp,
};
use parloop_isl::Name;

/// The type of an expression of the kernel, or why it has none.
pub type TypeOf<'a> = dyn Fn(&LoopKernel, &Expr) -> Result<Type, String> + 'a;

/// Which reductions are realised, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Realization {
    /// Only those of these instructions; `None` is all.
    pub only: Option<BTreeSet<Name>>,
    /// Whether they are scans.
    pub scan: Scan,
    /// The iname along which results of scans grow, if it was said.
    pub sweep: Option<Name>,
}

/// Whether reductions become scans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scan {
    /// Never.
    #[default]
    No,
    /// Where they can.
    WherePossible,
    /// All of them; an error where one cannot.
    Always,
}

/// Realises the reductions of a kernel. Types that are not known are left to inference, where the reduction does not need them.
///
/// A reduction in a branch of `a if c else b` is done where the branch is taken. One inside another becomes part of its update.
///
/// # Errors
/// [`ReduceError`]; the kernel is as it was.
pub fn realize(kernel: &LoopKernel, how: &Realization, type_of: &TypeOf<'_>) -> Result<LoopKernel, ReduceError> {
    let mut realizer = Realizer {
        names: UniqueNames::of_variables(kernel),
        ids: UniqueNames::of_instructions(kernel),
        kernel: kernel.clone(),
        how,
        type_of,
        stages: BTreeMap::new(),
        added: Vec::new(),
        tags: BTreeSet::new(),
    };
    let mut done = Vec::with_capacity(kernel.instructions.len());
    for instruction in &kernel.instructions {
        let is_asked = how.only.as_ref().is_none_or(|only| only.contains(&instruction.id));
        if !is_asked || !instruction.exprs().into_iter().any(has_reduction) {
            done.push(instruction.clone());
            continue;
        }
        let mut work = VecDeque::from([(**instruction).clone()]);
        while let Some(instruction) = work.pop_front() {
            let realized = realizer.instruction(&instruction)?;
            // Updates may hold inner reductions, which are realised in turn.
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

pub(super) struct Realizer<'a> {
    pub(super) kernel: LoopKernel,
    pub(super) names: UniqueNames,
    pub(super) ids: UniqueNames,
    pub(super) how: &'a Realization,
    pub(super) type_of: &'a TypeOf<'a>,
    /// Inames of work items that combine results, by tag and limits, for the instruction at hand.
    pub(super) stages: BTreeMap<(InameTag, i64, i64), Name>,
    /// Instructions made for the one at hand.
    pub(super) added: Vec<Instruction>,
    /// Those of temporaries that are made for the reduction at hand.
    tags: BTreeSet<Name>,
}

/// The context of a reduction.
pub(super) struct ReductionSite<'a> {
    pub(super) instruction: &'a Instruction,
    /// What holds where its value is needed, beside the instruction's own predicates.
    conditions: BTreeSet<Expr>,
}

/// A realised reduction.
pub(super) struct Realized {
    /// Its results.
    pub(super) results: Vec<Expr>,
    /// The instructions on which their uses depend.
    pub(super) after: Vec<Name>,
    /// An iname that who uses them must be within: that of the work item which has them.
    pub(super) within: Option<Name>,
    /// When the results are used, in the order of the variables that hold them.
    pub(super) times: Vec<(Name, Vec<TimeStep>)>,
}

/// The order of the variables that a reduction brings: in each turn of the loops around it, at places one after the other.
pub(super) struct Order {
    names: Vec<Name>,
    around: Vec<TimeStep>,
}

impl Order {
    /// Of those variables, which have values of their own for each value of the inames.
    pub(super) fn of<'n>(variables: &[Expr], inames: impl IntoIterator<Item = &'n Name>) -> Order {
        let names = variables.iter().filter_map(Expr::written_name).cloned().collect();
        Order { names, around: inames.into_iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone()))).collect() }
    }

    /// When they are used at a place, and inside it at a value of a loop.
    pub(super) fn times(&self, place: i64, inside: &[TimeStep]) -> Vec<(Name, Vec<TimeStep>)> {
        let steps: Vec<TimeStep> = self.around.iter().cloned().chain([TimeStep::At(place)]).chain(inside.iter().cloned()).collect();
        self.names.iter().map(|name| (name.clone(), steps.clone())).collect()
    }

    /// An instruction that uses them at a place.
    pub(super) fn at(&self, place: i64, instruction: &Instruction) -> Instruction {
        self.at_step(place, &[], instruction)
    }

    /// An instruction that uses them at a place, at a value of a loop inside it.
    pub(super) fn at_step(&self, place: i64, inside: &[TimeStep], instruction: &Instruction) -> Instruction {
        let mut origin = (*instruction.origin).clone();
        origin.of.extend(self.times(place, inside));
        Instruction { origin: Arc::new(origin), ..instruction.clone() }
    }

    /// An instruction whose instances update them in any order.
    pub(super) fn updating(&self, instruction: &Instruction) -> Instruction {
        let mut origin = (*instruction.origin).clone();
        origin.commutes.extend(self.names.iter().cloned());
        Instruction { origin: Arc::new(origin), ..instruction.clone() }
    }
}

impl Realizer<'_> {
    fn instruction(&mut self, instruction: &Instruction) -> Result<Instruction, ReduceError> {
        self.stages.clear();
        let guarded = self.guards(instruction)?;
        let instruction = &guarded;
        let mut uses = Uses::default();
        if let InstructionKind::Call(call) = &instruction.kind
            && let Expr::Reduction(reduction) = &call.rhs
        {
            let realized = self.reduction(reduction, &ReductionSite { instruction, conditions: BTreeSet::new() })?;
            if realized.results.len() != call.lhs.len() {
                let (instruction, op, results) = (instruction.id.clone(), reduction.op.clone(), realized.results.len());
                return Err(ReduceError::WrongResults { instruction, op, results, expected: call.lhs.len() });
            }
            uses.take(&realized);
            return Ok(self.assign_results(&uses.applied(instruction), &call.lhs, &realized.results));
        }
        let realized = instruction.try_map_exprs(&mut |expr| match has_reduction(expr) {
            true => self.expr(expr, &ReductionSite { instruction, conditions: BTreeSet::new() }, &mut uses),
            false => Ok(expr.clone()),
        })?;
        Ok(uses.applied(&realized))
    }

    /// The instruction with the reductions in its conditions realised, where the other conditions hold.
    fn guards(&mut self, instruction: &Instruction) -> Result<Instruction, ReduceError> {
        let (open, plain): (BTreeSet<Expr>, BTreeSet<Expr>) = instruction.predicates.iter().cloned().partition(has_reduction);
        let mut guarded = Instruction { predicates: plain, ..instruction.clone() };
        let like = guarded.clone();
        for predicate in open {
            let mut uses = Uses::default();
            let value = self.expr(&predicate, &ReductionSite { instruction: &like, conditions: BTreeSet::new() }, &mut uses)?;
            guarded = uses.applied(&guarded);
            guarded.predicates.insert(value);
        }
        Ok(guarded)
    }

    /// `a, b = acc_a, acc_b`: one assignment for each result; the last keeps the instruction's id and waits for the others.
    fn assign_results(&mut self, instruction: &Instruction, lhs: &[Expr], results: &[Expr]) -> Instruction {
        let mut last = instruction.clone();
        for (index, (lhs, result)) in lhs.iter().zip(results).enumerate() {
            let kind = Instruction::assign(instruction.id.clone(), lhs.clone(), result.clone()).kind;
            if index + 1 == results.len() {
                return Instruction { kind, ..last };
            }
            let id = self.ids.make(&format!("{}_result", instruction.id));
            self.added.push(Instruction { kind, id: id.clone(), ..instruction.clone() });
            last.depends_on.insert(id);
        }
        last
    }

    fn expr(&mut self, expr: &Expr, place: &ReductionSite<'_>, uses: &mut Uses) -> Result<Expr, ReduceError> {
        match expr {
            Expr::Reduction(reduction) => {
                let mut realized = self.reduction(reduction, place)?;
                if realized.results.len() != 1 {
                    let (instruction, op, results) = (place.instruction.id.clone(), reduction.op.clone(), realized.results.len());
                    return Err(ReduceError::WrongResults { instruction, op, results, expected: 1 });
                }
                uses.take(&realized);
                Ok(realized.results.remove(0))
            }
            Expr::If(parts) => {
                let condition = self.expr(&parts[0], place, uses)?;
                // What the branches compute waits for the condition.
                let own = uses.clone().applied(place.instruction);
                let instruction = if has_reduction(&parts[0]) { &own } else { place.instruction };
                let place = ReductionSite { instruction, conditions: place.conditions.clone() };
                let yes = place.where_holds(condition.clone());
                let no = place.where_holds(Expr::Unary(UnaryOp::Not, Arc::new(condition.clone())));
                Ok(Expr::choose(condition, self.expr(&parts[1], &yes, uses)?, self.expr(&parts[2], &no, uses)?))
            }
            _ => expr.try_map_children(&mut |child| self.expr(child, place, uses)),
        }
    }

    fn reduction(&mut self, reduction: &Reduction, place: &ReductionSite<'_>) -> Result<Realized, ReduceError> {
        let reduction = &self.after_its_condition(reduction, place)?;
        let (instruction, op) = (place.instruction, &reduction.op);
        if reduction.operands.len() != op.arity() {
            let (expected, found) = (op.arity(), reduction.operands.len());
            return Err(ReduceError::WrongArity { instruction: instruction.id.clone(), op: op.clone(), expected, found });
        }
        // The guard of what is made for it; dependencies are the instruction's.
        let predicates = instruction.predicates.union(&place.conditions).cloned().collect();
        let like = Instruction { predicates, ..instruction.clone() };
        if let Some(iname) = reduction.inames.iter().find(|iname| instruction.within_inames.contains(*iname)) {
            return Err(ReduceError::OverOwn { instruction: instruction.id.clone(), iname: iname.clone() });
        }
        // Whether the instruction runs where the reduction has no points was decided when the kernel was created.
        let (inner, assumptions) = (separate::inames_of(reduction), &self.kernel.assumptions);
        separate::separate(&mut self.kernel.domains, &inner, &instruction.within_inames, &|around, domain| {
            separate::has_points_everywhere(around, domain, &inner, assumptions)
        })?;
        let is_sum = matches!(op, ReductionOp::Sum | ReductionOp::Product);
        self.tags = is_sum.then(|| SUM_TAG.into()).into_iter().collect();
        match self.how.scan {
            Scan::No => {}
            Scan::Always => return self.scan(reduction, &like),
            Scan::WherePossible => match self.scan(reduction, &like) {
                Err(ReduceError::NotTriangular { .. }) => {}
                done => return done,
            },
        }
        let (alone, shared) = self.by_tag(reduction, instruction)?;
        match shared {
            None => self.sequential(reduction, &alone, &like),
            Some(iname) => self.local(reduction, &alone, &iname, &like),
        }
    }

    /// A reduction that waits for another one over the same iname, in the condition under which it is needed, has a loop of its own.
    fn after_its_condition(&mut self, reduction: &Reduction, place: &ReductionSite<'_>) -> Result<Reduction, ReduceError> {
        let Instruction { id, depends_on, .. } = place.instruction;
        let mut own = Expr::Reduction(Arc::new(reduction.clone()));
        for iname in separate::inames_of(reduction) {
            let is_over = |made: &Instruction| depends_on.contains(&made.id) && made.within_inames.contains(&iname);
            if self.added.iter().any(is_over) {
                let copy = self.names.make(&iname);
                copy_iname(&mut self.kernel, &iname, &copy)
                    .map_err(|_| ReduceError::AfterItsCondition { instruction: id.clone(), iname: iname.clone() })?;
                own = rename_bound(&own, &iname, &copy);
            }
        }
        match own {
            Expr::Reduction(own) => Ok((*own).clone()),
            _ => Ok(reduction.clone()),
        }
    }

    /// The inames that each work item runs through by itself, and the one that the items of a group share, if there is one.
    fn by_tag(&self, reduction: &Reduction, instruction: &Instruction) -> Result<(Vec<Name>, Option<Name>), ReduceError> {
        let (mut alone, mut shared) = (Vec::new(), None);
        for iname in &reduction.inames {
            match self.placement(iname) {
                Some(InameTag::Group(_)) => {
                    return Err(ReduceError::OverGroups { instruction: instruction.id.clone(), iname: iname.clone() });
                }
                Some(InameTag::Local(_) | InameTag::LocalAuto) => {
                    if let Some(first) = shared.replace(iname.clone()) {
                        let (instruction, second) = (instruction.id.clone(), iname.clone());
                        return Err(ReduceError::TwoLocalAxes { instruction, first, second });
                    }
                }
                _ => alone.push(iname.clone()),
            }
        }
        Ok((alone, shared))
    }

    /// The tag that says how an iname is run.
    pub(super) fn placement(&self, iname: &Name) -> Option<&InameTag> {
        self.kernel.inames.get(iname)?.tags.iter().find(|tag| !matches!(tag, InameTag::Name(_)))
    }

    /// The types of what is reduced; `None` when they are not known and not needed.
    pub(super) fn operand_types(&self, reduction: &Reduction, like: &Instruction) -> Result<Option<Vec<Type>>, ReduceError> {
        let mut types = Vec::new();
        for operand in &reduction.operands {
            match (self.type_of)(&self.kernel, operand) {
                Ok(ty) => types.push(ty),
                Err(_) if !reduction.op.needs_types() => return Ok(None),
                Err(reason) => {
                    return Err(ReduceError::Untyped { instruction: like.id.clone(), op: reduction.op.clone(), reason });
                }
            }
        }
        Ok(Some(types))
    }

    /// As `like`, but not after what is done inside loops over those inames: it stands before these loops.
    pub(super) fn before_loops(&self, like: &Instruction, inames: &[Name]) -> Instruction {
        let is_inside = |id: &Name| {
            let made = self.added.iter().find(|instruction| instruction.id == *id);
            let known = made.or_else(|| self.kernel.instructions.iter().find(|instruction| instruction.id == *id).map(|found| &**found));
            known.is_some_and(|instruction| inames.iter().any(|iname| instruction.within_inames.contains(iname)))
        };
        let depends_on = like.depends_on.iter().filter(|id| !is_inside(id)).cloned().collect();
        Instruction { depends_on, ..like.clone() }
    }

    /// `lhs = rhs` for each pair, otherwise as `like`.
    pub(super) fn assignments(&mut self, lhs: &[Expr], rhs: &[Expr], id: &str, like: &Instruction) -> Vec<Name> {
        let mut made = Vec::with_capacity(lhs.len());
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            let id = self.ids.make(id);
            let kind = Instruction::assign(id.clone(), lhs.clone(), rhs.clone()).kind;
            self.added.push(Instruction { id: id.clone(), kind, ..like.clone() });
            made.push(id);
        }
        made
    }

    /// Private numbers of these types (one for each, not known where `types` is not).
    pub(super) fn privates(&mut self, base: &str, types: Option<&[Type]>, count: usize) -> Vec<Expr> {
        let ty = |index: usize| types.map(|types| types[index].clone());
        (0..count).map(|index| Expr::Variable(self.temporary(base, ty(index), AddressSpace::Private, &[]))).collect()
    }

    /// A temporary of its own.
    pub(super) fn temporary(&mut self, base: &str, ty: Option<Type>, space: AddressSpace, shape: &[i64]) -> Name {
        let name = self.names.make(base);
        let has_own_type = ty.as_ref().is_some_and(|ty| !ty.scalar().is_some_and(DType::is_integer));
        let temporary = Temporary {
            name: name.clone(),
            ty,
            layout: Layout::c_order(Shape::Known(shape.iter().map(|&length| Expr::int(length)).collect())),
            space: Some(space),
            initializer: None,
            read_only: false,
            base_storage: None,
            // A sum of floating-point numbers has the type that it has.
            tags: if has_own_type { BTreeSet::new() } else { self.tags.clone() },
        };
        self.kernel.temporaries.insert(name.clone(), temporary);
        name
    }
}

/// What an instruction gains by the reductions that were in it.
#[derive(Clone, Default)]
struct Uses {
    after: BTreeSet<Name>,
    within: BTreeSet<Name>,
    times: Vec<(Name, Vec<TimeStep>)>,
}

impl Uses {
    fn take(&mut self, realized: &Realized) {
        self.times.extend(realized.times.iter().cloned());
        self.after.extend(realized.after.iter().cloned());
        self.within.extend(realized.within.clone());
    }

    fn applied(self, instruction: &Instruction) -> Instruction {
        let mut applied = instruction.clone();
        applied.depends_on.extend(self.after);
        applied.within_inames.extend(self.within);
        if !self.times.is_empty() {
            Arc::make_mut(&mut applied.origin).of.extend(self.times);
        }
        applied
    }
}

impl ReductionSite<'_> {
    fn where_holds(&self, condition: Expr) -> ReductionSite<'_> {
        let mut conditions = self.conditions.clone();
        conditions.insert(condition);
        ReductionSite { instruction: self.instruction, conditions }
    }
}
