//! Checked mode: a bad index or a null reference in an accessor is an error of the launch, on every device.

mod devices;

use devices::on_every_device;
use parloop_device::{DeviceKind, Language};
use parloop_kernel::{Arg, CompileOptions, Context, KernelDescription, KernelError, Program, Scalar, Source, args};

fn compile_text(ctx: &Context, source: &str) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile(source) }
}

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

/// Accessors of an object that is a count and as many doubles.
const API: &str = "
typedef GPUGLMEM struct Multipole_s *Multipole;
GPUFUN int64_t Multipole_len(const Multipole m) { return *(GPUGLMEM const int64_t *)m; }
GPUFUN GPUGLMEM double *Multipole_getp_knl(const Multipole m, int64_t i) {
#ifdef PARLOOP_CHECKED
    if (!PARLOOP_CHECK(m != NULL, 1, 0, -1)) return NULL;
    if (!PARLOOP_CHECK(i >= 0 && i < Multipole_len(m), 0, i, Multipole_len(m))) return NULL;
#endif
    return (GPUGLMEM double *)((GPUGLMEM char *)m + 8 + 8 * i);
}
GPUFUN double Multipole_get_knl(const Multipole m, int64_t i) {
    GPUGLMEM double *at = Multipole_getp_knl(m, i);
#ifdef PARLOOP_CHECKED
    if (!at) return 0;
#endif
    return *at;
}
";

const SOURCE: &str = "
#define FIRST(m) Multipole_get_knl(m, 0)
GPUKERN void kick(const Multipole m, GPUGLMEM double *x, const int64_t from, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] += Multipole_get_knl(m, from + i);
    END_VECTORIZE
}
GPUKERN void first(const Multipole m, GPUGLMEM double *x) { x[0] = FIRST(m); }
GPUKERN void free_of_checks(GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = 1;
    END_VECTORIZE
}
GPUKERN void unnamed(void) { PARLOOP_CHECK(0, 7, 3, 2); }
";

fn compile(ctx: &Context, checked: bool, kernels: Vec<KernelDescription>) -> Result<Program, KernelError> {
    let check_sites = vec!["Multipole.knl".into(), "Multipole.base".into()];
    let options = CompileOptions { checked, check_sites, kernels, classes: vec!["Multipole".into()], ..Default::default() };
    let source = if checked { SOURCE.to_owned() } else { SOURCE.replace("PARLOOP_CHECK(0, 7, 3, 2);", "") };
    compile_sources(ctx, &[Source::named("api.h", API).api(), Source::text(source)], &options)
}

fn multipole(ctx: &Context, values: &[f64]) -> parloop_kernel::Array<f64> {
    let count = f64::from_bits(values.len() as u64);
    ctx.array(&[&[count], values].concat()).unwrap()
}

fn object(array: &parloop_kernel::Array<f64>) -> Arg<'_> {
    Arg::Object { memory: array.memory(), offset: 0, class: "Multipole", writable: false }
}

#[test]
fn an_index_outside_is_an_error_that_names_object_index_and_limit() {
    on_every_device(|ctx| {
        let prog = compile(ctx, true, vec![]).unwrap();
        let kick = prog.kernel("kick").unwrap();
        let (m, mut x) = (multipole(ctx, &[1.0, 2.0, 3.0]), ctx.zeros::<f64>(3).unwrap());
        kick.call(&mut [object(&m), Arg::from(&mut x), Arg::from(0), Arg::from(3)]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.0, 2.0, 3.0]);
        let error = kick.call(&mut [object(&m), Arg::from(&mut x), Arg::from(7), Arg::from(1)]).unwrap_err();
        assert_eq!(error, KernelError::Check { kernel: "kick".into(), what: "Multipole.knl".into(), index: 7, limit: 3 });
        assert_eq!(error.to_string(), "kernel `kick`: index 7 is outside 0..3 of Multipole.knl");
        let error = kick.call(&mut [object(&m), Arg::from(&mut x), Arg::from(-1), Arg::from(1)]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `kick`: index -1 is outside 0..3 of Multipole.knl");
        // The record is taken with the error, so that the next launch is judged by itself.
        kick.call(&mut [object(&m), Arg::from(&mut x), Arg::from(0), Arg::from(3)]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0, 4.0, 6.0]);
    });
}

