//! The OpenCL backend on the first device of this machine. Without one each test prints that it was skipped; in CI that is a failure.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use libloading::Library;
use parloop_device::{
    CompileError, Device, DeviceError, DeviceId, DeviceKind, Element, Event, Function, Launch, Memory, Module, ModuleBinary, Stream,
    as_bytes, as_bytes_mut, opencl,
};

const SOURCE: &str = "
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void axpy(ulong n, double a, global const double *x, global double *y) {
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) y[i] += a * x[i];
}
kernel void spin(global float *out, int rounds) {
    float value = out[get_global_id(0)];
    for (int i = 0; i < rounds; i++) value = value * 0.999f + 1.0f;
    out[get_global_id(0)] = value;
}
kernel void sum_block(global const int *in, global int *out, local int *scratch) {
    int i = get_local_id(0);
    scratch[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        int sum = 0;
        for (int j = 0; j < (int)get_local_size(0); j++) sum += scratch[j];
        out[get_group_id(0)] = sum;
    }
}
";

fn device() -> Option<Device> {
    match Device::open("opencl") {
        Ok(device) => Some(device),
        Err(error) if std::env::var("CI").as_deref() == Ok("true") => panic!("CI needs an OpenCL device: {error}"),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// The device, or the end of the test.
macro_rules! device_or_skip {
    () => {
        match device() {
            Some(device) => device,
            None => return,
        }
    };
}

fn compile(device: &Device, source: &str) -> ModuleBinary {
    ModuleBinary { bytes: device.compiler().unwrap().compile(source, &[]).unwrap() }
}

fn load_binary(device: &Device, binary: &ModuleBinary) -> parloop_device::Result<Module> {
    // SAFETY: the sources are those of these tests, and a driver runs nothing when it loads.
    unsafe { device.load(binary) }
}

fn load(device: &Device, source: &str) -> Module {
    load_binary(device, &compile(device, source)).unwrap()
}

fn upload<T: Element>(stream: &Stream, values: &[T]) -> Memory {
    let memory = stream.device().allocate(size_of_val(values)).unwrap();
    stream.write(&memory, 0, as_bytes(values)).unwrap();
    memory
}

fn download<T: Element + Default>(stream: &Stream, memory: &Memory) -> Vec<T> {
    let mut values = vec![T::default(); memory.len() / size_of::<T>()];
    stream.read(memory, 0, as_bytes_mut(&mut values)).unwrap();
    values
}

enum Arg {
    Bytes(Vec<u8>),
    Shared(usize),
}

impl Arg {
    fn value<T: Element>(value: T) -> Arg {
        Arg::Bytes(as_bytes(&[value]).to_vec())
    }

    fn memory(memory: &Memory) -> Arg {
        Arg::value(memory.handle())
    }

    fn pointer(&self) -> *mut c_void {
        match self {
            Arg::Bytes(bytes) => bytes.as_ptr().cast_mut().cast(),
            Arg::Shared(_) => null_mut(),
        }
    }

    fn size(&self) -> usize {
        match self {
            Arg::Bytes(bytes) => bytes.len(),
            Arg::Shared(size) => *size,
        }
    }
}

fn launch(stream: &Stream, function: &Function, shape: &Launch, args: &[Arg]) -> Result<(), DeviceError> {
    let pointers: Vec<*mut c_void> = args.iter().map(Arg::pointer).collect();
    let sizes: Vec<usize> = args.iter().map(Arg::size).collect();
    // SAFETY: the tests give each kernel the arguments it has, or fewer bytes, which is refused; OpenCL keeps memory until it is used.
    unsafe { stream.launch(function, shape, &pointers, &sizes) }
}

fn axpy(stream: &Stream, function: &Function, shape: &Launch, a: f64, x: &Memory, y: &Memory) {
    let n = (x.len() / 8) as u64;
    launch(stream, function, shape, &[Arg::value(n), Arg::value(a), Arg::memory(x), Arg::memory(y)]).unwrap();
}

/// Queues work of some milliseconds.
fn queue_work(stream: &Stream, function: &Function, out: &Memory) {
    let shape = Launch::over(256, Some(1), function).unwrap();
    launch(stream, function, &shape, &[Arg::memory(out), Arg::value(20_000i32)]).unwrap();
}

/// Asks until the event is done, without any call that waits.
fn poll(event: &Event) {
    let start = Instant::now();
    while !event.query().unwrap() {
        assert!(start.elapsed() < Duration::from_secs(60), "the event never came");
        std::thread::yield_now();
    }
}

#[test]
fn the_listed_devices_open_and_say_what_they_are() {
    let first = device_or_skip!();
    let devices: Vec<Device> = Device::list().into_iter().filter(|device| device.kind() == DeviceKind::OpenCl).collect();
    assert_eq!(devices[0].id(), DeviceId::OpenCl { platform: 0, device: 0 });
    assert!(devices[0].same(&first));
    for device in devices {
        let properties = device.properties();
        println!("{properties:#?}");
        assert!(device.same(&Device::open(&device.id().to_string()).unwrap()));
        assert!(!properties.name.is_empty() && !properties.arch.is_empty());
        assert!(properties.driver.contains("OpenCL "), "{}", properties.driver);
        assert!(properties.compute_units > 0 && properties.simd_width > 0);
        assert!(properties.memory_total >= properties.max_allocation && properties.max_allocation > 0);
        assert!(properties.max_block > 0 && properties.max_block_dims.iter().all(|&n| n > 0 && n <= properties.max_block));
        assert!(properties.memory_alignment.is_power_of_two());
        assert!(properties.shared_memory >= 16 * 1024);
    }
}

#[test]
fn a_device_that_is_not_there_is_named_with_those_that_are() {
    let device = device_or_skip!();
    let error = Device::open("opencl:57.3").unwrap_err();
    let DeviceError::NotFound { asked, found } = &error else { panic!("{error:?}") };
    assert_eq!(asked, "opencl:57.3");
    assert!(found.contains(&device.id().to_string()));
    if found.len() == 1 {
        let words = "device `opencl:57.3` not found: there is only opencl:0.0; run `parloop doctor` to see what is missing";
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn bytes_come_back_as_they_were_written_filled_and_copied() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let memory = device.allocate_zeroed(1003).unwrap();
    let bytes: Vec<u8> = (0..500).map(|i| (i * 7) as u8).collect();
    stream.write(&memory, 3, &bytes).unwrap();
    stream.fill(&memory, 101, 17, 0xab).unwrap();
    stream.fill(&memory, 512, 64, 0xcd).unwrap();
    stream.copy(&memory, 700, &memory, 90, 40).unwrap();
    let mut expected = vec![0u8; 1003];
    expected[3..503].copy_from_slice(&bytes);
    expected[101..118].fill(0xab);
    expected[512..576].fill(0xcd);
    expected.copy_within(90..130, 700);
    assert_eq!(download::<u8>(&stream, &memory), expected);
    let error = stream.write(&memory, 1000, &[0; 4]).unwrap_err();
    assert_eq!(error, DeviceError::OutOfBounds { operation: "write", offset: 1000, len: 4, size: 1003 });
}

#[test]
fn pinned_memory_carries_bytes_both_ways() {
    let device = device_or_skip!();
    let stream = device.create_stream().unwrap();
    let memory = device.allocate(4096).unwrap();
    let mut to = device.allocate_pinned(4096).unwrap();
    let mut from = device.allocate_pinned(4096).unwrap();
    assert!(to.as_slice().unwrap().iter().all(|&byte| byte == 0));
    to.as_mut_slice().unwrap().iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 251) as u8);
    stream.write_pinned(&memory, 0, &to).unwrap();
    stream.read_pinned(&memory, 0, &mut from).unwrap();
    assert_eq!(from.as_slice().unwrap(), to.as_slice().unwrap());
}

#[test]
fn memory_in_use_is_missing_from_free_memory_until_it_is_dropped() {
    device_or_skip!();
    // A context of its own, which no other test allocates in.
    let foreign = Foreign::new(0);
    let (device, _) = foreign.adopt();
    let total = device.properties().memory_total;
    assert_eq!(device.memory_info().unwrap().free, total);
    let memory = device.allocate(1 << 20).unwrap();
    let part = memory.slice(0, 1 << 10).unwrap();
    assert_eq!(device.memory_info().unwrap().free, total - (1 << 20));
    drop(memory);
    assert_eq!(device.memory_info().unwrap().free, total - (1 << 20), "the part keeps the whole");
    drop(part);
    assert_eq!(device.memory_info().unwrap().free, total);
}

#[test]
fn more_memory_than_the_device_has_is_an_error() {
    device_or_skip!();
    let foreign = Foreign::new(0);
    let (device, _) = foreign.adopt();
    let limit = device.properties().max_allocation as usize;
    assert!(matches!(device.allocate(limit + 1), Err(DeviceError::OutOfMemory { .. })));
    assert!(matches!(device.allocate(usize::MAX), Err(DeviceError::OutOfMemory { .. })));
    let mut held = Vec::new();
    let error = loop {
        match device.allocate(limit) {
            Ok(memory) => held.push(memory),
            Err(error) => break error,
        }
        assert!(held.len() < 1000, "the device gives memory without end");
    };
    let DeviceError::OutOfMemory { asked, free: Some(free), .. } = error else { panic!("{error:?}") };
    assert_eq!(asked, limit as u64);
    assert!(free < device.properties().memory_total);
    drop(held);
    assert_eq!(device.memory_info().unwrap().free, device.properties().memory_total, "a refused allocation is not counted");
}

#[test]
fn a_part_is_its_buffer_with_an_offset_whatever_the_alignment() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let memory = upload(&stream, &(0..64).collect::<Vec<u8>>());
    for offset in [0, 1, 8, 12, 63] {
        let part = memory.slice(offset, 1).unwrap();
        assert_eq!((part.handle(), part.offset(), part.host_pointer()), (memory.handle(), offset, None));
        assert_eq!(download::<u8>(&stream, &part), [offset as u8]);
    }
    assert!(matches!(memory.slice(1, 64), Err(DeviceError::OutOfBounds { .. })));
    let (one, two) = (memory.slice(3, 20).unwrap(), memory.slice(30, 20).unwrap());
    stream.copy(&two, 1, &one, 2, 10).unwrap();
    assert_eq!(download::<u8>(&stream, &two)[..12], [30, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 41]);
    let error = stream.copy(&memory.slice(10, 20).unwrap(), 0, &one, 0, 20).unwrap_err();
    assert_eq!(error.to_string(), "opencl:0.0 cannot copy 20 bytes onto themselves, 7 bytes further; copy through other memory");
}

