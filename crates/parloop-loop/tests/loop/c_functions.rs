//! Functions in plain C that loop kernels call: every form of parameter, on every device.

use std::sync::Arc;

use parloop_device::{Complex64, DType};
use parloop_kernel::{Arg, Context, KernelError};
use parloop_loop::callable::{Access, CFunction, SourceOptions};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, LoopArg, target_of};
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::{Tags, register_callable, tag_inames};

use super::run::contexts;

fn function_of(source: &str, name: &str) -> Result<CFunction, KernelError> {
    // SAFETY: the functions of these tests stay inside what the kernels of these tests pass.
    unsafe { CFunction::parse(source, name) }
}

/// The elements of a mesh of triangles in a row, each of which reads the two coordinates of its three points and adds to them.
fn mesh_loop(source: &str, name: &str) -> Program {
    let function = function_of(source, name).unwrap_or_else(|error| panic!("{error}"));
    with_function(function.with_access([Access::Read, Access::ReadWrite]))
}

fn with_function(function: CFunction) -> Program {
    let name = function.signature().name.clone();
    let program = KernelBuilder::new()
        .name("mesh_loop")
        .domain("{[e, i, d, i1, d1, i2, d2, i3, d3, i4, d4]: 0<=e<n and 0<=i, i1, i2, i3, i4<3 and 0<=d, d1, d2, d3, d4<2}")
        .instructions(format!(
            "t0[i,d] = x[map[e,i], d] {{id=in}}
             t1[i1,d1] = 0.0 {{id=zero, inames=+e}}
             [i3,d3]: t1[i3,d3] = {name}([i2,d2]: t0[i2,d2], [i3,d3]: t1[i3,d3]) {{id=call, dep=in:zero}}
             out[map[e,i4], d4] = out[map[e,i4], d4] + t1[i4,d4] {{dep=call}}"
        ))
        .data(Data::global("x, out").dtype("float64").shape("m, 2"))
        .data(Data::global("map").dtype("int32").shape("n, 3"))
        .data(Data::temporary("t0, t1").dtype("float64").shape("3, 2"))
        .rest()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let program = register_callable(&program, &name, Arc::new(function), false).unwrap();
    let tags = "i:unr, d:unr, i1:unr, d1:unr, i4:unr, d4:unr".parse::<Tags>().unwrap();
    let kernel = tag_inames(program.entry().unwrap(), &tags).unwrap();
    program.with_kernel(kernel)
}

fn run(program: &Program) {
    let (n, m) = (5usize, 7usize);
    let map: Vec<i32> = (0..n as i32).flat_map(|e| [e, e + 2, e + 1]).collect();
    let x: Vec<f64> = (0..2 * m).map(|at| (at * at % 11) as f64 - 3.0).collect();
    let mut expected = vec![1.0; 2 * m];
    for row in map.chunks(3) {
        for (i, point) in row.iter().enumerate() {
            for d in 0..2 {
                let next = row[(i + 1) % 3] as usize;
                expected[*point as usize * 2 + d] += x[next * 2 + d].abs() / 2.0 - (d + 1) as f64;
            }
        }
    }
    for context in contexts() {
        let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
        let (map, x) = (context.array(&map).unwrap(), context.array(&x).unwrap());
        let mut out = context.array(&vec![1.0; 2 * m]).unwrap();
        let (n, m) = (n as i64, m as i64);
        let args = &mut [
            ("x", LoopArg::shaped(&x, &[m, 2])),
            ("out", LoopArg::shaped(&mut out, &[m, 2])),
            ("map", LoopArg::shaped(&map, &[n, 3])),
        ];
        executable.call(args).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
        assert_eq!(out.to_vec().unwrap(), expected, "on {}\n{}", context.device().kind(), generated.code.text);
    }
}

const FORMS: [[&str; 2]; 6] = [
    ["double **x", "double **y"],
    ["const double *const *x", "double *y[2]"],
    ["const double x[3][2]", "double y[][2]"],
    ["double (*x)[2]", "double (*restrict y)[2]"],
    ["double *x[2]", "double y[3][2]"],
    ["const double **x", "double * const * y"],
];

