//! Arithmetic of typed values: conversions, literals that take the type of their partner, and folding of integers.
//!
//! A value is *weak* if only literals (and integers combined with floating-point literals) decided its type: it takes the type of its
//! partner, or of what it is assigned to.

use parloop_device::DType;
use parloop_ir::promote::{meet, rank};
use parloop_ir::syntax::{CompareOp, Type, UnaryOp};

use super::lane::{lane_count, lane_of, vector_of};
use super::record::record_zero;
use super::tree::{Op, Routine, Value, ValueKind};

/// A value whose type may still follow its partner.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) value: Value,
    pub(super) weak: bool,
}

impl Typed {
    pub(super) fn strong(value: Value) -> Typed {
        Typed { value, weak: false }
    }

    pub(super) fn weak(value: Value) -> Typed {
        Typed { value, weak: true }
    }

    pub(super) fn dtype(&self) -> Option<DType> {
        self.value.ty.scalar()
    }

    /// As a value of that type.
    pub(super) fn to(self, ty: &Type) -> Value {
        convert(self.value, self.weak, ty)
    }

    /// The value itself, if nothing else decides.
    pub(super) fn settle(self) -> Value {
        self.value
    }
}

pub(super) fn int(ty: &Type, value: i128) -> Value {
    Value::new(ty.clone(), ValueKind::Int(value))
}

/// Zero of any type of numbers.
pub(super) fn zero(ty: &Type) -> Value {
    match ty.scalar() {
        Some(dtype) if dtype.is_complex() => Value::new(dtype, ValueKind::Complex(0.0, 0.0)),
        Some(dtype) if dtype.is_float() => Value::new(dtype, ValueKind::Float(0.0)),
        Some(DType::Bool) => Value::new(DType::Bool, ValueKind::Bool(false)),
        _ => match ty {
            Type::Vector(dtype, lanes) => vector_of(vec![zero(&Type::Scalar(*dtype)); usize::from(*lanes)]),
            Type::Record(record) => Value::new(ty.clone(), ValueKind::Call(record_zero(record.name()), Vec::new())),
            _ => int(ty, 0),
        },
    }
}

fn convert(value: Value, weak: bool, ty: &Type) -> Value {
    if value.ty == *ty {
        return value;
    }
    if let Type::Vector(dtype, lanes) = ty {
        let lane = Type::Scalar(*dtype);
        return vector_of((0..*lanes).map(|place| convert(lane_of(&value, place), weak, &lane)).collect());
    }
    let (Some(from), Some(to)) = (value.ty.scalar(), ty.scalar()) else { return cast(value, ty) };
    if let ValueKind::Int(number) = value.kind
        && (to.is_float() || to.is_complex() || to.integer_range().is_some_and(|(least, most)| (least..=most).contains(&number)))
    {
        return literal(number as f64, Some(number), to);
    }
    match value.kind {
        ValueKind::Float(number) if weak && (to.is_float() || to.is_complex()) => literal(number, None, to),
        ValueKind::Complex(re, im) if weak && to.is_complex() => Value::new(to, ValueKind::Complex(re, im)),
        _ if weak && rank(from) <= rank(to) && rank(to) > 1 => retype(value, ty),
        _ if weak && rank(from) == rank(to) => retype(value, ty),
        _ => cast(value, ty),
    }
}

fn literal(number: f64, integer: Option<i128>, to: DType) -> Value {
    let kind = match integer {
        _ if to.is_complex() => ValueKind::Complex(number, 0.0),
        _ if to.is_float() => ValueKind::Float(number),
        Some(integer) => ValueKind::Int(integer),
        None => ValueKind::Float(number),
    };
    Value::new(to, kind)
}