#[test]
fn parts_of_parts_are_places_in_the_whole_and_outlive_it() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let step = 13;
    let whole = device.allocate_zeroed(8 * step).unwrap();
    let part = whole.slice(2 * step, 5 * step).unwrap();
    let inner = part.slice(step, 3 * step).unwrap();
    let innermost = inner.slice(step, step).unwrap();
    stream.fill(&innermost, 0, step, 9).unwrap();
    stream.fill(&part, 0, 1, 7).unwrap();
    let mut expected = vec![0u8; 8 * step];
    expected[2 * step] = 7;
    expected[4 * step..5 * step].fill(9);
    assert_eq!(download::<u8>(&stream, &whole), expected);
    drop((whole, part, inner));
    assert_eq!(download::<u8>(&stream, &innermost), vec![9; step]);
}

#[test]
fn zeroed_memory_is_ready_on_streams_made_before_and_after() {
    let device = device_or_skip!();
    let function = load(&device, SOURCE).function("spin").unwrap();
    let busy = device.allocate_zeroed(256 * 4).unwrap();
    let before = device.create_stream().unwrap();
    for _ in 0..4 {
        queue_work(&device.default_stream().unwrap(), &function, &busy);
    }
    let memory = device.allocate_zeroed(1 << 16).unwrap();
    before.fill(&memory, 0, 1 << 15, 1).unwrap();
    let after = device.create_stream().unwrap();
    after.fill(&memory, 1 << 15, 1 << 15, 2).unwrap();
    device.synchronize().unwrap();
    let expected = [[1u8; 1 << 15], [2; 1 << 15]].concat();
    assert_eq!(download::<u8>(&device.default_stream().unwrap(), &memory), expected, "zeroes came last");
}

