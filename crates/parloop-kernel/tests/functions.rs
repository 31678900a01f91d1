//! Plain functions as kernels: which of them can be called, and pointers that they return.

mod devices;

use devices::on_every_device;
use parloop_device::{DType, DeviceKind};
use parloop_kernel::{Arg, CompileOptions, Context, DescribedParam, KernelDescription, KernelError, Program, Scalar, Source, args};

fn compile_text(ctx: &Context, source: &str) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile(source) }
}

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

const API: &str = "
typedef GPUGLMEM struct Cells_s *Cells;
GPUFUN GPUGLMEM double *Cells_getp(Cells c, int64_t i) { return (GPUGLMEM double *)((GPUGLMEM char *)c + 8 + 8 * i); }
GPUFUN Cells Cells_self(const Cells c) { return c; }
static inline double Cells_get(const Cells c, int64_t i) { return *Cells_getp(c, i); }
double Cells_open(double x) { return x; }
GPUKERN void Cells_clear(Cells c) { *Cells_getp(c, 0) = 0; }
";

const SOURCE: &str = "
static double hidden(double x) { return x + 1; }
static inline double both(double x) { return 2 * hidden(x); }
GPUFUN void fill(GPUGLMEM double *x, double value, int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = value;
    END_VECTORIZE
}
inline double open_one(double x) { return both(x); }
double open_two(double x) { return both(x) + 1; }
GPUKERN void k(GPUGLMEM double *x) { x[0] = open_one(1); }
";

fn described(names: &[&str]) -> Vec<KernelDescription> {
    names.iter().map(|name| KernelDescription { name: (*name).into(), ..Default::default() }).collect()
}

fn compile(ctx: &Context, names: &[&str]) -> Result<Program, KernelError> {
    let options = CompileOptions { classes: vec!["Cells".into()], kernels: described(names), ..Default::default() };
    compile_sources(ctx, &[Source::named("api.h", API).api(), Source::text(SOURCE)], &options)
}

fn names(prog: &Program) -> Vec<&str> {
    prog.kernels().map(|(name, _)| name).collect()
}

#[test]
fn without_descriptions_kernels_and_open_functions_of_ones_own_can_be_called() {
    on_every_device(|ctx| {
        let prog = compile(ctx, &[]).unwrap();
        let is_cpu = ctx.device().kind() == DeviceKind::Cpu;
        assert_eq!(names(&prog), if is_cpu { vec!["k", "open_one", "open_two"] } else { vec!["k"] });
        let closed = ["hidden", "both", "fill", "Cells_get", "Cells_open", "Cells_clear"];
        for name in closed {
            let expected = match is_cpu || name == "Cells_clear" {
                true => KernelError::NotDescribed { name: name.into() },
                false => KernelError::NotAKernel { name: name.into(), device: ctx.device().id().to_string() },
            };
            assert_eq!(prog.kernel(name).unwrap_err(), expected);
        }
        assert_eq!(
            KernelError::NotDescribed { name: "both".into() }.to_string(),
            "`both` is static, GPUFUN or part of an API, so it can be called from the host only if it is described; add a description"
        );
    });
}

#[test]
fn any_function_that_is_described_can_be_called_on_a_cpu() {
    on_every_device(|ctx| {
        let names = ["both", "fill", "Cells_get", "Cells_open"];
        let prog = match compile(ctx, &names) {
            Ok(prog) => prog,
            Err(error) => {
                let device = ctx.device().id().to_string();
                assert_eq!(error, KernelError::NotAKernel { name: "both".into(), device });
                return assert_ne!(ctx.device().kind(), DeviceKind::Cpu);
            }
        };
        assert_eq!(prog.kernel("both").unwrap().call(args![1.5]).unwrap(), Some(Scalar::Float(5.0)));
        assert_eq!(prog.kernel("Cells_open").unwrap().call(args![1.5]).unwrap(), Some(Scalar::Float(1.5)));
        let mut x = vec![0.0; 10_000];
        prog.kernel("fill").unwrap().call(args![&mut x, 3.0, 10_000]).unwrap();
        assert_eq!(x, vec![3.0; 10_000]);
        assert!(matches!(prog.kernel("hidden"), Err(KernelError::NotDescribed { .. })));
    });
}

#[test]
fn kernels_of_an_api_are_there_where_they_are_described() {
    on_every_device(|ctx| {
        let prog = compile(ctx, &["Cells_clear"]).unwrap();
        let mut cells = ctx.array(&[1.0, 2.0]).unwrap();
        let object = Arg::Object { memory: cells.memory(), offset: 0, class: "Cells", writable: true };
        prog.kernel("Cells_clear").unwrap().call(&mut [object]).unwrap();
        assert_eq!(cells.to_vec().unwrap(), [1.0, 0.0]);
        cells.write(&[3.0]).unwrap();
    });
}

