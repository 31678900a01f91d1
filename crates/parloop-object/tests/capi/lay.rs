//! Values and their bytes, laid down as the layout is documented and by no code of the crate, and the calls that must find them there.

use parloop_device::DType;
use parloop_object::{SLOT, Type, slots};

use crate::probe::Step;

/// What is put into memory.
#[derive(Clone, Debug)]
pub enum Value {
    Number(i64),
    Text(String),
    Struct(Vec<Value>),
    /// The shape, and the items in C order.
    Array(Vec<usize>, Vec<Value>),
    /// A null reference of either kind.
    Null,
    To(Box<Value>),
    Member(usize, Box<Value>),
}

/// A value in memory.
#[derive(Clone, Debug)]
pub struct Placed {
    pub ty: Type,
    pub at: usize,
    pub size: usize,
    pub parts: Parts,
}

/// What a value in memory is made of.
#[derive(Clone, Debug)]
pub enum Parts {
    Nothing,
    Number(i64),
    Fields(Vec<(String, Placed)>),
    Items { shape: Vec<usize>, strides: Vec<usize>, items: Vec<(Vec<usize>, Placed)> },
    Target(Option<Box<Placed>>),
    Member(Option<(usize, Box<Placed>)>),
}

/// Lays `value` at `offset` of fresh bytes; what references refer to comes after it.
pub fn lay(ty: &Type, value: &Value, offset: usize) -> (Vec<u8>, Placed) {
    let mut bytes = vec![0; offset + size_of(ty, value)];
    let placed = write(&mut bytes, offset, ty, value);
    (bytes, placed)
}

fn size_of(ty: &Type, value: &Value) -> usize {
    match (ty, value) {
        (Type::Scalar(dtype), _) => dtype.size(),
        (Type::String(size), Value::Text(text)) => size.unwrap_or(slots(text.len() + 1 + SLOT)),
        (Type::Struct(ty), Value::Struct(values)) => {
            let dynamic = ty.fields.iter().filter(|field| is_dynamic(&field.ty)).count();
            let parts: usize = ty.fields.iter().zip(values).map(|(field, value)| slots(size_of(&field.ty, value))).sum();
            parts + SLOT * dynamic
        }
        (Type::Array(ty), Value::Array(shape, items)) => {
            let bytes = if is_dynamic(&ty.item) {
                items.iter().map(|item| SLOT + slots(size_of(&ty.item, item))).sum()
            } else {
                slots(shape.iter().product::<usize>() * static_size(&ty.item))
            };
            header(ty) + bytes
        }
        (Type::Ref(_), _) => SLOT,
        (Type::Union(_), _) => 2 * SLOT,
        _ => panic!("{value:?} is not a {ty:?}"),
    }
}

fn is_dynamic(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Ref(_) | Type::Union(_) | Type::String(Some(_)) => false,
        Type::String(None) => true,
        Type::Struct(ty) => ty.fields.iter().any(|field| is_dynamic(&field.ty)),
        Type::Array(ty) => ty.shape.contains(&None) || is_dynamic(&ty.item),
    }
}

fn static_size(ty: &Type) -> usize {
    match ty {
        Type::Scalar(dtype) => dtype.size(),
        Type::String(size) => size.unwrap(),
        Type::Struct(ty) => ty.fields.iter().map(|field| slots(static_size(&field.ty))).sum(),
        Type::Array(ty) => slots(ty.shape.iter().map(|dim| dim.unwrap()).product::<usize>() * static_size(&ty.item)),
        Type::Ref(_) => SLOT,
        Type::Union(_) => 2 * SLOT,
    }
}

fn header(ty: &parloop_object::ArrayType) -> usize {
    let (axes, dynamic) = (ty.shape.len(), ty.shape.iter().filter(|dim| dim.is_none()).count());
    let has_size = dynamic > 0 || is_dynamic(&ty.item);
    SLOT * (usize::from(has_size) + dynamic + if dynamic > 0 && axes > 1 { axes } else { 0 })
}

