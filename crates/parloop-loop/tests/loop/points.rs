//! What a kernel touches, point by point: how tests see that a transformation of inames changed nothing but the loops.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::{Constraint, ConstraintKind};
use parloop_loop::syntax::{BinaryOp, Expr, Instruction, Literal, LoopKernel, UnaryOp};
use parloop_loop::{Name, Set};

/// The values of names.
pub type Values = BTreeMap<Name, i64>;

/// Values of parameters.
pub fn values<const N: usize>(pairs: [(&str, i64); N]) -> Values {
    pairs.into_iter().map(|(name, value)| (Name::from(name), value)).collect()
}

/// For each instruction the indices of all that it accesses, at all points of its inames and those of its reductions, sorted. Inames have values from -2 to 36.
pub fn touched(kernel: &LoopKernel, parameters: &Values) -> BTreeMap<Name, Vec<Vec<i64>>> {
    let one = |instruction: &Instruction| {
        let inames: BTreeSet<Name> = instruction.within_inames.iter().cloned().chain(instruction.reduction_inames()).collect();
        let domain = kernel.domain_of(&inames).unwrap().project_onto(&inames.iter().cloned().collect::<Vec<_>>()).unwrap();
        let mut found: Vec<Vec<i64>> = points(&domain, parameters).iter().filter_map(|point| accesses(instruction, point)).collect();
        found.sort();
        (instruction.id.clone(), found)
    };
    kernel.instructions.iter().map(|instruction| one(instruction)).collect()
}

/// The points of a set for values of its parameters.
pub fn points(set: &Set, parameters: &Values) -> Vec<Values> {
    let mut found = Vec::new();
    descend(set, set.dims(), &mut parameters.clone(), &mut found);
    found
}

fn descend(set: &Set, rest: &[Name], values: &mut Values, found: &mut Vec<Values>) {
    // A constraint whose names all have values and that does not hold rules out all points from here on.
    let broken = |constraint: &Constraint| match (constraint.kind, constraint.affine.evaluate(&|name| values.get(name).copied())) {
        (_, None) => false,
        (ConstraintKind::Zero, Some(value)) => value != 0,
        (ConstraintKind::NotNegative, Some(value)) => value < 0,
    };
    if set.pieces().iter().all(|piece| piece.iter().any(broken)) {
        return;
    }
    let Some((dim, rest)) = rest.split_first() else {
        if set.contains(&|name| values.get(name).copied()) == Some(true) {
            found.push(values.clone());
        }
        return;
    };
    for value in -2..=36 {
        values.insert(dim.clone(), value);
        descend(set, rest, values, found);
    }
    values.remove(dim);
}

/// The indices of all accesses of an instruction at a point; `None` where a predicate does not hold.
fn accesses(instruction: &Instruction, point: &Values) -> Option<Vec<i64>> {
    if instruction.predicates.iter().any(|predicate| integer(predicate, point) == 0) {
        return None;
    }
    let mut found = Vec::new();
    for expr in instruction.lhs().into_iter().chain(instruction.rhs()) {
        expr.visit(&mut |part| {
            if let Expr::Subscript(_, indices) = part {
                found.extend(indices.iter().map(|index| integer(index, point)));
            }
        });
    }
    Some(found)
}

/// The value of an expression of integers.
pub fn integer(expr: &Expr, values: &Values) -> i64 {
    let int = |expr: &Expr| integer(expr, values);
    match expr {
        Expr::Literal(Literal::Int(value, _)) => i64::try_from(*value).unwrap(),
        Expr::Variable(name) => *values.get(name).unwrap_or_else(|| panic!("`{name}` has no value here")),
        Expr::Unary(UnaryOp::Negate, operand) => -int(operand),
        Expr::Min(operands) => operands.iter().map(int).min().unwrap(),
        Expr::Binary(op, left, right) => match op {
            BinaryOp::Add => int(left) + int(right),
            BinaryOp::Subtract => int(left) - int(right),
            BinaryOp::Multiply => int(left) * int(right),
            BinaryOp::FloorDivide => int(left).div_euclid(int(right)),
            BinaryOp::Modulo => int(left).rem_euclid(int(right)),
            _ => panic!("no integer operator: {op:?}"),
        },
        Expr::Compare(op, left, right) => {
            use parloop_loop::syntax::CompareOp::*;
            let (left, right) = (int(left), int(right));
            i64::from(match op {
                Equal => left == right,
                NotEqual => left != right,
                Less => left < right,
                LessEqual => left <= right,
                Greater => left > right,
                GreaterEqual => left >= right,
            })
        }
        _ => panic!("no expression of integers: {expr:?}"),
    }
}
