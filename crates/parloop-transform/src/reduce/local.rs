//! Reductions over the work items of a group: each stores its part in local memory, and a tree of halves combines them.

use std::sync::Arc;

use parloop_ir::affine::from_affine;
use parloop_ir::fold;
use parloop_ir::syntax::{AddressSpace, Expr, Iname, InameTag, Instruction, Reduction, Type};
use parloop_isl::{Affine, Constraint, Name, Set};

use super::ReduceError;
use super::realize::{Order, Realized, Realizer};

/// An axis of local memory: the values of an iname, counted from the smallest.
pub(super) struct LocalAxis {
    iname: Name,
    first: Affine,
    pub(super) length: i64,
}

/// Places `step*s` that take in what is `apart` places further, for each `s` of that many.
struct Stage {
    count: i64,
    step: i64,
    apart: i64,
}

/// The stages in which that many places become one: the lower half takes in the upper one, so that memory is read in rows; or, where order
/// matters, each takes in its neighbour.
fn stages(length: i64, has_order: bool) -> Vec<Stage> {
    let mut stages = Vec::new();
    if has_order {
        let mut apart = 1;
        while apart < length {
            stages.push(Stage { count: (length - apart + 2 * apart - 1) / (2 * apart), step: 2 * apart, apart });
            apart *= 2;
        }
        return stages;
    }
    let mut length = length;
    while length > 1 {
        let half = (length + 1) / 2;
        stages.push(Stage { count: length - half, step: 1, apart: half });
        length = half;
    }
    stages
}

impl LocalAxis {
    /// The place of the iname's value.
    pub(super) fn index(&self) -> Expr {
        fold::subtract(Expr::Variable(self.iname.clone()), from_affine(&self.first))
    }
}

