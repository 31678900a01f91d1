//! Numbers of one type, combined as bytes: what processes have of a sum or an extreme.

use parloop_device::DType;

use crate::access::Access;

/// Combines numbers with others, one by one.
pub fn combine(dtype: DType, access: Access, into: &mut [u8], other: &[u8]) {
    macro_rules! numbers {
        ($type:ty, $add:expr) => {{
            let pairs = into.chunks_exact_mut(size_of::<$type>()).zip(other.chunks_exact(size_of::<$type>()));
            for (into, other) in pairs {
                let number = |bytes: &[u8]| <$type>::from_ne_bytes(bytes.try_into().expect("invariant: a whole number"));
                let (a, b) = (number(into), number(other));
                let add: fn($type, $type) -> $type = $add;
                let result = match access {
                    Access::Min => {
                        if b < a {
                            b
                        } else {
                            a
                        }
                    }
                    Access::Max => {
                        if b > a {
                            b
                        } else {
                            a
                        }
                    }
                    _ => add(a, b),
                };
                into.copy_from_slice(&result.to_ne_bytes());
            }
        }};
    }
    match dtype {
        DType::I8 => numbers!(i8, i8::wrapping_add),
        DType::I16 => numbers!(i16, i16::wrapping_add),
        DType::I32 => numbers!(i32, i32::wrapping_add),
        DType::I64 => numbers!(i64, i64::wrapping_add),
        DType::U8 => numbers!(u8, u8::wrapping_add),
        DType::U16 => numbers!(u16, u16::wrapping_add),
        DType::U32 => numbers!(u32, u32::wrapping_add),
        DType::U64 => numbers!(u64, u64::wrapping_add),
        // Parts of complex numbers are added one by one; they have no order, so that nobody asks for extremes.
        DType::F32 | DType::C64 => numbers!(f32, |a, b| a + b),
        DType::F64 | DType::C128 => numbers!(f64, |a, b| a + b),
        // Truth is added by or.
        DType::Bool => numbers!(u8, |a, b| a | b),
    }
}

#[cfg(test)]
mod tests {
    use parloop_device::{as_bytes, as_bytes_mut};

    use super::*;

    #[test]
    fn numbers_are_combined_by_their_type() {
        let mut sums = [1.5f64, -2.0];
        combine(DType::F64, Access::Inc, as_bytes_mut(&mut sums), as_bytes(&[2.0f64, 1.0]));
        assert_eq!(sums, [3.5, -1.0]);
        let mut least = [3i16, -4];
        combine(DType::I16, Access::Min, as_bytes_mut(&mut least), as_bytes(&[1i16, 5]));
        assert_eq!(least, [1, -4]);
        let mut most = [250u8, 4];
        combine(DType::U8, Access::Max, as_bytes_mut(&mut most), as_bytes(&[1u8, 5]));
        assert_eq!(most, [250, 5]);
        combine(DType::U8, Access::Inc, as_bytes_mut(&mut most), as_bytes(&[10u8, 5]));
        assert_eq!(most, [4, 10]);
    }
}
