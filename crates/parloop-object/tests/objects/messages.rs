//! What cannot be: every message word for word.

use parloop_device::DType;
use parloop_object::{ArrayType, Buffer, Elements, Home, Placement, StructType, Type, UnionType, Value, View};
use smallvec::smallvec;

use crate::host;
use crate::samples::{F64, I8, I64, array, reference, structure, union};

#[test]
fn types_that_cannot_be_are_told() {
    let message = |ty: Result<Type, parloop_object::TypeError>| ty.unwrap_err().to_string();
    let fields = |names: &[&str]| names.iter().map(|name| (name.to_string(), F64)).collect();
    assert_eq!(
        message(StructType::with_fields("2nd", vec![])),
        "`2nd` is not a valid name for a struct: C names consist of letters, digits and underscores and do not start with a digit"
    );
    assert_eq!(
        message(StructType::with_fields("S", fields(&["a-b"]))),
        "`a-b` is not a valid name for a field: C names consist of letters, digits and underscores and do not start with a digit"
    );
    assert_eq!(message(StructType::with_fields("S", fields(&["a", "b", "a"]))), "struct `S` has two fields `a`");
    assert_eq!(message(ArrayType::c_order(F64, vec![])), "array `ArrFloat64` has 0 axes; an array must have 1 to 16");
    assert_eq!(message(ArrayType::named("A", F64, vec![None; 17], (0..17).collect())), "array `A` has 17 axes; an array must have 1 to 16");
    assert_eq!(
        message(ArrayType::named("A", F64, vec![None; 2], vec![0, 2])),
        "array `A`: the order [0, 2] is not a permutation of its 2 axes"
    );
    assert_eq!(message(ArrayType::named("A", F64, vec![Some(1 << 60)], vec![0])), "array `A` is too large to address");
    let half = ArrayType::named("Half", I8, vec![Some((1 << 59) + 8)], vec![0]).unwrap();
    let halves = vec![("a".to_owned(), half.clone()), ("b".to_owned(), half)];
    assert_eq!(message(StructType::with_fields("S", halves)), "struct `S` is too large to address");
    assert_eq!(message(Type::fixed_string(0)), "a string of 0 bytes was requested; a string must have 1 to 2^60");
    let drift = structure("Drift", &[]);
    assert_eq!(message(UnionType::with_members("U", vec![drift.clone(), drift.clone()])), "union reference `U` has two members `Drift`");
    assert_eq!(
        message(UnionType::with_members("U", vec![reference(&drift)])),
        "union reference `U` cannot have the reference `RefDrift` as a member"
    );
    let deep = (1..256).fold(structure("S0", &[]), |inner, i| structure(&format!("S{i}"), &[("inner", &inner)]));
    assert_eq!(
        message(StructType::with_fields("T", vec![("inner".to_owned(), deep.clone())])),
        "type `T` is nested 257 types deep; the limit is 256"
    );
    assert_eq!(message(reference(&deep).of_fair_depth()), "type `RefS255` is nested 257 types deep; the limit is 256");
}

#[test]
fn buffers_that_cannot_be_are_told() {
    let ctx = host();
    let message = |result: Result<Buffer, parloop_object::BufferError>| result.unwrap_err().to_string();
    assert_eq!(message(Buffer::with_options(&ctx, 64, 12, None)), "the alignment 12 is not a power of two");
    assert_eq!(message(Buffer::new(&ctx, usize::MAX)), "a buffer of more than 9223372036854775807 bytes was requested");
    let buffer = Buffer::new(&ctx, 64).unwrap();
    assert_eq!(buffer.allocate_aligned(8, 0).unwrap_err().to_string(), "the alignment 0 is not a power of two");
    assert_eq!(buffer.allocate(usize::MAX).unwrap_err().to_string(), "a buffer of more than 9223372036854775807 bytes was requested");
    assert_eq!(buffer.write(60, &[0; 8]).unwrap_err().to_string(), "a write of 8 bytes at 60 does not fit into a buffer of 64 bytes");
    assert_eq!(buffer.read(65, &mut []).unwrap_err().to_string(), "a read of 0 bytes at 65 does not fit into a buffer of 64 bytes");
    assert_eq!(
        buffer.fill(usize::MAX, 2, 0).unwrap_err().to_string(),
        "a fill of 2 bytes at 18446744073709551615 does not fit into a buffer of 64 bytes"
    );
    let object = array(&F64, &[4]).make(Value::Default, Home::In(&buffer, Placement::At(40)));
    assert_eq!(object.unwrap_err().to_string(), "an object of 32 bytes at 40 does not fit into a buffer of 64 bytes");
    assert_eq!((buffer.free_bytes(), buffer.capacity()), (64, 64));
}

