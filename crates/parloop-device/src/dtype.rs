//! Scalar types: the one list of element types that every layer and every backend agrees on.

use num_complex::{Complex32, Complex64};

/// The type of one scalar value in memory.
///
/// ```
/// use parloop_device::DType;
/// assert_eq!(DType::F64.size(), 8);
/// assert_eq!(DType::F64.c_name(), "double");
/// assert_eq!(DType::from_name("float64"), Some(DType::F64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    C64,
    C128,
}

impl DType {
    /// Every scalar type, in declaration order.
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Size of one value in bytes.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// The name used in messages and in Python: numpy's.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::U8 => "uint8",
            DType::U16 => "uint16",
            DType::U32 => "uint32",
            DType::U64 => "uint64",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The scalar type with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The name of this type in portable C.
    pub const fn c_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8_t",
            DType::I16 => "int16_t",
            DType::I32 => "int32_t",
            DType::I64 => "int64_t",
            DType::U8 => "uint8_t",
            DType::U16 => "uint16_t",
            DType::U32 => "uint32_t",
            DType::U64 => "uint64_t",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "float _Complex",
            DType::C128 => "double _Complex",
        }
    }

    /// The alignment of elements on the host: the size of a number, or of one part of a complex number.
    pub const fn alignment(self) -> usize {
        if self.is_complex() { self.size() / 2 } else { self.size() }
    }

    /// Whether values are integers (booleans are not).
    pub const fn is_integer(self) -> bool {
        self.integer_range().is_some()
    }

    /// Whether values are real floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F64)
    }

    /// Whether values are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// The smallest and the largest value of an integer type.
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        match self {
            DType::I8 => Some((i8::MIN as i128, i8::MAX as i128)),
            DType::I16 => Some((i16::MIN as i128, i16::MAX as i128)),
            DType::I32 => Some((i32::MIN as i128, i32::MAX as i128)),
            DType::I64 => Some((i64::MIN as i128, i64::MAX as i128)),
            DType::U8 => Some((0, u8::MAX as i128)),
            DType::U16 => Some((0, u16::MAX as i128)),
            DType::U32 => Some((0, u32::MAX as i128)),
            DType::U64 => Some((0, u64::MAX as i128)),
            _ => None,
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type whose values are plain scalars of one [`DType`].
///
/// # Safety
/// The type has the size of its `DTYPE`, no padding, and every bit pattern that a kernel can store is a valid value.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The scalar type of these values.
    const DTYPE: DType;
    /// The value whose bytes are all zero.
    const ZERO: Self;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident, $zero:expr);* $(;)?) => { $(
        // SAFETY: a primitive (or a pair of two equal primitives without padding) of the size that `DTYPE` states.
        unsafe impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = $zero;
        }
    )* };
}
elements! {
    i8 => I8, 0; i16 => I16, 0; i32 => I32, 0; i64 => I64, 0; u8 => U8, 0; u16 => U16, 0; u32 => U32, 0; u64 => U64, 0;
    f32 => F32, 0.0; f64 => F64, 0.0; Complex32 => C64, Complex32::new(0.0, 0.0); Complex64 => C128, Complex64::new(0.0, 0.0);
}

/// The bytes of a slice of elements.
pub fn as_bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: `Element` has no padding, and the borrow keeps `values` alive for the returned lifetime.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of a slice of elements, writable.
pub fn as_bytes_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; every bit pattern is a valid element, and the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DType::from_name("double"), None);
    }

    #[test]
    fn rust_types_have_the_size_of_their_dtype() {
        fn check<T: Element>() {
            assert_eq!(size_of::<T>(), T::DTYPE.size());
        }
        check::<i8>();
        check::<i16>();
        check::<u32>();
        check::<i64>();
        check::<f32>();
        check::<f64>();
        check::<Complex32>();
        check::<Complex64>();
    }

    #[test]
    fn integer_ranges_match_their_size() {
        for dtype in DType::ALL.into_iter().filter(|d| d.is_integer()) {
            let (low, high) = dtype.integer_range().unwrap();
            assert_eq!(high - low + 1, 1i128 << (8 * dtype.size()));
        }
    }
}
