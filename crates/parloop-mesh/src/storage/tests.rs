//! Which copies of a table are made, moved and renewed, and when.

use super::*;

fn gpus() -> impl Iterator<Item = Context> {
    ["opencl", "cuda"].into_iter().filter_map(|name| Context::open(name).ok())
}

fn on(context: &Context, memory: &Memory, count: usize) -> Vec<f64> {
    let mut values = vec![f64::NAN; count];
    context.stream().read(memory, 0, as_bytes_mut(&mut values)).unwrap();
    values
}

#[test]
fn zeros_are_made_where_they_are_needed_and_not_moved() {
    for context in gpus() {
        let storage = Storage::zeros(DType::F64, 2, 3).unwrap();
        // Behind its back: what is moved would show.
        storage.write_host(as_bytes(&[5.0; 6])).unwrap();
        let memory = storage.place(&context, true, false).unwrap();
        assert_eq!(on(&context, &memory, 6), [0.0; 6], "{context:?}");
        storage.write(&[7.0; 6]).unwrap();
        let memory = storage.place(&context, true, false).unwrap();
        assert_eq!(on(&context, &memory, 6), [7.0; 6], "what was written is no zeros, {context:?}");
    }
}

#[test]
fn no_loop_writes_what_the_host_has() {
    let storage = Storage::with_values(&[1.0; 6], 2, 3).unwrap();
    let numbers = storage.host().unwrap();
    assert_eq!(numbers.len(), 48);
    assert!(storage.inner.turns.try_take(true).unwrap().is_none(), "a loop that writes waits");
    assert!(storage.inner.turns.try_take(false).unwrap().is_some(), "a loop that reads does not");
    drop(numbers);
    let numbers = storage.host_mut().unwrap();
    assert!(storage.inner.turns.try_take(false).unwrap().is_none());
    drop(numbers);
    let numbers = storage.host_to_replace().unwrap();
    assert!(storage.inner.turns.try_take(false).unwrap().is_none());
    assert_eq!(numbers.unprotected().len(), 48);
    assert!(storage.inner.turns.try_take(true).unwrap().is_some());
}

#[test]
fn what_is_replaced_is_not_brought_to_the_host_first() {
    for context in gpus() {
        let storage = Storage::with_values(&[1.0; 6], 2, 3).unwrap();
        storage.place(&context, false, true).unwrap();
        context.stream().fill(&storage.place(&context, true, true).unwrap(), 0, 48, 0).unwrap();
        let mut values = [0.0; 6];
        storage.host_to_replace().unwrap();
        storage.read_host(as_bytes_mut(&mut values)).unwrap();
        assert_eq!(values, [1.0; 6], "the host has what it had, {context:?}");
        assert_eq!((storage.version(), storage.newest().is_none()), (3, true));
        let memory = storage.place(&context, true, false).unwrap();
        assert_eq!(on(&context, &memory, 6), [1.0; 6], "the host's numbers are the newest, {context:?}");
    }
}

#[test]
fn what_a_loop_only_writes_is_not_moved_to_its_device_first() {
    for context in gpus() {
        let storage = Storage::with_values(&[1.0; 6], 2, 3).unwrap();
        let memory = storage.place(&context, true, false).unwrap();
        storage.write(&[2.0; 6]).unwrap();
        storage.place(&context, false, true).unwrap();
        assert_eq!(on(&context, &memory, 6), [1.0; 6], "{context:?}");
    }
}

#[test]
fn a_few_numbers_are_read_where_they_are() {
    let numbers = |bytes: Vec<u8>| bytes.chunks_exact(8).map(|number| f64::from_ne_bytes(number.try_into().unwrap())).collect::<Vec<_>>();
    let values: Vec<f64> = (0..12).map(f64::from).collect();
    let storage = Storage::with_values(&values, 4, 3).unwrap();
    let peek = |rows: &[usize], columns: &[usize]| storage.peek(rows, columns).unwrap().map(numbers);
    assert_eq!(peek(&[0, 1, 3], &[0, 2]), Some(vec![0.0, 2.0, 3.0, 5.0, 9.0, 11.0]));
    assert_eq!(peek(&[3, 0], &[1, 1]), Some(vec![10.0, 10.0, 1.0, 1.0]));
    assert_eq!(peek(&[], &[0]), Some(vec![]));
    assert!(storage.peek(&[4], &[0]).is_err() && storage.peek(&[0], &[3]).is_err());
    for context in gpus() {
        for layout in [Layout::Rows, Layout::Columns] {
            let storage = Storage::with_values(&values, 4, 3).unwrap();
            storage.settle_layout(&context, layout);
            let memory = storage.place(&context, true, true).unwrap();
            // Behind the host's back: what is read comes from the device.
            context.stream().write(&memory, 11 * 8, as_bytes(&[77.0])).unwrap();
            let version = storage.version();
            assert_eq!(storage.peek(&[0, 3], &[0, 2]).unwrap().map(numbers), Some(vec![0.0, 2.0, 9.0, 77.0]), "{context:?} {layout:?}");
            assert!(!storage.is_on_host() && storage.version() == version, "it stays there, {context:?}");
            let recording = context.recording().unwrap();
            assert!(storage.peek(&[0], &[0]).unwrap().is_none(), "{context:?}");
            recording.finish().unwrap();
        }
    }
}
