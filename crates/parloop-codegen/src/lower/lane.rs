//! Lanes of vectors, and vectors of lanes.

use parloop_device::DType;
use parloop_ir::syntax::{Type, lane_name};

use super::tree::{Value, ValueKind};

/// The number of lanes, if the type is a vector.
pub(super) fn lane_count(ty: &Type) -> Option<u8> {
    match ty {
        Type::Vector(_, lanes) => Some(*lanes),
        _ => None,
    }
}

/// A lane of a vector.
pub(super) fn lane_of(value: &Value, lane: u8) -> Value {
    let Type::Vector(dtype, lanes) = value.ty else { return value.clone() };
    match &value.kind {
        ValueKind::Vector(parts) => parts[usize::from(lane)].clone(),
        _ => Value::new(dtype, ValueKind::Member(Box::new(value.clone()), lane_name(lane, lanes))),
    }
}

/// The vector of these lanes, which have one type.
pub(super) fn vector_of(parts: Vec<Value>) -> Value {
    let dtype = parts.first().and_then(|part| part.ty.scalar()).unwrap_or(DType::I32);
    let lanes = u8::try_from(parts.len()).unwrap_or(u8::MAX);
    Value::new(Type::Vector(dtype, lanes), ValueKind::Vector(parts))
}
