//! Integer expressions that are not affine, split into affine cases: `min`, `max`, `abs`, `if`, and `//` and `%` by a parameter. Other
//! parts, such as a product of two names, are unknown integers.

use parloop_analysis::access::constraints_of;
use parloop_analysis::facts::Facts;
use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{BinaryOp, CompareOp, Expr, UnaryOp};
use parloop_isl::{Affine, Constraint, Name};

/// The maximum number of cases.
const MOST_CASES: usize = 128;
/// An iname of at most this many values makes a case for each in a product.
const MOST_FACTORS: i64 = 32;

/// What is known of the names that stand for parts of expressions: one of the cases holds.
pub(super) struct Cases<'a, 'k> {
    pub(super) all: Vec<Vec<Constraint>>,
    names: usize,
    /// Products of two expressions, with the names that stand for them.
    products: Vec<(Affine, Affine, Affine)>,
    facts: &'a Facts<'k>,
}

impl<'a, 'k> Cases<'a, 'k> {
    pub(super) fn new(facts: &'a Facts<'k>) -> Self {
        Cases { all: vec![Vec::new()], names: 0, products: Vec::new(), facts }
    }

    /// Whether no names were needed.
    pub(super) fn is_plain(&self) -> bool {
        self.names == 0
    }

    /// The expression as an affine one, in which names stand for the parts that are not.
    pub(super) fn affine(&mut self, expr: &Expr) -> Affine {
        if let Some(affine) = to_affine(expr) {
            return affine;
        }
        self.combined(expr).unwrap_or_else(|| Affine::name(self.name()))
    }

