//! Changing objects in place: what fits changes its own bytes, what does not is an error and changes nothing.

use parloop_object::{Buffer, Home, Placement, Type, Value, View};
use smallvec::smallvec;

use crate::samples::{F64, I8, I64, array, ordered, reference, structure, union};
use crate::{all_bytes, host};

fn drift() -> Type {
    structure("Drift", &[("length", &F64)])
}

/// One field of every kind.
fn everything() -> Type {
    structure(
        "All",
        &[
            ("small", &I8),
            ("number", &F64),
            ("fixed", &array(&I64, &[3])),
            ("level", &ordered("Levels", &I64, &[2, 2], &[1, 0])),
            ("to", &reference(&drift())),
            ("element", &union("Element", &[&drift(), &structure("Other", &[])])),
            ("list", &array(&F64, &[-1])),
            ("text", &Type::String(None)),
            ("inner", &structure("Inner", &[("a", &I64), ("names", &array(&Type::String(None), &[-1]))])),
        ],
    )
}

fn list(values: &[f64]) -> Value<'static> {
    Value::Items { shape: smallvec![values.len()], items: values.iter().map(|&value| value.into()).collect() }
}

fn texts(texts: &[&'static str]) -> Value<'static> {
    Value::Items { shape: smallvec![texts.len()], items: texts.iter().map(|&text| text.into()).collect() }
}

/// An object of it in the middle of a buffer whose other bytes are all 0xaa.
fn object() -> View {
    let buffer = Buffer::new(&host(), 4096).unwrap();
    buffer.fill(0, 4096, 0xaa).unwrap();
    buffer.allocate(64).unwrap();
    let inner = Value::Fields(vec![(0, 5i64.into()), (1, texts(&["one", "three", ""]))]);
    let value = Value::Fields(vec![(6, list(&[1.0, 2.0, 3.0])), (7, "0123456".into()), (8, inner)]);
    everything().make(value, Home::In(&buffer, Placement::Aligned)).unwrap()
}

/// The bytes of the buffer that are others than before, as the smallest range.
fn changed(before: &[u8], after: &[u8]) -> Option<(usize, usize)> {
    let differs = |at: &usize| before[*at] != after[*at];
    Some(((0..before.len()).find(differs)?, (0..before.len()).rfind(differs)? + 1))
}

#[test]
fn what_fits_changes_its_own_bytes_and_no_others() {
    let object = object();
    let numbers: [i64; 4] = [1, 2, 3, 4];
    let square = || {
        let bytes = parloop_device::as_bytes(&numbers).into();
        Value::Elements(parloop_object::Elements::dense(bytes, parloop_device::DType::I64, smallvec![2, 2]))
    };
    type Case<'a> = (Vec<&'a str>, Value<'a>, usize, Vec<u8>);
    let bytes = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let reals = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let cases: Vec<Case> = vec![
        (vec!["small"], Value::from(-128), 0, vec![128]),
        (vec!["small"], Value::from(3.0), 0, vec![3]),
        (vec!["number"], Value::from(7i64), 0, reals(&[7.0])),
        (vec!["number"], Value::from(f64::INFINITY), 0, reals(&[f64::INFINITY])),
        (vec!["fixed"], Value::from([9i64, 8, 7].as_slice()), 0, bytes(&[9, 8, 7])),
        (vec!["fixed"], Value::from([9.0f32, 8.0, 6.0].as_slice()), 0, bytes(&[9, 8, 6])),
        (vec!["level"], square(), 0, bytes(&[1, 3, 2, 4])),
        (vec!["list"], list(&[4.0, 5.0, 6.0]), 16, reals(&[4.0, 5.0, 6.0])),
        (vec!["text"], Value::from("abcdefg"), 8, b"abcdefg\0".to_vec()),
        (vec!["text"], Value::from("x"), 8, b"x\0\0\0\0\0\0\0".to_vec()),
        (vec!["text"], Value::from(""), 8, vec![0; 8]),
        (vec!["inner", "a"], Value::from(-1), 0, bytes(&[-1])),
    ];
    for (path, value, skip, expected) in cases {
        let part = path.iter().fold(object.clone(), |view, field| view.field(field).unwrap());
        let before = all_bytes(object.buffer());
        part.set(value.clone()).unwrap();
        let after = all_bytes(object.buffer());
        let start = part.offset() + skip;
        assert_eq!(after[start..start + expected.len()], expected, "{path:?} = {value:?}");
        let (first, last) = changed(&before, &after).unwrap();
        assert!(first >= start && last <= start + expected.len(), "{path:?} = {value:?} changed {first}..{last}");
    }
}

#[test]
fn fields_are_set_together_and_fields_left_out_are_kept() {
    let object = object();
    object.set(Value::Fields(vec![(7, "six".into()), (1, 2.5.into())])).unwrap();
    assert_eq!(object.field("text").unwrap().text().unwrap(), "six");
    assert_eq!(object.field("list").unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0]);
    let inner = object.field("inner").unwrap();
    inner.set(Value::Fields(vec![(1, texts(&["a", "b", "c"]))])).unwrap();
    assert_eq!(inner.field("names").unwrap().item(&[1]).unwrap().text().unwrap(), "b");
    assert_eq!(i64::from_le_bytes(inner.to_bytes().unwrap()[8..16].try_into().unwrap()), 5);
}

#[test]
fn what_does_not_fit_is_an_error_and_changes_no_byte() {
    let object = object();
    let other = host();
    let foreign = F64.make(1.0.into(), Home::Own(&other)).unwrap();
    let freed = {
        let view = drift().make(Value::Default, Home::In(object.buffer(), Placement::Aligned)).unwrap();
        object.buffer().free(view.offset(), 8).unwrap();
        view
    };
    let cases: Vec<(usize, Value, &str)> = vec![
        (0, 128.into(), "All.small: 128 does not fit into int8"),
        (0, 1.5.into(), "All.small: 1.5 does not fit into int8"),
        (0, f64::NAN.into(), "All.small: NaN does not fit into int8"),
        (0, "one".into(), "All.small has type Int8, but the text \"one\" was given"),
        (1, Value::Null, "All.number has type Float64, but null was given"),
        (1, parloop_device::Complex64::new(1.0, 0.0).into(), "All.number: 1+0i does not fit into float64"),
        (2, [1i64, 2].as_slice().into(), "All.fixed has shape (3), but the value has shape (2)"),
        (2, [1.0, 2.5, 3.0].as_slice().into(), "All.fixed[1]: 2.5 does not fit into int64"),
        (3, [1i64, 2, 3, 4].as_slice().into(), "All.level has shape (2, 2), but the value has shape (4)"),
        (4, 1.0.into(), "All.to has type Drift, but the number 1 was given"),
        (4, Value::Object(foreign.clone()), "All.to has type Drift, but an object of Float64 was given"),
        (4, Value::Object(freed.clone()), "the memory of this Drift object was freed"),
        (5, Value::Object(foreign.clone()), "All.element takes objects of Drift, Other, but an object of Float64 was given"),
        (5, Value::Member(2, Box::new(Value::Default)), "All.element takes objects of Drift, Other, but a member of a union was given"),
        (5, 3.into(), "All.element takes objects of Drift, Other, but the number 3 was given"),
        (6, list(&[1.0]), "All.list has shape (3), but the value has shape (1)"),
        (6, list(&[1.0, 2.0, 3.0, 4.0]), "All.list has shape (3), but the value has shape (4)"),
        (6, Value::Shape(smallvec![7]), "All.list has shape (3), but the value has shape (7)"),
        (7, "01234567".into(), "All.text: text of 8 bytes does not fit into a string with room for 7; its size is fixed at creation"),
        (7, 1.into(), "All.text has type String, but the number 1 was given"),
        (8, 1.into(), "All.inner has type Inner, but the number 1 was given"),
        (
            8,
            Value::Fields(vec![(0, 1.into()), (1, texts(&["one", "much too long", ""]))]),
            "All.inner.names[1]: text of 13 bytes does not fit into a string with room for 7; its size is fixed at creation",
        ),
        (9, 1.into(), "the view has type All, but a field was given"),
    ];
    let before = all_bytes(object.buffer());
    let free = object.buffer().free_bytes();
    for (field, value, message) in cases {
        // Other fields, given before and after, are not changed either.
        let fields = vec![(0, 1.into()), (2, [4i64, 4, 4].as_slice().into()), (field, value), (1, 9.0.into())];
        assert_eq!(object.set(Value::Fields(fields)).unwrap_err().to_string(), message);
        assert!(all_bytes(object.buffer()) == before, "{message}: bytes were changed");
        assert_eq!(object.buffer().free_bytes(), free, "{message}");
    }
}

#[test]
fn a_set_sees_the_object_as_it_was() {
    let pair = structure("Pair", &[("a", &array(&F64, &[3])), ("b", &array(&F64, &[3]))]);
    let value = Value::Fields(vec![(0, list(&[1.0, 2.0, 3.0])), (1, list(&[4.0, 5.0, 6.0]))]);
    let object = pair.make(value, Home::Own(&host())).unwrap();
    let (a, b) = (object.field("a").unwrap(), object.field("b").unwrap());
    object.set(Value::Fields(vec![(0, Value::Object(b.clone())), (1, Value::Object(a.clone()))])).unwrap();
    assert_eq!((a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap()), (vec![4.0, 5.0, 6.0], vec![1.0, 2.0, 3.0]));
    object.set(Value::Object(object.clone())).unwrap();
    assert_eq!(a.to_vec::<f64>().unwrap(), [4.0, 5.0, 6.0]);
}

#[test]
fn objects_that_were_freed_are_neither_read_nor_written() {
    let object = object();
    let (buffer, size) = (object.buffer().clone(), object.size().unwrap());
    let part = object.field("list").unwrap();
    buffer.free(object.offset(), size).unwrap();
    let before = all_bytes(&buffer);
    let message = "the memory of this All object was freed";
    assert_eq!(object.set(Value::Fields(vec![(0, 1.into())])).unwrap_err().to_string(), message);
    assert_eq!(object.to_bytes().unwrap_err().to_string(), message);
    assert_eq!(part.to_vec::<f64>().unwrap_err().to_string(), "the memory of this ArrNFloat64 object was freed");
    assert!(part.set(list(&[0.0, 0.0, 0.0])).is_err());
    assert!(all_bytes(&buffer) == before);
    // Another object may have the place; the first one does not come back.
    let next = everything()
        .make(Value::Fields(vec![(6, list(&[7.0])), (8, Value::Fields(vec![(1, texts(&[]))]))]), Home::In(&buffer, Placement::Aligned));
    let next = next.unwrap();
    assert!(object.to_bytes().is_err());
    drop(object);
    drop(part);
    assert_eq!(next.field("list").unwrap().to_vec::<f64>().unwrap(), [7.0]);
}
