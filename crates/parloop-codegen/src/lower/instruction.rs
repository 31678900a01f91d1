//! Instructions as statements, inside the conditions that they need here.

use parloop_analysis::infer;
use parloop_device::DType;
use parloop_ir::syntax::{
    AddressSpace, Assignment, Atomicity, BinaryOp, CInstruction, Expr, Instruction, InstructionKind, Target, Type, lane,
};
use parloop_isl::Name;

use super::LowerError;
use super::location::Location;
use super::number::{self, Typed};
use super::scope::Scope;
use super::tidy;
use super::tree::{AtomicChange, Op, Statement, Value, ValueKind};

impl Scope<'_> {
    /// The statements of an instruction.
    pub(super) fn run(&mut self, id: &Name) -> Result<Vec<Statement>, LowerError> {
        let Some(instruction) = self.instructions.get(id).map(|instruction| (*instruction).clone()) else {
            return Err(LowerError::NotLowerable { instruction: id.clone(), what: "an instruction that is not in the kernel".into() });
        };
        self.instruction = id.clone();
        self.count_copy()?;
        let Some(guards) = self.guards(&instruction.within_inames)? else { return Ok(Vec::new()) };
        // Each condition, with what is computed in front of it once those before it hold.
        let mut conditions: Vec<(Vec<Statement>, Value)> = guards.into_iter().map(|guard| (Vec::new(), guard)).collect();
        let mut predicates: Vec<(Vec<Statement>, Value)> = Vec::with_capacity(instruction.predicates.len());
        for predicate in &instruction.predicates {
            let outside = std::mem::take(&mut self.hoisted);
            let value = self.expr(predicate).map(Typed::settle);
            let computed = std::mem::replace(&mut self.hoisted, outside);
            predicates.push((computed, number::truth(value?)));
        }
        // They are unordered: those that read no memory go first, and one that depends on another read goes after it.
        predicates.sort_by_key(|(computed, condition)| {
            let inside = computed.iter().filter_map(|statement| match statement {
                Statement::Declare(declaration) => declaration.value.as_ref(),
                _ => None,
            });
            inside.chain([condition]).map(tidy::read_depth).max()
        });
        conditions.extend(predicates);
        if conditions.iter().any(|(_, condition)| condition.kind == ValueKind::Bool(false)) {
            return Ok(Vec::new());
        }
        let mut statements = Vec::new();
        if self.kernel.options.annotate {
            statements.push(Statement::Comment(id.to_string()));
        }
        statements.extend(self.effect(&instruction)?);
        if !statements.iter().any(|statement| !matches!(statement, Statement::Comment(_))) {
            return Ok(Vec::new());
        }
        Ok(conditioned(conditions, statements))
    }

    fn effect(&mut self, instruction: &Instruction) -> Result<Vec<Statement>, LowerError> {
        let outside = std::mem::take(&mut self.hoisted);
        let last = match &instruction.kind {
            InstructionKind::Assign(assignment) => self.assignment(assignment),
            InstructionKind::Call(call) => self.call_instruction(call),
            InstructionKind::C(code) => self.c_code(code),
            InstructionKind::Barrier { .. } | InstructionKind::Nop => Ok(Vec::new()),
        };
        let mut statements = std::mem::replace(&mut self.hoisted, outside);
        statements.extend(last?);
        Ok(statements)
    }

    fn assignment(&mut self, assignment: &Assignment) -> Result<Vec<Statement>, LowerError> {
        if matches!(assignment.lhs, Expr::SubArray(_)) || matches!(&assignment.rhs, Expr::Call(call) if self.writes_through_pointers(call))
        {
            let (lhs, declares) = (vec![assignment.lhs.clone()], Vec::new());
            return self.call_instruction(&parloop_ir::syntax::CallInstruction { lhs, rhs: assignment.rhs.clone(), declares });
        }
        if assignment.atomic == Some(Atomicity::Update) {
            return self.atomic(assignment);
        }
        let value = match self.lane_type(&assignment.lhs) {
            Some(ty) => self.filling(&assignment.rhs, &ty)?,
            None => self.expr(&assignment.rhs)?,
        };
        self.store(&assignment.lhs, value)
    }

    /// `lhs = value`; for a field of an object, a call of its setter.
    pub(super) fn store(&mut self, lhs: &Expr, value: Typed) -> Result<Vec<Statement>, LowerError> {
        let Location { value: place, mut checks } = self.place(lhs)?;
        checks.extend(self.touch(lhs, &place, true)?);
        let value = value.to(&place.ty);
        let statement = match (self.setter(lhs)?, place.kind) {
            (Some(setter), ValueKind::Call(_, mut args)) => {
                args.push(value);
                Statement::Call(Value::new(place.ty, ValueKind::Call(setter, args)))
            }
            (_, kind) => Statement::Assign(self.alone(lhs, Value { ty: place.ty, kind })?, value),
        };
        Ok(tidy::guarded(checks, vec![statement]))
    }

    /// A component that is written, as a place of its own. OpenCL writes all of a vector where `a.x` is assigned to, and what other work items
    /// wrote beside it would be lost; in C the parts of a complex number are values.
    fn alone(&self, lhs: &Expr, place: Value) -> Result<Value, LowerError> {
        let (whole, index) = match (self.target, &place.kind) {
            (Target::OpenCl, ValueKind::Member(whole, name)) => match &whole.ty {
                Type::Vector(_, lanes) => (whole.as_ref(), lane(name, *lanes)),
                Type::Scalar(dtype) if dtype.is_complex() => (whole.as_ref(), Some(u8::from(name == "y"))),
                _ => return Ok(place),
            },
            (Target::C, ValueKind::Call(part, args)) if matches!(lhs, Expr::Lookup(..)) => match &args[..] {
                [whole] => (whole, Some(u8::from(part.starts_with("cimag")))),
                _ => return Ok(place),
            },
            _ => return Ok(place),
        };
        let array = lhs.written_name().and_then(|name| self.arrays.get(name));
        match (index, array, &whole.kind) {
            (Some(index), Some(array), ValueKind::Element(..) | ValueKind::Name(_)) => {
                let kind = ValueKind::Part { whole: Box::new(whole.clone()), index, space: array.space };
                Ok(Value { ty: place.ty, kind })
            }
            _ => Err(self.refused(format!("an assignment to `{lhs}`, which is not in memory"))),
        }
    }

    /// The type of a left side that is a vector.
    fn lane_type(&self, lhs: &Expr) -> Option<Type> {
        let ty = self.arrays.get(lhs.written_name()?).map(|array| array.ty.clone())?;
        (matches!(ty, Type::Vector(..)) && !matches!(lhs, Expr::Lookup(..))).then_some(ty)
    }

    /// The function that writes a field, if that is what the left side is.
    fn setter(&mut self, lhs: &Expr) -> Result<Option<Name>, LowerError> {
        let aggregate = match lhs {
            Expr::Subscript(aggregate, _) => aggregate,
            other => other,
        };
        if !matches!(aggregate, Expr::Lookup(..)) {
            return Ok(None);
        }
        let Some((_, class, path)) = self.object(aggregate)? else { return Ok(None) };
        Ok(class.fields().get(path.as_str()).map(|field| field.setter.clone()))
    }

    fn atomic(&mut self, assignment: &Assignment) -> Result<Vec<Statement>, LowerError> {
        let Location { value: place, mut checks } = self.place(&assignment.lhs)?;
        checks.extend(self.touch(&assignment.lhs, &place, true)?);
        let space = match assignment.lhs.written_name().map(|name| self.array(name)) {
            Some(Ok(array)) => array.space,
            _ => return Err(self.refused("an atomic update of a variable that is not an array")),
        };
        let is_truth = place.ty.scalar() == Some(DType::Bool);
        let change = match added(&assignment.lhs, &assignment.rhs).filter(|_| !self.rounds(&place.ty, &assignment.rhs) && !is_truth) {
            Some(term) => AtomicChange::Add(self.expr_as(&term, &place.ty.clone())?),
            None => {
                let old = self.names.make("old");
                let name = Expr::var(old.clone());
                let rhs = assignment.rhs.rewrite(&mut |expr| (*expr == assignment.lhs).then(|| name.clone()));
                self.numbers.insert(old.clone(), place.ty.clone());
                let result = self.expr_as(&rhs, &place.ty.clone());
                self.numbers.remove(&old);
                AtomicChange::Compute { old, result: result? }
            }
        };
        // No other work item sees private memory.
        let statement = match (space, change) {
            (AddressSpace::Private, AtomicChange::Add(term)) => Statement::Assign(place.clone(), number::binary(Op::Add, place, term)),
            (AddressSpace::Private, AtomicChange::Compute { .. }) => {
                let value = self.expr_as(&assignment.rhs, &place.ty.clone())?;
                Statement::Assign(place, value)
            }
            (_, change) => Statement::AtomicUpdate { place, space, change },
        };
        Ok(tidy::guarded(checks, vec![statement]))
    }

    /// Whether a value that is not an integer is stored as one: what is added cannot be rounded by itself.
    fn rounds(&self, stored: &Type, value: &Expr) -> bool {
        let is_integer = |ty: &Type| ty.scalar().is_some_and(|dtype| dtype.is_integer() || dtype == DType::Bool);
        is_integer(stored) && !infer::type_of(self.program, self.kernel, value).is_ok_and(|ty| is_integer(&ty))
    }

    /// C code, with its names bound to their values.
    fn c_code(&mut self, code: &CInstruction) -> Result<Vec<Statement>, LowerError> {
        let mut block = Vec::new();
        for (name, expr) in &code.bindings {
            if *expr == Expr::Variable(name.clone())
                && !matches!(self.inames.get(name), Some(value) if value.kind != ValueKind::Name(name.clone()))
            {
                continue;
            }
            let value = self.index(expr)?;
            block.push(super::tree::constant(name, &value.ty.clone(), value));
        }
        // Inames whose values are not variables of their own.
        for word in words(code.code.text()) {
            if code.bindings.iter().all(|(name, _)| name != word)
                && let Some(value) = self.inames.get(word).filter(|value| value.kind != ValueKind::Name(word.into()))
            {
                block.push(super::tree::constant(&word.into(), &value.ty.clone(), value.clone()));
            }
        }
        block.push(Statement::Text(code.code.text().trim_end().to_owned()));
        Ok(if block.len() == 1 { block } else { vec![Statement::Block(block)] })
    }
}

