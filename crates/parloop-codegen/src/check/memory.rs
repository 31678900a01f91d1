//! Memory has a known size: that of its initial values, and no type whose size only the target's compiler knows.

use parloop_ir::fold::as_int;
use parloop_ir::syntax::{AddressSpace, ArgumentKind, Expr, LoopKernel, Shape, Temporary, Type};

use super::CheckError;

pub(super) fn check(kernel: &LoopKernel) -> Result<(), CheckError> {
    let is_opaque = |ty: &Option<Type>| matches!(ty, Some(Type::Opaque(_)));
    let arrays = kernel.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::Array { .. }) && is_opaque(&argument.ty));
    // Others are declared with their type, and the compiler finds the size.
    let is_computed = |temporary: &&Temporary| temporary.base_storage.is_some() || temporary.space == Some(AddressSpace::Global);
    let temporaries = kernel.temporaries.values().filter(is_computed).filter(|temporary| is_opaque(&temporary.ty));
    if let Some(name) = arrays.map(|argument| &argument.name).chain(temporaries.map(|temporary| &temporary.name)).next() {
        return Err(CheckError::OpaqueMemory { name: name.clone(), kernel: kernel.name.clone() });
    }
    kernel.temporaries.values().try_for_each(initial_values)
}

/// Initial values are those of all elements, in their type.
fn initial_values(temporary: &Temporary) -> Result<(), CheckError> {
    let Some(values) = &temporary.initializer else { return Ok(()) };
    let has_type = temporary.ty.as_ref().is_none_or(|ty| ty.scalar() == Some(values.dtype));
    let has_shape = match &temporary.layout.shape {
        Shape::Known(lengths) => {
            let constants: Option<Vec<usize>> = lengths.iter().map(|length| usize::try_from(as_int(length)?).ok()).collect();
            constants.as_ref() == Some(&values.shape)
        }
        Shape::Auto | Shape::Unknown => false,
    };
    let bytes = values.shape.iter().try_fold(values.dtype.size(), |bytes, &length| bytes.checked_mul(length));
    match has_type && has_shape && bytes == Some(values.bytes.len()) {
        true => Ok(()),
        false => Err(CheckError::InitialValues {
            name: temporary.name.clone(),
            declared: described(temporary),
            found: format!("{}{:?}", values.dtype, values.shape),
        }),
    }
}

fn described(temporary: &Temporary) -> String {
    let ty = temporary.ty.as_ref().map(Type::to_string).unwrap_or_default();
    match &temporary.layout.shape {
        Shape::Known(lengths) => format!("{ty}[{}]", lengths.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ")),
        Shape::Auto | Shape::Unknown => ty,
    }
}
