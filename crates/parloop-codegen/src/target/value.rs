//! Values as expressions of C: parentheses where they are needed, literals of the right type, complex numbers by functions.

use parloop_device::DType;
use parloop_ir::functions::vector_maker;
use parloop_ir::syntax::{CompareOp, Target, Type, UnaryOp};

use super::complex::{complex_name, part_of};
use super::routine::Need;
use super::writer::Writer;
use crate::lower::tree::{Op, Routine, ShadowAccess, ShadowAccessKind, Value, ValueKind};

/// How tightly an expression holds together, as in C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

impl Op {
    fn bond(self) -> Bond {
        match self {
            Op::Add | Op::Subtract => Bond::Sum,
            Op::Multiply | Op::Divide | Op::Remainder => Bond::Product,
            Op::ShiftLeft | Op::ShiftRight => Bond::Shift,
            Op::BitAnd => Bond::BitAnd,
            Op::BitOr => Bond::BitOr,
            Op::BitXor => Bond::BitXor,
            Op::And => Bond::And,
            Op::Or => Bond::Or,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Subtract => "-",
            Op::Multiply => "*",
            Op::Divide => "/",
            Op::Remainder => "%",
            Op::ShiftLeft => "<<",
            Op::ShiftRight => ">>",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
            Op::And => "&&",
            Op::Or => "||",
        }
    }
}

fn sign(op: CompareOp) -> (&'static str, Bond) {
    match op {
        CompareOp::Equal => ("==", Bond::Equality),
        CompareOp::NotEqual => ("!=", Bond::Equality),
        CompareOp::Less => ("<", Bond::Relation),
        CompareOp::LessEqual => ("<=", Bond::Relation),
        CompareOp::Greater => (">", Bond::Relation),
        CompareOp::GreaterEqual => (">=", Bond::Relation),
    }
}

