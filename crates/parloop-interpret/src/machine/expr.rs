//! The values of expressions at a point.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::infer;
use parloop_device::DType;
use parloop_ir::callable::ArgId;
use parloop_ir::syntax::{BinaryOp, Call, CompareOp, Expr, Literal, Reduction, ReductionOp, Type};
use parloop_isl::{Name, Set};

use super::{Machine, range};
use crate::error::InterpretError;
use crate::memory::part_of;
use crate::number::{Datum, Fault, Number, Value, binary, compare, extreme, unary, unify};

impl Machine<'_> {
    /// The value of an expression that is one number.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value, InterpretError> {
        match self.datum(expr)? {
            Datum::One(value) => Ok(value),
            Datum::Many(_) => Err(self.unsupported(format!("`{expr}` as a number"))),
        }
    }

    /// The value of an expression.
    pub(super) fn datum(&mut self, expr: &Expr) -> Result<Datum, InterpretError> {
        match expr {
            Expr::Literal(literal) => self.literal(literal).map(Datum::One),
            Expr::Variable(name) => match self.at(name) {
                Some(value) => Ok(Datum::One(Value::strong(self.kernel.index_type, Number::Int(value.into())))),
                None => self.read(name, &[], None),
            },
            Expr::Subscript(aggregate, indices) => match &**aggregate {
                Expr::Variable(name) => self.read(name, indices, None),
                _ => Err(self.unsupported(format!("`{expr}`"))),
            },
            Expr::Lookup(aggregate, field) => self.component(expr, aggregate, field),
            Expr::Unary(op, operand) => {
                let operand = self.datum(operand)?;
                self.checked(Datum::lift(&[operand], |values| unary(*op, values[0])))
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let left = self.value(left)?.number.is_true();
                let decided = left == (*op == BinaryOp::Or);
                Ok(Datum::One(Value::truth(if decided { left } else { self.value(right)?.number.is_true() })))
            }
            Expr::Binary(op, left, right) => {
                let operands = [self.datum(left)?, self.datum(right)?];
                self.operation(*op, &operands)
            }
            Expr::Chain(chain) => {
                let first = self.datum(&chain.first)?;
                chain.rest.iter().try_fold(first, |left, (op, right)| {
                    let right = self.datum(right)?;
                    self.operation(*op, &[left, right])
                })
            }
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.checked(compare(*op, left, right).map(|truth| Datum::One(Value::truth(truth))))
            }
            Expr::Min(operands) => self.extreme(false, operands),
            Expr::Max(operands) => self.extreme(true, operands),
            Expr::If(parts) => self.choose(parts),
            Expr::Cast(ty, operand) => {
                let value = self.datum(operand)?;
                self.checked(value.to(ty)).map(Datum::settled)
            }
            Expr::Call(call) => match <[Datum; 1]>::try_from(self.call(call)?) {
                Ok([value]) => Ok(value),
                Err(_) => Err(self.unsupported(format!("`{expr}` as one value"))),
            },
            Expr::Reduction(reduction) => self.reduce(expr, reduction),
            Expr::CommonSubexpression(operand, _) => Ok(self.datum(operand)?.settled()),
            Expr::LinearSubscript(..) | Expr::Slice(_) | Expr::SubArray(_) | Expr::Tuple(_) => Err(self.unsupported(format!("`{expr}`"))),
        }
    }

    fn operation(&self, op: BinaryOp, operands: &[Datum; 2]) -> Result<Datum, InterpretError> {
        self.checked(Datum::lift(operands, |values| binary(op, values[0], values[1])))
    }

    /// A component of a vector or record, or a part of a complex number. Of a variable only that component is read.
    fn component(&mut self, expr: &Expr, aggregate: &Expr, field: &Name) -> Result<Datum, InterpretError> {
        let ty = infer::type_of(self.program, self.kernel, aggregate)?;
        if let Some(dtype) = ty.scalar() {
            let number = self.value(aggregate)?.number;
            let part = if field == "real" { number.real() } else { number.imaginary() };
            return Ok(Datum::One(Value::strong(parloop_ir::promote::real_of(dtype), Number::Float(part))));
        }
        let place = part_of(&ty, field).ok_or_else(|| self.unsupported(format!("`{expr}`")))?;
        match aggregate {
            Expr::Variable(name) => self.read(name, &[], Some(place)),
            Expr::Subscript(array, indices) if let Expr::Variable(name) = &**array => self.read(name, indices, Some(place)),
            _ => {
                let whole = self.datum(aggregate)?;
                whole.part(place).map(Datum::One).ok_or_else(|| self.unsupported(format!("`{expr}`")))
            }
        }
    }

    pub(super) fn checked<T>(&self, result: Result<T, Fault>) -> Result<T, InterpretError> {
        let instruction = self.instruction.clone();
        result.map_err(|fault| match fault {
            Fault::TooLarge => InterpretError::TooLarge { instruction },
            Fault::NoOperation => self.unsupported("an operation between these types"),
        })
    }

    fn literal(&self, literal: &Literal) -> Result<Value, InterpretError> {
        let weak = |dtype: Option<DType>| dtype.is_none();
        Ok(match literal {
            Literal::Int(integer, Some(dtype)) => Value::strong(*dtype, Number::Int(*integer)),
            Literal::Int(integer, None) => {
                let fits = |dtype: &DType| dtype.integer_range().is_some_and(|(least, most)| (least..=most).contains(integer));
                let dtype = [DType::I32, DType::I64, DType::U64].into_iter().find(fits);
                let dtype = dtype.ok_or_else(|| InterpretError::TooLarge { instruction: self.instruction.clone() })?;
                Value { dtype, weak: true, number: Number::Int(*integer) }
            }
            Literal::Float(bits, dtype) => {
                let value = Value { dtype: dtype.unwrap_or(DType::F64), weak: weak(*dtype), number: Number::Float(f64::from_bits(*bits)) };
                self.checked(value.to(value.dtype))?
            }
            Literal::Imaginary(bits, dtype) => {
                let number = Number::Complex(0.0, f64::from_bits(*bits));
                let value = Value { dtype: dtype.unwrap_or(DType::C128), weak: weak(*dtype), number };
                self.checked(value.to(value.dtype))?
            }
            Literal::Bool(truth) => Value::truth(*truth),
            Literal::Text(text) => return Err(self.unsupported(format!("the string '{text}'"))),
        })
    }

    fn extreme(&mut self, largest: bool, operands: &[Expr]) -> Result<Datum, InterpretError> {
        let mut found: Option<Datum> = None;
        for operand in operands {
            let value = self.datum(operand)?;
            found = Some(match found {
                None => value,
                Some(before) => self.checked(Datum::lift(&[before, value], |values| extreme(largest, values[0], values[1])))?,
            });
        }
        found.ok_or_else(|| self.unsupported("`min` or `max` without arguments"))
    }

    /// The branch that is not taken need not have a value: only its type matters.
    fn choose(&mut self, parts: &Arc<[Expr; 3]>) -> Result<Datum, InterpretError> {
        let truth = self.value(&parts[0])?.number.is_true();
        let (chosen, other) = if truth { (&parts[1], &parts[2]) } else { (&parts[2], &parts[1]) };
        let chosen = self.datum(chosen)?;
        if let Ok(other) = self.datum(other) {
            return self.checked(Datum::lift(&[chosen, other], |values| Ok(unify(values[0], values[1])?.0)));
        }
        let ty = infer::type_of(self.program, self.kernel, &Expr::If(parts.clone()))?;
        self.checked(chosen.to(&ty))
    }

    /// The results of a call.
    pub(super) fn call(&mut self, call: &Call) -> Result<Vec<Datum>, InterpretError> {
        let callable = call.resolved.then(|| self.program.callables.get(&call.function)).flatten().cloned();
        let types = callable.as_ref().and_then(|callable| callable.types());
        let (Some(callable), Some(types), true) = (&callable, types, call.keywords.is_empty()) else {
            return Err(self.unsupported(format!("the call to `{}`", call.function)));
        };
        let mut args = Vec::with_capacity(call.args.len());
        for (place, arg) in call.args.iter().enumerate() {
            let value = self.datum(arg)?;
            args.push(match types.get(&ArgId::argument(place)) {
                Some(takes) => self.checked(value.to(takes))?,
                None => value,
            });
        }
        let name = callable.name();
        if let Some(results) = self.checked(crate::vector::call(name, &args))? {
            return Ok(results);
        }
        let gives = match types.get(&ArgId::result(0)) {
            Some(Type::Scalar(dtype) | Type::Vector(dtype, _)) => *dtype,
            _ => return Err(self.unsupported(format!("the function `{name}`"))),
        };
        let apply = |values: &[Value]| {
            let numbers: Vec<Number> = values.iter().map(|value| value.number).collect();
            let number = function(name, &numbers).ok_or(Fault::NoOperation)?;
            Ok(Value::strong(gives, number.to(gives).ok_or(Fault::TooLarge)?))
        };
        match Datum::lift(&args, apply) {
            Err(Fault::NoOperation) => Err(self.unsupported(format!("the function `{name}`"))),
            found => Ok(vec![self.checked(found)?]),
        }
    }

    fn reduce(&mut self, expr: &Expr, reduction: &Reduction) -> Result<Datum, InterpretError> {
        let ty = self.reduction_types.get(expr).cloned().ok_or_else(|| self.unsupported(format!("`{expr}`")))?;
        let scope: BTreeSet<Name> = self.point.iter().map(|(name, _)| name).chain(&reduction.inames).cloned().collect();
        let domain = crate::order::points(&self.forest, &scope)?;
        let mut found = None;
        self.reduce_over(&domain, &reduction.inames, &mut |machine| {
            let value = machine.datum(&reduction.operands[0])?;
            let value = machine.checked(value.to(&ty))?;
            found = Some(match found.take() {
                None => value,
                Some(before) => machine.combine(&reduction.op, before, value)?,
            });
            Ok(())
        })?;
        let found = match found {
            Some(value) => value,
            None => self.neutral(&reduction.op, &ty)?,
        };
        self.checked(found.to(&ty)).map(Datum::settled)
    }

    fn reduce_over(
        &mut self,
        domain: &Set,
        inames: &[Name],
        each: &mut dyn FnMut(&mut Self) -> Result<(), InterpretError>,
    ) -> Result<(), InterpretError> {
        let Some((iname, rest)) = inames.split_first() else {
            return if self.has_point(domain)? { each(self) } else { Ok(()) };
        };
        let outer: Vec<Name> = self.point.iter().map(|(name, _)| name.clone()).collect();
        let bounds = domain.to_params(&outer).project_onto(std::slice::from_ref(iname))?.bounds(iname)?;
        for value in range(iname, &[bounds], &|name| self.integer(name))? {
            self.point.push((iname.clone(), value));
            let done = self.reduce_over(domain, rest, each);
            self.point.pop();
            done?;
        }
        Ok(())
    }

    fn combine(&self, op: &ReductionOp, left: Datum, right: Datum) -> Result<Datum, InterpretError> {
        let combine = |values: &[Value]| {
            let (left, right) = (values[0], values[1]);
            match op {
                ReductionOp::Sum => binary(BinaryOp::Add, left, right),
                ReductionOp::Product => binary(BinaryOp::Multiply, left, right),
                ReductionOp::Max => extreme(true, left, right),
                ReductionOp::Min => extreme(false, left, right),
                ReductionOp::Any => Ok(Value::truth(left.number.is_true() || right.number.is_true())),
                ReductionOp::All => Ok(Value::truth(left.number.is_true() && right.number.is_true())),
                _ => Err(Fault::NoOperation),
            }
        };
        match Datum::lift(&[left, right], combine) {
            Err(Fault::NoOperation) => Err(self.unsupported(format!("a reduction by `{op}`"))),
            found => self.checked(found),
        }
    }

    fn neutral(&mut self, op: &ReductionOp, ty: &Type) -> Result<Datum, InterpretError> {
        match op.neutral(Some(std::slice::from_ref(ty))) {
            Ok(neutral) if op.arity() == 1 => self.datum(&neutral[0]),
            _ => Err(self.unsupported(format!("an empty reduction by `{op}`"))),
        }
    }
}