    fn combined(&mut self, expr: &Expr) -> Option<Affine> {
        match expr {
            Expr::Unary(UnaryOp::Negate, operand) => self.affine(operand).scale(-1).ok(),
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.affine(left), self.affine(right));
                self.binary(*op, &left, &right)
            }
            Expr::Chain(chain) => {
                let mut found = self.affine(&chain.first);
                for (op, operand) in &chain.rest {
                    let operand = self.affine(operand);
                    found = self.binary(*op, &found, &operand)?;
                }
                Some(found)
            }
            Expr::Min(operands) => self.extreme(operands, -1),
            Expr::Max(operands) => self.extreme(operands, 1),
            Expr::If(parts) => {
                let (yes, no) = (self.affine(&parts[1]), self.affine(&parts[2]));
                let (mut holds, mut fails) = (Vec::new(), Vec::new());
                constraints_of(&parts[0], true, &mut holds);
                constraints_of(&parts[0], false, &mut fails);
                let is_integer = |constraint: &Constraint| constraint.affine.names().iter().all(|name| self.facts.is_integer(name));
                holds.retain(is_integer);
                fails.retain(is_integer);
                let value = Affine::name(self.name());
                holds.push(equal(&value, &yes)?);
                fails.push(equal(&value, &no)?);
                self.split(&[holds, fails]);
                Some(value)
            }
            Expr::Call(call) if call.function == "abs" && call.args.len() == 1 => {
                let inner = self.affine(&call.args[0]);
                let (value, negative) = (Affine::name(self.name()), inner.scale(-1).ok()?);
                self.split(&[
                    vec![not_less(&inner, &Affine::constant(0))?, equal(&value, &inner)?],
                    vec![not_less(&negative, &Affine::constant(0))?, equal(&value, &negative)?],
                ]);
                Some(value)
            }
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Affine, right: &Affine) -> Option<Affine> {
        match (op, left.as_constant(), right.as_constant()) {
            (BinaryOp::Add, ..) => left.add(right).ok(),
            (BinaryOp::Subtract, ..) => left.sub(right).ok(),
            (BinaryOp::Multiply, Some(factor), _) => right.scale(factor).ok(),
            (BinaryOp::Multiply, _, Some(factor)) => left.scale(factor).ok(),
            (BinaryOp::Multiply, ..) => {
                let found = self.product_of_few(left, right).or_else(|| self.product_of_few(right, left));
                Some(found.unwrap_or_else(|| self.product(left, right)))
            }
            (BinaryOp::FloorDivide, _, Some(divisor)) if divisor > 0 => Affine::floor(left, divisor).ok(),
            (BinaryOp::Modulo, _, Some(divisor)) if divisor > 0 => Affine::modulo(left, divisor).ok(),
            (BinaryOp::Modulo, ..) => {
                let (value, zero, one) = (Affine::name(self.name()), Affine::constant(0), Affine::constant(1));
                let below = right.sub(&one).ok()?;
                self.split(&[
                    vec![not_less(right, &one)?, not_less(&value, &zero)?, not_less(&below, &value)?],
                    vec![not_less(&zero, right)?],
                ]);
                Some(value)
            }
            (BinaryOp::FloorDivide, ..) => {
                let (value, zero, one) = (Affine::name(self.name()), Affine::constant(0), Affine::constant(1));
                self.split(&[
                    vec![not_less(right, &one)?, not_less(left, &zero)?, not_less(&value, &zero)?, not_less(left, &value)?],
                    vec![
                        not_less(right, &one)?,
                        not_less(&Affine::constant(-1), left)?,
                        not_less(&value, left)?,
                        not_less(&Affine::constant(-1), &value)?,
                    ],
                    vec![not_less(&zero, right)?],
                ]);
                Some(value)
            }
            _ => None,
        }
    }

    fn product(&mut self, left: &Affine, right: &Affine) -> Affine {
        let is_same = |(a, b, _): &&(Affine, Affine, Affine)| a == left && b == right || a == right && b == left;
        if let Some((_, _, value)) = self.products.iter().find(is_same) {
            return value.clone();
        }
        let value = Affine::name(self.name());
        self.products.push((left.clone(), right.clone(), value.clone()));
        value
    }

    /// Adds what is known of products: `x*m` and `y*m` are at least `m` apart where `x < y`, so that `i*m + j` is inside `n*m`. `holds`
    /// tells whether an expression is not negative in all cases.
    pub(super) fn relate<E>(&mut self, holds: impl Fn(&Affine, &Self) -> Result<bool, E>) -> Result<(), E> {
        for (left, right, value) in self.products.clone() {
            if holds(&left, self)? && holds(&right, self)? {
                self.add(Constraint::not_negative(value));
            }
        }
        let products = self.products.clone();
        for (a, b, small) in &products {
            for (c, d, large) in &products {
                for (x, m) in [(a, b), (b, a)] {
                    for (y, factor) in [(c, d), (d, c)] {
                        let Some(apart) = y.sub(x).and_then(|apart| apart.sub(&Affine::constant(1))).ok().filter(|_| m == factor) else {
                            continue;
                        };
                        if small != large && holds(m, self)? && holds(&apart, self)? {
                            let distance = large.sub(small).and_then(|distance| distance.sub(m));
                            distance.into_iter().for_each(|distance| self.add(Constraint::not_negative(distance)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, constraint: Constraint) {
        self.all.iter_mut().for_each(|case| case.push(constraint.clone()));
    }

    /// The product with an iname of few values, as `chunk_iname` makes them.
    fn product_of_few(&mut self, few: &Affine, other: &Affine) -> Option<Affine> {
        let (least, most) = self.facts.forest.constant_bounds(few.as_name()?);
        let (least, most) = (least?, most?);
        if most.checked_sub(least)? >= MOST_FACTORS {
            return None;
        }
        let value = Affine::name(self.name());
        let mut cases = Vec::new();
        for factor in least..=most {
            cases.push(vec![equal(few, &Affine::constant(factor))?, equal(&value, &other.scale(factor).ok()?)?]);
        }
        self.split(&cases);
        Some(value)
    }

    /// The largest operand for a `sign` of 1, the smallest for -1.
    fn extreme(&mut self, operands: &[Expr], sign: i64) -> Option<Affine> {
        let operands: Vec<Affine> = operands.iter().map(|operand| self.affine(operand)).collect();
        let value = Affine::name(self.name());
        let mut beyond = Vec::new();
        for operand in &operands {
            beyond.push(not_less(&value.scale(sign).ok()?, &operand.scale(sign).ok()?)?);
        }
        let mut cases = Vec::new();
        for operand in &operands {
            cases.push(beyond.iter().cloned().chain([equal(&value, operand)?]).collect());
        }
        self.split(&cases);
        Some(value)
    }

    /// A name that no kernel has.
    fn name(&mut self) -> Name {
        self.names += 1;
        format!("_part{}", self.names).into()
    }

    fn split(&mut self, cases: &[Vec<Constraint>]) {
        if self.all.len() * cases.len() > MOST_CASES {
            return;
        }
        let before = std::mem::take(&mut self.all);
        self.all = before.iter().flat_map(|known| cases.iter().map(move |case| [&known[..], case].concat())).collect();
    }
}

fn not_less(large: &Affine, small: &Affine) -> Option<Constraint> {
    large.sub(small).ok().map(Constraint::not_negative)
}

fn equal(left: &Affine, right: &Affine) -> Option<Constraint> {
    left.sub(right).ok().map(Constraint::zero)
}

/// Whether the constraints express a condition exactly.
pub(super) fn is_whole(facts: &Facts<'_>, condition: &Expr, value: bool) -> bool {
    let is_integer = |expr: &Expr| to_affine(expr).is_some_and(|affine| affine.names().iter().all(|name| facts.is_integer(name)));
    match (condition, value) {
        (Expr::Unary(UnaryOp::Not, operand), _) => is_whole(facts, operand, !value),
        (Expr::Binary(BinaryOp::And, left, right), true) | (Expr::Binary(BinaryOp::Or, left, right), false) => {
            is_whole(facts, left, value) && is_whole(facts, right, value)
        }
        (Expr::Compare(op, left, right), _) => {
            let is_gap = matches!((op, value), (CompareOp::NotEqual, true) | (CompareOp::Equal, false));
            !is_gap && is_integer(left) && is_integer(right)
        }
        _ => false,
    }
}
