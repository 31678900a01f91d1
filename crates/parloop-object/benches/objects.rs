//! What objects cost on a CPU: 10,000 parts of a buffer taken and freed in random order, a struct of four fields made, read and
//! changed, a million numbers placed against a plain copy of them. Prints one line of JSON.

use std::hint::black_box;
use std::time::Instant;

use parloop_kernel::{Context, args};
use parloop_object::{Buffer, Home, Object, ObjectOptions, PlaceObjects, Placement};

const ROUNDS: usize = 51;

/// The median time of one call, in nanoseconds.
fn median_ns(calls: u32, mut work: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let clock = Instant::now();
            (0..calls).for_each(|_| work());
            clock.elapsed().as_nanos() as f64 / f64::from(calls)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

#[derive(Object)]
struct Particle {
    x: f64,
    px: f64,
    id: i64,
    charge: f64,
}

#[derive(Object)]
struct Multipole {
    order: i64,
    knl: Vec<f64>,
    ksl: Vec<f64>,
    name: String,
}

/// The numbers 0 to `count - 1` in an order that looks random.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = 1u64;
    for at in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(at, (state >> 33) as usize % (at + 1));
    }
    order
}

fn main() {
    let ctx = Context::open("cpu").expect("there is a CPU");
    let mut fields = Vec::new();

    const PARTS: usize = 10_000;
    let buffer = Buffer::new(&ctx, 4 << 20).expect("there is room");
    let order = shuffled(PARTS);
    let ns = median_ns(1, || {
        let parts: Vec<(usize, usize)> = (0..PARTS)
            .map(|part| {
                let size = 16 + part % 200;
                (buffer.allocate(size).expect("there is room"), size)
            })
            .collect();
        order.iter().for_each(|&part| buffer.free(parts[part].0, parts[part].1).expect("it was taken"));
    });
    fields.push(format!("\"allocate_and_free_ns\": {:.1}", ns / PARTS as f64));

    let particle = Particle { x: 1.0, px: 2.0, id: 3, charge: 4.0 };
    let multipole = Multipole { order: 1, knl: vec![1.0, 2.0], ksl: vec![3.0], name: "mq.1".into() };
    fields.push(format!("\"place_static_ns\": {:.1}", median_ns(1000, || drop(black_box(ctx.place(&particle))))));
    fields.push(format!("\"place_dynamic_ns\": {:.1}", median_ns(1000, || drop(black_box(ctx.place(&multipole))))));
    let in_buffer = median_ns(1000, || drop(black_box(ctx.place_in(&buffer, &multipole))));
    fields.push(format!("\"place_in_buffer_ns\": {in_buffer:.1}"));
    let mut placed = ctx.place(&particle).expect("there is room");
    fields.push(format!("\"get_ns\": {:.1}", median_ns(1000, || drop(black_box(placed.get())))));
    fields.push(format!("\"set_ns\": {:.1}", median_ns(1000, || placed.set(black_box(&particle)).expect("it fits"))));
    fields.push(format!("\"object_type_ns\": {:.1}", median_ns(10_000, || drop(black_box(Particle::object_type())))));
    fields.push(format!("\"vec_type_ns\": {:.1}", median_ns(10_000, || drop(black_box(<Vec<f64>>::object_type())))));

    let source = "GPUKERN void touch(Particle p) { Particle_set_x(p, 1.0); }";
    // SAFETY: the kernel stays inside of the particle.
    let program = unsafe { ctx.compile_with_objects(source, &[Particle::object_type()], &ObjectOptions::default()) }.expect("it compiles");
    let touch = program.kernel("touch").expect("it is there");
    fields.push(format!("\"launch_ns\": {:.1}", median_ns(10_000, || _ = touch.call(args![&mut placed]).expect("it runs"))));

    let numbers = vec![1.0f64; 1_000_000];
    let mut target = vec![0.0f64; numbers.len()];
    let copy = median_ns(3, || black_box(&mut target).copy_from_slice(black_box(&numbers)));
    let fresh = median_ns(3, || drop(black_box(black_box(&numbers).to_vec())));
    let place = median_ns(3, || drop(black_box(ctx.place(black_box(&numbers)).expect("there is room"))));
    let list = <Vec<f64>>::object_type().make(numbers.to_value(), Home::Own(&ctx)).expect("there is room");
    let large = Buffer::new(&ctx, 16 << 20).expect("there is room");
    let reused = median_ns(3, || {
        drop(black_box(<Vec<f64>>::object_type().make(numbers.to_value(), Home::In(&large, Placement::Aligned)).expect("there is room")));
    });
    let read = median_ns(3, || drop(black_box(list.to_vec::<f64>().expect("it is there"))));
    for (name, ns) in [("copy", copy), ("to_vec", fresh), ("place", place), ("place_in_buffer", reused), ("get", read)] {
        fields.push(format!("\"{name}_8mb_ms\": {:.3}", ns / 1e6));
    }
    println!("{{{}}}", fields.join(", "));
}
