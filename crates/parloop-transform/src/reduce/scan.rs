//! Scans: reductions whose domain grows along another iname, so that each result is the last one and a few points more.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_ir::affine::from_affine;
use parloop_ir::fold;
use parloop_ir::matching::Query;
use parloop_ir::substitution::{expand_calls, expand_subst};
use parloop_ir::syntax::{Expr, Iname, InameTag, Instruction, Reduction, TimeStep};
use parloop_isl::{Affine, Bound, Constraint, Name, Set};

use super::ReduceError;
use super::realize::{Order, Realized, Realizer};

/// `first_scan <= scan <= last_scan` for each value of `sweep`; `last_scan` grows by `stride`, and the first value of `sweep` has at most that
/// many points.
struct Triangle {
    scan: Name,
    sweep: Name,
    first_scan: Affine,
    last_scan: Affine,
    stride: i64,
    /// How many points the first value of `sweep` has; fewer than none if more values have none.
    first_length: i64,
}

impl Realizer<'_> {
    pub(super) fn scan(&mut self, reduction: &Reduction, like: &Instruction) -> Result<Realized, ReduceError> {
        let triangle = self.triangle(reduction, like)?;
        match self.placement(&triangle.sweep) {
            None | Some(InameTag::Loop | InameTag::Ordered | InameTag::Unroll | InameTag::UnrollHint) => {
                self.sequential_scan(reduction, &triangle, like)
            }
            Some(InameTag::Local(_)) => self.local_scan(reduction, &triangle, like),
            Some(tag) => {
                let (instruction, sweep, tag) = (like.id.clone(), triangle.sweep.clone(), tag.to_string());
                Err(ReduceError::ScanTag { instruction, sweep, tag })
            }
        }
    }

    /// `acc` goes on from one value of `sweep` to the next.
    fn sequential_scan(&mut self, reduction: &Reduction, triangle: &Triangle, like: &Instruction) -> Result<Realized, ReduceError> {
        let Triangle { scan, sweep, .. } = triangle;
        let operand_types = self.operand_types(reduction, like)?;
        let types = operand_types.as_ref().map(|types| reduction.op.result_types(types));
        let accumulators = self.privates(&format!("acc_{scan}"), types.as_deref(), reduction.op.arity());

        let mut outer = self.before_loops(like, &[scan.clone(), sweep.clone()]);
        outer.within_inames.remove(sweep);
        outer.predicates.retain(|predicate| !predicate.variables().contains(sweep));
        let start = reduction.op.neutral(types.as_deref())?;
        let order = Order::of(&accumulators, like.within_inames.iter().filter(|iname| *iname != sweep));
        let turn = |place: i64| [TimeStep::Loop(Expr::Variable(sweep.clone())), TimeStep::At(place)];
        let started = self.assignments(&accumulators, &start, &format!("{}_{scan}_init", like.id), &order.at(0, &outer));

        let track = self.names.make(&format!("{scan}_scan"));
        self.kernel.domains.push(triangle.points_beyond_the_last(&track)?);
        self.kernel.inames.insert(track.clone(), Iname::default());
        let renamed = [(scan.clone(), Expr::Variable(track.clone()))].into();
        let operands = reduction.operands.iter().map(|operand| operand.substitute(&renamed)).collect();
        let mut inner = match reduction.op.has_order() {
            true => {
                let [value, place] = turn(0);
                order.at_step(1, &[value, place, TimeStep::Loop(Expr::Variable(track.clone()))], like)
            }
            false => order.updating(&order.at_step(1, &turn(0), like)),
        };
        inner.within_inames.insert(track);
        inner.depends_on.extend(started);
        // Guarded steps would be missing from all that follow.
        inner.predicates.retain(|predicate| !predicate.variables().contains(sweep));
        let step = Reduction { operands, ..reduction.clone() };
        let after = self.update(&step, &accumulators, &format!("{}_{scan}_update", like.id), &inner)?;
        Ok(Realized { results: accumulators, after, within: None, times: order.times(1, &turn(1)) })
    }

    /// Each work item has one point; in steps of 1, 2, 4 … each adds what stands so far before it.
    fn local_scan(&mut self, reduction: &Reduction, triangle: &Triangle, like: &Instruction) -> Result<Realized, ReduceError> {
        let Triangle { scan, sweep, stride, .. } = triangle;
        if triangle.first_length != 1 {
            return Err(
                triangle.misfit(like, format!("along a local axis, each value of `{sweep}` must add one point, starting with the first"))
            );
        }
        if *stride != 1 {
            return Err(triangle.misfit(like, format!("along a local axis it must grow by one point at a time, but it grows by {stride}")));
        }
        let tag = self.placement(sweep).cloned().unwrap_or(InameTag::LocalAuto);
        let own = self.axis(sweep, like)?;
        let outer: Vec<_> = self.outer_axes(like, sweep)?;
        let mut lengths: Vec<i64> = outer.iter().map(|axis| axis.length).collect();
        lengths.push(own.length);
        let outer: Vec<Expr> = outer.iter().map(|axis| axis.index()).collect();
        let operand_types = self.operand_types(reduction, like)?;
        let types = operand_types.as_ref().map(|types| reduction.op.result_types(types));
        let count = reduction.op.arity();
        let arrays = self.locals(&format!("acc_{scan}"), types.as_deref(), &lengths, count);
        let at = |index: Expr| -> Vec<Expr> {
            arrays.iter().map(|array| Expr::subscript(array.clone(), outer.iter().cloned().chain([index.clone()]))).collect()
        };

        let point = fold::add(own.index(), from_affine(&triangle.first_scan));
        let by_point = [(scan.clone(), point)].into();
        let operands: Vec<Expr> = reduction.operands.iter().map(|operand| operand.substitute(&by_point)).collect();
        let mut all = like.clone();
        all.predicates.retain(|predicate| !predicate.variables().contains(sweep));
        let order = Order::of(&at(Expr::int(0)), like.within_inames.iter().filter(|iname| *iname != sweep));
        let mut after = self.assignments(&at(own.index()), &operands, &format!("{}_{scan}_transfer", like.id), &order.at(0, &all));

        let (mut distance, mut stage) = (1, 0);
        while distance < own.length {
            let iname = self.stage_iname(scan, &format!("s{stage}"), distance, own.length, &tag);
            let mut step = like.clone();
            step.predicates = all.predicates.clone();
            step.within_inames.remove(sweep);
            step.within_inames.insert(iname.clone());
            step.depends_on.extend(after.clone());
            let earlier = self.privates(&format!("before_{scan}"), types.as_deref(), count);
            let joined = self.privates(&format!("joined_{scan}"), types.as_deref(), count);
            let own_order = Order::of(&[&earlier[..], &joined].concat(), &step.within_inames);
            let at_place = |place: i64, step: &Instruction| own_order.at(place, &order.at(3 * stage + 1 + place, step));
            let id = format!("{}_{scan}_stage_{stage}", like.id);
            let place = Expr::Variable(iname.clone());
            let read = self.assignments(
                &earlier,
                &at(fold::subtract(place.clone(), Expr::int(distance))),
                &format!("{id}_read"),
                &at_place(0, &step),
            );
            step.depends_on.extend(read);
            let combined = reduction.op.combine(&earlier, &at(place.clone()))?;
            let made = self.assignments(&joined, &combined, &format!("{id}_join"), &at_place(1, &step));
            step.depends_on.extend(made);
            after = self.assignments(&at(place), &joined, &id, &at_place(2, &step));
            (distance, stage) = (distance * 2, stage + 1);
        }
        Ok(Realized { results: at(own.index()), after, within: None, times: order.times(3 * stage + 1, &[]) })
    }

    /// An instruction that changes what is reduced from one value of the sweep to the next; any that writes it there where that is not known.
    fn changed_along(&self, like: &Instruction, operands: &[Expr], sweep: &Name, scan: &Name) -> Result<Option<Name>, ReduceError> {
        let read: BTreeSet<Name> = operands.iter().flat_map(Expr::variables).collect();
        let writes = |other: &&Arc<Instruction>| other.within_inames.contains(sweep) && !other.writes().is_disjoint(&read);
        let Some(other) = self.kernel.instructions.iter().find(writes) else { return Ok(None) };
        let Ok(expanded) = expand_subst(&self.kernel, &Query::All) else { return Ok(Some(other.id.clone())) };
        let facts = Facts::of(&expanded);
        let Some(&at) = facts.position.get(&like.id) else { return Ok(Some(other.id.clone())) };
        let changed = Dependences::of(&facts).changed_along((at, &read), sweep, scan)?;
        Ok(changed.map(|at| self.kernel.instructions[at].id.clone()))
    }

    /// The triangle that the reduction's domain is.
    fn triangle(&self, reduction: &Reduction, like: &Instruction) -> Result<Triangle, ReduceError> {
        let [scan] = &reduction.inames[..] else {
            let (instruction, scan) = (like.id.clone(), reduction.inames[0].clone());
            return Err(ReduceError::NotTriangular { instruction, scan, reason: "it runs over several inames".into() });
        };
        let misfit = |reason: String| ReduceError::NotTriangular { instruction: like.id.clone(), scan: scan.clone(), reason };
        let home = self.kernel.domains.iter().find(|domain| domain.has_dim(scan)).ok_or_else(|| misfit("it has no domain".into()))?;
        let sweep = match &self.how.sweep {
            Some(sweep) if like.within_inames.contains(sweep) => sweep.clone(),
            Some(sweep) => return Err(misfit(format!("the instruction is not within `{sweep}`"))),
            None => {
                let near = |iname: &&Name| home.has_dim(iname) || home.params().contains(iname);
                let candidates: Vec<&Name> = like.within_inames.iter().filter(near).collect();
                match candidates[..] {
                    [sweep] => sweep.clone(),
                    [] => return Err(misfit("its domain does not grow along an iname of the instruction".into())),
                    _ => {
                        let names = candidates.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
                        return Err(misfit(format!("it could grow along {names}; specify one")));
                    }
                }
            }
        };
        // What rules stand for counts too.
        let rules = &self.kernel.substitutions;
        let expanded: Result<Vec<Expr>, _> =
            reduction.operands.iter().map(|operand| expand_calls(operand, rules, &like.id, &|_| true)).collect();
        let operands = expanded.map_err(|error| misfit(error.to_string()))?;
        if operands.iter().any(|operand| operand.variables().contains(&sweep)) {
            return Err(misfit(format!("its operand depends on `{sweep}`, so results do not build on the ones before")));
        }
        if let Some(other) = self.changed_along(like, &operands, &sweep, scan)? {
            return Err(misfit(format!("`{other}` changes its operand from one value of `{sweep}` to the next")));
        }
        let both = [sweep.clone(), scan.clone()];
        let domain = self.kernel.domain_of(&both.iter().cloned().collect())?;
        let others: Vec<Name> = domain.dims().iter().filter(|dim| !both.contains(dim)).cloned().collect();
        let domain = domain.to_params(&others);
        // What is around it does not depend on its points, as far as domains of their own say so.
        let along = self.kernel.domain_of(&std::iter::once(sweep.clone()).collect())?;
        let inside: Vec<Name> = along.dims().iter().filter(|dim| *dim == scan).cloned().collect();
        let outside: Vec<Name> = along.dims().iter().filter(|dim| !both.contains(dim)).cloned().collect();
        let along = along.to_params(&outside).project_out(&inside)?;
        let only = |bounds: Vec<Bound>, what: &str| match <[Bound; 1]>::try_from(bounds) {
            Ok([Bound { affine, divisor: 1 }]) => Ok(affine),
            _ => Err(misfit(format!("{what} is not a single affine expression"))),
        };
        let limits = domain.bounds(scan)?;
        let along_limits = along.bounds(&sweep)?;
        let is_one_value = along_limits.lower == along_limits.upper;
        if has_gaps(&along, &sweep)? {
            return Err(misfit(format!("`{sweep}` has gaps: `{along}`")));
        }
        let first_sweep = only(along_limits.lower, &format!("the first value of `{sweep}`"))?;
        let first_scan = only(limits.lower, &format!("the first value of `{scan}`"))?;
        let last_scan = only(limits.upper, &format!("the last value of `{scan}`"))?;
        // Along one value nothing grows: any stride fits, if the domain is as long as that of a scan.
        let steps = Affine::name(sweep.clone()).sub(&first_sweep)?;
        let last_scan = match is_one_value {
            true => steps.scale(last_scan.coefficient(&sweep).max(1))?.add(&first_scan)?,
            false => last_scan,
        };
        let stride = last_scan.coefficient(&sweep);
        let first_length = last_scan.substitute(&sweep, &first_sweep)?.sub(&first_scan)?.add(&Affine::constant(1))?.as_constant();
        let Some(first_length) = first_length.filter(|&length| stride >= 1 && length <= stride && !first_scan.mentions(&sweep)) else {
            let expected = steps.scale(stride.max(1))?.add(&first_scan)?;
            return Err(misfit(format!("its last point is `{last_scan}`, but a scan along `{sweep}` needs `{expected}`")));
        };
        let triangle = Triangle { scan: scan.clone(), sweep: sweep.clone(), first_scan, last_scan, stride, first_length };
        let own = Affine::name(scan.clone());
        let whole = along.add_dims(std::slice::from_ref(scan)).constrain(&[
            Constraint::not_negative(own.sub(&triangle.first_scan)?),
            Constraint::not_negative(triangle.last_scan.sub(&own)?),
        ])?;
        match domain.is_equal(&whole)? {
            true => Ok(triangle),
            false => Err(misfit(format!("its domain `{domain}` has additional constraints"))),
        }
    }
}

