//! Arguments: the values that a caller passes, and the checks against the parameters.

use std::any::Any;
use std::ffi::CStr;
use std::fmt;

use parloop_device::{Complex32, Complex64, DType, Element, Memory, as_bytes, as_bytes_mut};

use crate::array::Array;
use crate::ctype::{self, plain, words};
use crate::error::{KernelError, Result};
use crate::signature::{Param, ParamType, Pointee, Signature};

/// A scalar value, as it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(Complex64),
    /// The target of a returned pointer; arguments never have this kind.
    Address(u64),
}

/// One argument of a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Arg<'a> {
    /// A value, converted to the parameter's type if it fits.
    Scalar(Scalar),
    /// Device memory; `None` is memory of unknown content, which every pointer accepts.
    Memory {
        /// The memory.
        memory: &'a Memory,
        /// The type of its elements.
        dtype: Option<DType>,
        /// Whether the kernel may write to it.
        writable: bool,
    },
    /// An object of a class, in device memory from byte `offset` on.
    Object {
        /// The memory.
        memory: &'a Memory,
        /// Where the object begins in it.
        offset: usize,
        /// The name of its class.
        class: &'a str,
        /// Whether the kernel may write to it.
        writable: bool,
    },
    /// An object in memory that moves as it grows; it stays where it is while the kernel is launched.
    Placed {
        /// The object.
        object: &'a dyn PlacedObject,
        /// Whether the kernel may write to it.
        writable: bool,
    },
    /// Host data that the kernel only reads; copied to a device that cannot see it.
    Host {
        /// Its bytes.
        bytes: &'a [u8],
        /// The type of its elements.
        dtype: DType,
    },
    /// Host data that the kernel may change; copied there and back.
    HostMut {
        /// Its bytes.
        bytes: &'a mut [u8],
        /// The type of its elements.
        dtype: DType,
    },
    /// Text for a `const char *`.
    Text(&'a CStr),
    /// The null pointer.
    Null,
}

/// The bytes of an object on a path of fields: of the one where the path begins, or of one that a reference on it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where they begin, from the beginning of the first object; others may be in front of it.
    pub start: i64,
    /// How many there are.
    pub bytes: usize,
    /// How many fields of the path lead there.
    pub fields: usize,
}

/// An object of a class in memory that moves as it grows, and that can be freed explicitly.
pub trait PlacedObject: fmt::Debug + Sync {
    /// The memory, which follows when it moves.
    fn memory(&self) -> &Memory;
    /// Where the object begins in it.
    fn offset(&self) -> usize;
    /// The name of its class.
    fn class(&self) -> &str;
    /// The lengths along the axes on a path of its fields, as far as they are the same for all items; none for a number.
    ///
    /// # Errors
    /// When there is no such path, or a reference on it is null.
    fn lengths(&self, path: &str) -> std::result::Result<Vec<usize>, Box<dyn std::error::Error + Send + Sync>>;
    /// The bytes of the object, and then of those that references on a path of its fields lead to.
    ///
    /// # Errors
    /// As [`lengths`](Self::lengths).
    fn extents(&self, path: &str) -> std::result::Result<Vec<Extent>, Box<dyn std::error::Error + Send + Sync>>;
    /// Whether its memory was not freed.
    fn is_alive(&self) -> bool;
    /// Keeps the memory in place until [`release`](Self::release): growth waits.
    fn hold(&self);
    /// Ends one [`hold`](Self::hold).
    fn release(&self);
    /// Keeps the object and the address of its memory as long as the result lives, for a bound kernel.
    ///
    /// # Errors
    /// When the device cannot keep the address.
    fn keep(&self) -> Result<Box<dyn Any + Send + Sync>>;
}

macro_rules! scalar_args {
    ($($rust:ty => $variant:ident as $wide:ty),* $(,)?) => { $(
        impl From<$rust> for Arg<'_> {
            fn from(value: $rust) -> Self {
                Arg::Scalar(Scalar::$variant(value as $wide))
            }
        }
    )* };
}
scalar_args! {
    bool => Bool as bool, i8 => Int as i128, i16 => Int as i128, i32 => Int as i128, i64 => Int as i128, isize => Int as i128,
    u8 => Int as i128, u16 => Int as i128, u32 => Int as i128, u64 => Int as i128, usize => Int as i128,
    f32 => Float as f64, f64 => Float as f64, Complex64 => Complex as Complex64,
}

impl<'a, T: Element> From<&'a Array<T>> for Arg<'a> {
    fn from(array: &'a Array<T>) -> Self {
        Arg::Memory { memory: array.memory(), dtype: Some(T::DTYPE), writable: false }
    }
}