fn word(bytes: &mut [u8], at: usize, value: i64) {
    bytes[at..at + SLOT].copy_from_slice(&value.to_le_bytes());
}

fn write(bytes: &mut Vec<u8>, at: usize, ty: &Type, value: &Value) -> Placed {
    let size = size_of(ty, value);
    let parts = match (ty, value) {
        (Type::Scalar(dtype), Value::Number(number)) => {
            let raw = encode(*dtype, *number);
            bytes[at..at + raw.len()].copy_from_slice(&raw);
            Parts::Number(*number)
        }
        (Type::String(_), Value::Text(text)) => {
            word(bytes, at, size as i64);
            bytes[at + SLOT..at + SLOT + text.len()].copy_from_slice(text.as_bytes());
            Parts::Nothing
        }
        (Type::Struct(ty), Value::Struct(values)) => Parts::Fields(write_fields(bytes, at, size, ty, values)),
        (Type::Array(ty), Value::Array(shape, items)) => write_items(bytes, at, size, ty, shape, items),
        (Type::Ref(_), Value::Null) => {
            word(bytes, at, i64::MIN);
            Parts::Target(None)
        }
        (Type::Ref(ty), Value::To(value)) => Parts::Target(Some(Box::new(append(bytes, at, &ty.target, value)))),
        (Type::Union(_), Value::Null) => {
            word(bytes, at, i64::MIN);
            word(bytes, at + SLOT, -1);
            Parts::Member(None)
        }
        (Type::Union(ty), Value::Member(id, value)) => {
            word(bytes, at + SLOT, *id as i64);
            let placed = append(bytes, at, &ty.members[*id], value);
            Parts::Member(Some((*id, Box::new(placed))))
        }
        _ => panic!("{value:?} is not a {ty:?}"),
    };
    Placed { ty: ty.clone(), at, size, parts }
}

/// Puts what the reference at `at` refers to at the end.
fn append(bytes: &mut Vec<u8>, at: usize, ty: &Type, value: &Value) -> Placed {
    let target = slots(bytes.len()) + SLOT;
    bytes.resize(target + slots(size_of(ty, value)), 0);
    word(bytes, at, target as i64 - at as i64);
    write(bytes, target, ty, value)
}

fn write_fields(bytes: &mut Vec<u8>, at: usize, size: usize, ty: &parloop_object::StructType, values: &[Value]) -> Vec<(String, Placed)> {
    let dynamic: Vec<usize> = (0..values.len()).filter(|&index| is_dynamic(&ty.fields[index].ty)).collect();
    let mut next = at;
    if !dynamic.is_empty() {
        word(bytes, at, size as i64);
        next += SLOT;
    }
    let mut starts = vec![0; values.len()];
    for index in (0..values.len()).filter(|index| !dynamic.contains(index)) {
        starts[index] = next;
        next += slots(size_of(&ty.fields[index].ty, &values[index]));
    }
    let words = next;
    next += SLOT * dynamic.len().saturating_sub(1);
    for (order, &index) in dynamic.iter().enumerate() {
        starts[index] = next;
        if order > 0 {
            word(bytes, words + SLOT * (order - 1), (next - at) as i64);
        }
        next += slots(size_of(&ty.fields[index].ty, &values[index]));
    }
    assert_eq!(next, at + size);
    ty.fields
        .iter()
        .zip(values)
        .zip(starts)
        .map(|((field, value), start)| (field.name.clone(), write(bytes, start, &field.ty, value)))
        .collect()
}

