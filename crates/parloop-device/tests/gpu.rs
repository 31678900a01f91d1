//! The cuda and hip backends: what works without a device, then the same tests for every GPU that is here.
//!
//! A missing compiler or device is a printed skip; with `CI=true` a missing compiler fails. What would spoil the other tests (wrong
//! environment variables, work that faults) runs in a process of its own.

use std::ffi::c_void;
use std::process::Command;
use std::time::Instant;

use cudarc::driver::sys;
use parloop_device::{
    CompileError, Compiler, Device, DeviceError, DeviceKind, Function, Launch, Memory, Module, ModuleBinary, Stream, as_bytes,
    as_bytes_mut, cuda, hip,
};

const SOURCE: &str = r#"
extern "C" __global__ void axpy(long long n, double a, const double *x, double *y)
{
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] += a * x[i];
}
extern "C" __global__ void spin(long long cycles, int *out, int value)
{
    long long start = clock64();
    while (clock64() - start < cycles) { }
    *out = value;
}
extern "C" __global__ void fault(int *out)
{
    *(volatile int *)((char *)out - 0x7000000000LL) = 1;
}
extern "C" __global__ void nothing() { }
__device__ int counter[1000];
__constant__ double weights[4] = {1, 2, 3, 4};
extern "C" __global__ void reverse(double *x)
{
    extern __shared__ double dynamic[];
    __shared__ double fixed[64];
    int i = threadIdx.x;
    fixed[i] = x[i];
    __syncthreads();
    dynamic[i] = fixed[63 - i] * weights[i % 4];
    __syncthreads();
    x[i] = dynamic[i];
    counter[i] += 1;
}
"#;

/// A few tenths of a second on today's GPUs.
const LONG: i64 = 500_000_000;

fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// The compiler, or a skip where its library is missing.
fn unless_missing<T>(compiler: Result<T, CompileError>) -> Option<T> {
    match compiler {
        Err(error @ CompileError::NoCompiler { .. }) if !in_ci() => {
            println!("skipped: {error}");
            None
        }
        compiler => Some(compiler.unwrap_or_else(|error| panic!("{error}"))),
    }
}

/// One test at a time has the GPU: some fill its memory, and some look at work that is still in progress.
fn gpu_alone() -> std::sync::MutexGuard<'static, ()> {
    static GPU: std::sync::Mutex<()> = std::sync::Mutex::new(());
    GPU.lock().unwrap_or_else(|e| e.into_inner())
}

/// Runs `test` for every GPU that is here.
fn for_each_gpu(test: impl Fn(&Device)) {
    let _alone = gpu_alone();
    let only = std::env::var("PARLOOP_TEST_KIND").ok();
    let kinds = [DeviceKind::Cuda, DeviceKind::Hip].into_iter().filter(|kind| only.as_ref().is_none_or(|only| only == kind.name()));
    let gpus: Vec<Device> = kinds.filter_map(|kind| Device::list_kind(kind).ok()).flatten().collect();
    if gpus.is_empty() {
        println!("skipped: no GPU is here");
    }
    for device in gpus {
        println!("on {device:?}");
        test(&device);
    }
}

fn compile(device: &Device) -> Option<ModuleBinary> {
    let compiler = unless_missing(device.compiler())?;
    Some(ModuleBinary { bytes: compiler.compile(SOURCE, &[]).unwrap() })
}

fn load(device: &Device) -> Option<Module> {
    // SAFETY: the source is that of these tests.
    Some(unsafe { device.load(&compile(device)?).unwrap() })
}

/// Runs for every GPU that also has a compiler.
fn for_each_module(test: impl Fn(&Device, &Module)) {
    for_each_gpu(|device| {
        if let Some(module) = load(device) {
            test(device, &module);
        }
    });
}

fn upload(device: &Device, values: &[f64]) -> Memory {
    let memory = device.allocate(size_of_val(values)).unwrap();
    device.default_stream().unwrap().write(&memory, 0, as_bytes(values)).unwrap();
    memory
}

