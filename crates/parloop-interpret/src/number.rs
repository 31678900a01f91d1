//! Numbers of every type, and arithmetic with them as C does it: each result has the type it would have in C.

use parloop_device::DType;
use parloop_ir::promote::{meet, promote_division, rank};
use parloop_ir::syntax::{BinaryOp, CompareOp, Type, UnaryOp};

/// A number without its type: integers are exact, floating-point numbers doubles that were rounded to their type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

/// A number with its type. A *weak* one was made only of literals: it takes the type of its partner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) dtype: DType,
    pub(super) weak: bool,
    pub(super) number: Number,
}

/// The value of an expression: a number, or the components of a vector or record.
#[derive(Clone, Debug)]
pub(super) enum Datum {
    One(Value),
    Many(Vec<Value>),
}

impl Datum {
    /// The component at that place; a number is all components.
    pub(super) fn part(&self, place: usize) -> Option<Value> {
        match self {
            Datum::One(value) => Some(*value),
            Datum::Many(values) => values.get(place).copied(),
        }
    }

    /// An operation on each lane: numbers take part in all of them.
    pub(super) fn lift(operands: &[Datum], operation: impl Fn(&[Value]) -> Result<Value, Fault>) -> Result<Datum, Fault> {
        let count = operands.iter().find_map(|operand| match operand {
            Datum::One(_) => None,
            Datum::Many(values) => Some(values.len()),
        });
        let lane = |place: usize| {
            let values = operands.iter().map(|operand| operand.part(place)).collect::<Option<Vec<Value>>>();
            operation(&values.ok_or(Fault::NoOperation)?)
        };
        match count {
            None => Ok(Datum::One(lane(0)?)),
            Some(count) => Ok(Datum::Many((0..count).map(lane).collect::<Result<_, _>>()?)),
        }
    }

    /// As a value of that type.
    pub(super) fn to(&self, ty: &Type) -> Result<Datum, Fault> {
        match ty {
            Type::Scalar(dtype) => match self {
                Datum::One(value) => Ok(Datum::One(value.to(*dtype)?)),
                Datum::Many(_) => Err(Fault::NoOperation),
            },
            Type::Vector(dtype, lanes) => {
                let lane = |place: u8| self.part(place.into()).ok_or(Fault::NoOperation)?.to(*dtype);
                Ok(Datum::Many((0..*lanes).map(lane).collect::<Result<_, _>>()?))
            }
            _ => Ok(self.clone()),
        }
    }

    /// Not weak.
    pub(super) fn settled(self) -> Datum {
        let strong = |value: Value| Value { weak: false, ..value };
        match self {
            Datum::One(value) => Datum::One(strong(value)),
            Datum::Many(values) => Datum::Many(values.into_iter().map(strong).collect()),
        }
    }
}

/// An operation without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    TooLarge,
    NoOperation,
}

impl Number {
    /// As a number of that type: integers wrap around, fractions are truncated, floating-point numbers are rounded. `None` when a
    /// floating-point number has no integer of that type, which C leaves open.
    ///
    /// ```
    /// use parloop_device::DType;
    /// use parloop_interpret::Number;
    /// assert_eq!(Number::Int(257).to(DType::U8), Some(Number::Int(1)));
    /// assert_eq!(Number::Float(-2.5).to(DType::I32), Some(Number::Int(-2)));
    /// assert_eq!(Number::Float(1e30).to(DType::I32), None);
    /// ```
    pub fn to(self, dtype: DType) -> Option<Number> {
        Some(match dtype {
            DType::Bool => Number::Bool(self.is_true()),
            DType::F32 => Number::Float(match self {
                // Rounded once.
                Number::Int(integer) => f64::from(integer as f32),
                _ => f64::from(self.real() as f32),
            }),
            DType::F64 => Number::Float(self.real()),
            DType::C64 => Number::Complex(f64::from(self.real() as f32), f64::from(self.imaginary() as f32)),
            DType::C128 => Number::Complex(self.real(), self.imaginary()),
            _ => Number::Int(self.to_integer(dtype)?),
        })
    }

    fn to_integer(self, dtype: DType) -> Option<i128> {
        let (least, most) = dtype.integer_range()?;
        match self {
            Number::Bool(truth) => Some(i128::from(truth)),
            Number::Int(integer) => Some((integer.wrapping_sub(least)).rem_euclid(most - least + 1) + least),
            Number::Float(value) | Number::Complex(value, _) => {
                let whole = value.trunc();
                (whole >= least as f64 && whole <= most as f64).then_some(whole as i128).filter(|whole| (least..=most).contains(whole))
            }
        }
    }

