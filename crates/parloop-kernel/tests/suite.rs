//! The suite that every device runs whole: memory, streams, events, and kernels through the public API, with the same numbers
//! everywhere.

mod devices;

use devices::on_every_device;
use parloop_device::{DType, DeviceError, DeviceKind, Memory, as_bytes_mut};
use parloop_kernel::{Arg, CompileOptions, Context, DescribedParam, Grid, KernelDescription, KernelError, Program, Scalar, Source, args};

fn compile_text(ctx: &Context, source: &str) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile(source) }
}

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

const SOURCE: &str = "
static const double FACTORS[3] = {1.0, 2.0, 4.0};
double scaled(double a) { return FACTORS[1] * a; }
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += scaled(a) * x[i];
    END_VECTORIZE
}
GPUKERN void count(GPUGLMEM const int32_t *bin, GPUGLMEM int64_t *counts, const int32_t n) {
    //vectorize_over i n
        atomicAdd(&counts[bin[i]], (int64_t)1);
    //end_vectorize
}
GPUFUN int64_t half_of(int64_t n) { return n / 2; }
GPUKERN void halves(GPUGLMEM int32_t *x, const int64_t n) {
    VECTORIZE_OVER(i, half_of(n))
        x[i] += 1;
    END_VECTORIZE
    VECTORIZE_OVER(j, n)
        x[j] += 10;
    END_VECTORIZE
}
GPUKERN void is_null(GPUGLMEM const double *x, GPUGLMEM int32_t *answer) { answer[0] = x == 0; }
GPUKERN void main(GPUGLMEM int32_t *x, const int32_t value) { x[0] = value; }
";

