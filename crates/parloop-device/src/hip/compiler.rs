//! hiprtc: finding the library, and compiling HIP C++ to code for one architecture. Needs no device.

use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::sync::Arc;

use libloading::Library;

use crate::backend::Compiler;
use crate::error::CompileError;
use crate::gpu::calls::{c_text, find, function_table};
use crate::gpu::compiler::{ArchCompiler, CompilerCallNames, CompilerLibrary, Flavour, missing};
use crate::hip::driver_candidates;
use crate::kind::DeviceKind;
use crate::library::{is_loaded_from_system, open_first};
use crate::once::Once;

static HIPRTC: Flavour = Flavour {
    kind: DeviceKind::Hip,
    name: "hiprtc",
    names: CompilerCallNames {
        version: "hiprtcVersion",
        error_string: "hiprtcGetErrorString",
        create: "hiprtcCreateProgram",
        compile: "hiprtcCompileProgram",
        log_size: "hiprtcGetProgramLogSize",
        log: "hiprtcGetProgramLog",
        binary_size: "hiprtcGetCodeSize",
        binary: "hiprtcGetCode",
        destroy: "hiprtcDestroyProgram",
    },
    source_name: c"kernel.hip",
    hint: "it comes with ROCm (Debian: libamdhip64-5 and libhiprtc-builtins5); install that, or set PARLOOP_HIP to the path of libamdhip64",
    in_threads: None,
};

/// The compiler of HIP C++ for an architecture such as `gfx90a`.
///
/// # Errors
/// [`CompileError::NoCompiler`] when hiprtc is not found, [`CompileError::Failed`] when it does not support the architecture.
///
/// ```no_run
/// let compiler = parloop_device::hip::compiler("gfx90a")?;
/// let code = compiler.compile("extern \"C\" __global__ void f(float *x) { x[threadIdx.x] = 1; }", &[])?;
/// # Ok::<(), parloop_device::CompileError>(())
/// ```
pub fn compiler(arch: &str) -> Result<Arc<dyn Compiler>, CompileError> {
    let library = library()?;
    check_arch(library, arch)?;
    let base_options = [format!("--offload-arch={arch}"), "-O3".into(), "-std=c++17".into()];
    Ok(Arc::new(ArchCompiler::new(library, base_options.into())))
}

/// The library of this process; one that is not found is looked for again at the next call.
fn library() -> Result<&'static CompilerLibrary, CompileError> {
    static LIBRARY: Once<CompilerLibrary> = Once::new();
    match LIBRARY.get() {
        Some(library) => Ok(library),
        None => {
            if std::env::var_os("PARLOOP_HIP").is_none() && is_loaded_from_system("libclang-cpp.so") {
                let reason = "PoCL has been used in this process, and Debian's builds of PoCL and hiprtc cannot share a process; compile for hip in another process";
                return Err(CompileError::Failed { compiler: HIPRTC.name.into(), reason: reason.into() });
            }
            let opened = open(&driver_candidates(), &compiler_candidates())?;
            Ok(LIBRARY.get_or_init(|| opened))
        }
    }
}

/// The compiler is in the driver's library, or in one of its own.
fn open(driver: &[PathBuf], own: &[PathBuf]) -> Result<CompilerLibrary, CompileError> {
    let inside = open_first(driver).map(|(library, path)| {
        if find(&library, HIPRTC.names.create).is_some() {
            return (Some(library), path);
        }
        keep_open(library);
        (None, path)
    });
    let (library, path) = match inside {
        Ok((Some(library), path)) => (library, path),
        Ok((None, path)) => open_first(own).map_err(|tried| {
            let tried = std::iter::once(format!("{} (without hiprtc)", path.display())).chain(tried);
            missing(&HIPRTC, tried.collect())
        })?,
        Err(tried) => open_first(own).map_err(|more| {
            let all = || driver.iter().chain(own).map(|path| path.display().to_string()).collect();
            let tried: Vec<String> = tried.into_iter().chain(more).collect();
            missing(&HIPRTC, if tried.is_empty() { all() } else { tried })
        })?,
    };
    // SAFETY: a library of that name, with that function, is hiprtc.
    unsafe { CompilerLibrary::new(&HIPRTC, library, &path) }
}

