//! Types and values by chance: objects have the bytes that the oracle lays down, and every part is read back by views and by C.

use parloop_device::DType;
use parloop_kernel::Context;
use parloop_object::{ApiOptions, Elements, Home, Type, Value, View, class_api, in_dependency_order};
use proptest::prelude::*;

use crate::lay::{self, Parts, Placed, encode, lay};
use crate::plans::{Dice, build, compound, value};
use crate::probe::{Probe, Step, contexts, run};
use crate::{all_bytes, host};

/// The value as callers give it: numbers of arrays as numbers or one by one, fields in any order.
fn given(ty: &Type, value: &lay::Value, dice: &mut Dice) -> Value<'static> {
    match (ty, value) {
        (Type::Scalar(dtype), lay::Value::Number(number)) => scalar(*dtype, *number),
        (_, lay::Value::Text(text)) => Value::Text(text.clone().into()),
        (Type::Struct(ty), lay::Value::Struct(values)) => {
            let mut fields: Vec<_> = ty.fields.iter().zip(values).enumerate().map(|(i, (f, v))| (i, given(&f.ty, v, dice))).collect();
            let turn = dice.roll(fields.len().max(1) as u64);
            fields.rotate_left(turn);
            Value::Fields(fields)
        }
        (Type::Array(ty), lay::Value::Array(shape, items)) => {
            let shape = shape.as_slice().into();
            match ty.item {
                Type::Scalar(dtype) if dice.roll(2) == 0 => {
                    let number = |item: &lay::Value| if let lay::Value::Number(number) = item { encode(dtype, *number) } else { vec![] };
                    Value::Elements(Elements::dense(items.iter().flat_map(number).collect::<Vec<u8>>().into(), dtype, shape))
                }
                _ => Value::Items { shape, items: items.iter().map(|item| given(&ty.item, item, dice)).collect() },
            }
        }
        (_, lay::Value::Null) => Value::Null,
        (Type::Ref(ty), lay::Value::To(value)) => given(&ty.target, value, dice),
        (Type::Union(ty), lay::Value::Member(id, value)) => Value::Member(*id, Box::new(given(&ty.members[*id], value, dice))),
        _ => panic!("{value:?} is not a {ty:?}"),
    }
}

fn scalar(dtype: DType, number: i64) -> Value<'static> {
    match dtype {
        DType::F32 | DType::F64 => Value::from(number as f64),
        DType::C64 | DType::C128 => Value::from(parloop_device::Complex64::new(number as f64, -number as f64)),
        DType::Bool => Value::from(number % 2 == 1),
        _ => Value::from(number),
    }
}

/// An object is what the oracle laid: all bytes but the distances of references, and so is what they lead to.
fn assert_same(bytes: &[u8], placed: &Placed, view: &View) {
    assert_eq!(view.size().unwrap(), placed.size, "{view:?}");
    let mut distances = Vec::new();
    assert_parts_same(bytes, placed, view, &mut distances);
    let (mut ours, mut theirs) = (view.to_bytes().unwrap(), bytes[placed.at..placed.at + placed.size].to_vec());
    for distance in distances {
        let at = distance - placed.at;
        ours[at..at + 8].fill(0);
        theirs[at..at + 8].fill(0);
    }
    assert_eq!(ours, theirs, "{view:?}");
}

fn assert_parts_same(bytes: &[u8], placed: &Placed, view: &View, distances: &mut Vec<usize>) {
    assert_eq!(view.ty(), &placed.ty);
    let mut inside = |part: &Placed, found: View| {
        assert_eq!(found.offset() - view.offset(), part.at - placed.at, "{found:?}");
        assert_parts_same(bytes, part, &found, distances);
    };
    match &placed.parts {
        Parts::Number(_) => {
            let mut raw = vec![0; placed.size];
            view.read(0, &mut raw).unwrap();
            assert_eq!(raw, bytes[placed.at..placed.at + placed.size]);
        }
        Parts::Nothing => {
            let text = &bytes[placed.at + 8..placed.at + placed.size];
            assert_eq!(view.text().unwrap().as_bytes(), text.split(|&byte| byte == 0).next().unwrap());
        }
        Parts::Fields(fields) => fields.iter().for_each(|(name, part)| inside(part, view.field(name).unwrap())),
        Parts::Items { shape, strides, items } => {
            let found = view.array_shape().unwrap();
            assert_eq!((&found.shape[..], &found.strides[..]), (&shape[..], &strides[..]));
            items.iter().for_each(|(index, part)| inside(part, view.item(index).unwrap()));
        }
        Parts::Target(target) => assert_target_same(bytes, placed.at, target.as_deref(), view, distances),
        Parts::Member(member) => {
            assert_eq!(view.typeid().unwrap(), member.as_ref().map_or(-1, |(id, _)| *id as i64));
            assert_target_same(bytes, placed.at, member.as_ref().map(|(_, target)| &**target), view, distances);
        }
    }
}