fn ramp(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

#[test]
fn memory_keeps_what_is_written_filled_and_copied() {
    on_every_device(|ctx| {
        let (device, stream) = (ctx.device(), ctx.stream());
        let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
        let (a, b) = (device.allocate(4096).unwrap(), device.allocate_zeroed(4096).unwrap());
        stream.write(&a, 0, &bytes).unwrap();
        stream.copy(&b, 1024, &a, 0, 2048).unwrap();
        stream.fill(&b, 0, 512, 7).unwrap();
        let mut back = vec![1; 4096];
        stream.read(&b, 0, &mut back).unwrap();
        assert_eq!(back[..512], [7; 512]);
        assert_eq!(back[512..1024], [0; 512]);
        assert_eq!(back[1024..3072], bytes[..2048]);
        assert_eq!(back[3072..], [0; 1024]);
    });
}

#[test]
fn ranges_outside_memory_are_refused_and_touch_nothing() {
    on_every_device(|ctx| {
        let memory = ctx.device().allocate_zeroed(64).unwrap();
        let stream = ctx.stream();
        let outside = |result: Result<(), DeviceError>| assert!(matches!(result, Err(DeviceError::OutOfBounds { .. })), "{result:?}");
        outside(stream.write(&memory, 60, &[1; 5]));
        outside(stream.write(&memory, usize::MAX, &[1; 5]));
        outside(stream.read(&memory, 65, &mut []));
        outside(stream.fill(&memory, 1, 64, 1));
        outside(stream.copy(&memory, 0, &memory, 33, 32));
        outside(memory.slice(8, 64).map(|_| ()));
        assert_eq!(
            stream.write(&memory, 60, &[1; 5]).unwrap_err().to_string(),
            "write: bytes 60..60+5 were requested, but the memory has 64 bytes"
        );
        let mut back = [1; 64];
        stream.read(&memory, 0, &mut back).unwrap();
        assert_eq!(back, [0; 64]);
    });
}

#[test]
fn a_sub_range_shares_its_memory_and_keeps_it_alive() {
    on_every_device(|ctx| {
        let step = 13;
        let whole = ctx.device().allocate_zeroed(4 * step).unwrap();
        let part = whole.slice(step, 2 * step).unwrap();
        let inner = part.slice(step, step).unwrap();
        ctx.stream().fill(&inner, 0, step, 9).unwrap();
        let mut back = vec![0; 4 * step];
        ctx.stream().read(&whole, 0, &mut back).unwrap();
        assert_eq!((back[2 * step - 1], back[2 * step], back[3 * step - 1], back[3 * step]), (0, 9, 9, 0));
        drop((whole, part));
        let mut kept = vec![0; step];
        ctx.stream().read(&inner, 0, &mut kept).unwrap();
        assert_eq!(kept, vec![9; step]);
    });
}

#[test]
fn pinned_memory_is_copied_and_waited_for() {
    on_every_device(|ctx| {
        let (device, stream) = (ctx.device(), ctx.stream());
        let memory = device.allocate(1 << 16).unwrap();
        let mut host = device.allocate_pinned(1 << 16).unwrap();
        host.as_mut_slice().unwrap().fill(3);
        stream.write_pinned(&memory, 0, &host).unwrap();
        stream.fill(&memory, 0, 1, 4).unwrap();
        stream.read_pinned(&memory, 0, &mut host).unwrap();
        assert_eq!(host.as_slice().unwrap()[..3], [4, 3, 3]);
    });
}

#[test]
fn events_are_ordered_and_measure_time() {
    on_every_device(|ctx| {
        let (device, stream) = (ctx.device(), ctx.stream());
        let unrecorded = device.create_event().unwrap();
        assert!(matches!(unrecorded.query(), Err(DeviceError::EventNotRecorded { .. })));
        let memory = device.allocate(1 << 20).unwrap();
        let start = stream.record().unwrap();
        stream.fill(&memory, 0, 1 << 20, 1).unwrap();
        let end = stream.record().unwrap();
        assert!(end.since(&start).unwrap() >= 0.0);
        assert!(end.query().unwrap() && start.query().unwrap());
        let other = device.create_stream().unwrap();
        other.wait_for(&end).unwrap();
        other.synchronize().unwrap();
        assert!(other.is_idle().unwrap());
    });
}

#[test]
fn more_memory_than_there_is_is_an_error_that_loses_nothing() {
    on_every_device(|ctx| {
        let kept = ctx.array(&[1.0, 2.0]).unwrap();
        let error = ctx.device().allocate(1 << 60).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfMemory { asked, .. } if asked == 1 << 60), "{error}");
        assert_eq!(kept.to_vec().unwrap(), [1.0, 2.0]);
    });
}

#[test]
fn kernels_give_the_same_numbers_everywhere() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        for n in [0, 1, 2, 31, 1000, 100_003] {
            let xs = ramp(n);
            let (x, mut y) = (ctx.array(&xs).unwrap(), ctx.array(&vec![1.0; n]).unwrap());
            prog.kernel("axpy").unwrap().call(args![1.5, &x, &mut y, n]).unwrap();
            let expected: Vec<f64> = xs.iter().map(|x| 1.0 + 3.0 * x).collect();
            assert_eq!(y.to_vec().unwrap(), expected, "{n}");
            let mut host = vec![1.0; n];
            prog.kernel("axpy").unwrap().call(args![1.5, &xs, &mut host, n]).unwrap();
            assert_eq!(host, expected, "host data, {n}");
        }
        let bins: Vec<i32> = (0..10_007).map(|i| (i * i) % 7).collect();
        let mut counts = vec![0i64; 7];
        prog.kernel("count").unwrap().call(args![&bins, &mut counts, bins.len()]).unwrap();
        let expected: Vec<i64> = (0..7).map(|bin| bins.iter().filter(|&&b| b == bin).count() as i64).collect();
        assert_eq!(counts, expected);
    });
}

