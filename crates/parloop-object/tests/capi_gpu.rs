//! The C functions of object types as CUDA and HIP take them, without a device. PoCL and hiprtc may not share a process, so that this
//! is not part of the other tests.

#[path = "capi/samples.rs"]
#[allow(dead_code)]
mod samples;

use std::sync::Arc;

use parloop_device::{CompileError, Compiler, DeviceKind, cuda, hip};
use parloop_kernel::{CompileOptions, Source, compile_for};

const KERNEL: &str = "
GPUKERN void use(GPUGLMEM char *base, GPUGLMEM double *out) {
    Line line = (Line)base;
    Mesh mesh = (Mesh)(base + 1024);
    Refs refs = (Refs)(base + 2048);
    Scalars scalars = (Scalars)(base + 4096);
    VECTORIZE_OVER(i, 10)
        Element_scale(Line_getp1_elements(line, i), 2.0);
        Mesh_set_field(mesh, i, 0, 1, Mesh_get_x(mesh, i, 2) + Refs_get_many_b(refs, i, 3));
        Scalars_set_bool(scalars, Mesh_get_on(mesh, i));
        out[i] = Scalars_getp_complex128(scalars)[1] + Element_scaled(Line_getp_shared(line), 0.5);
    END_VECTORIZE
}
";

fn compiles(target: DeviceKind, compiler: Result<Arc<dyn Compiler>, CompileError>) {
    let compiler = match compiler {
        Err(error @ CompileError::NoCompiler { .. }) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("CI needs it: {error}"),
        Err(error @ CompileError::NoCompiler { .. }) => return println!("skipped: {error}"),
        other => other.unwrap(),
    };
    let checked = "#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n";
    for (definition, is_checked) in [("", false), (checked, true)] {
        let apis = samples::source(&samples::apis(&samples::all(), is_checked));
        let binary = compile_for(target, &*compiler, &[Source::text(format!("{definition}{apis}{KERNEL}"))], &CompileOptions::default());
        assert!(binary.is_ok(), "{}", binary.unwrap_err());
    }
}

#[test]
fn nvrtc_compiles_every_class() {
    compiles(DeviceKind::Cuda, cuda::compiler("sm_90"));
}

#[test]
fn hiprtc_compiles_every_class() {
    compiles(DeviceKind::Hip, hip::compiler("gfx90a"));
}
