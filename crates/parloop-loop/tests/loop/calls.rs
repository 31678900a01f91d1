//! Calls that are run: called or inlined, on every device, the numbers are the same.

use std::sync::Arc;

use parloop_device::Complex64;
use parloop_kernel::Context;
use parloop_loop::callable::{Access, CFunction};
use parloop_loop::check::CheckError;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::prelude::*;
use parloop_loop::run::{Executable, LoopArg, target_of};
use parloop_loop::syntax::{LoopKernel, Program, Target};
use parloop_loop::transform::{Tags, inline_callable_kernel, merge, register_callable, tag_inames};

use super::callables::{five_axes, gemv_kernel, linear_combo};
use super::run::contexts;

fn builder(domain: &str, instructions: &str) -> KernelBuilder {
    KernelBuilder::new().domain(domain).instructions(instructions)
}

fn function(name: &str, domain: &str, instructions: &str) -> Program {
    builder(domain, instructions).name(name).build_function().unwrap_or_else(|error| panic!("{error}"))
}

/// An array that a kernel is called with, which it may change.
struct Data64 {
    name: &'static str,
    values: Vec<f64>,
    shape: Vec<i64>,
}

fn data(name: &'static str, shape: &[i64], value: impl Fn(usize) -> f64) -> Data64 {
    let count = shape.iter().product::<i64>() as usize;
    Data64 { name, values: (0..count).map(value).collect(), shape: shape.to_vec() }
}

