//! Expressions and types as text, with no more parentheses than operator precedence needs.

use std::fmt::{self, Display, Formatter, Write};

use parloop_device::DType;
use parloop_isl::Name;

use crate::parse::{Level, REDUCTIONS, is_name, operand_count};
use crate::syntax::{BinaryOp, Call, CompareOp, Expr, Literal, Reduction, ReductionOp, SubArray, Type, UnaryOp};

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(dtype) => f.write_str(dtype.name()),
            Type::Vector(dtype, lanes) => write!(f, "{dtype}x{lanes}"),
            Type::Record(record) => {
                write!(f, "record({}, {}", quoted(record.name()), record.size())?;
                for field in record.fields() {
                    write!(f, ", {}: {} at {}", field.name, field.dtype, field.offset)?;
                }
                f.write_char(')')
            }
            Type::Class(class) => write!(f, "class({})", quoted(class.name())),
            Type::Opaque(opaque) => write!(f, "opaque({})", quoted(opaque.name())),
        }
    }
}

/// A quoted string that parses back to the same value.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Int(value, None) => write!(f, "{value}"),
            Literal::Int(value, Some(dtype)) => write!(f, "np.{dtype}({value})"),
            Literal::Float(bits, dtype) => float(f, f64::from_bits(*bits), *dtype),
            Literal::Imaginary(bits, dtype) => imaginary(f, f64::from_bits(*bits), *dtype),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Text(text) => f.write_str(&quoted(text)),
        }
    }
}

fn float(f: &mut Formatter<'_>, value: f64, dtype: Option<DType>) -> fmt::Result {
    match dtype {
        None => double(f, value),
        Some(DType::F64) if value.is_finite() => write!(f, "{value:?}d"),
        // The shortest digits that give this number in single precision.
        Some(DType::F32) if value.is_finite() && f64::from(value as f32) == value => write!(f, "{:?}f", value as f32),
        Some(dtype) => {
            write!(f, "np.{dtype}(")?;
            double(f, value)?;
            f.write_char(')')
        }
    }
}

fn double(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        f.write_str("np.nan")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 { "np.inf" } else { "-np.inf" })
    } else {
        write!(f, "{value:?}")
    }
}

fn imaginary(f: &mut Formatter<'_>, value: f64, dtype: Option<DType>) -> fmt::Result {
    match dtype {
        None => write!(f, "{value:?}j"),
        Some(DType::C64) if f64::from(value as f32) == value => write!(f, "{:?}jf", value as f32),
        Some(dtype) => write!(f, "np.{dtype}({value:?}j)"),
    }
}

fn is_negative(literal: &Literal) -> bool {
    match literal {
        Literal::Int(value, None) => *value < 0,
        Literal::Float(bits, None | Some(DType::F32 | DType::F64)) | Literal::Imaginary(bits, None | Some(DType::C64)) => {
            let value = f64::from_bits(*bits);
            value.is_sign_negative() && !value.is_nan()
        }
        _ => false,
    }
}

/// How tightly an expression binds its operands.
fn level(expr: &Expr) -> Level {
    match expr {
        Expr::Literal(literal) if is_negative(literal) => Level::Unary,
        Expr::Literal(_) | Expr::Variable(_) | Expr::Tuple(_) => Level::Atom,
        Expr::Min(_) | Expr::Max(_) | Expr::Cast(..) | Expr::Call(_) | Expr::Reduction(_) | Expr::CommonSubexpression(..) => Level::Atom,
        Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::Lookup(..) => Level::Postfix,
        Expr::Unary(UnaryOp::Not, _) => Level::Not,
        Expr::Unary(..) => Level::Unary,
        Expr::Binary(op, ..) => operator(*op).0,
        Expr::Chain(chain) => chain.rest.first().map_or_else(|| level(&chain.first), |(op, _)| operator(*op).0),
        Expr::Compare(..) => Level::Compare,
        Expr::If(_) | Expr::SubArray(_) | Expr::Slice(_) => Level::If,
    }
}

