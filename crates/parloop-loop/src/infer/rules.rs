//! The rules of types: what each expression is, given what its variables and calls are.
//!
//! `None` means that a type is not known yet: an operation with such a value has the type of its other operand, so that a sum that
//! feeds itself (`acc = acc + a[i]`) has the type of what is added.

use parloop_device::DType;
use parloop_isl::Name;

use super::error::InferError;
use super::promote::{combine, promote_division};
use crate::callable::TypeName;
use crate::syntax::{BinaryOp, Call, Expr, Literal, LoopKernel, Reduction, ReductionOp, Type, UnaryOp};

/// A literal below this does not widen a float.
const SMALL_INTEGER: i128 = 1024;

/// What the rules ask for.
pub(super) trait Environment {
    /// The kernel whose expressions these are.
    fn kernel(&self) -> &LoopKernel;

    /// The type of a variable; of its elements, if it is an array.
    fn variable(&mut self, name: &Name) -> Result<Option<Type>, InferError>;

    /// The types of the results of a call, or of a substitution rule.
    fn call(&mut self, call: &Call) -> Result<Option<Vec<Type>>, InferError>;
}

/// The type of an expression that is one value.
pub(super) fn value(env: &mut impl Environment, expr: &Expr) -> Result<Option<Type>, InferError> {
    match expr {
        Expr::Literal(literal) => literal_type(env, literal),
        Expr::Variable(name) => env.variable(name),
        Expr::Subscript(aggregate, indices) => {
            visit_all(env, &**indices)?;
            value(env, aggregate)
        }
        Expr::LinearSubscript(aggregate, index) => {
            value(env, index)?;
            value(env, aggregate)
        }
        Expr::Slice(_) => Err(no_value(env, expr, "slices stand for parts of arrays in calls")),
        Expr::SubArray(part) => {
            visit_all(env, &part.indices)?;
            env.variable(&part.array)
        }
        Expr::Lookup(aggregate, field) => field_type(env, expr, aggregate, field),
        Expr::Unary(UnaryOp::Not, operand) => {
            value(env, operand)?;
            Ok(Some(DType::Bool.into()))
        }
        Expr::Unary(UnaryOp::Negate, operand) => {
            Ok(value(env, operand)?.map(|ty| if ty == DType::Bool.into() { DType::I8.into() } else { ty }))
        }
        Expr::Unary(UnaryOp::BitNot, operand) => value(env, operand),
        Expr::Binary(op, left, right) => binary(env, expr, *op, [left, right]),
        Expr::Compare(_, left, right) => {
            visit_all(env, [&**left, &**right])?;
            Ok(Some(DType::Bool.into()))
        }
        Expr::Min(operands) | Expr::Max(operands) => arithmetic(env, expr, &**operands),
        Expr::If(parts) => {
            value(env, &parts[0])?;
            arithmetic(env, expr, &parts[1..])
        }
        Expr::Cast(ty, operand) => {
            value(env, operand)?;
            Ok(Some(ty.clone()))
        }
        Expr::CommonSubexpression(operand, _) => value(env, operand),
        Expr::Call(_) | Expr::Reduction(_) | Expr::Tuple(_) => match several(env, expr)? {
            None => Ok(None),
            Some(mut types) if types.len() == 1 => Ok(types.pop()),
            Some(types) => Err(InferError::SeveralValues { expr: expr.to_string(), kernel: env.kernel().name.clone(), count: types.len() }),
        },
    }
}

/// The types of an expression that may be several values: a call, a reduction of pairs, a tuple.
pub(super) fn several(env: &mut impl Environment, expr: &Expr) -> Result<Option<Vec<Type>>, InferError> {
    match expr {
        Expr::Call(call) => env.call(call),
        Expr::Reduction(reduction) => reduction_types(env, reduction),
        Expr::Tuple(parts) => parts.iter().map(|part| value(env, part)).collect(),
        _ => Ok(value(env, expr)?.map(|ty| vec![ty])),
    }
}

