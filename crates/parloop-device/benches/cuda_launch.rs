//! What a launch costs from Rust on the first CUDA device, bare (`cuLaunchKernel`) and through our stream, with 4 and 16 arguments.
//! Prints one line of JSON; without a CUDA device it says so.

use std::ffi::c_void;
use std::time::Instant;

use cudarc::driver::sys;
use parloop_device::{Device, Launch, ModuleBinary};

const SOURCE: &str = "
extern \"C\" __global__ void four(long n, double a, const double *x, double *y) { if (threadIdx.x < n) y[threadIdx.x] += a * x[threadIdx.x]; }
extern \"C\" __global__ void sixteen(long n, double a, double *p0, double *p1, double *p2, double *p3, double *p4, double *p5, double *p6,
    double *p7, double *p8, double *p9, double *p10, double *p11, double *p12, double *p13) { if (threadIdx.x < n) p13[threadIdx.x] += a * p0[threadIdx.x]; }";

/// Fewer than a queue holds, so that the launch is measured and not the wait for room.
const BATCH: u32 = 200;
const ROUNDS: usize = 101;

fn median_ns(device: &Device, mut work: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let clock = Instant::now();
            (0..BATCH).for_each(|_| work());
            let ns = clock.elapsed().as_nanos() as f64 / f64::from(BATCH);
            device.synchronize().expect("the kernels run");
            ns
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

fn main() {
    let Ok(device) = Device::open("cuda:0") else {
        println!("{{\"skipped\": \"no CUDA device\"}}");
        return;
    };
    let compiler = device.compiler().expect("NVRTC is installed");
    let binary = ModuleBinary { bytes: compiler.compile(SOURCE, &[]).expect("the source compiles") };
    // SAFETY: the source is the one above.
    let module = unsafe { device.load(&binary) }.expect("the module loads");
    let stream = device.default_stream().expect("there is a default stream");
    let memory = device.allocate_zeroed(1024).expect("there is room");

    let mut bare_module = std::ptr::null_mut();
    // SAFETY: the context is current in this thread, where memory was just allocated, and the image is whole.
    let loaded = unsafe { sys::cuModuleLoadData(&mut bare_module, binary.bytes.as_ptr().cast()) };
    assert_eq!(loaded, sys::CUresult::CUDA_SUCCESS);

    let mut fields = vec![format!("\"device\": \"{}\"", device.properties().name)];
    for (name, symbol, count) in [("four", c"four", 4), ("sixteen", c"sixteen", 16)] {
        let function = module.function(name).expect("the module has it");
        let mut values: Vec<u64> = vec![memory.handle(); count];
        (values[0], values[1]) = (32, 1f64.to_bits());
        let mut args: Vec<*mut c_void> = values.iter_mut().map(|value| (&raw mut *value).cast()).collect();
        let sizes = vec![8; count];
        let launch = Launch::over(32, Some(32), &function).expect("the block is allowed");
        let mut bare = std::ptr::null_mut();
        // SAFETY: the module is loaded.
        assert_eq!(unsafe { sys::cuModuleGetFunction(&mut bare, bare_module, symbol.as_ptr()) }, sys::CUresult::CUDA_SUCCESS);
        let (stream_null, extra) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the arguments are the function's parameters and stay alive until the device is synchronised.
        let bare_ns = median_ns(&device, || unsafe {
            assert_eq!(sys::cuLaunchKernel(bare, 1, 1, 1, 32, 1, 1, 0, stream_null, args.as_mut_ptr(), extra), sys::CUresult::CUDA_SUCCESS);
        });
        // SAFETY: as above.
        let ours_ns = median_ns(&device, || unsafe { stream.launch(&function, &launch, &args, &sizes).expect("it launches") });
        fields.push(format!("\"bare_{count}\": {bare_ns:.0}, \"ours_{count}\": {ours_ns:.0}"));
    }
    println!("{{{}}}", fields.join(", "));
}
