//! Declarations of the built-in functions of OpenCL that a source uses. Compilers made of clang declare all of them in a header of 18,000
//! lines, which takes ten times as long to read as a kernel.

use std::collections::BTreeSet;
use std::fmt::Write;

const INTEGERS: [&str; 8] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
const FLOATS: [&str; 2] = ["float", "double"];
const LENGTHS: [&str; 6] = ["", "2", "3", "4", "8", "16"];

/// Parameters of functions whose types go together: `t` is the type, `s` the type of one of its components, `i` integers of as many
/// components, `u` the unsigned type of the same size.
struct Family {
    result: char,
    params: &'static str,
    names: &'static str,
}

/// Functions of floating-point numbers.
const OF_FLOATS: [Family; 7] = [
    Family {
        result: 't',
        params: "t",
        names: "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi degrees erf erfc exp exp10 exp2 expm1 fabs \
                floor lgamma log log10 log1p log2 logb radians rint round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma trunc",
    },
    Family {
        result: 't',
        params: "tt",
        names: "atan2 atan2pi copysign fdim fmax fmin fmod hypot max maxmag min minmag nextafter pow powr remainder",
    },
    Family { result: 't', params: "ts", names: "fmax fmin max min" },
    Family { result: 't', params: "ttt", names: "clamp fma mad mix" },
    Family { result: 't', params: "tss", names: "clamp" },
    Family { result: 't', params: "tts", names: "mix" },
    Family { result: 't', params: "ti", names: "ldexp pown rootn" },
];

/// Functions of integers.
const OF_INTEGERS: [Family; 7] = [
    Family { result: 'u', params: "t", names: "abs" },
    Family { result: 'u', params: "tt", names: "abs_diff" },
    Family { result: 't', params: "t", names: "clz popcount" },
    Family { result: 't', params: "tt", names: "add_sat hadd max min mul_hi rhadd rotate sub_sat" },
    Family { result: 't', params: "ts", names: "max min" },
    Family { result: 't', params: "ttt", names: "clamp mad_hi mad_sat" },
    Family { result: 't', params: "tss", names: "clamp" },
];

const TESTS: &str = "isfinite isinf isnan isnormal signbit";
const PLACES: &str = "get_global_id get_global_offset get_global_size get_group_id get_local_id get_local_size get_num_groups";
const FENCES: &str = "mem_fence read_mem_fence write_mem_fence";
const ATOMICS: &str = "add and max min or sub xchg xor";

/// The declarations of those functions that are named in a source. Of each function they are either all there or none: a number would
/// be converted where its own type is missing.
pub(crate) fn declarations(source: &str) -> String {
    let words: BTreeSet<&str> = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let used = |names: &'static str| names.split_whitespace().filter(|name| words.contains(name));
    let mut text = String::new();
    for family in &OF_FLOATS {
        for name in used(family.names) {
            FLOATS.into_iter().for_each(|number| declare(&mut text, family, name, number));
        }
    }
    for family in &OF_INTEGERS {
        for name in used(family.names) {
            INTEGERS.into_iter().for_each(|number| declare(&mut text, family, name, number));
        }
    }
    for name in used(TESTS) {
        for length in LENGTHS {
            // A test of vectors has results of the same size.
            let of_doubles = if length.is_empty() { "int" } else { "long" };
            function(&mut text, &format!("int{length}"), name, &[format!("float{length}")]);
            function(&mut text, &format!("{of_doubles}{length}"), name, &[format!("double{length}")]);
        }
    }
    used(PLACES).for_each(|name| function(&mut text, "size_t", name, &["uint".into()]));
    if words.contains("get_work_dim") {
        function(&mut text, "uint", "get_work_dim", &["void".into()]);
    }
    if words.contains("barrier") {
        text.push_str("void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);\n");
    }
    used(FENCES).for_each(|name| _ = writeln!(text, "void __attribute__((overloadable)) {name}(cl_mem_fence_flags);"));
    for (prefix, types) in [("atomic", &INTEGERS[4..6]), ("atom", &INTEGERS[4..8])] {
        for number in types {
            for space in ["__global", "__local"] {
                let mut atomic = |name: &str, values: &str| {
                    let name = format!("{prefix}_{name}");
                    if words.contains(name.as_str()) {
                        let values = values.replace('t', &format!(", {number}"));
                        _ = writeln!(text, "{number} __attribute__((overloadable)) {name}(volatile {space} {number} *{values});");
                    }
                };
                ATOMICS.split(' ').for_each(|name| atomic(name, "t"));
                [("inc", ""), ("dec", ""), ("cmpxchg", "tt")].into_iter().for_each(|(name, values)| atomic(name, values));
            }
        }
    }
    for word in &words {
        convert(&mut text, word);
    }
    if words.contains("atomic_xchg") {
        for space in ["__global", "__local"] {
            _ = writeln!(text, "float __attribute__((overloadable)) atomic_xchg(volatile {space} float *, float);");
        }
    }
    text
}

fn declare(text: &mut String, family: &Family, name: &str, number: &str) {
    for length in LENGTHS {
        // Of one component, these are the same.
        if length.is_empty() && family.params.contains('s') {
            continue;
        }
        let ty = |kind: char| match kind {
            's' => number.to_owned(),
            'i' => format!("int{length}"),
            'u' if !number.starts_with('u') => format!("u{number}{length}"),
            _ => format!("{number}{length}"),
        };
        function(text, &ty(family.result), name, &family.params.chars().map(ty).collect::<Vec<_>>());
        if name == "ldexp" && !length.is_empty() {
            function(text, &ty('t'), name, &[ty('t'), "int".into()]);
        }
    }
}

