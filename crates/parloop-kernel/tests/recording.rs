//! Recordings and replays: what is recorded is not done, a replay does it again and again, and what cannot be recorded says so.

mod devices;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use devices::on_every_device;
use parloop_device::{Complex64, DType, DeviceError, DeviceKind, Memory, as_bytes, as_bytes_mut};
use parloop_kernel::{Arg, CompileOptions, Context, KernelError, Program, Slots, Source, args};

fn compile_text(ctx: &Context, source: &str) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile(source) }
}

fn compile_sources(ctx: &Context, sources: &[Source], options: &CompileOptions) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile_with(sources, options) }
}

const SOURCE: &str = "
GPUKERN void add(GPUGLMEM double *x, const double a, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] += a;
    END_VECTORIZE
}
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] = a * x[i] + y[i];
    END_VECTORIZE
}
GPUKERN void set(GPUGLMEM double *x, const double a, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] = a;
    END_VECTORIZE
}
GPUKERN void length(const char *text, GPUGLMEM int64_t *out) { out[0] = text[0]; }
";

fn compile(ctx: &Context) -> Program {
    compile_text(ctx, SOURCE).unwrap()
}

#[test]
fn a_replay_does_what_the_calls_do_and_recording_does_nothing() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let (add, axpy) = (prog.kernel("add").unwrap(), prog.kernel("axpy").unwrap());
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let calls = |x: &mut parloop_kernel::Array<f64>, y: &mut parloop_kernel::Array<f64>| {
            add.call(args![&mut *x, 0.5, 1000])?;
            axpy.call(args![2.0, &*x, &mut *y, 1000])?;
            axpy.call(args![-1.0, &*y, &mut *x, 900])?;
            add.call(args![&mut *y, 3.0, 0])
        };
        let (mut x, mut y) = (ctx.array(&values).unwrap(), ctx.zeros(1000).unwrap());
        for _ in 0..3 {
            calls(&mut x, &mut y).unwrap();
        }

        let (mut u, mut v) = (ctx.array(&values).unwrap(), ctx.zeros(1000).unwrap());
        let recording = ctx.recording().unwrap();
        assert!(ctx.is_recording());
        calls(&mut u, &mut v).unwrap();
        // A launch over no items is nothing to do.
        assert_eq!(recording.len(), 3);
        let replay = recording.finish().unwrap();
        assert!(!ctx.is_recording());
        assert_eq!((u.to_vec().unwrap(), v.to_vec().unwrap()), (values, vec![0.0; 1000]));
        assert_eq!((replay.len(), replay.is_empty()), (3, false));
        for _ in 0..3 {
            replay.run().unwrap();
        }
        assert_eq!((u.to_vec().unwrap(), v.to_vec().unwrap()), (x.to_vec().unwrap(), y.to_vec().unwrap()));
    });
}

#[test]
fn arrays_are_recorded_by_reference_and_scalars_by_value() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let (mut x, mut y) = (ctx.array(&[1.0, 2.0]).unwrap(), ctx.zeros::<f64>(2).unwrap());
        let mut a = 10.0;
        let recording = ctx.recording().unwrap();
        prog.kernel("axpy").unwrap().call(args![a, &x, &mut y, 2]).unwrap();
        let replay = recording.finish().unwrap();
        a += 1.0;
        x.write(&[3.0, a]).unwrap();
        replay.run().unwrap();
        assert_eq!(y.to_vec().unwrap(), [30.0, 110.0]);
        y.write(&[0.0, 1.0]).unwrap();
        replay.run().unwrap();
        assert_eq!(y.to_vec().unwrap(), [30.0, 111.0]);
    });
}

#[test]
fn fills_copies_and_bound_kernels_are_recorded_in_their_order() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let (mut x, y) = (ctx.array(&[1.0, 2.0, 3.0]).unwrap(), ctx.zeros::<f64>(3).unwrap());
        let mut add = prog.kernel("add").unwrap().bind(args![&mut x, 1.0, 3]).unwrap();
        let recording = ctx.recording().unwrap();
        add.call().unwrap();
        ctx.stream().copy(y.memory(), 8, x.memory(), 0, 16).unwrap();
        add.call().unwrap();
        ctx.stream().fill(x.memory(), 16, 8, 0).unwrap();
        let replay = recording.finish().unwrap();
        assert_eq!(replay.len(), 4);
        replay.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 4.0, 0.0]);
        assert_eq!(y.to_vec().unwrap(), [0.0, 2.0, 3.0]);
        add.call().unwrap();
        replay.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [6.0, 7.0, 0.0]);
        assert_eq!(y.to_vec().unwrap(), [0.0, 5.0, 6.0]);
    });
}

