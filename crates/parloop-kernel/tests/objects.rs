//! Objects of classes as arguments: opaque to C, with accessors that a source given before defines.

mod devices;

use devices::on_every_device;
use parloop_device::{DType, Memory, as_bytes, as_bytes_mut};
use parloop_kernel::{Arg, CompileOptions, Context, DescribedParam, KernelDescription, KernelError, Program, Source, args};

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

const API: &str = "
typedef GPUGLMEM struct Cells_s *Cells;
typedef GPUGLMEM struct Faces_s *Faces;
GPUFUN int64_t Cells_len(const Cells c) { return *(GPUGLMEM const int64_t *)c; }
GPUFUN GPUGLMEM double *Cells_getp(Cells RESTRICT c, int64_t i) { return (GPUGLMEM double *)((GPUGLMEM char *)c + 8 + 8 * i); }
";

const SOURCE: &str = "
GPUKERN void scale(Cells c, const double by) {
    VECTORIZE_OVER(i, Cells_len(c))
        *Cells_getp(c, i) *= by;
    END_VECTORIZE
}
GPUKERN void sum(const Cells c, double *out) {
    double total = 0;
    for (int64_t i = 0; i < Cells_len(c); i++) total += *Cells_getp(c, i);
    out[0] = total;
}
GPUKERN void is_null(const Cells RESTRICT c, int32_t *out) { out[0] = c == NULL; }
GPUKERN void first(const void *c, double *out) { out[0] = ((GPUGLMEM const double *)c)[1]; }
";

fn compile(ctx: &Context, kernels: Vec<KernelDescription>) -> Result<Program, KernelError> {
    let options = CompileOptions { classes: vec!["Cells".into(), "Faces".into()], kernels, ..Default::default() };
    compile_sources(ctx, &[Source::named("api.h", API), Source::text(SOURCE)], &options)
}

/// Cells with these values from byte `offset` on.
fn cells(ctx: &Context, offset: usize, values: &[f64]) -> Memory {
    let memory = ctx.device().allocate_zeroed(offset + 8 + 8 * values.len()).unwrap();
    ctx.stream().write(&memory, offset, &(values.len() as i64).to_le_bytes()).unwrap();
    ctx.stream().write(&memory, offset + 8, as_bytes(values)).unwrap();
    memory
}

fn object<'a>(memory: &'a Memory, offset: usize, class: &'a str, writable: bool) -> Arg<'a> {
    Arg::Object { memory, offset, class, writable }
}

#[test]
fn objects_are_passed_from_any_offset_of_their_memory() {
    on_every_device(|ctx| {
        let prog = compile(ctx, vec![]).unwrap();
        assert_eq!(prog.kernel("scale").unwrap().signature().to_string(), "void scale(Cells c, double by)");
        assert_eq!(prog.kernel("sum").unwrap().signature().to_string(), "void sum(const Cells c, double * out)");
        for offset in [0, 8, 24] {
            let memory = cells(ctx, offset, &[1.0, 2.0, 3.0]);
            prog.kernel("scale").unwrap().call(&mut [object(&memory, offset, "Cells", true), Arg::from(10.0)]).unwrap();
            let mut total = vec![0.0];
            prog.kernel("sum").unwrap().call(&mut [object(&memory, offset, "Cells", false), Arg::from(&mut total)]).unwrap();
            assert_eq!(total, [60.0], "{offset}");
            let mut values = [0.0; 3];
            ctx.stream().read(&memory, offset + 8, as_bytes_mut(&mut values)).unwrap();
            assert_eq!(values, [10.0, 20.0, 30.0], "{offset}");
            prog.kernel("first").unwrap().call(&mut [object(&memory, offset, "Cells", false), Arg::from(&mut total)]).unwrap();
            assert_eq!(total, [10.0], "any object is something");
        }
    });
}

#[test]
fn null_and_memory_of_unknown_content_are_accepted_for_an_object() {
    on_every_device(|ctx| {
        let prog = compile(ctx, vec![]).unwrap();
        let memory = cells(ctx, 0, &[5.0]);
        let (mut answer, mut total) = (vec![-1i32], vec![0.0]);
        prog.kernel("is_null").unwrap().call(&mut [Arg::Null, Arg::from(&mut answer)]).unwrap();
        assert_eq!(answer, [1]);
        prog.kernel("is_null").unwrap().call(&mut [object(&memory, 0, "Cells", false), Arg::from(&mut answer)]).unwrap();
        assert_eq!(answer, [0]);
        prog.kernel("sum").unwrap().call(args![&memory, &mut total]).unwrap();
        assert_eq!(total, [5.0]);
    });
}