#[test]
fn loops_of_any_count_are_done_whole_whatever_the_grid() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let expected: Vec<i32> = (0..1001).map(|i| if i < 500 { 11 } else { 10 }).collect();
        for grid in [Grid::Auto, Grid::Items(1), Grid::Items(7), Grid::Items(5000), Grid::Argument("n".into())] {
            let kernel = prog.kernel("halves").unwrap().with_grid(grid.clone(), None).unwrap();
            let mut x = vec![0i32; 1001];
            kernel.call(args![&mut x, 1001]).unwrap();
            assert_eq!(x, expected, "{grid:?}");
        }
        let nothing = prog.kernel("main").unwrap().with_grid(Grid::Items(0), None).unwrap();
        let mut untouched = vec![7i32];
        nothing.call(args![&mut untouched, 42]).unwrap();
        assert_eq!(untouched, [7]);
        let small = prog.kernel("axpy").unwrap().with_grid(Grid::Items(3), None).unwrap();
        let (x, mut y) = (ramp(100), vec![0.0; 100]);
        small.call(args![0.5, &x, &mut y, 100]).unwrap();
        assert_eq!(y, x);
    });
}

#[test]
fn null_and_reserved_names_reach_the_kernel() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let mut answer = vec![-1i32];
        prog.kernel("is_null").unwrap().call(&mut [Arg::Null, Arg::from(&mut answer)]).unwrap();
        assert_eq!(answer, [1]);
        prog.kernel("main").unwrap().call(args![&mut answer, 42]).unwrap();
        assert_eq!(answer, [42]);
    });
}

#[test]
fn arguments_that_do_not_fit_are_refused_and_nothing_runs() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let axpy = prog.kernel("axpy").unwrap();
        let (x, mut y) = (ctx.array(&ramp(4)).unwrap(), ctx.array(&ramp(4)).unwrap());
        let singles = ctx.array(&[1f32; 4]).unwrap();
        let message = |result: Result<Option<Scalar>, KernelError>| result.unwrap_err().to_string();
        assert_eq!(
            message(axpy.call(args![1.0, &x, &mut y])),
            "kernel `axpy` takes 4 arguments (double a, const double * x, double * y, int64_t n), but 3 were given"
        );
        assert_eq!(
            message(axpy.call(args![1.0, &singles, &mut y, 4])),
            "argument `x` of kernel `axpy` is declared `const double *`, but an array of float32 was given; convert it first"
        );
        assert_eq!(
            message(axpy.call(args![1.0, &x, &x, 4])),
            "argument `y` of kernel `axpy` is declared `double *`, but the array is read-only; declare it const or pass a copy"
        );
        assert_eq!(
            message(axpy.call(args![&x, &x, &mut y, 4])),
            "argument `a` of kernel `axpy` is declared `double`, but an array of float64 was given; pass a single value"
        );
        assert_eq!(
            message(axpy.call(args![1.0, 2.0, &mut y, 4])),
            "argument `x` of kernel `axpy` is declared `const double *`, but the number 2.0 was given; pass an array"
        );
        assert_eq!(
            message(prog.kernel("main").unwrap().call(args![Vec::<i32>::new().as_mut_slice(), i64::MAX])),
            "argument `value` of kernel `main` is declared `int32_t`, but 9223372036854775807 does not fit into int32"
        );
        if ctx.device().kind() != DeviceKind::Cpu {
            let other = Context::open("cpu").unwrap().array(&ramp(4)).unwrap();
            let device = ctx.device().id();
            assert_eq!(
                message(axpy.call(args![1.0, &other, &mut y, 4])),
                format!("argument `x` of kernel `axpy` is on device `cpu`, but the kernel runs on `{device}`; copy it there first")
            );
        }
        assert_eq!(y.to_vec().unwrap(), ramp(4));
    });
}

#[test]
fn the_same_host_data_given_twice_is_one_array() {
    on_every_device(|ctx| {
        let source = "GPUKERN void shift(const double *a, double *b, int n) { VECTORIZE_OVER(i, n) b[i] = a[i] + 1; END_VECTORIZE }";
        let prog = compile_text(ctx, source).unwrap();
        let mut data = ramp(10);
        let alias = unsafe_alias(&mut data);
        prog.kernel("shift").unwrap().call(&mut [Arg::from(alias), Arg::from(&mut data), Arg::from(10)]).unwrap();
        assert_eq!(data, (1..11).map(f64::from).collect::<Vec<_>>());
    });
}