fn assert_target_same(bytes: &[u8], at: usize, target: Option<&Placed>, view: &View, distances: &mut Vec<usize>) {
    match (view.target().unwrap(), target) {
        (None, None) => {}
        (Some(found), Some(target)) => {
            distances.push(at);
            assert_same(bytes, target, &found);
        }
        (found, _) => panic!("{view:?} leads to {found:?}, not to {target:?}"),
    }
}

/// References to null references as nulls: a value cannot tell them apart.
fn without_empty_ends(value: lay::Value) -> lay::Value {
    let all = |values: Vec<lay::Value>| values.into_iter().map(without_empty_ends).collect();
    match value {
        lay::Value::To(target) => match without_empty_ends(*target) {
            lay::Value::Null => lay::Value::Null,
            target => lay::Value::To(Box::new(target)),
        },
        lay::Value::Member(id, target) => lay::Value::Member(id, Box::new(without_empty_ends(*target))),
        lay::Value::Struct(values) => lay::Value::Struct(all(values)),
        lay::Value::Array(shape, items) => lay::Value::Array(shape, all(items)),
        other => other,
    }
}

/// The classes of a plan's types, values for them, and what the oracle makes of them.
fn objects(plans: &[crate::plans::Plan], seed: u64) -> Vec<(Type, Value<'static>, Vec<u8>, Placed)> {
    let (mut names, mut dice) = (0, Dice(seed));
    let classes: Vec<Type> = plans.iter().map(|plan| build(plan, &mut names)).collect();
    let object = |class: Type| {
        let value = without_empty_ends(value(&class, &mut dice));
        let (bytes, placed) = lay(&class, &value, 0);
        (class.clone(), given(&class, &value, &mut dice), bytes, placed)
    };
    classes.into_iter().map(object).collect()
}

/// More calls than this make one kernel that takes its compiler long.
const MOST_CALLS: usize = 200;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn objects_have_the_bytes_of_the_oracle(plan in compound(3), seed: u64) {
        for (class, value, bytes, placed) in objects(&[plan], seed) {
            let object = class.make(value, Home::Own(&host())).unwrap();
            assert_same(&bytes, &placed, &object);
            // So does a copy of it by all the ways that there are.
            let buffer = parloop_object::Buffer::new(&host(), 8).unwrap();
            let home = Home::In(&buffer, parloop_object::Placement::Aligned);
            let copy = class.make(Value::Object(object.clone()), home).unwrap();
            assert_same(&bytes, &placed, &copy);
            copy.set(Value::Object(object.clone())).unwrap();
            assert_same(&bytes, &placed, &copy);
            let taken = all_bytes(&buffer).len() - buffer.free_bytes();
            copy.take_back(&object).unwrap();
            assert_same(&bytes, &placed, &copy);
            assert_eq!(all_bytes(&buffer).len() - buffer.free_bytes(), taken);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn c_reads_every_part_of_an_object_on_every_device(plans in proptest::collection::vec(compound(3), 3), seed: u64) {
        for ctx in contexts() {
            assert_read_by_c(&ctx, &objects(&plans, seed));
        }
    }
}

fn assert_read_by_c(ctx: &Context, objects: &[(Type, Value<'static>, Vec<u8>, Placed)]) {
    let classes: Vec<Type> = objects.iter().map(|(class, ..)| class.clone()).collect();
    let ordered = in_dependency_order(&classes).unwrap();
    let source: String = ordered.iter().map(|class| class_api(class, &[], &ApiOptions::default(), 0).source).collect();
    let probes = objects.iter().map(|(class, value, bytes, placed)| {
        let object = class.make(value.clone(), Home::Own(ctx)).unwrap();
        assert_same(bytes, placed, &object);
        let mut steps = placed.reading(class.name());
        // What references lead to is elsewhere than the oracle put it.
        steps.retain(|step| !matches!(step, Step::At(_, Some(_))) || !class.has_refs());
        steps.truncate(MOST_CALLS);
        Probe { class: class.name().into(), bytes: all_bytes(object.buffer()), offset: object.offset(), steps }
    });
    let probes: Vec<Probe> = probes.collect();
    let before: Vec<Vec<u8>> = probes.iter().map(|probe| probe.bytes.clone()).collect();
    assert_eq!(run(ctx, &source, &probes), before);
}
