//! Typing rules: the type of each expression, given those of its variables and calls.
//!
//! `None` means that a type is not known yet: an operation with such a value has the type of its other operand, so that an accumulator
//! (`acc = acc + a[i]`) has the type of its terms.

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::callable::{InferError, TypeName};
use parloop_ir::promote::{combine, meet, promote_division, real_of};
use parloop_ir::substitution::rule_call;
use parloop_ir::syntax::{BinaryOp, Call, Expr, Literal, LoopKernel, Reduction, ReductionOp, Type, UnaryOp, lane};
use parloop_isl::Name;

/// The largest exponent for which a power becomes a product, which has the type of its base.
const LARGEST_PRODUCT: i128 = 8;

/// What the typing rules need.
pub(super) trait Environment {
    /// The kernel whose expressions these are.
    fn kernel(&self) -> &LoopKernel;

    /// The type of a variable; of its elements, if it is an array.
    fn variable(&mut self, name: &Name) -> Result<Option<Type>, InferError>;

    /// The types of the results of a call.
    fn call(&mut self, call: &Call) -> Result<Option<Vec<Type>>, InferError>;

    /// How many substitution rules are being expanded.
    fn rule_depth(&mut self) -> &mut usize;
}

/// The type of a value, and whether it is weak: made only of literals, so that it takes the type of its partner.
#[derive(Clone, Debug)]
struct TypedValue {
    ty: Type,
    weak: bool,
}

impl TypedValue {
    fn strong(ty: impl Into<Type>) -> TypedValue {
        TypedValue { ty: ty.into(), weak: false }
    }
}

/// The type of an expression with one value.
pub(super) fn value(env: &mut impl Environment, expr: &Expr) -> Result<Option<Type>, InferError> {
    Ok(find(env, expr)?.map(|found| found.ty))
}

/// The type of an expression, if it does not depend on the context: a literal takes the type of its partner.
pub(super) fn strong_value(env: &mut impl Environment, expr: &Expr) -> Result<Option<Type>, InferError> {
    Ok(find(env, expr)?.filter(|found| !found.weak).map(|found| found.ty))
}