fn download(stream: &Stream, memory: &Memory) -> Vec<f64> {
    let mut values = vec![0.0; memory.len() / size_of::<f64>()];
    stream.read(memory, 0, as_bytes_mut(&mut values)).unwrap();
    values
}

fn pointer<T>(value: &mut T) -> *mut c_void {
    (&raw mut *value).cast()
}

fn launch_axpy(stream: &Stream, axpy: &Function, a: f64, x: &Memory, y: &Memory) {
    let n = (x.len() / size_of::<f64>()) as i64;
    let launch = Launch::over(n as u64, None, axpy).unwrap();
    let (mut n, mut a, mut x, mut y) = (n, a, x.handle(), y.handle());
    let args = [pointer(&mut n), pointer(&mut a), pointer(&mut x), pointer(&mut y)];
    // SAFETY: these are the function's parameters, and the tests synchronise before they drop the memory or rely on its order.
    unsafe { stream.launch(axpy, &launch, &args, &[8; 4]).unwrap() };
}

fn launch_spin(stream: &Stream, spin: &Function, cycles: i64, out: &Memory, value: i32) {
    let launch = Launch::grid([1; 3], [1; 3], spin).unwrap();
    let (mut cycles, mut out, mut value) = (cycles, out.handle(), value);
    let args = [pointer(&mut cycles), pointer(&mut out), pointer(&mut value)];
    // SAFETY: as in `launch_axpy`.
    unsafe { stream.launch(spin, &launch, &args, &[8, 8, 4]).unwrap() };
}

/// Runs one of the ignored tests of this file in a process of its own; its output if it succeeds.
fn in_own_process(test: &str, variables: &[(&str, &str)]) -> String {
    let _alone = gpu_alone();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {:?}\n{text}", output.status);
    text
}

// ---- compilers, without a device ----

fn check_compiler(compiler: &dyn Compiler, name: &str, arch: &str) {
    let code = compiler.compile(SOURCE, &["-DUNUSED=1".into()]).unwrap();
    assert!(code.starts_with(b"\x7fELF"), "{:?}", &code[..16.min(code.len())]);
    assert!(compiler.identity().contains(name) && compiler.identity().contains(arch), "{}", compiler.identity());
    assert!(compiler.identity().contains("/lib"), "the library's path is missing: {}", compiler.identity());

    match compiler.compile("extern \"C\" __global__ void f() { int x = ; }", &[]) {
        Err(CompileError::Refused { compiler, log }) => {
            assert!(compiler.starts_with(name), "{compiler}");
            assert!(log.contains("error") && log.contains("expected"), "{log}");
            assert!(log.contains("int x = ;") && !log.contains('\0'), "{log}");
        }
        other => panic!("{other:?}"),
    }
    match compiler.compile("void f() {}\0", &[]) {
        Err(CompileError::Failed { reason, .. }) => assert_eq!(reason, "the source contains a zero byte"),
        other => panic!("{other:?}"),
    }
    match compiler.compile(SOURCE, &["--offload-arch=gfx9zz".into()]) {
        Err(CompileError::Failed { reason, .. }) => {
            assert_eq!(reason, "the option `--offload-arch=gfx9zz` selects an architecture, but the device determines that; omit it");
        }
        other => panic!("{other:?}"),
    }
}

fn refusal_of_arch(compiler: Result<std::sync::Arc<dyn Compiler>, CompileError>) -> String {
    match compiler {
        Err(CompileError::Failed { reason, .. }) => reason,
        Err(other) => panic!("{other:?}"),
        Ok(compiler) => panic!("accepted: {}", compiler.identity()),
    }
}

#[test]
fn nvrtc_compiles_for_sm_90_without_a_device_and_shows_its_log_when_it_refuses() {
    if let Some(compiler) = unless_missing(cuda::compiler("sm_90")) {
        check_compiler(&*compiler, "NVRTC", "sm_90");
    }
}