#[test]
fn a_replay_keeps_memory_and_code_when_all_handles_are_gone() {
    on_every_device(|ctx| {
        let (replay, view) = {
            let ctx = Context::on(ctx.stream().clone());
            let prog = compile(&ctx);
            let (mut x, y) = (ctx.array(&[1.0, 2.0]).unwrap(), ctx.zeros::<f64>(2).unwrap());
            let mut sum = ctx.zeros::<f64>(2).unwrap();
            let view = sum.memory().clone();
            let recording = ctx.recording().unwrap();
            prog.kernel("add").unwrap().call(args![&mut x, 1.0, 2]).unwrap();
            ctx.stream().copy(y.memory(), 0, x.memory(), 0, 16).unwrap();
            prog.kernel("axpy").unwrap().call(args![1.0, &y, &mut sum, 2]).unwrap();
            (recording.finish().unwrap(), view)
        };
        // Memory that was freed would be given out again.
        let others: Vec<Memory> = (0..64).map(|_| ctx.device().allocate(16).unwrap()).collect();
        others.iter().for_each(|other| ctx.stream().fill(other, 0, 16, 0xff).unwrap());
        replay.run().unwrap();
        replay.clone().run().unwrap();
        let mut sum = [0.0; 2];
        ctx.stream().read(&view, 0, as_bytes_mut(&mut sum)).unwrap();
        assert_eq!(sum, [5.0, 7.0]);
    });
}

#[test]
fn an_array_that_is_made_while_recording_belongs_to_the_replay() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let recording = ctx.recording().unwrap();
        let mut x = ctx.zeros::<f64>(3).unwrap();
        prog.kernel("add").unwrap().call(args![&mut x, 1.0, 3]).unwrap();
        let replay = recording.finish().unwrap();
        assert_eq!(replay.len(), 2);
        replay.run().unwrap();
        replay.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.0; 3]);
    });
}

#[test]
fn memory_that_grows_stays_where_it_was_recorded() {
    on_every_device(|ctx| {
        // SAFETY: one thread uses it, and what is recorded keeps it where it is.
        let growable = unsafe { ctx.device().allocate_growable(16) }.unwrap();
        let (part, other) = (growable.memory(), ctx.zeros::<f64>(2).unwrap());
        ctx.stream().write(&part, 0, as_bytes(&[1.0, 2.0])).unwrap();
        let recording = ctx.recording().unwrap();
        compile(ctx).kernel("add").unwrap().call(args![&part, 1.0, 2]).unwrap();
        ctx.stream().copy(other.memory(), 0, &part, 0, 16).unwrap();
        let replay = recording.finish().unwrap();
        let grown = growable.grow(ctx.stream(), 1 << 20);
        if ctx.device().kind() != DeviceKind::Cpu {
            assert!(matches!(grown, Err(DeviceError::AddressHeld { .. })), "{grown:?}");
        }
        replay.run().unwrap();
        assert_eq!(other.to_vec().unwrap(), [2.0, 3.0]);
        drop(replay);
        growable.grow(ctx.stream(), 2 << 20).unwrap();
    });
}

/// What the recorded call gives, and what the recording then gives.
fn refused<T: std::fmt::Debug>(ctx: &Context, call: impl FnOnce() -> Result<T, KernelError>) -> (String, String) {
    let recording = ctx.recording().unwrap();
    let error = call().unwrap_err();
    assert!(matches!(error, KernelError::Device(DeviceError::NotRecordable { .. })), "{error:?}");
    let finished = recording.finish().unwrap_err();
    assert!(matches!(finished, KernelError::Device(DeviceError::RecordingAbandoned { .. })), "{finished:?}");
    assert!(!ctx.is_recording());
    (error.to_string(), finished.to_string())
}