fn visit_all<'a>(env: &mut impl Environment, exprs: impl IntoIterator<Item = &'a Expr>) -> Result<(), InferError> {
    exprs.into_iter().try_for_each(|expr| value(env, expr).map(drop))
}

fn no_value(env: &impl Environment, expr: &Expr, hint: &'static str) -> InferError {
    InferError::NoValue { expr: expr.to_string(), kernel: env.kernel().name.clone(), hint }
}

fn literal_type(env: &impl Environment, literal: &Literal) -> Result<Option<Type>, InferError> {
    let dtype = match literal {
        Literal::Int(_, Some(dtype)) | Literal::Float(_, Some(dtype)) | Literal::Imaginary(_, Some(dtype)) => *dtype,
        Literal::Int(value, None) => {
            integer_type(*value).ok_or_else(|| InferError::IntegerTooLarge { value: *value, kernel: env.kernel().name.clone() })?
        }
        Literal::Float(bits, None) if is_single(*bits) => DType::F32,
        Literal::Float(_, None) => DType::F64,
        Literal::Imaginary(bits, None) if is_single(*bits) => DType::C64,
        Literal::Imaginary(_, None) => DType::C128,
        Literal::Bool(_) => DType::Bool,
        Literal::Text(name) => {
            return Err(no_value(
                env,
                &Expr::Literal(Literal::Text(name.clone())),
                "texts are only arguments of functions that take names",
            ));
        }
    };
    Ok(Some(dtype.into()))
}

/// The type of an integer that stands in the text.
fn integer_type(value: i128) -> Option<DType> {
    [DType::I32, DType::I64, DType::U64]
        .into_iter()
        .find(|dtype| dtype.integer_range().is_some_and(|(low, high)| low <= value && value <= high))
}

/// Whether a double is exactly a single-precision number.
fn is_single(bits: u64) -> bool {
    let value = f64::from_bits(bits);
    value.is_nan() || f64::from(value as f32) == value
}

/// A small integer as it stands in the text, perhaps negative.
fn is_small_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Int(value, None)) => value.unsigned_abs() < SMALL_INTEGER.unsigned_abs(),
        Expr::Unary(UnaryOp::Negate, operand) => is_small_integer(operand),
        _ => false,
    }
}

fn is_integral(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(dtype) | Type::Vector(dtype, _) if dtype.is_integer() || *dtype == DType::Bool)
}

/// The common type of operands; small integers do not count where a float is.
fn arithmetic<'a>(
    env: &mut impl Environment,
    whole: &Expr,
    operands: impl IntoIterator<Item = &'a Expr>,
) -> Result<Option<Type>, InferError> {
    let (mut common, mut small) = (None, None);
    for operand in operands {
        let ty = value(env, operand)?;
        let side = if is_small_integer(operand) { &mut small } else { &mut common };
        *side = join(env, whole, side.take(), ty)?;
    }
    match &common {
        Some(ty) if !is_integral(ty) => Ok(common),
        _ => join(env, whole, common, small),
    }
}

/// The common type of two, one of which may not be known.
pub(super) fn join(env: &impl Environment, whole: &Expr, a: Option<Type>, b: Option<Type>) -> Result<Option<Type>, InferError> {
    match (a, b) {
        (Some(a), Some(b)) => match combine(&a, &b) {
            Some(both) => Ok(Some(both)),
            None => Err(InferError::NoOperation {
                expr: whole.to_string(),
                kernel: env.kernel().name.clone(),
                left: TypeName(a).to_string(),
                right: TypeName(b).to_string(),
            }),
        },
        (a, b) => Ok(a.or(b)),
    }
}

