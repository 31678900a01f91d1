//! Numbers to and from bytes, with checks that no value is lost.

use parloop_device::DType;
use parloop_kernel::{Scalar, ScalarMisfit, decode, encode};

/// The bytes of a number of this type, of which as many count as the type has; whole floating-point numbers are taken for integers.
///
/// # Errors
/// A number of another kind, or one that does not fit.
pub fn to_bytes(value: Scalar, dtype: DType) -> Result<[u8; 16], ScalarMisfit> {
    let value = match value {
        Scalar::Float(float) if dtype.is_integer() && float.fract() == 0.0 && float.abs() < 2f64.powi(64) => Scalar::Int(float as i128),
        Scalar::Float(_) if dtype.is_integer() => return Err(ScalarMisfit::Range),
        other => other,
    };
    let [low, high] = encode(value, dtype)?;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&high.to_le_bytes());
    Ok(bytes)
}

/// The number of this type in these bytes, which are at least as many as it has.
pub(crate) fn from_bytes(bytes: &[u8], dtype: DType) -> Scalar {
    let mut words = [0; 16];
    words[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| words[at + i]));
    decode([word(0), word(8)], dtype)
}
