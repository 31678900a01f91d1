//! Growable memory on every device that is here: what it keeps when it becomes longer, and what follows it.

use parloop_device::{Device, DeviceError, DeviceKind, GrowableMemory, Memory, Stream};

/// Growable memory of a test.
fn allocate(device: &Device, len: usize) -> parloop_device::Result<GrowableMemory> {
    // SAFETY: whoever makes the memory move has it alone; what others use meanwhile is exported.
    unsafe { device.allocate_growable(len) }
}

fn on_every_device(test: impl Fn(&Device, &Stream)) {
    for device in Device::list() {
        println!("on {device:?}");
        test(&device, &device.default_stream().unwrap());
    }
}

fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8).wrapping_add(seed)).collect()
}

fn read(stream: &Stream, memory: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.len()];
    stream.read(memory, 0, &mut bytes).unwrap();
    bytes
}

#[test]
fn memory_that_grows_keeps_its_content_and_is_followed() {
    on_every_device(|device, stream| {
        for len in [1, 24, 100, 2048, 2049, 5000, 70_000, 3 << 20] {
            let growable = allocate(device, len).unwrap();
            assert_eq!((growable.len(), growable.memory().len()), (len, len));
            let mut expected = pattern(len, 1);
            stream.write(&growable.memory(), 0, &expected).unwrap();
            let before = growable.memory();
            let longer = [len + 1, 2 * len, 2 * len + 4096, 5 * len + (1 << 20)];
            for (round, &longer) in longer.iter().enumerate() {
                growable.grow(stream, longer).unwrap();
                assert_eq!((growable.len(), before.len()), (longer, len));
                assert_eq!(read(stream, &growable.memory().slice(0, expected.len()).unwrap()), expected, "{len} to {longer}");
                assert_eq!(before.handle(), growable.handle());
                // What is written through memory from before is seen in the whole, and the other way round.
                stream.fill(&before, len - 1, 1, round as u8).unwrap();
                expected[len - 1] = round as u8;
                let end = expected.len();
                expected.extend(pattern(longer - end, round as u8));
                stream.write(&growable.memory(), end, &expected[end..]).unwrap();
                assert_eq!(read(stream, &growable.memory()), expected);
                assert_eq!(read(stream, &before), expected[..len]);
            }
        }
    });
}

#[test]
fn slices_follow_and_keep_their_offset() {
    on_every_device(|device, stream| {
        let growable = allocate(device, 4096).unwrap();
        stream.write(&growable.memory(), 0, &pattern(4096, 0)).unwrap();
        let slice = growable.memory().slice(1024, 2048).unwrap();
        let inner = slice.slice(512, 256).unwrap();
        let copied = device.allocate(256).unwrap();
        for len in [10_000, 1 << 20] {
            growable.grow(stream, len).unwrap();
            assert_eq!(read(stream, &slice), pattern(4096, 0)[1024..3072]);
            assert_eq!(read(stream, &inner), pattern(4096, 0)[1536..1792]);
            stream.copy(&copied, 0, &inner, 0, 256).unwrap();
            assert_eq!(read(stream, &copied), pattern(4096, 0)[1536..1792]);
        }
        stream.write(&inner, 1, &[77]).unwrap();
        assert_eq!(read(stream, &growable.memory().slice(1537, 1).unwrap()), [77]);
        assert!(matches!(slice.slice(2048, 1), Err(DeviceError::OutOfBounds { .. })));
        let overlap = stream.copy(&slice, 0, &inner, 0, 256);
        assert!(overlap.is_ok(), "{overlap:?}");
        assert!(matches!(stream.copy(&slice, 500, &inner, 0, 256), Err(DeviceError::Unsupported { .. })));
    });
}

#[test]
fn a_length_that_it_has_already_changes_nothing() {
    on_every_device(|device, stream| {
        let growable = allocate(device, 1000).unwrap();
        let handle = growable.handle();
        for len in [0, 1, 999, 1000] {
            growable.grow(stream, len).unwrap();
            assert_eq!((growable.len(), growable.handle()), (1000, handle));
        }
    });
}

#[test]
fn memory_of_no_bytes_can_grow() {
    on_every_device(|device, stream| {
        let growable = allocate(device, 0).unwrap();
        let empty = growable.memory();
        assert!(growable.is_empty() && empty.is_empty() && empty.handle() == 0 && empty.host_pointer().is_none());
        drop(growable.export().unwrap());
        growable.grow(stream, 100).unwrap();
        stream.write(&growable.memory(), 0, &pattern(100, 5)).unwrap();
        assert_eq!(read(stream, &growable.memory()), pattern(100, 5));
        assert!(empty.is_empty() && empty.handle() == 0);
    });
}

