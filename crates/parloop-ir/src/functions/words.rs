//! Keywords of the targets' languages: function specifiers and type names.

use parloop_device::DType;

use crate::syntax::Target;

/// The specifiers of a function that only generated code calls.
pub(super) fn function_words(target: Target) -> &'static str {
    match target {
        Target::Cuda | Target::Hip => "static __device__ inline",
        _ => "static inline",
    }
}

/// The name of a type in the target's own language, without any header of ours.
pub(super) fn native_type(dtype: DType, target: Target) -> &'static str {
    match (target, dtype) {
        (Target::OpenCl, DType::I8) => "char",
        (Target::OpenCl, DType::U8) => "uchar",
        (Target::OpenCl, DType::U16) => "ushort",
        (Target::OpenCl, DType::U32) => "uint",
        (Target::OpenCl, DType::I64) => "long",
        (Target::OpenCl, DType::U64) => "ulong",
        (Target::Cuda | Target::Hip, DType::I8) => "signed char",
        (Target::Cuda | Target::Hip, DType::U8) => "unsigned char",
        (Target::Cuda | Target::Hip, DType::U16) => "unsigned short",
        (Target::Cuda | Target::Hip, DType::U32) => "unsigned int",
        (Target::Cuda | Target::Hip, DType::I64) => "long",
        (Target::Cuda | Target::Hip, DType::U64) => "unsigned long",
        (Target::OpenCl | Target::Cuda | Target::Hip, DType::I16) => "short",
        (Target::OpenCl | Target::Cuda | Target::Hip, DType::I32) => "int",
        (Target::OpenCl | Target::Cuda | Target::Hip, DType::C64) => "float2",
        (Target::OpenCl | Target::Cuda | Target::Hip, DType::C128) => "double2",
        (Target::Ispc, _) if dtype.is_integer() => dtype.name(),
        _ => dtype.c_name(),
    }
}
