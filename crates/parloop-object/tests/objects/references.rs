//! References: what they share, what they copy, and what they keep alive.

use parloop_object::{Buffer, Home, Placement, Type, Value, View};

use crate::host;
use crate::samples::{F64, I64, array, reference, structure, union};

fn target() -> Type {
    structure("Target", &[("a", &I64), ("list", &array(&F64, &[-1]))])
}

fn holder() -> Type {
    structure("Holder", &[("to", &reference(&target())), ("which", &union("U", &[&target(), &structure("Empty", &[])]))])
}

fn in_buffer(buffer: &Buffer, ty: &Type, value: Value<'_>) -> View {
    ty.make(value, Home::In(buffer, Placement::Aligned)).unwrap()
}

fn new_target(buffer: &Buffer, a: i64) -> View {
    in_buffer(buffer, &target(), Value::Fields(vec![(0, a.into()), (1, [1.0, 2.0].as_slice().into())]))
}

#[test]
fn a_reference_to_an_object_of_the_same_buffer_is_that_object() {
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let target = new_target(&buffer, 1);
    let holder = in_buffer(&buffer, &holder(), Value::Fields(vec![(0, Value::Object(target.clone())), (1, Value::Object(target.clone()))]));
    for field in ["to", "which"] {
        let found = holder.field(field).unwrap().target().unwrap().unwrap();
        assert!(found.same(&target));
        found.field("list").unwrap().item(&[1]).unwrap().set(5.0.into()).unwrap();
    }
    assert_eq!(target.field("list").unwrap().to_vec::<f64>().unwrap(), [1.0, 5.0]);
}

#[test]
fn an_object_of_another_buffer_is_copied_once_for_all_references_to_it() {
    let (ours, theirs) = (Buffer::new(&host(), 1024).unwrap(), Buffer::new(&host(), 1024).unwrap());
    let target = new_target(&theirs, 1);
    let both = || Value::Fields(vec![(0, Value::Object(target.clone())), (1, Value::Object(target.clone()))]);
    let holder = in_buffer(&ours, &holder(), both());
    let found = |field: &str| holder.field(field).unwrap().target().unwrap().unwrap();
    assert!(found("to").buffer().same(&ours) && found("to").same(&found("which")));
    found("to").field("a").unwrap().set(7.into()).unwrap();
    assert_eq!(target.field("a").unwrap().to_bytes().unwrap(), 1i64.to_le_bytes());
    // A copy of the holder into a third buffer keeps the sharing.
    let copy = holder.ty().make(Value::Object(holder.clone()), Home::Own(&host())).unwrap();
    assert!(copy.field("to").unwrap().target().unwrap().unwrap().same(&copy.field("which").unwrap().target().unwrap().unwrap()));
}

#[test]
fn a_reference_to_a_reference_is_that_reference() {
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let (inner, outer) = (reference(&F64), reference(&reference(&F64)));
    let null = in_buffer(&buffer, &inner, Value::Null);
    let to = in_buffer(&buffer, &outer, Value::Object(null.clone()));
    assert!(to.target().unwrap().unwrap().same(&null));
    null.set(2.5.into()).unwrap();
    let number = to.target().unwrap().unwrap().target().unwrap().unwrap();
    assert_eq!(number.to_bytes().unwrap(), 2.5f64.to_le_bytes());
    null.set(Value::Null).unwrap();
    let copy = outer.make(Value::Object(to.clone()), Home::Own(&host())).unwrap();
    assert!(copy.target().unwrap().unwrap().target().unwrap().is_none(), "the copy leads to a null as the original does");
}