impl Writer<'_> {
    /// The value as an expression that can stand as an argument or a right side.
    pub(super) fn value(&mut self, value: &Value) -> String {
        self.bonded(value).0
    }

    /// The value as an expression that can be an operand of what bonds like `least`.
    fn operand(&mut self, value: &Value, least: Bond) -> String {
        let (text, bond) = self.bonded(value);
        if bond < least { format!("({text})") } else { text }
    }

    fn list(&mut self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(value)).collect::<Vec<String>>().join(", ")
    }

    fn bonded(&mut self, value: &Value) -> (String, Bond) {
        let dtype = value.ty.scalar();
        match &value.kind {
            ValueKind::Int(number) => self.integer(*number, dtype.unwrap_or(DType::I32)),
            ValueKind::Float(number) => self.float(*number, dtype.unwrap_or(DType::F64)),
            ValueKind::Complex(re, im) => {
                let text = self.complex(*re, *im, dtype.unwrap_or(DType::C128));
                let bond = if text.starts_with('-') { Bond::Unary } else { Bond::Primary };
                (text, bond)
            }
            ValueKind::Bool(truth) => (if *truth { "1" } else { "0" }.into(), Bond::Primary),
            ValueKind::Vector(parts) => self.vector(&value.ty, parts),
            ValueKind::Name(name) => (name.to_string(), Bond::Primary),
            ValueKind::Axis(axis) => (self.dialect.axis(*axis), Bond::Primary),
            ValueKind::Text(text) => (text.clone(), Bond::Choice),
            ValueKind::Element(array, indices) => {
                let indices: String = indices.iter().map(|index| format!("[{}]", self.value(index))).collect();
                (format!("{array}{indices}"), Bond::Primary)
            }
            ValueKind::Pointer(array, None) => (array.to_string(), Bond::Primary),
            ValueKind::Pointer(array, Some(offset)) => {
                let offset = self.operand(offset, Bond::Product);
                (format!("{array} + {offset}"), Bond::Sum)
            }
            ValueKind::Address(place) => (format!("&{}", self.operand(place, Bond::Unary)), Bond::Unary),
            ValueKind::Unary(op, operand) => self.unary(*op, operand, dtype),
            ValueKind::Binary(op, left, right) => self.binary(*op, left, right, dtype),
            ValueKind::Compare(op, left, right) => self.compare(*op, left, right),
            ValueKind::Choose(parts) => {
                let condition = self.operand(&parts[0], Bond::Or);
                let (yes, no) = (self.operand(&parts[1], Bond::Or), self.operand(&parts[2], Bond::Or));
                (format!("{condition} ? {yes} : {no}"), Bond::Choice)
            }
            ValueKind::Cast(inner) => self.cast(&value.ty, inner),
            ValueKind::Call(function, args) => (format!("{function}({})", self.list(args)), Bond::Primary),
            ValueKind::Routine(routine, args) => (self.routine(*routine, args, dtype.unwrap_or(DType::I32)), Bond::Primary),
            ValueKind::Member(inner, field) => (format!("{}.{field}", self.operand(inner, Bond::Primary)), Bond::Primary),
            ValueKind::Part { whole, index, space } => {
                let (ty, whole) = (self.dialect.type_name(&value.ty), self.operand(whole, Bond::Unary));
                (format!("(({}{ty} *)&{whole})[{index}]", self.dialect.space(*space)), Bond::Primary)
            }
            ValueKind::Check { site, operands } => {
                let dtype = operands[0].ty.scalar().unwrap_or(DType::I64);
                let (index, limit) = (self.value(&operands[0]), self.value(&operands[1]));
                self.needs.extend([Need::Check, Need::Inside(dtype)]);
                (format!("{}({index}, {limit}, {site})", super::routine::inside_name(dtype)), Bond::Primary)
            }
            ValueKind::Divisor { site, value: divisor } => {
                let (divisor, dtype) = (self.value(divisor), dtype.unwrap_or(DType::I32));
                self.needs.extend([Need::Check, Need::Divisor(dtype)]);
                (format!("{}({divisor}, {site})", super::routine::divisor_name(dtype)), Bond::Primary)
            }
            ValueKind::ShadowAccess(touch) => (self.touch(touch), Bond::Primary),
        }
    }

    fn vector(&mut self, ty: &Type, parts: &[Value]) -> (String, Bond) {
        let Type::Vector(dtype, lanes) = ty else { return (self.list(parts), Bond::Primary) };
        if self.target != Target::OpenCl {
            return (format!("{}({})", vector_maker(*dtype, *lanes, self.target), self.list(parts)), Bond::Primary);
        }
        // One number fills all lanes.
        let is_filled = parts.iter().all(|part| *part == parts[0]);
        let parts = if is_filled { self.value(&parts[0]) } else { self.list(parts) };
        (format!("({})({parts})", self.dialect.type_name(ty)), Bond::Unary)
    }

    fn touch(&mut self, touch: &ShadowAccess) -> String {
        self.needs.insert(Need::ShadowAccess);
        let ShadowAccess { kind, place, site, group, item, own, loops, is_local, axes, turn, values } = touch;
        let kind = match kind {
            ShadowAccessKind::Read => 0,
            ShadowAccessKind::Write => 1,
            ShadowAccessKind::Update => 2,
        };
        let (place, group, item) = (self.operand(place, Bond::Unary), self.value(group), self.value(item));
        let site = site.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        // A list of C has a member at least.
        let values = if values.is_empty() { "0".to_owned() } else { self.list(values) };
        let is_local = i32::from(*is_local);
        format!("PARLOOP_TOUCH({kind}, &{place}, \"{site}\", {group}, {item}, {own}, {loops}, {is_local}, {axes}, {turn}, {values})")
    }

    fn integer(&self, number: i128, dtype: DType) -> (String, Bond) {
        let suffix = self.dialect.integer_suffix(dtype);
        match number {
            // The literal of the smallest number would be a negated one that does not fit.
            number if number == i128::from(i64::MIN) || (number == i128::from(i32::MIN) && suffix.is_empty()) => {
                (format!("-{}{suffix} - 1", -(number + 1)), Bond::Sum)
            }
            number if number < 0 => (format!("{number}{suffix}"), Bond::Unary),
            number => (format!("{number}{suffix}"), Bond::Primary),
        }
    }

    fn float(&self, number: f64, dtype: DType) -> (String, Bond) {
        let single = dtype == DType::F32;
        let number = if single { f64::from(number as f32) } else { number };
        let bond = if number.is_sign_negative() { Bond::Unary } else { Bond::Primary };
        if !number.is_finite() {
            return (self.dialect.special(number, dtype), bond);
        }
        let text = if single { format!("{:?}f", number as f32) } else { format!("{number:?}") };
        (text, bond)
    }

    fn complex(&mut self, re: f64, im: f64, dtype: DType) -> String {
        let part = part_of(dtype);
        let ((re, _), (im, _)) = (self.float(re, part), self.float(im, part));
        if self.dialect.has_complex() {
            if im == "0.0" || im == "0.0f" {
                return re;
            }
            let unit = if part == DType::F32 { "(float _Complex)_Complex_I" } else { "_Complex_I" };
            return format!("({re} + {im} * {unit})");
        }
        self.needs.insert(Need::Complex(dtype));
        format!("{}({re}, {im})", complex_name(dtype, "make"))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Value, dtype: Option<DType>) -> (String, Bond) {
        if let Some(dtype) = self.by_function(dtype) {
            return (format!("{}({})", complex_name(dtype, "neg"), self.value(operand)), Bond::Primary);
        }
        let sign = match op {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
        };
        let (text, bond) = self.bonded(operand);
        // Two minus signs would be a decrement.
        let text = if bond < Bond::Unary || text.starts_with('-') { format!("({text})") } else { text };
        (format!("{sign}{text}"), Bond::Unary)
    }

    fn binary(&mut self, op: Op, left: &Value, right: &Value, dtype: Option<DType>) -> (String, Bond) {
        if let Some(dtype) = self.by_function(dtype) {
            let name = match op {
                Op::Add => "add",
                Op::Subtract => "sub",
                Op::Multiply => "mul",
                _ => "div",
            };
            return (format!("{}({}, {})", complex_name(dtype, name), self.value(left), self.value(right)), Bond::Primary);
        }
        // Where readers (and compilers, in their warnings) lose track of C's order, every operand gets parentheses.
        let bond = op.bond();
        let (first, second) = match op {
            // Integers may be added in any order.
            Op::Add if dtype.is_some_and(DType::is_integer) => (Bond::Sum, Bond::Sum),
            Op::Add | Op::Subtract => (Bond::Sum, Bond::Product),
            Op::Multiply | Op::Divide | Op::Remainder => (Bond::Product, Bond::Unary),
            Op::And => (Bond::And, Bond::Equality),
            Op::Or => (Bond::Equality, Bond::Equality),
            _ => (Bond::Unary, Bond::Unary),
        };
        let first = match &left.kind {
            ValueKind::Binary(Op::Or, ..) if op == Op::Or => Bond::Or,
            _ => first,
        };
        let (left, right) = (self.operand(left, first), self.operand(right, second));
        // `a - -1` reads worse than `a - (-1)`, and `a--1` would be another thing.
        let right = if right.starts_with('-') { format!("({right})") } else { right };
        (format!("{left} {} {right}", op.sign()), bond)
    }

    fn compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> (String, Bond) {
        if let Some(dtype) = self.by_function(left.ty.scalar()) {
            let text = format!("{}({}, {})", complex_name(dtype, "eq"), self.value(left), self.value(right));
            return if op == CompareOp::NotEqual { (format!("!{text}"), Bond::Unary) } else { (text, Bond::Primary) };
        }
        let (sign, bond) = sign(op);
        let (left, right) = (self.operand(left, Bond::Shift), self.operand(right, Bond::Shift));
        (format!("{left} {sign} {right}"), bond)
    }

    fn cast(&mut self, to: &Type, inner: &Value) -> (String, Bond) {
        let from = inner.ty.scalar();
        let is_complex = |dtype: Option<DType>| dtype.is_some_and(DType::is_complex);
        if to.scalar() == Some(DType::Bool) {
            let zero = Value::new(inner.ty.clone(), zero_kind(from));
            return self.compare(CompareOp::NotEqual, inner, &zero);
        }
        if let Some(dtype) = self.by_function(to.scalar()) {
            let name = if is_complex(from) { "convert" } else { "real" };
            if let Some(from) = from.filter(|from| from.is_complex()) {
                self.needs.insert(Need::Complex(from));
            }
            let text = self.value(inner);
            return match name {
                "real" => {
                    let part = self.dialect.scalar(part_of(dtype));
                    let zero = if dtype == DType::C64 { "0.0f" } else { "0.0" };
                    (format!("{}(({part})({text}), {zero})", complex_name(dtype, "make")), Bond::Primary)
                }
                _ => (format!("{}({text})", complex_name(dtype, "from")), Bond::Primary),
            };
        }
        let ty = self.dialect.type_name(to);
        (format!("({ty}){}", self.operand(inner, Bond::Unary)), Bond::Unary)
    }

    fn routine(&mut self, routine: Routine, args: &[Value], dtype: DType) -> String {
        let text = self.list(args);
        let name = match routine {
            Routine::Min | Routine::Max if dtype.is_float() => {
                self.dialect.real_function(if routine == Routine::Min { "fmin" } else { "fmax" }, dtype)
            }
            // A literal does not have a smaller type, so the overload of `min` would be ambiguous.
            Routine::Min if self.dialect.has_integer_min() && dtype.size() >= 4 => "min".into(),
            Routine::Max if self.dialect.has_integer_min() && dtype.size() >= 4 => "max".into(),
            Routine::Power if dtype.is_float() => self.dialect.real_function("pow", dtype),
            Routine::Power if dtype.is_complex() && self.dialect.has_complex() => {
                if dtype == DType::C64 {
                    "cpowf".into()
                } else {
                    "cpow".into()
                }
            }
            Routine::Power if dtype.is_complex() => {
                self.needs.insert(Need::Complex(dtype));
                complex_name(dtype, "power")
            }
            _ => {
                self.needs.insert(Need::Routine(routine, dtype));
                super::routine::name(routine, dtype)
            }
        };
        format!("{name}({text})")
    }

    /// The complex type that this target has functions for, noted as needed.
    fn by_function(&mut self, dtype: Option<DType>) -> Option<DType> {
        let dtype = dtype.filter(|dtype| dtype.is_complex() && !self.dialect.has_complex())?;
        self.needs.insert(Need::Complex(dtype));
        Some(dtype)
    }
}

fn zero_kind(dtype: Option<DType>) -> ValueKind {
    match dtype {
        Some(dtype) if dtype.is_complex() => ValueKind::Complex(0.0, 0.0),
        Some(dtype) if dtype.is_float() => ValueKind::Float(0.0),
        _ => ValueKind::Int(0),
    }
}