#[test]
fn a_null_reference_and_a_site_without_words_are_told() {
    on_every_device(|ctx| {
        let prog = compile(ctx, true, vec![]).unwrap();
        let mut x = vec![5.0];
        let error = prog.kernel("first").unwrap().call(&mut [Arg::Null, Arg::from(&mut x)]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `first`: the reference Multipole.base is null");
        let error = prog.kernel("unnamed").unwrap().call(args![]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `unnamed`: index 3 is outside 0..2 of check 7");
        prog.kernel("free_of_checks").unwrap().call(args![&mut x, 1]).unwrap();
        assert_eq!(x, [1.0]);
    });
}

#[test]
fn of_many_failures_one_is_told_and_it_is_whole() {
    on_every_device(|ctx| {
        let prog = compile(ctx, true, vec![]).unwrap();
        let (m, mut x) = (multipole(ctx, &[1.0; 10]), ctx.zeros::<f64>(100_000).unwrap());
        for round in 0..20 {
            let from = 10 * round;
            let error = prog.kernel("kick").unwrap().call(&mut [object(&m), Arg::from(&mut x), Arg::from(from), Arg::from(100_000)]);
            let Err(KernelError::Check { index, limit: 10, .. }) = error else { panic!("{error:?}") };
            assert!((from.max(10)..from + 100_000).contains(&index), "{index} of {from}");
        }
    });
}

#[test]
fn launches_from_many_threads_are_told_apart() {
    on_every_device(|ctx| {
        let prog = compile(ctx, true, vec![]).unwrap();
        let m = multipole(ctx, &[1.0; 10]);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (m, kick) = (&m, prog.kernel("kick").unwrap());
                scope.spawn(move || {
                    let mut x = ctx.zeros::<f64>(10).unwrap();
                    for _ in 0..25 {
                        let result = kick.call(&mut [object(m), Arg::from(&mut x), Arg::from(10 * thread), Arg::from(1)]);
                        match (thread, result) {
                            (0, result) => assert_eq!(result, Ok(None)),
                            (_, Err(KernelError::Check { index, .. })) => assert_eq!(index, 10 * thread),
                            (_, other) => panic!("{other:?}"),
                        }
                    }
                });
            }
        });
    });
}

#[test]
fn bound_kernels_and_other_streams_are_checked() {
    on_every_device(|ctx| {
        let prog = compile(ctx, true, vec![]).unwrap();
        let stream = ctx.device().create_stream().unwrap();
        let kick = prog.kernel("kick").unwrap().on(&stream).unwrap();
        let (m, mut x) = (multipole(ctx, &[1.0]), ctx.zeros::<f64>(4).unwrap());
        ctx.synchronize().unwrap();
        let mut bound = kick.bind(&mut [object(&m), Arg::from(&mut x), Arg::from(3), Arg::from(1)]).unwrap();
        for _ in 0..2 {
            assert!(matches!(bound.call(), Err(KernelError::Check { index: 3, limit: 1, .. })));
        }
        let mut none = kick.bind(&mut [object(&m), Arg::from(&mut x), Arg::from(3), Arg::from(0)]).unwrap();
        none.call().unwrap();
    });
}

#[test]
fn functions_are_checked_when_they_are_called_on_a_cpu() {
    let ctx = Context::open("cpu").unwrap();
    let described = KernelDescription { name: "get".into(), c_name: Some("Multipole_get_knl".into()), ..Default::default() };
    let prog = compile(&ctx, true, vec![described]).unwrap();
    let m = multipole(&ctx, &[1.0, 2.0]);
    let get = prog.kernel("get").unwrap();
    assert_eq!(get.call(&mut [object(&m), Arg::from(1)]).unwrap(), Some(Scalar::Float(2.0)));
    let error = get.call(&mut [object(&m), Arg::from(2)]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `Multipole_get_knl`: index 2 is outside 0..2 of Multipole.knl");
}

#[test]
fn without_checked_mode_there_is_no_macro_and_nothing_is_paid() {
    on_every_device(|ctx| {
        let prog = compile(ctx, false, vec![]).unwrap();
        assert!(!prog.source().contains("parloop_check") && !prog.source().contains("parloop_record"));
        let (m, mut x) = (multipole(ctx, &[4.0]), vec![0.0]);
        prog.kernel("first").unwrap().call(&mut [object(&m), Arg::from(&mut x)]).unwrap();
        assert_eq!(x, [4.0]);
        let error = compile_sources(ctx, &[Source::text(SOURCE)], &CompileOptions { checked: false, ..Default::default() }).unwrap_err();
        assert!(matches!(error, KernelError::Source { .. } | KernelError::Compile { .. }));
    });
}

#[test]
fn a_program_without_a_check_pays_nothing_in_checked_mode() {
    on_every_device(|ctx| {
        let options = CompileOptions { checked: true, ..Default::default() };
        let prog = compile_sources(ctx, &[Source::text("GPUKERN void k(GPUGLMEM double *x) { x[0] = 1; }")], &options).unwrap();
        assert!(!prog.source().contains("parloop_check"));
        let mut x = vec![0.0];
        prog.kernel("k").unwrap().call(args![&mut x]).unwrap();
        assert_eq!(x, [1.0]);
    });
}

#[test]
fn a_kernel_of_checked_opencl_receives_the_record_only_if_it_may_fail() {
    on_every_device(|ctx| {
        if ctx.device().kind() == DeviceKind::OpenCl {
            let prog = compile(ctx, true, vec![]).unwrap();
            assert_eq!(prog.source().matches("GPUKERN void first(").count(), 1);
            assert!(prog.source().contains("GPUKERN void unnamed(__global long *parloop_record)"));
            assert!(prog.source().contains("free_of_checks(GPUGLMEM char *x__base, long x__offset, const int64_t n) {"));
        }
    });
}

#[test]
fn the_environment_sets_the_default_and_a_wrong_value_is_an_error() {
    // In a process of its own, since the environment is shared by all threads.
    let run = |value: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["the_default_of_the_environment", "--exact", "--ignored", "--nocapture"]);
        let output = command.env("PARLOOP_CHECKED", value).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(run("1").contains("FOUND true Ok(Some(Int(1)))"));
    assert!(run("0").contains("FOUND false Ok(Some(Int(0)))"));
    assert!(run("").contains("FOUND false Ok(Some(Int(0)))"));
    let told = "FOUND false Err the environment variable PARLOOP_CHECKED is `yes`, but it must be 0 or 1";
    assert!(run("yes").contains(told), "{}", run("yes"));
}