/// The last array after a call.
fn call(program: &Program, context: &Context, arrays: &[Data64]) -> Vec<f64> {
    let generated = program.generate(target_of(context.device().kind())).unwrap_or_else(|error| panic!("{error}"));
    let executable = Executable::compile(&generated, context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
    let mut memory: Vec<_> = arrays.iter().map(|array| context.array(&array.values).unwrap()).collect();
    let mut args: Vec<(&str, LoopArg<'_>)> =
        memory.iter_mut().zip(arrays).map(|(memory, array)| (array.name, LoopArg::shaped(memory, &array.shape))).collect();
    executable.call(&mut args).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
    memory.last().expect("an array").to_vec().unwrap()
}

/// That the program gives those numbers with its kernels called, and with each of the named ones inlined.
fn check(program: &Program, inlined: &[&str], arrays: &[Data64], expected: &[f64]) {
    for context in contexts() {
        assert_eq!(call(program, &context, arrays), expected, "called, on {}", context.device().kind());
        let mut flat = program.clone();
        for name in inlined {
            flat = inline_callable_kernel(&flat, name).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(call(&flat, &context, arrays), expected, "inlined, on {}", context.device().kind());
    }
}

#[test]
fn parts_of_arrays_are_combined() {
    let shape = [4; 5];
    let (x, y) = (data("x", &shape, |i| i as f64), data("y", &shape, |i| (i % 13) as f64));
    let expected: Vec<f64> = x.values.iter().zip(&y.values).map(|(x, y)| 2.0 * x + 3.0 * y).collect();
    let program = merge([&five_axes(), &linear_combo()]).unwrap();
    check(&program, &["linear_combo"], &[x, y, data("z", &shape, |_| 0.0)], &expected);
}

#[test]
fn calls_in_calls_give_what_the_innermost_says() {
    let child = function("child", "{[i, j]: 0<=i, j<4}", "[i, j]: g[i, j] = linear_combo([i, j]: e[i, j], [i, j]: f[i, j])");
    let parent = builder("{[i, j, k]: 0<=i, j, k<4}", "[i, j]: z[i, k, j] = child([i, j]: x[i, k, j], [i, j]: y[j, i, k])")
        .data(Data::global("x, y").dtype("float64").shape("4, 4, 4"))
        .rest()
        .build()
        .unwrap();
    let (x, y) = (data("x", &[4, 4, 4], |i| i as f64), data("y", &[4, 4, 4], |i| (i * i) as f64));
    let at = |i: usize, j: usize, k: usize| (i * 4 + j) * 4 + k;
    let mut expected = vec![0.0; 64];
    for (i, j, k) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
        expected[at(i, k, j)] = 2.0 * x.values[at(i, k, j)] + 3.0 * y.values[at(j, i, k)];
    }
    let program = merge([&parent, &child, &linear_combo()]).unwrap();
    check(&program, &["linear_combo", "child"], &[x, y, data("z", &[4, 4, 4], |_| 0.0)], &expected);
}

#[test]
fn shapes_change_through_parts() {
    let callee = function("twice", "{[i]: 0<=i<6}", "b[i] = 2*abs(a[i])");
    let caller = builder(
        "{[i, l]: 0<=i<6 and 0<=l<6}",
        "[i]: y[i//2, i%2] = twice([i]: x[i//2, i%2])
         [l]: z[l, l] = twice([l]: v[l, l])
         [i]: out[i] = twice([l]: z[l, l])",
    )
    .sequential_dependencies(true)
    .data(Data::global("x, y").dtype("float64").shape("3, 2"))
    .data(Data::global("v, z").dtype("float64").shape("6, 6"))
    .rest()
    .build()
    .unwrap();
    let program = merge([&caller, &callee]).unwrap();
    let arrays = [
        data("x", &[3, 2], |i| i as f64),
        data("y", &[3, 2], |_| 0.0),
        data("v", &[6, 6], |i| -(i as f64)),
        data("z", &[6, 6], |_| 0.0),
        data("out", &[6], |_| 0.0),
    ];
    let expected: Vec<f64> = (0..6).map(|i| 4.0 * 7.0 * f64::from(i)).collect();
    check(&program, &["twice"], &arrays, &expected);
}

#[test]
fn a_part_need_not_begin_at_zero() {
    let twice = function("twice", "{[i]: 0<=i<10}", "b[i] = 2*a[i]");
    let caller = builder("{[i, j]: -5<=i<5 and 0<=j<10}", "[i]: y[i+5] = twice([j]: x[9-j])")
        .data(Data::global("x, y").dtype("float64").shape("10"))
        .build()
        .unwrap();
    let expected: Vec<f64> = (0..10).map(|i| 2.0 * f64::from(9 - i)).collect();
    let arrays = [data("x", &[10], |i| i as f64), data("y", &[10], |_| 0.0)];
    check(&merge([&caller, &twice]).unwrap(), &["twice"], &arrays, &expected);
}

#[test]
fn in_place_and_only_where_the_predicate_holds() {
    let twice = function("twice", "{[i]: 0<=i<10}", "x[i] = 2*x[i]");
    let caller = builder("{[i]: 0<=i<10}", "for i\n  if i >= 5\n    x[i, :] = twice(x[i, :])\n  end\nend")
        .data(Data::global("x").dtype("float64").shape("10, 10"))
        .build()
        .unwrap();
    let expected: Vec<f64> = (0..100).map(|i| if i >= 50 { 2.0 } else { 1.0 }).collect();
    check(&merge([&caller, &twice]).unwrap(), &["twice"], &[data("x", &[10, 10], |_| 1.0)], &expected);
}

#[test]
fn sizes_and_strides_of_the_caller_reach_the_callee() {
    let twice = function("twice", "{[i, j]: 0<=i, j<n}", "b[i, j] = 2*a[i, j]");
    let caller = builder("{[i, i0, i1]: 0<=i0, i1<N and 0<=i<M}", "[i0, i1]: y[i0, i1, i] = twice([i0, i1]: x[2*i0, i1, i], N)")
        .data(Data::value("N, M").dtype("int32"))
        .data(Data::global("x").dtype("float64").shape("2*N, N, M"))
        .data(Data::global("y").shape("N, N, M"))
        .build()
        .unwrap();
    let (n, m) = (4i64, 5i64);
    let x = data("x", &[2 * n, n, m], |i| i as f64);
    let mut expected = Vec::new();
    for (i0, i1, i) in (0..n * n * m).map(|at| (at / (n * m), at / m % n, at % m)) {
        expected.push(2.0 * x.values[((2 * i0 * n + i1) * m + i) as usize]);
    }
    check(&merge([&caller, &twice]).unwrap(), &["twice"], &[x, data("y", &[n, n, m], |_| 0.0)], &expected);
}

#[test]
fn numbers_are_passed_and_returned() {
    let call_sin = function("third", "{:}", "y = x/3");
    let caller = builder("{[i]: 0<=i<4}", "z[i] = third(v[i])").data(Data::global("v").dtype("float64").shape("4")).rest().build().unwrap();
    let expected: Vec<f64> = (0..4).map(|i| f64::from(i) / 3.0).collect();
    let arrays = [data("v", &[4], |i| i as f64), data("z", &[4], |_| 0.0)];
    check(&merge([&caller, &call_sin]).unwrap(), &["third"], &arrays, &expected);
}

#[test]
fn a_called_kernel_may_have_a_reduction_and_temporaries() {
    let mean = function("centre", "{[i, j]: 0<=i, j<5}", "<> m = sum(i, a[i])/5 {id=m}\nb[j] = a[j] - m {dep=m}");
    let caller = builder("{[e, i]: 0<=e<6 and 0<=i<5}", "<> t[i] = x[e, i] {id=t,dup=i}\n[i]: y[e, i] = centre([i]: t[i]) {dep=t}")
        .data(Data::global("x, y").dtype("float64").shape("6, 5"))
        .rest()
        .build()
        .unwrap();
    let expected: Vec<f64> = (0..30).map(|i| f64::from(i % 5) - 2.0).collect();
    let arrays = [data("x", &[6, 5], |i| i as f64), data("y", &[6, 5], |_| 0.0)];
    check(&merge([&caller, &mean]).unwrap(), &["centre"], &arrays, &expected);
}

#[test]
fn a_kernel_along_hardware_axes_or_with_a_global_barrier_can_be_called() {
    let twice = function("twice", "{[i]: 0<=i<10}", "y[i] = 2*x[i]");
    let tagged: LoopKernel = tag_inames(twice.kernel("twice").unwrap(), &"i:l.0".parse::<Tags>().unwrap()).unwrap();
    let twice = twice.with_kernel(tagged);
    let caller =
        builder("{[i]: 0<=i<10}", "y[:, i] = twice(x[:, i])").data(Data::global("x, y").dtype("float64").shape("10, 10")).build().unwrap();
    let expected: Vec<f64> = (0..100).map(|i| 2.0 * f64::from(i)).collect();
    let arrays = [data("x", &[10, 10], |i| i as f64), data("y", &[10, 10], |_| 0.0)];
    check(&merge([&caller, &twice]).unwrap(), &["twice"], &arrays, &expected);

    let ones = builder("{[i, j]: 0<=i<6 and 0<=j<3}", "x[i] = 0.0\n... gbarrier\nx[j] = 1.0").name("ones").sequential_dependencies(true);
    let caller = builder("{:}", "y[:] = ones()").data(Data::global("y").dtype("float64").shape("6")).build().unwrap();
    let program = merge([&caller, &ones.build_function().unwrap()]).unwrap();
    check(&program, &["ones"], &[data("y", &[6], |_| 7.0)], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_c_function_runs_on_private_arrays() {
    let source = "static inline double norm(const double *x, int n, double *unit)\n{\n  double s = 0;\n  for (int i = 0; i < n; i++) s += x[i] * x[i];\n  \
                  for (int i = 0; i < n; i++) unit[i] = x[i] / s;\n  return s;\n}\n";
    // SAFETY: the kernel passes as many numbers as it says.
    let norm = unsafe { CFunction::parse(source, "norm").unwrap() }.with_access([Access::Read, Access::Read, Access::Write]);
    let caller = builder(
        "{[i, e]: 0<=i<3 and 0<=e<8}",
        "<> t[i] = x[e, i] {id=t, dup=i}
         s[e], [i]: u[i] = norm([i]: t[i], 3) {id=c, dep=t}
         out[e, i] = u[i]*s[e] {dep=c, dup=i}",
    )
    .data(Data::global("x").dtype("float64").shape("8, 3"))
    .data(Data::temporary("u").dtype("float64").shape("3"))
    .rest()
    .build()
    .unwrap();
    let program = register_callable(&caller, "norm", Arc::new(norm), false).unwrap();
    // Powers of two, so that nothing is rounded.
    let x = data("x", &[8, 3], |i| if i % 3 == 0 { f64::from(1 << (i / 3)) } else { 0.0 });
    let expected = x.values.clone();
    for context in contexts() {
        let arrays = [data("x", &[8, 3], |i| x.values[i]), data("s", &[8], |_| 0.0), data("out", &[8, 3], |_| 0.0)];
        assert_eq!(call(&program, &context, &arrays), expected, "on {}", context.device().kind());
    }
}

#[test]
fn functions_of_numbers_have_their_values() {
    type Real = fn(f64) -> f64;
    let cases: &[(&str, Real)] = &[
        ("sin(x[i])", f64::sin),
        ("cos(x[i])", f64::cos),
        ("tan(x[i])", f64::tan),
        ("exp(x[i])", f64::exp),
        ("log(x[i])", f64::ln),
        ("log10(x[i])", f64::log10),
        ("log2(x[i])", f64::log2),
        ("sqrt(x[i])", f64::sqrt),
        ("rsqrt(x[i])", |x| 1.0 / x.sqrt()),
        ("ceil(x[i])", f64::ceil),
        ("floor(-x[i])", |x| (-x).floor()),
        ("abs(-x[i])", f64::abs),
        ("fabs(-x[i])", f64::abs),
        ("pow(x[i], 2.5)", |x| x.powf(2.5)),
        ("atan2(x[i], 2.0)", |x| x.atan2(2.0)),
        ("fmin(x[i], 1.25)", |x| x.min(1.25)),
        ("max(x[i], 1.25)", |x| x.max(1.25)),
        ("abs(-7) - 9 + x[i]", |x| -2.0 + x),
        ("max(2, i) + x[i]", |x| if x > 2.0 { x + ((x - 0.3) / 0.7).round() } else { x + 2.0 }),
        ("isnan(x[i])", |_| 0.0),
        ("real(x[i]) + imag(x[i])", |x| x),
    ];
    for context in contexts() {
        for (text, expected) in cases {
            let program =
                builder("{[i]: 0<=i<5}", &format!("y[i] = {text}")).data(Data::global("x, y").dtype("float64").shape("5")).build().unwrap();
            let x = data("x", &[5], |i| 0.3 + 0.7 * i as f64);
            let expected: Vec<f64> = x.values.iter().map(|x| expected(*x)).collect();
            let found = call(&program, &context, &[x, data("y", &[5], |_| 0.0)]);
            let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs().max(1.0));
            assert!(close, "{text} on {}: {found:?}, not {expected:?}", context.device().kind());
        }
    }
}

#[test]
fn functions_of_complex_numbers_have_their_values() {
    let z = |i: usize| Complex64::new(0.5 - 0.4 * i as f64, 0.3 * i as f64 - 0.7);
    let cosh = |z: Complex64| ((z.re.cosh() * z.im.cos()), (z.re.sinh() * z.im.sin()));
    let sinh = |z: Complex64| ((z.re.sinh() * z.im.cos()), (z.re.cosh() * z.im.sin()));
    let polar = |z: Complex64| (z.re.hypot(z.im), z.im.atan2(z.re));
    let divide = |(a, b): (f64, f64), (c, d): (f64, f64)| {
        let scale = c * c + d * d;
        ((a * c + b * d) / scale, (b * c - a * d) / scale)
    };
    type Complex = (f64, f64);
    type Case = (&'static str, Box<dyn Fn(Complex64) -> Complex>);
    let cases: Vec<Case> = vec![
        ("exp", Box::new(|z| (z.re.exp() * z.im.cos(), z.re.exp() * z.im.sin()))),
        ("log", Box::new(move |z| (polar(z).0.ln(), polar(z).1))),
        ("sqrt", Box::new(move |z| (polar(z).0.sqrt() * (polar(z).1 / 2.0).cos(), polar(z).0.sqrt() * (polar(z).1 / 2.0).sin()))),
        ("sin", Box::new(|z| (z.re.sin() * z.im.cosh(), z.re.cos() * z.im.sinh()))),
        ("cos", Box::new(|z| (z.re.cos() * z.im.cosh(), -z.re.sin() * z.im.sinh()))),
        ("sinh", Box::new(sinh)),
        ("cosh", Box::new(cosh)),
        ("tanh", Box::new(move |z| divide(sinh(z), cosh(z)))),
        (
            "tan",
            Box::new(move |z| {
                divide((z.re.sin() * z.im.cosh(), z.re.cos() * z.im.sinh()), (z.re.cos() * z.im.cosh(), -z.re.sin() * z.im.sinh()))
            }),
        ),
        ("conj", Box::new(|z| (z.re, -z.im))),
    ];
    for context in contexts() {
        for (name, expected) in &cases {
            let program = builder("{[i]: 0<=i<4}", &format!("re[i] = real({name}(z[i]))\nout[i] = imag({name}(z[i])) + 0*abs(z[i])"))
                .data(Data::global("z").dtype("complex128").shape("4"))
                .data(Data::global("re, out").dtype("float64").shape("4"))
                .build()
                .unwrap();
            let generated = program.generate(target_of(context.device().kind())).unwrap();
            let executable = Executable::compile(&generated, &context).unwrap_or_else(|error| panic!("{error}\n{}", generated.code.text));
            let values: Vec<Complex64> = (0..4).map(z).collect();
            let input = context.array(&values).unwrap();
            let (mut re, mut im) = (context.zeros::<f64>(4).unwrap(), context.zeros::<f64>(4).unwrap());
            executable.call(&mut [("z", (&input).into()), ("re", (&mut re).into()), ("out", (&mut im).into())]).unwrap();
            for ((z, re), im) in values.iter().zip(re.to_vec().unwrap()).zip(im.to_vec().unwrap()) {
                let (a, b) = expected(*z);
                assert!(
                    (re - a).abs() < 1e-13 && (im - b).abs() < 1e-13,
                    "{name}({z}) on {}: {re}, {im}, not {a}, {b}",
                    context.device().kind()
                );
            }
        }
    }
}

#[test]
fn a_callee_that_leaves_what_it_is_given_is_refused_before_it_runs() {
    let arange = function("arange", "{[i]: 0<=i<n}", "y[i] = i");
    let caller = |assumptions: &str| {
        let caller = builder("{[i]: 0<=i<20}", "[i]: Y[i] = arange(N)")
            .data(Data::global("Y").dtype("int32").shape("20"))
            .data(Data::value("N").dtype("int32"))
            .assumptions(assumptions);
        merge([&caller.build().unwrap(), &arange]).unwrap()
    };
    let error = caller("N >= 0").generate(Target::C).unwrap_err();
    assert!(matches!(error, LoopError::Check(CheckError::OutOfBounds { .. })), "{error}");
    caller("0 <= N <= 20").generate(Target::C).unwrap();
    // A number is known in the callee.
    let with = |length: i64| {
        let caller = builder("{[i]: 0<=i<20}", &format!("[i]: Y[i] = arange({length})")).data(Data::global("Y").dtype("int32").shape("20"));
        merge([&caller.build().unwrap(), &arange]).unwrap().generate(Target::C)
    };
    assert!(with(20).is_ok());
    assert!(matches!(with(21), Err(LoopError::Check(_))));
}

#[test]
fn blas_multiplies_a_matrix_with_a_vector() {
    if !std::path::Path::new("/usr/include/x86_64-linux-gnu/cblas.h").exists() && !std::path::Path::new("/usr/include/cblas.h").exists() {
        assert!(std::env::var("CI").is_err(), "CI needs OpenBLAS");
        println!("skipped: no cblas.h");
        return;
    }
    let mut program = gemv_kernel("float64");
    let mut kernel = program.entry().unwrap().clone();
    // SAFETY: the library has what the header declares.
    unsafe { kernel.options.set_build_options(vec!["-lopenblas".into()]) };
    program = program.with_kernel(kernel);
    let (n, m) = (3i64, 7i64);
    let (a, x) = (data("A", &[n, m], |i| i as f64), data("x", &[m], |i| (i % 3) as f64 - 1.0));
    let expected: Vec<f64> = (0..3).map(|row| (0..7).map(|k| a.values[row * 7 + k] * x.values[k]).sum()).collect();
    // What was in `y` must not count: beta is zero.
    let found = call(&program, &Context::open("cpu:1").unwrap(), &[a, x, data("y", &[n], |_| f64::NAN)]);
    assert_eq!(found, expected);
}

#[test]
fn literals_are_as_wide_as_the_types_say() {
    let program = builder("{[i]: 0<=i<5}", "y[i] = 0.1*x[i]\nz[i] = 0.1*i\nb[i] = a[i] + 100\nc[i] = a[i] + 1000")
        .data(Data::global("x").dtype("float32").shape("5"))
        .data(Data::global("a").dtype("int8").shape("5"))
        .rest()
        .build()
        .unwrap();
    let text = program.generate(Target::C).unwrap().code.text;
    let expected = [
        "float *__restrict__ y",
        "double *__restrict__ z",
        "int8_t *__restrict__ b",
        "int32_t *__restrict__ c",
        "= 0.1f * x[i]",
        "= 0.1 * ",
    ];
    for part in expected {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}