#[test]
fn axpy_is_right_for_every_block_size_and_length() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let function = load(&device, SOURCE).function("axpy").unwrap();
    for n in [1usize, 2, 63, 64, 65, 1000, 4096] {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        for block in [Some(1), Some(7), Some(64), None] {
            let (x_memory, y_memory) = (upload(&stream, &x), upload(&stream, &vec![1.0f64; n]));
            let shape = Launch::over(n as u64, block, &function).unwrap();
            axpy(&stream, &function, &shape, 0.5, &x_memory, &y_memory);
            let expected: Vec<f64> = x.iter().map(|x| 1.0 + 0.5 * x).collect();
            assert_eq!(download::<f64>(&stream, &y_memory), expected, "n {n}, block {block:?}");
        }
    }
}

#[test]
fn a_null_argument_is_shared_memory_of_its_size() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let function = load(&device, SOURCE).function("sum_block").unwrap();
    let input = upload(&stream, &(0..64i32).collect::<Vec<_>>());
    let out = device.allocate(4 * 4).unwrap();
    let args = [Arg::memory(&input), Arg::memory(&out), Arg::Shared(64)];
    let shape = Launch::grid([4, 1, 1], [16, 1, 1], &function).unwrap();
    launch(&stream, &function, &shape, &args).unwrap();
    assert_eq!(download::<i32>(&stream, &out), [120, 376, 632, 888]);
    for wrong in [Launch { shared: 64, ..shape }, Launch { block: [0, 1, 1], ..shape }] {
        let error = launch(&stream, &function, &wrong, &args).unwrap_err();
        assert!(matches!(error, DeviceError::InvalidLaunch { .. }), "{error:?}");
    }
}