/// The level of an operator, the minimum levels of its operands, and its text.
fn operator(op: BinaryOp) -> (Level, Level, Level, &'static str) {
    use Level::*;
    match op {
        BinaryOp::Or => (Or, Or, And, " or "),
        BinaryOp::And => (And, And, Not, " and "),
        BinaryOp::BitOr => (BitOr, BitOr, BitXor, " | "),
        BinaryOp::BitXor => (BitXor, BitXor, BitAnd, " ^ "),
        BinaryOp::BitAnd => (BitAnd, BitAnd, Compare, " & "),
        BinaryOp::ShiftLeft => (Shift, Shift, Sum, " << "),
        BinaryOp::ShiftRight => (Shift, Shift, Sum, " >> "),
        BinaryOp::Add => (Sum, Sum, Product, " + "),
        BinaryOp::Subtract => (Sum, Sum, Product, " - "),
        BinaryOp::Multiply => (Product, Product, Unary, "*"),
        BinaryOp::Divide => (Product, Product, Unary, " / "),
        BinaryOp::FloorDivide => (Product, Product, Unary, " // "),
        BinaryOp::Modulo => (Product, Product, Unary, " % "),
        BinaryOp::Power => (Power, Postfix, Unary, "**"),
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => " == ",
        CompareOp::NotEqual => " != ",
        CompareOp::Less => " < ",
        CompareOp::LessEqual => " <= ",
        CompareOp::Greater => " > ",
        CompareOp::GreaterEqual => " >= ",
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Literal(literal) => literal.fmt(f),
            Expr::Variable(name) => f.write_str(name),
            Expr::Subscript(aggregate, indices) => {
                base(f, aggregate)?;
                subscript(f, indices)
            }
            Expr::LinearSubscript(aggregate, index) => {
                base(f, aggregate)?;
                f.write_str("[[")?;
                at_least(f, index, Level::If)?;
                f.write_str("]]")
            }
            Expr::Slice(parts) => slice(f, parts),
            Expr::SubArray(part) => sub_array(f, part),
            Expr::Lookup(aggregate, field) => {
                base(f, aggregate)?;
                write!(f, ".{field}")
            }
            Expr::Unary(op, operand) => unary(f, *op, operand),
            Expr::Binary(op, left, right) => {
                let (_, left_level, right_level, symbol) = operator(*op);
                at_least(f, left, left_level)?;
                f.write_str(symbol)?;
                at_least(f, right, right_level)
            }
            Expr::Chain(chain) => {
                let least = chain.rest.first().map_or(Level::If, |(op, _)| operator(*op).1);
                at_least(f, &chain.first, least)?;
                chain.rest.iter().try_for_each(|(op, operand)| {
                    let (_, _, right_level, symbol) = operator(*op);
                    f.write_str(symbol)?;
                    at_least(f, operand, right_level)
                })
            }
            Expr::Compare(op, left, right) => {
                at_least(f, left, Level::Shift)?;
                f.write_str(comparison(*op))?;
                at_least(f, right, Level::Shift)
            }
            Expr::Min(values) => call(f, "minimum", values),
            Expr::Max(values) => call(f, "maximum", values),
            Expr::If(parts) => {
                let [condition, yes, no] = &**parts;
                at_least(f, yes, Level::Or)?;
                f.write_str(" if ")?;
                at_least(f, condition, Level::Or)?;
                f.write_str(" else ")?;
                before_colon(f, no)
            }
            Expr::Cast(ty, operand) => {
                write!(f, "cast({ty}, ")?;
                at_least(f, operand, Level::If)?;
                f.write_char(')')
            }
            Expr::Call(function) => plain_call(f, function),
            Expr::Reduction(part) => reduction(f, part),
            Expr::CommonSubexpression(operand, prefix) => {
                f.write_str("cse(")?;
                at_least(f, operand, Level::If)?;
                match prefix {
                    Some(name) if is_name(name) => write!(f, ", {name})"),
                    Some(name) => write!(f, ", {})", quoted(name)),
                    None => f.write_char(')'),
                }
            }
            Expr::Tuple(items) => {
                f.write_char('(')?;
                list(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

/// The expression, in parentheses where it does not bind tightly enough. A slice cannot have parentheses and is printed unchanged.
fn at_least(f: &mut Formatter<'_>, expr: &Expr, least: Level) -> fmt::Result {
    if level(expr) >= least { expr.fmt(f) } else { write!(f, "({expr})") }
}

/// The expression in a position where a colon may follow, which must not be confused with that of a sub-array.
fn before_colon(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    at_least(f, expr, if matches!(expr, Expr::SubArray(_)) { Level::Or } else { Level::If })
}

/// The base of an index or a field.
fn base(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    // A dot after a number would be parsed as part of it, and `np.inf` is a number.
    let part_of_number = match expr {
        Expr::Variable(name) => name == "np",
        Expr::Literal(_) => true,
        _ => false,
    };
    let bare = level(expr) >= Level::Postfix && !part_of_number;
    if bare { expr.fmt(f) } else { write!(f, "({expr})") }
}

fn unary(f: &mut Formatter<'_>, op: UnaryOp, operand: &Expr) -> fmt::Result {
    match op {
        UnaryOp::Not => {
            f.write_str("not ")?;
            at_least(f, operand, Level::Not)
        }
        UnaryOp::BitNot => {
            f.write_char('~')?;
            at_least(f, operand, Level::Unary)
        }
        // Without parentheses the sign would become part of the number.
        UnaryOp::Negate if matches!(operand, Expr::Literal(_)) => write!(f, "-({operand})"),
        UnaryOp::Negate => {
            f.write_char('-')?;
            at_least(f, operand, Level::Unary)
        }
    }
}

fn list(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        at_least(f, item, Level::If)?;
    }
    Ok(())
}

fn subscript(f: &mut Formatter<'_>, indices: &[Expr]) -> fmt::Result {
    match indices {
        [] => return f.write_str("[()]"),
        // Two brackets side by side are a linear index.
        [Expr::SubArray(_), ..] => f.write_str("[ ")?,
        _ => f.write_char('[')?,
    }
    list(f, indices)?;
    f.write_char(']')
}

fn slice(f: &mut Formatter<'_>, parts: &[Option<Expr>; 3]) -> fmt::Result {
    for (position, part) in parts.iter().enumerate() {
        if position == 1 || (position == 2 && part.is_some()) {
            f.write_char(':')?;
        }
        if let Some(part) = part {
            before_colon(f, part)?;
        }
    }
    Ok(())
}

fn names(f: &mut Formatter<'_>, names: &[Name]) -> fmt::Result {
    for (position, name) in names.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        f.write_str(name)?;
    }
    Ok(())
}

fn sub_array(f: &mut Formatter<'_>, part: &SubArray) -> fmt::Result {
    f.write_char('[')?;
    names(f, &part.inames)?;
    write!(f, "]: {}", part.array)?;
    subscript(f, &part.indices)
}

fn call(f: &mut Formatter<'_>, function: &str, args: &[Expr]) -> fmt::Result {
    write!(f, "{function}(")?;
    list(f, args)?;
    f.write_char(')')
}

fn plain_call(f: &mut Formatter<'_>, call: &Call) -> fmt::Result {
    if call.resolved {
        f.write_char('@')?;
    }
    write!(f, "{}(", call.function)?;
    list(f, &call.args)?;
    for (position, (name, value)) in call.keywords.iter().enumerate() {
        if position > 0 || !call.args.is_empty() {
            f.write_str(", ")?;
        }
        write!(f, "{name}=")?;
        at_least(f, value, Level::If)?;
    }
    f.write_char(')')
}

fn reduction(f: &mut Formatter<'_>, reduction: &Reduction) -> fmt::Result {
    let name = match &reduction.op {
        ReductionOp::Custom(name) => name.as_str(),
        op => REDUCTIONS.iter().find(|(_, known)| known == op).map_or("", |(name, _)| name),
    };
    let plain = !reduction.simultaneous && operand_count(&reduction.op) == Some(reduction.operands.len());
    match (plain, reduction.simultaneous) {
        (true, _) => write!(f, "{name}(")?,
        (false, false) => write!(f, "reduce({name}, ")?,
        (false, true) => write!(f, "simul_reduce({name}, ")?,
    }
    match &reduction.inames[..] {
        [one] => f.write_str(one)?,
        several => {
            f.write_char('(')?;
            names(f, several)?;
            f.write_char(')')?;
        }
    }
    f.write_str(", ")?;
    list(f, &reduction.operands)?;
    f.write_char(')')
}