/// The same bytes lent twice, as a caller from C or Python can do.
fn unsafe_alias<'a>(data: &mut [f64]) -> &'a [f64] {
    // SAFETY: the caller's vector outlives the call, which only compares the addresses on the host.
    unsafe { std::slice::from_raw_parts(data.as_ptr(), data.len()) }
}

#[test]
fn a_bound_kernel_repeats_and_keeps_its_memory() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let (x, mut y) = (ctx.array(&ramp(10)).unwrap(), ctx.zeros::<f64>(10).unwrap());
        let mut step = prog.kernel("axpy").unwrap().bind(args![0.5, &x, &mut y, 10]).unwrap();
        drop(x);
        for _ in 0..3 {
            step.call().unwrap();
        }
        assert_eq!(y.to_vec().unwrap(), ramp(10).iter().map(|x| 3.0 * x).collect::<Vec<_>>());
    });
}

#[test]
fn many_threads_may_launch_one_kernel() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let kernel = prog.kernel("axpy").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..20 {
                        let n = 100 + 37 * thread + round;
                        let (xs, mut y) = (ramp(n), vec![0.0; n]);
                        kernel.call(args![0.5, &xs, &mut y, n]).unwrap();
                        assert_eq!(y, xs);
                    }
                });
            }
        });
    });
}

#[test]
fn descriptions_are_checked_against_the_source() {
    let ctx = Context::open("cpu:1").unwrap();
    let pointer = |constant| DescribedParam { dtype: Some(DType::F64), pointer: true, constant: Some(constant), ..Default::default() };
    let scalar = |dtype, name: Option<&str>| DescribedParam { name: name.map(Into::into), dtype: Some(dtype), ..Default::default() };
    let describe = |params, returns| CompileOptions {
        kernels: vec![KernelDescription {
            name: "mine".into(),
            c_name: Some("axpy".into()),
            params: Some(params),
            returns,
            ..Default::default()
        }],
        ..Default::default()
    };
    let compile = |options: CompileOptions| compile_sources(&ctx, &[Source::text(SOURCE)], &options);
    let good = vec![scalar(DType::F64, Some("by")), pointer(true), pointer(false), scalar(DType::I64, None)];
    let prog = compile(describe(good.clone(), Some(None))).unwrap();
    assert_eq!(prog.kernel("mine").unwrap().signature().params_text(), "(double by, const double * x, double * y, int64_t n)");
    let mut wrong = good.clone();
    wrong[3] = scalar(DType::I32, None);
    assert_eq!(
        compile(describe(wrong, None)).unwrap_err().to_string(),
        "kernel `mine` was described with argument 4 as `int32_t`, but its source says \
         `void axpy(double a, const double * x, double * y, int64_t n)` (line 4)"
    );
    assert!(compile(describe(good[..3].to_vec(), None)).unwrap_err().to_string().contains("was described with 3 arguments"));
    assert!(
        compile(describe(good, Some(Some(scalar(DType::F64, None)))))
            .unwrap_err()
            .to_string()
            .contains("was described with return type double")
    );
}

#[test]
fn functions_return_values_on_a_cpu_and_are_no_kernels_elsewhere() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        match prog.kernel("scaled") {
            Ok(function) => assert_eq!(function.call(args![1.5]).unwrap(), Some(Scalar::Float(3.0))),
            Err(error) => assert!(matches!(error, KernelError::NotAKernel { .. }) && ctx.device().kind() != DeviceKind::Cpu, "{error}"),
        }
        let error = prog.kernel("nothing").unwrap_err().to_string();
        assert!(error.starts_with("the program has no kernel `nothing`; it has "), "{error}");
    });
}

