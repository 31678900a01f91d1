//! Accesses recorded in shadow memory: when they happen as created, and on which work item.

use parloop_analysis::infer;
use parloop_device::DType;
use parloop_ir::fold;
use parloop_ir::matching::Glob;
use parloop_ir::syntax::{AddressSpace, Atomicity, Expr, Instruction, InstructionKind, SubArray, Time, TimeStep, Type};
use parloop_isl::Name;

use super::LowerError;
use super::number::{self, Typed};
use super::scope::Scope;
use super::shadow::{at, plain_time};
use super::tree::{For, LoopHint, Op, ShadowAccess, ShadowAccessKind, Statement, Value, ValueKind};

impl Scope<'_> {
    /// The record of an access in shadow memory, if it is watched.
    pub(super) fn touch(&mut self, expr: &Expr, place: &Value, writes: bool) -> Result<Option<Value>, LowerError> {
        let Some(shadow) = self.shadow.clone() else { return Ok(None) };
        let Some(variable) = expr.written_name() else { return Ok(None) };
        let Some(&turn) = shadow.turns.get(variable) else { return Ok(None) };
        let Some(instruction) = self.instructions.get(&self.instruction).map(|instruction| (*instruction).clone()) else { return Ok(None) };
        let space = self.array(variable)?.space;
        // A component counts as all of its element.
        let (expr, place) = match (expr, &place.kind) {
            (Expr::Lookup(aggregate, _), ValueKind::Member(inner, _)) => (&**aggregate, &**inner),
            _ => (expr, place),
        };
        if !matches!(place.kind, ValueKind::Element(..) | ValueKind::Name(_))
            || !matches!(space, AddressSpace::Global | AddressSpace::Local)
        {
            return Ok(None);
        }
        let Some(steps) = plain_time(&instruction, variable).filter(|steps| self.are_known(steps)) else { return Ok(None) };
        let indices: &[Expr] = match expr {
            Expr::Subscript(_, indices) => indices,
            Expr::LinearSubscript(_, index) => std::slice::from_ref(index),
            _ => &[],
        };
        let mut values = indices.iter().map(|index| self.wide_value(index)).collect::<Result<Vec<_>, _>>()?;
        let (mut site, mut loops) = (format!("{}\n{variable}", instruction.id), 0);
        for (number, &step) in shadow.kept.iter().enumerate() {
            site.push('\n');
            values.push(match at(&steps, step) {
                TimeStep::At(place) => number::int(&DType::I64.into(), place.into()),
                TimeStep::Loop(value) => {
                    site.push_str(&value.to_string());
                    loops |= 1u32 << number;
                    self.wide_value(&value)?
                }
            });
        }
        let kind = match &instruction.kind {
            InstructionKind::Assign(assignment) if assignment.atomic == Some(Atomicity::Update) && assignment.lhs == *expr => {
                ShadowAccessKind::Update
            }
            InstructionKind::Assign(assignment) if writes && assignment.atomic.is_some() => ShadowAccessKind::Update,
            _ if writes => ShadowAccessKind::Write,
            _ => ShadowAccessKind::Read,
        };
        let touch = ShadowAccess {
            kind,
            place: place.clone(),
            site,
            group: self.group.clone().map_or(number::int(&DType::I64.into(), 0), |group| Value::name(DType::I64, group)),
            item: self.item()?,
            own: self.races_on_purpose(&instruction),
            loops,
            is_local: space == AddressSpace::Local,
            axes: indices.len(),
            turn,
            values,
        };
        Ok(Some(Value::new(DType::Bool, ValueKind::ShadowAccess(Box::new(touch)))))
    }

    /// Records in shadow memory each element of a part that a call is passed: what the callee does with it is not seen, so that all of it
    /// counts as read or written.
    pub(super) fn touch_part(&mut self, part: &SubArray, writes: bool) -> Result<(), LowerError> {
        if !self.shadow.as_ref().is_some_and(|shadow| shadow.turns.contains_key(&part.array)) {
            return Ok(());
        }
        let refused = |scope: &Self, error: infer::InferError| scope.refused(error.to_string());
        let mut loops = Vec::new();
        for iname in &part.inames {
            let extent = infer::extent(self.kernel, iname, &part.array).map_err(|error| refused(self, error))?;
            let end = fold::add(extent.start.clone(), extent.length);
            let (first, limit) = (self.wide_value(&extent.start)?, self.wide_value(&end)?);
            loops.push((iname, self.names.make(iname), first, limit));
        }
        let hidden: Vec<(Name, Option<Value>)> = loops
            .iter()
            .map(|(iname, name, ..)| ((*iname).clone(), self.inames.insert((*iname).clone(), Value::name(DType::I64, name.clone()))))
            .collect();
        let element = Expr::subscript(part.array.clone(), part.indices.iter().cloned());
        let place = self.place(&element)?;
        let touch = self.touch(&element, &place.value, writes)?;
        for (iname, value) in hidden {
            match value {
                Some(value) => self.inames.insert(iname, value),
                None => self.inames.remove(&iname),
            };
        }
        let Some(touch) = number::join(Op::And, place.checks.into_iter().chain(touch)) else { return Ok(()) };
        let mut body = vec![Statement::Call(touch)];
        for (_, name, first, limit) in loops.into_iter().rev() {
            body = vec![Statement::For(For { name, first, limit, inclusive: false, step: 1, hint: LoopHint::None, body })];
        }
        self.hoisted.extend(body);
        Ok(())
    }

    /// Whether the values of loops can be computed from what is in scope.
    fn are_known(&self, steps: &[TimeStep]) -> bool {
        let names = Time::of(steps.to_vec()).names();
        names.iter().all(|name| self.inames.contains_key(name) || self.numbers.contains_key(name))
    }

    fn wide_value(&mut self, expr: &Expr) -> Result<Value, LowerError> {
        Ok(Typed::strong(self.index(expr)?).to(&DType::I64.into()))
    }

    /// The number of the work item in its group.
    fn item(&mut self) -> Result<Value, LowerError> {
        let wide: Type = DType::I64.into();
        let mut item = number::int(&wide, 0);
        let mut before = number::int(&wide, 1);
        for (axis, size) in self.group_size.clone().iter().enumerate() {
            if let Some(index) = u8::try_from(axis).ok().and_then(|axis| self.axis_index.get(&axis)) {
                let index = number::binary(Op::Multiply, Typed::strong(index.clone()).to(&wide), before.clone());
                item = number::binary(Op::Add, item, index);
            }
            let size = Typed::strong(self.index(size)?).to(&wide);
            before = number::binary(Op::Multiply, before, size);
        }
        Ok(item)
    }

    /// A number of its own for an instruction whose instances may race with each other, 0 for others.
    fn races_on_purpose(&self, instruction: &Instruction) -> usize {
        let name = format!("write_race({})", instruction.id);
        let is_silenced = self.kernel.options.silenced.iter().any(|pattern| Glob::new(pattern).matches(&name));
        let place = self.kernel.instructions.iter().position(|other| other.id == instruction.id);
        place.filter(|_| is_silenced).map_or(0, |place| place + 1)
    }
}
