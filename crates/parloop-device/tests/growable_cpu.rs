//! Growable memory of a CPU: an address that is held is that of the memory, whatever happens to it.

mod address;

use std::sync::mpsc;

use address::{address, cpu, peek, poke};
use parloop_device::{Device, DeviceError, Export, GrowableMemory};
use proptest::prelude::*;

/// Growable memory of a test.
fn allocate(device: &Device, len: usize) -> parloop_device::Result<GrowableMemory> {
    // SAFETY: whoever makes the memory move has it alone; what others use meanwhile is exported.
    unsafe { device.allocate_growable(len) }
}

// ---- what is held ----

#[test]
fn an_address_that_is_held_never_changes() {
    let (device, stream) = cpu();
    for len in [1, 40, 500, 2048, 3000, 5000, 300_000, 600_000, 3 << 20] {
        let growable = allocate(&device, len).unwrap();
        stream.fill(&growable.memory(), 0, len, 1).unwrap();
        let mut exports = vec![growable.export().unwrap()];
        for round in 2..8u8 {
            growable.grow(&stream, growable.len() * 2 + 5000).unwrap();
            poke(address(&growable) + growable.len() - 1, &[round]);
            exports.push(growable.export().unwrap());
            for (writer, export) in exports.iter().enumerate() {
                let value = round * 16 + writer as u8;
                poke(export.host_pointer().unwrap() as usize + len - 1, &[value]);
                assert_eq!(peek(address(&growable) + len - 1, 1), [value]);
                assert!(exports.iter().all(|export| peek(export.host_pointer().unwrap() as usize + len - 1, 1) == [value]));
            }
            let last = exports.last().unwrap();
            assert_eq!(peek(last.host_pointer().unwrap() as usize + last.len() - 1, 1), [round]);
        }
        assert!(exports.iter().all(|export| export.handle() == growable.handle()));
    }
}

#[test]
fn large_memory_grows_where_it_is() {
    let (device, stream) = cpu();
    let len = (150 << 20) + 12_345;
    let growable = allocate(&device, len).unwrap();
    let marks: Vec<usize> = (0..len).step_by((8 << 20) - 1).chain([(64 << 20) - 1, 64 << 20, 128 << 20, len - 1]).collect();
    marks.iter().for_each(|&at| poke(address(&growable) + at, &[at as u8 | 1]));
    let export = growable.export().unwrap();
    assert!(growable.grows_in_place(2 * len) && !growable.grows_in_place(usize::MAX / 2));
    growable.grow(&stream, 2 * len).unwrap();
    assert_eq!(export.handle(), growable.handle());
    for &at in &marks {
        assert_eq!((peek(address(&growable) + at, 1), peek(export.handle() as usize + at, 1)), (vec![at as u8 | 1], vec![at as u8 | 1]));
        poke(address(&growable) + at, &[7]);
        assert_eq!(peek(export.handle() as usize + at, 1), [7], "byte {at}");
    }
}

#[test]
fn memory_whose_address_was_held_has_private_pages() {
    let (device, stream) = cpu();
    let growable = allocate(&device, 5000).unwrap();
    stream.fill(&growable.memory(), 0, 5000, 7).unwrap();
    let export = growable.export().unwrap();
    growable.grow(&stream, 20_000).unwrap();
    drop(export);
    growable.grow(&stream, 1 << 20).unwrap();
    assert_eq!(peek(address(&growable), 5000), [7; 5000]);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        (usize::from_str_radix(start, 16).unwrap()..usize::from_str_radix(end, 16).unwrap()).contains(&address(&growable))
    });
    assert_eq!(line.unwrap().split(' ').nth(1), Some("rw-p"));
}

#[test]
fn short_memory_moves_once_when_it_is_held() {
    let (device, stream) = cpu();
    let growable = allocate(&device, 48).unwrap();
    stream.fill(&growable.memory(), 0, 48, 3).unwrap();
    let before = address(&growable);
    let memory = growable.memory();
    let first = growable.export().unwrap();
    assert_ne!(first.handle() as usize, before);
    assert_eq!((memory.handle(), growable.handle()), (first.handle(), first.handle()));
    assert_eq!(peek(first.handle() as usize, 48), [3; 48]);
    // The slot from before is nobody else's.
    let others: Vec<GrowableMemory> = (0..1000).map(|_| allocate(&device, 48).unwrap()).collect();
    assert!(others.iter().all(|other| address(other) != before));
    drop(first);
    assert_eq!(growable.export().unwrap().handle(), growable.handle());
    let long = allocate(&device, 600_000).unwrap();
    let before = address(&long);
    assert_eq!(long.export().unwrap().handle() as usize, before);
}