/// The statements under all conditions, each evaluated after its inputs.
fn conditioned(conditions: Vec<(Vec<Statement>, Value)>, mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut together = Vec::new();
    for (computed, condition) in conditions.into_iter().rev() {
        together.insert(0, condition);
        if !computed.is_empty() {
            let inside = tidy::guarded(std::mem::take(&mut together), statements);
            statements = vec![Statement::Block(computed.into_iter().chain(inside).collect())];
        }
    }
    tidy::guarded(together, statements)
}

fn words(text: &str) -> std::collections::BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect()
}

/// What `rhs` adds to `lhs`, if that is all that it does.
fn added(lhs: &Expr, rhs: &Expr) -> Option<Expr> {
    let mentions = |expr: &Expr| expr.any(&mut |inner| inner == lhs);
    if let Expr::Chain(chain) = rhs
        && chain.first == *lhs
        && let [(BinaryOp::Add, second), rest @ ..] = chain.rest.as_slice()
        && !chain.rest.iter().any(|(_, operand)| mentions(operand))
    {
        return Some(Expr::chain(second.clone(), rest.iter().cloned()));
    }
    let Expr::Binary(op, left, right) = rhs else { return None };
    match op {
        BinaryOp::Add if **left == *lhs && !mentions(right) => Some((**right).clone()),
        BinaryOp::Add if **right == *lhs && !mentions(left) => Some((**left).clone()),
        BinaryOp::Add => {
            // `(lhs + a) + b` adds `a + b`.
            let inner = added(lhs, left).filter(|_| !mentions(right))?;
            Some(Expr::binary(BinaryOp::Add, inner, (**right).clone()))
        }
        BinaryOp::Subtract if **left == *lhs && !mentions(right) => {
            Some(Expr::Unary(parloop_ir::syntax::UnaryOp::Negate, std::sync::Arc::new((**right).clone())))
        }
        _ => None,
    }
}