#[test]
fn three_axes_reach_every_work_item() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let source = "kernel void mark(global int *out) {
        int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        out[(z * (int)get_global_size(1) + y) * (int)get_global_size(0) + x] = 100 * z + 10 * y + x;
    }";
    let function = load(&device, source).function("mark").unwrap();
    let out = device.allocate(4 * 4 * 6 * 3).unwrap();
    let shape = Launch::grid([2, 3, 3], [2, 2, 1], &function).unwrap();
    launch(&stream, &function, &shape, &[Arg::memory(&out)]).unwrap();
    let expected: Vec<i32> = (0..3).flat_map(|z| (0..6).flat_map(move |y| (0..4).map(move |x| 100 * z + 10 * y + x))).collect();
    assert_eq!(download::<i32>(&stream, &out), expected);
}

#[test]
fn an_argument_of_wrong_size_or_number_is_an_error_with_its_name() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let function = load(&device, SOURCE).function("spin").unwrap();
    let out = device.allocate(4).unwrap();
    let shape = Launch::over(1, None, &function).unwrap();
    let error = launch(&stream, &function, &shape, &[Arg::memory(&out), Arg::value(1u8)]).unwrap_err();
    assert_eq!(error.to_string(), "opencl:0.0: clSetKernelArg failed with -51 (CL_INVALID_ARG_SIZE)");
    let error = launch(&stream, &function, &shape, &[Arg::memory(&out)]).unwrap_err();
    assert_eq!(error.to_string(), "opencl:0.0: 1 arguments were given, but the kernel has 2 parameters");
}

#[test]
fn an_unknown_function_is_an_error() {
    let device = device_or_skip!();
    let module = load(&device, SOURCE);
    for name in ["nothing", "", "axpy\0"] {
        let error = module.function(name).unwrap_err();
        assert_eq!(error, DeviceError::UnknownFunction { device: device.id().to_string(), name: name.into() });
    }
}

#[test]
fn wrong_source_is_refused_with_the_compilers_words() {
    let device = device_or_skip!();
    let compiler = device.compiler().unwrap();
    let error = compiler.compile("kernel void f(global int *x) { x[0] = no_such_name; }", &[]).unwrap_err();
    let CompileError::Refused { compiler: name, log } = error else { panic!("{error:?}") };
    assert!(log.contains("no_such_name"), "{log}");
    assert!(compiler.identity().starts_with(&name));
    let error = compiler.compile("kernel void f() {}", &["-no-such-option".into()]).unwrap_err();
    assert!(matches!(error, CompileError::Refused { .. }), "{error:?}");
    let error = compiler.compile("kernel void f() {}", &["-DX=\0".into()]).unwrap_err();
    assert!(matches!(error, CompileError::Failed { .. }), "{error:?}");
}

#[test]
fn options_reach_the_compiler() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let source = "kernel void f(global int *x) { x[0] = VALUE; }";
    let bytes = device.compiler().unwrap().compile(source, &["-DVALUE=42".into(), "-cl-std=CL1.1".into()]).unwrap();
    let function = load_binary(&device, &ModuleBinary { bytes }).unwrap().function("f").unwrap();
    let out = device.allocate_zeroed(4).unwrap();
    launch(&stream, &function, &Launch::over(1, None, &function).unwrap(), &[Arg::memory(&out)]).unwrap();
    assert_eq!(download::<i32>(&stream, &out), [42]);
}

