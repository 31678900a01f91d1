//! Names of types: NumPy's, with vectors as `float32x4` or by OpenCL's names: `float4`, `uint2`.

use parloop_device::DType;

use super::error::nearest;
use crate::syntax::Type;

/// NumPy's aliases for supported types.
const ALIASES: [(&str, DType); 38] = [
    ("bool_", DType::Bool),
    ("b1", DType::Bool),
    ("byte", DType::I8),
    ("i1", DType::I8),
    ("short", DType::I16),
    ("i2", DType::I16),
    ("h", DType::I16),
    ("intc", DType::I32),
    ("i4", DType::I32),
    ("i", DType::I32),
    ("int", DType::I64),
    ("int_", DType::I64),
    ("intp", DType::I64),
    ("long", DType::I64),
    ("longlong", DType::I64),
    ("i8", DType::I64),
    ("l", DType::I64),
    ("ubyte", DType::U8),
    ("u1", DType::U8),
    ("ushort", DType::U16),
    ("u2", DType::U16),
    ("uintc", DType::U32),
    ("u4", DType::U32),
    ("uint", DType::U64),
    ("uintp", DType::U64),
    ("u8", DType::U64),
    ("single", DType::F32),
    ("f4", DType::F32),
    ("f", DType::F32),
    ("float", DType::F64),
    ("float_", DType::F64),
    ("double", DType::F64),
    ("f8", DType::F64),
    ("d", DType::F64),
    ("csingle", DType::C64),
    ("c8", DType::C64),
    ("complex", DType::C128),
    ("c16", DType::C128),
];

/// OpenCL's names of what its vectors consist of.
const LANES: [(&str, DType); 10] = [
    ("char", DType::I8),
    ("uchar", DType::U8),
    ("short", DType::I16),
    ("ushort", DType::U16),
    ("int", DType::I32),
    ("uint", DType::U32),
    ("long", DType::I64),
    ("ulong", DType::U64),
    ("float", DType::F32),
    ("double", DType::F64),
];

/// The type of that NumPy name, or of a vector: `float32x4`, `float4`. `float16` is none: NumPy's is half a float, and OpenCL's a vector.
///
/// ```
/// use parloop_loop::parse::type_name;
/// use parloop_device::DType;
/// assert_eq!(type_name("double"), Some(DType::F64.into()));
/// assert_eq!(type_name("float4"), type_name("float32x4"));
/// assert_eq!(type_name("float16"), None);
/// ```
pub fn type_name(name: &str) -> Option<Type> {
    if let Some(dtype) = scalar_name(name) {
        return Some(dtype.into());
    }
    if let Some((dtype, lanes)) = name.rsplit_once('x') {
        return Type::vector(DType::from_name(dtype)?, lane_count(lanes)?);
    }
    if name == "float16" {
        return None;
    }
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let dtype = LANES.iter().find(|(known, _)| *known == base).map(|&(_, dtype)| dtype)?;
    Type::vector(dtype, lane_count(&name[base.len()..])?)
}

/// A number of lanes, without leading zeros.
fn lane_count(digits: &str) -> Option<u8> {
    ["2", "3", "4", "8", "16"].contains(&digits).then(|| digits.parse().ok())?
}

/// The scalar type of that name.
pub fn scalar_name(name: &str) -> Option<DType> {
    DType::from_name(name).or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).map(|&(_, dtype)| dtype))
}

/// The most similar type name.
pub(super) fn nearest_type(name: &str) -> Option<String> {
    nearest(name, DType::ALL.into_iter().map(DType::name))
}
