//! Integer formulas over the parameters of a kernel: shapes, strides and grids, evaluated in each call.

use parloop_ir::syntax::{BinaryOp, Expr, Literal, UnaryOp};
use parloop_isl::Name;
use smallvec::SmallVec;

/// The integers of a call, by position.
pub type Values = SmallVec<[Option<i64>; 8]>;

/// An integer expression whose names are positions in a list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A number.
    Constant(i64),
    /// The value at that place.
    Value(usize),
    /// Of two others.
    Binary(FormulaOp, Box<Formula>, Box<Formula>),
}

/// What a formula does with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FormulaOp {
    Add,
    Subtract,
    Multiply,
    /// Towards minus infinity.
    FloorDivide,
    Modulo,
    Min,
    Max,
}

impl Formula {
    /// The formula of an expression, whose names `place` finds.
    ///
    /// # Errors
    /// The part of the expression that is not integer arithmetic, or the name that has no place.
    pub fn of(expr: &Expr, place: &mut dyn FnMut(&Name) -> Option<usize>) -> Result<Formula, Expr> {
        let fold = |op: FormulaOp, operands: &[Expr], place: &mut dyn FnMut(&Name) -> Option<usize>| {
            let mut formulas = operands.iter().map(|operand| Formula::of(operand, place)).collect::<Result<Vec<_>, _>>()?.into_iter();
            let first = formulas.next().ok_or_else(|| expr.clone())?;
            Ok(formulas.fold(first, |left, right| Formula::binary(op, left, right)))
        };
        match expr {
            Expr::Literal(Literal::Int(value, _)) => i64::try_from(*value).map(Formula::Constant).map_err(|_| expr.clone()),
            Expr::Variable(name) => place(name).map(Formula::Value).ok_or_else(|| expr.clone()),
            Expr::Cast(ty, operand) if ty.scalar().is_some_and(|dtype| dtype.is_integer()) => Formula::of(operand, place),
            Expr::Unary(UnaryOp::Negate, operand) => {
                Ok(Formula::binary(FormulaOp::Subtract, Formula::Constant(0), Formula::of(operand, place)?))
            }
            Expr::Binary(op, left, right) => {
                let op = match op {
                    BinaryOp::Add => FormulaOp::Add,
                    BinaryOp::Subtract => FormulaOp::Subtract,
                    BinaryOp::Multiply => FormulaOp::Multiply,
                    BinaryOp::FloorDivide => FormulaOp::FloorDivide,
                    BinaryOp::Modulo => FormulaOp::Modulo,
                    _ => return Err(expr.clone()),
                };
                Ok(Formula::binary(op, Formula::of(left, place)?, Formula::of(right, place)?))
            }
            // A long sum is one of few names; formulas are nested.
            Expr::Chain(_) => match crate::affine::to_affine(expr) {
                Some(affine) => Formula::of(&crate::affine::from_affine(&affine), place),
                None => Err(expr.clone()),
            },
            Expr::Min(operands) => fold(FormulaOp::Min, operands, place),
            Expr::Max(operands) => fold(FormulaOp::Max, operands, place),
            _ => Err(expr.clone()),
        }
    }

    fn binary(op: FormulaOp, left: Formula, right: Formula) -> Formula {
        match (&left, &right) {
            (Formula::Constant(a), Formula::Constant(b)) if let Some(value) = op.apply(*a, *b) => Formula::Constant(value),
            _ => Formula::Binary(op, Box::new(left), Box::new(right)),
        }
    }

    /// Its value; `None` when a value is missing, does not fit or is divided by zero.
    pub fn evaluate(&self, values: &[Option<i64>]) -> Option<i64> {
        match self {
            Formula::Constant(value) => Some(*value),
            Formula::Value(place) => values[*place],
            Formula::Binary(op, left, right) => op.apply(left.evaluate(values)?, right.evaluate(values)?),
        }
    }

