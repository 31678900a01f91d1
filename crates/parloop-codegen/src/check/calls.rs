//! Checks that every function is known, and that calls to kernels match the kernels.

use parloop_analysis::facts::Facts;
use parloop_ir::callable::kernel_args;
use parloop_ir::program::Program;
use parloop_ir::syntax::{ArgumentKind, Call, Expr, Instruction, InstructionKind, LoopKernel};
use parloop_isl::Name;

use super::CheckError;

pub(super) fn check(program: &Program, facts: &Facts<'_>) -> Result<(), CheckError> {
    for instruction in &facts.kernel.instructions {
        for expr in instruction.exprs() {
            let mut unknown: Option<&Name> = None;
            expr.visit(&mut |part| {
                if let Expr::Call(call) = part
                    && (!call.resolved || !program.callables.contains_key(&call.function))
                {
                    unknown = unknown.or(Some(&call.function));
                }
            });
            if let Some(function) = unknown {
                return Err(CheckError::UnresolvedFunction { function: function.clone(), instruction: instruction.id.clone() });
            }
        }
        if let InstructionKind::Call(call) = &instruction.kind
            && let Expr::Call(expr) = &call.rhs
            && let Some(callee) = program.callables.get(&expr.function).and_then(|callable| callable.kernel())
        {
            check_site(instruction, expr, &call.lhs, callee)?;
        }
    }
    Ok(())
}

/// Arrays are passed as (parts of) arrays and numbers as numbers. The callable checks their number.
fn check_site(instruction: &Instruction, call: &Call, results: &[Expr], callee: &LoopKernel) -> Result<(), CheckError> {
    let places = kernel_args(callee);
    let inputs = places.inputs.iter().map(|&place| &callee.arguments[place]);
    let mismatch = |place: String, found: &Expr, expected: &'static str| CheckError::CallSite {
        instruction: instruction.id.clone(),
        function: callee.name.clone(),
        place,
        found: format!("`{found}`"),
        expected: expected.to_owned(),
    };
    for (at, (given, argument)) in call.args.iter().zip(inputs).enumerate() {
        let is_part = matches!(given, Expr::SubArray(_));
        match &argument.kind {
            ArgumentKind::Value if is_part => return Err(mismatch(format!("argument {}", at + 1), given, "a number")),
            ArgumentKind::Array { layout, .. } if !is_part && layout.shape != parloop_ir::syntax::Shape::Known(Vec::new()) => {
                return Err(mismatch(format!("argument {}", at + 1), given, "a part of an array: [i]: a[i]"));
            }
            _ => {}
        }
    }
    let outputs = places.outputs.iter().map(|&place| &callee.arguments[place]);
    for (at, (given, argument)) in results.iter().zip(outputs).enumerate() {
        let is_part = matches!(given, Expr::SubArray(_));
        if let ArgumentKind::Array { layout, .. } = &argument.kind
            && !is_part
            && layout.shape != parloop_ir::syntax::Shape::Known(Vec::new())
        {
            return Err(mismatch(format!("result {}", at + 1), given, "a part of an array: [i]: a[i]"));
        }
    }
    Ok(())
}
