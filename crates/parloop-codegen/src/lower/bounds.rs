//! Loop bounds and conditions from domains: the bounds of an iname inside the loops around it, and the conditions of an instruction's
//! domain that these loops do not ensure. The solver is used only if the constraints do not show the answer directly.

use std::collections::BTreeSet;

use parloop_device::DType;
use parloop_ir::fold;
use parloop_ir::syntax::{BinaryOp, CompareOp, Expr, LoopKernel, Type, UnaryOp};
use parloop_isl::{Affine, Atom, Bound, Bounds, Constraint, ConstraintKind, IslError, Name, Set};

use super::scope::Scope;
use super::tree::{Op, Routine, Value, ValueKind};
use super::{LowerError, number};

/// The values of an iname inside the loops around it.
pub(super) struct Range {
    pub(super) lower: Vec<Bound>,
    pub(super) upper: Vec<Bound>,
    /// `(m, r)`: values are `r` modulo `m`.
    pub(super) stride: Option<(i64, Affine)>,
    /// What its limits say of the iname; what the stride says is not among it.
    pub(super) facts: Vec<Constraint>,
}

impl Range {
    /// Its smallest and largest value, if they are constants.
    pub(super) fn constants(&self) -> Option<(i64, i64)> {
        let all =
            |bounds: &[Bound]| bounds.iter().map(|bound| Some((bound.affine.as_constant()?, bound.divisor))).collect::<Option<Vec<_>>>();
        let lower = all(&self.lower)?.into_iter().map(|(value, divisor)| -(-value).div_euclid(divisor)).max()?;
        let upper = all(&self.upper)?.into_iter().map(|(value, divisor)| value.div_euclid(divisor)).min()?;
        Some((lower, upper))
    }

    /// The range in three parts: this many first values, those between, this many last values. Between them, conditions that only the ends
    /// need are seen not to be needed.
    pub(super) fn slabs(self, iname: &Name, (first, last): (u32, u32)) -> Result<Vec<Range>, LowerError> {
        let ([lower], [upper], None) = (self.lower.as_slice(), self.upper.as_slice(), &self.stride) else { return Ok(vec![self]) };
        let whole = |bound: &Bound| bound.divisor == 1;
        if (first, last) == (0, 0) || !whole(lower) && first > 0 {
            return Ok(vec![self]);
        }
        let value = Affine::name(iname.clone());
        let one = Affine::constant(1);
        // The first value between, and the last one.
        let begin = Bound { affine: lower.affine.add(&Affine::constant(i64::from(first) * lower.divisor))?, divisor: lower.divisor };
        let end = Bound { affine: upper.affine.sub(&Affine::constant(i64::from(last) * upper.divisor))?, divisor: upper.divisor };
        let from_begin = Constraint::not_negative(value.scale(begin.divisor)?.sub(&begin.affine)?);
        let to_end = Constraint::not_negative(end.affine.sub(&value.scale(end.divisor)?)?);
        let part = |lower: Vec<Bound>, upper: Vec<Bound>, more: Vec<Constraint>| {
            let facts = self.facts.iter().cloned().chain(more).collect();
            Range { lower, upper, stride: None, facts }
        };
        let mut parts = Vec::new();
        if first > 0 {
            let before = Bound { affine: begin.affine.sub(&one)?, divisor: 1 };
            parts.push(part(vec![lower.clone()], vec![before, upper.clone()], Vec::new()));
        }
        parts.push(part(vec![begin.clone()], vec![end.clone()], vec![from_begin.clone(), to_end]));
        if last > 0 {
            // `floor(end / divisor) + 1` is the first value behind.
            let behind = Affine::floor(&end.affine, end.divisor)?.add(&one)?;
            parts.push(part(vec![begin, Bound { affine: behind, divisor: 1 }], vec![upper.clone()], vec![from_begin]));
        }
        Ok(parts)
    }

