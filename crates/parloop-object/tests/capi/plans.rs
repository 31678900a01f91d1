//! Types and values of any shape, by chance.

use parloop_device::DType;
use parloop_object::{ArrayType, RefType, StructType, Type, UnionType};
use proptest::prelude::*;

use crate::lay::Value;

/// A type without names.
#[derive(Clone, Debug)]
pub enum Plan {
    Scalar(DType),
    Text(Option<usize>),
    Struct(Vec<Plan>),
    /// Dimensions, 4 being dynamic, and how the axes are turned.
    Array(Box<Plan>, Vec<usize>, usize),
    Ref(Box<Plan>),
    Union(Vec<Plan>),
}

/// A compound type with parts nested up to `depth` deep.
pub fn compound(depth: usize) -> BoxedStrategy<Plan> {
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
pub fn build(plan: &Plan, names: &mut usize) -> Type {
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
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides) as usize
    }
}

/// A value of that type.
pub fn value(ty: &Type, dice: &mut Dice) -> Value {
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