#[test]
fn what_cannot_be_recorded_is_an_error_and_ends_the_recording() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let id = ctx.device().id();
        let stream = ctx.stream();
        let mut x = ctx.array(&[1.0, 2.0]).unwrap();
        let expect = |(error, finished): (String, String), what: &str, hint: &str| {
            assert_eq!(error, format!("{id}: {what} cannot be recorded; {hint}"));
            let abandoned =
                format!("{id}: the recording was abandoned, because {what} cannot be recorded; leave that out and record again");
            assert_eq!(finished, abandoned);
        };
        let later = "do it before the recording begins or after it is finished";
        expect(refused(ctx, || x.to_vec()), "a copy to the host", later);
        expect(refused(ctx, || x.write(&[5.0])), "a copy from the host", later);
        expect(refused(ctx, || ctx.array(&[1])), "a copy from the host", later);
        expect(refused(ctx, || ctx.synchronize()), "a wait of the host", later);
        expect(refused(ctx, || Ok(stream.record()?)), "an event", later);
        let event = stream.record().unwrap();
        expect(refused(ctx, || Ok(stream.record_into(&event)?)), "an event", later);
        expect(refused(ctx, || Ok(stream.wait_for(&event)?)), "a wait for an event", later);
        let mut pinned = ctx.device().allocate_pinned(8).unwrap();
        expect(refused(ctx, || Ok(stream.write_pinned(x.memory(), 0, &pinned)?)), "a copy from the host", later);
        expect(refused(ctx, || Ok(stream.read_pinned(x.memory(), 0, &mut pinned)?)), "a copy to the host", later);

        let mut host = vec![0.0; 2];
        let on_host = "pass an array of the context";
        let add = prog.kernel("add").unwrap();
        expect(refused(ctx, || add.call(args![&mut host, 1.0, 2])), "host data for argument `x` of kernel `add`", on_host);
        let axpy = prog.kernel("axpy").unwrap();
        expect(refused(ctx, || axpy.call(args![1.0, &host, &mut x, 2])), "host data for argument `x` of kernel `axpy`", on_host);
        let mut out = ctx.zeros::<i64>(1).unwrap();
        let length = prog.kernel("length").unwrap();
        expect(refused(ctx, || length.call(args![c"abc", &mut out])), "host data for argument `text` of kernel `length`", on_host);

        let mut slots: Slots = [[0; 2]; 3].into_iter().collect();
        // SAFETY: nothing is launched.
        let raw = refused(ctx, || unsafe { add.launch_over(&mut slots, parloop_kernel::Items::Line(1)) });
        expect(raw, "a launch with borrowed memory", "pass the owners of the memory to `Stream::record_launch`");

        let empty = ctx.recording().unwrap().finish().unwrap();
        expect(refused(ctx, || empty.run()), "a replay", "call what it does instead");
        // What was refused was not done, and the context works on.
        assert_eq!((x.to_vec().unwrap(), host), (vec![1.0, 2.0], vec![0.0; 2]));
        add.call(args![&mut x, 1.0, 2]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0, 3.0]);
    });
}

#[test]
fn a_transform_is_not_recorded() {
    on_every_device(|ctx| {
        let Ok(plan) = ctx.plan_fft(&[4], &[0], DType::C128) else {
            println!("skipped: no library of transforms");
            return;
        };
        let mut x = ctx.array(&[Complex64::from(1.0); 4]).unwrap();
        let (error, _) = refused(ctx, || plan.transform(&mut x));
        let later = "do it before the recording begins or after it is finished";
        assert_eq!(error, format!("{}: a Fourier transform cannot be recorded; {later}", ctx.device().id()));
        assert_eq!(x.to_vec().unwrap(), [Complex64::from(1.0); 4]);
    });
}

#[test]
fn a_kernel_that_returns_a_value_is_not_recorded() {
    let ctx = Context::open("cpu:1").unwrap();
    let prog = compile_text(&ctx, "double half(double x) { return x / 2; }").unwrap();
    let (error, _) = refused(&ctx, || prog.kernel("half").unwrap().call(args![1.0]));
    assert_eq!(error, "cpu:1: kernel `half`, which returns a value, cannot be recorded; let it write to an array");
}

#[test]
fn a_wrong_argument_is_an_error_that_leaves_the_recording_as_it_was() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let add = prog.kernel("add").unwrap();
        let mut x = ctx.array(&[1.0]).unwrap();
        let recording = ctx.recording().unwrap();
        add.call(args![&mut x, 1.0, 1]).unwrap();
        assert!(matches!(add.call(args![&mut x, 1.0]), Err(KernelError::WrongCount { .. })));
        assert!(matches!(add.call(args![&x, 1.0, 1]), Err(KernelError::ReadOnly { .. })));
        assert!(ctx.stream().fill(x.memory(), 1, 8, 0).is_err());
        let replay = recording.finish().unwrap();
        assert_eq!(replay.len(), 1);
        replay.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0]);
    });
}