#[test]
fn an_address_that_was_released_is_given_to_others_without_its_bytes() {
    let (device, stream) = cpu();
    for len in [100, 5000, 600_000] {
        let all: Vec<GrowableMemory> = (0..50).map(|_| allocate(&device, len).unwrap()).collect();
        all.iter().for_each(|growable| stream.fill(&growable.memory(), 0, len, 1).unwrap());
        let exports: Vec<Export> = all.iter().map(|growable| growable.export().unwrap()).collect();
        all.iter().for_each(|growable| growable.grow(&stream, len * 2 + 10_000).unwrap());
        drop(exports);
        let others: Vec<GrowableMemory> = (0..100).map(|_| allocate(&device, len.max(4096)).unwrap()).collect();
        others.iter().for_each(|growable| stream.fill(&growable.memory(), 0, growable.len(), 2).unwrap());
        assert!(all.iter().all(|growable| peek(address(growable), len) == vec![1; len]));
    }
}

#[test]
fn neighbours_are_never_touched() {
    let (device, stream) = cpu();
    for len in [16, 100, 1500, 4096, 8192] {
        let all: Vec<GrowableMemory> = (0..200).map(|_| allocate(&device, len).unwrap()).collect();
        for (i, growable) in all.iter().enumerate() {
            stream.fill(&growable.memory(), 0, len, i as u8).unwrap();
        }
        let exports: Vec<Export> = all.iter().step_by(3).map(|growable| growable.export().unwrap()).collect();
        for growable in all.iter().step_by(3) {
            let before = growable.len();
            growable.grow(&stream, before * 3 + 10_000).unwrap();
            stream.fill(&growable.memory(), before, growable.len() - before, 0xee).unwrap();
        }
        for (i, growable) in all.iter().enumerate() {
            assert_eq!(peek(address(growable), len), vec![i as u8; len], "memory {i} of {len} bytes");
        }
        for (i, export) in exports.iter().enumerate() {
            assert_eq!(peek(export.handle() as usize, len), vec![3 * i as u8; len]);
        }
        drop(exports);
        for (i, growable) in all.iter().enumerate() {
            assert_eq!(peek(address(growable), len), vec![i as u8; len], "memory {i} of {len} bytes after the views");
        }
    }
}

#[test]
fn addresses_are_aligned_as_promised() {
    let (device, stream) = cpu();
    for len in (1..200).chain([1000, 2000, 4096, 5000, 100_000, 524_288, 524_289, 2 << 20, 9 << 20]) {
        let all: Vec<GrowableMemory> = (0..20).map(|_| allocate(&device, len).unwrap()).collect();
        let promised = if len < 64 { 16 } else { 64 };
        for growable in &all {
            assert!(address(growable).is_multiple_of(promised), "{len} bytes at {:#x}", address(growable));
            let export = growable.export().unwrap();
            growable.grow(&stream, len + 4096).unwrap();
            assert!(address(growable).is_multiple_of(64) && export.handle().is_multiple_of(promised as u64));
        }
    }
}

/// Calls `visit` with every order of `0..n`.
fn permutations(n: usize, order: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    if order.len() == n {
        return visit(order);
    }
    for next in 0..n {
        if !order.contains(&next) {
            order.push(next);
            permutations(n, order, visit);
            order.pop();
        }
    }
}