    /// The value at `place` with which the formula is `result`, if it can be found by going backwards.
    pub fn solve(&self, place: usize, result: i64, values: &[Option<i64>]) -> Option<i64> {
        match self {
            Formula::Constant(_) => None,
            Formula::Value(own) => (*own == place).then_some(result),
            Formula::Binary(op, left, right) => match (left.mentions(place), right.mentions(place)) {
                (true, false) => {
                    let other = right.evaluate(values)?;
                    let inner = match op {
                        FormulaOp::Add => result.checked_sub(other)?,
                        FormulaOp::Subtract => result.checked_add(other)?,
                        FormulaOp::Multiply => exact_quotient(result, other)?,
                        _ => return None,
                    };
                    left.solve(place, inner, values)
                }
                (false, true) => {
                    let other = left.evaluate(values)?;
                    let inner = match op {
                        FormulaOp::Add => result.checked_sub(other)?,
                        FormulaOp::Subtract => other.checked_sub(result)?,
                        FormulaOp::Multiply => exact_quotient(result, other)?,
                        _ => return None,
                    };
                    right.solve(place, inner, values)
                }
                _ => None,
            },
        }
    }

    /// Whether the value at `place` is in it.
    pub fn mentions(&self, place: usize) -> bool {
        match self {
            Formula::Constant(_) => false,
            Formula::Value(own) => *own == place,
            Formula::Binary(_, left, right) => left.mentions(place) || right.mentions(place),
        }
    }
}

impl FormulaOp {
    fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            FormulaOp::Add => left.checked_add(right),
            FormulaOp::Subtract => left.checked_sub(right),
            FormulaOp::Multiply => left.checked_mul(right),
            FormulaOp::FloorDivide => (right != 0).then(|| floor_quotient(left, right)).flatten(),
            FormulaOp::Modulo => left.checked_sub(floor_quotient(left, if right == 0 { return None } else { right })?.checked_mul(right)?),
            FormulaOp::Min => Some(left.min(right)),
            FormulaOp::Max => Some(left.max(right)),
        }
    }
}

fn floor_quotient(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    Some(if left % right != 0 && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
}

fn exact_quotient(left: i64, right: i64) -> Option<i64> {
    (right != 0 && left.checked_rem(right)? == 0).then(|| left / right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(expr: &Expr) -> Formula {
        Formula::of(expr, &mut |name| ["n", "m"].iter().position(|known| name == known)).unwrap()
    }

    #[test]
    fn formulas_are_computed_and_solved_backwards() {
        // 4*(n + m) - 2
        let sum = Expr::binary(BinaryOp::Add, Expr::var("n"), Expr::var("m"));
        let expr = Expr::binary(BinaryOp::Subtract, Expr::binary(BinaryOp::Multiply, Expr::int(4), sum), Expr::int(2));
        let formula = formula(&expr);
        assert_eq!(formula.evaluate(&[Some(3), Some(5)]), Some(30));
        assert_eq!(formula.evaluate(&[Some(i64::MAX), Some(5)]), None);
        assert_eq!(formula.solve(0, 30, &[None, Some(5)]), Some(3));
        assert_eq!(formula.solve(0, 31, &[None, Some(5)]), None, "not an integer");
    }

    #[test]
    fn division_goes_towards_minus_infinity() {
        let floor = formula(&Expr::binary(BinaryOp::FloorDivide, Expr::var("n"), Expr::var("m")));
        let modulo = formula(&Expr::binary(BinaryOp::Modulo, Expr::var("n"), Expr::var("m")));
        for (n, m) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3)] {
            let quotient = (n as f64 / m as f64).floor() as i64;
            assert_eq!(floor.evaluate(&[Some(n), Some(m)]), Some(quotient));
            assert_eq!(modulo.evaluate(&[Some(n), Some(m)]), Some(n - m * quotient));
        }
        assert_eq!(floor.evaluate(&[Some(1), Some(0)]), None);
        assert_eq!(modulo.evaluate(&[Some(1), Some(0)]), None);
        assert_eq!(floor.evaluate(&[Some(i64::MIN), Some(-1)]), None);
    }

    #[test]
    fn what_is_no_integer_arithmetic_is_named() {
        let power = Expr::binary(BinaryOp::Power, Expr::var("n"), Expr::int(2));
        assert_eq!(Formula::of(&Expr::binary(BinaryOp::Add, power.clone(), Expr::int(1)), &mut |_| Some(0)), Err(power));
        assert_eq!(Formula::of(&Expr::var("x"), &mut |_| None), Err(Expr::var("x")));
    }
}
