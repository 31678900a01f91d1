//! One matrix product, transformed in two ways, on every device. `cargo run --release --example 03_loops`.

use std::time::Instant;

use parloop::loops::{Executable, Program};
use parloop::prelude::*;

const N: i64 = 200;

/// What is computed; how is left open.
fn product() -> Result<Program, LoopError> {
    let builder = KernelBuilder::new()
        .name("product")
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j])")
        .data(Data::global("a, b, c").dtype("float32").shape("n, n"));
    Ok(builder.rest().assumptions("n >= 1").build()?)
}

/// A row for each work-group, an element for each of its items, 64 at once.
fn by_rows(product: &Program) -> Result<Program, LoopError> {
    product.split_iname("j", Split::by(64).inner(InameTag::Local(0)))?.tag_inames("i:g.0, j_outer:g.1")
}

/// A tile of 16 by 16 for each work-group, which fetches tiles of both factors into local memory.
fn by_tiles(product: &Program) -> Result<Program, LoopError> {
    product
        .split_iname("i", Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(1)))?
        .split_iname("j", Split::by(16).outer(InameTag::Group(1)).inner(InameTag::Local(0)))?
        .split_iname("k", Split::by(16))?
        .add_prefetch(Prefetch::new("a", ["k_inner", "i_inner"]))?
        .add_prefetch(Prefetch::new("b", ["j_inner", "k_inner"]))
}

/// The product, and the best time of three in milliseconds.
fn run(executable: &Executable, a: &[f32], b: &[f32]) -> Result<(Vec<f32>, f64), LoopError> {
    let ctx = executable.context();
    let (a, b, mut c) = (ctx.array(a)?, ctx.array(b)?, ctx.zeros::<f32>(a.len())?);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        ctx.synchronize()?;
        let start = Instant::now();
        executable.call(loop_args! {
            a: (&a, [N, N]),
            b: (&b, [N, N]),
            c: (&mut c, [N, N]),
        })?;
        ctx.synchronize()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((c.to_vec()?, best))
}

fn main() -> Result<(), LoopError> {
    let product = product()?;
    let (rows, tiles) = (by_rows(&product)?, by_tiles(&product)?);
    println!("{}", tiles.generate(Target::OpenCl)?.code.text);

    // Small integers, so that every order of the sums gives the same floats.
    let a: Vec<f32> = (0..N * N).map(|i| (i % 7 - 3) as f32).collect();
    let b: Vec<f32> = (0..N * N).map(|i| (i % 5 - 2) as f32).collect();
    // As written: plain loops on one thread.
    let (expected, plain) = run(&product.compile(&Context::open("cpu:1")?)?, &a, &b)?;
    println!("{:<12} {:>9} {:>9} {:>9}", "ms", "plain", "rows", "tiles");
    println!("{:<12} {plain:>9.3}", "cpu:1");
    for device in Device::list() {
        let ctx = Context::on(device.default_stream()?);
        let mut line = format!("{:<12} {:>9}", device.id().to_string(), "");
        for program in [&rows, &tiles] {
            let (found, time) = run(&program.compile(&ctx)?, &a, &b)?;
            assert_eq!(found, expected, "on {}", device.id());
            line += &format!(" {time:>9.3}");
        }
        println!("{line}");
    }
    Ok(())
}