    /// Whether it is not zero.
    pub fn is_true(self) -> bool {
        match self {
            Number::Bool(truth) => truth,
            Number::Int(integer) => integer != 0,
            Number::Float(value) => value != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// Its real part as a double.
    pub fn real(self) -> f64 {
        match self {
            Number::Bool(truth) => f64::from(u8::from(truth)),
            Number::Int(integer) => integer as f64,
            Number::Float(value) | Number::Complex(value, _) => value,
        }
    }

    /// Its imaginary part.
    pub fn imaginary(self) -> f64 {
        match self {
            Number::Complex(_, im) => im,
            _ => 0.0,
        }
    }

    /// The value as an integer.
    pub fn integer(self) -> Option<i128> {
        match self {
            Number::Bool(truth) => Some(i128::from(truth)),
            Number::Int(integer) => Some(integer),
            _ => None,
        }
    }

    /// The number that the first bytes hold, in the machine's byte order; `None` when there are too few.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Number> {
        macro_rules! read {
            ($rust:ty, $at:expr) => {
                <$rust>::from_ne_bytes(bytes.get($at..$at + size_of::<$rust>())?.try_into().ok()?)
            };
        }
        Some(match dtype {
            DType::Bool => Number::Bool(*bytes.first()? != 0),
            DType::I8 => Number::Int(read!(i8, 0).into()),
            DType::I16 => Number::Int(read!(i16, 0).into()),
            DType::I32 => Number::Int(read!(i32, 0).into()),
            DType::I64 => Number::Int(read!(i64, 0).into()),
            DType::U8 => Number::Int(read!(u8, 0).into()),
            DType::U16 => Number::Int(read!(u16, 0).into()),
            DType::U32 => Number::Int(read!(u32, 0).into()),
            DType::U64 => Number::Int(read!(u64, 0).into()),
            DType::F32 => Number::Float(read!(f32, 0).into()),
            DType::F64 => Number::Float(read!(f64, 0)),
            DType::C64 => Number::Complex(read!(f32, 0).into(), read!(f32, 4).into()),
            DType::C128 => Number::Complex(read!(f64, 0), read!(f64, 8)),
        })
    }
}

impl Value {
    pub(super) fn strong(dtype: DType, number: Number) -> Value {
        Value { dtype, weak: false, number }
    }

    pub(super) fn truth(truth: bool) -> Value {
        Value::strong(DType::Bool, Number::Bool(truth))
    }

    pub(super) fn to(self, dtype: DType) -> Result<Value, Fault> {
        Ok(Value { dtype, weak: self.weak, number: self.number.to(dtype).ok_or(Fault::TooLarge)? })
    }

    /// The integer of a number in the text, which must fit its partner's type.
    fn literal(&self) -> Option<i128> {
        self.number.integer().filter(|_| self.weak)
    }
}

/// Both as numbers of one type.
pub(super) fn unify(left: Value, right: Value) -> Result<(Value, Value), Fault> {
    let (dtype, weak) = meet(left.dtype, left.weak, right.dtype, right.weak, [left.literal(), right.literal()]);
    let (left, right) = (left.to(dtype)?, right.to(dtype)?);
    Ok((Value { weak, ..left }, Value { weak, ..right }))
}

/// `left op right`; `and` and `or` are not among them, since they need not look at both.
pub(super) fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Fault> {
    let is_division = matches!(op, BinaryOp::FloorDivide | BinaryOp::Modulo);
    let (mut left, mut right) = match is_division && !left.weak && !right.weak {
        true => {
            let dtype = promote_division(left.dtype, right.dtype);
            (left.to(dtype)?, right.to(dtype)?)
        }
        false if op == BinaryOp::Power => power_operands(left, right)?,
        false => unify(left, right)?,
    };
    if op == BinaryOp::Divide && rank(left.dtype) < 2 {
        (left, right) = (left.to(DType::F64)?, right.to(DType::F64)?);
    }
    let number = match (left.number, right.number) {
        (Number::Complex(..), _) | (_, Number::Complex(..)) => complex(op, left.number, right.number)?,
        (Number::Float(a), b) => Number::Float(float(op, a, b.real())?),
        (a, b) => Number::Int(integer(op, a.integer().ok_or(Fault::NoOperation)?, b.integer().ok_or(Fault::NoOperation)?)?),
    };
    Value { dtype: left.dtype, weak: left.weak, number }.to(left.dtype)
}

/// `-x`, `~x`, `not x`.
pub(super) fn unary(op: UnaryOp, value: Value) -> Result<Value, Fault> {
    let dtype = if value.dtype == DType::Bool { DType::I8 } else { value.dtype };
    let number = match (op, value.number) {
        (UnaryOp::Not, number) => return Ok(Value::truth(!number.is_true())),
        (UnaryOp::Negate, Number::Bool(truth)) => Number::Int(-i128::from(truth)),
        (UnaryOp::Negate, Number::Int(integer)) => Number::Int(-integer),
        (UnaryOp::Negate, Number::Float(value)) => Number::Float(-value),
        (UnaryOp::Negate, Number::Complex(re, im)) => Number::Complex(-re, -im),
        (UnaryOp::BitNot, Number::Int(integer)) => Number::Int(!integer),
        (UnaryOp::BitNot, _) => return Err(Fault::NoOperation),
    };
    Value { dtype, weak: value.weak, number }.to(dtype)
}

/// An integer to a whole power stays an integer of its type; to a negative one it is a fraction.
fn power_operands(base: Value, exponent: Value) -> Result<(Value, Value), Fault> {
    match (rank(base.dtype) < 2, exponent.number.integer()) {
        (true, Some(power)) if power < 0 => Ok((base.to(DType::F64)?, exponent.to(DType::F64)?)),
        (_, Some(0..=8)) if exponent.weak => Ok((base, exponent)),
        _ => unify(base, exponent),
    }
}

fn integer(op: BinaryOp, a: i128, b: i128) -> Result<i128, Fault> {
    let quotient = || a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    let shift = || u32::try_from(b).ok().filter(|&by| by < 64).ok_or(Fault::TooLarge);
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a.wrapping_mul(b),
        // As in NumPy.
        BinaryOp::FloorDivide | BinaryOp::Modulo if b == 0 => 0,
        BinaryOp::FloorDivide => quotient(),
        BinaryOp::Modulo => a - quotient() * b,
        BinaryOp::Power => a.checked_pow(u32::try_from(b).map_err(|_| Fault::TooLarge)?).ok_or(Fault::TooLarge)?,
        BinaryOp::ShiftLeft => a.wrapping_shl(shift()?),
        BinaryOp::ShiftRight => a >> shift()?,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Divide | BinaryOp::And | BinaryOp::Or => return Err(Fault::NoOperation),
    })
}