#[test]
fn clones_are_the_same_memory_and_outlive_each_other() {
    on_every_device(|device, stream| {
        let growable = allocate(device, 64).unwrap();
        let clone = growable.clone();
        assert!(clone.same(&growable) && !clone.same(&allocate(device, 64).unwrap()));
        clone.grow(stream, 128).unwrap();
        assert_eq!((growable.len(), growable.handle()), (128, clone.handle()));
        let memory = growable.memory();
        stream.write(&memory, 0, &pattern(128, 9)).unwrap();
        drop((growable, clone));
        assert_eq!(read(stream, &memory), pattern(128, 9));
    });
}

#[test]
fn too_much_is_an_error_and_loses_nothing() {
    on_every_device(|device, stream| {
        let limit = device.properties().max_allocation;
        let id = device.id().to_string();
        let is_out_of_memory = |result: Result<(), DeviceError>, len: usize| match result {
            Err(DeviceError::OutOfMemory { device, asked, .. }) => assert_eq!((device, asked), (id.clone(), len as u64)),
            other => panic!("{other:?}"),
        };
        is_out_of_memory(allocate(device, usize::MAX).map(drop), usize::MAX);
        let growable = allocate(device, 300).unwrap();
        stream.write(&growable.memory(), 0, &pattern(300, 3)).unwrap();
        let handle = growable.handle();
        let too_much = usize::try_from(limit).unwrap_or(usize::MAX - 1) + 1;
        for len in [too_much, usize::MAX / 2, usize::MAX - 1, usize::MAX] {
            is_out_of_memory(growable.grow(stream, len), len);
            assert_eq!((growable.len(), growable.handle()), (300, handle));
        }
        assert_eq!(read(stream, &growable.memory()), pattern(300, 3));
        growable.grow(stream, 301).unwrap();
    });
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let (one, two) = (Device::open("cpu:1").unwrap(), Device::open("cpu:2").unwrap());
    let growable = allocate(&one, 10).unwrap();
    let error = growable.grow(&two.default_stream().unwrap(), 20).unwrap_err();
    assert_eq!(error.to_string(), "grow: this belongs to device `cpu:2`, but the work is on `cpu:1`; copy it there first");
}

#[test]
fn a_device_that_cannot_keep_an_address_says_who_holds_it() {
    on_every_device(|device, stream| {
        if device.kind() == DeviceKind::Cpu {
            return;
        }
        let growable = allocate(device, 100).unwrap();
        stream.write(&growable.memory(), 0, &pattern(100, 2)).unwrap();
        let (first, second) = (growable.export().unwrap(), growable.export().unwrap());
        assert_eq!((first.handle(), first.len(), first.host_pointer()), (growable.handle(), 100, None));
        let error = growable.grow(stream, 200).unwrap_err().to_string();
        let device = device.id();
        let expected = format!(
            "{device}: memory of 100 bytes cannot grow to 200, because its address is held by 2 views; \
             drop the views first, or create it with its full length"
        );
        assert_eq!(error, expected);
        drop(second);
        let error = growable.grow(stream, 200).unwrap_err().to_string();
        assert!(error.contains("by 1 view; drop"), "{error}");
        assert_eq!((growable.len(), growable.handle()), (100, first.handle()));
        drop(first);
        growable.grow(stream, 200).unwrap();
        assert_eq!(read(stream, &growable.memory().slice(0, 100).unwrap()), pattern(100, 2));
    });
}

#[test]
fn growing_waits_for_work_on_other_streams() {
    on_every_device(|device, stream| {
        let other = device.create_stream().unwrap();
        let growable = allocate(device, 4 << 20).unwrap();
        for round in 1..6u8 {
            other.fill(&growable.memory(), 0, growable.len(), round).unwrap();
            let before = growable.len();
            growable.grow(stream, before + 1000).unwrap();
            assert!(read(stream, &growable.memory().slice(0, before).unwrap()).iter().all(|&byte| byte == round));
        }
    });
}

#[test]
fn everything_says_what_it_is() {
    let device = Device::open("cpu:1").unwrap();
    let growable = allocate(&device, 7).unwrap();
    assert_eq!(format!("{growable:?} {:?}", growable.export().unwrap()), "<GrowableMemory 7 bytes on cpu:1> <Export 7 bytes on cpu:1>");
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<GrowableMemory>();
    is_send_and_sync::<parloop_device::Export>();
}