fn find(env: &mut impl Environment, expr: &Expr) -> Result<Option<TypedValue>, InferError> {
    if let Some((rule, args)) = rule_call(expr, &env.kernel().substitutions) {
        let body = rule.body.substitute(&rule.parameters.iter().cloned().zip(args.iter().cloned()).collect());
        return inside_rule(env, &body);
    }
    let strong = |ty: Option<Type>| ty.map(TypedValue::strong);
    match expr {
        Expr::Literal(literal) => literal_type(env, literal),
        Expr::Variable(name) => Ok(strong(env.variable(name)?)),
        Expr::Subscript(aggregate, indices) => {
            visit_all(env, &**indices)?;
            Ok(strong(value(env, aggregate)?))
        }
        Expr::LinearSubscript(aggregate, index) => {
            value(env, index)?;
            Ok(strong(value(env, aggregate)?))
        }
        Expr::Slice(_) => Err(no_value(env, expr, "slices are only allowed as array arguments of calls")),
        Expr::SubArray(part) => {
            visit_all(env, &part.indices)?;
            Ok(strong(env.variable(&part.array)?))
        }
        Expr::Lookup(aggregate, field) => Ok(strong(field_type(env, expr, aggregate, field)?)),
        Expr::Unary(UnaryOp::Not, operand) => {
            condition(env, operand)?;
            Ok(Some(TypedValue::strong(DType::Bool)))
        }
        Expr::Unary(UnaryOp::Negate, operand) => {
            let truth_as_number = |found: TypedValue| if found.ty == DType::Bool.into() { TypedValue::strong(DType::I8) } else { found };
            let found = find(env, operand)?;
            not_record(env, expr, found.as_ref())?;
            Ok(found.map(truth_as_number))
        }
        Expr::Unary(UnaryOp::BitNot, operand) => {
            let found = find(env, operand)?;
            not_record(env, expr, found.as_ref())?;
            Ok(found)
        }
        Expr::Binary(op, left, right) => binary(env, expr, *op, [left, right]),
        Expr::Chain(chain) => {
            let mut found = find(env, &chain.first)?;
            let mut literal = literal_value(found.as_ref(), &chain.first);
            for (op, operand) in &chain.rest {
                let right = find(env, operand)?;
                let number = literal_value(right.as_ref(), operand);
                found = operation(env, expr, *op, [(found, literal), (right, number)])?;
                literal = literal.zip(number).and_then(|(left, right)| computed(*op, left, right));
            }
            Ok(found)
        }
        Expr::Compare(_, left, right) => {
            for operand in [left, right] {
                let ty = value(env, operand)?;
                one_number(env, expr, ty, "cannot be compared; compare its components, such as `.x`")?;
            }
            Ok(Some(TypedValue::strong(DType::Bool)))
        }
        Expr::Min(operands) | Expr::Max(operands) => {
            let found = arithmetic(env, expr, &**operands)?;
            not_record(env, expr, found.as_ref())?;
            Ok(found)
        }
        Expr::If(parts) => {
            condition(env, &parts[0])?;
            arithmetic(env, expr, &parts[1..])
        }
        Expr::Cast(ty, operand) => {
            if let Some(from) = value(env, operand)?
                && !converts(&from, ty)
            {
                let (left, right) = (TypeName(from).to_string(), TypeName(ty.clone()).to_string());
                return Err(InferError::NoOperation { expr: expr.to_string(), kernel: env.kernel().name.clone(), left, right });
            }
            Ok(Some(TypedValue::strong(ty.clone())))
        }
        Expr::CommonSubexpression(operand, _) => Ok(strong(value(env, operand)?)),
        Expr::Call(_) | Expr::Reduction(_) | Expr::Tuple(_) => match several(env, expr)? {
            None => Ok(None),
            Some(mut types) if types.len() == 1 => Ok(strong(types.pop())),
            Some(types) => Err(InferError::SeveralValues { expr: expr.to_string(), kernel: env.kernel().name.clone(), count: types.len() }),
        },
    }
}

/// The type of a rule's body; a rule that calls itself has none.
fn inside_rule(env: &mut impl Environment, body: &Expr) -> Result<Option<TypedValue>, InferError> {
    if *env.rule_depth() > env.kernel().substitutions.len() {
        return Ok(None);
    }
    *env.rule_depth() += 1;
    let found = find(env, body);
    *env.rule_depth() -= 1;
    found
}

/// The types of an expression that may have several values: a call, a reduction of pairs, a tuple.
pub(super) fn several(env: &mut impl Environment, expr: &Expr) -> Result<Option<Vec<Type>>, InferError> {
    match expr {
        Expr::Call(call) if rule_call(expr, &env.kernel().substitutions).is_none() => env.call(call),
        Expr::Reduction(reduction) => reduction_types(env, reduction),
        Expr::Tuple(parts) => parts.iter().map(|part| value(env, part)).collect(),
        _ => Ok(value(env, expr)?.map(|ty| vec![ty])),
    }
}

fn visit_all<'a>(env: &mut impl Environment, exprs: impl IntoIterator<Item = &'a Expr>) -> Result<(), InferError> {
    exprs.into_iter().try_for_each(|expr| value(env, expr).map(drop))
}

/// Whether a value can be stored as another type. A number fills all lanes of a vector.
pub(super) fn converts(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Scalar(_), Type::Scalar(_) | Type::Vector(..)) => true,
        (Type::Vector(_, lanes), Type::Vector(_, others)) => lanes == others,
        (Type::Vector(..) | Type::Record(_), _) | (_, Type::Vector(..) | Type::Record(_)) => from == to,
        // Targets know their own types.
        (Type::Class(_) | Type::Opaque(_), _) | (_, Type::Class(_) | Type::Opaque(_)) => true,
    }
}

