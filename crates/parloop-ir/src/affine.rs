//! Conversion between kernel expressions and the solver's affine expressions.

use parloop_isl::{Affine, Atom};

use crate::syntax::{BinaryOp, Expr, Literal, UnaryOp};

/// Converts the expression to an affine one, if possible: names, integers, sums, products with an integer, `//` and `%` by a positive
/// integer.
///
/// ```
/// use parloop_loop::{affine, syntax::{BinaryOp, Expr}};
/// let twice = Expr::binary(BinaryOp::Multiply, Expr::int(2), Expr::var("i"));
/// assert_eq!(affine::to_affine(&twice).unwrap().coefficient("i"), 2);
/// assert_eq!(affine::to_affine(&Expr::binary(BinaryOp::Multiply, Expr::var("n"), Expr::var("i"))), None);
/// ```
pub fn to_affine(expr: &Expr) -> Option<Affine> {
    match expr {
        Expr::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok().map(Affine::constant),
        Expr::Variable(name) => Some(Affine::name(name.clone())),
        Expr::Unary(UnaryOp::Negate, operand) => to_affine(operand)?.scale(-1).ok(),
        Expr::Binary(op, left, right) => combine(*op, &to_affine(left)?, &to_affine(right)?),
        Expr::Chain(chain) => {
            chain.rest.iter().try_fold(to_affine(&chain.first)?, |left, (op, right)| combine(*op, &left, &to_affine(right)?))
        }
        _ => None,
    }
}

fn combine(op: BinaryOp, left: &Affine, right: &Affine) -> Option<Affine> {
    match op {
        BinaryOp::Add => left.add(right).ok(),
        BinaryOp::Subtract => left.sub(right).ok(),
        BinaryOp::Multiply => match (left.as_constant(), right.as_constant()) {
            (Some(factor), _) => right.scale(factor).ok(),
            (_, Some(factor)) => left.scale(factor).ok(),
            _ => None,
        },
        BinaryOp::FloorDivide => Affine::floor(left, positive(right)?).ok(),
        BinaryOp::Modulo => Affine::modulo(left, positive(right)?).ok(),
        _ => None,
    }
}

fn positive(affine: &Affine) -> Option<i64> {
    affine.as_constant().filter(|&value| value > 0)
}

/// Converts an affine expression to a kernel expression: terms in order, the constant last.
pub fn from_affine(affine: &Affine) -> Expr {
    let mut sum: Option<Expr> = None;
    for (atom, coefficient) in affine.terms() {
        let atom = match atom {
            Atom::Name(name) => Expr::var(name.clone()),
            Atom::Floor(inner, divisor) => Expr::binary(BinaryOp::FloorDivide, from_affine(inner), Expr::int(*divisor)),
        };
        sum = Some(add_term(sum, atom, coefficient));
    }
    match (sum, affine.constant_term()) {
        (None, constant) => Expr::int(constant),
        (Some(sum), 0) => sum,
        (Some(sum), constant) if constant < 0 && constant != i64::MIN => Expr::binary(BinaryOp::Subtract, sum, Expr::int(-constant)),
        (Some(sum), constant) => Expr::binary(BinaryOp::Add, sum, Expr::int(constant)),
    }
}

fn add_term(sum: Option<Expr>, atom: Expr, coefficient: i64) -> Expr {
    let times = |factor: i64| if factor == 1 { atom.clone() } else { Expr::binary(BinaryOp::Multiply, Expr::int(factor), atom.clone()) };
    match sum {
        None if coefficient == -1 => Expr::Unary(UnaryOp::Negate, std::sync::Arc::new(atom)),
        None => times(coefficient),
        Some(sum) if coefficient < 0 && coefficient != i64::MIN => Expr::binary(BinaryOp::Subtract, sum, times(-coefficient)),
        Some(sum) => Expr::binary(BinaryOp::Add, sum, times(coefficient)),
    }
}
