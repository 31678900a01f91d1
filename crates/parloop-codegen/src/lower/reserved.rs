//! Reserved names in the language of a target.

use parloop_ir::syntax::{LoopKernel, Target, Type};
use parloop_isl::Name;

use super::LowerError;

/// Keywords of C, which all targets have.
const C: &str = "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict \
    return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false asm typeof NULL NAN INFINITY \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t";
/// Other names that C headers, compilers and the texts around kernels define.
const HOST: &str = "unix linux EOF errno stdin stdout stderr HUGE_VAL HUGE_VALF HUGE_VALL math_errhandling MATH_ERRNO MATH_ERREXCEPT SIZE_MAX \
    PTRDIFF_MIN PTRDIFF_MAX SIG_ATOMIC_MIN SIG_ATOMIC_MAX WCHAR_MIN WCHAR_MAX WINT_MIN WINT_MAX GPUKERN GPUFUN GPUGLMEM GPURESTRICT \
    VECTORIZE_OVER END_VECTORIZE";
const CPP: &str = "alignas alignof and and_eq bitand bitor catch class compl concept const_cast constexpr decltype delete dynamic_cast explicit \
    export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires \
    static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq blockIdx threadIdx \
    blockDim gridDim warpSize";
const OPENCL: &str = "kernel global local constant private half uchar ushort uint ulong event_t sampler_t image1d_t image2d_t image3d_t \
    read_only write_only read_write generic pipe vec_step MAXFLOAT HUGE_VAL HUGE_VALF CHAR_BIT CHAR_MAX \
    CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX";
const ISPC: &str = "uniform varying foreach foreach_active foreach_tiled foreach_unique launch sync task export soa unmasked new delete cif cfor \
    cwhile cdo cbreak ccontinue creturn programIndex programCount taskIndex taskCount int8 int16 int32 int64 uint8 uint16 uint32 uint64 \
    float16 half reference";
/// C library functions, whose names a host function cannot have.
const FUNCTIONS: &str = "main abs labs div exit abort atexit malloc calloc realloc free rand srand qsort exp exp2 expm1 log log2 log10 log1p pow sqrt \
    cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil floor trunc rint fabs fmin \
    fmax fmod fma ldexp frexp modf j0 j1 jn y0 y1 yn copysign nan signbit isnan isinf isfinite memcpy memset memmove";
/// Types of OpenCL that have vectors, which have a number behind.
const VECTORS: [&str; 11] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"];

/// Checks that no name of the kernel is reserved.
pub(super) fn check(kernel: &LoopKernel, target: Target) -> Result<(), LowerError> {
    let arguments = kernel.arguments.iter().map(|argument| (&argument.name, "argument"));
    let temporaries = kernel.temporaries.keys().map(|name| (name, "temporary"));
    let inames = kernel.inames.keys().map(|name| (name, "iname"));
    for (name, what) in arguments.chain(temporaries).chain(inames) {
        if is_reserved(name, target) {
            return Err(LowerError::ReservedName { name: name.clone(), what, target });
        }
    }
    let types = kernel.arguments.iter().map(|argument| &argument.ty).chain(kernel.temporaries.values().map(|temporary| &temporary.ty));
    for ty in types {
        let Some(Type::Record(record)) = ty else { continue };
        // Gaps are members of that name.
        let is_taken = |name: &Name| is_reserved(name, target) || name.starts_with("pad_at_");
        if let Some(field) = record.fields().iter().find(|field| is_taken(&field.name)) {
            return Err(LowerError::ReservedName { name: field.name.clone(), what: "field", target });
        }
    }
    let name = &kernel.name;
    let is_function = target == Target::C && has_word(FUNCTIONS, name);
    if is_function || is_reserved(name, target) || target == Target::OpenCl && name.starts_with("convert_") {
        return Err(LowerError::ReservedName { name: name.clone(), what: "kernel", target });
    }
    Ok(())
}

/// Whether a list of words with one space between them has a word.
fn has_word(list: &str, word: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
    let bytes = list.as_bytes();
    list.match_indices(word)
        .any(|(at, _)| is_end(at.checked_sub(1).and_then(|before| bytes.get(before))) && is_end(bytes.get(at + word.len())))
}

fn is_reserved(name: &Name, target: Target) -> bool {
    let further = match target {
        Target::C => HOST,
        Target::Cuda | Target::Hip => CPP,
        Target::OpenCl => OPENCL,
        Target::Ispc => ISPC,
    };
    let is_vector = || {
        let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let ty = &name[..name.len() - digits.len()];
        matches!(digits, "2" | "3" | "4" | "8" | "16") && VECTORS.contains(&ty)
    };
    let is_compilers = || {
        let rest = name.strip_prefix('_').unwrap_or("a");
        rest.starts_with(|letter: char| letter == '_' || letter.is_ascii_uppercase())
    };
    let is_constant = || match target {
        Target::C => has_prefix(name, &["M_", "FP_"]) || is_limit(name),
        Target::OpenCl => has_prefix(name, &["M_", "FP_", "FLT_", "DBL_", "HALF_", "CLK_", "CL_"]),
        Target::Cuda | Target::Hip | Target::Ispc => false,
    };
    is_compilers() || is_constant() || has_word(C, name) || has_word(further, name) || target == Target::OpenCl && is_vector()
}

fn has_prefix(name: &Name, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether it is a constant or a macro of `stdint.h`, such as `INT32_MAX` or `UINT_FAST8_MAX`.
fn is_limit(name: &Name) -> bool {
    let Some((ty, "MAX" | "MIN" | "C" | "WIDTH")) = name.rsplit_once('_') else { return false };
    let ty = ty.strip_prefix('U').unwrap_or(ty);
    let Some(width) = ty.strip_prefix("INT") else { return false };
    let width = ["_LEAST", "_FAST"].iter().find_map(|kind| width.strip_prefix(kind)).unwrap_or(width);
    ["8", "16", "32", "64", "MAX", "PTR"].contains(&width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_and_at_both_ends() {
        for list in [C, HOST, CPP, OPENCL, ISPC, FUNCTIONS] {
            assert!(!list.contains("  ") && !list.contains('\n'), "{list}");
            assert!(list.split(' ').all(|word| has_word(list, word)));
        }
        for name in ["INT32_MAX", "UINT_FAST8_MAX", "INTPTR_MIN", "UINT64_C", "M_PI", "_Bool", "__x", "GPUKERN", "HUGE_VAL"] {
            assert!(is_reserved(&name.into(), Target::C), "{name}");
        }
        for name in ["N_MAX", "INT_X", "POINT_MAX", "_x", "_", "UINT", "M", "CLK"] {
            assert!(!is_reserved(&name.into(), Target::C) && !is_reserved(&name.into(), Target::OpenCl), "{name}");
        }
        assert!(!has_word(C, "shor") && !has_word(C, "igned") && !has_word(C, "uintptr") && !has_word(C, "int x"));
    }
}