/// Whether values of an iname are missing between others.
fn has_gaps(domain: &Set, iname: &Name) -> Result<bool, ReduceError> {
    let [below, above]: [Name; 2] = ["below", "above"].map(|side| format!("{iname}@{side}").into());
    let at = |side: &Name| domain.rename(&|name| (name == iname).then(|| side.clone()));
    let own = Affine::name(iname.clone());
    let one = Affine::constant(1);
    let between = [own.sub(&Affine::name(below.clone()))?.sub(&one)?, Affine::name(above.clone()).sub(&own)?.sub(&one)?];
    let inside = at(&below)?.join(&at(&above)?)?.add_dims(std::slice::from_ref(iname));
    let inside = inside.constrain(&between.map(Constraint::not_negative))?.project_onto(domain.dims())?;
    Ok(!inside.subtract(domain)?.is_empty()?)
}

impl Triangle {
    /// The points that a value of `sweep` adds to those of the value before it.
    fn points_beyond_the_last(&self, iname: &Name) -> Result<Set, ReduceError> {
        let (own, last) = (Affine::name(iname.clone()), &self.last_scan);
        let before = last.sub(&Affine::constant(self.stride))?;
        Ok(Set::bounded(
            std::slice::from_ref(iname),
            vec![
                Constraint::not_negative(own.sub(&self.first_scan)?),
                Constraint::not_negative(own.sub(&before)?.sub(&Affine::constant(1))?),
                Constraint::not_negative(last.sub(&own)?),
            ],
        ))
    }

    fn misfit(&self, like: &Instruction, reason: String) -> ReduceError {
        ReduceError::NotTriangular { instruction: like.id.clone(), scan: self.scan.clone(), reason }
    }
}
