//! Rust types as objects: what they are, and that values come back as they went.

use std::sync::Arc;

use parloop_device::{Complex32, Complex64};
use parloop_object::{Buffer, Home, Object, PlaceObjects, Placed, Type, Value};
use proptest::prelude::*;

use crate::host;
use crate::probe::contexts;
use crate::samples::{self, F64, I64, array, reference, structure, union};

#[derive(Object, Clone, Debug, PartialEq)]
struct Drift {
    length: f64,
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Multipole {
    order: i64,
    knl: Vec<f64>,
    name: String,
}

#[derive(Object, Clone, Debug, PartialEq)]
enum Element {
    Drift(Drift),
    Multipole(Multipole),
}

#[derive(Object, Clone, Debug, PartialEq)]
struct Empty {}

#[derive(Object, Clone, Debug, PartialEq)]
struct Everything {
    flag: bool,
    a: i8,
    b: i16,
    c: i32,
    d: u8,
    e: u16,
    f: u32,
    g: u64,
    h: f32,
    i: Complex32,
    j: Complex64,
    flags: Vec<bool>,
    r#type: String,
    matrix: [[f64; 4]; 3],
    nothing: [[i32; 0]; 2],
    bits: [bool; 3],
    names: [String; 2],
    rows: Vec<[i16; 3]>,
    lists: Vec<Vec<u16>>,
    empty: Empty,
    first: Element,
    line: Vec<Option<Element>>,
    drift: Option<Box<Drift>>,
    #[allow(clippy::box_collection)] // a reference to a list
    strengths: Option<Box<Vec<f64>>>,
    pairs: [Option<Box<Multipole>>; 2],
    inner: Vec<Multipole>,
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Zäß ]{0,12}"
}

fn drift() -> impl Strategy<Value = Drift> {
    any::<f64>().prop_map(|length| Drift { length })
}

fn multipole() -> impl Strategy<Value = Multipole> {
    let knl = proptest::collection::vec(any::<f64>(), 0..5);
    (any::<i64>(), knl, text()).prop_map(|(order, knl, name)| Multipole { order, knl, name })
}

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![drift().prop_map(Element::Drift), multipole().prop_map(Element::Multipole)]
}

