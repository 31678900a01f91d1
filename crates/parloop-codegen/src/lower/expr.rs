//! Expressions as typed values. Integer `//` and `%` round towards minus infinity, `/` of integers gives a floating-point number.

use parloop_device::DType;
use parloop_ir::promote::{promote_division, real_of};
use parloop_ir::syntax::{AddressSpace, BinaryOp, Chain, Expr, Literal, Target, Type, UnaryOp};

use super::LowerError;
use super::lane::lane_count;
use super::number::{self, Typed};
use super::scope::Scope;
use super::tree::{Declaration, Op, Routine, Statement, Value, ValueKind};

/// The maximum number of operators of a long sum or product in one expression of the code: compilers recurse on it.
const LONGEST_PART: usize = 64;
/// The maximum where parts cannot be computed beforehand.
const LONGEST_BRANCH: usize = 500;
/// Powers up to this one are written as products.
const LARGEST_PRODUCT: i128 = 8;

impl Scope<'_> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Typed, LowerError> {
        match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Variable(name) if self.shadow.is_some() && self.arrays.contains_key(name) => self.read(expr).map(Typed::strong),
            Expr::Variable(name) => self.variable(name).map(Typed::strong),
            Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::Lookup(..) => self.read(expr).map(Typed::strong),
            Expr::Unary(op, operand) => self.unary(*op, operand),
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Chain(chain) => {
                let first = self.expr(&chain.first)?;
                self.chain(chain, first, &mut |scope, operand| scope.expr(operand))
            }
            Expr::Compare(op, left, right) => {
                let (left, right, _) = number::unify(self.expr(left)?, self.expr(right)?);
                Ok(Typed::strong(number::compare(*op, left, right)))
            }
            Expr::Min(operands) => self.extreme(Routine::Min, operands),
            Expr::Max(operands) => self.extreme(Routine::Max, operands),
            Expr::If(parts) => self.choose(parts),
            Expr::Cast(ty, operand) => {
                let value = self.filling(operand, ty)?;
                Ok(Typed::strong(value.to(ty)))
            }
            Expr::Call(call) => self.call(call),
            Expr::CommonSubexpression(operand, prefix) => {
                let value = self.expr(operand)?;
                let value = value.settle();
                Ok(Typed::strong(self.once(value, prefix.as_deref().unwrap_or("cse"))))
            }
            Expr::Slice(_) => Err(self.refused("a slice outside a call")),
            Expr::SubArray(_) => Err(self.refused("a part of an array outside a call")),
            Expr::Reduction(_) => Err(self.refused("a reduction that has not been realised")),
            Expr::Tuple(_) => Err(self.refused("a tuple as a single value")),
        }
    }

    /// A sum or a product of many, in parts.
    fn chain(
        &mut self,
        chain: &Chain,
        first: Typed,
        value: &mut dyn FnMut(&mut Self, &Expr) -> Result<Typed, LowerError>,
    ) -> Result<Typed, LowerError> {
        if self.conditional > 0 && chain.rest.len() > LONGEST_BRANCH {
            let what = format!(
                "a sum or product of {} operands in a branch of `if` or after `and` or `or` (at most {}; compute it in a separate instruction)",
                chain.rest.len() + 1,
                LONGEST_BRANCH + 1
            );
            return Err(self.refused(what));
        }
        let mut found = first;
        for (place, (op, operand)) in chain.rest.iter().enumerate() {
            if place > 0 && place % LONGEST_PART == 0 {
                found = Typed::strong(self.once(found.settle(), "part"));
            }
            let divisor = operand;
            let operand = value(self, operand)?;
            found = self.apply(*op, found, operand)?;
            found = self.reported(*op, found, || Expr::binary(*op, Expr::var("…"), divisor.clone()));
        }
        Ok(found)
    }

    /// The value of an expression, of that type.
    pub(super) fn expr_as(&mut self, expr: &Expr, ty: &Type) -> Result<Value, LowerError> {
        Ok(self.filling(expr, ty)?.to(ty))
    }

    /// The value of an expression that is stored as that type: a number that fills the lanes of a vector is computed once.
    pub(super) fn filling(&mut self, expr: &Expr, ty: &Type) -> Result<Typed, LowerError> {
        let Typed { value, weak } = self.expr(expr)?;
        let fills = lane_count(ty).is_some() && value.ty.scalar().is_some();
        Ok(Typed { value: if fills { self.once(value, "lane") } else { value }, weak })
    }

    /// The value of an index or a size.
    pub(super) fn index(&mut self, expr: &Expr) -> Result<Value, LowerError> {
        if self.kernel.index_type.size() == 8 || self.has_narrow_numbers(expr) {
            return self.wide_index(expr);
        }
        let value = self.expr(expr)?;
        Ok(if value.weak { value.to(&Type::Scalar(self.kernel.index_type)) } else { value.settle() })
    }

    /// Whether integers in an expression are narrower than indices: in their own type, `100*k` would be cut off.
    fn has_narrow_numbers(&self, expr: &Expr) -> bool {
        let width = self.kernel.index_type.size();
        let is_narrow = |ty: &Type| ty.scalar().is_some_and(|dtype| dtype.is_integer() && dtype.size() < width);
        expr.variables().iter().any(|name| self.numbers.get(name).is_some_and(is_narrow))
    }

    /// The value of an index or a size whose numbers may be narrower than indices: each step on the way is as wide as an index.
    fn wide_index(&mut self, expr: &Expr) -> Result<Value, LowerError> {
        let both = |scope: &mut Self, left: &Expr, right: &Expr| {
            let (left, right) = (scope.wide_index(left)?, scope.wide_index(right)?);
            Ok::<_, LowerError>((Typed::strong(left), Typed::strong(right)))
        };
        match expr {
            Expr::Unary(UnaryOp::Negate, operand) => {
                let operand = self.wide_index(operand)?;
                Ok(match operand.as_int() {
                    Some(number) => number::int(&operand.ty, -number),
                    None => Value::new(operand.ty.clone(), ValueKind::Unary(UnaryOp::Negate, Box::new(operand))),
                })
            }
            Expr::Binary(
                op @ (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::FloorDivide | BinaryOp::Modulo),
                left,
                right,
            ) => {
                let (left, right) = both(self, left, right)?;
                let value = self.apply(*op, left, right)?;
                Ok(self.reported(*op, value, || expr.clone()).settle())
            }
            Expr::Chain(chain) if chain.rest.iter().all(|(op, _)| *op != BinaryOp::Divide) => {
                let first = Typed::strong(self.wide_index(&chain.first)?);
                let value = &mut |scope: &mut Self, operand: &Expr| scope.wide_index(operand).map(Typed::strong);
                Ok(self.chain(chain, first, value)?.settle())
            }
            Expr::Min(operands) | Expr::Max(operands) if operands.len() > 1 => {
                let routine = if matches!(expr, Expr::Min(_)) { Routine::Min } else { Routine::Max };
                let mut found = self.wide_index(&operands[0])?;
                for operand in &operands[1..] {
                    let operand = self.wide_index(operand)?;
                    let (left, right, _) = number::unify(Typed::strong(found), Typed::strong(operand));
                    found = number::routine(routine, left, right);
                }
                Ok(found)
            }
            _ => {
                let value = self.expr(expr)?;
                let width = self.kernel.index_type.size();
                let is_narrow = value.dtype().is_some_and(|dtype| dtype.size() < width && (dtype.is_integer() || dtype == DType::Bool));
                Ok(if value.weak || is_narrow { value.to(&Type::Scalar(self.kernel.index_type)) } else { value.settle() })
            }
        }
    }

    pub(super) fn refused(&self, what: impl Into<String>) -> LowerError {
        LowerError::NotLowerable { instruction: self.instruction.clone(), what: what.into() }
    }

    fn literal(&self, literal: &Literal) -> Result<Typed, LowerError> {
        Ok(match literal {
            Literal::Int(value, Some(dtype)) => Typed::strong(number::int(&(*dtype).into(), *value)),
            Literal::Int(value, None) => {
                let fits = |dtype: DType| dtype.integer_range().is_some_and(|(least, most)| (least..=most).contains(value));
                let dtype = [DType::I32, DType::I64, DType::U64].into_iter().find(|&dtype| fits(dtype));
                let dtype = dtype.ok_or_else(|| self.refused(format!("the integer {value}, which does not fit into 64 bits")))?;
                Typed::weak(number::int(&dtype.into(), *value))
            }
            Literal::Float(bits, dtype) => {
                let value = Value::new(dtype.unwrap_or(DType::F64), ValueKind::Float(f64::from_bits(*bits)));
                Typed { value, weak: dtype.is_none() }
            }
            Literal::Imaginary(bits, dtype) => {
                let value = Value::new(dtype.unwrap_or(DType::C128), ValueKind::Complex(0.0, f64::from_bits(*bits)));
                Typed { value, weak: dtype.is_none() && !self.kernel.options.loopy_arithmetic }
            }
            Literal::Bool(truth) => Typed::strong(Value::new(DType::Bool, ValueKind::Bool(*truth))),
            Literal::Text(text) => return Err(self.refused(format!("the string '{text}'"))),
        })
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Result<Typed, LowerError> {
        let operand = self.expr(operand)?;
        if op == UnaryOp::Not {
            let truth = number::truth(operand.settle());
            return Ok(Typed::strong(match truth.kind {
                ValueKind::Bool(truth) => Value::new(DType::Bool, ValueKind::Bool(!truth)),
                _ => Value::new(DType::Bool, ValueKind::Unary(op, Box::new(truth))),
            }));
        }
        if lane_count(&operand.value.ty).is_some() {
            return self.unary_of_lanes(op, operand);
        }
        let Typed { value, weak } = operand;
        let kind = match (op, &value.kind) {
            (UnaryOp::Negate, ValueKind::Int(number)) if weak => ValueKind::Int(-number),
            (UnaryOp::Negate, ValueKind::Float(number)) => ValueKind::Float(-number),
            (UnaryOp::Negate, ValueKind::Complex(re, im)) => ValueKind::Complex(-re, -im),
            _ => return Ok(Typed { value: number::unary(op, value), weak }),
        };
        Ok(Typed { value: Value::new(value.ty, kind), weak })
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Typed, LowerError> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logical(op, left, right);
        }
        if op == BinaryOp::Power {
            return self.power(left, right);
        }
        let operands = (self.expr(left)?, self.expr(right)?);
        let value = self.apply(op, operands.0, operands.1)?;
        Ok(self.reported(op, value, || Expr::binary(op, left.clone(), right.clone())))
    }

    /// The value of `expr`; in checked mode, a divisor of integers that is zero is reported.
    fn reported(&mut self, op: BinaryOp, typed: Typed, expr: impl Fn() -> Expr) -> Typed {
        if !self.kernel.options.is_checked() || !matches!(op, BinaryOp::FloorDivide | BinaryOp::Modulo) {
            return typed;
        }
        Typed { value: self.with_divisor(typed.value, &expr), weak: typed.weak }
    }

    fn with_divisor(&mut self, value: Value, expr: &dyn Fn() -> Expr) -> Value {
        let is_whole = value.ty.scalar().is_some_and(DType::is_integer);
        let kind = match value.kind {
            ValueKind::Routine(routine @ (Routine::FloorDivide | Routine::Modulo), mut args) if is_whole => {
                // `a // b // 1` is `a // b`, whose divisor is reported already.
                let is_open = |divisor: &mut Value| !matches!(divisor.kind, ValueKind::Int(_) | ValueKind::Divisor { .. });
                if let Some(divisor) = args.pop_if(is_open) {
                    let site = self.shared.site(expr().to_string());
                    args.push(Value::new(divisor.ty.clone(), ValueKind::Divisor { site, value: Box::new(divisor) }));
                }
                ValueKind::Routine(routine, args)
            }
            ValueKind::Vector(parts) => ValueKind::Vector(parts.into_iter().map(|part| self.with_divisor(part, expr)).collect()),
            kind => kind,
        };
        Value { ty: value.ty, kind }
    }

    /// An operator that needs both of its operands.
    pub(super) fn apply(&mut self, op: BinaryOp, left: Typed, right: Typed) -> Result<Typed, LowerError> {
        if [&left, &right].iter().any(|operand| lane_count(&operand.value.ty).is_some()) {
            return self.apply_to_lanes(op, left, right);
        }
        let op = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Subtract => Op::Subtract,
            BinaryOp::Multiply => Op::Multiply,
            BinaryOp::Divide => return Ok(self.divide(left, right)),
            BinaryOp::FloorDivide => return self.floor(Routine::FloorDivide, left, right),
            BinaryOp::Modulo => return self.floor(Routine::Modulo, left, right),
            BinaryOp::ShiftLeft => return Ok(shift(Op::ShiftLeft, left, right)),
            BinaryOp::ShiftRight => return Ok(shift(Op::ShiftRight, left, right)),
            BinaryOp::BitAnd => Op::BitAnd,
            BinaryOp::BitOr => Op::BitOr,
            BinaryOp::BitXor => Op::BitXor,
            BinaryOp::And => Op::And,
            BinaryOp::Or => Op::Or,
            BinaryOp::Power => return self.general_power(left, right),
        };
        let (left, right, weak) = number::unify(left, right);
        Ok(Typed { value: number::binary(op, left, right), weak })
    }

    fn logical(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Typed, LowerError> {
        let left = self.expr(left)?.settle();
        self.conditional += 1;
        let right = self.expr(right);
        self.conditional -= 1;
        let (left, right) = (number::truth(left), number::truth(right?.settle()));
        let op = if op == BinaryOp::And { Op::And } else { Op::Or };
        let kind = ValueKind::Bool(op == Op::And);
        Ok(Typed::strong(number::join(op, [left, right]).unwrap_or(Value::new(DType::Bool, kind))))
    }

    fn divide(&self, left: Typed, right: Typed) -> Typed {
        let (left, right, weak) = number::unify(left, right);
        let is_whole = left.ty.scalar().is_some_and(|dtype| dtype.is_integer() || dtype == DType::Bool);
        if is_whole {
            let ty = Type::Scalar(DType::F64);
            let (left, right) = (Typed { value: left, weak }.to(&ty), Typed { value: right, weak }.to(&ty));
            return Typed { value: number::binary(Op::Divide, left, right), weak };
        }
        Typed { value: number::binary(Op::Divide, left, right), weak }
    }

    /// `//` and `%`, in C's own form where that is the same.
    fn floor(&mut self, routine: Routine, left: Typed, right: Typed) -> Result<Typed, LowerError> {
        let (left, right, weak) = match (left.dtype(), right.dtype()) {
            (Some(a), Some(b)) if !left.weak && !right.weak => {
                let ty = Type::Scalar(promote_division(a, b));
                (left.to(&ty), right.to(&ty), false)
            }
            _ => number::unify(left, right),
        };
        let dtype = left.ty.scalar().ok_or_else(|| self.refused("`//` or `%` of a value that is not a number"))?;
        if dtype.is_complex() {
            return Err(self.refused("`//` or `%` of complex numbers"));
        }
        let truncated = if routine == Routine::Modulo { Op::Remainder } else { Op::Divide };
        let divisor = right.as_int();
        if divisor == Some(0) && dtype.is_integer() {
            return Err(self.refused("`//` or `%` of an integer by zero"));
        }
        if divisor == Some(1) {
            return Ok(Typed { value: if routine == Routine::Modulo { number::zero(&left.ty) } else { left }, weak });
        }
        if dtype.is_integer() && left.as_int().is_none() && self.is_not_negative(&left) && self.is_positive(&right) {
            return Ok(Typed { value: number::binary(truncated, left, right), weak });
        }
        if let Some(divisor) =
            divisor.filter(|&divisor| dtype.is_integer() && left.as_int().is_none() && divisor.count_ones() == 1 && divisor > 0)
        {
            let (op, operand) = match routine {
                Routine::Modulo => (Op::BitAnd, divisor - 1),
                _ => (Op::ShiftRight, i128::from(divisor.trailing_zeros())),
            };
            let operand = number::int(&left.ty, operand);
            return Ok(Typed { value: number::binary(op, left, operand), weak });
        }
        Ok(Typed { value: number::routine(routine, left, right), weak })
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) -> Result<Typed, LowerError> {
        let (base, exponent) = (self.expr(base)?, self.expr(exponent)?);
        self.power_of(base, exponent)
    }

    fn power_of(&mut self, base: Typed, exponent: Typed) -> Result<Typed, LowerError> {
        if [&base, &exponent].iter().any(|operand| lane_count(&operand.value.ty).is_some()) {
            return self.each_lane(vec![base, exponent], &mut |scope, operands| {
                let [base, exponent] = <[Typed; 2]>::try_from(operands).expect("invariant: two operands");
                scope.power_of(base, exponent)
            });
        }
        let whole = exponent.value.as_int();
        match (whole, base.dtype()) {
            (Some(0), Some(dtype)) => {
                let one = number::int(&DType::I32.into(), 1);
                Ok(Typed { value: Typed::weak(one).to(&dtype.into()), weak: base.weak })
            }
            (Some(power @ 1..=LARGEST_PRODUCT), Some(_)) => {
                let weak = base.weak;
                let Some(factor) = self.repeatable(base.value.clone(), "base") else { return self.general_power(base, exponent) };
                Ok(Typed { value: product(&factor, power), weak })
            }
            _ => self.general_power(base, exponent),
        }
    }

    fn general_power(&self, base: Typed, exponent: Typed) -> Result<Typed, LowerError> {
        let (base, exponent) = match (base.dtype(), exponent.value.as_int()) {
            // An integer to a negative power is a fraction.
            (Some(dtype), Some(power)) if dtype.is_integer() && power < 0 => {
                (Typed::strong(base.to(&DType::F64.into())), Typed::strong(exponent.to(&DType::F64.into())))
            }
            _ => (base, exponent),
        };
        let (base, exponent, weak) = number::unify(base, exponent);
        if base.ty.scalar().is_none() {
            return Err(self.refused("a power of a value that is not a number"));
        }
        Ok(Typed { value: number::routine(Routine::Power, base, exponent), weak })
    }

    fn extreme(&mut self, routine: Routine, operands: &[Expr]) -> Result<Typed, LowerError> {
        let mut found: Option<Typed> = None;
        for operand in operands {
            let operand = self.expr(operand)?;
            found = Some(match found {
                None => operand,
                Some(before) if [&before, &operand].iter().any(|operand| lane_count(&operand.value.ty).is_some()) => {
                    self.each_lane(vec![before, operand], &mut |scope, operands| {
                        let [left, right] = <[Typed; 2]>::try_from(operands).expect("invariant: two operands");
                        scope.extreme_of(routine, left, right)
                    })?
                }
                Some(before) => self.extreme_of(routine, before, operand)?,
            });
        }
        found.ok_or_else(|| self.refused("`min` or `max` without arguments"))
    }

    fn extreme_of(&self, routine: Routine, left: Typed, right: Typed) -> Result<Typed, LowerError> {
        let (left, right, weak) = number::unify(left, right);
        if left.ty.scalar().is_none_or(DType::is_complex) {
            return Err(self.refused("`min` or `max` of values that cannot be ordered"));
        }
        Ok(Typed { value: number::routine(routine, left, right), weak })
    }

    fn choose(&mut self, parts: &[Expr; 3]) -> Result<Typed, LowerError> {
        let condition = number::truth(self.expr(&parts[0])?.settle());
        self.conditional += 1;
        let branches = self.expr(&parts[1]).and_then(|yes| Ok((yes, self.expr(&parts[2])?)));
        self.conditional -= 1;
        let (yes, no) = branches?;
        match condition.kind {
            ValueKind::Bool(true) => return Ok(yes),
            ValueKind::Bool(false) => return Ok(no),
            _ => {}
        }
        let (yes, no, weak) = number::unify(yes, no);
        let ty = yes.ty.clone();
        Ok(Typed { value: Value::new(ty, ValueKind::Choose(Box::new([condition, yes, no]))), weak })
    }

    /// The value in a form that may be repeated: unchanged, or computed once before the instruction.
    fn repeatable(&mut self, value: Value, prefix: &str) -> Option<Value> {
        if is_simple(&value) {
            return Some(value);
        }
        (self.conditional == 0).then(|| self.once(value, prefix))
    }

    /// The value, computed once before the instruction; unchanged if it might not be evaluated at all.
    pub(super) fn once(&mut self, value: Value, prefix: &str) -> Value {
        if self.conditional > 0 || is_simple(&value) {
            return value;
        }
        let name = self.names.make(prefix);
        let ty = value.ty.clone();
        self.hoisted.push(Statement::Declare(Declaration {
            name: name.clone(),
            ty: ty.clone(),
            space: AddressSpace::Private,
            lengths: Vec::new(),
            constant: true,
            value: Some(value),
            alignment: None,
        }));
        Value::name(ty, name)
    }

    /// The real (`false`) or imaginary part of a complex value.
    pub(super) fn part(&self, value: Value, imaginary: bool) -> Value {
        let dtype = value.ty.scalar().unwrap_or(DType::C128);
        let real = real_of(dtype);
        if self.target != Target::C {
            return Value::new(real, ValueKind::Member(Box::new(value), if imaginary { "y" } else { "x" }.into()));
        }
        let name = match (imaginary, real) {
            (false, DType::F32) => "crealf",
            (false, _) => "creal",
            (true, DType::F32) => "cimagf",
            (true, _) => "cimag",
        };
        Value::new(real, ValueKind::Call(name.into(), vec![value]))
    }

    /// Whether the value is obviously not negative.
    pub(super) fn is_not_negative(&self, value: &Value) -> bool {
        if value.ty.scalar().and_then(DType::integer_range).is_some_and(|(least, _)| least == 0) {
            return true;
        }
        match &value.kind {
            ValueKind::Int(number) => *number >= 0,
            ValueKind::Name(name) => self.not_negative.contains(name),
            ValueKind::Axis(_) | ValueKind::Bool(_) => true,
            ValueKind::Cast(inner) => self.is_not_negative(inner),
            ValueKind::Binary(Op::Add | Op::Multiply | Op::Divide, left, right) => {
                self.is_not_negative(left) && self.is_not_negative(right)
            }
            ValueKind::Binary(Op::Remainder | Op::ShiftRight, left, _) => self.is_not_negative(left),
            ValueKind::Binary(Op::BitAnd, left, right) => self.is_not_negative(left) || self.is_not_negative(right),
            ValueKind::Routine(Routine::Modulo, args) => self.is_positive(&args[1]),
            ValueKind::Routine(Routine::Max, args) => args.iter().any(|arg| self.is_not_negative(arg)),
            ValueKind::Routine(_, args) => args.iter().all(|arg| self.is_not_negative(arg)),
            ValueKind::Choose(parts) => parts[1..].iter().all(|part| self.is_not_negative(part)),
            _ => false,
        }
    }

    fn is_positive(&self, value: &Value) -> bool {
        match &value.kind {
            ValueKind::Int(number) => *number > 0,
            ValueKind::Binary(Op::Add, left, right) => {
                self.is_not_negative(left) && self.is_not_negative(right) && (self.is_positive(left) || self.is_positive(right))
            }
            ValueKind::Binary(Op::Multiply, left, right) => self.is_positive(left) && self.is_positive(right),
            _ => false,
        }
    }
}

fn shift(op: Op, left: Typed, right: Typed) -> Typed {
    let (left, right, weak) = number::unify(left, right);
    Typed { value: number::binary(op, left, right), weak }
}

fn is_simple(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Name(_) | ValueKind::Int(_) | ValueKind::Float(_) | ValueKind::Complex(..) | ValueKind::Bool(_) | ValueKind::Axis(_) => {
            true
        }
        ValueKind::Element(_, indices) => indices.iter().all(|index| is_simple(index) || !index.children().is_empty()),
        ValueKind::Member(inner, _) => is_simple(inner),
        _ => false,
    }
}

/// `factor * factor * …`, with few multiplications for the larger powers.
fn product(factor: &Value, power: i128) -> Value {
    let mut result = factor.clone();
    for _ in 1..power {
        result = number::binary(Op::Multiply, result, factor.clone());
    }
    result
}