#[test]
fn damaged_binaries_do_not_load() {
    let device = device_or_skip!();
    let whole = compile(&device, SOURCE);
    let mut changed = whole.bytes.clone();
    changed[whole.bytes.len() / 2] ^= 0x40;
    let damaged = [vec![], b"garbage".to_vec(), vec![0xff; 4096], whole.bytes[..whole.bytes.len() / 2].to_vec(), changed];
    for bytes in damaged {
        let length = bytes.len();
        let error = load_binary(&device, &ModuleBinary { bytes }).unwrap_err();
        assert!(matches!(error, DeviceError::Load { .. }), "{length} bytes: {error:?}");
    }
    assert!(load_binary(&device, &whole).is_ok());
}

#[test]
fn events_come_in_order_and_measure_time() {
    let device = device_or_skip!();
    let stream = device.create_stream().unwrap();
    let function = load(&device, SOURCE).function("spin").unwrap();
    let out = device.allocate_zeroed(256 * 4).unwrap();
    let event = device.create_event().unwrap();
    assert_eq!(event.query().unwrap_err(), DeviceError::EventNotRecorded { device: device.id().to_string() });
    assert_eq!(event.wait().unwrap_err(), DeviceError::EventNotRecorded { device: device.id().to_string() });

    let start = stream.record().unwrap();
    queue_work(&stream, &function, &out);
    let middle = stream.record().unwrap();
    queue_work(&stream, &function, &out);
    stream.record_into(&event).unwrap();
    poll(&event);
    assert!(start.query().unwrap() && middle.query().unwrap(), "earlier events are done too");
    let (first, second, all) = (middle.since(&start).unwrap(), event.since(&middle).unwrap(), event.since(&start).unwrap());
    assert!(first > 1e-5 && second > 1e-5, "{first} {second}");
    assert!((first + second - all).abs() < 1e-9);
    assert!((start.since(&event).unwrap() + all).abs() < 1e-12);
}

#[test]
fn a_stream_waits_for_an_event_of_another_and_tells_when_it_is_idle() {
    let device = device_or_skip!();
    let (one, two) = (device.create_stream().unwrap(), device.create_stream().unwrap());
    let function = load(&device, SOURCE).function("spin").unwrap();
    let out = device.allocate_zeroed(256 * 4).unwrap();
    let copy = device.allocate_zeroed(256 * 4).unwrap();
    for _ in 0..4 {
        queue_work(&one, &function, &out);
    }
    let event = one.record().unwrap();
    two.wait_for(&event).unwrap();
    two.copy(&copy, 0, &out, 0, 256 * 4).unwrap();
    let start = Instant::now();
    while !two.is_idle().unwrap() {
        assert!(start.elapsed() < Duration::from_secs(60), "the stream never became idle");
    }
    assert!(event.query().unwrap(), "what the stream waited for is done");
    let values = download::<f32>(&one, &out);
    assert!(values[0] > 999.0, "{}", values[0]);
    assert_eq!(download::<f32>(&two, &copy), values);
    device.synchronize().unwrap();
}

#[test]
fn memory_may_be_dropped_while_work_uses_it() {
    let device = device_or_skip!();
    let stream = device.default_stream().unwrap();
    let function = load(&device, SOURCE).function("axpy").unwrap();
    let y = upload(&stream, &[1.0f64; 1024]);
    let shape = Launch::over(1024, None, &function).unwrap();
    for _ in 0..100 {
        let x = upload(&stream, &[1.0f64; 1024]);
        axpy(&stream, &function, &shape, 1.0, &x, &y);
    }
    assert_eq!(download::<f64>(&stream, &y), [101.0; 1024]);
}

#[test]
fn two_threads_launch_one_function_without_mixing_arguments() {
    let device = device_or_skip!();
    let function = load(&device, SOURCE).function("axpy").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (device, function) = (&device, &function);
            scope.spawn(move || {
                let stream = device.create_stream().unwrap();
                let a = f64::from(thread + 1);
                let (x, y) = (upload(&stream, &[1.0f64; 300]), upload(&stream, &[0.0f64; 300]));
                let shape = Launch::over(300, Some(64), function).unwrap();
                for _ in 0..500 {
                    axpy(&stream, function, &shape, a, &x, &y);
                }
                assert_eq!(download::<f64>(&stream, &y), [500.0 * a; 300]);
            });
        }
    });
}