impl<'a, T: Element> From<&'a mut Array<T>> for Arg<'a> {
    fn from(array: &'a mut Array<T>) -> Self {
        Arg::Memory { memory: array.memory(), dtype: Some(T::DTYPE), writable: true }
    }
}

impl<'a> From<&'a Memory> for Arg<'a> {
    fn from(memory: &'a Memory) -> Self {
        Arg::Memory { memory, dtype: None, writable: true }
    }
}

impl<'a> From<&'a mut Memory> for Arg<'a> {
    fn from(memory: &'a mut Memory) -> Self {
        Arg::Memory { memory, dtype: None, writable: true }
    }
}

impl<'a, T: Element> From<&'a [T]> for Arg<'a> {
    fn from(values: &'a [T]) -> Self {
        Arg::Host { bytes: as_bytes(values), dtype: T::DTYPE }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Arg<'a> {
    fn from(values: &'a mut [T]) -> Self {
        Arg::HostMut { bytes: as_bytes_mut(values), dtype: T::DTYPE }
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Arg<'a> {
    fn from(values: &'a Vec<T>) -> Self {
        Arg::from(values.as_slice())
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Arg<'a> {
    fn from(values: &'a mut Vec<T>) -> Self {
        Arg::from(values.as_mut_slice())
    }
}

impl<'a> From<&'a CStr> for Arg<'a> {
    fn from(text: &'a CStr) -> Self {
        Arg::Text(text)
    }
}

/// The arguments of a kernel call: scalars, `&array`, `&mut array`, slices.
///
/// ```
/// use parloop_kernel::{Context, args};
/// let ctx = Context::open("cpu:1")?;
/// let source = "GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }";
/// // SAFETY: all calls pass `n` elements.
/// let prog = unsafe { ctx.compile(source)? };
/// let mut x = ctx.array(&[1.0, 2.0])?;
/// prog.kernel("twice")?.call(args![&mut x, 2])?;
/// assert_eq!(x.to_vec()?, [2.0, 4.0]);
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
#[macro_export]
macro_rules! args {
    ($($arg:expr),* $(,)?) => { &mut [$($crate::Arg::from($arg)),*] };
}

/// The 16 bytes from which a kernel reads an argument: a scalar, an address or a handle.
pub type Slot = [u64; 2];

/// Converts a scalar to `dtype`; returns the reason if it does not fit.
///
/// # Errors
/// What is wrong with it.
pub fn encode(value: Scalar, dtype: DType) -> Result<Slot, ScalarMisfit> {
    use DType::*;
    let real = |value: Scalar| match value {
        Scalar::Bool(value) => Ok(f64::from(u8::from(value))),
        Scalar::Int(value) => Ok(value as f64),
        Scalar::Float(value) => Ok(value),
        Scalar::Complex(_) | Scalar::Address(_) => Err(ScalarMisfit::Type),
    };
    match dtype {
        Bool => match value {
            Scalar::Bool(value) => Ok([u64::from(value), 0]),
            Scalar::Int(value @ 0..=1) => Ok([value as u64, 0]),
            Scalar::Int(_) => Err(ScalarMisfit::Range),
            _ => Err(ScalarMisfit::Type),
        },
        F32 => Ok([u64::from(narrowed(real(value)?)?.to_bits()), 0]),
        F64 => Ok([real(value)?.to_bits(), 0]),
        C64 => {
            let value = match value {
                Scalar::Complex(value) => Complex32::new(narrowed(value.re)?, narrowed(value.im)?),
                other => Complex32::new(narrowed(real(other)?)?, 0.0),
            };
            Ok([u64::from(value.re.to_bits()) | u64::from(value.im.to_bits()) << 32, 0])
        }
        C128 => match value {
            Scalar::Complex(value) => Ok([value.re.to_bits(), value.im.to_bits()]),
            other => Ok([real(other)?.to_bits(), 0]),
        },
        _ => {
            let value = match value {
                Scalar::Int(value) => value,
                Scalar::Bool(value) => i128::from(value),
                _ => return Err(ScalarMisfit::Type),
            };
            let (low, high) = dtype.integer_range().unwrap_or((0, 0));
            if (low..=high).contains(&value) { Ok([value as u64, 0]) } else { Err(ScalarMisfit::Range) }
        }
    }
}

fn narrowed(wide: f64) -> Result<f32, ScalarMisfit> {
    let narrow = wide as f32;
    if narrow.is_infinite() && wide.is_finite() { Err(ScalarMisfit::Range) } else { Ok(narrow) }
}

/// Why a scalar cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarMisfit {
    /// It is of another kind: a complex number for a real one, a fraction for an integer.
    Type,
    /// It is too large or too small.
    Range,
}