    /// The only value that it has, whatever the parameters are.
    pub(super) fn only_value(&self) -> Option<&Affine> {
        match (self.lower.as_slice(), self.upper.as_slice(), &self.stride) {
            ([lower], [upper], None) if lower == upper && lower.divisor == 1 => Some(&lower.affine),
            _ => None,
        }
    }

    /// What holds of the iname inside a loop that goes by the stride. Where something else counts, such as the hardware or the host, only
    /// the limits hold.
    pub(super) fn facts_in_loop(&self, iname: &Name) -> Result<Vec<Constraint>, LowerError> {
        let mut facts = self.facts.clone();
        if let Some((step, rest)) = &self.stride {
            facts.push(Constraint::zero(Affine::modulo(&Affine::name(iname.clone()).sub(rest)?, *step)?));
        }
        Ok(facts)
    }
}

/// The limits of an iname that the host loops over, in terms of the parameters and of the host loops `around` it.
///
/// # Errors
/// If the solver fails.
pub fn host_limits(kernel: &LoopKernel, iname: &Name, around: &[Name]) -> Result<Bounds, IslError> {
    let domain = kernel.domain_of(&[iname.clone()].into())?.to_params(around);
    domain.project_onto(std::slice::from_ref(iname))?.bounds(iname)
}

/// What limits say of their iname.
pub(super) fn limit_facts(iname: &Name, bounds: &Bounds) -> Result<Vec<Constraint>, IslError> {
    let value = Affine::name(iname.clone());
    let mut facts = Vec::new();
    for bound in &bounds.lower {
        facts.push(Constraint::not_negative(value.scale(bound.divisor)?.sub(&bound.affine)?));
    }
    for bound in &bounds.upper {
        facts.push(Constraint::not_negative(bound.affine.sub(&value.scale(bound.divisor)?)?));
    }
    Ok(facts)
}