#[test]
#[ignore = "run by another test, with its own environment"]
fn the_default_of_the_environment() {
    let checked = CompileOptions::default().checked;
    let source = "#ifdef PARLOOP_CHECKED\n#define MODE 1\n#else\n#define MODE 0\n#endif\nint mode(void) { return MODE; }";
    match compile_text(&Context::open("cpu:1").unwrap(), source) {
        Ok(prog) => println!("FOUND {checked} {:?}", prog.kernel("mode").unwrap().call(args![])),
        Err(error) => println!("FOUND {checked} Err {error}"),
    }
}

/// Divides by 4 - i in item i.
const DIVIDES: &str = "#define RATIO(A, B) ((A) / (B))
static long rest(long a, long b) {
    return a % b;
}
GPUKERN void quotients(GPUGLMEM int *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = RATIO(x[i], (int)(4 - i)) ;
    END_VECTORIZE
}
GPUKERN void rests(GPUGLMEM int *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = rest(x[i], 4 - i);
    END_VECTORIZE
}
GPUKERN void fractions(GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = x[i] / (int)(4 - i);
    END_VECTORIZE
}
";

#[test]
fn an_integer_divided_by_zero_on_a_cpu_is_an_error_that_names_the_line() {
    for (device, language) in [("cpu:1", Language::C), ("cpu:2", Language::C), ("cpu:1", Language::Cpp)] {
        let ctx = Context::open(device).unwrap();
        let options = CompileOptions { checked: true, language, ..Default::default() };
        let prog = compile_sources(&ctx, &[Source::named("mine.c", DIVIDES)], &options).unwrap_or_else(|error| panic!("{error}"));
        for (kernel, line) in [("quotients", 7), ("rests", 3)] {
            let divide = |n: i64| {
                let mut x = ctx.array(&[12i32; 9]).unwrap();
                prog.kernel(kernel).unwrap().call(args![&mut x, n]).map(|_| x.to_vec().unwrap())
            };
            let inside = divide(4).unwrap();
            assert_eq!(inside, if kernel == "rests" { [0, 0, 0, 0, 12, 12, 12, 12, 12] } else { [3, 4, 6, 12, 12, 12, 12, 12, 12] });
            let what = format!("integer division by zero in line {line} of mine.c");
            assert_eq!(divide(9).unwrap_err(), KernelError::Conflict { kernel: kernel.into(), what });
            assert_eq!(divide(4).unwrap(), inside, "the record is cleared");
        }
        let mut x = ctx.array(&[1.0f64; 6]).unwrap();
        prog.kernel("fractions").unwrap().call(args![&mut x, 6i64]).unwrap();
        assert_eq!(x.to_vec().unwrap()[3..], [1.0, f64::INFINITY, -1.0], "floating-point numbers are divided");
    }
}

#[test]
fn a_literal_zero_as_the_divisor_of_an_integer_is_refused() {
    on_every_device(|ctx| {
        for (parameters, divided) in
            [("int x", "x / 0"), ("const int64_t x", "(2*x + 1) % 0UL"), ("GPUGLMEM const int *x", "x[2] / (0x0)"), ("int a", "7 / 0")]
        {
            let source = format!("\nGPUKERN void f({parameters}, GPUGLMEM double *y) {{\n    y[0] = {divided};\n}}");
            let error = compile_text(ctx, &source).expect_err(divided).to_string();
            assert_eq!(error, "<source>:3: an integer is divided by zero", "{divided}");
        }
        for divided in ["x / 0.0", "x / 1", "x / 0x10", "1.0 / 0", "y[0] / 0", "x / 01", "(double)x / 0"] {
            let source = format!("GPUKERN void f(int x, GPUGLMEM double *y) {{ y[0] = {divided}; }}");
            compile_text(ctx, &source).unwrap_or_else(|error| panic!("{divided}: {error}"));
        }
    });
}