#[test]
fn a_source_that_does_not_compile_shows_its_own_lines() {
    on_every_device(|ctx| {
        let error = compile_text(ctx, "GPUKERN void f(double *x) {\n    x[0] = nobody_knows;\n}").unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, KernelError::Compile { .. }), "{text}");
        assert!(text.contains("<source>") && text.contains("nobody_knows") && text.contains('2'), "{text}");
    });
}

#[test]
fn short_ranges_run_on_the_calling_thread_and_long_ones_are_shared() {
    let ctx = Context::open("cpu:4").unwrap();
    let source = "
        #include <pthread.h>
        int64_t own(void) { return (int64_t)pthread_self(); }
        GPUKERN void who(int64_t *thread, const int64_t steps, const int64_t n) {
            VECTORIZE_OVER(i, n)
                volatile double work = 1;
                for (int64_t k = 0; k < steps; k++) work = work * 0.5 + 1;
                thread[i] = own();
            END_VECTORIZE
        }";
    let prog = compile_text(&ctx, source).unwrap();
    let caller = match prog.kernel("own").unwrap().call(args![]).unwrap() {
        Some(Scalar::Int(caller)) => caller as i64,
        other => panic!("{other:?}"),
    };
    let run = |steps: i64, n: usize| {
        let mut threads = vec![0i64; n];
        prog.kernel("who").unwrap().call(args![&mut threads, steps, n]).unwrap();
        threads.sort_unstable();
        threads.dedup();
        threads
    };
    // A call that is held up may be shared, so that most of them are asked.
    let alone = (0..50).map(|_| run(1, 16) == [caller]).skip(30).filter(|alone| *alone).count();
    assert!(alone >= 15, "{alone} of 20 on the calling thread");
    // Each of these items takes about a millisecond, so that the others have the time to wake up.
    run(300_000, 64);
    assert!(run(300_000, 64).len() > 1);
}

#[test]
fn kernels_find_growable_memory_where_it_is() {
    on_every_device(|ctx| {
        let (device, stream) = (ctx.device(), ctx.stream());
        let prog = compile_text(ctx, SOURCE).unwrap();
        let axpy = prog.kernel("axpy").unwrap();
        let x = ctx.array(&ramp(10)).unwrap();
        // SAFETY: one thread uses it.
        let growable = unsafe { device.allocate_growable(80) }.unwrap();
        stream.fill(&growable.memory(), 0, 80, 0).unwrap();
        let before = growable.memory();
        let mut expected = vec![0.0; 10];
        let read = |memory: &Memory| {
            // The rest of what grew was never written.
            let mut values = vec![0.0; 10];
            stream.read(memory, 0, as_bytes_mut(&mut values)).unwrap();
            values
        };
        for len in [80, 4000, 8000] {
            growable.grow(stream, len).unwrap();
            axpy.call(args![0.5, &x, &before, 10]).unwrap();
            expected.iter_mut().zip(ramp(10)).for_each(|(y, x)| *y += x);
            assert_eq!(read(&before), expected);
            assert_eq!(read(&growable.memory()), expected);
        }
        // What is bound has its address forever: a CPU keeps it, other devices say who holds it.
        let mut bound = axpy.bind(args![0.5, &x, &before, 10]).unwrap();
        let grown = growable.grow(stream, 1 << 20);
        if device.kind() == DeviceKind::Cpu {
            assert_eq!(grown, Ok(()));
        } else {
            assert!(matches!(grown, Err(DeviceError::AddressHeld { holds: 1, .. })), "{grown:?}");
        }
        bound.call().unwrap();
        expected.iter_mut().zip(ramp(10)).for_each(|(y, x)| *y += x);
        assert_eq!(read(&growable.memory()), expected);
        drop(bound);
        growable.grow(stream, 2 << 20).unwrap();
        assert_eq!(read(&before), expected);
    });
}