impl Scope<'_> {
    /// What holds here, as a set of parameters alone.
    fn context(&self) -> Result<Set, LowerError> {
        let facts = Set::bounded(&[], self.facts.clone());
        Ok(match self.kernel.assumptions.pieces() {
            [_] => facts,
            _ => facts.join(&self.kernel.assumptions)?,
        })
    }

    /// The domain of those inames with all dimensions but `keep` as parameters; inames that are not `around` are projected out.
    fn domain_of(&mut self, inames: &[&Name], keep: Option<&Name>, around: &BTreeSet<Name>) -> Result<Set, LowerError> {
        let set = self.domains.join(inames.iter().copied())?;
        let is_here = |dim: &Name| Some(dim) == keep || (around.contains(dim) && self.active.contains(dim));
        let gone: Vec<Name> = set.dims().iter().filter(|dim| !is_here(dim)).cloned().collect();
        let set = match keep.and_then(|iname| apart(&set, iname, &gone)) {
            _ if gone.is_empty() => set,
            Some(set) => set,
            None => set.project_out(&gone)?,
        };
        let params: Vec<Name> = set.dims().iter().filter(|dim| Some(*dim) != keep).cloned().collect();
        Ok(if params.is_empty() { set } else { set.to_params(&params) })
    }

    /// The values of an iname here, as far as it depends on the inames `around`.
    pub(super) fn range(&mut self, iname: &Name, around: &BTreeSet<Name>) -> Result<Range, LowerError> {
        let set = self.domain_of(&[iname], Some(iname), around)?;
        let range = match look(&set, iname).and_then(|range| self.glance(range)) {
            Some(range) => range,
            None => self.solve(&set, iname)?,
        };
        let unbounded = |which| LowerError::Unbounded { iname: iname.clone(), which };
        match (range.lower.is_empty(), range.upper.is_empty()) {
            (true, _) => Err(unbounded("smallest value")),
            (_, true) => Err(unbounded("largest value")),
            _ => Ok(range),
        }
    }

    /// The range without limits that are seen at a glance to be implied by others; `None` where it takes a solver to tell.
    fn glance(&self, mut range: Range) -> Option<Range> {
        if range.lower.len() == 1 && range.upper.len() == 1 {
            return Some(range);
        }
        if range.lower.len() > 2 || range.upper.len() > 2 || self.facts.iter().any(divides) {
            return None;
        }
        if let [one, other] = range.lower.as_slice() {
            let which = self.is_at_least(one, other).then_some(1).or_else(|| self.is_at_least(other, one).then_some(0));
            range.lower.remove(which?);
        }
        if let [one, other] = range.upper.as_slice() {
            let which = self.is_at_least(one, other).then_some(0).or_else(|| self.is_at_least(other, one).then_some(1));
            match which {
                Some(which) => drop(range.upper.remove(which)),
                // Where a parameter decides, it takes both; constants may have a relation that only the solver sees.
                None if one.affine.sub(&other.affine).is_ok_and(|rest| rest.names().iter().all(|name| self.active.contains(name))) => {
                    return None;
                }
                None => {}
            }
        }
        Some(range)
    }

    /// Whether one limit is seen to be at least another: by what is known not to be negative, or by one fact.
    fn is_at_least(&self, one: &Bound, other: &Bound) -> bool {
        if one.divisor != 1 || other.divisor != 1 {
            return false;
        }
        let Ok(difference) = one.affine.sub(&other.affine) else { return false };
        let is_plain = |affine: &Affine| {
            let known = |atom: &Atom| matches!(atom, Atom::Name(name) if self.not_negative.contains(name));
            affine.constant_term() >= 0 && affine.terms().all(|(atom, coefficient)| coefficient > 0 && known(atom))
        };
        let follows = |fact: &Constraint| {
            let (atom, coefficient) = fact.affine.terms().next()?;
            let wanted = difference.terms().find(|(other, _)| *other == atom)?.1;
            let factor = wanted.checked_div(coefficient).filter(|&factor| factor > 0)?;
            difference.sub(&fact.affine.scale(factor).ok()?).ok().filter(|rest| is_plain(rest))
        };
        is_plain(&difference) || self.facts.iter().any(|fact| follows(fact).is_some())
    }

    fn solve(&mut self, set: &Set, iname: &Name) -> Result<Range, LowerError> {
        let here = set.join(&self.context()?)?;
        let mut bounds = here.bounds(iname)?;
        self.drop_implied(iname, &mut bounds)?;
        let (step, rest) = if mentions_in_floor(set, iname) { set.stride(iname)? } else { (1, Affine::constant(0)) };
        let mut facts = limit_facts(iname, &bounds)?;
        // An equality is its two limits. Of other constraints that are not among the limits, some hold only where the iname has any value,
        // which the limits need not say: the conditions of instructions see to them.
        if let [piece] = set.pieces() {
            let limits = facts.clone();
            let is_limits = |constraint: &&Constraint| {
                let holds = |affine: Affine| limits.contains(&Constraint::not_negative(affine));
                constraint.kind == ConstraintKind::Zero && holds(constraint.affine.clone()) && constraint.affine.scale(-1).is_ok_and(holds)
            };
            facts.extend(piece.iter().filter(is_limits).cloned());
        }
        Ok(Range { lower: bounds.lower, upper: bounds.upper, stride: (step > 1).then_some((step, rest)), facts })
    }

    /// The value that work item 0 of an iname's axis has, in terms of parameters.
    pub(super) fn least(&mut self, iname: &Name) -> Result<Affine, LowerError> {
        Ok(parloop_analysis::axis::axis_base(&parloop_ir::domain::Forest::of(self.kernel), iname)?)
    }

    /// Leaves out limits that the others imply for integers, such as the end of an array behind a whole number of tiles.
    fn drop_implied(&self, iname: &Name, bounds: &mut Bounds) -> Result<(), LowerError> {
        // Without divisions and equalities the solver has seen to it.
        if !self.facts.iter().any(divides) {
            return Ok(());
        }
        let value = Affine::name(iname.clone());
        let mut at = 0;
        while bounds.upper.len() > 1 && at < bounds.upper.len() {
            let candidate = &bounds.upper[at];
            if candidate.affine.as_constant().is_some() {
                at += 1;
                continue;
            }
            let others = bounds.upper.iter().filter(|bound| *bound != candidate).cloned().collect();
            let mut constraints = self.facts.clone();
            constraints.extend(limit_facts(iname, &Bounds { lower: bounds.lower.clone(), upper: others })?);
            let beyond = value.scale(candidate.divisor)?.sub(&candidate.affine)?.sub(&Affine::constant(1))?;
            constraints.push(Constraint::not_negative(beyond));
            if Set::bounded(&[], constraints).is_empty()? {
                bounds.upper.remove(at);
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// The first and the last constant value of an iname that is to be unrolled, if they are constants.
    pub(super) fn constant_range(&mut self, iname: &Name, around: &BTreeSet<Name>) -> Result<Option<(i64, i64)>, LowerError> {
        let range = self.range(iname, around)?;
        if let Some(found) = range.constants() {
            return Ok(Some(found));
        }
        let set = self.domains.join([iname])?.project_onto(std::slice::from_ref(iname))?;
        let context = &self.kernel.assumptions;
        if let (Ok(least), Ok(most)) = (set.static_min(iname, context), set.static_max(iname, context))
            && let (Some(least), Some(most)) = (least.as_constant(), most.as_constant())
        {
            return Ok(Some((least, most)));
        }
        let set = set.join(context)?;
        let bounds = set.project_out(set.params())?.bounds(iname)?;
        let range = Range { lower: bounds.lower, upper: bounds.upper, stride: None, facts: Vec::new() };
        Ok(range.constants())
    }

    /// What an instruction within those inames must ask before it runs here; `None`: it never runs.
    pub(super) fn guards(&mut self, within: &BTreeSet<Name>) -> Result<Option<Vec<Value>>, LowerError> {
        let inames: Vec<&Name> = within.iter().collect();
        if inames.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let set = self.domain_of(&inames, None, within)?;
        if let [piece] = set.pieces()
            && piece.iter().all(|constraint| self.facts.contains(constraint))
        {
            return Ok(Some(Vec::new()));
        }
        let context = self.context()?;
        let rest = set.gist(&context)?;
        match rest.pieces() {
            [] => Ok(None),
            [piece] => self.conditions(piece).map(Some),
            pieces => {
                let mut alternatives = Vec::new();
                for piece in pieces {
                    match number::join(Op::And, self.conditions(piece)?) {
                        Some(condition) => alternatives.push(condition),
                        None => return Ok(Some(Vec::new())),
                    }
                }
                Ok(Some(number::join(Op::Or, alternatives).into_iter().collect()))
            }
        }
    }

    fn conditions(&mut self, piece: &[Constraint]) -> Result<Vec<Value>, LowerError> {
        piece.iter().map(|constraint| self.condition(constraint)).collect()
    }

    /// A constraint as a comparison of sums without minus signs.
    fn condition(&mut self, constraint: &Constraint) -> Result<Value, LowerError> {
        let (mut more, mut less) = (Affine::constant(0), Affine::constant(0));
        for (atom, coefficient) in constraint.affine.terms() {
            let term = atom_affine(atom)?;
            match coefficient > 0 {
                true => more = more.add(&term.scale(coefficient)?)?,
                false => less = less.add(&term.scale(coefficient.checked_neg().unwrap_or(i64::MAX))?)?,
            }
        }
        let rest = constraint.affine.constant_term();
        let (op, left, right) = match (constraint.kind, rest) {
            (ConstraintKind::Zero, rest) if rest <= 0 => (CompareOp::Equal, more, less.add(&Affine::constant(-rest))?),
            (ConstraintKind::Zero, rest) => (CompareOp::Equal, less, more.add(&Affine::constant(rest))?),
            (ConstraintKind::NotNegative, -1) if less.as_constant().is_none() => (CompareOp::Less, less, more),
            (ConstraintKind::NotNegative, rest) if rest < 0 => (CompareOp::GreaterEqual, more, less.add(&Affine::constant(-rest))?),
            (ConstraintKind::NotNegative, rest) => (CompareOp::LessEqual, less, more.add(&Affine::constant(rest))?),
        };
        let (left, right) = (self.affine(&left)?, self.affine(&right)?);
        let (left, right, _) = number::unify(number::Typed::strong(left), number::Typed::strong(right));
        Ok(number::compare(op, left, right))
    }

    /// An affine expression as a value.
    pub(super) fn affine(&mut self, affine: &Affine) -> Result<Value, LowerError> {
        let expr = affine_expr(affine);
        self.index(&self.wide_data(&expr))
    }

    /// The smallest value of a loop.
    pub(super) fn first(&mut self, range: &Range) -> Result<Value, LowerError> {
        let mut values = Vec::new();
        for bound in &range.lower {
            let up = bound.affine.add(&Affine::constant(bound.divisor - 1))?;
            let start = Affine::floor(&up, bound.divisor)?;
            values.push(self.affine(&match &range.stride {
                None => start,
                // The first value at or behind it that is `rest` modulo `step`.
                Some((step, rest)) => start.add(&Affine::modulo(&rest.sub(&start)?, *step)?)?,
            })?);
        }
        extreme(Routine::Max, values).ok_or_else(|| self.refused("a loop without a lower bound"))
    }

    /// The value behind the largest one of a loop.
    pub(super) fn end(&mut self, range: &Range) -> Result<Value, LowerError> {
        let mut values = Vec::new();
        for bound in &range.upper {
            let behind = bound.affine.add(&Affine::constant(bound.divisor))?;
            values.push(self.affine(&Affine::floor(&behind, bound.divisor)?)?);
        }
        extreme(Routine::Min, values).ok_or_else(|| self.refused("a loop without an upper bound"))
    }
}

fn extreme(routine: Routine, values: Vec<Value>) -> Option<Value> {
    // Constants first: `min(16, n - i)`.
    let mut sorted: Vec<Value> = values.iter().filter(|value| value.as_int().is_some()).cloned().collect();
    sorted.extend(values.into_iter().filter(|value| value.as_int().is_none()));
    sorted.into_iter().reduce(|left, right| {
        let (left, right, _) = number::unify(number::Typed::strong(left), number::Typed::strong(right));
        number::routine(routine, left, right)
    })
}

/// Whether a constraint says something that only holds of integers.
fn divides(constraint: &Constraint) -> bool {
    constraint.kind == ConstraintKind::Zero || constraint.affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(..)))
}