#[test]
fn a_bound_kernel_keeps_its_objects() {
    on_every_device(|ctx| {
        let prog = compile(ctx, vec![]).unwrap();
        let memory = cells(ctx, 16, &[1.0, 2.0]);
        let mut out = ctx.zeros::<f64>(1).unwrap();
        let mut sum = prog.kernel("sum").unwrap().bind(&mut [object(&memory, 16, "Cells", false), Arg::from(&mut out)]).unwrap();
        drop(memory);
        sum.call().unwrap();
        assert_eq!(out.to_vec().unwrap(), [3.0]);
    });
}

#[test]
fn what_is_no_object_of_the_class_is_refused() {
    on_every_device(|ctx| {
        let prog = compile(ctx, vec![]).unwrap();
        let memory = cells(ctx, 0, &[5.0]);
        let (sum, scale) = (prog.kernel("sum").unwrap(), prog.kernel("scale").unwrap());
        let mut total = vec![0.0];
        let mut message = |first: Arg<'_>| sum.call(&mut [first, Arg::from(&mut total)]).unwrap_err().to_string();
        let declared = "argument `c` of kernel `sum` is declared `const Cells`, but";
        assert_eq!(message(object(&memory, 0, "Faces", true)), format!("{declared} an object of class `Faces` was given"));
        let array = Arg::Memory { memory: &memory, dtype: Some(DType::F64), writable: true };
        assert_eq!(message(array), format!("{declared} an array of float64 was given; pass an object of that class"));
        assert_eq!(message(Arg::from(2.0)), format!("{declared} the number 2.0 was given; pass an object of that class"));
        assert_eq!(message(Arg::Text(c"text")), format!("{declared} text was given; declare it `const char *`"));
        assert_eq!(message(object(&memory, 17, "Cells", false)), "argument: bytes 17..17+0 were requested, but the memory has 16 bytes");
        let message = |args: &mut [Arg<'_>]| scale.call(args).unwrap_err().to_string();
        assert_eq!(
            message(&mut [object(&memory, 0, "Cells", false), Arg::from(2.0)]),
            "argument `c` of kernel `scale` is declared `Cells`, but the object is read-only; declare it const or pass a copy"
        );
        assert_eq!(
            message(&mut [object(&memory, 0, "Cells", true), object(&memory, 0, "Cells", true)]),
            "argument `by` of kernel `scale` is declared `double`, but an object of class `Cells` was given; pass a single value"
        );
        let mut args = [object(&memory, 0, "Cells", true), object(&memory, 0, "Cells", true)];
        assert_eq!(
            sum.call(&mut args).unwrap_err().to_string(),
            "argument `out` of kernel `sum` is declared `double *`, but an object of class `Cells` was given; pass an array"
        );
    });
}

#[test]
fn a_type_that_is_no_class_is_refused_at_its_line() {
    on_every_device(|ctx| {
        let options = CompileOptions { classes: vec!["Faces".into()], ..Default::default() };
        let error = compile_sources(ctx, &[Source::named("api.h", API), Source::text(SOURCE)], &options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "<source>:2: parameter `c` of `scale` has type `Cells`, which is neither a scalar type nor a pointer; name it among the classes \
             if it is a pointer to an opaque struct"
        );
    });
}

#[test]
fn a_description_can_name_a_class() {
    on_every_device(|ctx| {
        let describe = |class: &str, constant: bool| {
            let object = DescribedParam { name: Some("object".into()), class: Some(class.into()), ..Default::default() };
            let object = DescribedParam { constant: Some(constant), ..object };
            let out = DescribedParam { dtype: Some(DType::F64), pointer: true, ..Default::default() };
            vec![KernelDescription { name: "sum".into(), params: Some(vec![object, out]), ..Default::default() }]
        };
        let prog = compile(ctx, describe("Cells", true)).unwrap();
        assert_eq!(prog.kernel("sum").unwrap().signature().params_text(), "(const Cells object, double * out)");
        let refused = |class, constant, words: &str| {
            assert_eq!(
                compile(ctx, describe(class, constant)).unwrap_err().to_string(),
                format!(
                    "kernel `sum` was described with argument 1 as `{words}`, but its source says `void sum(const Cells c, double * out)` (line 7)"
                )
            );
        };
        refused("Faces", true, "const Faces");
        let wrong = |param: DescribedParam| {
            let out = DescribedParam { dtype: Some(DType::F64), pointer: true, ..Default::default() };
            let description = KernelDescription { name: "sum".into(), params: Some(vec![param, out]), ..Default::default() };
            compile(ctx, vec![description]).unwrap_err().to_string()
        };
        assert!(
            wrong(DescribedParam { dtype: Some(DType::F64), pointer: true, ..Default::default() }).contains("argument 1 as `double *`")
        );
        assert!(wrong(DescribedParam { class: Some("Cells".into()), pointer: true, ..Default::default() }).contains("as `Cells *`"));
    });
}
