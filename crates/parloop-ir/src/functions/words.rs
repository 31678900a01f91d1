//! Keywords of the targets' languages: function specifiers and type names.

use parloop_device::DType;

use crate::syntax::{Target, lane_name};

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

/// The type of a vector in the target's language: its own in OpenCL, else a struct of ours ([`vector_definition`]).
pub fn vector_type(dtype: DType, lanes: u8, target: Target) -> String {
    let base = match dtype {
        DType::I8 => "char",
        DType::U8 => "uchar",
        DType::I16 => "short",
        DType::U16 => "ushort",
        DType::I32 => "int",
        DType::U32 => "uint",
        DType::I64 => "long",
        DType::U64 => "ulong",
        DType::F32 => "float",
        _ => "double",
    };
    let own = if target == Target::OpenCl { "" } else { "pl_" };
    format!("{own}{base}{lanes}")
}

/// The function that makes a vector of its lanes, where the language has no expression for it.
pub fn vector_maker(dtype: DType, lanes: u8, target: Target) -> String {
    format!("pl_make_{}", vector_type(dtype, lanes, target).trim_start_matches("pl_"))
}

/// The struct and the function of a vector type. On a GPU the struct is aligned, so that it is loaded at once; host memory is only as aligned
/// as its numbers are.
pub fn vector_definition(dtype: DType, lanes: u8, target: Target) -> String {
    let (ty, number) = (vector_type(dtype, lanes, target), native_type(dtype, target));
    let names: Vec<_> = (0..lanes).map(|lane| lane_name(lane, lanes)).collect();
    let members = names.iter().map(|name| name.as_str()).chain((lanes == 3).then_some("pad")).collect::<Vec<_>>().join(", ");
    let alignment = match vector_alignment(dtype, lanes, target) {
        bytes if bytes == dtype.size() => String::new(),
        bytes => format!(" __attribute__ ((aligned({bytes})))"),
    };
    let params = names.iter().map(|name| format!("{number} {name}")).collect::<Vec<_>>().join(", ");
    let pad = if lanes == 3 { "  v.pad = 0;\n" } else { "" };
    let sets: String = names.iter().map(|name| format!("  v.{name} = {name};\n")).collect();
    let (words, maker) = (function_words(target), vector_maker(dtype, lanes, target));
    format!(
        "typedef struct{alignment} {{ {number} {members}; }} {ty};\n{words} {ty} {maker}({params})\n{{\n  {ty} v;\n{sets}{pad}  return v;\n}}\n"
    )
}

/// The alignment of vectors in memory, in bytes.
pub fn vector_alignment(dtype: DType, lanes: u8, target: Target) -> usize {
    let size = dtype.size() * usize::from(lanes).next_power_of_two();
    match target {
        Target::C | Target::Ispc => dtype.size(),
        Target::OpenCl => size,
        Target::Cuda | Target::Hip => size.min(16),
    }
}