/// The set without dimensions that no constraint of the iname mentions, if there are no others among `gone`.
fn apart(set: &Set, iname: &Name, gone: &[Name]) -> Option<Set> {
    let [piece] = set.pieces() else { return None };
    let mentions_gone = |constraint: &Constraint| gone.iter().any(|name| constraint.affine.mentions(name));
    if piece.iter().any(|constraint| constraint.affine.mentions(iname) && mentions_gone(constraint)) {
        return None;
    }
    let kept: Vec<Name> = set.dims().iter().filter(|dim| !gone.contains(dim)).cloned().collect();
    Some(Set::bounded(&kept, piece.iter().filter(|constraint| !mentions_gone(constraint)).cloned().collect()))
}

/// The range of an iname whose constraints are limits, none of them inside a division.
fn look(set: &Set, iname: &Name) -> Option<Range> {
    let [piece] = set.pieces() else { return None };
    let mut range = Range { lower: Vec::new(), upper: Vec::new(), stride: None, facts: Vec::new() };
    for constraint in piece.iter().filter(|constraint| constraint.affine.mentions(iname)) {
        let coefficient = constraint.affine.coefficient(iname);
        let rest = constraint.affine.sub(&Affine::name(iname.clone()).scale(coefficient).ok()?).ok()?;
        if coefficient == 0 || rest.mentions(iname) {
            return None;
        }
        let is_equal = constraint.kind == ConstraintKind::Zero;
        if is_equal && coefficient.abs() != 1 {
            return None;
        }
        let limit = if coefficient > 0 { rest.scale(-1).ok()? } else { rest };
        let bound = Bound { affine: limit, divisor: coefficient.checked_abs()? };
        if coefficient > 0 || is_equal {
            range.lower.push(bound.clone());
        }
        if coefficient < 0 || is_equal {
            range.upper.push(bound);
        }
        range.facts.push(constraint.clone());
    }
    (!range.lower.is_empty() && !range.upper.is_empty()).then_some(range)
}