/// Builds the errors for one parameter of one kernel.
pub struct Checker<'a> {
    /// The kernel's signature.
    pub signature: &'a Signature,
    /// The parameter's position.
    pub index: usize,
}

impl Checker<'_> {
    fn param(&self) -> &Param {
        &self.signature.params[self.index]
    }

    fn names(&self) -> (String, String, String) {
        (self.signature.name.clone(), self.param().name.clone(), self.param().ty.to_string())
    }

    /// What was given is of another type than what was declared.
    pub fn wrong_type(&self, given: impl Into<String>, hint: &'static str) -> KernelError {
        let (kernel, name, declared) = self.names();
        KernelError::WrongType { kernel, name, declared, given: given.into(), hint }
    }

    /// What was given cannot be written, but the parameter is not const.
    fn read_only(&self, given: &'static str) -> KernelError {
        let (kernel, name, declared) = self.names();
        KernelError::ReadOnly { kernel, name, declared, given }
    }

    /// The memory of the object was freed.
    pub(crate) fn freed(&self, class: &str) -> KernelError {
        let (kernel, name, _) = self.names();
        KernelError::Freed { kernel, name, class: class.into() }
    }

    /// The array has gaps.
    pub fn not_contiguous(&self) -> KernelError {
        let (kernel, name, declared) = self.names();
        KernelError::NotContiguous { kernel, name, declared }
    }

    /// The array's elements are not aligned.
    pub fn unaligned(&self) -> KernelError {
        let (kernel, name, declared) = self.names();
        KernelError::Unaligned { kernel, name, declared }
    }

    /// Stores a scalar for this parameter.
    ///
    /// # Errors
    /// [`KernelError::WrongType`], [`KernelError::OutOfRange`].
    pub fn scalar(&self, value: Scalar) -> Result<Slot> {
        let ParamType::Scalar(dtype) = self.param().ty else {
            return Err(self.wrong_type(describe(value), self.pointer_hint()));
        };
        encode(value, dtype).map_err(|misfit| match misfit {
            ScalarMisfit::Type => self.wrong_type(describe(value), ""),
            ScalarMisfit::Range => {
                let (kernel, name, declared) = self.names();
                KernelError::OutOfRange { kernel, name, declared, value: value.to_string(), dtype }
            }
        })
    }

    /// What to pass for this parameter, which is a pointer.
    pub fn pointer_hint(&self) -> &'static str {
        match self.param().ty {
            ParamType::Pointer { to: Pointee::Class(_), .. } => "pass an object of that class",
            _ => "pass an array",
        }
    }

    /// Checks that elements of `dtype` may be passed for this parameter.
    ///
    /// # Errors
    /// [`KernelError::WrongType`], [`KernelError::ReadOnly`].
    pub fn elements(&self, dtype: Option<DType>, writable: bool) -> Result<()> {
        let ParamType::Pointer { to, constant } = &self.param().ty else {
            return Err(self.wrong_type(array_of(dtype), "pass a single value"));
        };
        let fits = match (to, dtype) {
            (_, None) | (Pointee::Void, _) => true,
            (Pointee::Other(name), Some(given)) if is_pair_of(name, given) => true,
            (Pointee::Other(name), Some(given)) if let Some(element) = row_of(name).or_else(|| vector_of(name)) => match element {
                ctype::Scalar::Value(declared) => declared == given,
                _ => given.size() == 1,
            },
            (Pointee::Struct(_), Some(_)) => true,
            (Pointee::Other(_) | Pointee::Pointers(_), Some(_)) => {
                return Err(self.wrong_type(array_of(dtype), "its type was not found in the source; pass memory, such as `array.memory`"));
            }
            (Pointee::Scalar(declared) | Pointee::Rows(declared, _), Some(given)) => *declared == given,
            (Pointee::Char, Some(given)) => given.size() == 1,
            (Pointee::Class(_), Some(_)) => return Err(self.wrong_type(array_of(dtype), self.pointer_hint())),
        };
        if !fits {
            return Err(self.wrong_type(array_of(dtype), "convert it first"));
        }
        if !writable && !constant { Err(self.read_only(if dtype.is_some() { "array" } else { "memory" })) } else { Ok(()) }
    }

    /// Checks that an object of `class` may be passed for this parameter.
    ///
    /// # Errors
    /// [`KernelError::WrongType`], [`KernelError::ReadOnly`].
    pub fn object(&self, class: &str, writable: bool) -> Result<()> {
        let given = || format!("an object of class `{class}`");
        let ParamType::Pointer { to, constant } = &self.param().ty else {
            return Err(self.wrong_type(given(), "pass a single value"));
        };
        match to {
            Pointee::Class(declared) if declared == class => {}
            Pointee::Void | Pointee::Struct(_) | Pointee::Other(_) | Pointee::Pointers(_) => {}
            Pointee::Class(_) => return Err(self.wrong_type(given(), "")),
            Pointee::Scalar(_) | Pointee::Char | Pointee::Rows(..) => return Err(self.wrong_type(given(), "pass an array")),
        }
        if !writable && !constant { Err(self.read_only("object")) } else { Ok(()) }
    }
}

