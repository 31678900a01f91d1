//! The devices that loops are tested on: CPU threads always, OpenCL and CUDA where they are. In CI OpenCL must be there.

use parloop_kernel::Context;

/// Contexts on CPUs of that many threads each, and on the GPUs of this machine.
pub fn everywhere(threads: &[usize]) -> Vec<Context> {
    let cpus = threads.iter().map(|count| Context::open(&format!("cpu:{count}")).expect("a CPU is always there"));
    cpus.chain(gpus()).collect()
}

/// Contexts on the GPUs of this machine, PoCL's among them.
pub fn gpus() -> Vec<Context> {
    let mut found = Vec::new();
    for name in ["opencl", "cuda"] {
        match Context::open(name) {
            Ok(context) => found.push(context),
            Err(error) if name == "opencl" && std::env::var("CI").as_deref() == Ok("true") => panic!("CI needs an OpenCL device: {error}"),
            Err(error) => println!("skipped on {name}: {error}"),
        }
    }
    found
}