#[test]
fn targets_live_as_long_as_something_refers_to_them() {
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let all = buffer.free_bytes();
    let first = new_target(&buffer, 1);
    let size = first.size().unwrap();
    let holder = in_buffer(&buffer, &holder(), Value::Fields(vec![(0, Value::Object(first.clone())), (1, Value::Object(first.clone()))]));
    drop(first);
    assert_eq!(buffer.free_bytes(), all - size - 24);
    let kept = holder.field("to").unwrap();
    kept.set(Value::Null).unwrap();
    assert_eq!(buffer.free_bytes(), all - size - 24, "the union still refers to it");
    holder.field("which").unwrap().set(Value::Null).unwrap();
    assert_eq!(buffer.free_bytes(), all - 24);
    // A new target takes the place of the old one, and a view of it keeps it when the reference goes.
    kept.set(Value::Fields(vec![(0, 2.into()), (1, [3.0].as_slice().into())])).unwrap();
    let second = kept.target().unwrap().unwrap();
    kept.set(Value::Fields(vec![(0, 3.into()), (1, [4.0].as_slice().into())])).unwrap();
    assert_eq!(second.field("list").unwrap().to_vec::<f64>().unwrap(), [3.0]);
    let size = second.size().unwrap();
    assert_eq!(buffer.free_bytes(), all - 24 - 2 * size);
    drop(second);
    assert_eq!(buffer.free_bytes(), all - 24 - size);
    drop(holder);
    assert_eq!(buffer.free_bytes(), all - 24 - size, "a view of a field keeps the object");
    drop(kept);
    assert_eq!(buffer.free_bytes(), all);
}

/// A node that is also seen as a plain number, so that the types have an end.
fn node() -> (Type, Type) {
    let plain = structure("Plain", &[("word", &I64)]);
    (structure("Node", &[("next", &reference(&plain))]), plain)
}

#[test]
fn chains_of_a_hundred_thousand_references_are_let_go_one_by_one() {
    let buffer = Buffer::new(&host(), 1 << 20).unwrap();
    let all = buffer.free_bytes();
    let (node, plain) = node();
    let mut last = in_buffer(&buffer, &node, Value::Default);
    for _ in 1..100_000 {
        let seen = View::at(&buffer, last.offset(), &plain).unwrap();
        last = in_buffer(&buffer, &node, Value::Fields(vec![(0, Value::Object(seen))]));
    }
    assert_eq!(buffer.free_bytes(), all - 8 * 100_000);
    drop(last);
    assert_eq!(buffer.free_bytes(), all);
}

#[test]
fn circles_are_walked_once_and_end_with_a_null() {
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let all = buffer.free_bytes();
    let (node, plain) = node();
    let seen = |view: &View| Value::Object(View::at(&buffer, view.offset(), &plain).unwrap());
    let first = in_buffer(&buffer, &node, Value::Default);
    let second = in_buffer(&buffer, &node, Value::Fields(vec![(0, seen(&first))]));
    first.field("next").unwrap().set(seen(&second)).unwrap();
    assert_eq!(first.field("next").unwrap().target().unwrap().unwrap().offset(), second.offset());
    let alone = in_buffer(&buffer, &node, Value::Default);
    alone.field("next").unwrap().set(seen(&alone)).unwrap();
    drop(alone);
    assert_eq!(buffer.free_bytes(), all - 16, "an object that refers to itself goes");
    first.field("next").unwrap().set(Value::Null).unwrap();
    drop(first);
    assert_eq!(buffer.free_bytes(), all - 16);
    drop(second);
    assert_eq!(buffer.free_bytes(), all);
}

