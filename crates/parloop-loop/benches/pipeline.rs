//! How long it takes from text to source: `cargo bench -p parloop-loop --bench pipeline`. Medians, on a quiet machine.

use std::time::{Duration, Instant};

use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::parse::step;
use parloop_loop::prelude::*;
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::apply;

fn measure(name: &str, times: usize, mut work: impl FnMut()) {
    let before = Instant::now();
    work();
    let first = before.elapsed();
    let mut each: Vec<Duration> = (0..times)
        .map(|_| {
            let before = Instant::now();
            work();
            before.elapsed()
        })
        .collect();
    each.sort();
    println!("{name:<28} first {:>9.3} ms   median {:>9.3} ms", first.as_secs_f64() * 1e3, each[times / 2].as_secs_f64() * 1e3);
}

fn vector_add() -> Program {
    let data = Data::global("a, b").dtype("float32");
    KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = a[i] + b[i]").data(data).rest().build().unwrap()
}

fn steps(program: Program, texts: &[&str]) -> Program {
    texts.iter().fold(program, |program, text| apply(&program, &step(text).unwrap()).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn matmul() -> Program {
    let data = Data::global("a, b, c").dtype("float32").shape("n, n");
    let program = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(data)
        .rest()
        .build()
        .unwrap();
    steps(
        program,
        &[
            "split_iname i 16 outer_tag=g.0 inner_tag=l.1",
            "split_iname j 16 outer_tag=g.1 inner_tag=l.0",
            "split_iname k 16",
            "add_prefetch a [k_inner, i_inner]",
            "add_prefetch b [j_inner, k_inner]",
        ],
    )
}

fn thirty() -> Program {
    let lines: Vec<String> = (0..30)
        .map(|i| match i {
            0 => "<>t0 = a[i] + 1 {id=s0}".to_owned(),
            _ => format!("<>t{i} = t{}*2 + a[i] {{id=s{i}}}", i - 1),
        })
        .collect();
    let text = format!("{}\nout[i] = t29", lines.join("\n"));
    let program =
        KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions(text).data(Data::global("a").dtype("float64")).rest().build().unwrap();
    steps(program, &["split_iname i 128 outer_tag=g.0 inner_tag=l.0"])
}

fn nests(count: usize) -> Program {
    let mut builder = KernelBuilder::new();
    for index in 0..count {
        builder = builder.domain(format!("{{[i{index}]: 0<=i{index}<n}}").as_str());
    }
    let text: String = (0..count).map(|index| format!("a{index}[i{index}] = i{index}\n")).collect();
    builder.instructions(text).build().unwrap()
}

fn main() {
    let only: Option<String> = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let is_asked = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let generate = |program: Program, target| drop(program.generate(target).unwrap());
    if is_asked("vector") {
        measure("vector add", 101, || generate(vector_add(), Target::OpenCl));
    }
    if is_asked("matmul") {
        measure("tiled matmul", 31, || generate(matmul(), Target::OpenCl));
        measure("tiled matmul, made", 31, || drop(matmul()));
    }
    if is_asked("thirty") {
        measure("30 instructions", 31, || generate(thirty(), Target::OpenCl));
    }
    if is_asked("nests") {
        measure("500 disjoint nests", 3, || generate(nests(500), Target::C));
    }
}
