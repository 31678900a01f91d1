//! The C library on the other targets. There its functions have versions for each type, and integers fit several of them; in C `sqrt`
//! takes a double and `sqrtf` a float, whatever is passed. So plain C calls functions of ours that have one type each.

use parloop_device::DeviceKind;

/// Functions of real numbers, with the number of their parameters.
const REAL: [(&str, usize); 3] = [
    (
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p log2 rint round sin \
         sinh sqrt tan tanh tgamma trunc",
        1,
    ),
    ("atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder", 2),
    ("fma", 3),
];

/// Functions of integers, which elsewhere give another type or take any.
const INTEGER: [(&str, &str); 3] = [("abs", "int"), ("labs", "long"), ("llabs", "long")];

/// What the function of ours is called that stands for one of the C library.
pub(super) fn own_name(name: &str) -> String {
    format!("parloop_c_{name}")
}

/// The function of ours that stands for one of the C library; `None` where there is none.
pub(super) fn stand_in(target: DeviceKind, name: &str) -> Option<String> {
    let head = match target {
        DeviceKind::Cpu => return None,
        DeviceKind::OpenCl => "static inline",
        DeviceKind::Cuda | DeviceKind::Hip => "static __device__ __forceinline__",
    };
    let own = own_name(name);
    let text = if let Some((_, ty)) = INTEGER.iter().find(|(integer, _)| *integer == name) {
        format!("{head} {ty} {own}({ty} x) {{ return x < 0 ? -x : x; }}")
    } else {
        let count = |name: &str| REAL.iter().find(|(names, _)| names.split_whitespace().any(|real| real == name)).map(|(_, count)| *count);
        let (ty, called, count) = match count(name) {
            Some(count) => ("PARLOOP_C_DOUBLE", name, count),
            // Only OpenCL has no name for the function of floats.
            None if target == DeviceKind::OpenCl => {
                let base = name.strip_suffix('f')?;
                ("float", base, count(base)?)
            }
            None => return None,
        };
        let names = &["x", "y", "z"][..count];
        let params: Vec<String> = names.iter().map(|param| format!("{ty} {param}")).collect();
        format!("{head} {ty} {own}({}) {{ return {called}({}); }}", params.join(", "), names.join(", "))
    };
    // Several texts may want it.
    Some(format!("#ifndef PARLOOP_C_{name}\n#define PARLOOP_C_{name}\n{text}\n#endif\n"))
}

/// The text with what it may use of the C library that is not a function, and with those functions of ours.
pub(super) fn around(target: DeviceKind, text: &str, functions: &str) -> String {
    match target {
        DeviceKind::Cpu => complex_words(text),
        _ => format!("{}{functions}{text}", constants(target)),
    }
}

/// Whether a directive is one of those around the text for a CPU.
pub(super) fn is_around(directive: &str) -> bool {
    matches!(directive.trim(), "#define complex _Complex" | "#define I _Complex_I" | "#undef complex" | "#undef I")
}

/// Generated code takes the words `complex` and `I` from `complex.h` away, since they may be names there.
fn complex_words(text: &str) -> String {
    if !text.contains("complex") {
        return text.to_owned();
    }
    let front = "#include <complex.h>\n#undef complex\n#define complex _Complex\n#undef I\n#define I _Complex_I\n";
    format!("{front}{text}#undef I\n#undef complex\n")
}

/// Numbers and types that the C library has and the target may lack; told once, however many texts there are.
fn constants(target: DeviceKind) -> &'static str {
    match target {
        DeviceKind::Cpu => "",
        DeviceKind::OpenCl => include_str!("opencl.h"),
        DeviceKind::Cuda | DeviceKind::Hip => concat!(include_str!("../prelude/math_constants.h"), include_str!("device.h")),
    }
}