#[test]
fn an_object_and_its_first_field_are_one_in_a_copy_too() {
    let inner = structure("Inner", &[("x", &I64), ("y", &I64)]);
    let outer = structure("Outer", &[("inner", &inner), ("z", &I64)]);
    for inner_first in [true, false] {
        let (to_inner, to_outer) = (("inner", &reference(&inner)), ("outer", &reference(&outer)));
        let pair = structure("Pair", &if inner_first { [to_inner, to_outer] } else { [to_outer, to_inner] });
        let buffer = Buffer::new(&host(), 1024).unwrap();
        let object = in_buffer(&buffer, &outer, Value::Default);
        object.field("z").unwrap().set(3.into()).unwrap();
        let first = object.field("inner").unwrap();
        first.field("y").unwrap().set(2.into()).unwrap();
        let pair = in_buffer(&buffer, &pair, Value::Default);
        pair.field("inner").unwrap().set(Value::Object(first.clone())).unwrap();
        pair.field("outer").unwrap().set(Value::Object(object.clone())).unwrap();
        let copy = pair.ty().make(Value::Object(pair.clone()), Home::Own(&host())).unwrap();
        let target = |view: &View, field: &str| view.field(field).unwrap().target().unwrap().unwrap();
        let (inner_copy, outer_copy) = (target(&copy, "inner"), target(&copy, "outer"));
        assert!(inner_copy.same(&outer_copy.field("inner").unwrap()));
        assert_eq!(crate::words(&outer_copy), [0, 2, 3]);
        inner_copy.field("y").unwrap().set(20.into()).unwrap();
        outer_copy.field("z").unwrap().set(30.into()).unwrap();
        pair.take_back(&copy).unwrap();
        assert_eq!(crate::words(&object), [0, 20, 30]);
        // The same where references are set one by one.
        let other = Buffer::new(&host(), 1024).unwrap();
        let made = in_buffer(
            &other,
            pair.ty(),
            Value::Fields(vec![
                (0, Value::Object(pair.field_at(0).unwrap().target().unwrap().unwrap())),
                (1, Value::Object(pair.field_at(1).unwrap().target().unwrap().unwrap())),
            ]),
        );
        assert!(target(&made, "inner").same(&target(&made, "outer")));
        assert_eq!(crate::words(&target(&made, "outer")), [0, 20, 30]);
    }
}

#[test]
fn objects_without_bytes_do_not_stand_for_their_neighbours() {
    let empty = structure("Empty", &[]);
    let full = structure("Full", &[("x", &I64)]);
    let both = structure("Both", &[("empty", &reference(&empty)), ("full", &reference(&full)), ("again", &reference(&empty))]);
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let nothing = in_buffer(&buffer, &empty, Value::Default);
    let something = in_buffer(&buffer, &full, Value::Fields(vec![(0, 7.into())]));
    assert_eq!(nothing.offset(), something.offset(), "what has no bytes takes no place");
    let value = Value::Fields(vec![(0, Value::Object(nothing.clone())), (1, Value::Object(something)), (2, Value::Object(nothing))]);
    let object = in_buffer(&buffer, &both, value);
    let copy = both.make(Value::Object(object), Home::Own(&host())).unwrap();
    let target = |field: &str| copy.field(field).unwrap().target().unwrap().unwrap();
    assert_eq!(crate::words(&target("full")), [7]);
    assert!(target("empty").same(&target("again")));
}

#[test]
fn what_refers_to_a_part_of_its_own_object_does_so_in_a_copy() {
    let item = structure("Item", &[("x", &I64)]);
    let list = structure("List", &[("items", &array(&item, &[3])), ("best", &reference(&item)), ("text", &Type::String(None))]);
    let buffer = Buffer::new(&host(), 1024).unwrap();
    let object = in_buffer(&buffer, &list, Value::Fields(vec![(2, Value::Text("name".into()))]));
    let second = object.field("items").unwrap().item(&[1]).unwrap();
    object.field("best").unwrap().set(Value::Object(second)).unwrap();
    let copy = list.make(Value::Object(object.clone()), Home::Own(&host())).unwrap();
    let best = copy.field("best").unwrap().target().unwrap().unwrap();
    assert!(best.same(&copy.field("items").unwrap().item(&[1]).unwrap()));
    assert_eq!(copy.field("text").unwrap().text().unwrap(), "name");
    assert_eq!(copy.to_bytes().unwrap(), object.to_bytes().unwrap());
    // Also at a place that the caller chose.
    let other = Buffer::new(&host(), 1024).unwrap();
    let offset = other.allocate(object.size().unwrap()).unwrap();
    let copy = list.make(Value::Object(object), Home::In(&other, Placement::At(offset))).unwrap();
    let best = copy.field("best").unwrap().target().unwrap().unwrap();
    assert!(best.same(&copy.field("items").unwrap().item(&[1]).unwrap()) && copy.offset() == offset);
}