#[test]
fn a_long_source_is_compiled_in_threads_to_the_same_code_and_errors_are_shown() {
    let Some(compiler) = unless_missing(cuda::compiler("sm_90")) else { return };
    let source = |count: usize| -> String {
        (0..count)
            .map(|i| format!("extern \"C\" __global__ void f{i}(double *x) {{ x[threadIdx.x] *= sin(x[threadIdx.x] + {i}); }}\n"))
            .collect()
    };
    let (short, long) = (source(3), format!("{}\n{}", " ".repeat(200_000), source(3)));
    assert_eq!(compiler.compile(&short, &[]).unwrap().len(), compiler.compile(&long, &[]).unwrap().len());
    assert!(matches!(compiler.compile(&format!("{long}\nnonsense"), &[]), Err(CompileError::Refused { .. })));
}

#[test]
fn an_architecture_that_nvrtc_does_not_know_is_answered_with_those_it_knows() {
    if unless_missing(cuda::compiler("sm_90")).is_some() {
        for arch in ["sm_7", "sm_", "", "gfx90a", "sm_90 --help", "90"] {
            let reason = refusal_of_arch(cuda::compiler(arch));
            assert!(reason.starts_with(&format!("it does not support the architecture `{arch}`, only sm_")), "{reason}");
            assert!(reason.contains("sm_90"), "{reason}");
        }
        assert!(cuda::compiler("sm_90a").is_ok());
    }
}

#[test]
fn hiprtc_compiles_for_gfx90a_without_a_device_and_shows_its_log_when_it_refuses() {
    if let Some(compiler) = unless_missing(hip::compiler("gfx90a")) {
        check_compiler(&*compiler, "hiprtc", "gfx90a");
    }
}

#[test]
fn an_architecture_that_hiprtc_does_not_know_is_an_error_and_not_the_end_of_the_process() {
    if unless_missing(hip::compiler("gfx90a")).is_some() {
        for arch in ["gfx9zz", "gfx", "", "sm_90", "gfx90a --help"] {
            let reason = refusal_of_arch(hip::compiler(arch));
            assert!(reason.starts_with(&format!("it does not support the architecture `{arch}`, only gfx")), "{reason}");
        }
        assert!(hip::compiler("gfx90a:sramecc+:xnack-").is_ok());
    }
}

#[test]
fn compilers_can_be_used_by_several_threads_at_once() {
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let source = format!("extern \"C\" __global__ void f(int *x) {{ *x = {number}; }}");
                for compiler in [cuda::compiler("sm_90"), hip::compiler("gfx90a")].into_iter().filter_map(unless_missing) {
                    assert!(compiler.compile(&source, &[]).unwrap().starts_with(b"\x7fELF"));
                }
            });
        }
    });
}

#[test]
#[ignore = "run by another test, with its own environment"]
fn the_libraries_are_nowhere() {
    assert_eq!(
        cuda::compiler("sm_90").err().unwrap().to_string(),
        "no compiler for cuda kernels was found: tried /nowhere/libnvrtc.so.13; install it with `pip install nvidia-cuda-nvrtc` or with \
         the CUDA toolkit, or set PARLOOP_NVRTC to the path of libnvrtc"
    );
    assert_eq!(
        Device::open("hip:0").unwrap_err().to_string(),
        "hip driver not found: none of /nowhere/libamdhip64.so could be opened; it comes with ROCm (Debian: libamdhip64-5); install \
         that, or set PARLOOP_HIP to the path of libamdhip64"
    );
}

#[test]
fn a_library_that_the_user_points_at_is_not_replaced_by_another() {
    let variables = [("PARLOOP_NVRTC", "/nowhere/libnvrtc.so.13"), ("PARLOOP_HIP", "/nowhere/libamdhip64.so")];
    in_own_process("the_libraries_are_nowhere", &variables);
}