fn rows_source([x, y]: [&str; 2]) -> String {
    format!(
        "#include <math.h>\n#define HALF(x) ((x) / 2)\nstatic const double shift[2] = {{1, 2}};\nconst int next = 1;\n\
         double far(double x, int d) {{ return HALF(fabs(x)) - shift[d]; }}\n\
         void res({x}, {y}) {{\n  for (int i = 0; i < 3; i++)\n    for (int d = 0; d < 2; d++) y[i][d] += far(x[(i + next) % 3][d], d);\n}}\n"
    )
}

/// Programs whose code every compiler must take.
pub fn samples() -> Vec<(&'static str, Program)> {
    let mut found: Vec<(&'static str, Program)> = FORMS.into_iter().map(|form| (form[0], mesh_loop(&rows_source(form), "res"))).collect();
    found.push(("portable", mesh_loop(PORTABLE, "portable")));
    found.extend(TYPES.map(|ty| (ty[0], typed(ty))));
    found.push(("aligned", aligned("64")));
    found
}

/// Types of C and of data.
const TYPES: [[&str; 2]; 14] = [
    ["int", "int32"],
    ["unsigned char", "uint8"],
    ["int8_t", "int8"],
    ["signed char", "int8"],
    ["short", "int16"],
    ["uint16_t", "uint16"],
    ["unsigned", "uint32"],
    ["int64_t", "int64"],
    ["long", "int64"],
    ["long long", "int64"],
    ["uint64_t", "uint64"],
    ["bool", "bool"],
    ["_Bool", "bool"],
    ["float", "float32"],
];

/// Copies pairs of numbers the other way round, and adds one to what is passed by value.
fn typed([c, dtype]: [&str; 2]) -> Program {
    let source = format!(
        "#include <stdint.h>\n#include <stdbool.h>\n\
         void swap(const {c} *x, {c} **y, const {c} z[][1], {c} one) {{ y[0][0] = x[1]; y[1][0] = z[0][0] && one ? x[0] : 0; }}"
    );
    let function = function_of(&source, "swap").unwrap_or_else(|error| panic!("{error}"));
    let function = function.with_access([Access::Read, Access::Write, Access::Read, Access::Read]);
    let program = KernelBuilder::new()
        .name("typed")
        .domain("{[e, i, i1, i2, i3, d, d1]: 0<=e<n and 0<=i, i1, i2, i3<2 and 0<=d, d1<1}")
        .instructions(
            "t[i] = a[e, i] {id=in}
             u[i1, d1] = a[e, 1] {id=also}
             [i2,d]: v[i2,d] = swap([i2]: t[i2], [i2,d]: u[i2,d], 1) {id=call, dep=in:also}
             x[e, i3] = v[i3, 0] {dep=call}",
        )
        .data(Data::global("a, x").dtype(dtype).shape("n, 2"))
        .data(Data::temporary("t").dtype(dtype).shape("2"))
        .data(Data::temporary("u, v").dtype(dtype).shape("2, 1"))
        .rest()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    register_callable(&program, "swap", Arc::new(function), false).unwrap()
}

/// A loop over rows of four whose beginning is promised to be aligned.
fn aligned(bytes: &str) -> Program {
    let bytes: u32 = bytes.parse().unwrap();
    let program = KernelBuilder::new()
        .name("aligned")
        .domain("{[e, d]: 0<=e<n and 0<=d<4}")
        .instructions("x[e, d] = 2*a[e, d]")
        .data(Data::global("a").dtype("float64").shape("n, 4").alignment(bytes))
        .data(Data::global("x").dtype("float64").shape("n, 4").alignment(bytes))
        .rest()
        .build()
        .unwrap();
    let kernel = tag_inames(program.entry().unwrap(), &"e:g.0, d:unr".parse::<Tags>().unwrap()).unwrap();
    program.with_kernel(kernel)
}

/// Everything that plain C for all targets may have.
const PORTABLE: &str = r#"#include <math.h>
#include <stdlib.h>
#include "float.h"
#define SQUARE(a) ((a) * (a))
static const double table[3] = {1.5, 2.5, 3.5};
const float single = 1.5f, other = 2;
static double later(double x, int n);
enum { ROWS = 3 };
typedef struct { double re, im; } pair;
static inline double helper(const double *x, int n) {
  static const double weights[2] = {0.25, 0.75};
  double s = 0;
  for (int i = 0; i < n; i++) s += weights[i % 2] * x[i];
  return s;
}
unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
double later(double x, int n) { return x / n; }
double max(double a, double b) { return a > b ? a : b; }
void portable(const double x[restrict static ROWS][2], double **y) {
  pair p = {fmin(1, x[0][0]), pow(x[0][1], 2)};
  _Bool flag = abs(-3) - 5 < 0;
  for (int i = 0; i < ROWS; i++) {
    y[i][0] += sqrt(2) * fabs(x[i][0]) + table[i] + M_PI * single + 7 / 2 + INFINITY;
    y[i][1] += max(fmax(x[i][1], 0), 0) + helper(x[i], 2) + later(p.re, 3) + SQUARE(p.im) + flag + cbrtf(8) + DBL_MAX;
    y[i][1] += exp(-x[i][0]) + (isnan(p.re) ? NAN : labs(-2L)) + atan2(1, 2) + floor(other);
  }
}
"#;

#[test]
fn pointers_to_rows_and_rows_are_passed_in_every_form() {
    for form in FORMS {
        run(&mesh_loop(&rows_source(form), "res"));
    }
}

#[test]
fn flat_arrays_are_passed_as_they_are() {
    let source = "void res(const double *x, double y[6]) { for (int k = 0; k < 6; k++) y[k] += fabs(x[(k + 2) % 6]) / 2 - (k % 2 + 1); }";
    run(&mesh_loop(source, "res"));
    let text = mesh_loop(source, "res").generate(Target::C).unwrap().code.text;
    assert!(text.contains("  res(t0, t1);"), "{text}");
}

#[test]
fn every_type_of_c_is_passed_as_what_it_is() {
    for ty in TYPES {
        let program = typed(ty);
        for context in contexts() {
            let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
            let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
            macro_rules! run {
                ($rust:ty, $one:expr, $zero:expr) => {{
                    let (a, mut x) = (context.array::<$rust>(&[$zero, $one, $one, $one]).unwrap(), context.zeros::<$rust>(4).unwrap());
                    let args = &mut [("a", LoopArg::shaped(&a, &[2, 2])), ("x", LoopArg::shaped(&mut x, &[2, 2]))];
                    executable.call(args).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(x.to_vec().unwrap(), [$one, $zero, $one, $one], "{ty:?} on {}", context.device().kind());
                }};
            }
            match ty[1] {
                "int8" => run!(i8, 1, -7),
                "int16" => run!(i16, 1, -7),
                "int32" => run!(i32, 1, -70000),
                "int64" => run!(i64, 1, -(1 << 40)),
                "uint8" => run!(u8, 1, 200),
                "uint16" => run!(u16, 1, 60000),
                "uint32" => run!(u32, 1, 1 << 31),
                "uint64" => run!(u64, 1, 1 << 63),
                "bool" => {
                    let (a, x) = (context.array(&[0u8, 1, 1, 1]).unwrap(), context.zeros::<u8>(4).unwrap());
                    let truths = |array: &'static str, memory| {
                        let arg = Arg::Memory { memory, dtype: Some(DType::Bool), writable: true };
                        (array, LoopArg::Array { arg, shape: vec![2, 2], strides: None })
                    };
                    executable.call(&mut [truths("a", a.memory()), truths("x", x.memory())]).unwrap();
                    assert_eq!(x.to_vec().unwrap(), [1, 0, 1, 1], "{ty:?} on {}", context.device().kind());
                }
                "float32" => run!(f32, 1.0, -0.5),
                other => unreachable!("{other}"),
            }
        }
    }
}