#[test]
fn a_thread_records_a_context_once_at_a_time() {
    on_every_device(|ctx| {
        let recording = ctx.recording().unwrap();
        let nested = ctx.recording().unwrap_err();
        let id = ctx.device().id();
        assert_eq!(nested.to_string(), format!("{id}: this thread is already recording this stream; finish that recording first"));
        // The recording is not abandoned for that, and a dropped one ends.
        drop(recording);
        ctx.recording().unwrap().finish().unwrap();
        drop(ctx.recording().unwrap());
        ctx.synchronize().unwrap();
    });
}

#[test]
fn a_dropped_recording_leaves_nothing_behind() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let mut x = ctx.array(&[1.0]).unwrap();
        let recording = ctx.recording().unwrap();
        prog.kernel("add").unwrap().call(args![&mut x, 1.0, 1]).unwrap();
        drop(recording);
        prog.kernel("add").unwrap().call(args![&mut x, 0.5, 1]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.5]);
    });
}

#[test]
fn a_context_of_another_device_or_stream_is_not_recorded() {
    let (one, other) = (Context::open("cpu:1").unwrap(), Context::open("cpu:5").unwrap());
    let recording = one.recording().unwrap();
    assert!(!other.is_recording());
    let x = other.array(&[1.0]).unwrap();
    // Two contexts of one stream are one.
    assert!(Context::open("cpu:1").unwrap().is_recording());
    assert_eq!(x.to_vec().unwrap(), [1.0]);
    assert_eq!(other.recording().unwrap().finish().unwrap().len(), 0);
    assert!(recording.is_empty());
}

#[test]
fn other_threads_work_and_record_as_ever() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let add = prog.kernel("add").unwrap();
        let recording = ctx.recording().unwrap();
        let (replay, mut x) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                assert!(!ctx.is_recording());
                let mut x = ctx.array(&[1.0]).unwrap();
                add.call(args![&mut x, 1.0, 1]).unwrap();
                assert_eq!(x.to_vec().unwrap(), [2.0]);
                let recording = ctx.recording().unwrap();
                add.call(args![&mut x, 10.0, 1]).unwrap();
                (recording.finish().unwrap(), x)
            });
            other.join().unwrap()
        });
        add.call(args![&mut x, 100.0, 1]).unwrap();
        // It may be finished anywhere.
        let own = std::thread::scope(|scope| scope.spawn(|| recording.finish().unwrap()).join().unwrap());
        assert!(!ctx.is_recording());
        assert_eq!((replay.len(), own.len()), (1, 1));
        replay.run().unwrap();
        own.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [112.0]);
    });
}

#[test]
fn many_threads_may_run_one_replay() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let mut x = ctx.zeros::<f64>(100).unwrap();
        let recording = ctx.recording().unwrap();
        prog.kernel("set").unwrap().call(args![&mut x, 2.5, 100]).unwrap();
        let replay = recording.finish().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| replay.run().unwrap()));
            }
        });
        assert_eq!(x.to_vec().unwrap(), [2.5; 100]);
    });
}

#[test]
fn a_thousand_replays_keep_nothing_and_the_last_handle_frees_all() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let add = prog.kernel("add").unwrap();
        let mut x = ctx.zeros::<f64>(10).unwrap();
        let freed = Arc::new(AtomicUsize::new(0));
        let recording = ctx.recording().unwrap();
        let mut slots: Slots = smallvec_of(&[add.pointer_slot(x.memory(), 0).unwrap(), [1f64.to_bits(), 0], [10, 0]]);
        let kept: Vec<parloop_device::KeepAlive> = vec![Arc::new(x.memory().clone()), Arc::new(Counted(freed.clone()))];
        // SAFETY: a slot of its type for each parameter, and the memory is kept.
        unsafe { add.record_over(&mut slots, parloop_kernel::Items::Line(10), kept).unwrap() };
        let replay = recording.finish().unwrap();
        let kept = replay.kept().len();
        for _ in 0..1000 {
            replay.run().unwrap();
        }
        assert_eq!((replay.kept().len(), freed.load(Ordering::Relaxed)), (kept, 0));
        assert_eq!(x.to_vec().unwrap(), [1000.0; 10]);
        let clone = replay.clone();
        drop(replay);
        assert_eq!(freed.load(Ordering::Relaxed), 0);
        drop(clone);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
        add.call(args![&mut x, 1.0, 10]).unwrap();
        // Recording again and again gives back what it took.
        for _ in 0..100 {
            let recording = ctx.recording().unwrap();
            let mut big = ctx.zeros::<f64>(1 << 17).unwrap();
            add.call(args![&mut big, 1.0, 1 << 17]).unwrap();
            recording.finish().unwrap().run().unwrap();
        }
        ctx.synchronize().unwrap();
    });
}