#[test]
fn values_that_make_no_object_are_told_and_no_buffer_is_touched() {
    let buffer = Buffer::new(&host(), 64).unwrap();
    let message = |ty: &Type, value: Value<'_>| ty.make(value, Home::In(&buffer, Placement::Aligned)).unwrap_err().to_string();
    let list = array(&F64, &[-1]);
    let pair = structure("Pair", &[("n", &I8), ("list", &list)]);
    assert_eq!(message(&pair, Value::Default), "Pair.list needs a value, because its size depends on it");
    assert_eq!(message(&pair, Value::Fields(vec![(0, 300.into())])), "Pair.n: 300 does not fit into int8");
    assert_eq!(message(&pair, Value::Fields(vec![(2, 3.into())])), "Pair has type Pair, but the number 3 was given");
    assert_eq!(message(&list, Value::Shape(smallvec![1, 2])), "ArrNFloat64 has shape (:), but the value has shape (1, 2)");
    assert_eq!(message(&list, Value::Shape(smallvec![1 << 59])), "array `ArrNFloat64` is too large to address");
    let items = Value::Items { shape: smallvec![usize::MAX, 2], items: vec![] };
    assert_eq!(message(&list, items), "ArrNFloat64 has type ArrNFloat64, but a list of 0 items was given");
    // Numbers that lie outside of their bytes, and more than can be counted.
    let outside = |shape, strides| Elements { bytes: vec![0; 16].into(), start: 8, dtype: DType::F64, shape, strides };
    let given = "ArrNFloat64 has type ArrNFloat64, but an array of float64 was given";
    for (dim, stride) in [(2, 8), (3, -8), (2, isize::MAX), (usize::MAX, 8), (usize::MAX, 0)] {
        assert_eq!(message(&list, Value::Elements(outside(smallvec![dim], smallvec![stride]))), given);
    }
    assert_eq!(message(&list, Value::Elements(outside(smallvec![1 << 40, 1 << 40], smallvec![8, 8]))), given);
    assert_eq!(message(&list, Value::Elements(outside(smallvec![1], smallvec![]))), given);
    assert_eq!((buffer.free_bytes(), buffer.capacity()), (64, 64));
    // Nothing at all may lie anywhere.
    let nothing = Elements { bytes: vec![].into(), start: 99, dtype: DType::F64, shape: smallvec![0], strides: smallvec![8] };
    assert_eq!(list.make(Value::Elements(nothing), Home::Own(&host())).unwrap().size().unwrap(), 16);
}

#[test]
fn parts_that_are_not_there_are_told() {
    let pair = structure("Pair", &[("n", &I8), ("m", &I64)]);
    let object = pair.make(Value::Default, Home::Own(&host())).unwrap();
    assert_eq!(object.field("k").unwrap_err().to_string(), "Pair has no field `k`; its fields are n, m");
    assert_eq!(object.item(&[0]).unwrap_err().to_string(), "the view has type Pair, but an index was given");
    assert_eq!(object.target().unwrap_err().to_string(), "the view has type Pair, but what it refers to was given");
    assert_eq!(object.to_vec::<f64>().unwrap_err().to_string(), "the view has type Pair, but an index was given");
    let square = array(&F64, &[2, 2]).make(Value::Default, Home::Own(&host())).unwrap();
    assert_eq!(square.item(&[1, 2]).unwrap_err().to_string(), "Arr2x2Float64: index [1, 2] is out of bounds for shape (2, 2)");
    assert_eq!(square.item(&[1]).unwrap_err().to_string(), "Arr2x2Float64: index [1] is out of bounds for shape (2, 2)");
    assert_eq!(square.to_vec::<f32>().unwrap_err().to_string(), "the view has type Arr2x2Float64, but an array of float32 was given");
}