fn binary(env: &mut impl Environment, whole: &Expr, op: BinaryOp, [left, right]: [&Expr; 2]) -> Result<Option<Type>, InferError> {
    match op {
        BinaryOp::And | BinaryOp::Or => {
            visit_all(env, [left, right])?;
            Ok(Some(DType::Bool.into()))
        }
        BinaryOp::Divide => {
            let ty = arithmetic(env, whole, [left, right])?;
            Ok(ty.map(|ty| match ty {
                Type::Scalar(_) if is_integral(&ty) => DType::F64.into(),
                ty => ty,
            }))
        }
        BinaryOp::FloorDivide | BinaryOp::Modulo => division(env, whole, left, right),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            value(env, right)?;
            value(env, left)
        }
        _ => arithmetic(env, whole, [left, right]),
    }
}

/// `//` and `%`: integers stay integers, and an integer in the text takes the other's type if it fits.
fn division(env: &mut impl Environment, whole: &Expr, left: &Expr, right: &Expr) -> Result<Option<Type>, InferError> {
    let (a, b) = (value(env, left)?, value(env, right)?);
    let (Some(Type::Scalar(a)), Some(Type::Scalar(b))) = (&a, &b) else { return join(env, whole, a, b) };
    let (a, b) = (*a, *b);
    let fits = |literal: &Expr, dtype: DType| match (literal, dtype.integer_range()) {
        (Expr::Literal(Literal::Int(value, None)), Some((low, high))) => low <= *value && *value <= high,
        _ => false,
    };
    let dtype = match () {
        () if fits(right, a) => a,
        () if fits(left, b) => b,
        () if a.is_float() && is_small_integer(right) => a,
        () if b.is_float() && is_small_integer(left) => b,
        () => promote_division(a, b),
    };
    Ok(Some(dtype.into()))
}

/// `p.x`, `p.inner.y`, `v.s0`.
fn field_type(env: &mut impl Environment, whole: &Expr, aggregate: &Expr, field: &Name) -> Result<Option<Type>, InferError> {
    let (mut root, mut path) = (aggregate, vec![field.clone()]);
    while let Expr::Lookup(inner, name) = root {
        path.push(name.clone());
        root = inner;
    }
    path.reverse();
    let full: Name = path.iter().map(|part| &**part).collect::<Vec<&str>>().join(".").into();
    let Some(ty) = value(env, root)? else { return Ok(None) };
    let (found, fields) = match &ty {
        Type::Class(class) => (class.fields.get(&full).map(|field| field.dtype.into()), class.fields.keys().cloned().collect()),
        Type::Vector(dtype, lanes) => (lane(&full, *lanes).map(|_| Type::Scalar(*dtype)), Vec::new()),
        _ => (None, Vec::new()),
    };
    match found {
        Some(found) => Ok(Some(found)),
        None => Err(InferError::NoField {
            expr: whole.to_string(),
            kernel: env.kernel().name.clone(),
            ty: TypeName(ty).to_string(),
            field: full,
            fields,
        }),
    }
}

/// The lane of a vector that a name means: `x y z w`, or `s0` … `sf`.
fn lane(name: &str, lanes: u8) -> Option<u8> {
    let lane = match name {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => u8::from_str_radix(name.strip_prefix('s').filter(|digits| digits.len() == 1)?, 16).ok()?,
    };
    (lane < lanes).then_some(lane)
}

/// The types of what a reduction gives.
fn reduction_types(env: &mut impl Environment, reduction: &Reduction) -> Result<Option<Vec<Type>>, InferError> {
    let operands: Option<Vec<Type>> = match reduction.operands.as_slice() {
        // One operand that is several values: a call or a reduction of pairs.
        [operand] => several(env, operand)?,
        operands => operands.iter().map(|operand| value(env, operand)).collect::<Result<_, _>>()?,
    };
    Ok(operands.map(|mut types| match reduction.op {
        ReductionOp::Any | ReductionOp::All => vec![DType::Bool.into()],
        ReductionOp::Sum | ReductionOp::Product if types.first() == Some(&DType::Bool.into()) => {
            // How many hold, not whether one does.
            types[0] = DType::I32.into();
            types
        }
        _ => types,
    }))
}
