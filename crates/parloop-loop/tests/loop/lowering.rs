//! Code of small kernels, as text.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::lower::Code;
use parloop_loop::syntax::{InameTag, LoopKernel, Program, Target};
use parloop_loop::transform::{Prefetch, Split, add_prefetch, split_iname};

/// All targets.
pub const TARGETS: [Target; 5] = [Target::C, Target::OpenCl, Target::Cuda, Target::Hip, Target::Ispc];

/// The code of a program's only entry point.
pub fn code(program: &Program, target: Target) -> Code {
    program.generate(target).unwrap_or_else(|error| panic!("{target}: {error}")).code
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

pub fn tag(program: &Program, iname: &str, tag: &str) -> Program {
    map(program, |kernel| {
        let mut kernel = kernel.clone();
        kernel.inames.get_mut(iname).unwrap().tags.insert(tag.parse().unwrap());
        kernel
    })
}
