//! Types and values of any shape: the generated text compiles without a warning, and finds every part where it was laid.

use parloop_device::DType;
use parloop_kernel::Context;
use parloop_object::{ApiOptions, ArrayType, RefType, StructType, Type, UnionType, class_api, in_dependency_order};
use proptest::prelude::*;

use crate::lay::{Value, lay};
use crate::probe::{Probe, run};

/// A type without names.
#[derive(Clone, Debug)]
enum Plan {
    Scalar(DType),
    Text(Option<usize>),
    Struct(Vec<Plan>),
    /// Dimensions, 4 being dynamic, and how the axes are turned.
    Array(Box<Plan>, Vec<usize>, usize),
    Ref(Box<Plan>),
    Union(Vec<Plan>),
}

/// A compound type with parts nested up to `depth` deep.
fn compound(depth: usize) -> BoxedStrategy<Plan> {
    let inner = part(depth - 1);
    let dims = proptest::collection::vec(proptest::sample::select(vec![0, 1, 2, 3, 4, 4, 4]), 1..=3);
    prop_oneof![
        4 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Plan::Struct),
        4 => (inner.clone(), dims, 0..3usize).prop_map(|(item, dims, turn)| Plan::Array(Box::new(item), dims, turn)),
        2 => inner.clone().prop_map(|target| Plan::Ref(Box::new(target))),
        1 => proptest::collection::vec(inner, 0..3).prop_map(Plan::Union),
    ]
    .boxed()
}

fn part(depth: usize) -> BoxedStrategy<Plan> {
    let leaf = prop_oneof![
        3 => proptest::sample::select(DType::ALL.to_vec()).prop_map(Plan::Scalar),
        1 => proptest::sample::select(vec![None, Some(16), Some(24)]).prop_map(Plan::Text),
    ];
    if depth == 0 { leaf.boxed() } else { prop_oneof![1 => leaf, 2 => compound(depth)].boxed() }
}

/// Gives every part a name of its own.
fn build(plan: &Plan, names: &mut usize) -> Type {
    *names += 1;
    let name = format!("T{names}");
    match plan {
        Plan::Scalar(dtype) => Type::Scalar(*dtype),
        Plan::Text(size) => Type::String(*size),
        Plan::Struct(fields) => {
            let fields = fields.iter().enumerate().map(|(index, field)| (format!("f{index}"), build(field, names))).collect();
            StructType::with_fields(&name, fields).unwrap()
        }
        Plan::Array(item, dims, turn) => {
            let shape = dims.iter().map(|&dim| (dim < 4).then_some(dim)).collect();
            let order = (0..dims.len()).map(|axis| (axis + turn) % dims.len()).collect();
            ArrayType::named(&name, build(item, names), shape, order).unwrap()
        }
        Plan::Ref(target) => RefType::to(build(target, names)),
        Plan::Union(members) => {
            let struct_of = |member: &Plan| if let Plan::Struct(_) = member { member.clone() } else { Plan::Struct(vec![member.clone()]) };
            UnionType::with_members(&name, members.iter().map(|member| build(&struct_of(member), names)).collect()).unwrap()
        }
    }
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides) as usize
    }
}

fn value(ty: &Type, dice: &mut Dice) -> Value {
    match ty {
        Type::Scalar(_) => Value::Number(dice.roll(60) as i64),
        Type::String(_) => Value::Text("abcdefg"[..dice.roll(8)].to_owned()),
        Type::Struct(ty) => Value::Struct(ty.fields.iter().map(|field| value(&field.ty, dice)).collect()),
        Type::Array(ty) => {
            let shape: Vec<usize> = ty.shape.iter().map(|dim| dim.unwrap_or_else(|| dice.roll(4))).collect();
            let items = (0..shape.iter().product()).map(|_| value(&ty.item, dice)).collect();
            Value::Array(shape, items)
        }
        Type::Ref(_) if dice.roll(5) == 0 => Value::Null,
        Type::Ref(ty) => Value::To(Box::new(value(&ty.target, dice))),
        Type::Union(ty) if ty.members.is_empty() || dice.roll(4) == 0 => Value::Null,
        Type::Union(ty) => {
            let id = dice.roll(ty.members.len() as u64);
            Value::Member(id, Box::new(value(&ty.members[id], dice)))
        }
    }
}

/// The text of all these classes.
fn source(classes: &[Type], checked: bool) -> String {
    let definition = if checked { "#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n" } else { "" };
    let apis = in_dependency_order(classes).unwrap().into_iter().map(|class| class_api(&class, &[], &ApiOptions { checked }, 0).source);
    definition.to_owned() + &apis.collect::<String>()
}

/// More calls than this make one kernel that takes its compiler long.
const MOST_CALLS: usize = 600;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_type_is_read_and_written_where_it_was_laid(plans in proptest::collection::vec(compound(3), 4), seed: u64, checked: bool) {
        let ctx = Context::open("cpu:1").unwrap();
        let (mut names, mut dice) = (0, Dice(seed));
        let classes: Vec<Type> = plans.iter().map(|plan| build(plan, &mut names)).collect();
        let (mut probes, mut expected) = (Vec::new(), Vec::new());
        for class in &classes {
            let (value, offset) = (value(class, &mut dice), 8 * dice.roll(3));
            let (bytes, placed) = lay(class, &value, offset);
            let mut reading = placed.reading(class.name());
            reading.truncate(MOST_CALLS);
            probes.push(Probe { class: class.name().into(), bytes: bytes.clone(), offset, steps: reading });
            expected.push(bytes.clone());
            let adding = placed.adding(class.name(), 3);
            if adding.len() <= MOST_CALLS {
                probes.push(Probe { class: class.name().into(), bytes, offset, steps: adding });
                expected.push(lay(class, &value.plus(3), offset).0);
            }
        }
        prop_assert_eq!(run(&ctx, &source(&classes, checked), &probes), expected);
    }
}
