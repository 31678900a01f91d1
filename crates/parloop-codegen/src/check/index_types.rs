//! Indices are integers, and so are the numbers of domains and assumptions.

use parloop_analysis::facts::Facts;
use parloop_analysis::infer::TypeReader;
use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Type};

use super::CheckError;

pub(super) fn check(program: &Program, facts: &Facts<'_>) -> Result<(), CheckError> {
    check_numbers(facts)?;
    let mut reader: Option<TypeReader<'_>> = None;
    for instruction in &facts.kernel.instructions {
        let mut indices: Vec<&Expr> = Vec::new();
        for expr in instruction.exprs() {
            expr.visit(&mut |part| match part {
                Expr::Subscript(_, found) => indices.extend(found.iter()),
                Expr::LinearSubscript(_, index) => indices.push(index),
                Expr::SubArray(part) => indices.extend(&part.indices),
                _ => {}
            });
        }
        for index in indices.into_iter().filter(|index| !is_plain(facts, index)) {
            let reader = reader.get_or_insert_with(|| TypeReader::new(program, facts.kernel));
            // Inference reports indices without a type.
            let Ok(found) = reader.type_of(index) else { continue };
            if !matches!(&found, Type::Scalar(dtype) if dtype.is_integer()) {
                let (index, instruction) = (index.to_string(), instruction.id.clone());
                return Err(CheckError::IndexType { index, instruction, found: found.to_string() });
            }
        }
    }
    Ok(())
}

/// Domains and assumptions are about integers with a sign, or of less than 64 bits: whatever is computed with them is an integer.
fn check_numbers(facts: &Facts<'_>) -> Result<(), CheckError> {
    let in_domains = facts.kernel.domains.iter().flat_map(|domain| domain.params()).map(|name| (name, "a domain"));
    let assumed = facts.kernel.assumptions.used_params();
    for (name, place) in in_domains.chain(assumed.iter().map(|name| (name, "an assumption"))) {
        let ty = match facts.kernel.temporaries.get(name) {
            Some(temporary) => temporary.ty.as_ref(),
            None => facts.arguments.get(name).and_then(|argument| argument.ty.as_ref()),
        };
        if let Some(ty) = ty.filter(|ty| !ty.scalar().is_some_and(|dtype| dtype.is_integer() && dtype != DType::U64)) {
            return Err(CheckError::NumberType { name: name.clone(), place, found: ty.to_string() });
        }
    }
    Ok(())
}

/// Whether it is made of inames and integers alone.
fn is_plain(facts: &Facts<'_>, index: &Expr) -> bool {
    to_affine(index).is_some_and(|affine| affine.names().iter().all(|name| facts.placement.contains_key(name)))
}