// ---- drivers, with or without a device ----

fn check_driver(kind: DeviceKind, library: &str) {
    let (_, found) = Device::probe().into_iter().find(|(found, _)| *found == kind).unwrap();
    match found {
        Ok(devices) => {
            let asked = format!("{kind}:63");
            let error = Device::open(&asked).unwrap_err();
            let found: Vec<String> = devices.iter().map(|device| device.id().to_string()).collect();
            assert_eq!(error, DeviceError::NotFound { asked, found });
        }
        Err(DeviceError::DriverMissing { kind: missing, tried, hint }) => {
            assert_eq!(missing, kind);
            assert!(tried.iter().any(|name| name.contains(library)), "{tried:?}");
            assert!(hint.contains("install"), "{hint}");
            assert!(matches!(Device::open(kind.name()), Err(DeviceError::DriverMissing { .. })));
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn cuda_devices_are_listed_or_the_driver_is_missing() {
    check_driver(DeviceKind::Cuda, "libcuda.so.1");
}

#[test]
fn hip_devices_are_listed_or_the_driver_is_missing() {
    check_driver(DeviceKind::Hip, "libamdhip64");
}

#[test]
fn nvml_tells_of_every_cuda_device_or_is_missing() {
    let nvml = match cuda::Nvml::init() {
        Ok(nvml) => nvml,
        Err(error @ (DeviceError::DriverMissing { .. } | DeviceError::Driver { .. })) => return println!("skipped: {error}"),
        Err(other) => panic!("{other}"),
    };
    for device in Device::list().iter().filter(|device| device.kind() == DeviceKind::Cuda) {
        let sensor = nvml.device_at(device.properties().pci.unwrap()).unwrap();
        let memory = sensor.memory_info().unwrap();
        assert!(memory.total >= device.properties().memory_total && memory.free <= memory.total && memory.used <= memory.total);
        let rates = sensor.utilization_rates().unwrap();
        assert!(rates.gpu <= 100 && rates.memory <= 100, "{rates:?}");
    }
    assert!(matches!(nvml.device(9999), Err(DeviceError::Driver { call: "nvmlDeviceGetHandleByIndex_v2", .. })));
    assert!(nvml.device_count().unwrap() > 0 && nvml.device(0).is_ok());
    nvml.shutdown();
}

// ---- every GPU ----

#[test]
fn properties_are_those_of_a_gpu() {
    for_each_gpu(|device| {
        let properties = device.properties();
        println!("{properties:#?}");
        let prefix = if device.kind() == DeviceKind::Cuda { "sm_" } else { "gfx" };
        assert!(properties.arch.starts_with(prefix), "{}", properties.arch);
        assert!(!properties.name.is_empty() && !properties.driver.is_empty());
        assert!(properties.compute_units > 0 && [32, 64].contains(&properties.simd_width));
        assert!(properties.max_block >= 256 && properties.max_block_dims[0] >= 256 && properties.max_grid[0] >= 65535);
        assert!(properties.shared_memory >= 32 << 10 && properties.memory_total > 1 << 28);
        assert!(properties.uuid.is_some() && properties.pci.is_some());
        let info = device.memory_info().unwrap();
        assert!(info.free > 0 && info.free <= info.total);
    });
}

#[test]
fn memory_reads_back_what_was_written_filled_and_copied() {
    for_each_gpu(|device| {
        let stream = device.default_stream().unwrap();
        let memory = device.allocate(1000).unwrap();
        let bytes: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
        stream.write(&memory, 0, &bytes).unwrap();
        stream.fill(&memory, 10, 5, 0xab).unwrap();
        let part = memory.slice(3, 100).unwrap().slice(4, 20).unwrap();
        assert_eq!(part.handle(), memory.handle() + 7);
        let mut back = [0; 20];
        stream.read(&part, 0, &mut back).unwrap();
        let mut expected = bytes.clone();
        expected[10..15].fill(0xab);
        assert_eq!(back, expected[7..27]);
        stream.copy(&memory, 501, &memory, 1, 499).unwrap();
        expected.copy_within(1..500, 501);
        let mut all = vec![0; 1000];
        stream.read(&memory, 0, &mut all).unwrap();
        assert_eq!(all, expected);
        let zeros = device.allocate_zeroed(4096).unwrap();
        let mut back = vec![1; 4096];
        device.create_stream().unwrap().read(&zeros, 0, &mut back).unwrap();
        assert_eq!(back, vec![0; 4096]);
    });
}

#[test]
fn a_part_keeps_the_whole_memory() {
    for_each_gpu(|device| {
        let stream = device.create_stream().unwrap();
        let part = {
            let whole = device.allocate(64 << 20).unwrap();
            stream.fill(&whole, 0, whole.len(), 7).unwrap();
            whole.slice(1 << 20, 16).unwrap()
        };
        let _other = device.allocate_zeroed(64 << 20).unwrap();
        let mut back = [0; 16];
        stream.read(&part, 0, &mut back).unwrap();
        assert_eq!(back, [7; 16]);
    });
}

#[test]
fn pinned_memory_is_copied_behind_the_back_and_waited_for() {
    for_each_gpu(|device| {
        let stream = device.create_stream().unwrap();
        let len = 32 << 20;
        let mut source = device.allocate_pinned(len).unwrap();
        source.as_mut_slice().unwrap().iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 249) as u8);
        let memory = device.allocate(len).unwrap();
        let mut target = device.allocate_pinned(len).unwrap();
        stream.write_pinned(&memory, 0, &source).unwrap();
        stream.read_pinned(&memory, 0, &mut target).unwrap();
        assert!(target.as_slice().unwrap() == source.as_slice().unwrap());
        // Dropped with a copy in flight.
        stream.read_pinned(&memory, 0, &mut target).unwrap();
        drop((target, memory, stream));
        device.synchronize().unwrap();
    });
}

#[test]
fn kernels_compute() {
    for_each_module(|device, module| {
        let axpy = module.function("axpy").unwrap();
        assert!(axpy.max_block() >= 32);
        for n in [1usize, 1000, 1 << 20] {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let (x, y) = (upload(device, &values), upload(device, &values));
            for stream in [device.default_stream().unwrap(), device.create_stream().unwrap()] {
                launch_axpy(&stream, &axpy, 2.0, &x, &y);
            }
            let result = download(&device.default_stream().unwrap(), &y);
            assert!(result.iter().zip(&values).all(|(result, value)| *result == 5.0 * value));
        }
    });
}

#[test]
fn blocks_share_fixed_and_dynamic_memory() {
    for_each_module(|device, module| {
        let reverse = module.function("reverse").unwrap();
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        let x = upload(device, &values);
        let mut handle = x.handle();
        let launch = Launch { shared: 64 * 8, ..Launch::grid([1; 3], [64, 1, 1], &reverse).unwrap() };
        let stream = device.create_stream().unwrap();
        // SAFETY: the function's parameter, of the size that it needs, lives until it was read back.
        unsafe { stream.launch(&reverse, &launch, &[pointer(&mut handle)], &[8]).unwrap() };
        let expected: Vec<f64> = (0..64).map(|i| f64::from(63 - i) * f64::from(i % 4 + 1)).collect();
        assert_eq!(download(&stream, &x), expected);
    });
}

#[test]
fn a_function_outlives_the_module_and_the_stream_it_came_with() {
    for_each_gpu(|device| {
        let Some(module) = load(device) else { return };
        let axpy = module.function("axpy").unwrap();
        drop(module);
        let (x, y) = (upload(device, &[1.0; 10]), upload(device, &[1.0; 10]));
        let stream = device.create_stream().unwrap();
        launch_axpy(&stream, &axpy, 3.0, &x, &y);
        drop((stream, axpy, x));
        assert_eq!(download(&device.default_stream().unwrap(), &y), [4.0; 10]);
    });
}

#[test]
fn four_threads_launch_on_their_own_streams() {
    for_each_module(|device, module| {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let axpy = module.function("axpy").unwrap();
                    let stream = device.create_stream().unwrap();
                    let (x, y) = (upload(device, &[f64::from(thread); 5000]), upload(device, &[0.0; 5000]));
                    for _ in 0..200 {
                        launch_axpy(&stream, &axpy, 1.0, &x, &y);
                    }
                    assert_eq!(download(&stream, &y), vec![200.0 * f64::from(thread); 5000]);
                });
            }
        });
    });
}