#[test]
fn foreign_context_queue_and_buffer_are_used_in_place() {
    device_or_skip!();
    let foreign = Foreign::new(0);
    let buffer = foreign.buffer(&[2.0f64; 128]);
    {
        let (device, stream) = foreign.adopt();
        assert_eq!(device.id(), DeviceId::OpenCl { platform: 0, device: 0 });
        assert_eq!(stream.handle(), foreign.queue as u64);
        assert!(!stream.is_foreign());
        assert!(foreign.adopt().0.same(&device), "the same pair is the same device");
        // SAFETY: the buffer is alive.
        let memory = unsafe { device.adopt_memory(buffer as u64, 1024).unwrap() };
        assert_eq!(memory.handle(), buffer as u64);
        // SAFETY: as above.
        let error = unsafe { device.adopt_memory(buffer as u64, 1025).unwrap_err() };
        assert_eq!(error, DeviceError::OutOfBounds { operation: "adopt memory", offset: 0, len: 1025, size: 1024 });

        let function = load(&device, SOURCE).function("axpy").unwrap();
        let x = upload(&stream, &[1.0f64; 128]);
        axpy(&stream, &function, &Launch::over(128, None, &function).unwrap(), 3.0, &x, &memory);
        let (one, two) = (stream.record().unwrap(), stream.record().unwrap());
        let error = two.since(&one).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "this queue has no profiling: {error:?}");
        assert_eq!(foreign.read::<f64>(buffer, 128), [5.0; 128]);
    }
    assert_eq!(foreign.references(buffer), 1, "our reference was given back");
    foreign.release(buffer);
}

#[test]
fn a_foreign_part_of_a_buffer_has_parts_too() {
    device_or_skip!();
    let foreign = Foreign::new(0);
    let (device, stream) = foreign.adopt();
    let step = device.properties().memory_alignment;
    let buffer = foreign.buffer(&vec![5u8; 8 * step]);
    let part = foreign.part(buffer, 2 * step, 4 * step);
    // SAFETY: the part is alive; giving back the reference of its maker leaves ours.
    let memory = unsafe { device.adopt_memory(part as u64, 4 * step).unwrap() };
    foreign.release(part);
    stream.fill(&memory.slice(step + 3, step).unwrap(), 0, step, 0).unwrap();
    let mut expected = vec![5u8; 8 * step];
    expected[3 * step + 3..4 * step + 3].fill(0);
    assert_eq!(foreign.read::<u8>(buffer, 8 * step), expected);
    drop(memory);
    foreign.release(buffer);
}

#[test]
fn what_cannot_be_adopted_is_refused() {
    let ours = device_or_skip!();
    let (out_of_order, foreign) = (Foreign::new(1), Foreign::new(0));
    let buffer = foreign.buffer(&[0u8; 64]);
    // SAFETY: the handles are alive, or 0, which is allowed.
    unsafe {
        let error = opencl::adopt(out_of_order.context as u64, out_of_order.queue as u64).unwrap_err();
        assert!(matches!(&error, DeviceError::Unsupported { what, .. } if what.contains("out-of-order")), "{error:?}");
        assert!(matches!(opencl::adopt(0, 0), Err(DeviceError::Driver { code: -34, .. })));
        assert!(matches!(opencl::adopt(foreign.context as u64, 0), Err(DeviceError::Driver { code: -36, .. })));
        let error = opencl::adopt(out_of_order.context as u64, foreign.queue as u64).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error:?}");
        let error = ours.adopt_memory(buffer as u64, 64).unwrap_err();
        assert!(matches!(&error, DeviceError::Unsupported { what, .. } if what.contains("another context")), "{error:?}");
        assert!(matches!(ours.adopt_stream(foreign.queue as u64), Err(DeviceError::Unsupported { .. })));
        assert!(matches!(ours.adopt_memory(0, 64), Err(DeviceError::Driver { code: -38, .. })));
    }
    foreign.release(buffer);
}

/// OpenCL objects made as another library would make them.
struct Foreign {
    library: Library,
    context: *mut c_void,
    queue: *mut c_void,
}

