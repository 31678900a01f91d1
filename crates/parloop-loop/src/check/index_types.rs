//! Indices are integers.

use super::CheckError;
use crate::schedule::Facts;
use crate::syntax::{Expr, Literal, Program};

pub(super) fn check(_program: &Program, facts: &Facts<'_>) -> Result<(), CheckError> {
    for instruction in &facts.kernel.instructions {
        for expr in instruction.exprs() {
            let mut wrong: Option<&Expr> = None;
            expr.visit(&mut |part| {
                let indices: Vec<&Expr> = match part {
                    Expr::Subscript(_, indices) => indices.iter().collect(),
                    Expr::LinearSubscript(_, index) => vec![index],
                    Expr::SubArray(part) => part.indices.iter().collect(),
                    _ => Vec::new(),
                };
                wrong = wrong.or_else(|| {
                    indices.into_iter().find(|index| matches!(index, Expr::Literal(Literal::Float(..) | Literal::Imaginary(..))))
                });
            });
            if let Some(index) = wrong {
                let (index, instruction) = (index.to_string(), instruction.id.clone());
                return Err(CheckError::IndexType { index, instruction, found: "float64".to_owned() });
            }
        }
    }
    Ok(())
}
