//! Integer arithmetic on expressions that folds constants, zeros and ones. Folding whole kernels is a transformation, and affine
//! expressions have their own normal form.

use std::sync::Arc;

use crate::syntax::{BinaryOp, Expr, Literal, UnaryOp};

/// The value of an integer literal.
pub fn as_int(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok(),
        _ => None,
    }
}

/// `left + right`.
///
/// ```
/// use parloop_loop::{fold, syntax::Expr};
/// assert_eq!(fold::add(Expr::int(0), Expr::var("i")), Expr::var("i"));
/// assert_eq!(fold::add(Expr::int(2), Expr::int(3)), Expr::int(5));
/// ```
pub fn add(left: Expr, right: Expr) -> Expr {
    match (as_int(&left), as_int(&right)) {
        (Some(0), _) => right,
        (_, Some(0)) => left,
        (Some(a), Some(b)) => folded(BinaryOp::Add, a.checked_add(b), left, right),
        _ => Expr::binary(BinaryOp::Add, left, right),
    }
}

/// `left - right`.
pub fn subtract(left: Expr, right: Expr) -> Expr {
    match (as_int(&left), as_int(&right)) {
        (_, Some(0)) => left,
        (Some(a), Some(b)) => folded(BinaryOp::Subtract, a.checked_sub(b), left, right),
        (Some(0), None) => Expr::Unary(UnaryOp::Negate, Arc::new(right)),
        _ if left == right => Expr::int(0),
        _ => Expr::binary(BinaryOp::Subtract, left, right),
    }
}

/// `left * right`.
pub fn multiply(left: Expr, right: Expr) -> Expr {
    match (as_int(&left), as_int(&right)) {
        (Some(1), _) => right,
        (_, Some(1)) => left,
        (Some(0), _) | (_, Some(0)) => Expr::int(0),
        (Some(a), Some(b)) => folded(BinaryOp::Multiply, a.checked_mul(b), left, right),
        _ => Expr::binary(BinaryOp::Multiply, left, right),
    }
}

/// `left // right`, towards minus infinity.
pub fn floor_divide(left: Expr, right: Expr) -> Expr {
    match (as_int(&left), as_int(&right)) {
        (_, Some(1)) => left,
        (Some(a), Some(b)) if b > 0 => Expr::int(a.div_euclid(b)),
        _ => match exact_quotient(&left, &right) {
            Some(quotient) => quotient,
            None => Expr::binary(BinaryOp::FloorDivide, left, right),
        },
    }
}

/// Rounds up to a multiple of `multiple`.
///
/// ```
/// use parloop_loop::{fold, syntax::Expr};
/// assert_eq!(fold::round_up(Expr::int(17), 16), Expr::int(32));
/// ```
pub fn round_up(expr: Expr, multiple: u64) -> Expr {
    let Ok(multiple) = i64::try_from(multiple) else { return expr };
    if multiple <= 1 {
        return expr;
    }
    let filled = add(expr, Expr::int(multiple - 1));
    multiply(floor_divide(filled, Expr::int(multiple)), Expr::int(multiple))
}

/// The product of all.
pub fn product(factors: impl IntoIterator<Item = Expr>) -> Expr {
    factors.into_iter().fold(Expr::int(1), multiply)
}

/// The sum of all.
pub fn sum(terms: impl IntoIterator<Item = Expr>) -> Expr {
    terms.into_iter().fold(Expr::int(0), add)
}

/// `left / right` where `left` is a product that has the positive constant `right` as a factor.
fn exact_quotient(left: &Expr, right: &Expr) -> Option<Expr> {
    let divisor = as_int(right).filter(|&divisor| divisor > 0)?;
    match left {
        Expr::Literal(_) => as_int(left).filter(|value| value % divisor == 0).map(|value| Expr::int(value / divisor)),
        Expr::Binary(BinaryOp::Multiply, a, b) => match exact_quotient(a, right) {
            Some(quotient) => Some(multiply(quotient, (**b).clone())),
            None => Some(multiply((**a).clone(), exact_quotient(b, right)?)),
        },
        _ => None,
    }
}

fn folded(op: BinaryOp, value: Option<i64>, left: Expr, right: Expr) -> Expr {
    value.map_or_else(|| Expr::binary(op, left, right), Expr::int)
}