#[test]
fn bytes_that_make_no_sense_are_told_whatever_they_are() {
    let buffer = Buffer::new(&host(), 128).unwrap();
    let write = |words: &[i64]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        buffer.write(0, &bytes).unwrap();
    };
    let senseless =
        |ty: &Type, what: &str| format!("{ty}: its bytes are invalid ({what}); they were overwritten or never held such an object");
    let list = array(&F64, &[-1]);
    let read = |ty: &Type| View::at(&buffer, 0, ty).and_then(|view| view.to_vec::<f64>());
    for (words, what) in [
        ([0, 0], "its size"),
        ([-1, 0], "its size"),
        ([i64::MAX, 1 << 40], "it extends past the end of its buffer"),
        ([136, 15], "it extends past the end of its buffer"),
        ([32, 3], "its shape"),
        ([32, -1], "its shape"),
        ([128, i64::MAX], "its shape"),
    ] {
        write(&words);
        assert_eq!(read(&list).unwrap_err().to_string(), senseless(&list, what), "{words:?}");
    }
    // The same where the bytes were good when the view was made: a kernel can have written to them since.
    write(&[32, 2]);
    let view = View::at(&buffer, 0, &list).unwrap();
    write(&[i64::MAX, 1 << 50]);
    assert_eq!(view.to_vec::<f64>().unwrap_err().to_string(), senseless(&list, "it extends past the end of its buffer"));
    let text = Type::String(None);
    write(&[16, 0]);
    let view = View::at(&buffer, 0, &text).unwrap();
    write(&[i64::MAX, 0]);
    assert_eq!(view.text().unwrap_err().to_string(), senseless(&text, "it extends past the end of its buffer"));
    write(&[16, 0xff]);
    assert_eq!(view.text().unwrap_err().to_string(), "String holds text that is not UTF-8");
    let to = reference(&F64);
    for (distance, what) in [(-8, "its distance"), (i64::MAX, "it extends past the end of its buffer")] {
        write(&[distance]);
        let ty = if what == "its distance" { &to } else { &F64 };
        assert_eq!(View::at(&buffer, 0, &to).unwrap().target().unwrap_err().to_string(), senseless(ty, what));
    }
    let which = union("U", &[&structure("A", &[])]);
    write(&[8, 1]);
    assert_eq!(View::at(&buffer, 0, &which).unwrap().target().unwrap_err().to_string(), senseless(&which, "its type id"));
    let lists = array(&list, &[-1]);
    write(&[64, 2, -8, 1 << 61]);
    let view = View::at(&buffer, 0, &lists).unwrap();
    for index in [0, 1] {
        assert_eq!(view.item(&[index]).unwrap_err().to_string(), senseless(&lists, "an offset"));
    }
}

#[test]
fn a_size_word_covers_what_is_at_fixed_places_and_parts_lie_in_their_object() {
    let buffer = Buffer::new(&host(), 256).unwrap();
    let write = |words: &[i64]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        buffer.write(0, &bytes).unwrap();
    };
    let senseless =
        |ty: &Type, what: &str| format!("{ty}: its bytes are invalid ({what}); they were overwritten or never held such an object");
    let list = array(&F64, &[-1]);
    // [size][table of 20 numbers][offset of the text][list][text]
    let holder = structure("Holder", &[("table", &array(&F64, &[20])), ("list", &list), ("text", &Type::String(None))]);
    assert_eq!(holder.least_size(), 8 + 160 + 8 + 16 + 8);
    for size in [8, 16, 199] {
        write(&[size]);
        assert_eq!(View::at(&buffer, 0, &holder).unwrap_err().to_string(), senseless(&holder, "its size"), "{size}");
    }
    let mut words = [0i64; 25];
    words[0] = 200;
    let mut found = |list_size: i64, text_at: i64, text_size: i64, field: &str| {
        words[21] = text_at;
        words[22] = list_size;
        words[24] = text_size;
        write(&words);
        View::at(&buffer, 0, &holder).unwrap().field(field).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(found(16, 192, 8, "list"), Ok(()));
    assert_eq!(found(16, 192, 8, "text"), Ok(()));
    assert_eq!(found(8, 192, 8, "list"), Err(senseless(&list, "its size")));
    assert_eq!(found(32, 192, 8, "list"), Err(senseless(&list, "it extends past the end of the object that contains it")));
    assert_eq!(found(16, 200, 8, "text"), Err(senseless(&holder, "an offset")));
    assert_eq!(found(16, 192, 7, "text"), Err(senseless(&Type::String(None), "its size")));
    assert_eq!(found(16, 192, 16, "text"), Err(senseless(&Type::String(None), "it extends past the end of the object that contains it")));
    let lists = array(&list, &[4]);
    assert_eq!(lists.least_size(), 8 + 4 * 8);
    write(&[16, 0]);
    assert_eq!(View::at(&buffer, 0, &lists).unwrap_err().to_string(), senseless(&lists, "its size"));
    write(&[40, 32, 0, 0, 0]);
    assert_eq!(View::at(&buffer, 0, &lists).unwrap().item(&[0]).unwrap_err().to_string(), senseless(&lists, "an offset"));
}