/// Checks that a value is not a vector or a record.
fn one_number(env: &impl Environment, expr: &Expr, ty: Option<Type>, problem: &'static str) -> Result<(), InferError> {
    match ty.filter(Type::has_components) {
        None => Ok(()),
        Some(ty) => {
            Err(InferError::Components { expr: expr.to_string(), kernel: env.kernel().name.clone(), ty: TypeName(ty).to_string(), problem })
        }
    }
}

/// Checks an expression that decides something.
pub(super) fn condition(env: &mut impl Environment, expr: &Expr) -> Result<(), InferError> {
    let ty = value(env, expr)?;
    one_number(env, expr, ty, "is not a condition; use a component, such as `.x`")
}

/// Checks that an operand is not a record.
fn not_record(env: &impl Environment, expr: &Expr, found: Option<&TypedValue>) -> Result<(), InferError> {
    let record = found.map(|found| &found.ty).filter(|ty| matches!(ty, Type::Record(_)));
    one_number(env, expr, record.cloned(), "cannot be computed with; use its fields")
}

fn no_value(env: &impl Environment, expr: &Expr, hint: &'static str) -> InferError {
    InferError::NoValue { expr: expr.to_string(), kernel: env.kernel().name.clone(), hint }
}

fn literal_type(env: &impl Environment, literal: &Literal) -> Result<Option<TypedValue>, InferError> {
    let (dtype, given) = match literal {
        Literal::Int(_, Some(dtype)) | Literal::Float(_, Some(dtype)) | Literal::Imaginary(_, Some(dtype)) => (*dtype, true),
        Literal::Int(value, None) => {
            let too_large = || InferError::IntegerTooLarge { value: *value, kernel: env.kernel().name.clone() };
            (integer_type(*value).ok_or_else(too_large)?, false)
        }
        Literal::Float(bits, None) => (if is_single(*bits) { DType::F32 } else { DType::F64 }, false),
        Literal::Imaginary(_, None) if env.kernel().options.loopy_arithmetic => (DType::C128, true),
        Literal::Imaginary(bits, None) => (if is_single(*bits) { DType::C64 } else { DType::C128 }, false),
        Literal::Bool(_) => (DType::Bool, true),
        Literal::Text(name) => {
            return Err(no_value(
                env,
                &Expr::Literal(Literal::Text(name.clone())),
                "strings are only allowed as arguments of functions that take names",
            ));
        }
    };
    Ok(Some(TypedValue { ty: dtype.into(), weak: !given }))
}

/// The type of an integer literal.
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

fn is_integral(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(dtype) | Type::Vector(dtype, _) if dtype.is_integer() || *dtype == DType::Bool)
}

/// The value of an integer literal operand.
fn literal_value(found: Option<&TypedValue>, expr: &Expr) -> Option<i128> {
    found.filter(|found| found.weak && is_integral(&found.ty))?;
    match expr {
        Expr::Literal(Literal::Int(value, _)) => Some(*value),
        other => to_affine(other)?.as_constant().map(i128::from),
    }
}

/// The common type of operands.
fn arithmetic<'a>(
    env: &mut impl Environment,
    whole: &Expr,
    operands: impl IntoIterator<Item = &'a Expr>,
) -> Result<Option<TypedValue>, InferError> {
    let mut all = Vec::new();
    for operand in operands {
        let found = find(env, operand)?;
        let literal = literal_value(found.as_ref(), operand);
        all.push((found, literal));
    }
    common(env, whole, all)
}

/// The common type of operands, given with the values of integer literals.
fn common(
    env: &impl Environment,
    whole: &Expr,
    operands: impl IntoIterator<Item = (Option<TypedValue>, Option<i128>)>,
) -> Result<Option<TypedValue>, InferError> {
    let mut common: Option<(TypedValue, Option<i128>)> = None;
    for (found, literal) in operands {
        let Some(found) = found else { continue };
        common = Some(match common {
            None => (found, literal),
            Some((before, earlier)) => (both(env, whole, (before, earlier), (found, literal))?, None),
        });
    }
    Ok(common.map(|(found, _)| found))
}