#[test]
fn functions_and_names_that_are_not_there_are_errors() {
    for_each_module(|device, module| {
        for name in ["nope", "", "ax\0py"] {
            let error = module.function(name).unwrap_err();
            assert_eq!(error, DeviceError::UnknownFunction { device: device.id().to_string(), name: name.into() });
        }
    });
}

#[test]
fn bytes_that_are_no_module_are_refused() {
    for_each_gpu(|device| {
        let refused = |bytes: Vec<u8>| {
            // SAFETY: drivers of GPUs run nothing when they load.
            let result = unsafe { device.load(&ModuleBinary { bytes }) };
            assert!(matches!(result, Err(DeviceError::Load { .. })), "{result:?}");
        };
        refused(vec![]);
        refused(b"garbage".to_vec());
        refused(b"\x7fELF".to_vec());
        refused(vec![0x5a; 4096]);
        if let Some(binary) = compile(device) {
            for part in 0..20 {
                refused(binary.bytes[..binary.bytes.len() * part / 20].to_vec());
            }
            refused(binary.bytes[..binary.bytes.len() - 1].to_vec());
        }
        // A whole ELF file, but not for this device.
        refused(std::fs::read("/proc/self/exe").unwrap());
        device.synchronize().unwrap();
    });
}

#[test]
fn more_memory_than_there_is_is_an_error_and_does_no_harm() {
    for_each_gpu(|device| {
        let total = device.properties().memory_total;
        for bytes in [total as usize, usize::MAX / 2, usize::MAX] {
            match device.allocate(bytes) {
                Err(DeviceError::OutOfMemory { asked, free: Some(free), .. }) => {
                    assert_eq!(asked, bytes as u64);
                    assert!(free <= total);
                }
                other => panic!("{other:?}"),
            }
        }
        match device.allocate_pinned(1 << 50) {
            Err(DeviceError::OutOfMemory { asked, .. }) => assert_eq!(asked, 1 << 50),
            other => panic!("{other:?}"),
        }
        assert_eq!(download(&device.default_stream().unwrap(), &upload(device, &[1.5])), [1.5]);
    });
}