#[test]
fn complex_numbers_are_passed_in_c_and_refused_elsewhere() {
    let source = "#include <complex.h>\nvoid turn(double complex *z) { z[0] = z[0] * I + conj(z[0]); }";
    let function = function_of(source, "turn").unwrap();
    let program = KernelBuilder::new()
        .domain("{[e, i, i1, i2]: 0<=e<n and 0<=i, i1, i2<1}")
        .instructions("t[i] = z[e] {id=in}\n[i1]: t[i1] = turn([i1]: t[i1]) {id=call, dep=in, inames=+e}\nout[e] = t[0] {dep=call}")
        .data(Data::global("z, out").dtype("complex128").shape("n"))
        .data(Data::temporary("t").dtype("complex128").shape("1"))
        .rest()
        .build()
        .unwrap();
    let program = register_callable(&program, "turn", Arc::new(function), false).unwrap();
    let context = Context::open("cpu:1").unwrap();
    let generated = program.generate(Target::C).unwrap();
    let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
    let (z, mut out) = (context.array(&[Complex64::new(1.0, 2.0)]).unwrap(), context.array(&[Complex64::new(0.0, 0.0)]).unwrap());
    executable.call(&mut [("z", LoopArg::from(&z)), ("out", LoopArg::from(&mut out))]).unwrap();
    assert_eq!(out.to_vec().unwrap(), [Complex64::new(-1.0, -1.0)]);
    let error = program.generate(Target::Cuda).unwrap_err().to_string();
    assert!(error.contains("`turn` has no version for complex128, which only C has, on target cuda"), "{error}");
}

