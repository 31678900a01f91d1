//! Bytes written out by hand: the layout as it is documented, word by word.

use parloop_device::{Complex32, Complex64};
use parloop_object::{Buffer, Home, Object, Placement, Type, Value};
use smallvec::smallvec;

use crate::samples::{self, F64, array, ordered, reference, structure};
use crate::{host, packed, real, words};

const NULL: i64 = i64::MIN;

/// The words of a value of a Rust type.
fn words_of<T: Object>(value: &T) -> Vec<i64> {
    words(&T::object_type().make(value.to_value(), Home::Own(&host())).unwrap())
}

#[derive(Object)]
struct Multipole {
    order: i64,
    knl: Vec<f64>,
    name: String,
}

#[test]
fn a_multipole_is_these_words() {
    let multipole = Multipole { order: 3, knl: vec![1.5, 2.5], name: "mq.1r".into() };
    let expected = [
        72,               // 0: bytes of all of it
        3,                // 8: order
        56,               // 16: where name begins
        32,               // 24: knl, its bytes
        2,                // 32: its length
        real(1.5),        // 40
        real(2.5),        // 48
        16,               // 56: name, its bytes
        packed(b"mq.1r"), // 64: text, NUL, zeros
    ];
    assert_eq!(words_of(&multipole), expected);
}

#[test]
fn fields_of_static_size_are_on_slots() {
    #[derive(Object)]
    struct Small {
        a: i8,
        b: i16,
        c: f32,
        d: f64,
    }
    let small = Small { a: -1, b: -2, c: 1.0, d: 2.0 };
    assert_eq!(words_of(&small), [packed(&[0xff]), packed(&[0xfe, 0xff]), packed(&1f32.to_le_bytes()), real(2.0)]);
}

#[test]
fn texts_end_with_nul_on_a_slot() {
    for (text, size) in [("", 16), ("1234567", 16), ("12345678", 24)] {
        assert_eq!(words_of(&text.to_owned())[0], size);
    }
    let text = Type::String(None).make(Value::Capacity(20), Home::Own(&host())).unwrap();
    assert_eq!((text.size().unwrap(), text.text().unwrap().as_str()), (28, ""));
    let fixed = Type::fixed_string(24).unwrap().make("ab".into(), Home::Own(&host())).unwrap();
    assert_eq!(words(&fixed), [24, packed(b"ab"), 0]);
}

#[test]
fn arrays_of_numbers_are_these_words() {
    assert_eq!(words_of(&[1.0f32, 2.0, 3.0]), [packed(&[0, 0, 128, 63, 0, 0, 0, 64]), packed(&[0, 0, 64, 64])]);
    assert_eq!(words_of(&[[1i64, 2], [3, 4], [5, 6]]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(words_of(&vec![true, false, true]), [24, 3, packed(&[1, 0, 1])]);
    assert_eq!(words_of(&Vec::<f64>::new()), [16, 0]);
    assert_eq!(words_of(&vec![Complex64::new(1.0, -1.0)]), [32, 1, real(1.0), real(-1.0)]);
    assert_eq!(words_of(&Complex32::new(1.0, 2.0)), [packed(&[0, 0, 128, 63, 0, 0, 0, 64])]);
    assert_eq!(words_of(&vec![[1i64, 2], [3, 4]]), [48, 2, 1, 2, 3, 4]);
}

#[test]
fn several_axes_have_their_strides_in_the_header() {
    let numbers: Vec<f64> = (0..6).map(f64::from).collect();
    let value = |shape: [usize; 2]| {
        Value::Elements(parloop_object::Elements::dense(
            parloop_device::as_bytes(&numbers).into(),
            parloop_device::DType::F64,
            smallvec![shape[0], shape[1]],
        ))
    };
    let c_order = array(&F64, &[-1, 3]).make(value([2, 3]), Home::Own(&host())).unwrap();
    assert_eq!(words(&c_order), [80, 2, 24, 8, real(0.0), real(1.0), real(2.0), real(3.0), real(4.0), real(5.0)]);
    let f_order = ordered("F", &F64, &[-1, -1], &[1, 0]).make(value([2, 3]), Home::Own(&host())).unwrap();
    assert_eq!(words(&f_order), [88, 2, 3, 8, 16, real(0.0), real(3.0), real(1.0), real(4.0), real(2.0), real(5.0)]);
}

#[test]
fn items_of_different_sizes_are_found_by_their_offsets() {
    // {"ids": [1, 2, 3], "particles": [[1, 2], [3], [4, 5, 6]]}
    #[derive(Object)]
    struct Cells {
        ids: Vec<i64>,
        particles: Vec<Vec<i64>>,
    }
    let cells = Cells { ids: vec![1, 2, 3], particles: vec![vec![1, 2], vec![3], vec![4, 5, 6]] };
    assert_eq!(words_of(&cells), [192, 56, 40, 3, 1, 2, 3, 136, 3, 40, 72, 96, 32, 2, 1, 2, 24, 1, 3, 40, 3, 4, 5, 6]);
    assert_eq!(Cells::object_type(), samples::cells());
}

#[test]
fn references_are_distances_from_their_own_slot() {
    let buffer = Buffer::new(&host(), 256).unwrap();
    let home = Home::In(&buffer, Placement::Aligned);
    let number = F64.make(2.5.into(), home).unwrap();
    let union = samples::union("U", &[&structure("A", &[]), &structure("B", &[("x", &F64)])]);
    let pair = structure("Pair", &[("to", &reference(&F64)), ("none", &reference(&F64)), ("which", &union), ("nothing", &union)]);
    let b = structure("B", &[("x", &F64)]).make(Value::Fields(vec![(0, 1.0.into())]), home).unwrap();
    let value = Value::Fields(vec![(0, Value::Object(number.clone())), (2, Value::Object(b.clone()))]);
    let object = pair.make(value, home).unwrap();
    assert_eq!((number.offset(), b.offset(), object.offset()), (0, 8, 16));
    assert_eq!(words(&object), [-16, NULL, 8 - 32, 1, NULL, -1]);
}