#[test]
fn launches_that_do_not_fit_are_errors() {
    for_each_module(|device, module| {
        let nothing = module.function("nothing").unwrap();
        let stream = device.default_stream().unwrap();
        assert!(matches!(Launch::grid([1; 3], [4096, 1, 1], &nothing), Err(DeviceError::InvalidLaunch { .. })));
        let launch = Launch { range: 1, grid: [1; 3], block: [4096, 1, 1], shared: 0 };
        // SAFETY: the function has no parameters.
        let result = unsafe { stream.launch(&nothing, &launch, &[], &[]) };
        assert!(matches!(result, Err(DeviceError::Driver { code: 1, .. })), "{result:?}");
        device.synchronize().unwrap();
    });
}

#[test]
fn events_know_their_order_and_their_time() {
    for_each_module(|device, module| {
        let spin = module.function("spin").unwrap();
        let stream = device.create_stream().unwrap();
        let unrecorded = device.create_event().unwrap();
        let expected = DeviceError::EventNotRecorded { device: device.id().to_string() };
        assert_eq!(unrecorded.query().unwrap_err(), expected);
        assert_eq!(unrecorded.wait().unwrap_err(), expected);
        assert_eq!(stream.wait_for(&unrecorded).unwrap_err(), expected);
        let out = device.allocate_zeroed(4).unwrap();
        device.synchronize().unwrap();
        let clock = Instant::now();
        let before = stream.record().unwrap();
        assert_eq!(before.since(&unrecorded).unwrap_err(), expected);
        launch_spin(&stream, &spin, LONG, &out, 1);
        let after = stream.record().unwrap();
        assert!(!after.query().unwrap() && !stream.is_idle().unwrap());
        let seconds = after.since(&before).unwrap();
        let wall = clock.elapsed().as_secs_f64();
        assert!(after.query().unwrap() && stream.is_idle().unwrap());
        assert!(seconds > 0.05 && seconds < wall, "{seconds} s of {wall} s");
        assert!(before.since(&after).unwrap() <= 0.0);
        stream.record_into(&unrecorded).unwrap();
        unrecorded.wait().unwrap();
        assert!(unrecorded.query().unwrap());
    });
}