fn float(op: BinaryOp, a: f64, b: f64) -> Result<f64, Fault> {
    // The double of two singles' sum, product or quotient, rounded to a single, is what a single would have given at once.
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        BinaryOp::FloorDivide => (a / b).floor(),
        BinaryOp::Modulo => match a % b {
            0.0 => 0.0f64.copysign(b),
            rest if (rest < 0.0) != (b < 0.0) => rest + b,
            rest => rest,
        },
        BinaryOp::Power => a.powf(b),
        _ => return Err(Fault::NoOperation),
    })
}

fn complex(op: BinaryOp, a: Number, b: Number) -> Result<Number, Fault> {
    let (ar, ai, br, bi) = (a.real(), a.imaginary(), b.real(), b.imaginary());
    let square = br * br + bi * bi;
    Ok(match op {
        BinaryOp::Add => Number::Complex(ar + br, ai + bi),
        BinaryOp::Subtract => Number::Complex(ar - br, ai - bi),
        BinaryOp::Multiply => Number::Complex(ar * br - ai * bi, ar * bi + ai * br),
        BinaryOp::Divide => Number::Complex((ar * br + ai * bi) / square, (ai * br - ar * bi) / square),
        BinaryOp::Power if bi == 0.0 && br >= 0.0 && br.fract() == 0.0 => {
            let times = |n: (f64, f64)| (n.0 * ar - n.1 * ai, n.0 * ai + n.1 * ar);
            let (re, im) = (0..br as u32).fold((1.0, 0.0), |product, _| times(product));
            Number::Complex(re, im)
        }
        _ => return Err(Fault::NoOperation),
    })
}

/// `left op right`.
pub(super) fn compare(op: CompareOp, left: Value, right: Value) -> Result<bool, Fault> {
    let (left, right) = unify(left, right)?;
    let order = match (left.number, right.number) {
        (Number::Complex(..), _) | (_, Number::Complex(..)) => match op {
            CompareOp::Equal => return Ok(left.number == right.number),
            CompareOp::NotEqual => return Ok(left.number != right.number),
            _ => return Err(Fault::NoOperation),
        },
        (a, b) => match (a.integer(), b.integer()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.real().partial_cmp(&b.real()),
        },
    };
    Ok(match op {
        CompareOp::Equal => order.is_some_and(|order| order.is_eq()),
        CompareOp::NotEqual => order.is_none_or(|order| order.is_ne()),
        CompareOp::Less => order.is_some_and(|order| order.is_lt()),
        CompareOp::LessEqual => order.is_some_and(|order| order.is_le()),
        CompareOp::Greater => order.is_some_and(|order| order.is_gt()),
        CompareOp::GreaterEqual => order.is_some_and(|order| order.is_ge()),
    })
}

/// The larger (or smaller) of two numbers.
pub(super) fn extreme(largest: bool, left: Value, right: Value) -> Result<Value, Fault> {
    let (left, right) = unify(left, right)?;
    let op = if largest { CompareOp::Greater } else { CompareOp::Less };
    Ok(if compare(op, right, left)? { right } else { left })
}
