//! Names that some compiler, its built-in functions or the headers of the prelude already use. A kernel may have them all the same:
//! it is compiled under another name.

use parloop_device::DeviceKind;

/// Whether a function of that name is compiled under another for `target`.
pub(crate) fn is_reserved(name: &str, target: DeviceKind) -> bool {
    let has_attributes = matches!(target, DeviceKind::Cuda | DeviceKind::Hip);
    !(has_attributes && ATTRIBUTES.contains(&name)) && NAMES.iter().any(|line| line.split(' ').any(|reserved| reserved == name))
}

/// CUDA's and HIP's own macros use these as words, and no more than that: functions may have them, macros may not.
const ATTRIBUTES: [&str; 6] = ["global", "constant", "device", "host", "shared", "managed"];

const NAMES: [&str; 16] = [
    // The C library.
    "main abort abs atexit atof atoi atol bsearch calloc div drand48 erand48 exit free getenv index jrand48 labs ldiv malloc memchr",
    "memcmp memcpy memmove memset mblen mktemp printf putenv puts qsort rand random read realloc remove rename rewind rindex scanf select",
    "setenv signal srand srandom strcat strchr strcmp strcpy strdup strlen strstr strtod strtol swab system time wait write",
    // Mathematics, in C, OpenCL and CUDA.
    "acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi cbrt ceil copysign cos cosh cospi drem erf erfc erfcinv erfinv exp",
    "exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod fract frexp gamma hypot ilogb isfinite isinf isnan j0 j1 jn ldexp lgamma",
    "llrint llround log log10 log1p log2 logb lrint lround mad maxmag minmag modf nan nearbyint nextafter nexttoward norm normcdf pow pown",
    "powr remainder remquo rint rootn round rsqrt scalb scalbln scalbn signbit significand sin sincos sinh sinpi sqrt tan tanh tanpi tgamma",
    "trunc y0 y1 yn",
    // Built-in functions of OpenCL and CUDA.
    "abs_diff add_sat all any barrier bitselect clamp clock clz cross ctz degrees distance dot hadd isequal isgreater isless isnormal",
    "isordered length mad24 mad_hi mad_sat max mem_fence min mix mul24 mul_hi normalize popcount prefetch radians rhadd rotate shuffle",
    "sign smoothstep step sub_sat upsample vload2 vload4 vstore2 vstore4 assert saturate",
    // Words of OpenCL C.
    "kernel global local constant private generic half uchar ushort uint ulong image sampler_t event_t bool true false",
    // Words of C++.
    "alignas alignof and asm auto catch class compl concept consteval constexpr decltype delete dynamic_cast explicit export friend",
    "mutable namespace new noexcept not nullptr operator or protected public reinterpret_cast requires static_assert static_cast template",
    "this thread_local throw try typeid typename using virtual wchar_t xor",
    // Our own.
    "atomicAdd atomicCAS",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_reserved_and_no_parts_of_them() {
        for target in DeviceKind::ALL {
            assert!(["main", "step", "new", "sin", "xor"].iter().all(|name| is_reserved(name, target)));
            assert!(!["mai", "axpy", "steps", "", "sin cos"].iter().any(|name| is_reserved(name, target)));
        }
        assert!(is_reserved("global", DeviceKind::OpenCl) && !is_reserved("global", DeviceKind::Cuda));
    }
}