fn write_items(bytes: &mut Vec<u8>, at: usize, size: usize, ty: &parloop_object::ArrayType, shape: &[usize], items: &[Value]) -> Parts {
    let stride = if is_dynamic(&ty.item) { SLOT } else { static_size(&ty.item) };
    let mut strides = vec![0; shape.len()];
    let mut next_stride = stride;
    for &axis in ty.order.iter().rev() {
        strides[axis] = next_stride;
        next_stride *= shape[axis];
    }
    let dynamic: Vec<usize> = (0..shape.len()).filter(|&axis| ty.shape[axis].is_none()).collect();
    if header(ty) > 0 {
        word(bytes, at, size as i64);
    }
    for (order, &axis) in dynamic.iter().enumerate() {
        word(bytes, at + SLOT * (1 + order), shape[axis] as i64);
    }
    if !dynamic.is_empty() && shape.len() > 1 {
        for (axis, &stride) in strides.iter().enumerate() {
            word(bytes, at + SLOT * (1 + dynamic.len() + axis), stride as i64);
        }
    }
    let data = at + header(ty);
    let mut next = data + SLOT * items.len();
    let place = |number: usize| data + indices_of(number, shape).iter().zip(&strides).map(|(index, stride)| index * stride).sum::<usize>();
    // Items are laid as they lie, and listed in C order.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&number| place(number));
    let mut placed = Vec::new();
    for number in order {
        let (item, mut start) = (&items[number], place(number));
        if is_dynamic(&ty.item) {
            word(bytes, start, (next - at) as i64);
            start = next;
            next += slots(size_of(&ty.item, item));
        }
        placed.push((number, (indices_of(number, shape), write(bytes, start, &ty.item, item))));
    }
    placed.sort_by_key(|(number, _)| *number);
    let placed = placed.into_iter().map(|(_, item)| item).collect();
    Parts::Items { shape: shape.to_vec(), strides, items: placed }
}

fn indices_of(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        indices[axis] = number % shape[axis];
        number /= shape[axis];
    }
    indices
}

/// The bytes of a number; the imaginary part of a complex one is its negative.
pub fn encode(dtype: DType, number: i64) -> Vec<u8> {
    match dtype {
        DType::F32 => (number as f32).to_le_bytes().to_vec(),
        DType::F64 => (number as f64).to_le_bytes().to_vec(),
        DType::C64 => [encode(DType::F32, number), encode(DType::F32, -number)].concat(),
        DType::C128 => [encode(DType::F64, number), encode(DType::F64, -number)].concat(),
        DType::Bool => vec![(number % 2) as u8],
        other => number.to_le_bytes()[..other.size()].to_vec(),
    }
}

impl Placed {
    /// All calls that read what is here, through the object of `class` at its root.
    pub fn reading(&self, class: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        self.read(&Call { class, fields: String::new(), args: String::new(), indices: 0 }, &mut steps);
        steps
    }

    /// Statements that add `more` to every number here.
    pub fn adding(&self, class: &str, more: i64) -> Vec<Step> {
        let mut steps = Vec::new();
        self.add(&Call { class, fields: String::new(), args: String::new(), indices: 0 }, more, &mut steps);
        steps
    }

    fn read(&self, call: &Call, steps: &mut Vec<Step>) {
        if let Parts::Target(target) = &self.parts {
            return target.iter().for_each(|target| target.read(call, steps));
        }
        steps.push(Step::At(call.numbered("getp"), Some(self.at)));
        steps.push(Step::Int(call.numbered("size"), self.size as i64));
        match &self.parts {
            Parts::Number(number) => self.read_number(*number, call, steps),
            Parts::Nothing => steps.push(Step::At(call.numbered("str"), Some(self.at + SLOT))),
            Parts::Fields(fields) => fields.iter().for_each(|(name, field)| field.read(&call.field(name), steps)),
            Parts::Items { shape, strides, items } => {
                steps.push(Step::Int(call.numbered("len"), items.len() as i64));
                steps.push(Step::Int(call.numbered("nd"), shape.len() as i64));
                steps.push(Step::Int(call.numbered("ndim"), shape.len() as i64));
                for (axis, dim) in shape.iter().chain([&0]).enumerate() {
                    steps.push(Step::Int(call.with("dim", &format!(", {axis}")), *dim as i64));
                }
                let open = |op| call.numbered(op).trim_end_matches(')').to_owned();
                let integers = |numbers: &[usize]| numbers.iter().map(|&number| number as i64).collect();
                steps.push(Step::Axes(open("shape"), integers(shape)));
                steps.push(Step::Axes(open("strides"), integers(strides)));
                items.iter().for_each(|(indices, item)| item.read(&call.item(indices), steps));
            }
            Parts::Member(member) => {
                steps.push(Step::Int(call.plain("typeid", ""), member.as_ref().map_or(-1, |(id, _)| *id as i64)));
                steps.push(Step::At(call.plain("member", ""), member.as_ref().map(|(_, placed)| placed.at)));
            }
            Parts::Target(_) => {}
        }
    }