fn mentions_in_floor(set: &Set, iname: &Name) -> bool {
    let inside =
        |constraint: &Constraint| constraint.affine.terms().any(|(atom, _)| matches!(atom, Atom::Floor(inner, _) if inner.mentions(iname)));
    set.pieces().iter().flatten().any(inside)
}

fn atom_affine(atom: &Atom) -> Result<Affine, LowerError> {
    Ok(match atom {
        Atom::Name(name) => Affine::name(name.clone()),
        Atom::Floor(inner, divisor) => Affine::floor(inner, *divisor)?,
    })
}

/// An affine expression as one of the kernel, what is added before what is taken away.
pub(super) fn affine_expr(affine: &Affine) -> Expr {
    let terms: Vec<(&Atom, i64)> = affine.terms().collect();
    let constant = affine.constant_term();
    let mut sum: Option<Expr> = None;
    for (atom, coefficient) in terms.iter().filter(|(_, coefficient)| *coefficient > 0) {
        let term = fold::multiply(Expr::int(*coefficient), atom_expr(atom));
        sum = Some(sum.map_or(term.clone(), |sum| Expr::binary(BinaryOp::Add, sum, term)));
    }
    if constant > 0 || (constant != 0 && sum.is_none()) {
        sum = Some(sum.map_or(Expr::int(constant), |sum| Expr::binary(BinaryOp::Add, sum, Expr::int(constant))));
    }
    for (atom, coefficient) in terms.iter().filter(|(_, coefficient)| *coefficient < 0) {
        let factor = coefficient.checked_neg().unwrap_or(i64::MAX);
        let term = fold::multiply(Expr::int(factor), atom_expr(atom));
        sum = Some(match sum {
            Some(sum) => Expr::binary(BinaryOp::Subtract, sum, term),
            None => Expr::Unary(UnaryOp::Negate, std::sync::Arc::new(term)),
        });
    }
    let had_terms = terms.iter().any(|(_, coefficient)| *coefficient > 0);
    match sum {
        None => Expr::int(constant),
        Some(sum) if constant < 0 && had_terms => {
            Expr::binary(BinaryOp::Subtract, sum, Expr::int(constant.checked_neg().unwrap_or(i64::MAX)))
        }
        Some(sum) => sum,
    }
}

fn atom_expr(atom: &Atom) -> Expr {
    match atom {
        Atom::Name(name) => Expr::var(name.clone()),
        Atom::Floor(inner, divisor) => Expr::binary(BinaryOp::FloorDivide, affine_expr(inner), Expr::int(*divisor)),
    }
}

/// The wider type of two integer types, for the variable of a loop.
pub(super) fn loop_type(index: DType, first: &Value, end: &Value) -> Type {
    let size = |ty: &Type| ty.scalar().map_or(0, DType::size);
    let widest = [&first.ty, &end.ty].into_iter().filter(|ty| size(ty) > index.size()).max_by_key(|ty| size(ty));
    match widest {
        Some(ty) if !matches!(ty.scalar(), Some(DType::U64)) => ty.clone(),
        Some(_) => DType::I64.into(),
        None => index.into(),
    }
}

/// Whether a value is an integer literal, of any type.
pub(super) fn is_empty(first: &Value, end: &Value) -> bool {
    matches!((&first.kind, &end.kind), (ValueKind::Int(first), ValueKind::Int(end)) if first >= end)
}