fn compiler_candidates() -> Vec<PathBuf> {
    ["libhiprtc.so.6", "libhiprtc.so.7", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so"].map(PathBuf::from).into()
}

function_table! {
    /// The functions of comgr, on which hiprtc builds, that tell the architectures.
    ArchCalls, ArchCallNames {
        count: fn(*mut usize) -> c_int,
        name: fn(usize, *mut *const c_char) -> c_int,
    }
}

const ARCH_CALLS: ArchCallNames = ArchCallNames { count: "amd_comgr_get_isa_count", name: "amd_comgr_get_isa_name" };
const ARCH_PREFIX: &str = "amdgcn-amd-amdhsa--";

/// The architectures that the compiler knows, where they can be asked for.
fn supported() -> Option<&'static [String]> {
    static SUPPORTED: Once<Option<Vec<String>>> = Once::new();
    let read = || {
        let names = ["libamd_comgr.so.2", "libamd_comgr.so.3", "libamd_comgr.so", "/opt/rocm/lib/libamd_comgr.so"].map(PathBuf::from);
        let (library, _) = open_first(&names).ok()?;
        let archs = read_supported(&library);
        keep_open(library);
        archs
    };
    SUPPORTED.get_or_init(read).as_deref()
}

/// LLVM, which is inside, ends the process when it is closed and opened again.
fn keep_open(library: Library) {
    std::mem::forget(library);
}

fn read_supported(library: &Library) -> Option<Vec<String>> {
    // SAFETY: comgr's functions of these names have these signatures.
    let calls = unsafe { ArchCalls::load(&ARCH_CALLS, |name| find(library, name)) }.ok()?;
    let mut count = 0;
    // SAFETY: `count` is valid for writing one number.
    calls.count.check(unsafe { (calls.count.function)(&mut count) }).ok()?;
    let name = |index| {
        let mut text = std::ptr::null();
        // SAFETY: `text` is valid for writing one pointer.
        calls.name.check(unsafe { (calls.name.function)(index, &mut text) }).ok()?;
        // SAFETY: the library set it to a text of its own, which stays while the library does.
        let full = unsafe { c_text(text) };
        Some(full.strip_prefix(ARCH_PREFIX).unwrap_or(&full).to_owned())
    };
    (0..count).map(name).collect()
}

/// hiprtc ends the process when it is asked for an architecture it does not know, so it is never asked.
fn check_arch(library: &CompilerLibrary, arch: &str) -> Result<(), CompileError> {
    let plain = arch.split(':').next().unwrap_or_default();
    let well_formed = plain.strip_prefix("gfx").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit()));
    let known = supported();
    if well_formed && known.is_none_or(|known| known.iter().any(|name| name == plain)) {
        return Ok(());
    }
    let list = known.unwrap_or_default().join(", ");
    Err(library.failed(format!("it does not support the architecture `{arch}`, only {list}; use another version of it for other devices")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_hiprtc_names_what_was_tried_and_how_to_get_it() {
        let error = open(&["libamdhip64-of-nobody.so".into()], &["libhiprtc-of-nobody.so".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "no compiler for hip kernels was found: tried libamdhip64-of-nobody.so, libhiprtc-of-nobody.so; it comes with ROCm (Debian: \
             libamdhip64-5 and libhiprtc-builtins5); install that, or set PARLOOP_HIP to the path of libamdhip64"
        );
    }

    #[test]
    fn a_driver_without_a_compiler_is_said_to_be_one() {
        let error = open(&["libc.so.6".into()], &["libhiprtc-of-nobody.so".into()]).err().unwrap();
        assert!(error.to_string().contains("tried libc.so.6 (without hiprtc), libhiprtc-of-nobody.so;"), "{error}");
    }
}
