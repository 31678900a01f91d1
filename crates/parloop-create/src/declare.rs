//! `<>x = …`, `<float32> x = …`: assignments that declare their left side.

use std::sync::Arc;

use parloop_ir::syntax::{Expr, InstructionKind, Layout, Shape, Temporary, TemporaryType};
use parloop_isl::Name;

use super::data::check_name;
use super::error::{CreateError, NameKind};
use super::making::Making;

/// Creates a temporary for each declared left side.
pub(super) fn make_temporaries(making: &mut Making) -> Result<(), CreateError> {
    let mut kinds = making.kinds();
    for index in 0..making.kernel.instructions.len() {
        for (name, ty) in declared(&making.kernel.instructions[index].kind) {
            let instruction = making.kernel.instructions[index].id.clone();
            check_name(&name)?;
            match kinds.insert(name.clone(), NameKind::Temporary) {
                None | Some(NameKind::Parameter) => {}
                Some(kind) => return Err(CreateError::DeclaredTwice { instruction, name, kind }),
            }
            let ty = match ty {
                TemporaryType::Inferred => None,
                TemporaryType::Given(ty) => Some(ty),
            };
            let layout = Layout::c_order(Shape::Auto);
            let temporary = Temporary {
                name: name.clone(),
                ty,
                layout,
                space: None,
                initializer: None,
                read_only: false,
                base_storage: None,
                tags: Default::default(),
            };
            making.kernel.temporaries.insert(name, temporary);
        }
        clear(&mut Arc::make_mut(&mut making.kernel.instructions[index]).kind);
    }
    Ok(())
}

fn declared(kind: &InstructionKind) -> Vec<(Name, TemporaryType)> {
    let named = |lhs: &Expr, ty: &TemporaryType| lhs.written_name().map(|name| (name.clone(), ty.clone()));
    match kind {
        InstructionKind::Assign(assignment) => assignment.declares.iter().filter_map(|ty| named(&assignment.lhs, ty)).collect(),
        InstructionKind::Call(call) => call.lhs.iter().zip(&call.declares).filter_map(|(lhs, ty)| named(lhs, ty.as_ref()?)).collect(),
        _ => Vec::new(),
    }
}

fn clear(kind: &mut InstructionKind) {
    match kind {
        InstructionKind::Assign(assignment) => assignment.declares = None,
        InstructionKind::Call(call) => call.declares.iter_mut().for_each(|declares| *declares = None),
        _ => {}
    }
}