/// The element type of rows whose length the source leaves open.
fn row_of(name: &str) -> Option<ctype::Scalar> {
    if name.ends_with('*') { None } else { plain(&words(name)) }
}

/// The numbers of which a type of short vectors is made: `float4`, `uchar16`.
fn vector_of(name: &str) -> Option<ctype::Scalar> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if !matches!(&name[base.len()..], "2" | "3" | "4" | "8" | "16") {
        return None;
    }
    let (unsigned, base) = base.strip_prefix('u').map_or(("", base), |base| ("unsigned ", base));
    let is_base = matches!(base, "char" | "short" | "int" | "long" | "float" | "double");
    is_base.then(|| plain(&words(&format!("{unsigned}{base}"))))?
}

/// Whether a type of short vectors holds the two parts of a complex number.
fn is_pair_of(name: &str, given: DType) -> bool {
    matches!((name, given), ("float2", DType::C64) | ("double2", DType::C128))
}

fn array_of(dtype: Option<DType>) -> String {
    dtype.map_or_else(|| "memory".into(), |dtype| format!("an array of {dtype}"))
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(value) => value.fmt(f),
            Scalar::Int(value) => value.fmt(f),
            Scalar::Float(value) => value.fmt(f),
            Scalar::Complex(value) => value.fmt(f),
            Scalar::Address(value) => write!(f, "{value:#x}"),
        }
    }
}

fn describe(value: Scalar) -> String {
    let kind = match value {
        Scalar::Bool(_) => "the truth value",
        Scalar::Int(_) => "the integer",
        Scalar::Float(_) => "the number",
        Scalar::Complex(_) => "the complex number",
        Scalar::Address(_) => "the address",
    };
    match value {
        // `2.0` is not an integer and is printed as `2.0`.
        Scalar::Float(value) => format!("{kind} {value:?}"),
        value => format!("{kind} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn vectors_take_arrays_of_their_numbers() {
        let takes = |name: &str, dtype| {
            let param = Param { name: "x".into(), ty: ParamType::Pointer { to: Pointee::Other(name.into()), constant: false } };
            let signature = Signature {
                name: "f".into(),
                params: vec![param],
                returns: None,
                is_kernel: true,
                needs_description: false,
                is_recorded: false,
                loops: Vec::new(),
                loops_align: true,
                line: 1,
            };
            Checker { signature: &signature, index: 0 }.elements(Some(dtype), true).is_ok()
        };
        for (name, dtype) in
            [("float4", DType::F32), ("uchar16", DType::U8), ("double2", DType::F64), ("double2", DType::C128), ("float2", DType::C64)]
        {
            assert!(takes(name, dtype), "{name} {dtype}");
        }
        for (name, dtype) in
            [("float4", DType::F64), ("float4", DType::C64), ("double3", DType::C128), ("int_fast32_t", DType::I32), ("real4", DType::F32)]
        {
            assert!(!takes(name, dtype), "{name} {dtype}");
        }
    }

    #[test]
    fn integers_are_checked_against_the_range_of_their_type() {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_integer()) {
            let (low, high) = dtype.integer_range().unwrap();
            for fits in [low, high, 0] {
                assert_eq!(encode(Scalar::Int(fits), dtype).unwrap()[0], fits as u64);
            }
            for misfit in [low - 1, high + 1] {
                assert_eq!(encode(Scalar::Int(misfit), dtype), Err(ScalarMisfit::Range));
            }
            assert_eq!(encode(Scalar::Float(1.0), dtype), Err(ScalarMisfit::Type));
        }
    }

    #[test]
    fn numbers_too_large_for_float_are_refused_and_infinity_is_kept() {
        assert_eq!(encode(Scalar::Float(1e300), DType::F32), Err(ScalarMisfit::Range));
        assert_eq!(encode(Scalar::Float(f64::INFINITY), DType::F32).unwrap()[0], u64::from(f32::INFINITY.to_bits()));
        assert_eq!(encode(Scalar::Complex(Complex64::new(1.0, 2.0)), DType::F64), Err(ScalarMisfit::Type));
    }

    proptest! {
        #[test]
        fn doubles_keep_every_bit(bits: u64) {
            prop_assert_eq!(encode(Scalar::Float(f64::from_bits(bits)), DType::F64).unwrap(), [bits, 0]);
        }
    }
}