/// Declares a conversion: `convert_int4_sat_rte`.
fn convert(text: &mut String, word: &str) {
    let Some(rest) = word.strip_prefix("convert_") else { return };
    let unrounded = ["_rte", "_rtz", "_rtp", "_rtn"].iter().find_map(|rounding| rest.strip_suffix(rounding)).unwrap_or(rest);
    let result = unrounded.strip_suffix("_sat").unwrap_or(unrounded);
    let number = result.trim_end_matches(|c: char| c.is_ascii_digit());
    let length = &result[number.len()..];
    let is_saturated = result.len() < unrounded.len();
    let is_known = INTEGERS.contains(&number) || FLOATS.contains(&number) && !is_saturated;
    if is_known && LENGTHS.contains(&length) {
        INTEGERS.iter().chain(&FLOATS).for_each(|from| function(text, result, word, &[format!("{from}{length}")]));
    }
}

/// One of numbers alone, whose result depends on nothing else.
fn function(text: &mut String, result: &str, name: &str, params: &[String]) {
    _ = writeln!(text, "{result} __attribute__((overloadable, const)) {name}({});", params.join(", "));
}

#[cfg(test)]
mod tests {
    use parloop_device::{CompileError, Compiler, Device, DeviceKind};

    use super::*;

    const ALL: [&str; 4] = [
        TESTS,
        PLACES,
        FENCES,
        "get_work_dim barrier atomic_xchg atom_cmpxchg atomic_inc convert_int convert_uchar4_sat convert_float_rtz",
    ];

    #[test]
    fn only_what_is_used_is_declared_but_that_for_all_types() {
        assert_eq!(declarations("get_global_id(0) + my_max(x)"), "size_t __attribute__((overloadable, const)) get_global_id(uint);\n");
        let found = declarations("max");
        assert_eq!(found.lines().count(), 10 * 6 + 10 * 5);
        for one in [
            "ulong __attribute__((overloadable, const)) max(ulong, ulong);",
            "double3 __attribute__((overloadable, const)) max(double3, double);",
        ] {
            assert_eq!(found.matches(one).count(), 1, "{one}");
        }
        for word in ["convert_float_sat", "convert_bool", "convert_int5", "convert_", "convert_int_up"] {
            assert_eq!(declarations(word), "", "{word}");
        }
        assert_eq!(declarations("convert_long2_sat_rtn").lines().count(), 10);
    }

    /// The compiler of PoCL, where it is installed.
    fn pocl() -> Option<std::sync::Arc<dyn Compiler>> {
        let devices = Device::list().into_iter().filter(|device| device.kind() == DeviceKind::OpenCl);
        let mut compilers = devices.filter_map(|device| device.compiler().ok());
        compilers.find(|compiler| !compiler.without_headers().is_empty())
    }

    /// Lines that hold a number to the type that a call has.
    fn uses(families: &[Family], numbers: &[&str]) -> String {
        let mut text = String::new();
        for (family, number) in families.iter().flat_map(|family| numbers.iter().map(move |number| (family, *number))) {
            for (name, length) in family.names.split_whitespace().flat_map(|name| LENGTHS.map(|length| (name, length))) {
                let ty = |kind: char| match kind {
                    's' => number.to_owned(),
                    'i' => format!("int{length}"),
                    'u' if !number.starts_with('u') => format!("u{number}{length}"),
                    _ => format!("{number}{length}"),
                };
                let values: Vec<String> = family.params.chars().map(|kind| format!("({})1", ty(kind))).collect();
                _ = writeln!(text, "{{ {} *p = (__typeof__({name}({}))*)0; *n += p == 0; }}", ty(family.result), values.join(", "));
            }
        }
        text
    }

    #[test]
    fn declarations_are_those_of_the_header() {
        let Some(compiler) = pocl() else { return println!("skipped: PoCL is not installed") };
        let calls = uses(&OF_FLOATS, &FLOATS) + &uses(&OF_INTEGERS, &INTEGERS);
        // By themselves, and beside the header.
        for options in [&["-Werror", "-D_OPENCL_H_"][..], &["-Werror"]] {
            let options: Vec<String> = options.iter().map(|option| option.to_string()).collect();
            let text = format!("{}{}__kernel void k(__global int *n) {{\n{calls}}}\n", declarations(&calls), declarations(&ALL.join(" ")));
            compiler.compile(&text, &options).unwrap_or_else(|error| panic!("{error}"));
        }
        // Numbers of every type are compared as what they are.
        let text = "__kernel void k(__global int *n) { *n = max(1l << 40, 1l) > 1; }";
        let alone = |text: &str| compiler.compile(&(declarations(text) + text), &["-D_OPENCL_H_".to_owned()]);
        alone(text).unwrap();
        // What is not declared is refused, and not taken for a function of any numbers.
        for call in ["dot((float2)1, (float2)1)", "mad24(1, 2, 3)", "native_sin(1.0f)", "nowhere(1)"] {
            assert!(matches!(alone(&text.replace("max(1l << 40, 1l)", call)), Err(CompileError::Refused { .. })), "{call}");
        }
    }
}
