//! Generated code compiles with the compilers of the targets.

use std::io::Write;
use std::process::{Command, Stdio};

use parloop_device::{CompileError, Compiler, DeviceKind};
use parloop_kernel::{CompileOptions, Language, Source, compile_for};
use parloop_loop::lower::Code;
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
    let options = CompileOptions { language: Language::Cpp, ..CompileOptions::default() };
    if let Err(error) = compile_for(kind, &*compiler, &[Source::text(CPP)], &options) {
        refused.push_str(&format!("---- C++\n{error}\n"));
    }
    let compile = |text: &str, checked: bool| {
        let options = CompileOptions { checked, ..CompileOptions::default() };
        compile_for(kind, &*compiler, &[Source::text(text)], &options)
    };
    // Headers take these compilers longer than kernels do: many are compiled as one text, and alone only if that is refused.
    let (checked, unchecked) = all().iter().map(|(name, program)| (name.clone(), code(program, target))).partition::<Vec<_>, _>(is_checked);
    for many in checked.chunks(TOGETHER).chain(unchecked.chunks(TOGETHER)) {
        let apart = many.iter().enumerate().map(|(number, (_, code))| in_a_namespace(&code.text, number));
        if compile(&apart.collect::<String>(), is_checked(&many[0])).is_ok() {
            continue;
        }
        for item @ (name, code) in many {
            if let Err(error) = compile(&code.text, is_checked(item)) {
                refused.push_str(&format!("---- {name}\n{}\n{error}\n", code.text));
            }
        }
    }
    assert!(refused.is_empty(), "{refused}");
}

const TOGETHER: usize = 16;

fn is_checked((_, code): &(String, Code)) -> bool {
    !code.check_sites.is_empty()
}

/// Functions of the same name do not meet there.
fn in_a_namespace(text: &str, number: usize) -> String {
    format!("namespace number_{number} {{\n{}\n}}\n", text.replace("extern \"C\" ", ""))
}

/// C++ that is the same for every target: no function has a word for one.
const CPP: &str = r#"
#include <cmath>
#include <cstdint>
template <class T, int N> struct Vector {
  T at[N];
  T norm() const { T sum = 0; for (int i = 0; i < N; i++) sum += at[i] * at[i]; return std::sqrt(sum); }
};
constexpr int three = 3;
namespace weights { static const double w[three] = {0.25, 0.5, 0.25}; }
inline double twice(double x) { return 2 * x; }
inline float twice(float x) { return 2 * x; }
inline double declared(double x);
GPUKERN void norms(const double *x, float *y, const int64_t n) {
  VECTORIZE_OVER(i, n)
    Vector<double, three> v{{x[i], std::fabs(x[i]), declared(1.0)}};
    auto half = [](auto a) { return a / 2; };
    if (x[i] < 0) return;
    y[i] = twice(float(half(twice(v.norm())) * weights::w[1]));
  END_VECTORIZE
}
inline double declared(double x) { return std::pow(x, 2.0) + std::abs(-1); }
"#;

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

#[test]
fn checks_and_atomics_of_a_cpu_are_cpp_as_well() {
    let compiler = parloop_device::cpu::compiler_of(Language::Cpp).unwrap();
    let source = "GPUKERN void k(double *x, long *count, const int64_t n) {\nVECTORIZE_OVER(i, n)\n\
        if (PARLOOP_TOUCH(1, &x[i], \"k\\nx\\n\\n\", i, 0, 0, 0u, 0, 1, 0, i, i) && PARLOOP_CHECK(i < n, 0, i, n)) atomicAdd(x + i, 1);\n\
        atomicAdd(count, 1);\nEND_VECTORIZE }";
    let options = CompileOptions { language: Language::Cpp, checked: true, ..CompileOptions::default() };
    for source in [source, CPP] {
        compile_for(DeviceKind::Cpu, &*compiler, &[Source::text(source)], &options).unwrap_or_else(|error| panic!("{error}"));
    }
}