impl Realizer<'_> {
    /// Over `alone` by each work item, then over `shared` by the items of the group.
    pub(super) fn local(
        &mut self,
        reduction: &Reduction,
        alone: &[Name],
        shared: &Name,
        like: &Instruction,
    ) -> Result<Realized, ReduceError> {
        if reduction.op.has_order() && reduction.inames[0] != *shared {
            let (instruction, op) = (like.id.clone(), reduction.op.clone());
            return Err(ReduceError::Interleaved { instruction, op, shared: shared.clone(), around: reduction.inames[0].clone() });
        }
        let tag = self.placement(shared).cloned().unwrap_or(InameTag::LocalAuto);
        let own = self.axis(shared, like)?;
        let outer = self.outer_axes(like, shared)?;
        let mut lengths: Vec<i64> = outer.iter().map(|axis| axis.length).collect();
        lengths.push(own.length);
        let outer: Vec<Expr> = outer.iter().map(LocalAxis::index).collect();

        let operand_types = self.operand_types(reduction, like)?;
        let types = operand_types.as_ref().map(|types| reduction.op.result_types(types));
        let arrays = self.locals(&format!("acc_{shared}"), types.as_deref(), &lengths, reduction.op.arity());
        let at = |index: Expr| -> Vec<Expr> {
            arrays.iter().map(|array| Expr::subscript(array.clone(), outer.iter().cloned().chain([index.clone()]))).collect()
        };

        // Every place has a value, also those whose work item has no point.
        let base = self.stage_iname(shared, "base", 0, own.length, &tag);
        let mut first = self.before_loops(like, &[alone, std::slice::from_ref(shared)].concat());
        first.within_inames.insert(base.clone());
        first.predicates.clear();
        let start = reduction.op.neutral(types.as_deref())?;
        let order = Order::of(&at(Expr::int(0)), &like.within_inames);
        let started = self.assignments(&at(Expr::Variable(base)), &start, &format!("{}_{shared}_init", like.id), &order.at(0, &first));

        let mut part = like.clone();
        part.within_inames.insert(shared.clone());
        let mut reduced = reduction.clone();
        if !alone.is_empty() {
            let inner = self.sequential(reduction, alone, &part)?;
            part.depends_on.extend(inner.after);
            Arc::make_mut(&mut part.origin).of.extend(inner.times);
            reduced.operands = inner.results;
        }
        part.depends_on.extend(started);
        let mut after =
            self.assignments(&at(own.index()), &reduced.operands, &format!("{}_{shared}_transfer", like.id), &order.at(1, &part));

        let mut last = None;
        let mut stage = 0;
        for Stage { count, step: by, apart } in stages(own.length, reduction.op.has_order()) {
            let iname = self.stage_iname(shared, &format!("s{stage}"), 0, count, &tag);
            let mut step = like.clone();
            step.predicates.clear();
            step.within_inames.insert(iname.clone());
            step.depends_on.extend(after);
            let place = fold::multiply(Expr::int(by), Expr::Variable(iname.clone()));
            let (left, right) = (at(place.clone()), at(fold::add(place, Expr::int(apart))));
            let pair = Reduction { operands: right, ..reduction.clone() };
            let step = order.at(2 + stage, &step);
            after = self.update(&pair, &left, &format!("{}_{shared}_stage_{stage}", like.id), &step)?;
            (last, stage) = (Some(iname), stage + 1);
        }
        // The first work item has the result.
        let within = match last {
            Some(iname) => iname,
            None => self.stage_iname(shared, "result", 0, 1, &tag),
        };
        Ok(Realized { results: at(Expr::int(0)), after, within: Some(within), times: order.times(2 + stage, &[]) })
    }

    /// The local axes that the instruction is within already.
    pub(super) fn outer_axes(&self, like: &Instruction, except: &Name) -> Result<Vec<LocalAxis>, ReduceError> {
        let local = |iname: &&Name| *iname != except && matches!(self.placement(iname), Some(InameTag::Local(_) | InameTag::LocalAuto));
        like.within_inames.iter().filter(local).map(|iname| self.axis(iname, like)).collect()
    }

    /// The values of an iname as an axis; how many there are must be a number.
    pub(super) fn axis(&self, iname: &Name, like: &Instruction) -> Result<LocalAxis, ReduceError> {
        let domain = self.kernel.domain_of(&std::iter::once(iname.clone()).collect())?;
        let inner = domain.project_onto(std::slice::from_ref(iname))?;
        let (first, last) = (inner.static_min(iname, &self.kernel.assumptions)?, inner.static_max(iname, &self.kernel.assumptions)?);
        let extent = last.sub(&first)?.add(&Affine::constant(1))?;
        match extent.as_constant() {
            Some(length) => Ok(LocalAxis { iname: iname.clone(), first, length: length.max(1) }),
            None => Err(ReduceError::NotConstant { instruction: like.id.clone(), iname: iname.clone(), extent: extent.to_string() }),
        }
    }

    /// Arrays in local memory.
    pub(super) fn locals(&mut self, base: &str, types: Option<&[Type]>, shape: &[i64], count: usize) -> Vec<Name> {
        let ty = |index: usize| types.map(|types| types[index].clone());
        (0..count).map(|index| self.temporary(base, ty(index), AddressSpace::Local, shape)).collect()
    }

    /// An iname from `first` up to `end`, which is not one of its values, with that tag.
    pub(super) fn stage_iname(&mut self, of: &Name, what: &str, first: i64, end: i64, tag: &InameTag) -> Name {
        // Reductions of one instruction share them: an instruction is within one iname along each axis.
        if let Some(known) = self.stages.get(&(tag.clone(), first, end)) {
            return known.clone();
        }
        let iname = self.names.make(&format!("red_{of}_{what}"));
        self.stages.insert((tag.clone(), first, end), iname.clone());
        let (own, one) = (Affine::name(iname.clone()), Affine::constant(1));
        let bound = |affine: Result<Affine, _>| affine.map(Constraint::not_negative);
        let lower = bound(own.sub(&Affine::constant(first)));
        let upper = bound(Affine::constant(end).sub(&own).and_then(|rest| rest.sub(&one)));
        let constraints =
            [lower, upper].into_iter().map(|c: Result<Constraint, parloop_isl::IslError>| c.expect("invariant: small numbers fit"));
        self.kernel.domains.push(Set::bounded(std::slice::from_ref(&iname), constraints.collect()));
        self.kernel.inames.insert(iname.clone(), Iname { tags: [tag.clone()].into(), ..Iname::default() });
        iname
    }
}