const POINTERS: &str = "
double *at(double *x, int64_t i) { return x + i; }
const char *text(void) { return \"text\"; }
static const void *any(const void *x) { return x; }
GPUKERN GPUGLMEM const int32_t *nothing(int32_t *x) { x[0] += 1; return NULL; }
struct S *other(struct S *s) { return s; }
";

#[test]
fn returned_pointers_are_addresses() {
    for name in ["cpu", "cpu:1", "cpu:5"] {
        let ctx = Context::open(name).unwrap();
        let prog = compile_sources(&ctx, &[Source::text(POINTERS)], &CompileOptions { kernels: described(&["any"]), ..Default::default() })
            .unwrap();
        let signature = |name: &str| prog.kernel(name).unwrap().signature().to_string();
        assert_eq!(signature("at"), "double * at(double * x, int64_t i)");
        assert_eq!(signature("text"), "const char * text()");
        assert_eq!(signature("any"), "const void * any(const void * x)");
        assert_eq!(signature("nothing"), "const int32_t * nothing(int32_t * x)");
        assert_eq!(signature("other"), "struct S * other(struct S * s)");
        let x = ctx.array(&[1.0, 2.0, 3.0]).unwrap();
        let address = x.memory().handle();
        let call = |name: &str, args: &mut [Arg<'_>]| prog.kernel(name).unwrap().call(args).unwrap();
        assert_eq!(call("at", args![x.memory(), 2]), Some(Scalar::Address(address + 16)));
        assert_eq!(call("any", args![&x]), Some(Scalar::Address(address)));
        assert_eq!(call("other", args![x.memory()]), Some(Scalar::Address(address)));
        let mut count = vec![0i32];
        assert_eq!(call("nothing", args![&mut count]), Some(Scalar::Address(0)));
        assert_eq!(count, [1]);
        let Some(Scalar::Address(text)) = call("text", args![]) else { panic!() };
        // SAFETY: a text of the program, which is loaded.
        assert_eq!(unsafe { std::ffi::CStr::from_ptr(text as *const _) }, c"text");
        assert_eq!(
            prog.kernel("at")
                .unwrap()
                .call(&mut [Arg::Scalar(Scalar::Address(16)), Arg::Scalar(Scalar::Address(0))])
                .unwrap_err()
                .to_string(),
            "argument `x` of kernel `at` is declared `double *`, but the address 0x10 was given; pass an array"
        );
    }
}

#[test]
fn an_object_can_be_returned() {
    let ctx = Context::open("cpu").unwrap();
    let prog = compile(&ctx, &["Cells_getp", "Cells_self"]).unwrap();
    let cells = ctx.array(&[0.0, 5.0, 6.0]).unwrap();
    let object = || Arg::Object { memory: cells.memory(), offset: 8, class: "Cells", writable: true };
    let address = cells.memory().handle() + 8;
    assert_eq!(prog.kernel("Cells_self").unwrap().call(&mut [object()]).unwrap(), Some(Scalar::Address(address)));
    assert_eq!(prog.kernel("Cells_self").unwrap().signature().to_string(), "Cells Cells_self(const Cells c)");
    let element = prog.kernel("Cells_getp").unwrap().call(&mut [object(), Arg::from(1)]).unwrap();
    assert_eq!(element, Some(Scalar::Address(address + 16)));
}

#[test]
fn what_a_kernel_returns_is_refused_where_there_is_nobody_to_take_it() {
    on_every_device(|ctx| {
        if ctx.device().kind() != DeviceKind::Cpu {
            let error = compile_text(ctx, POINTERS).unwrap_err();
            assert_eq!(
                error.to_string(),
                "<source>:5: kernel `nothing` returns a value, which is possible only on a CPU; write the result through a pointer"
            );
        }
    });
}

#[test]
fn the_described_return_type_is_checked() {
    let ctx = Context::open("cpu:1").unwrap();
    let compile = |name: &str, returns| {
        let kernels = vec![KernelDescription { name: name.into(), returns: Some(returns), ..Default::default() }];
        compile_sources(&ctx, &[Source::text(POINTERS)], &CompileOptions { kernels, ..Default::default() })
    };
    let pointer = |dtype| DescribedParam { dtype: Some(dtype), pointer: true, ..Default::default() };
    compile("at", Some(pointer(DType::F64))).unwrap();
    compile("text", Some(DescribedParam { constant: Some(true), ..pointer(DType::I8) })).unwrap();
    assert_eq!(
        compile("at", Some(pointer(DType::F32))).unwrap_err().to_string(),
        "kernel `at` was described with return type float *, but its source says `double * at(double * x, int64_t i)` (line 2)"
    );
    assert!(compile("at", None).unwrap_err().to_string().contains("was described with return type void, but"));
}

#[test]
fn a_described_function_that_cannot_be_called_is_refused_at_its_line() {
    let ctx = Context::open("cpu:1").unwrap();
    for (function, reason) in [
        ("static struct S f(int x) { }", "`f` returns `struct S`, which is not a scalar type"),
        (
            "GPUFUN double f(struct S s) { return 0; }",
            "parameter `s` of `f` has type `struct S`, which is neither a scalar type nor a pointer",
        ),
        ("double f(int x, ...) { return 0; }", "`f` takes a variable number of arguments"),
        ("double f(int x)[3] { return 0; }", "`f` returns neither a scalar nor a plain pointer"),
    ] {
        let options = CompileOptions { kernels: described(&["f"]), ..Default::default() };
        let error = compile_sources(&ctx, &[Source::text(format!("\n{function}"))], &options).unwrap_err();
        assert_eq!(error.to_string(), format!("<source>:2: {reason}"));
    }
    let error =
        compile_sources(&ctx, &[Source::text("")], &CompileOptions { kernels: described(&["f"]), ..Default::default() }).unwrap_err();
    assert_eq!(error.to_string(), "the program has no kernel `f`; it has none: mark one with GPUKERN");
}