#[test]
fn a_stream_waits_for_the_event_of_another() {
    for_each_module(|device, module| {
        let spin = module.function("spin").unwrap();
        let (first, second) = (device.create_stream().unwrap(), device.create_stream().unwrap());
        let (out, seen) = (device.allocate_zeroed(4).unwrap(), device.allocate_zeroed(4).unwrap());
        device.synchronize().unwrap();
        launch_spin(&first, &spin, LONG, &out, 42);
        second.wait_for(&first.record().unwrap()).unwrap();
        second.copy(&seen, 0, &out, 0, 4).unwrap();
        assert!(!second.is_idle().unwrap());
        let mut value = [0i32];
        second.read(&seen, 0, as_bytes_mut(&mut value)).unwrap();
        assert_eq!(value, [42]);
    });
}

#[test]
fn memory_that_is_freed_while_a_stream_uses_it_is_not_given_out_too_early() {
    for_each_module(|device, module| {
        let spin = module.function("spin").unwrap();
        let (slow, quick) = (device.create_stream().unwrap(), device.create_stream().unwrap());
        let len = 4 << 20;
        let memory = device.allocate(len).unwrap();
        device.synchronize().unwrap();
        launch_spin(&slow, &spin, LONG, &memory, -1);
        drop(memory);
        let next: Vec<Memory> = (0..4).map(|_| device.allocate(len).unwrap()).collect();
        for memory in &next {
            quick.fill(memory, 0, len, 5).unwrap();
        }
        device.synchronize().unwrap();
        for memory in &next {
            let mut value = [0; 4];
            quick.read(memory, 0, &mut value).unwrap();
            assert_eq!(value, [5; 4], "the old owner's kernel wrote into the new owner's memory");
        }
    });
}

#[test]
fn memory_and_streams_of_others_are_used_and_not_freed() {
    for_each_module(|device, module| {
        let owner = upload(device, &[1.0, 2.0, 3.0]);
        let owned_stream = device.create_stream().unwrap();
        device.synchronize().unwrap();
        for _ in 0..3 {
            // SAFETY: owner and stream outlive what is adopted.
            let (memory, stream) =
                unsafe { (device.adopt_memory(owner.handle(), 24).unwrap(), device.adopt_stream(owned_stream.handle()).unwrap()) };
            assert!(stream.is_foreign() && !owned_stream.is_foreign());
            let y = device.allocate(24).unwrap();
            stream.write(&y, 0, as_bytes(&[1.0f64; 3])).unwrap();
            y.note_foreign_use();
            launch_axpy(&stream, &module.function("axpy").unwrap(), 1.0, &memory.slice(8, 16).unwrap(), &y);
            assert_eq!(download(&stream, &y), [3.0, 4.0, 1.0]);
        }
        assert_eq!(download(&owned_stream, &owner), [1.0, 2.0, 3.0]);
        // SAFETY: refused before anything is done with it.
        let nowhere = unsafe { device.adopt_memory(0, 8) };
        assert!(matches!(nowhere, Err(DeviceError::Unsupported { .. })), "{nowhere:?}");
        // SAFETY: the legacy stream is always there.
        assert!(!unsafe { device.adopt_stream(0) }.unwrap().is_foreign());
    });
}