impl Foreign {
    fn new(queue_properties: u64) -> Foreign {
        type Ids = unsafe extern "C" fn(u32, *mut *mut c_void, *mut u32) -> i32;
        type DeviceIds = unsafe extern "C" fn(*mut c_void, u64, u32, *mut *mut c_void, *mut u32) -> i32;
        type Context = unsafe extern "C" fn(*const isize, u32, *const *mut c_void, *const c_void, *mut c_void, *mut i32) -> *mut c_void;
        type Queue = unsafe extern "C" fn(*mut c_void, *mut c_void, u64, *mut i32) -> *mut c_void;
        let (mut platform, mut device, mut code) = (null_mut(), null_mut(), 0);
        // SAFETY: the functions have these types in OpenCL 1.2.
        unsafe {
            let library = Library::new("libOpenCL.so.1").unwrap();
            assert_eq!(library.get::<Ids>("clGetPlatformIDs").unwrap()(1, &mut platform, null_mut()), 0);
            assert_eq!(library.get::<DeviceIds>("clGetDeviceIDs").unwrap()(platform, 0xffff_ffff, 1, &mut device, null_mut()), 0);
            let context = library.get::<Context>("clCreateContext").unwrap()(null(), 1, &device, null(), null_mut(), &mut code);
            assert_eq!(code, 0);
            let queue = library.get::<Queue>("clCreateCommandQueue").unwrap()(context, device, queue_properties, &mut code);
            assert_eq!(code, 0);
            Foreign { library, context, queue }
        }
    }

    fn adopt(&self) -> (Device, Stream) {
        // SAFETY: `self` never gives back its references.
        unsafe { opencl::adopt(self.context as u64, self.queue as u64).unwrap() }
    }

    fn buffer<T: Element>(&self, values: &[T]) -> *mut c_void {
        type Create = unsafe extern "C" fn(*mut c_void, u64, usize, *const c_void, *mut i32) -> *mut c_void;
        let (size, start, mut code) = (size_of_val(values), values.as_ptr().cast(), 0);
        // SAFETY: a read-write buffer (1) that copies (32) these values.
        let buffer = unsafe { self.library.get::<Create>("clCreateBuffer").unwrap()(self.context, 1 | 32, size, start, &mut code) };
        assert_eq!(code, 0);
        buffer
    }

    fn part(&self, buffer: *mut c_void, origin: usize, size: usize) -> *mut c_void {
        type Create = unsafe extern "C" fn(*mut c_void, u64, u32, *const [usize; 2], *mut i32) -> *mut c_void;
        let mut code = 0;
        // SAFETY: the buffer is alive; 0x1220 says that a region follows.
        let part = unsafe { self.library.get::<Create>("clCreateSubBuffer").unwrap()(buffer, 1, 0x1220, &[origin, size], &mut code) };
        assert_eq!(code, 0);
        part
    }

    fn read<T: Element + Default>(&self, buffer: *mut c_void, count: usize) -> Vec<T> {
        type Events = *const *mut c_void;
        type Read = unsafe extern "C" fn(*mut c_void, *mut c_void, u32, usize, usize, *mut c_void, u32, Events, *mut *mut c_void) -> i32;
        let mut values = vec![T::default(); count];
        let (size, start) = (size_of_val(&values[..]), values.as_mut_ptr().cast());
        // SAFETY: a blocking read of the whole buffer into the vector.
        let code = unsafe {
            self.library.get::<Read>("clEnqueueReadBuffer").unwrap()(self.queue, buffer, 1, 0, size, start, 0, null(), null_mut())
        };
        assert_eq!(code, 0);
        values
    }

    fn references(&self, buffer: *mut c_void) -> u32 {
        type Info = unsafe extern "C" fn(*mut c_void, u32, usize, *mut u32, *mut usize) -> i32;
        let mut count = 0;
        // SAFETY: the buffer is alive; 0x1105 asks for its reference count.
        let code = unsafe { self.library.get::<Info>("clGetMemObjectInfo").unwrap()(buffer, 0x1105, 4, &mut count, null_mut()) };
        assert_eq!(code, 0);
        count
    }

    fn release(&self, buffer: *mut c_void) {
        type Release = unsafe extern "C" fn(*mut c_void) -> i32;
        // SAFETY: the caller has a reference to give back.
        assert_eq!(unsafe { self.library.get::<Release>("clReleaseMemObject").unwrap()(buffer) }, 0);
    }
}
