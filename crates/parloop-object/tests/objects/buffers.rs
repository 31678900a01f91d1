//! Buffers: growth under views, frees that make no sense, many allocations, many threads.

use std::sync::atomic::{AtomicBool, Ordering};

use parloop_object::{Buffer, Home, Placement, Value};

use crate::plans::Dice;
use crate::probe::contexts;
use crate::samples::{F64, array};
use crate::{all_bytes, host};

#[test]
fn views_see_the_same_object_after_the_buffer_has_grown() {
    for ctx in contexts() {
        let buffer = Buffer::new(&ctx, 64).unwrap();
        let home = Home::In(&buffer, Placement::Aligned);
        let list = array(&F64, &[-1]).make([1.0, 2.0].as_slice().into(), home).unwrap();
        let item = list.item(&[1]).unwrap();
        let more: Vec<_> = (0..50).map(|n| F64.make(f64::from(n).into(), home).unwrap()).collect();
        buffer.grow(1 << 20).unwrap();
        item.set(3.0.into()).unwrap();
        assert_eq!(list.to_vec::<f64>().unwrap(), [1.0, 3.0], "on {ctx:?}");
        assert!(more.iter().enumerate().all(|(n, view)| view.to_bytes().unwrap() == (n as f64).to_le_bytes()));
        assert!(buffer.capacity() > 1 << 20);
        let added = buffer.allocate(1 << 19).unwrap();
        assert_eq!(all_bytes(&buffer)[added..added + (1 << 19)], vec![0; 1 << 19]);
    }
}

#[test]
fn a_buffer_grows_by_its_step_or_by_as_many_as_it_takes() {
    let grown = |capacity, step, size| {
        let buffer = Buffer::with_options(&host(), capacity, 8, step).unwrap();
        buffer.allocate(capacity).unwrap();
        buffer.allocate(size).unwrap();
        buffer.capacity()
    };
    assert_eq!(grown(64, None, 8), 128);
    assert_eq!(grown(64, Some(16), 8), 80);
    assert_eq!(grown(64, Some(16), 40), 112);
    assert_eq!(grown(64, Some(0), 8), 72);
    assert_eq!(grown(1 << 20, Some(1), 1 << 19), 3 << 19);
    assert_eq!(grown(0, None, 24), 31);
}

#[test]
fn bytes_are_freed_once_and_as_they_were_taken() {
    let buffer = Buffer::new(&host(), 128).unwrap();
    let offset = buffer.allocate(32).unwrap();
    let object = array(&F64, &[4]).make(Value::Default, Home::In(&buffer, Placement::Aligned)).unwrap();
    let message = |offset, size| buffer.free(offset, size).unwrap_err().to_string();
    let foreign = "bytes 32..48 of the buffer are not an allocation: they are part of the allocation of 32 bytes at 32";
    assert_eq!(message(32, 16), foreign);
    assert_eq!(object.to_vec::<f64>().unwrap(), [0.0; 4]);
    buffer.free(offset, 32).unwrap();
    assert_eq!(message(offset, 32), "bytes 0..32 of the buffer are already free; they were freed twice or never allocated");
    assert_eq!(message(100, 32), "Cannot free outside of buffer: bytes 100..132 of a buffer of 128 bytes");
    buffer.free(object.offset(), 32).unwrap();
    drop(object);
    assert_eq!(buffer.chunks(), [(0, 128)]);
}

#[test]
fn ten_thousand_parts_are_freed_in_any_order() {
    let buffer = Buffer::new(&host(), 1 << 16).unwrap();
    let mut dice = Dice(7);
    let mut parts: Vec<(usize, usize)> = (0..10_000)
        .map(|_| {
            let size = 1 + dice.roll(100);
            (buffer.allocate(size).unwrap(), size)
        })
        .collect();
    let mut sorted = parts.clone();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
    while !parts.is_empty() {
        let (offset, size) = parts.swap_remove(dice.roll(parts.len() as u64));
        buffer.free(offset, size).unwrap();
    }
    assert_eq!(buffer.chunks(), [(0, buffer.capacity())]);
}

#[test]
fn threads_place_read_grow_and_free_at_once() {
    let buffer = Buffer::new(&host(), 64).unwrap();
    let kept: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let buffer = buffer.clone();
                scope.spawn(move || {
                    let (mut dice, mut alive) = (Dice(thread), Vec::new());
                    for round in 0..500 {
                        let values: Vec<f64> = (0..dice.roll(40)).map(|i| (thread * 1_000_000 + round * 1000 + i as u64) as f64).collect();
                        let view = array(&F64, &[-1]).make(values.as_slice().into(), Home::In(&buffer, Placement::Aligned)).unwrap();
                        alive.push((view, values));
                        if alive.len() > 20 {
                            let (view, values) = alive.swap_remove(dice.roll(20));
                            assert_eq!(view.to_vec::<f64>().unwrap(), values);
                            match dice.roll(3) {
                                0 => buffer.free(view.offset(), view.size().unwrap()).unwrap(),
                                _ => drop(view),
                            }
                        }
                    }
                    alive
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(kept.iter().all(|(view, values)| view.to_vec::<f64>().unwrap() == *values));
    let taken: usize = kept.iter().map(|(view, _)| view.size().unwrap()).sum();
    assert_eq!(buffer.free_bytes(), buffer.capacity() - taken);
    drop(kept);
    assert_eq!(buffer.chunks(), [(0, buffer.capacity())]);
}

#[test]
fn an_object_may_be_freed_by_hand_while_its_last_view_goes() {
    let buffer = Buffer::new(&host(), 64).unwrap();
    for _ in 0..2000 {
        let object = F64.make(1.0.into(), Home::In(&buffer, Placement::Aligned)).unwrap();
        let offset = object.offset();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(object));
            // It fails when the view was faster.
            let _ = buffer.free(offset, 8);
        });
        assert_eq!(buffer.free_bytes(), buffer.capacity());
    }
}

#[test]
fn who_grows_a_buffer_waits_until_it_is_let_go() {
    let buffer = Buffer::new(&host(), 64).unwrap();
    let (hold, has_grown) = (buffer.hold(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            buffer.grow(4096).unwrap();
            has_grown.store(true, Ordering::SeqCst);
        });
        // Others go on with what needs no growth.
        let offset = buffer.allocate(16).unwrap();
        buffer.write(offset, &[1; 16]).unwrap();
        assert!(!has_grown.load(Ordering::SeqCst));
        assert_eq!(buffer.capacity(), 64);
        drop(hold);
    });
    assert_eq!(buffer.capacity(), 64 + 4096);
}

#[test]
fn a_number_is_written_by_its_address_while_another_thread_makes_the_memory_move() {
    let buffer = Buffer::new(&host(), 1000).unwrap();
    let offset = buffer.allocate(8).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..200).for_each(|_| buffer.grow(1000).unwrap());
            drop(buffer.export().unwrap());
            done.store(true, Ordering::Relaxed);
        });
        let mut number = 0u64;
        while !done.load(Ordering::Relaxed) {
            number += 1;
            // SAFETY: the bytes are inside the buffer, which is not moved meanwhile, and no other thread uses them.
            if buffer.touch(|base| unsafe { base.add(offset).cast::<u64>().write_unaligned(number) }).is_none() {
                buffer.write(offset, &number.to_le_bytes()).unwrap();
            }
            let mut found = [0; 8];
            buffer.read(offset, &mut found).unwrap();
            assert_eq!(u64::from_le_bytes(found), number);
        }
    });
}
