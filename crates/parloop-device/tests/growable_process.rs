//! Growable memory of a CPU and what the process has of the system: mappings, page faults, forks. Each runs in a process of its own.

mod address;

use std::process::Command;

use address::{address, cpu, peek, poke};
use parloop_device::{Device, DeviceError, Export, GrowableMemory};
use parloop_forking::forked;

/// Growable memory of a test.
fn allocate(device: &Device, len: usize) -> parloop_device::Result<GrowableMemory> {
    // SAFETY: whoever makes the memory move has it alone; what others use meanwhile is exported.
    unsafe { device.allocate_growable(len) }
}

/// Runs one of the ignored tests of this file in a process of its own.
fn in_own_process(test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {:?}\n{text}", output.status);
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

#[test]
#[ignore = "counts the mappings of its process"]
fn a_hundred_thousand_need_few_mappings() {
    let (device, stream) = cpu();
    let before = mappings();
    let all: Vec<GrowableMemory> = (0..100_000).map(|i| allocate(&device, i % 300).unwrap()).collect();
    assert!(mappings() < before + 300, "{} mappings for tiny memory", mappings() - before);
    let exports: Vec<Export> = all.iter().take(20_000).map(|growable| growable.export().unwrap()).collect();
    // Memory with reserved addresses has two mappings, and so much of it is limited in number.
    assert!(mappings() < before + 10_000, "{} mappings for held memory", mappings() - before);
    drop(exports);
    for growable in all.iter().take(20_000) {
        growable.grow(&stream, 10_000).unwrap();
    }
    assert!(mappings() < before + 12_000, "{} mappings for longer memory", mappings() - before);
    drop(all);
    assert!(mappings() < before + 700, "{} mappings are left", mappings() - before);
}

#[test]
fn few_mappings_are_used() {
    in_own_process("a_hundred_thousand_need_few_mappings");
}

#[test]
#[ignore = "uses up the reservations of its process"]
fn growing_until_nothing_is_reserved() {
    let (device, stream) = cpu();
    let mut all: Vec<(GrowableMemory, Export)> = Vec::new();
    let mut failed = 0;
    while failed < 200 {
        assert!(all.len() < 200_000, "reservations never ran out");
        let Ok(growable) = allocate(&device, 100) else { break };
        stream.fill(&growable.memory(), 0, 100, all.len() as u8).unwrap();
        let Ok(export) = growable.export() else { break };
        match growable.grow(&stream, 5000) {
            Ok(()) => assert_eq!(growable.len(), 5000),
            Err(DeviceError::AddressHeld { asked, .. }) => {
                failed += 1;
                assert_eq!((growable.len(), growable.handle(), asked), (100, export.handle(), 5000));
            }
            Err(other) => panic!("{other}"),
        }
        all.push((growable, export));
    }
    assert!(failed > 0);
    for (i, (growable, export)) in all.iter().enumerate() {
        assert_eq!(peek(address(growable), 100), [i as u8; 100], "memory {i}");
        poke(export.handle() as usize, &[1]);
        assert_eq!(peek(address(growable), 1), [1]);
    }
    println!("{} grew, {failed} did not", all.len() - failed);
    let (last, held) = all.pop().unwrap();
    drop(all);
    drop(held);
    let held = last.export().unwrap();
    last.grow(&stream, 1 << 20).unwrap();
    assert_eq!(last.handle(), held.handle());
}

#[test]
fn running_out_of_reservations_is_an_error_and_loses_nothing() {
    in_own_process("growing_until_nothing_is_reserved");
}

#[test]
#[ignore = "limits the addresses of its process"]
fn growing_with_few_addresses() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let (device, stream) = cpu();
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let now: u64 = status.split(' ').next().unwrap().parse::<u64>().unwrap() * rustix::param::page_size() as u64;
    setrlimit(Resource::As, Rlimit { current: Some(now + (1 << 30)), maximum: None }).unwrap();
    for len in [100, 600_000] {
        let growable = allocate(&device, len).unwrap();
        stream.fill(&growable.memory(), 0, len, 3).unwrap();
        let held = growable.export().unwrap();
        let error = growable.grow(&stream, 2 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cpu:1: memory of {len} bytes cannot grow to 2097152, because its address is held by 1 view; drop the views first, or create it with its full length"
            )
        );
        assert_eq!((growable.len(), growable.handle()), (len, held.handle()));
        drop(held);
        growable.grow(&stream, 2 << 20).unwrap();
        assert_eq!(peek(address(&growable), len), vec![3; len]);
    }
    let large = allocate(&device, 1 << 20).unwrap();
    assert!(matches!(large.grow(&stream, 4 << 30), Err(DeviceError::OutOfMemory { .. })));
    assert_eq!(large.len(), 1 << 20);
}

#[test]
fn a_process_with_few_addresses_reserves_none() {
    in_own_process("growing_with_few_addresses");
}