#[test]
fn whatever_is_dropped_first_the_rest_stays_valid() {
    enum Owner {
        Growable(GrowableMemory),
        Memory(parloop_device::Memory),
        Export(Export),
    }
    impl Owner {
        fn address(&self) -> usize {
            match self {
                Owner::Growable(growable) => address(growable),
                Owner::Memory(memory) => memory.host_pointer().unwrap() as usize,
                Owner::Export(export) => export.host_pointer().unwrap() as usize,
            }
        }
    }
    let (device, stream) = cpu();
    for len in [100, 5000, 600_000] {
        permutations(6, &mut Vec::new(), &mut |order| {
            let growable = allocate(&device, len).unwrap();
            stream.fill(&growable.memory(), 0, len, 1).unwrap();
            let before = growable.memory();
            let first = growable.export().unwrap();
            growable.grow(&stream, 3 * len + 9000).unwrap();
            let second = growable.export().unwrap();
            growable.grow(&stream, 9 * len + 90_000).unwrap();
            let third = growable.export().unwrap();
            let slice = growable.memory().slice(0, len).unwrap();
            let mut owners = [
                Some(Owner::Growable(growable)),
                Some(Owner::Memory(before)),
                Some(Owner::Memory(slice)),
                Some(Owner::Export(first)),
                Some(Owner::Export(second)),
                Some(Owner::Export(third)),
            ];
            for (step, &next) in order.iter().enumerate() {
                let left = owners.iter().flatten().next().unwrap();
                poke(left.address(), &[step as u8]);
                assert!(owners.iter().flatten().all(|owner| peek(owner.address(), 1) == [step as u8]), "{order:?} at {step}");
                assert!(owners.iter().flatten().all(|owner| peek(owner.address() + len - 1, 1) == [1]));
                owners[next] = None;
            }
        });
    }
}

// ---- any order of operations ----

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize),
    Grow { of: usize, to: usize },
    Export(usize),
    DropExport(usize),
    Write { through: usize, at: usize, len: usize, value: u8 },
    Drop(usize),
}

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..200usize, 4 => 0..10_000usize, 2 => 0..100_000usize, 1 => 500_000..3_000_000usize]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let any = any::<usize>;
    let step = prop_oneof![
        2 => lengths().prop_map(Step::Allocate),
        4 => (any(), lengths()).prop_map(|(of, to)| Step::Grow { of, to }),
        4 => any().prop_map(Step::Export),
        2 => any().prop_map(Step::DropExport),
        6 => (any(), any(), 0..5000usize, 0..255u8).prop_map(|(through, at, len, value)| Step::Write { through, at, len, value }),
        1 => any().prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 1..60)
}

/// Memory, its holds, and what it should contain: `None` is undefined.
struct Model {
    growable: GrowableMemory,
    exports: Vec<Export>,
    content: Vec<Option<u8>>,
}

impl Model {
    /// Every address that is valid, with its length.
    fn addresses(&self) -> Vec<(usize, usize)> {
        let held = self.exports.iter().map(|export| (export.host_pointer().unwrap() as usize, export.len()));
        held.chain([(address(&self.growable), self.growable.len())]).collect()
    }

    fn check(&self) {
        for (address, len) in self.addresses() {
            let bytes = peek(address, len);
            for (at, byte) in bytes.iter().enumerate() {
                assert!(self.content[at].is_none_or(|expected| expected == *byte), "byte {at} of {len} at {address:#x}");
            }
        }
    }
}

fn pick<T>(of: &mut [T], number: usize) -> Option<&mut T> {
    let count = of.len();
    of.get_mut(number.checked_rem(count)?)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_all_live_addresses_show_the_content(steps in steps()) {
        let (device, stream) = cpu();
        let mut models: Vec<Model> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate(len) => {
                    let growable = allocate(&device, len).unwrap();
                    models.push(Model { growable, exports: Vec::new(), content: vec![None; len] });
                }
                Step::Grow { of, to } => if let Some(model) = pick(&mut models, of) {
                    model.growable.grow(&stream, to).unwrap();
                    let len = model.content.len().max(to);
                    model.content.resize(len, None);
                    assert_eq!(model.growable.len(), len);
                },
                Step::Export(of) => if let Some(model) = pick(&mut models, of) {
                    model.exports.push(model.growable.export().unwrap());
                },
                Step::DropExport(of) => if let Some(model) = pick(&mut models, of)
                    && !model.exports.is_empty() {
                    model.exports.swap_remove(of / 7 % model.exports.len());
                },
                Step::Write { through, at, len, value } => if let Some(model) = pick(&mut models, through) {
                    let mut addresses = model.addresses();
                    let &mut (address, size) = pick(&mut addresses, through / 3).unwrap();
                    let at = at.checked_rem(size).unwrap_or(0);
                    let len = len.min(size - at);
                    poke(address + at, &vec![value; len]);
                    model.content[at..at + len].fill(Some(value));
                },
                Step::Drop(of) => if !models.is_empty() {
                    let at = of % models.len();
                    models.swap_remove(at);
                },
            }
        }
        models.iter().for_each(Model::check);
    }
}

