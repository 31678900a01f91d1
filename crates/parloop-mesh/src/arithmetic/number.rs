//! Numbers of a program as globals. Programs use the same few numbers again and again, so that they are kept, on devices too.

use std::collections::HashMap;

use parloop_device::DType;
use parloop_device::forked::Lock;
use parloop_kernel::{Scalar, Slot, encode};

use crate::Result;
use crate::declare::global::Global;
use crate::storage::Storage;

/// Numbers beyond this many are forgotten.
const MOST: usize = 256;

/// The type in which a number is combined with data of that type: the data's, unless that has no such numbers.
pub fn fitting(number: Scalar, dtype: DType) -> DType {
    match number {
        Scalar::Complex(_) if !dtype.is_complex() => DType::C128,
        Scalar::Float(_) if !dtype.is_complex() && !dtype.is_float() => DType::F64,
        // Truth values have no sums with other integers.
        Scalar::Int(_) if dtype == DType::Bool => DType::I64,
        _ => dtype,
    }
}

/// A constant with that number; `None` when the type has no such number.
pub fn global(number: Scalar, dtype: DType) -> Option<Result<Global>> {
    static KNOWN: Lock<Option<HashMap<(DType, Slot), Global>>> = Lock::new(None);
    let slot = encode(number, dtype).ok()?;
    let mut known = KNOWN.lock_or(|| None);
    let known = known.get_or_insert_default();
    if let Some(global) = known.get(&(dtype, slot)) {
        return Some(Ok(global.clone()));
    }
    let bytes: Vec<u8> = slot.iter().flat_map(|word| word.to_le_bytes()).collect();
    let storage = Storage::with_bytes(dtype, 1, 1, &bytes[..dtype.size()]);
    let made = storage.and_then(|storage| Global::around(1, storage, text(number), true));
    if let Ok(global) = &made {
        if known.len() >= MOST {
            known.clear();
        }
        known.insert((dtype, slot), global.clone());
    }
    Some(made)
}

/// The number as it is written.
pub fn text(number: Scalar) -> String {
    match number {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Complex(value) => value.to_string(),
        Scalar::Address(value) => format!("{value:#x}"),
    }
}