/// The common type of two operands, with the values of integer literals.
fn both(
    env: &impl Environment,
    whole: &Expr,
    (a, first): (TypedValue, Option<i128>),
    (b, second): (TypedValue, Option<i128>),
) -> Result<TypedValue, InferError> {
    match (&a.ty, &b.ty) {
        (Type::Scalar(left), Type::Scalar(right)) => {
            let (dtype, weak) = meet(*left, a.weak, *right, b.weak, [first, second]);
            Ok(TypedValue { ty: dtype.into(), weak })
        }
        (Type::Vector(left, lanes), Type::Scalar(right)) | (Type::Scalar(right), Type::Vector(left, lanes)) => {
            // Each lane is combined with the number.
            let (weak, literal) = if matches!(a.ty, Type::Vector(..)) { (b.weak, second) } else { (a.weak, first) };
            let (dtype, _) = meet(*left, false, *right, weak, [None, literal]);
            lanes_of(env, whole, dtype, *lanes, [&a.ty, &b.ty])
        }
        _ => match join(env, whole, Some(a.ty), Some(b.ty))? {
            Some(ty) => Ok(TypedValue::strong(ty)),
            None => Err(no_value(env, whole, "its operands have no type")),
        },
    }
}

/// The vector of results; there is none of complex numbers.
fn lanes_of(env: &impl Environment, whole: &Expr, dtype: DType, lanes: u8, [a, b]: [&Type; 2]) -> Result<TypedValue, InferError> {
    let ty = Type::vector(dtype, lanes).ok_or_else(|| InferError::NoOperation {
        expr: whole.to_string(),
        kernel: env.kernel().name.clone(),
        left: TypeName(a.clone()).to_string(),
        right: TypeName(b.clone()).to_string(),
    })?;
    Ok(TypedValue::strong(ty))
}

/// The common type of two types, one of which may be unknown.
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

fn binary(env: &mut impl Environment, whole: &Expr, op: BinaryOp, [left, right]: [&Expr; 2]) -> Result<Option<TypedValue>, InferError> {
    if matches!(op, BinaryOp::And | BinaryOp::Or) {
        condition(env, left)?;
        condition(env, right)?;
        return Ok(Some(TypedValue::strong(DType::Bool)));
    }
    let (a, b) = (find(env, left)?, find(env, right)?);
    let literals = [literal_value(a.as_ref(), left), literal_value(b.as_ref(), right)];
    operation(env, whole, op, [(a, literals[0]), (b, literals[1])])
}

/// The value of an operation on two integer literals, as far as [`literal_value`] computes them.
fn computed(op: BinaryOp, left: i128, right: i128) -> Option<i128> {
    let found = match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::FloorDivide if right > 0 => left.checked_div_euclid(right),
        BinaryOp::Modulo if right > 0 => left.checked_rem_euclid(right),
        _ => None,
    };
    found.filter(|number| i64::try_from(*number).is_ok())
}

/// The type of an operation on operands of those types, with the values of integer literals.
fn operation(
    env: &impl Environment,
    whole: &Expr,
    op: BinaryOp,
    [(a, first), (b, second)]: [(Option<TypedValue>, Option<i128>); 2],
) -> Result<Option<TypedValue>, InferError> {
    not_record(env, whole, a.as_ref())?;
    not_record(env, whole, b.as_ref())?;
    if let Some(found) = on_lanes(env, whole, op, [(&a, first), (&b, second)])? {
        return Ok(Some(found));
    }
    let literals = [first, second];
    let power = literals[1].filter(|_| op == BinaryOp::Power);
    match (op, &a, &b) {
        (
            BinaryOp::FloorDivide | BinaryOp::Modulo,
            Some(TypedValue { ty: Type::Scalar(a), weak: false }),
            Some(TypedValue { ty: Type::Scalar(b), weak: false }),
        ) => {
            return Ok(Some(TypedValue::strong(promote_division(*a, *b))));
        }
        (BinaryOp::Power, Some(_), _) if matches!(power, Some(0..=LARGEST_PRODUCT)) => return Ok(a),
        (BinaryOp::Power, Some(base), _) if matches!(power, Some(..0)) && is_integral(&base.ty) => {
            return Ok(Some(TypedValue::strong(DType::F64)));
        }
        _ => {}
    }
    let found = common(env, whole, [(a, literals[0]), (b, literals[1])])?;
    Ok(found.map(|found| match found.ty {
        Type::Scalar(_) if op == BinaryOp::Divide && is_integral(&found.ty) => TypedValue { ty: DType::F64.into(), ..found },
        _ => found,
    }))
}