#[test]
fn memory_in_use_does_not_move_when_it_is_held() {
    let (device, stream) = cpu();
    let growable = allocate(&device, 100).unwrap();
    let before = address(&growable);
    growable.begin_use();
    assert!(growable.export_moves());
    let export = growable.export().unwrap();
    assert_eq!((export.handle() as usize, address(&growable)), (before, before));
    growable.end_use();
    assert!(matches!(growable.grow(&stream, 5000), Err(DeviceError::AddressHeld { len: 100, asked: 5000, holds: 1, .. })));
    drop(export);
    growable.grow(&stream, 5000).unwrap();
}

// ---- threads ----

#[test]
fn what_one_thread_writes_while_another_grows_is_not_lost() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let (device, stream) = cpu();
    for len in [64, 5000, 600_000] {
        for _ in 0..20 {
            let growable = allocate(&device, len).unwrap();
            stream.fill(&growable.memory(), 0, len, 0).unwrap();
            let export = growable.export().unwrap();
            // SAFETY: the address is held, aligned, and has eight bytes that are zero.
            let count = unsafe { &*(export.handle() as *const AtomicU64) };
            let stop = AtomicU64::new(0);
            let adds = std::thread::scope(|scope| {
                let adder = scope.spawn(|| {
                    let mut adds = 0;
                    while stop.load(Ordering::Relaxed) == 0 {
                        // Not one operation: what another thread writes in between would be lost.
                        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        adds += 1;
                    }
                    adds
                });
                for step in 1..10 {
                    growable.grow(&stream, len << step).unwrap();
                }
                stop.store(1, Ordering::Relaxed);
                adder.join().unwrap()
            });
            assert_eq!(count.load(Ordering::Relaxed), adds);
        }
    }
}

#[test]
fn threads_allocate_grow_and_free_each_others_memory() {
    let (device, _) = cpu();
    std::thread::scope(|scope| {
        let (to_left, from_right) = mpsc::channel::<(GrowableMemory, Export, u8)>();
        let (to_right, from_left) = mpsc::channel::<(GrowableMemory, Export, u8)>();
        for (send, receive, seed) in [(to_right, from_right, 1u8), (to_left, from_left, 2)] {
            let device = device.clone();
            scope.spawn(move || {
                let stream = device.default_stream().unwrap();
                for round in 0..2000usize {
                    let len = [20, 200, 2000, 6000, 60_000][round % 5];
                    let growable = allocate(&device, len).unwrap();
                    stream.fill(&growable.memory(), 0, len, seed).unwrap();
                    let export = growable.export().unwrap();
                    growable.grow(&stream, len * 2 + 8192).unwrap();
                    send.send((growable, export, seed)).unwrap();
                    let (other, held, value) = receive.recv().unwrap();
                    assert_eq!(peek(address(&other), held.len()), vec![value; held.len()]);
                    poke(held.handle() as usize, &[9]);
                    other.grow(&stream, other.len() * 2).unwrap();
                    assert_eq!(peek(address(&other), 1), [9]);
                }
            });
        }
    });
}

#[test]
fn threads_that_allocate_at_once_never_get_the_same_memory() {
    let (device, _) = cpu();
    let taken: Vec<GrowableMemory> = std::thread::scope(|scope| {
        let work = |seed: u8| {
            let device = &device;
            move || {
                let mut kept = Vec::new();
                for round in 0..20_000 {
                    let growable = allocate(device, 32 + round % 64).unwrap();
                    poke(address(&growable), &[seed; 32]);
                    if round % 4 == 0 {
                        kept.push(growable);
                    }
                }
                assert!(kept.iter().all(|growable| peek(address(growable), 32) == [seed; 32]));
                kept
            }
        };
        let threads: Vec<_> = (0..12).map(|seed| scope.spawn(work(seed))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut ranges: Vec<(usize, usize)> = taken.iter().map(|growable| (address(growable), growable.len())).collect();
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
}