    fn read_number(&self, number: i64, call: &Call, steps: &mut Vec<Step>) {
        match self.ty.scalar().unwrap() {
            DType::F32 | DType::F64 => steps.push(Step::Real(call.plain("get", ""), number as f64)),
            DType::C64 | DType::C128 => {
                steps.push(Step::Real(format!("{}[0]", call.numbered("getp")), number as f64));
                steps.push(Step::Real(format!("{}[1]", call.numbered("getp")), -number as f64));
            }
            DType::Bool => steps.push(Step::Int(call.plain("get", ""), number % 2)),
            _ => steps.push(Step::Int(call.plain("get", ""), number)),
        }
    }

    fn add(&self, call: &Call, more: i64, steps: &mut Vec<Step>) {
        match &self.parts {
            Parts::Number(number) => {
                let (number, pointer) = (number + more, call.numbered("getp"));
                let text = match self.ty.scalar().unwrap() {
                    DType::C64 | DType::C128 => format!("{pointer}[0] = {number}; {pointer}[1] = -({number});"),
                    DType::Bool => format!("{};", call.plain("set", &format!(", {number} % 2 == 1"))),
                    _ => format!("{};", call.plain("set", &format!(", {number}"))),
                };
                steps.push(Step::Do(text));
            }
            Parts::Fields(fields) => fields.iter().for_each(|(name, field)| field.add(&call.field(name), more, steps)),
            Parts::Items { items, .. } => items.iter().for_each(|(indices, item)| item.add(&call.item(indices), more, steps)),
            Parts::Target(Some(target)) => target.add(call, more, steps),
            Parts::Target(None) | Parts::Member(_) | Parts::Nothing => {}
        }
    }
}

impl Value {
    /// With `more` added to every number that paths lead to.
    pub fn plus(&self, more: i64) -> Value {
        let all = |values: &[Value]| values.iter().map(|value| value.plus(more)).collect();
        match self {
            Value::Number(number) => Value::Number(number + more),
            Value::Struct(values) => Value::Struct(all(values)),
            Value::Array(shape, values) => Value::Array(shape.clone(), all(values)),
            Value::To(value) => Value::To(Box::new(value.plus(more))),
            other => other.clone(),
        }
    }
}

/// The beginning of a call: everything but the operation.
struct Call<'a> {
    class: &'a str,
    fields: String,
    args: String,
    indices: usize,
}

impl Call<'_> {
    fn field(&self, name: &str) -> Call<'_> {
        Call { class: self.class, fields: format!("{}_{name}", self.fields), args: self.args.clone(), indices: self.indices }
    }

    fn item(&self, indices: &[usize]) -> Call<'_> {
        let args = indices.iter().fold(self.args.clone(), |args, index| format!("{args}, {index}"));
        Call { class: self.class, fields: self.fields.clone(), args, indices: self.indices + indices.len() }
    }

    fn plain(&self, op: &str, more: &str) -> String {
        format!("{}_{op}{}(obj{}{more})", self.class, self.fields, self.args)
    }

    fn with(&self, op: &str, more: &str) -> String {
        let number = if self.indices > 0 { self.indices.to_string() } else { String::new() };
        format!("{}_{op}{number}{}(obj{}{more})", self.class, self.fields, self.args)
    }

    fn numbered(&self, op: &str) -> String {
        self.with(op, "")
    }
}