prop_compose! {
    fn everything()(
        (flag, a, b, c, d) in any::<(bool, i8, i16, i32, u8)>(),
        (e, f, g, h) in any::<(u16, u32, u64, f32)>(),
        (re, im, matrix, bits) in any::<(f32, f64, [[f64; 4]; 3], [bool; 3])>(),
        flags in proptest::collection::vec(any::<bool>(), 0..20),
        (r#type, names) in (text(), [text(), text()]),
        (rows, lists) in (proptest::collection::vec(any::<[i16; 3]>(), 0..4), proptest::collection::vec(any::<Vec<u16>>(), 0..4)),
        first in element(),
        line in proptest::collection::vec(proptest::option::of(element()), 0..4),
        drift in proptest::option::of(drift().prop_map(Box::new)),
        strengths in any::<Option<Box<Vec<f64>>>>(),
        pairs in [proptest::option::of(multipole().prop_map(Box::new)), proptest::option::of(multipole().prop_map(Box::new))],
        inner in proptest::collection::vec(multipole(), 0..3),
    ) -> Everything {
        let (i, j) = (Complex32::new(re, 1.0), Complex64::new(-1.0, im));
        let (nothing, empty) = ([[]; 2], Empty {});
        Everything {
            flag, a, b, c, d, e, f, g, h, i, j, flags, r#type, matrix, nothing, bits, names, rows, lists, empty, first, line, drift,
            strengths, pairs, inner,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back_as_they_were_placed(value in everything(), other in everything()) {
        for ctx in contexts() {
            let mut placed = ctx.place(&value).unwrap();
            prop_assert_eq!(&placed.get().unwrap(), &value);
            placed.set(&value).unwrap();
            prop_assert_eq!(&placed.get().unwrap(), &value);
            let before = placed.view().to_bytes().unwrap();
            match placed.set(&other) {
                Ok(()) => prop_assert_eq!(&placed.get().unwrap(), &other),
                Err(_) => prop_assert_eq!(&placed.view().to_bytes().unwrap(), &before),
            }
            prop_assert_eq!(placed.copy_to(&host()).unwrap().get().unwrap(), placed.get().unwrap());
        }
    }
}

#[test]
fn rust_types_are_the_types_that_python_has() {
    let list = array(&F64, &[-1]);
    let multipole = structure("Multipole", &[("order", &I64), ("knl", &list), ("name", &Type::String(None))]);
    let drift = structure("Drift", &[("length", &F64)]);
    assert_eq!(Multipole::object_type(), multipole);
    assert_eq!(Element::object_type(), union("Element", &[&drift, &multipole]));
    assert_eq!(<Option<Element>>::object_type(), Element::object_type());
    assert_eq!(<Option<Box<Multipole>>>::object_type(), reference(&multipole));
    assert_eq!(<Vec<Option<Element>>>::object_type(), array(&Element::object_type(), &[-1]));
    assert_eq!(<[[f64; 4]; 3]>::object_type(), array(&F64, &[3, 4]));
    assert_eq!(<[[f64; 4]; 3]>::object_type().name(), "Arr3x4Float64");
    assert_eq!(<[Multipole; 2]>::object_type().name(), "Arr2Multipole");
    assert_eq!(<Vec<[f32; 3]>>::object_type().name(), "ArrNArr3Float32");
    assert!(matches!(Everything::object_type(), Type::Struct(ty) if ty.field("type").is_some()));
}

#[test]
fn a_type_is_made_once() {
    let same = |first: Type, second: Type| match (first, second) {
        (Type::Struct(first), Type::Struct(second)) => Arc::ptr_eq(&first, &second),
        (Type::Array(first), Type::Array(second)) => Arc::ptr_eq(&first, &second),
        (Type::Ref(first), Type::Ref(second)) => Arc::ptr_eq(&first, &second),
        (Type::Union(first), Type::Union(second)) => Arc::ptr_eq(&first, &second),
        _ => false,
    };
    assert!(same(Multipole::object_type(), Multipole::object_type()));
    assert!(same(Element::object_type(), Element::object_type()));
    assert!(same(<Vec<f64>>::object_type(), <Vec<f64>>::object_type()));
    assert!(same(<[[i8; 2]; 2]>::object_type(), <[[i8; 2]; 2]>::object_type()));
    assert!(same(<Option<Box<Drift>>>::object_type(), <Option<Box<Drift>>>::object_type()));
}

#[test]
fn lists_of_numbers_are_borrowed_and_not_copied() {
    let multipole = Multipole { order: 1, knl: vec![0.5; 10], name: String::new() };
    let Value::Fields(fields) = multipole.to_value() else { panic!("a struct is fields") };
    let Value::Elements(elements) = &fields[1].1 else { panic!("numbers are elements") };
    assert_eq!(elements.bytes.as_ptr(), multipole.knl.as_ptr().cast());
    let matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let Value::Elements(elements) = matrix.to_value() else { panic!("numbers are elements") };
    assert_eq!((elements.bytes.as_ptr(), &elements.shape[..]), (matrix.as_ptr().cast(), &[3, 2][..]));
    let flags = vec![true, false];
    let Value::Elements(elements) = flags.to_value() else { panic!("truth values are elements") };
    assert_eq!(elements.bytes.as_ptr(), flags.as_ptr().cast());
}

#[test]
fn a_value_of_other_sizes_is_refused_and_changes_nothing() {
    let mut placed = host().place(&Multipole { order: 1, knl: vec![1.0, 2.0], name: "mq".into() }).unwrap();
    let before = placed.get().unwrap();
    let longer = Multipole { order: 9, knl: vec![0.0; 3], ..before.clone() };
    assert_eq!(placed.set(&longer).unwrap_err().to_string(), "Multipole.knl has shape (2), but the value has shape (3)");
    let named = Multipole { order: 9, name: "much longer".into(), ..before.clone() };
    assert_eq!(
        placed.set(&named).unwrap_err().to_string(),
        "Multipole.name: text of 11 bytes does not fit into a string with room for 7; its size is fixed at creation"
    );
    assert_eq!(placed.get().unwrap(), before);
}

#[test]
fn a_null_is_an_error_where_rust_has_none() {
    #[derive(Object, Debug)]
    struct Line {
        first: Element,
    }
    let line = Line::object_type().make(Value::Default, Home::Own(&host())).unwrap();
    let message = "a reference of type Element is null, but the Rust type that it is read as has no null; wrap it in an Option";
    assert_eq!(Line::from_view(&line).unwrap_err().to_string(), message);
    let placed: Placed<Line> = Placed::from_view(line).unwrap();
    assert_eq!(placed.get().unwrap_err().to_string(), message);
}

#[test]
fn an_object_is_read_as_its_own_type_only() {
    let drift = host().place(&Drift { length: 1.0 }).unwrap();
    let message = "the view has type Drift, but a Rust type for Multipole was given";
    assert_eq!(Multipole::from_view(drift.view()).unwrap_err().to_string(), message);
    assert_eq!(Placed::<Multipole>::from_view(drift.view().clone()).unwrap_err().to_string(), message);
    let other = structure("Drift", &[("length", &I64)]).make(Value::Default, Home::Own(&host())).unwrap();
    assert!(Drift::from_view(&other).is_err());
    let same = samples::drift().make(Value::Default, Home::Own(&host())).unwrap();
    assert_eq!(Drift::from_view(&same).unwrap(), Drift { length: 0.0 });
}

#[test]
fn objects_share_a_buffer_and_leave_it() {
    let ctx = host();
    let buffer = Buffer::new(&ctx, 16).unwrap();
    let values: Vec<Multipole> = (0..100).map(|n| Multipole { order: n, knl: vec![n as f64; n as usize], name: n.to_string() }).collect();
    let placed: Vec<Placed<Multipole>> = values.iter().map(|value| ctx.place_in(&buffer, value).unwrap()).collect();
    assert!(placed.iter().zip(&values).all(|(placed, value)| placed.get().unwrap() == *value));
    drop(placed);
    assert_eq!(buffer.chunks(), [(0, buffer.capacity())]);
}