/// The type of an operation of which an operand is a vector: that of the same operation on each lane.
fn on_lanes(
    env: &impl Environment,
    whole: &Expr,
    op: BinaryOp,
    [(a, first), (b, second)]: [(&Option<TypedValue>, Option<i128>); 2],
) -> Result<Option<TypedValue>, InferError> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let lanes = match (&a.ty, &b.ty) {
        (Type::Vector(_, lanes), Type::Vector(_, others)) if lanes == others => *lanes,
        (Type::Vector(_, lanes), Type::Scalar(_)) | (Type::Scalar(_), Type::Vector(_, lanes)) => *lanes,
        _ => return Ok(None),
    };
    let lane = |value: &TypedValue| match &value.ty {
        Type::Vector(dtype, _) => TypedValue::strong(*dtype),
        _ => value.clone(),
    };
    let found = operation(env, whole, op, [(Some(lane(a)), first), (Some(lane(b)), second)])?;
    match found.and_then(|found| found.ty.scalar()) {
        Some(dtype) => lanes_of(env, whole, dtype, lanes, [&a.ty, &b.ty]).map(Some),
        None => Ok(None),
    }
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
        Type::Class(class) => (class.fields().get(&full).map(|field| field.dtype.into()), class.fields().keys().cloned().collect()),
        Type::Vector(dtype, lanes) => {
            let names = (0..*lanes).map(|place| parloop_ir::syntax::lane_name(place, *lanes)).collect();
            (lane(&full, *lanes).map(|_| Type::Scalar(*dtype)), names)
        }
        Type::Record(record) => {
            let names = record.fields().iter().map(|field| field.name.clone()).collect();
            (record.field(&full).map(|field| field.dtype.into()), names)
        }
        Type::Scalar(dtype) if dtype.is_complex() && matches!(&*full, "real" | "imag") => (Some(real_of(*dtype).into()), Vec::new()),
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

/// The types of the results of a reduction.
fn reduction_types(env: &mut impl Environment, reduction: &Reduction) -> Result<Option<Vec<Type>>, InferError> {
    let operands: Option<Vec<Type>> = match reduction.operands.as_slice() {
        // One operand with several values: a call or a reduction of pairs.
        [operand] => several(env, operand)?,
        operands => operands.iter().map(|operand| value(env, operand)).collect::<Result<_, _>>()?,
    };
    for ty in operands.iter().flatten() {
        let is_sum = matches!(reduction.op, ReductionOp::Sum | ReductionOp::Product);
        if matches!(ty, Type::Record(_)) || matches!(ty, Type::Vector(..)) && !is_sum {
            let whole = Expr::Reduction(std::sync::Arc::new(reduction.clone()));
            one_number(env, &whole, Some(ty.clone()), "can only be summed or multiplied; reduce its components, such as `.x`")?;
        }
    }
    Ok(operands.map(|mut types| match reduction.op {
        ReductionOp::Any | ReductionOp::All => vec![DType::Bool.into()],
        ReductionOp::Sum | ReductionOp::Product if types.first() == Some(&DType::Bool.into()) => {
            // The number that hold, not whether any does.
            types[0] = DType::I32.into();
            types
        }
        _ => types,
    }))
}
