//! Code of small kernels, as text.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::lower::{Code, LowerError, lower};
use parloop_loop::syntax::{Expr, InameTag, LoopKernel, Program, Target};
use parloop_loop::transform::{Prefetch, Split, add_prefetch, split_iname};
use parloop_loop::{infer, reduce, schedule, target};

/// All targets.
pub const TARGETS: [Target; 5] = [Target::C, Target::OpenCl, Target::Cuda, Target::Hip, Target::Ispc];

/// The code of a program's only entry point.
pub fn try_code(program: &Program, target: Target) -> Result<Code, LowerError> {
    let program = infer::types(program, target).unwrap();
    let mut realized = program.clone();
    for (name, callable) in &program.callables {
        let Some(kernel) = callable.kernel() else { continue };
        let type_of = |kernel: &LoopKernel, expr: &Expr| Ok(infer::type_of(&program, kernel, expr).unwrap().scalar().unwrap());
        let kernel = reduce::realize(kernel, &Default::default(), &type_of).unwrap();
        realized.callables.insert(name.clone(), callable.with_kernel(kernel));
    }
    let mut program = infer::types(&realized, target).unwrap();
    for (name, callable) in program.callables.clone() {
        let Some(kernel) = callable.kernel() else { continue };
        let kernel = schedule::assign_automatic_axes(kernel).unwrap();
        let kernel = infer::address_spaces(&kernel).unwrap();
        program.callables.insert(name.clone(), callable.with_kernel(kernel));
    }
    let program = infer::descriptors(&program, target).unwrap();
    let mut schedules = std::collections::BTreeMap::new();
    for (name, callable) in &program.callables {
        if let Some(kernel) = callable.kernel()
            && let Ok(schedule) = schedule::schedule(&program, kernel)
        {
            schedules.insert(name.clone(), schedule);
        }
    }
    let entry = program.entrypoints.first().unwrap();
    target::write(&lower(&program, entry, &schedules, target)?)
}

pub fn code(program: &Program, target: Target) -> Code {
    try_code(program, target).unwrap_or_else(|error| panic!("{target}: {error}"))
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

pub fn matmul(size: Option<i64>) -> Program {
    let program = KernelBuilder::new()
        .name("matmul")
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a,b,c").dtype("float32").shape("n,n"))
        .rest();
    let program = match size {
        Some(size) => program.fixed_parameter("n", size),
        None => program,
    };
    let program = program.build().unwrap();
    let program = split(&program, "i", 16, Some("g.0"), Some("l.1"));
    let program = split(&program, "j", 16, Some("g.1"), Some("l.0"));
    let program = split(&program, "k", 16, None, None);
    map(&program, |kernel| {
        let names = |list: &[&str]| list.iter().map(|&name| name.into()).collect::<Vec<_>>();
        let kernel = add_prefetch(kernel, &Prefetch::new("a", names(&["k_inner", "i_inner"]))).unwrap();
        add_prefetch(&kernel, &Prefetch::new("b", names(&["j_inner", "k_inner"]))).unwrap()
    })
}

#[test]
fn explore() {
    for target in [Target::C, Target::OpenCl] {
        println!("{}", code(&matmul(None), target).text);
        println!("{}", code(&matmul(Some(1024)), target).text);
    }
}