#[test]
fn what_plain_c_may_have_gives_the_same_numbers_everywhere() {
    // Without what is not finite, so that numbers can be compared.
    let source = PORTABLE.replace(" + INFINITY", "").replace(" + DBL_MAX", " + 1 / DBL_MAX").replace("exp(-x[i][0])", "floor(exp(0))");
    let program = mesh_loop(&source, "portable");
    let results: Vec<Vec<f64>> = contexts()
        .iter()
        .map(|context| {
            let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
            let executable = Executable::compile(&generated, context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
            let (x, map) = (context.array(&[1.0, -2.0, 0.5, 4.0, -8.0, 16.0]).unwrap(), context.array(&[0i32, 1, 2]).unwrap());
            let mut out = context.zeros::<f64>(6).unwrap();
            let args = &mut [
                ("x", LoopArg::shaped(&x, &[3, 2])),
                ("out", LoopArg::shaped(&mut out, &[3, 2])),
                ("map", LoopArg::shaped(&map, &[1, 3])),
            ];
            executable.call(args).unwrap();
            out.to_vec().unwrap()
        })
        .collect();
    let root = 2f64.sqrt();
    let turn = 1f64.atan2(2.0);
    let pi = std::f64::consts::PI * 1.5;
    let row = |x: f64, y: f64, table: f64| {
        let helped = 0.25 * x + 0.75 * y;
        [root * x.abs() + table + pi + 3.0, y.max(0.0) + helped + 1.0 / 3.0 + 16.0 + 1.0 + 2.0 + (1.0 + 2.0 + turn + 2.0)]
    };
    let expected = [row(1.0, -2.0, 1.5), row(0.5, 4.0, 2.5), row(-8.0, 16.0, 3.5)].concat();
    for result in results {
        let close = result.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-13 * expected.abs());
        assert!(close, "{result:?}, not {expected:?}");
    }
}

#[test]
fn rows_of_another_length_are_refused_with_both_sides() {
    let error = |x: &str| {
        let function = function_of(&format!("#define N n\nvoid res({x}, double *y) {{}}"), "res").unwrap();
        with_function(function.with_access([Access::Read, Access::ReadWrite])).generate(Target::C).unwrap_err().to_string()
    };
    let expected =
        "call to `res`: argument 1 is declared as `double (*x)[3]`, which takes rows of length 3, but an array of shape (3, 2) is passed";
    assert!(error("double x[2][3]").ends_with(expected), "{}", error("double x[2][3]"));
    let expected = "which is not `T *`, `T **` or a pointer to rows of known length, but an array of shape (3, 2) is passed";
    assert_eq!(error("const double ***x"), format!("call to `res`: argument 1 is declared as `const double *** x`, {expected}"));
    assert!(error("const double x[][N]").ends_with(expected), "{}", error("const double x[][N]"));
    let error = function_of("void a(void) {}\nvoid b(void) {}", "res").unwrap_err();
    assert_eq!(error.to_string(), "the source has no function `res`; it has a, b");
    let of_floats = function_of("void res(float **x, double *y) {}", "res").unwrap();
    let error = with_function(of_floats.with_access([Access::Read, Access::ReadWrite])).generate(Target::C).unwrap_err().to_string();
    assert!(error.contains("(`x`) must be an array of float32, but an array of float64 is passed"), "{error}");
}