#[test]
fn memory_waits_for_a_foreign_stream_before_it_is_freed() {
    for_each_module(|device, module| {
        if device.kind() != DeviceKind::Cuda {
            return;
        }
        let spin = module.function("spin").unwrap();
        let memory = device.allocate(4).unwrap();
        let mut handle = std::ptr::null_mut();
        // SAFETY: allocating made the context current in this thread; 1 asks for a stream that nothing orders with others.
        assert_eq!(unsafe { sys::cuStreamCreate(&mut handle, 1) }, sys::CUresult::CUDA_SUCCESS);
        {
            // SAFETY: the stream is destroyed below.
            let stream = unsafe { device.adopt_stream(handle as u64) }.unwrap();
            memory.note_foreign_use();
            launch_spin(&stream, &spin, LONG, &memory, 1);
            assert!(!stream.is_idle().unwrap());
            drop(memory);
            assert!(stream.is_idle().unwrap(), "memory was freed under a running kernel");
        }
        // SAFETY: made above and used by nobody any more.
        assert_eq!(unsafe { sys::cuStreamDestroy_v2(handle) }, sys::CUresult::CUDA_SUCCESS);
    });
}

#[test]
fn a_thread_whose_context_another_library_changed_still_works() {
    for_each_gpu(|device| {
        if device.kind() != DeviceKind::Cuda {
            return;
        }
        let memory = upload(device, &[2.5]);
        // SAFETY: no context is what a fresh thread has.
        assert_eq!(unsafe { sys::cuCtxSetCurrent(std::ptr::null_mut()) }, sys::CUresult::CUDA_SUCCESS);
        assert_eq!(download(&device.default_stream().unwrap(), &memory), [2.5]);
        std::thread::scope(|scope| scope.spawn(|| drop(memory)).join().unwrap());
        device.synchronize().unwrap();
    });
}

#[test]
#[ignore = "run by another test: after a fault the process cannot use the device"]
fn a_fault_is_reported_and_everything_can_be_dropped() {
    for_each_module(|device, module| {
        let stream = device.create_stream().unwrap();
        let (out, pinned, event) = (device.allocate(4).unwrap(), device.allocate_pinned(64).unwrap(), device.create_event().unwrap());
        let fault = module.function("fault").unwrap();
        let mut handle = out.handle();
        let launch = Launch::grid([1; 3], [1; 3], &fault).unwrap();
        // SAFETY: these are the function's parameters; that it writes elsewhere is the point.
        unsafe { stream.launch(&fault, &launch, &[pointer(&mut handle)], &[8]).unwrap() };
        match stream.synchronize() {
            Err(DeviceError::Driver { device: name, call, code, message }) => {
                println!("{name}: {call} {code} {message}");
                assert_eq!(name, device.id().to_string());
                assert!(call.ends_with("StreamSynchronize") && (700..=720).contains(&code), "{call} {code}");
                assert!(message.contains("_ERROR_") || message.contains("hipError"), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(device.synchronize(), Err(DeviceError::Driver { .. })));
        drop((out, pinned, event, fault, stream));
    });
}

#[test]
fn a_fault_on_the_device_is_an_error_in_a_process_that_lives_on() {
    // One kind at a time: both may be the same GPU.
    for kind in [DeviceKind::Cuda, DeviceKind::Hip] {
        in_own_process("a_fault_is_reported_and_everything_can_be_dropped", &[("PARLOOP_TEST_KIND", kind.name())]);
    }
}