fn smallvec_of(slots: &[[u64; 2]]) -> Slots {
    slots.iter().copied().collect()
}

#[test]
fn a_launch_is_recorded_only_while_there_is_a_recording() {
    on_every_device(|ctx| {
        let prog = compile(ctx);
        let (add, x) = (prog.kernel("add").unwrap(), ctx.zeros::<f64>(1).unwrap());
        let mut slots = smallvec_of(&[add.pointer_slot(x.memory(), 0).unwrap(), [0, 0], [1, 0]]);
        // SAFETY: nothing is recorded.
        let error = unsafe { add.record_over(&mut slots, parloop_kernel::Items::Line(1), vec![]) }.unwrap_err().to_string();
        let id = ctx.device().id();
        let expected = format!("{id}: cannot record a launch: this thread is not recording this stream; begin a recording first");
        assert_eq!(error, expected);
    });
}

#[test]
fn a_replay_says_how_much_it_does_and_where() {
    let ctx = Context::open("cpu:1").unwrap();
    let x = ctx.zeros::<f64>(1).unwrap();
    let recording = ctx.recording().unwrap();
    assert_eq!(format!("{recording:?}"), "<Recording of 0 steps on cpu:1>");
    ctx.stream().fill(x.memory(), 0, 8, 1).unwrap();
    assert_eq!(format!("{recording:?}"), "<Recording of 1 step on cpu:1>");
    assert_eq!(format!("{:?}", recording.finish().unwrap()), "<Replay of 1 step on cpu:1>");
    on_every_device(|ctx| {
        let x = ctx.zeros::<f64>(1).unwrap();
        let recording = ctx.recording().unwrap();
        ctx.stream().fill(x.memory(), 0, 8, 1).unwrap();
        let replay = recording.finish().unwrap();
        assert_eq!(replay.is_graph(), matches!(ctx.device().kind(), DeviceKind::Cuda | DeviceKind::Hip));
        assert!(ctx.recording().unwrap().finish().unwrap().is_empty());
    });
}

#[test]
fn a_stream_of_ones_own_is_recorded_alone() {
    on_every_device(|ctx| {
        if ctx.device().kind() == DeviceKind::Cpu {
            return;
        }
        let own = Context::on(ctx.device().create_stream().unwrap());
        let mut x = own.array(&[1.0]).unwrap();
        let recording = own.recording().unwrap();
        assert!(!ctx.is_recording());
        compile(&own).kernel("add").unwrap().call(args![&mut x, 1.0, 1]).unwrap();
        let replay = recording.finish().unwrap();
        replay.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0]);
    });
}

const CHECKED: &str = "
GPUKERN void at(GPUGLMEM double *x, const int64_t i) { if (PARLOOP_CHECK(i >= 0 && i < 2, 0, i, 2)) x[i] += 1; }
GPUKERN void twice(GPUGLMEM double *x, const int64_t i) { if (PARLOOP_CHECK(i >= 0 && i < 2, 0, i, 2)) x[i] *= 2; }
";

#[test]
fn checks_of_recorded_kernels_are_errors_of_the_replay() {
    on_every_device(|ctx| {
        let options = CompileOptions { checked: true, check_sites: vec!["x".into()], ..Default::default() };
        let prog = compile_sources(ctx, &[Source::text(CHECKED)], &options).unwrap();
        let (at, twice) = (prog.kernel("at").unwrap(), prog.kernel("twice").unwrap());
        let mut x = ctx.zeros::<f64>(2).unwrap();
        let record = |x: &mut parloop_kernel::Array<f64>, indices: [i64; 2]| {
            let recording = ctx.recording().unwrap();
            at.call(&mut [Arg::from(&mut *x), Arg::from(indices[0])]).unwrap();
            twice.call(&mut [Arg::from(&mut *x), Arg::from(indices[1])]).unwrap();
            recording.finish().unwrap()
        };
        let (good, bad) = (record(&mut x, [0, 0]), record(&mut x, [1, 7]));
        good.run().unwrap();
        let error = bad.run().unwrap_err();
        assert_eq!(error.to_string(), "kernel `at` or `twice`: index 7 is outside 0..2 of x");
        // The record is taken with the error.
        good.run().unwrap();
        assert_eq!(x.to_vec().unwrap(), [6.0, 1.0]);
    });
}