#[test]
fn headers_are_found_in_their_folders_and_mistakes_at_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.h"), "#define SHIFT(d) ((d) + 1)\nstatic double halved(double x) { return x / 2; }\n").unwrap();
    let source = "void res(double **x, double **y) {\n  for (int i = 0; i < 3; i++)\n    for (int d = 0; d < 2; d++)\n      \
                  y[i][d] += halved(fabs(x[(i + 1) % 3][d])) - SHIFT(d);\n}";
    let options =
        SourceOptions { headers: vec!["#include \"mine.h\"".into()], folders: vec![folder.path().to_owned()], ..SourceOptions::default() };
    // SAFETY: as in `function_of`.
    let function = unsafe { CFunction::parse_with(source, "res", &options).unwrap() };
    run(&with_function(function.with_access([Access::Read, Access::ReadWrite])));
    let function = function_of(source, "res").unwrap().with_access([Access::Read, Access::ReadWrite]);
    for context in contexts() {
        let generated = with_function(function.clone()).generate(target_of(context.device().kind())).unwrap();
        let error = Executable::compile(&generated, &context).unwrap_err().to_string();
        assert!(error.contains("<res>:4"), "{error}");
        assert!(error.contains("    4 |       y[i][d] += halved("), "{error}");
    }
}

#[test]
fn two_functions_of_one_source_share_it() {
    let source = "double twice(double x) { return 2 * x; }\ndouble thrice(double x) { return 3 * x; }";
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("x[i] = twice(a[i]) + thrice(a[i])")
        .data(Data::global("a, x").dtype("float64").shape("n"))
        .rest()
        .build()
        .unwrap();
    let register =
        |program: &Program, name: &str| register_callable(program, name, Arc::new(function_of(source, name).unwrap()), false).unwrap();
    let program = register(&register(&program, "twice"), "thrice");
    for context in contexts() {
        let generated = program.generate(target_of(context.device().kind())).unwrap();
        let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
        let (a, mut x) = (context.array(&[1.0, 2.0]).unwrap(), context.zeros::<f64>(2).unwrap());
        executable.call(&mut [("a", LoopArg::from(&a)), ("x", LoopArg::from(&mut x))]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [5.0, 10.0]);
    }
}

#[test]
fn an_alignment_that_is_promised_is_told_to_the_compiler_and_checked() {
    let text = |target: Target| aligned("48").generate(target).unwrap().code.text;
    assert!(text(Target::C).contains("  a = (double const *)__builtin_assume_aligned(a, 16);\n"), "{}", text(Target::C));
    assert!(text(Target::Cuda).contains("  x = (double *)__builtin_assume_aligned(x, 16);\n"));
    assert!(!text(Target::OpenCl).contains("assume_aligned"));
    let context = Context::open("cpu:1").unwrap();
    let executable = Executable::compile(&aligned("64").generate(Target::C).unwrap(), &context).unwrap();
    let values = vec![1.0f64; 32];
    let at = values.as_ptr().align_offset(64);
    let mut x = context.zeros::<f64>(8).unwrap();
    let mut call = |values: &[f64]| {
        let arg = Arg::from(&values[..8]);
        let mut args = [("a", LoopArg::Array { arg, shape: vec![2, 4], strides: None }), ("x", LoopArg::shaped(&mut x, &[2, 4]))];
        executable.call(&mut args).map_err(|error| error.to_string())
    };
    call(&values[at..]).unwrap();
    let error = call(&values[at + 1..]).unwrap_err();
    assert!(error.starts_with("kernel `aligned`: argument `a` begins at 0x"), "{error}");
    assert!(
        error.ends_with("but is declared with an alignment of 64 bytes; pass an aligned copy, or declare a smaller alignment"),
        "{error}"
    );
    assert_eq!(x.to_vec().unwrap(), [2.0; 8]);
}