/// Page faults of this thread so far.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
#[ignore = "counts the page faults of its process"]
fn large_memory_made_again_and_again() {
    let (device, stream) = cpu();
    let once = || {
        let growable = allocate(&device, 8_000_000).unwrap();
        stream.fill(&growable.memory(), 0, 8_000_000, 1).unwrap();
    };
    once();
    let before = page_faults();
    (0..20).for_each(|_| once());
    let faults = page_faults() - before;
    assert!(faults < 20, "{faults} page faults");
    // What is kept has a limit.
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let before = resident();
    let all: Vec<GrowableMemory> = (0..80).map(|_| allocate(&device, 8_000_000).unwrap()).collect();
    all.iter().for_each(|growable| stream.fill(&growable.memory(), 0, 8_000_000, 1).unwrap());
    drop(all);
    assert!(resident() < before + (300 << 20), "{} bytes are kept", resident() - before);
}

#[test]
fn large_memory_that_is_made_again_costs_no_page_faults() {
    in_own_process("large_memory_made_again_and_again");
}

// ---- forks ----

#[test]
#[ignore = "forks"]
fn a_child_and_its_parent_write_each_to_their_own() {
    let (device, stream) = cpu();
    let all: Vec<(GrowableMemory, Vec<Export>)> = [50, 3000, 5000, 700_000]
        .map(|len| {
            let growable = allocate(&device, len).unwrap();
            stream.fill(&growable.memory(), 0, len, 1).unwrap();
            let first = growable.export().unwrap();
            growable.grow(&stream, 3 * len + 10_000).unwrap();
            let second = growable.export().unwrap();
            growable.grow(&stream, 9 * len + 200_000).unwrap();
            stream.fill(&growable.memory(), 3 * len, growable.len() - 3 * len, 1).unwrap();
            (growable, vec![first, second])
        })
        .into();
    let plain = allocate(&device, 100).unwrap();
    poke(address(&plain), &[1]);
    let shows = |value: u8| {
        peek(address(&plain), 1) == [value]
            && all.iter().all(|(growable, exports)| {
                let ends = peek(address(growable), 1) == [value] && peek(address(growable) + growable.len() - 1, 1) == [value];
                ends && exports.iter().all(|export| peek(export.handle() as usize, 1) == [value])
            })
    };
    let write = |value: u8| {
        poke(address(&plain), &[value]);
        for (growable, exports) in &all {
            poke(exports[0].handle() as usize, &[value]);
            poke(address(growable) + growable.len() - 1, &[value]);
        }
    };
    let child = || {
        // The parent writes meanwhile, and does not reach us.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let as_at_the_fork = shows(1);
        write(2);
        let written = shows(2);
        let grown = all.iter().all(|(growable, exports)| {
            growable.grow(&stream, growable.len() * 3).unwrap();
            poke(address(growable), &[5]);
            exports.iter().all(|export| peek(export.handle() as usize, 1) == [5])
        });
        as_at_the_fork && written && grown && allocate(&device, 1000).is_ok()
    };
    let parent = || {
        write(3);
        assert!(shows(3));
    };
    assert!(forked(child, parent), "the child went wrong");
    assert!(shows(3), "the child's writes came here");
    for (growable, exports) in &all {
        growable.grow(&stream, growable.len() * 3).unwrap();
        poke(address(growable), &[6]);
        assert!(exports.iter().all(|export| peek(export.handle() as usize, 1) == [6]));
    }
}

#[test]
#[ignore = "forks"]
fn children_of_a_busy_parent_find_nothing_locked() {
    let (device, _) = cpu();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..3usize {
            let (device, stop) = (&device, &stop);
            scope.spawn(move || {
                let stream = device.default_stream().unwrap();
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    for len in [seed + 1, 1000, 10_000, 700_000] {
                        let growable = allocate(device, len).unwrap();
                        let export = growable.export().unwrap();
                        growable.grow(&stream, len * 3 + 10_000).unwrap();
                        drop(export);
                    }
                }
            });
        }
        let shared = allocate(&device, 10).unwrap();
        let _held = shared.export().unwrap();
        for _ in 0..60 {
            let child = || {
                let stream = device.default_stream().unwrap();
                (0..16).all(|_| {
                    std::thread::scope(|scope| scope.spawn(|| allocate(&device, 100).is_ok()).join().unwrap())
                        && shared.grow(&stream, shared.len() * 2).is_ok()
                        && allocate(&device, 1 << 20).is_ok()
                })
            };
            assert!(forked(child, || ()));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_forked_child_has_memory_of_its_own() {
    in_own_process("a_child_and_its_parent_write_each_to_their_own");
}

#[test]
fn a_fork_while_other_threads_work_leaves_nothing_locked() {
    in_own_process("children_of_a_busy_parent_find_nothing_locked");
}
