//! Loops and the steps inside them as statements.

use std::collections::BTreeSet;

use parloop_ir::fold::as_int;
use parloop_ir::syntax::{Expr, InameTag, Target, Type};
use parloop_isl::{Affine, Constraint, Name};

use super::bounds::{Range, is_empty, loop_type};
use super::cpu::{Item, local_axis};
use super::scope::Scope;
use super::tree::{For, LoopHint, Op, Statement, Value, constant, mentions};
use super::{LowerError, number, shadow, tidy};

/// The maximum number of statements in unrolled loops of a kernel: some seconds of compile time.
pub(super) const MOST_COPIES: u64 = 1 << 16;

impl Scope<'_> {
    /// The statements of the steps.
    pub(super) fn items(&mut self, items: &[Item]) -> Result<Vec<Statement>, LowerError> {
        let mut statements = Vec::new();
        for item in items {
            match item {
                Item::Loop { iname, body } => statements.extend(self.sequential(iname, body)?),
                Item::Axis { axis, iname, innermost, body } => statements.extend(self.axis(*axis, iname.as_ref(), *innermost, body)?),
                Item::Run(id) => statements.extend(self.run(id)?),
                // A group of one item needs no barrier; an OpenCL compiler may fail on such a barrier after a loop.
                Item::Barrier(_) if self.group_size.iter().all(|size| as_int(size) == Some(1)) => {}
                Item::Barrier(memory) => statements.push(Statement::Barrier(*memory)),
                Item::Passed => statements.push(shadow::barrier()),
            }
        }
        Ok(tidy::merge_conditions(statements))
    }

    fn sequential(&mut self, iname: &Name, body: &[Item]) -> Result<Vec<Statement>, LowerError> {
        let tags = self.kernel.inames.get(iname).map(|iname| iname.tags.clone()).unwrap_or_default();
        let around = self.around(body);
        let wide = self.target != Target::C && tags.contains(&InameTag::Vector);
        if let Some(tag) = tags.iter().find(|tag| matches!(tag, InameTag::Unroll | InameTag::Ilp) || (wide && **tag == InameTag::Vector)) {
            return match self.constant_range(iname, &around)? {
                Some((least, most)) => {
                    let turns = (i128::from(most) - i128::from(least) + 1).max(0);
                    let how = tag.to_string();
                    self.copied(iname, &how, turns, body, &mut |scope| scope.written_out(iname, least, most, &around, body))
                }
                None => Err(LowerError::NotConstantLoop { iname: iname.clone(), tag: tag.to_string() }),
            };
        }
        let hint = match () {
            () if tags.contains(&InameTag::UnrollHint) => LoopHint::Unroll,
            () if tags.contains(&InameTag::Vector) => LoopHint::Independent,
            () => LoopHint::None,
        };
        let range = self.range(iname, &around)?;
        let slabs = self.kernel.inames.get(iname).map_or((0, 0), |iname| iname.slabs);
        let parts = range.slabs(iname, slabs)?;
        let copies = parts.len() as i128;
        let mut parts = parts.into_iter();
        let mut all = |scope: &mut Self| {
            let mut statements = Vec::new();
            for range in parts.by_ref() {
                statements.extend(scope.ranged(iname, range, hint, &mut |scope| scope.items(body))?);
            }
            Ok(statements)
        };
        if copies == 1 { all(self) } else { self.copied(iname, "slabs", copies, body, &mut all) }
    }

    /// The result of `write` for a body that is repeated that many times, if that is not too often.
    fn copied(
        &mut self,
        iname: &Name,
        how: &str,
        times: i128,
        body: &[Item],
        write: &mut dyn FnMut(&mut Self) -> Result<Vec<Statement>, LowerError>,
    ) -> Result<Vec<Statement>, LowerError> {
        let statements = (times * i128::from(self.copies)).saturating_mul(count(body).max(1).into());
        if statements > i128::from(MOST_COPIES) {
            return Err(self.too_many_copies(iname, how, times, statements));
        }
        let copies = u64::try_from(times * i128::from(self.copies)).unwrap_or(u64::MAX).max(1);
        let before = (self.copies, self.copied.replace((iname.clone(), how.to_owned(), times)));
        self.copies = copies;
        let written = write(self);
        (self.copies, self.copied) = before;
        written
    }

    /// Counts a statement of a loop that is unrolled: together they may be too many where no loop alone is.
    pub(super) fn count_copy(&mut self) -> Result<(), LowerError> {
        self.shared.copies += u64::from(self.copies > 1);
        match &self.copied {
            Some((iname, how, times)) if self.shared.copies > MOST_COPIES => {
                Err(self.too_many_copies(iname, how, *times, self.shared.copies.into()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn too_many_copies(&self, iname: &Name, how: &str, times: i128, statements: i128) -> LowerError {
        LowerError::TooManyCopies { iname: iname.clone(), how: how.to_owned(), times, statements, most: MOST_COPIES }
    }

    /// The inames on which the limits of a loop may depend: those that all of its instructions are within. Where there are barriers, all
    /// work items of the group make the same turns.
    fn around(&self, body: &[Item]) -> BTreeSet<Name> {
        let mut around: Option<BTreeSet<Name>> = None;
        self.narrow(body, &mut around);
        let mut around = around.unwrap_or_default();
        if has_barrier(body) {
            around.retain(|iname| local_axis(self.kernel, iname).is_none());
        }
        around
    }

    fn narrow(&self, body: &[Item], around: &mut Option<BTreeSet<Name>>) {
        for item in body {
            match item {
                Item::Barrier(_) | Item::Passed => {}
                Item::Loop { body, .. } | Item::Axis { body, .. } => self.narrow(body, around),
                Item::Run(id) => {
                    let Some(instruction) = self.instructions.get(id) else { continue };
                    match around {
                        None => *around = Some(instruction.within_inames.clone()),
                        Some(around) => around.retain(|iname| instruction.within_inames.contains(iname)),
                    }
                }
            }
        }
    }

    /// The loop over a range, or what it comes to: nothing, or its body once.
    fn ranged(
        &mut self,
        iname: &Name,
        range: Range,
        hint: LoopHint,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Statement>, LowerError>,
    ) -> Result<Vec<Statement>, LowerError> {
        if let Some(only) = range.only_value().cloned() {
            let value = self.affine(&only)?;
            return self.single(iname, value, range, body);
        }
        let (first, end) = (self.first(&range)?, self.end(&range)?);
        if is_empty(&first, &end) {
            return Ok(Vec::new());
        }
        let ty = loop_type(self.kernel.index_type, &first, &end);
        let first = number::Typed::strong(first).to(&ty);
        let limit = number::Typed::strong(end).to(&ty);
        let is_not_negative = self.is_not_negative(&first);
        let variable = Value::name(ty, iname.clone());
        let facts = range.facts_in_loop(iname)?;
        self.open_loop(iname);
        let body = self.with(iname, variable, &facts, is_not_negative, body)?;
        let step = range.stride.as_ref().map_or(1, |(step, _)| *step);
        let loop_ = self.close_loop(For { name: iname.clone(), first, limit, inclusive: false, step, hint, body });
        Ok(loop_)
    }

    /// The body for the only value of an iname.
    fn single(
        &mut self,
        iname: &Name,
        value: Value,
        range: Range,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Statement>, LowerError>,
    ) -> Result<Vec<Statement>, LowerError> {
        let is_not_negative = self.is_not_negative(&value);
        if value.as_int().is_some() {
            return self.with(iname, value, &range.facts, is_not_negative, body);
        }
        let ty = loop_type(self.kernel.index_type, &value, &value);
        let variable = Value::name(ty.clone(), iname.clone());
        let inner = self.with(iname, variable, &range.facts, is_not_negative, body)?;
        if !inner.iter().any(|statement| mentions(statement, iname)) {
            return Ok(inner);
        }
        let mut block = vec![constant(iname, &ty, number::Typed::strong(value).to(&ty))];
        block.extend(inner);
        Ok(vec![Statement::Block(block)])
    }

    fn written_out(
        &mut self,
        iname: &Name,
        least: i64,
        most: i64,
        around: &BTreeSet<Name>,
        body: &[Item],
    ) -> Result<Vec<Statement>, LowerError> {
        let range = self.range(iname, around)?;
        let exact = range.constants() == Some((least, most)) && range.stride.is_none();
        let mut statements = Vec::new();
        for number in least..=most {
            let mut facts = vec![Constraint::zero(Affine::name(iname.clone()).sub(&Affine::constant(number))?)];
            if exact {
                facts.extend(range.facts.iter().cloned());
            }
            let value = number::int(&self.kernel.index_type.into(), number.into());
            statements.extend(self.with(iname, value, &facts, number >= 0, &mut |scope| scope.items(body))?);
        }
        Ok(statements)
    }

    /// What `body` makes where the iname has that value.
    pub(super) fn with(
        &mut self,
        iname: &Name,
        value: Value,
        facts: &[Constraint],
        is_not_negative: bool,
        body: &mut dyn FnMut(&mut Self) -> Result<Vec<Statement>, LowerError>,
    ) -> Result<Vec<Statement>, LowerError> {
        let depth = self.facts.len();
        self.facts.extend(facts.iter().cloned());
        self.inames.insert(iname.clone(), value);
        self.active.insert(iname.clone());
        if is_not_negative {
            self.not_negative.insert(iname.clone());
        }
        let result = body(self);
        self.facts.truncate(depth);
        self.inames.remove(iname);
        self.active.remove(iname);
        self.not_negative.remove(iname);
        result
    }

    /// On a CPU: the work items along a local axis.
    fn axis(&mut self, axis: u8, iname: Option<&Name>, innermost: bool, body: &[Item]) -> Result<Vec<Statement>, LowerError> {
        let is_simple = body.iter().all(|item| matches!(item, Item::Run(_)));
        let hint = if innermost && is_simple && !self.has_calls_or_atomics(body) { LoopHint::Independent } else { LoopHint::None };
        let before = self.axis_index.get(&axis).cloned();
        let result = match iname {
            Some(iname) => self.axis_of_iname(axis, iname, hint, body),
            None => self.whole_axis(axis, hint, body),
        };
        match before {
            Some(value) => self.axis_index.insert(axis, value),
            None => self.axis_index.remove(&axis),
        };
        result
    }

    fn axis_of_iname(&mut self, axis: u8, iname: &Name, hint: LoopHint, body: &[Item]) -> Result<Vec<Statement>, LowerError> {
        let least = self.least(iname)?;
        let range = self.range(iname, &self.around(body))?;
        self.ranged(iname, range, hint, &mut |scope| {
            let value = scope.inames.get(iname).cloned().unwrap_or_else(|| number::int(&scope.kernel.index_type.into(), 0));
            let least = scope.affine(&least)?;
            let (value, least, _) = number::unify(number::Typed::strong(value), number::Typed::strong(least));
            scope.axis_index.insert(axis, number::binary(Op::Subtract, value, least));
            scope.items(body)
        })
    }

    fn whole_axis(&mut self, axis: u8, hint: LoopHint, body: &[Item]) -> Result<Vec<Statement>, LowerError> {
        let ty: Type = self.kernel.index_type.into();
        let name = self.names.make(&format!("lid{axis}"));
        let length = self.group_size.get(usize::from(axis)).cloned().unwrap_or(Expr::int(1));
        let limit = number::Typed::strong(self.index(&length)?).to(&ty);
        self.axis_index.insert(axis, Value::name(ty.clone(), name.clone()));
        let body = self.items(body)?;
        let first = number::int(&ty, 0);
        Ok(vec![Statement::For(For { name, first, limit, inclusive: false, step: 1, hint, body })])
    }

    fn has_calls_or_atomics(&self, body: &[Item]) -> bool {
        body.iter().any(|item| match item {
            Item::Run(id) => self.instructions.get(id).is_none_or(|instruction| match &instruction.kind {
                parloop_ir::syntax::InstructionKind::Assign(assignment) => assignment.atomic.is_some(),
                _ => true,
            }),
            _ => true,
        })
    }
}

/// How many instructions are in it.
fn count(items: &[Item]) -> u64 {
    let one = |item: &Item| match item {
        Item::Loop { body, .. } | Item::Axis { body, .. } => count(body),
        Item::Run(_) => 1,
        Item::Barrier(_) | Item::Passed => 0,
    };
    items.iter().map(one).sum()
}

fn has_barrier(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Barrier(_) => true,
        Item::Loop { body, .. } | Item::Axis { body, .. } => has_barrier(body),
        Item::Run(_) | Item::Passed => false,
    })
}
