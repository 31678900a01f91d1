//! Code of small kernels, as text.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::lower::{Code, LowerError, lower};
use parloop_loop::syntax::{AddressSpace, InameTag, LoopKernel, Program, Target};
use parloop_loop::transform::{Split, Tags, split_iname, tag_inames};
use parloop_loop::{infer, schedule, target};

/// All targets.
pub const TARGETS: [Target; 5] = [Target::C, Target::OpenCl, Target::Cuda, Target::Hip, Target::Ispc];

/// The code of a program's only entry point.
pub fn try_code(program: &Program, target: Target) -> Result<Code, LowerError> {
    let program = infer::types(program, target).unwrap();
    let program = infer::descriptors(&program, target).unwrap();
    let mut schedules = std::collections::BTreeMap::new();
    for (name, callable) in &program.callables {
        if let Some(kernel) = callable.kernel() {
            let kernel = private(kernel);
            if let Ok(schedule) = schedule::schedule(&program, &kernel) {
                schedules.insert(name.clone(), schedule);
            }
        }
    }
    let entry = program.entrypoints.first().unwrap();
    target::write(&lower(&program, entry, &schedules, target)?)
}

pub fn code(program: &Program, target: Target) -> Code {
    try_code(program, target).unwrap_or_else(|error| panic!("{target}: {error}"))
}

fn private(kernel: &LoopKernel) -> LoopKernel {
    let mut kernel = kernel.clone();
    for temporary in kernel.temporaries.values_mut() {
        temporary.space.get_or_insert(AddressSpace::Private);
    }
    kernel
}

pub fn map(program: &Program, change: impl Fn(&LoopKernel) -> LoopKernel) -> Program {
    program.with_kernel(change(program.entry().unwrap()))
}

pub fn split(program: &Program, iname: &str, length: i64, outer: Option<&str>, inner: Option<&str>) -> Program {
    let tags = |tag: Option<&str>| tag.map(|tag| tag.parse::<InameTag>().unwrap()).into_iter();
    map(program, |kernel| {
        let kernel = split_iname(kernel, iname, &Split::by(length)).unwrap();
        let mut kernel = kernel;
        for tag in tags(outer) {
            kernel.inames.get_mut(format!("{iname}_outer").as_str()).unwrap().tags.insert(tag);
        }
        for tag in tags(inner) {
            kernel.inames.get_mut(format!("{iname}_inner").as_str()).unwrap().tags.insert(tag);
        }
        kernel
    })
}

pub fn add() -> Program {
    KernelBuilder::new()
        .name("add")
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = a[i] + 2*b[i]")
        .data(Data::global("a, b, out").dtype(DType::F32))
        .data(Data::value("n").dtype(DType::I32))
        .build()
        .unwrap()
}

#[test]
fn explore() {
    for target in TARGETS {
        println!("----- {target}\n{}", code(&add(), target).text);
        println!("{}", code(&split(&add(), "i", 16, Some("g.0"), Some("l.0")), target).text);
        println!("{}", code(&split(&add(), "i", 16, None, None), target).text);
    }
}
