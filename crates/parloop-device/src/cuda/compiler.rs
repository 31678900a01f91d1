//! NVRTC: finding the library, and compiling CUDA C++ to code for one architecture. Needs neither a device nor its driver.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::Compiler;
use crate::cuda::library_candidates;
use crate::error::CompileError;
use crate::gpu::calls::function_table;
use crate::gpu::compiler::{ArchCompiler, CompilerCallNames, CompilerLibrary, Flavour, missing};
use crate::kind::DeviceKind;
use crate::library::open_first;
use crate::once::Once;

static NVRTC: Flavour = Flavour {
    kind: DeviceKind::Cuda,
    name: "NVRTC",
    names: CompilerCallNames {
        version: "nvrtcVersion",
        error_string: "nvrtcGetErrorString",
        create: "nvrtcCreateProgram",
        compile: "nvrtcCompileProgram",
        log_size: "nvrtcGetProgramLogSize",
        log: "nvrtcGetProgramLog",
        binary_size: "nvrtcGetCUBINSize",
        binary: "nvrtcGetCUBIN",
        destroy: "nvrtcDestroyProgram",
    },
    source_name: c"kernel.cu",
    hint: "install it with `pip install nvidia-cuda-nvrtc` or with the CUDA toolkit, or set PARLOOP_NVRTC to the path of libnvrtc",
    in_threads: Some("--split-compile=0"),
};

const NAMES: [&str; 4] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];

/// The compiler of CUDA C++ for an architecture such as `sm_90`.
///
/// # Errors
/// [`CompileError::NoCompiler`] when NVRTC is not found, [`CompileError::Failed`] when it does not support the architecture.
///
/// ```no_run
/// let compiler = parloop_device::cuda::compiler("sm_90")?;
/// let cubin = compiler.compile("extern \"C\" __global__ void f(float *x) { x[threadIdx.x] = 1; }", &[])?;
/// assert!(cubin.starts_with(b"\x7fELF"));
/// # Ok::<(), parloop_device::CompileError>(())
/// ```
pub fn compiler(arch: &str) -> Result<Arc<dyn Compiler>, CompileError> {
    let library = library()?;
    check_arch(library, arch)?;
    let base_options = [format!("--gpu-architecture={arch}"), "--std=c++17".into(), "--device-as-default-execution-space".into()];
    Ok(Arc::new(ArchCompiler::new(library, base_options.into())))
}

/// The library of this process; one that is not found is looked for again at the next call.
fn library() -> Result<&'static CompilerLibrary, CompileError> {
    static LIBRARY: Once<CompilerLibrary> = Once::new();
    match LIBRARY.get() {
        Some(library) => Ok(library),
        None => {
            let opened = open(&library_candidates("PARLOOP_NVRTC", &NAMES, "cuda_nvrtc"))?;
            Ok(LIBRARY.get_or_init(|| opened))
        }
    }
}

fn open(candidates: &[PathBuf]) -> Result<CompilerLibrary, CompileError> {
    let (library, path) = open_first(candidates).map_err(|tried| {
        let all = || candidates.iter().map(|path| path.display().to_string()).collect();
        missing(&NVRTC, if tried.is_empty() { all() } else { tried })
    })?;
    // SAFETY: a library of that name is NVRTC.
    unsafe { CompilerLibrary::new(&NVRTC, library, &path) }
}

function_table! {
    /// The functions that tell the architectures; NVRTC has them since 11.2.
    ArchCalls, ArchCallNames {
        count: fn(*mut c_int) -> c_int,
        list: fn(*mut c_int) -> c_int,
    }
}

const ARCH_CALLS: ArchCallNames = ArchCallNames { count: "nvrtcGetNumSupportedArchs", list: "nvrtcGetSupportedArchs" };

/// The numbers of the architectures (90 for `sm_90`), where the library tells them.
fn supported(library: &CompilerLibrary) -> Option<Vec<c_int>> {
    // SAFETY: NVRTC's functions of these names have these signatures.
    let calls = unsafe { ArchCalls::load(&ARCH_CALLS, |name| library.find(name)) }.ok()?;
    let mut count = 0;
    // SAFETY: `count` is valid for writing one number.
    calls.count.check(unsafe { (calls.count.function)(&mut count) }).ok()?;
    let mut archs = vec![0; usize::try_from(count).ok()?];
    // SAFETY: there is room for as many numbers as the library said.
    calls.list.check(unsafe { (calls.list.function)(archs.as_mut_ptr()) }).ok()?;
    Some(archs)
}

fn check_arch(library: &CompilerLibrary, arch: &str) -> Result<(), CompileError> {
    // `sm_90a` and `sm_100f` are `sm_90` and `sm_100` with more features.
    let digits = arch.strip_prefix("sm_").map(|rest| rest.strip_suffix(['a', 'f']).unwrap_or(rest));
    let number = digits.and_then(|digits| digits.parse::<c_int>().ok());
    let known = supported(library);
    let good = match (number, &known) {
        (Some(number), Some(known)) => known.contains(&number),
        (number, _) => number.is_some(),
    };
    if good {
        return Ok(());
    }
    let list = known.unwrap_or_default().iter().map(|number| format!("sm_{number}")).collect::<Vec<_>>().join(", ");
    Err(library.failed(format!("it does not support the architecture `{arch}`, only {list}; use another version of it for other devices")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_nvrtc_names_what_was_tried_and_how_to_get_it() {
        let error = open(&["/nowhere/libnvrtc.so.13".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "no compiler for cuda kernels was found: tried /nowhere/libnvrtc.so.13; install it with `pip install nvidia-cuda-nvrtc` or \
             with the CUDA toolkit, or set PARLOOP_NVRTC to the path of libnvrtc"
        );
        let error = open(&["libnvrtc-of-nobody.so".into(), "/nowhere/libnvrtc.so.13".into()]).err().unwrap();
        assert!(error.to_string().contains("tried libnvrtc-of-nobody.so; install"), "{error}");
    }

    #[test]
    fn a_library_that_is_not_nvrtc_is_an_error() {
        let error = open(&["libc.so.6".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the compiler libc.so.6 failed: the library has no function `nvrtcVersion`; install another version of it"
        );
    }
}