/// A weak value of another type: its literals take it.
fn retype(value: Value, ty: &Type) -> Value {
    let again = |inner: Box<Value>| Box::new(convert(*inner, true, ty));
    match value.kind {
        ValueKind::Unary(UnaryOp::Negate, inner) => Value::new(ty.clone(), ValueKind::Unary(UnaryOp::Negate, again(inner))),
        ValueKind::Binary(op @ (Op::Add | Op::Subtract | Op::Multiply | Op::Divide), left, right) => {
            Value::new(ty.clone(), ValueKind::Binary(op, again(left), again(right)))
        }
        ValueKind::Routine(routine, args) => {
            let args = args.into_iter().map(|arg| convert(arg, true, ty)).collect();
            Value::new(ty.clone(), ValueKind::Routine(routine, args))
        }
        ValueKind::Choose(parts) => {
            let [condition, yes, no] = *parts;
            let parts = [condition, convert(yes, true, ty), convert(no, true, ty)];
            Value::new(ty.clone(), ValueKind::Choose(Box::new(parts)))
        }
        ValueKind::Cast(inner) if inner.ty.scalar().is_some_and(DType::is_integer) => cast(*inner, ty),
        kind => cast(Value { ty: value.ty, kind }, ty),
    }
}

/// `(ty)value`.
pub(super) fn cast(value: Value, ty: &Type) -> Value {
    if value.ty == *ty {
        return value;
    }
    Value::new(ty.clone(), ValueKind::Cast(Box::new(value)))
}

/// Both as values of one type, and whether that is still weak.
pub(super) fn unify(left: Typed, right: Typed) -> (Value, Value, bool) {
    let (Some(a), Some(b)) = (left.dtype(), right.dtype()) else {
        let lanes = lane_count(&left.value.ty).or(lane_count(&right.value.ty));
        let dtype = |typed: &Typed| match typed.value.ty {
            Type::Scalar(dtype) | Type::Vector(dtype, _) => Some(dtype),
            _ => None,
        };
        let (Some(lanes), Some(a), Some(b)) = (lanes, dtype(&left), dtype(&right)) else { return (left.value, right.value, false) };
        let (dtype, weak) = meet(a, left.weak, b, right.weak, [left.value.as_int(), right.value.as_int()]);
        let ty = Type::Vector(dtype, lanes);
        return (left.to(&ty), right.to(&ty), weak);
    };
    let (dtype, weak) = meet(a, left.weak, b, right.weak, [left.value.as_int(), right.value.as_int()]);
    let ty = Type::Scalar(dtype);
    (left.to(&ty), right.to(&ty), weak)
}

/// `left op right` for values of one type, integers folded.
pub(super) fn binary(op: Op, left: Value, right: Value) -> Value {
    let ty = left.ty.clone();
    if let (Some(dtype), true) = (ty.scalar(), matches!(op, Op::Add | Op::Subtract | Op::Multiply))
        && dtype.is_integer()
        && let Some(folded) = fold(op, &left, &right)
    {
        return folded;
    }
    let made = Value::new(ty.clone(), ValueKind::Binary(op, Box::new(left), Box::new(right)));
    // C computes with `int` where NumPy would not: what does not fit is cut off at once.
    match ty.scalar() {
        Some(dtype) if dtype.is_integer() && dtype.size() < 4 && !matches!(op, Op::BitAnd | Op::BitOr | Op::BitXor | Op::Remainder) => {
            Value::new(ty, ValueKind::Cast(Box::new(Value { ty: DType::I32.into(), kind: made.kind })))
        }
        // Truth values are bytes on some targets, which hold no other numbers than 0 and 1.
        Some(DType::Bool) if matches!(op, Op::Add | Op::Subtract) => {
            Value::new(ty, ValueKind::Cast(Box::new(Value { ty: DType::I32.into(), kind: made.kind })))
        }
        _ => made,
    }
}

