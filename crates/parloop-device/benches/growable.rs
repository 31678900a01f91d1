//! What growable memory of a CPU costs against `vec![]`: tiny memory made and freed, 8 MB made, written and freed, a field's address
//! asked for. Prints one line of JSON.

use std::hint::black_box;
use std::time::Instant;

use parloop_device::{Device, GrowableMemory};

/// Growable memory of a benchmark.
fn allocate(device: &Device, len: usize) -> parloop_device::Result<GrowableMemory> {
    // SAFETY: each memory is used by one thread.
    unsafe { device.allocate_growable(len) }
}

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

fn write_all(pointer: *mut u8, len: usize) {
    // SAFETY: every caller has `len` bytes there.
    unsafe { black_box(pointer).write_bytes(1, len) };
}

fn main() {
    let device = Device::open("cpu").expect("there is a CPU");
    let stream = device.default_stream().expect("it has a stream");
    let mut fields = Vec::new();
    for len in [64, 512, 4096] {
        let ours = median_ns(10_000, || drop(black_box(allocate(&device, black_box(len)).expect("there is room"))));
        let vec = median_ns(10_000, || drop(black_box(vec![0u8; black_box(len)])));
        fields.push(format!("\"free_{len}_ns\": {ours:.1}, \"vec_{len}_ns\": {vec:.1}"));
    }
    // A thousand alive, freed in the order in which they were made.
    let mut alive: Vec<_> = (0..1000).map(|_| allocate(&device, 200).expect("there is room")).collect();
    let mut at = 0;
    let ours = median_ns(10_000, || {
        alive[at] = allocate(&device, 200).expect("there is room");
        at = (at + 1) % alive.len();
    });
    fields.push(format!("\"among_1000_ns\": {ours:.1}"));

    let len = 8 << 20;
    let ours = median_ns(3, || {
        let memory = allocate(&device, len).expect("there is room");
        write_all(memory.host_pointer().expect("it is a CPU"), len);
    });
    let vec = median_ns(3, || {
        let mut vec: Vec<u8> = vec![0u8; len];
        write_all(vec.as_mut_ptr(), len);
    });
    fields.push(format!("\"written_8mb_ms\": {:.3}, \"vec_8mb_ms\": {:.3}", ours / 1e6, vec / 1e6));

    let memory = allocate(&device, 64).expect("there is room");
    let whole = memory.memory();
    fields.push(format!("\"handle_ns\": {:.2}", median_ns(100_000, || _ = black_box(black_box(&memory).handle()))));
    fields.push(format!("\"memory_handle_ns\": {:.2}", median_ns(100_000, || _ = black_box(black_box(&whole).handle()))));
    let export = median_ns(10_000, || drop(black_box(memory.export().expect("there is room"))));
    fields.push(format!("\"export_ns\": {export:.1}"));

    for held in [false, true] {
        let ns = median_ns(3, || {
            let memory = allocate(&device, 1 << 20).expect("there is room");
            write_all(memory.host_pointer().expect("it is a CPU"), 1 << 20);
            let export = held.then(|| memory.export().expect("there is room"));
            memory.grow(&stream, 2 << 20).expect("there is room");
            drop(export);
        });
        fields.push(format!("\"grown_1mb{}_us\": {:.1}", if held { "_held" } else { "" }, ns / 1e3));
    }
    println!("{{{}}}", fields.join(", "));
}