/// The usual functions of numbers, by name.
fn function(name: &str, args: &[Number]) -> Option<Number> {
    let float = |f: fn(f64) -> f64| Some(Number::Float(f(args.first()?.real())));
    let two = |f: fn(f64, f64) -> f64| Some(Number::Float(f(args.first()?.real(), args.get(1)?.real())));
    let value = |number: &Number| Value::strong(DType::F64, *number);
    let pick = |largest: bool, at: usize| {
        let (a, b) = (args.first()?, args.get(at)?);
        let op = if largest { CompareOp::Greater } else { CompareOp::Less };
        match (a.integer(), b.integer()) {
            (Some(x), Some(y)) => Some(Number::Int(if largest { x.max(y) } else { x.min(y) })),
            _ => compare(op, value(b), value(a)).ok().map(|better| if better { *b } else { *a }),
        }
    };
    match (name, args.first()?) {
        ("abs", Number::Complex(re, im)) => Some(Number::Float(re.hypot(*im))),
        ("abs", Number::Int(integer)) => Some(Number::Int(integer.abs())),
        ("real", number) => Some(if number.integer().is_some() { *number } else { Number::Float(number.real()) }),
        ("imag", number) => Some(Number::Float(number.imaginary())),
        ("conj", Number::Complex(re, im)) => Some(Number::Complex(*re, -im)),
        ("conj", number) => Some(*number),
        ("isnan", number) => Some(Number::Int(i128::from(number.real().is_nan()))),
        (_, Number::Complex(..)) => None,
        ("min" | "fmin", _) => pick(false, 1),
        ("max" | "fmax", _) => pick(true, 1),
        ("abs" | "fabs", _) => float(f64::abs),
        ("sqrt", _) => float(f64::sqrt),
        ("rsqrt", _) => float(|x| 1.0 / x.sqrt()),
        ("cbrt", _) => float(f64::cbrt),
        ("exp", _) => float(f64::exp),
        ("exp2", _) => float(f64::exp2),
        ("expm1", _) => float(f64::exp_m1),
        ("log", _) => float(f64::ln),
        ("log2", _) => float(f64::log2),
        ("log10", _) => float(f64::log10),
        ("log1p", _) => float(f64::ln_1p),
        ("sin", _) => float(f64::sin),
        ("cos", _) => float(f64::cos),
        ("tan", _) => float(f64::tan),
        ("asin", _) => float(f64::asin),
        ("acos", _) => float(f64::acos),
        ("atan", _) => float(f64::atan),
        ("sinh", _) => float(f64::sinh),
        ("cosh", _) => float(f64::cosh),
        ("tanh", _) => float(f64::tanh),
        ("floor", _) => float(f64::floor),
        ("ceil", _) => float(f64::ceil),
        ("round", _) => float(f64::round),
        ("trunc", _) => float(f64::trunc),
        ("pow", _) => two(f64::powf),
        ("atan2", _) => two(f64::atan2),
        ("hypot", _) => two(f64::hypot),
        ("copysign", _) => two(f64::copysign),
        ("fmod", _) => two(|a, b| a % b),
        ("fma", _) => Some(Number::Float(args[0].real().mul_add(args.get(1)?.real(), args.get(2)?.real()))),
        _ => None,
    }
}