/// `-x` or `~x`, as narrow as its operand.
pub(super) fn unary(op: UnaryOp, operand: Value) -> Value {
    let ty = operand.ty.clone();
    let range = ty.scalar().and_then(DType::integer_range);
    if let (UnaryOp::Negate, Some(number), Some((least, most))) = (op, operand.as_int(), range)
        && (least..=most).contains(&-number)
    {
        return int(&ty, -number);
    }
    let kind = ValueKind::Unary(op, Box::new(operand));
    match ty.scalar() {
        Some(dtype) if dtype.is_integer() && dtype.size() < 4 => {
            Value::new(ty, ValueKind::Cast(Box::new(Value { ty: DType::I32.into(), kind })))
        }
        _ => Value::new(ty, kind),
    }
}

fn fold(op: Op, left: &Value, right: &Value) -> Option<Value> {
    let result = |number: i128| {
        let (least, most) = left.ty.scalar()?.integer_range()?;
        (least..=most).contains(&number).then(|| int(&left.ty, number))
    };
    match (op, left.as_int(), right.as_int()) {
        (Op::Add, Some(a), Some(b)) => result(a.checked_add(b)?),
        (Op::Subtract, Some(a), Some(b)) => result(a.checked_sub(b)?),
        (Op::Multiply, Some(a), Some(b)) => result(a.checked_mul(b)?),
        (Op::Add, Some(0), _) | (Op::Multiply, Some(1), _) => Some(right.clone()),
        (Op::Add | Op::Subtract, _, Some(0)) | (Op::Multiply, _, Some(1)) => Some(left.clone()),
        (Op::Multiply, Some(0), _) | (Op::Multiply, _, Some(0)) => Some(int(&left.ty, 0)),
        (Op::Add, _, Some(b)) if b < 0 => Some(plain(Op::Subtract, left.clone(), int(&left.ty, b.checked_neg()?))),
        _ => None,
    }
}

fn plain(op: Op, left: Value, right: Value) -> Value {
    Value::new(left.ty.clone(), ValueKind::Binary(op, Box::new(left), Box::new(right)))
}

/// `left op right` for values of one type.
pub(super) fn compare(op: CompareOp, left: Value, right: Value) -> Value {
    if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
        let truth = match op {
            CompareOp::Equal => a == b,
            CompareOp::NotEqual => a != b,
            CompareOp::Less => a < b,
            CompareOp::LessEqual => a <= b,
            CompareOp::Greater => a > b,
            CompareOp::GreaterEqual => a >= b,
        };
        return Value::new(DType::Bool, ValueKind::Bool(truth));
    }
    Value::new(DType::Bool, ValueKind::Compare(op, Box::new(left), Box::new(right)))
}

/// The value as a condition.
pub(super) fn truth(value: Value) -> Value {
    if value.ty.scalar() == Some(DType::Bool) {
        return value;
    }
    if let Some(number) = value.as_int() {
        return Value::new(DType::Bool, ValueKind::Bool(number != 0));
    }
    let zero = zero(&value.ty);
    compare(CompareOp::NotEqual, value, zero)
}

/// All of them, or one of them (for [`Op::Or`]); `None` if nothing is left to ask.
pub(super) fn join(op: Op, conditions: impl IntoIterator<Item = Value>) -> Option<Value> {
    let neutral = ValueKind::Bool(op == Op::And);
    let mut joined: Option<Value> = None;
    for condition in conditions {
        if condition.kind == neutral {
            continue;
        }
        joined = Some(match joined {
            None => condition,
            Some(before) => Value::new(DType::Bool, ValueKind::Binary(op, Box::new(before), Box::new(condition))),
        });
    }
    joined
}

/// The routine of two values of one type, integers folded.
pub(super) fn routine(routine: Routine, left: Value, right: Value) -> Value {
    let ty = left.ty.clone();
    if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
        let floor = || a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
        let folded = match routine {
            Routine::Min => Some(a.min(b)),
            Routine::Max => Some(a.max(b)),
            Routine::FloorDivide if b != 0 => Some(floor()),
            Routine::Modulo if b != 0 => Some(a - floor() * b),
            _ => None,
        };
        if let Some(number) = folded {
            return int(&ty, number);
        }
    }
    Value::new(ty, ValueKind::Routine(routine, vec![left, right]))
}
