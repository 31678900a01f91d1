//! What the compilers of the targets say to generated code.

use std::io::Write;
use std::process::{Command, Stdio};

use parloop_device::{CompileError, Compiler, DeviceKind};
use parloop_kernel::{CompileOptions, Source, compile_for};
use parloop_loop::prelude::*;
use parloop_loop::syntax::{Program, Target};

use super::lowering::code;
use super::run::contexts;
use super::{filetests, samples};

/// The samples, and what is in `tests/kernels`.
fn all() -> Vec<(String, Program)> {
    let samples = samples::all().into_iter().map(|(name, program)| (name.to_owned(), program));
    samples.chain(filetests::programs()).collect()
}

fn compiles(kind: DeviceKind, target: Target, compiler: Result<std::sync::Arc<dyn Compiler>, CompileError>) {
    let compiler = match compiler {
        Err(error @ CompileError::NoCompiler { .. }) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("CI needs it: {error}"),
        Err(error @ CompileError::NoCompiler { .. }) => return println!("skipped: {error}"),
        other => other.unwrap(),
    };
    let mut refused = String::new();
    for (name, program) in all() {
        let code = code(&program, target);
        let options = CompileOptions { checked: !code.check_sites.is_empty(), ..CompileOptions::default() };
        if let Err(error) = compile_for(kind, &*compiler, &[Source::text(code.text.clone())], &options) {
            refused.push_str(&format!("---- {name}\n{}\n{error}\n", code.text));
        }
    }
    assert!(refused.is_empty(), "{refused}");
}

#[test]
fn every_kernel_for_cuda_is_taken_by_nvrtc() {
    compiles(DeviceKind::Cuda, Target::Cuda, parloop_device::cuda::compiler("sm_90"));
}

/// Set in the process that does nothing but compile for HIP.
const ALONE: &str = "LOOP_TEST_ALONE";

#[test]
fn every_kernel_for_hip_is_taken_by_hiprtc() {
    if std::env::var_os(ALONE).is_some() {
        return compiles(DeviceKind::Hip, Target::Hip, parloop_device::hip::compiler("gfx90a"));
    }
    // Debian's PoCL, which other tests use, and hiprtc cannot be in one process.
    let this = std::env::current_exe().unwrap();
    let args = ["--exact", "compiles::every_kernel_for_hip_is_taken_by_hiprtc", "--nocapture"];
    let output = Command::new(this).args(args).env(ALONE, "1").output().unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_kernel_for_opencl_is_taken_by_its_device() {
    let Some(context) = contexts().into_iter().find(|context| context.device().kind() == DeviceKind::OpenCl) else {
        return println!("skipped: there is no OpenCL device");
    };
    let mut refused = String::new();
    for (name, program) in all() {
        if let Err(error) = program.compile(&context) {
            refused.push_str(&format!("---- {name}\n{error}\n"));
        }
    }
    assert!(refused.is_empty(), "{refused}");
}

#[test]
fn every_kernel_in_c_compiles_alone_and_without_a_warning() {
    let mut refused = String::new();
    for (name, program) in all() {
        let code = code(&program, Target::C);
        let mut gcc = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-Wall", "-Werror", "-x", "c", "-c", "-o", "/dev/null", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        gcc.stdin.take().unwrap().write_all(code.text.as_bytes()).unwrap();
        let output = gcc.wait_with_output().unwrap();
        if !output.status.success() {
            refused.push_str(&format!("---- {name}\n{}\n{}\n", code.text, String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(refused.is_empty(), "{refused}");
}

#[test]
fn every_kernel_for_ispc_is_written() {
    // It has no functions of complex numbers.
    for (name, program) in samples::all().into_iter().filter(|(name, _)| *name != "complex") {
        let text = code(&program, Target::Ispc).text;
        assert!(text.contains("export void") || text.contains("task void"), "{name}: {text}");
    }
}
