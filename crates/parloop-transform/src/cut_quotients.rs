//! Quotients of integers that are assigned to integers, truncated as in C, for kernels with that option.

use std::sync::Arc;

use parloop_analysis::infer::TypeReader;
use parloop_ir::program::Program;
use parloop_ir::syntax::{BinaryOp, CompareOp, Expr, Instruction, InstructionKind, LoopKernel};

/// The kernel of a program, after types were found, with `a / b` of integers towards zero where the value is assigned to an integer; `None`
/// where nothing changes. In conditions, indices and arguments of functions, `/` stays a division of floating-point numbers.
pub fn cut_quotients(program: &Program, kernel: &LoopKernel) -> Option<LoopKernel> {
    if !kernel.options.loopy_arithmetic {
        return None;
    }
    let mut reader = TypeReader::new(program, kernel);
    let mut result = kernel.clone();
    let mut is_changed = false;
    for instruction in &mut result.instructions {
        let InstructionKind::Assign(assignment) = &instruction.kind else { continue };
        if !is_whole(&mut reader, &assignment.lhs) || !assignment.rhs.any(&mut has_quotient) {
            continue;
        }
        let mut changed = assignment.clone();
        changed.rhs = cut(&mut reader, &assignment.rhs);
        is_changed = true;
        *instruction = Arc::new(Instruction { kind: InstructionKind::Assign(changed), ..(**instruction).clone() });
    }
    is_changed.then_some(result)
}

fn has_quotient(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, ..) => *op == BinaryOp::Divide,
        Expr::Chain(chain) => chain.rest.iter().any(|(op, _)| *op == BinaryOp::Divide),
        _ => false,
    }
}

fn is_whole(reader: &mut TypeReader<'_>, expr: &Expr) -> bool {
    reader.type_of(expr).ok().and_then(|ty| ty.scalar()).is_some_and(|dtype| dtype.is_integer())
}

fn cut(reader: &mut TypeReader<'_>, expr: &Expr) -> Expr {
    match expr {
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide), left, right) => {
            let (left, right) = (cut(reader, left), cut(reader, right));
            joined(reader, *op, left, right)
        }
        Expr::Chain(chain) => {
            let first = cut(reader, &chain.first);
            chain.rest.iter().fold(first, |left, (op, right)| {
                let right = cut(reader, right);
                joined(reader, *op, left, right)
            })
        }
        Expr::Unary(op, operand) => Expr::Unary(*op, Arc::new(cut(reader, operand))),
        Expr::If(parts) => Expr::choose(parts[0].clone(), cut(reader, &parts[1]), cut(reader, &parts[2])),
        _ => expr.clone(),
    }
}

fn joined(reader: &mut TypeReader<'_>, op: BinaryOp, left: Expr, right: Expr) -> Expr {
    if op != BinaryOp::Divide || !is_whole(reader, &left) || !is_whole(reader, &right) {
        return Expr::binary(op, left, right);
    }
    // One more than the floor, where that is not the quotient and the signs differ.
    let negative = |expr: &Expr| Expr::compare(CompareOp::Less, expr.clone(), Expr::int(0));
    let rest = Expr::compare(CompareOp::NotEqual, Expr::binary(BinaryOp::Modulo, left.clone(), right.clone()), Expr::int(0));
    let apart = Expr::compare(CompareOp::NotEqual, negative(&left), negative(&right));
    let more = Expr::choose(Expr::binary(BinaryOp::And, rest, apart), Expr::int(1), Expr::int(0));
    Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::FloorDivide, left, right), more)
}
